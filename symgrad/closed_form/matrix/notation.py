"""Elementwise functions as mathematics writes them: in terms of others, or with signs of their own."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from ...primitives.elementwise import ELEMENTWISE
from ..typeset import typeset
from .expression import Expression, call, hadamard, number, power, product, scaled, total

#: characters of a decimal that is as short as a fraction
_TYPED = 8


@functools.cache
def spelled(function: str) -> str | None:
    """How LaTeX calls a function, which follows from its formula; None where it has no name but its own."""
    if function in _SPELLED:
        return _SPELLED[function]
    if function not in ELEMENTWISE:
        return None
    found = re.fullmatch(r"([^ ]+?)\{?\\left\(a(, b)? ?\\right\)\}?", typeset(ELEMENTWISE[function].expr))
    return found and found[1]


def decimal(value: Any) -> Any:
    """A number as people write it: ``0.99``, not ``99/100`` (``1/100`` stays), and ``log(2π)/2`` as one logarithm."""
    if value.is_Add and value.is_number and value.has(sympy.log):
        factor, logarithms = sympy.factor_terms(value).as_coeff_Mul()
        value = factor * sympy.logcombine(logarithms)
    if not value.is_Rational or abs(value.p) == 1 or value.q < 100:
        return value
    decimal = sympy.Float(repr(float(value)))
    return decimal if len(repr(float(value))) <= _TYPED and sympy.Rational(repr(float(value))) == value else value


def ascending(x: Expression) -> tuple[Expression, str, Expression] | None:
    """The lesser side, how it is compared, and the greater side; None for what says of no sides which is less."""
    if x.op != "function" or x.data not in ("less", "less_equal", "greater", "greater_equal"):
        return None
    low, high = x.args if x.data.startswith("less") else x.args[::-1]
    return low, x.data.replace("greater", "less"), high


def in_others(x: Expression) -> Expression | None:
    """An elementwise function in terms of others; None where mathematics has it as one."""
    meaning = _MEANINGS.get(x.data)
    return None if meaning is None else meaning(*x.args)


def _of(name: str, *args: Expression) -> Expression:
    return call("function", args, name, args[0].rows, args[0].columns)


def _times(a: Expression, b: Expression) -> Expression:
    return product([a, b]) if a.is_scalar and b.is_scalar else hadamard([a, b])


def _over(a: Expression, b: Expression) -> Expression:
    return scaled(sympy.Integer(1), [a], [b], number(1)) if a.is_scalar and b.is_scalar else hadamard([a], [b])


def _less(a: Expression, b: Expression) -> Expression:
    return total([a, scaled(sympy.Integer(-1), [], [], b)])


def _exponential(a: Expression) -> Expression:
    return number(1) if a.op == "zero" else _of("exp", a)


def _power_of_two(a: Expression) -> Expression:
    return call("function", [number(2), a], "power", a.rows, a.columns)


def _root_of_squares(a: Expression, b: Expression) -> Expression:
    return power(total([power(a, Fraction(2)), power(b, Fraction(2))]), Fraction(1, 2))


def _degrees(factor: sympy.Expr) -> Callable[[Expression], Expression]:
    return lambda a: scaled(factor, [], [], a)


_MEANINGS: dict[str, Callable[..., Expression]] = {
    "exp2": _power_of_two,
    "hypot": lambda a, b: _of("absolute", a) if b.op == "zero" else _root_of_squares(a, b),
    "logaddexp": lambda a, b: _of("log", total([_exponential(a), _exponential(b)])),
    "logaddexp2": lambda a, b: _of("log2", total([_power_of_two(a), _power_of_two(b)])),
    "log_ndtr": lambda a: _of("log", _of("ndtr", a)),
    "relu": lambda a: _of("maximum", a, number(0)),
    "floor_divide": lambda a, b: _of("floor", _over(a, b)),
    "fmod": lambda a, b: _less(a, _times(b, _of("trunc", _over(a, b)))),
    "heaviside": lambda a, b: total([_of("greater", a, number(0)), _times(b, _of("equal", a, number(0)))]),
    "xlogy": lambda a, b: _times(a, _of("log", b)),
    "tie": lambda a, b: _less(number(1), scaled(sympy.Rational(1, 2), [], [], _of("equal", a, b))),
    **dict.fromkeys(["deg2rad", "radians"], _degrees(sympy.pi / 180)),
    **dict.fromkeys(["rad2deg", "degrees"], _degrees(180 / sympy.pi)),
}
#: functions that have a sign, or another name than their formula has
_SPELLED = {word: rf"\{word}" for word in ("exp", "det", "max", "min")}
_SPELLED |= {"sigmoid": r"\sigma", "ndtr": r"\Phi", "density": r"\phi"}
#: brackets and signs around the arguments
AROUND = {
    "cbrt": r"\sqrt[3]{{{0}}}",
    "floor": r"\left\lfloor {0} \right\rfloor",
    "ceil": r"\left\lceil {0} \right\rceil",
    "gammaln": r"\log\left|\Gamma\left({0}\right)\right|",
}
#: truth values of truth values, and of numbers
CONNECTIVES = {
    "logical_and": r"{0} \wedge {1}",
    "logical_or": r"{0} \vee {1}",
    "logical_xor": r"{0} \oplus {1}",
    "logical_not": r"\neg {0}",
}
TESTS = {
    "isfinite": r"\left|{0}\right| < \infty",
    "isinf": r"\left|{0}\right| = \infty",
    "isnan": r"{0} \text{{ is not a number}}",
    "signbit": "{0} < 0",
}
