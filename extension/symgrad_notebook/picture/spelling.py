"""A node as a short formula over what its operands are called: ``v4 = 1 + v3``, ``v1 = X @ w``."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.findings import number
from symgrad.primitives.elementwise import Elementwise
from symgrad.primitives.spelling import letters
from symgrad.program.node import Node

from ..structure import visible

_LONGEST_NAME = 16
_INFIX = {
    "add": "+", "subtract": "−", "multiply": "·", "divide": "/", "power": "**", "float_power": "**", "matmul": "@",
    "less": "<", "less_equal": "≤", "greater": ">", "greater_equal": "≥", "equal": "=", "not_equal": "≠",
    "logical_and": "and", "logical_or": "or",
}  # fmt: skip
_PREFIX = {"negative": "−", "positive": "+", "sqrt": "√", "logical_not": "not "}


def cut(text: str, longest: int) -> str:
    """``text`` on one line with nothing invisible in it, its end left out where it is longer.

    >>> cut("3 exp, 2 add", 8)
    '3 exp, …'
    """
    text = visible(text).replace("\n", "\\n")
    return text if len(text) <= longest else text[: longest - 1] + "…"


Name = Callable[[Node], str]


def short(text: str, longest: int) -> str:
    """``text`` on one line with nothing invisible in it, its middle left out where it is longer.

    >>> short("a_rather_long_name", 9)
    'a_ra…name'
    """
    text = visible(text).replace("\n", "\\n")
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}…{text[len(text) - (longest - half - 1) :]}"


def names(labels: dict[Node, str]) -> Name:
    """What nodes are called in formulas: their labels, the names of users shortened."""

    def name(node: Node) -> str:
        if node.is_literal:
            return number(node.params[0])
        return short(labels[node], _LONGEST_NAME)

    return name


def formula(node: Node, name: Name) -> str:
    """The operation of ``node`` on its operands.

    >>> import numpy as np, symgrad
    >>> program = symgrad.trace(lambda w, X: np.sum(np.exp(X @ w) + 1), np.ones(2), np.ones((3, 2)))
    >>> [formula(n, names(program.labels)) for n in program.bindings]
    ['X @ w', 'exp(v0)', 'v1 + 1', 'Σ v2']
    """
    kind = node.primitive.name
    operands = [name(o) for o in node.operands]
    if kind == "einsum":
        return _contraction(node, operands)
    if isinstance(node.primitive, Elementwise):
        if kind in _INFIX and len(operands) == 2:
            return f"{operands[0]} {_INFIX[kind]} {operands[1]}"
        if kind in _PREFIX:
            return f"{_PREFIX[kind]}{operands[0]}"
        if kind == "square":
            return f"{operands[0]}²"
        return f"{kind}({', '.join(operands)})"
    if kind == "gate":
        return f"{operands[0]} · {operands[1]}, 0 where {operands[0]} is"
    if kind == "cast":
        return f"{operands[0]} as {node.dtype}"
    return f"{node.primitive.spell(node)}({', '.join(operands)})"


def _contraction(node: Node, operands: list[str]) -> str:
    """An einsum as a product, a sum, a matrix product, or with its indices."""
    labels, out, sizes, _ = node.params
    pairs = list(zip(operands, labels, node.operands, strict=True))
    scalars = [name for name, ls, _ in pairs if not ls]
    sign = "−" if scalars[:1] in (["−1"], ["-1"]) else ""
    factors = [*scalars[bool(sign) :]]
    arrays = [(name, ls) for name, ls, _ in pairs if ls]
    summed = [i for i in dict.fromkeys(i for _, ls in arrays for i in ls) if i not in out and sizes[i] != 1]
    body = _body(arrays, out, summed)
    if factors and body.startswith("Σ"):
        body = f"({body})"
    if not body and not out:
        return f"{sign}{' · '.join(factors)}"
    if not body:
        shown = ", ".join(str(sizes[i]) for i in out)
        repeated = len(set(out)) < len(out)
        return f"{sign}{' · '.join(factors) or '1'} " + ("on the diagonal" if repeated else f"for all [{shown}]")
    return sign + " · ".join([*factors, body])


def _body(arrays: list[tuple[str, tuple]], out: tuple, summed: list[int]) -> str:
    if not arrays:
        return ""
    if all(ls == out for _, ls in arrays):
        return " · ".join(name for name, _ in arrays)
    if len(arrays) == 1:
        ((name, ls),) = arrays
        if not out and len(summed) == len(set(ls)) == len(ls):
            return f"Σ {name}"
        if len(ls) == 2 and out == ls[::-1]:
            return f"{name}ᵀ"
    if len(arrays) == 2 and len(summed) == 1:
        for (a, la), (b, lb) in (arrays, arrays[::-1]):
            left, right = _beside(a, la, summed[0], -1), _beside(b, lb, summed[0], 0)
            if left and right and out == tuple(i for i in (*la, *lb) if i != summed[0]):
                return f"{left} @ {right}"
    product = " · ".join(f"{name}[{letters(ls)}]" for name, ls in arrays)
    over = f"Σ{letters(tuple(summed))} " if summed else ""
    return over + product + ("" if summed and not out else f" → [{letters(out)}]")


def _beside(name: str, labels: tuple, summed: int, place: int) -> str:
    """A vector or matrix as it stands in a product whose index ``summed`` is its last (-1) or first (0); or empty."""
    if len(set(labels)) < len(labels) or len(labels) > 2 or summed not in labels:
        return ""
    return name if labels[place] == summed else f"{name}ᵀ"
