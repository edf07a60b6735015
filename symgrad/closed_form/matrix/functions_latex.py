"""Elementwise functions of the matrix form that have a notation of their own, in LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .expression import Expression
from .printing import ATOM, HADAMARD, POSTFIX, PRODUCT, SUM

if TYPE_CHECKING:
    from .latex import Latex

Printed = tuple[str, int]


def _plainly(template: str, precedence: int = ATOM) -> Callable[[Latex, Expression], Printed]:
    """The arguments printed as they are, between brackets of the notation."""
    return lambda p, x: (template.format(*map(p, x.args)), precedence)


def _power(p: Latex, x: Expression) -> Printed:
    base, exponent = x.args
    dot = "" if x.is_scalar else r"\odot "
    return f"{p._within(base, ATOM)}^{{{dot}{p(exponent)}}}", POSTFIX


def _power_of_two(p: Latex, a: Expression) -> str:
    dot = "" if a.is_scalar else r"\odot "
    return f"2^{{{dot}{p(a)}}}"


def _squares(p: Latex, x: Expression) -> Printed:
    raised = "^{2}" if x.is_scalar else r"^{\odot 2}"
    return r"\sqrt{" + " + ".join(p._within(a, ATOM) + raised for a in x.args) + "}", ATOM


def _quotient(p: Latex, x: Expression) -> str:
    a, b = x.args
    return p.fraction(p(a), p(b)) if x.is_scalar else rf"{p._within(a, HADAMARD)} \oslash {p._within(b, PRODUCT)}"


def _times(p: Latex, x: Expression, first: str, second: str) -> str:
    return f"{first} {second}" if x.is_scalar else rf"{first} \odot {second}"


def _floor_quotient(p: Latex, x: Expression) -> Printed:
    return rf"\left\lfloor {_quotient(p, x)} \right\rfloor", ATOM


def _remainder(p: Latex, x: Expression) -> Printed:
    a, b = x.args
    return rf"{p._within(a, PRODUCT)} \bmod {p._within(b, PRODUCT)}", SUM


def _truncated_remainder(p: Latex, x: Expression) -> Printed:
    a, b = x.args
    whole = p.call("trunc", _quotient(p, x))
    return f"{p._within(a, HADAMARD)} - {_times(p, x, p._within(b, PRODUCT), whole)}", SUM


def _unit_step(p: Latex, x: Expression) -> Printed:
    a, at_zero = x.args
    within = p(a)
    return f"[{within} > 0] + {_times(p, x, p._within(at_zero, PRODUCT), f'[{within} = 0]')}", SUM


def _product_with_logarithm(p: Latex, x: Expression) -> Printed:
    a, b = x.args
    return _times(p, x, p._within(a, PRODUCT), p.call("log", p(b))), HADAMARD


def _choice(p: Latex, x: Expression) -> Printed:
    test, yes, no = x.args
    rows = rf"{p(yes)} & \text{{for}}\: {stated(p, test)} \\{p(no)} & \text{{otherwise}}"
    return rf"\begin{{cases}} {rows} \end{{cases}}", SUM


def _tie(p: Latex, x: Expression) -> Printed:
    a, b = (p._within(v, HADAMARD) for v in x.args)
    return rf"1 - \frac{{1}}{{2}} [{a} = {b}]", SUM


def _degrees(factor: str) -> Callable[[Latex, Expression], Printed]:
    return lambda p, x: (f"{factor} {p._within(x.args[0], PRODUCT)}", PRODUCT)


def _statement(p: Latex, x: Expression) -> Printed:
    return rf"\left[{stated(p, x)}\right]", ATOM


def stated(p: Latex, x: Expression) -> str:
    """A truth value, or that a number is not zero, as a statement."""
    if x.op == "function" and x not in p.names:
        if x.data in p.comparisons:
            a, b = (p._within(v, HADAMARD) for v in x.args)
            return f"{a} {p.comparisons[x.data]} {b}"
        if x.data in _CONNECTIVES:
            parts = [rf"\left({stated(p, a)}\right)" for a in x.args]
            return _CONNECTIVES[x.data].format(*parts)
        if x.data in _TESTS:
            return _TESTS[x.data].format(p._within(x.args[0], HADAMARD))
    return rf"{p._within(x, HADAMARD)} \ne 0"


_CONNECTIVES = {
    "logical_and": r"{0} \wedge {1}",
    "logical_or": r"{0} \vee {1}",
    "logical_xor": r"{0} \oplus {1}",
    "logical_not": r"\neg {0}",
}
_TESTS = {
    "isfinite": r"\left|{0}\right| < \infty",
    "isinf": r"\left|{0}\right| = \infty",
    "isnan": r"{0} \text{{ is not a number}}",
    "signbit": "{0} < 0",
}
WRITTEN: dict[str, Callable[[Latex, Expression], Printed]] = {
    **dict.fromkeys((*_CONNECTIVES, *_TESTS), _statement),
    "power": _power,
    "float_power": _power,
    "exp2": lambda p, x: (_power_of_two(p, x.args[0]), POSTFIX),
    "cbrt": _plainly(r"\sqrt[3]{{{0}}}"),
    "floor": _plainly(r"\left\lfloor {0} \right\rfloor"),
    "ceil": _plainly(r"\left\lceil {0} \right\rceil"),
    "gammaln": _plainly(r"\log\left|\Gamma\left({0}\right)\right|"),
    "logaddexp": _plainly(r"\log\left(\exp\left({0}\right) + \exp\left({1}\right)\right)"),
    "logaddexp2": lambda p, x: (rf"\log_{{2}}\left({' + '.join(_power_of_two(p, a) for a in x.args)}\right)", ATOM),
    "log_ndtr": _plainly(r"\log\left(\Phi\left({0}\right)\right)"),
    "relu": _plainly(r"\max\left({0}, 0\right)"),
    "hypot": _squares,
    "floor_divide": _floor_quotient,
    "remainder": _remainder,
    "fmod": _truncated_remainder,
    "heaviside": _unit_step,
    "xlogy": _product_with_logarithm,
    "where": _choice,
    "tie": _tie,
    "deg2rad": _degrees(r"\frac{\pi}{180}"),
    "radians": _degrees(r"\frac{\pi}{180}"),
    "rad2deg": _degrees(r"\frac{180}{\pi}"),
    "degrees": _degrees(r"\frac{180}{\pi}"),
}
#: functions that have a sign or another name in mathematics
SPELLED = {
    "sigmoid": r"\sigma",
    "expit": r"\sigma",
    "arcsinh": r"\operatorname{arsinh}",
    "arccosh": r"\operatorname{arcosh}",
    "arctanh": r"\operatorname{artanh}",
    "arctan2": r"\operatorname{atan2}",
    "log2": r"\log_{2}",
    "log10": r"\log_{10}",
    "digamma": r"\psi",
    "zeta": r"\zeta",
    "ndtr": r"\Phi",
    "rint": r"\operatorname{round}",
    "maximum": r"\max",
    "fmax": r"\max",
    "minimum": r"\min",
    "fmin": r"\min",
}
