"""What has no formula of its own: sums, products and tests as they are written, all else as calls of its operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...primitives.casting import CAST
from ...primitives.contraction import EINSUM, GATE
from ...primitives.functions import divide, logical_or, multiply, negative, not_equal, square
from ...primitives.selection import ASSEMBLE, SLICE, Structural
from ...program.node import Node
from ...program.program import Program
from ..letters import name_latex
from ..symbols import number

#: where a piece stands
_PLACE = re.compile(r"\[[^\]]*\]")
#: characters of a value beyond which it is left out
_MAX_CHARACTERS = 300
_TESTS = {
    "equal": ("=", "="),
    "not_equal": ("≠", r"\neq"),
    "less": ("<", "<"),
    "less_equal": ("≤", r"\leq"),
    "greater": (">", ">"),
    "greater_equal": ("≥", r"\geq"),
}
_SIGNS = {"add": ("+", "+"), "subtract": ("−", "-")}


class Called(NamedTuple):
    """A value as text and as LaTeX; ``is_one`` where it needs no brackets as a factor."""

    text: str
    latex: str
    is_one: bool = True

    @property
    def factor(self) -> Called:
        """The value as a factor of a product."""
        return self if self.is_one else Called(f"({self.text})", rf"\left({self.latex}\right)")


def called(program: Program) -> Called:
    """The first output of ``program``, whose inputs are called by its names."""
    made = {n: Called(name, name_latex(name)) for n, name in zip(program.inputs, program.names, strict=True)}
    for n in program.nodes:
        if n not in made:
            found = _leaf(n) if n.is_leaf else _written(n, [made[o] for o in n.operands])
            made[n] = found if len(found.text) <= _MAX_CHARACTERS else Called("…", r"\ldots")
    return made[program.outputs[0]]


def _leaf(node: Node) -> Called:
    if node.primitive.name == "constant":  # the same number everywhere, or empty
        value = node.params[0].value
        written = str(number(value.flat[0])) if value.size else "[]"
        return Called(written, written if value.size else r"[\,]")
    spelled = node.primitive.spell(node)
    return Called(spelled, spelled)


def _written(node: Node, parts: Sequence[Called]) -> Called:
    primitive, name = node.primitive, node.primitive.name
    if primitive is CAST or name in ("mark", "stop_gradient"):
        return parts[0]
    if primitive is logical_or:  # what is beside the test is that for NaN
        others = [p for p, o in zip(parts, node.operands, strict=True) if not _is_never(o)]
        if len(others) == 1:
            return others[0]
    if name in _TESTS:
        (text, latex), (a, b) = _TESTS[name], parts
        return Called(f"[{a.text} {text} {b.text}]", rf"\left[{a.latex} {latex} {b.latex}\right]")
    if primitive is EINSUM:
        found = _contracted(node, parts)
        if found is not None:
            return found
    if primitive is GATE or primitive is multiply:
        return _product(parts)
    if primitive is divide:
        upper, lower = node.operands
        a, b = (p.factor for p in parts)
        if lower.primitive is square and lower.operands[0] is upper:
            return Called(f"1 / {a.text}", f"1 / {a.latex}", False)
        return Called(f"{a.text} / {b.text}", rf"{a.latex} / {b.latex}", False)
    if name in _SIGNS:
        (text, latex), (a, b) = _SIGNS[name], (parts[0], parts[1].factor)
        return Called(f"{a.text} {text} {b.text}", f"{a.latex} {latex} {b.latex}", False)
    if primitive is negative:
        return Called(f"−{parts[0].factor.text}", f"-{parts[0].factor.latex}", False)
    if primitive is square:
        return Called(f"{parts[0].factor.text}²", f"{parts[0].factor.latex}^{{2}}")
    spelled = primitive.spell(node) if isinstance(primitive, Structural) or primitive is EINSUM else name
    if primitive is SLICE:
        (place,), (x,) = _PLACE.findall(spelled), (p.factor for p in parts)
        return Called(x.text + place, x.latex + place)
    if primitive is ASSEMBLE:
        pieces = [(p.factor, place) for p, place in zip(parts, _PLACE.findall(spelled), strict=True)]
        text = " + ".join(f"{p.text} at {place}" for p, place in pieces)
        return Called(text, " + ".join(rf"{p.latex} \text{{ at }} {place}" for p, place in pieces), False)
    operation = spelled.replace("_", r"\_")
    inside = ", ".join(p.latex for p in parts)
    text = f"{spelled}({', '.join(p.text for p in parts)})"
    return Called(text, rf"\operatorname{{{operation}}}\left({inside}\right)")


def _contracted(node: Node, parts: Sequence[Called]) -> Called | None:
    """Products of elements, their sum, or a product of matrices and vectors; None of other contractions."""
    labels, out, _, _ = node.params
    pairs = [(p, ls) for p, ls, o in zip(parts, labels, node.operands, strict=True) if not _is_unit(o)]
    pairs = pairs or list(zip(parts, labels, strict=True))
    summed = {i for ls in labels for i in ls} - set(out)
    if len(pairs) == 1 and pairs[0][1] == out[::-1] and len(out) == 2:
        return _turned(pairs[0][0], True)
    if len(set(out)) < len(out):  # a diagonal
        return None
    if not summed or len({ls for _, ls in pairs if ls}) <= 1:
        product = _product([p for p, _ in pairs])
        return Called(f"Σ {product.factor.text}", rf"\sum {product.factor.latex}", False) if summed else product
    numbers = [p for p, ls in pairs if not ls]
    pairs = [(p, ls) for p, ls in pairs if ls]
    if len(pairs) != 2 or len(summed) != 1 or any(len(ls) > 2 or len(set(ls)) < len(ls) for _, ls in pairs):
        return None
    (k,) = summed
    if not all(k in ls for _, ls in pairs):
        return None
    pairs.sort(key=lambda pair: pair[1] == (k,) or (len(out) == 2 and out[-1] in pair[1]))
    (left, first), (right, second) = pairs
    a, b = _turned(left, first[-1] != k), _turned(right, second[0] != k)
    return _product([*numbers, Called(f"{a.text} {b.text}", f"{a.latex} {b.latex}", False)])


def _turned(matrix: Called, is_turned: bool) -> Called:
    made = matrix.factor
    return Called(f"{made.text}ᵀ", rf"{made.latex}^{{\top}}") if is_turned else made


def _product(parts: Sequence[Called]) -> Called:
    if len(parts) == 1:
        return parts[0]
    factors = [p.factor for p in parts]
    return Called(" ⊙ ".join(f.text for f in factors), r" \odot ".join(f.latex for f in factors), False)


def _is_never(node: Node) -> bool:
    """Whether it is a test that no number passes: ``x ≠ x``."""
    return node.primitive is not_equal and node.operands[0] is node.operands[1]


def _is_unit(node: Node) -> bool:
    return node.is_literal and node.params[0] == 1
