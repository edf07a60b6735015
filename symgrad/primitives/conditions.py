"""Where operations are smooth: what has to hold of their operands, and what happens where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..program.node import Node
from . import functions as f
from .elementwise import COMPARISONS, ELEMENTWISE
from .primitive import literal_value


@dataclass(frozen=True)
class Condition:
    """``subject`` of an operation, as a node, is in the ``relation`` to the ``bound``, or what a word says.

    ``holds(node, values)`` says it of the values, element by element where it is said of elements. ``is_kink`` where
    the value is defined all the same, and the derivative is a convention.
    """

    subject: Callable[[Node], Node]
    relation: str
    otherwise: str
    holds: Callable[[Node, Any], Any]
    bound: str = ""
    is_kink: bool = False


_COMPARED: dict[str, Callable[[Any, float], Any]] = {">": np.greater, "<": np.less, "≠": np.not_equal}


def _is(
    subject: Callable[..., Node], relation: str, bound: int, otherwise: str, is_kink: bool = False
) -> list[Condition]:
    compare = _COMPARED[relation]
    return [
        Condition(
            lambda node: subject(*node.operands),
            relation,
            otherwise,
            lambda node, values: compare(values, bound),
            str(bound),
            is_kink,
        )
    ]


def _said(word: str, otherwise: str, holds: Callable[[Node, Any], Any], is_kink: bool = False) -> list[Condition]:
    return [Condition(lambda node: node.operands[0], word, otherwise, holds, is_kink=is_kink)]


def _first(a: Node, *_: Node) -> Node:
    return a


def _second(a: Node, b: Node) -> Node:
    return b


def _of_power(node: Node) -> list[Condition]:
    exponent = node.operands[1]
    value = literal_value(exponent) if exponent.is_literal else None
    if value is None or isinstance(value, complex) or value != int(value):
        return _is(_first, ">", 0, "it is NaN below 0, and slopes end at 0")
    return [] if value >= 0 else _is(_first, "≠", 0, "it is infinite")


def _of_choice(node: Node) -> Sequence[Condition]:
    test = node.operands[0]
    if test.primitive.name not in COMPARISONS or not any(o.differentiable and not o.is_literal for o in test.operands):
        return []
    a, b = test.operands
    whole = b.is_literal and literal_value(b) == 0
    return _is(lambda *_: a if whole else f.subtract(a, b), "≠", 0, "a choice has the slope of its side", is_kink=True)


def _attained_once(node: Node, values: Any) -> Any:
    extreme, axes = (np.min if node.primitive.name == "min" else np.max), _axes_of(node, values)
    return np.sum(values == extreme(values, axis=axes, keepdims=True), axis=axes) == 1


def _axes_of(node: Node, values: Any) -> Any:
    axes = node.params[0] if node.params else None
    return tuple(range(np.ndim(values))) if axes is None else axes


def _found_once(node: Node, values: Any) -> Any:
    extreme = np.min if node.primitive.name == "argmin" else np.max
    axis = node.params[0] if node.params else None
    return np.sum(values == extreme(values, axis=axis, keepdims=True), axis=axis) == 1


def _distinct(node: Node, values: Any) -> Any:
    axis = node.params[0] if node.params and isinstance(node.params[0], int) else -1
    return np.all(np.diff(np.sort(values, axis=axis), axis=axis) != 0, axis=axis)


def _nonsingular(node: Node, values: Any) -> Any:
    return np.linalg.matrix_rank(values) == values.shape[-1]


def _independent(node: Node, values: Any) -> Any:
    count = min(values.shape[-2:])
    return np.linalg.matrix_rank(values[..., :count]) == count


def _positive_definite(node: Node, values: Any) -> Any:
    return np.linalg.eigvalsh(values)[..., 0] > 0


def _apart(values: Callable[[Any], Any]) -> Callable[[Node, Any], Any]:
    def holds(node: Node, matrix: Any) -> Any:
        found = np.sort(values(matrix), axis=-1)
        return np.all(np.abs(np.diff(found, axis=-1)) > 1e-12 * np.max(np.abs(found), axis=-1, initial=1), axis=-1)

    return holds


_KINK = "a kink: the slope there is taken to be 0"
_JUMP = "a jump: the slope is 0 on both sides"
_TIE = "a tie: the slope is shared evenly"
_ORDER = "a tie: the order is held as it is"
_SPLIT = "vectors of equal values are no functions of the matrix"
#: operation -> the conditions of one of its nodes
CONDITIONS: dict[str, Sequence[Condition] | Callable[[Node], Sequence[Condition]]] = {
    **dict.fromkeys(("log", "log2", "log10"), _is(_first, ">", 0, "it is −∞ at 0 and NaN below")),
    "log1p": _is(_first, ">", -1, "it is −∞ at −1 and NaN below"),
    "sqrt": _is(_first, ">", 0, "its slope is infinite at 0, and it is NaN below"),
    "divide": _is(_second, "≠", 0, "a division by 0"),
    "reciprocal": _is(_first, "≠", 0, "a division by 0"),
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), _is(_second, "≠", 0, "a division by 0")),
    **dict.fromkeys(("power", "float_power"), _of_power),
    "cbrt": _is(_first, "≠", 0, "its slope is infinite at 0"),
    **dict.fromkeys(
        ("arcsin", "arccos", "arctanh"),
        _is(lambda a: f.absolute(a), "<", 1, "its slope is infinite at ±1, and it is NaN beyond"),
    ),
    "arccosh": _is(_first, ">", 1, "its slope is infinite at 1, and it is NaN below"),
    "arctan2": _is(lambda a, b: ELEMENTWISE["hypot"](a, b), "≠", 0, "the angle of the origin has no slope"),
    "tan": _is(lambda a: f.cos(a), "≠", 0, "it is infinite"),
    **dict.fromkeys(("absolute", "fabs"), _is(_first, "≠", 0, _KINK, is_kink=True)),
    **dict.fromkeys(("sign", "heaviside"), _is(_first, "≠", 0, _JUMP, is_kink=True)),
    "where": _of_choice,
    "norm_sqrt": _is(_first, "≠", 0, _KINK, is_kink=True),
    "hypot": _is(lambda a, b: ELEMENTWISE["hypot"](a, b), "≠", 0, _KINK, is_kink=True),
    **dict.fromkeys(
        ("maximum", "minimum", "fmax", "fmin"), _is(lambda a, b: f.subtract(a, b), "≠", 0, _TIE, is_kink=True)
    ),
    **dict.fromkeys(
        ("floor", "ceil", "trunc"), _said("not whole", _JUMP, lambda node, x: x != np.rint(x), is_kink=True)
    ),
    "rint": _said("not halfway", _JUMP, lambda node, x: x + 0.5 != np.rint(x + 0.5), is_kink=True),
    **dict.fromkeys(("max", "min"), _said("attained once", _TIE, _attained_once, is_kink=True)),
    **dict.fromkeys(("argmax", "argmin"), _said("attained once", _ORDER, _found_once, is_kink=True)),
    "argsort": _said("of distinct elements", _ORDER, _distinct, is_kink=True),
    **dict.fromkeys(("inverse", "solve", "log_determinant"), _said("nonsingular", "there is no inverse", _nonsingular)),
    "cholesky": _said("positive definite", "there is no such factor", _positive_definite),
    "eigh": _said("of distinct eigenvalues", _SPLIT, _apart(np.linalg.eigvalsh)),
    "eig": _said("of distinct eigenvalues", _SPLIT, _apart(np.linalg.eigvals)),
    "svd": _said("of distinct singular values", _SPLIT, _apart(np.linalg.svdvals)),
    "qr": _said("of independent columns", "Q is no function of the matrix", _independent),
}


def conditions_of(node: Node) -> Sequence[Condition]:
    """What has to hold of the operands of ``node``, where anything is differentiated there."""
    found = CONDITIONS.get(node.primitive.name, ())
    return found(node) if callable(found) else found
