"""Distribution functions, their complements and their inverses."""

from __future__ import annotations

from collections.abc import Callable

from .declaring import FRACTION, POSITIVE, Rule, Value, declare, flat, fn, gated
from .gamma import beta_density, gamma_density

COUNT, TRIALS = (0, 3), (4, 7)


def _declare(
    names: tuple[str, str, str], density: Callable[..., Value], steps: int, *domain: tuple[float, float]
) -> None:
    """A distribution function, its complement and the inverse, by the last argument.

    The first ``steps`` arguments are counts, by which the function is a step. ``density`` is the derivative.
    """
    rest: list[Rule | None] = [flat] * steps + [None] * (len(domain) - 1 - steps)
    below, above, inverse = names
    if below:
        declare(below, None, [*rest, density], domain)
    declare(above, None, [*rest, lambda *x: -density(*x)], domain)

    def slope(*given: Value) -> Value:
        return 1 / density(*given[:-1], getattr(fn, inverse)(*given))

    if inverse:
        declare(inverse, None, [*rest, slope], [*domain[:-1], FRACTION])


def _binomial(k: Value, n: Value, p: Value) -> Value:
    k = fn.floor(k)
    is_inside = fn.logical_and(fn.greater_equal(k, 0), k < n)
    return gated(is_inside, -beta_density(k + 1, fn.where(is_inside, n - k, 1), p))


def _negative_binomial(k: Value, n: Value, p: Value) -> Value:
    return beta_density(n, fn.floor(k) + 1, p)


def _poisson(k: Value, m: Value) -> Value:
    return -gamma_density(fn.floor(k) + 1, m)


def _chi_square(v: Value, x: Value) -> Value:
    return 0.5 * gamma_density(0.5 * v, 0.5 * x)


def _fisher(n: Value, d: Value, x: Value) -> Value:
    whole = d + n * x
    return beta_density(0.5 * n, 0.5 * d, n * x / whole, d / whole) * n * d / fn.square(whole)


def _student(df: Value, t: Value) -> Value:
    return fn.exp(-0.5 * (df + 1) * fn.log1p(t * t / df) - fn.betaln(0.5, 0.5 * df)) / fn.sqrt(df)


def _gamma(a: Value, b: Value, x: Value) -> Value:
    return a * gamma_density(b, a * x)


def _gamma_by_rate(a: Value, b: Value, x: Value) -> Value:
    return x * gamma_density(b, a * x)


_declare(("bdtr", "bdtrc", "bdtri"), _binomial, 1, COUNT, TRIALS, FRACTION)
_declare(("nbdtr", "nbdtrc", "nbdtri"), _negative_binomial, 1, COUNT, TRIALS, FRACTION)
_declare(("pdtr", "pdtrc", "pdtri"), _poisson, 1, COUNT, POSITIVE)
_declare(("chdtr", "chdtrc", ""), _chi_square, 0, POSITIVE, POSITIVE)
declare("chdtri", None, [None, lambda v, p: -1 / _chi_square(v, fn.chdtri(v, p))], [POSITIVE, FRACTION])
_declare(("fdtr", "fdtrc", "fdtri"), _fisher, 0, POSITIVE, POSITIVE, POSITIVE)
declare("stdtr", None, [None, _student], [POSITIVE, (-3.0, 3.0)])
declare("stdtrit", None, [None, lambda df, p: 1 / _student(df, fn.stdtrit(df, p))], [POSITIVE, FRACTION])
declare("gdtr", None, [_gamma_by_rate, None, _gamma], [POSITIVE] * 3)
declare("gdtrc", None, [lambda *x: -_gamma_by_rate(*x), None, lambda *x: -_gamma(*x)], [POSITIVE] * 3)
declare(
    "gdtrix",
    None,
    [
        lambda a, b, p: -fn.gdtrix(a, b, p) / a,
        None,
        lambda a, b, p: 1 / _gamma(a, b, fn.gdtrix(a, b, p)),
    ],
    [POSITIVE, POSITIVE, FRACTION],
)
declare(
    "gdtria",
    None,
    [
        lambda p, b, x: 1 / _gamma_by_rate(fn.gdtria(p, b, x), b, x),
        None,
        lambda p, b, x: -fn.gdtria(p, b, x) / x,
    ],
    [FRACTION, POSITIVE, POSITIVE],
)
