"""The distributions of ``scipy.stats``: densities, distribution functions, quantiles; imported where one is called.

SciPy's methods are Python around ``_logpdf``, ``_cdf``, … of each family, which are written with functions of arrays.
These run on traced values as they are; location, scale and support are seen to here, once for all families.
scipy is optional: nothing else in symgrad imports this module.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from scipy import special
from scipy.stats import rv_continuous, rv_discrete
from scipy.stats._distn_infrastructure import rv_continuous_frozen, rv_discrete_frozen, rv_generic

from ..errors import UnsupportedOperation
from .dispatch import answers
from .local_array import holds_traced, unwrapped
from .trace import as_node, is_traced
from .tracer import Tracer


def _apply_where(
    cond: Any, args: Any, f1: Callable, f2: Callable | None = None, /, *, fill_value: Any = None, **_: Any
):
    """SciPy's choice between two functions: of traced values both are computed, and one is taken."""
    args = args if isinstance(args, (tuple, list)) else (args,)
    return np.where(cond, f1(*args), fill_value if f2 is None else f2(*args))


def _asarray(value: Any, *args: Any, **kwargs: Any) -> Any:
    return value if is_traced(value) else np.asarray(value, *args, **kwargs)


class _Instead:
    """A module with other functions in place of some."""

    def __init__(self, module: Any, **others: Callable) -> None:
        self._module, self._others = module, others

    def __getattr__(self, name: str) -> Any:
        return self._others.get(name) or getattr(self._module, name)


#: what SciPy computes with plain arrays alone, by another name
_PRIVATE = {
    "_beta_pdf": lambda x, a, b: np.exp(
        special.xlog1py(b - 1.0, -x) + special.xlogy(a - 1.0, x) - special.betaln(a, b)
    ),
    "_beta_ppf": lambda q, a, b: special.betaincinv(a, b, q),
    "_cauchy_ppf": lambda q, loc, scale: loc + scale * np.tan(np.pi * (q - 0.5)),
    "_cauchy_isf": lambda q, loc, scale: loc - scale * np.tan(np.pi * (q - 0.5)),
    "_binom_pmf": lambda k, n, p: special.binom(n, k) * np.exp(special.xlogy(k, p) + special.xlog1py(n - k, -p)),
    "_binom_cdf": lambda k, n, p: special.betaincc(k + 1, n - k, p),
    "_binom_sf": lambda k, n, p: special.betainc(k + 1, n - k, p),
    "_nbinom_pmf": lambda k, n, p: special.binom(k + n - 1, k) * np.exp(special.xlogy(n, p) + special.xlog1py(k, -p)),
    "_nbinom_cdf": lambda k, n, p: special.betainc(n, k + 1, p),
    "_nbinom_sf": lambda k, n, p: special.betaincc(n, k + 1, p),
}


def _log1p_over(c: Any, x: Any) -> Any:
    """``log(1 + c x) / c``, which is ``x`` where ``c`` is 0: smooth there, and SciPy's choice of ``x`` has no slope."""
    is_zero = c == 0
    near = special.hyp2f1(1.0, 1.0, 2.0, np.where(is_zero, -_times(c, x), 0.0))
    return np.where(is_zero, x * near, special.log1p(c * x) / np.where(is_zero, 1.0, c))


def _times(c: Any, x: Any) -> Any:
    """``c x``, where 0 times infinity is 0."""
    return np.where(np.isfinite(x) | (c != 0), c * x, 0.0)


def _genextreme_logpdf(family: Any, x: Any, c: Any) -> Any:
    cx = _times(c, x)
    log_of_log = family._loglogcdf(x, c)
    is_none = (cx == 1) | (cx == -np.inf)
    added = np.where((c == 0) & (x == -np.inf), 0.0, log_of_log)
    value = np.where(is_none, -np.inf, -np.exp(log_of_log) + added - special.log1p(-cx))
    return np.where((c == 1) & (x == 1), 0.0, value)


def _genextreme_quantile(x: Any, c: Any) -> Any:
    is_zero = c == 0
    return np.where(is_zero, x * special.exprel(-c * x), -special.expm1(-c * x) / np.where(is_zero, 1.0, c))


#: methods of families that SciPy writes by another formula where a shape is 0, which has no slope by it: by one formula
_SMOOTH: dict[tuple[str, str], Callable] = {
    ("genextreme", "_loglogcdf"): lambda family, x, c: -_log1p_over(-c, x),
    ("genextreme", "_logpdf"): _genextreme_logpdf,
    ("genextreme", "_ppf"): lambda family, q, c: _genextreme_quantile(-np.log(-np.log(q)), c),
    ("genextreme", "_isf"): lambda family, q, c: _genextreme_quantile(-np.log(-special.log1p(-q)), c),
    ("genpareto", "_logpdf"): lambda family, x, c: (
        -np.where(c == 0, (c + 1.0) * _log1p_over(c, x), special.xlog1py(c + 1.0, c * x) / np.where(c == 0, 1.0, c))
    ),
    ("genpareto", "_logsf"): lambda family, x, c: -_log1p_over(c, x),
    ("skewnorm", "_pdf"): lambda family, x, a: (
        2 * special.ndtr(_times(a, x)) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    ),
    ("skewnorm", "_logpdf"): lambda family, x, a: (
        np.log(2) + special.log_ndtr(_times(a, x)) + (-(x**2) / 2 - np.log(2 * np.pi) / 2)
    ),
}


def _log_gauss_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal distribution between ``a`` and ``b``, from the side on which it is small."""
    is_right = a > 0
    low, high = np.where(is_right, -b, a), np.where(is_right, -a, b)
    is_one_sided = high <= 0
    upper, lower = special.log_ndtr(high), special.log_ndtr(low)
    one_sided = upper + np.log(-np.expm1(np.minimum(lower - upper, 0.0)))
    return np.where(is_one_sided, one_sided, np.log1p(-special.ndtr(low) - special.ndtr(-high)))


def _putmask(a: Any, mask: Any, values: Any) -> None:
    if not is_traced(a):
        np.putmask(a, mask, values)
    else:
        a[...] = np.where(mask, values, a)


@functools.cache
def _space(module: str) -> dict[str, Any]:
    """What the functions of a module of SciPy see while they run on traced values."""
    space = dict(vars(sys.modules[module]))
    for name, value in space.items():
        if name == "_log_gauss_mass":
            space[name] = _log_gauss_mass
        elif type(value) is FunctionType and value.__module__.startswith("scipy.stats"):
            space[name] = _seeing(value, space)
        elif isinstance(value, rv_generic):
            space[name] = _Family(value)
        elif value is special._ufuncs:
            space[name] = _Instead(value, **_PRIVATE)
        elif value is np:
            space[name] = _Instead(np, asarray=_asarray, putmask=_putmask)
        elif value is np.asarray:
            space[name] = _asarray
        elif hasattr(value, "apply_where"):
            space[name] = _Instead(value, apply_where=_apply_where)
    return space


def _seeing(function: FunctionType, space: dict[str, Any]) -> FunctionType:
    made = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


class _Family:
    """A family of SciPy's whose own functions run on traced values."""

    def __init__(self, family: Any) -> None:
        self.family = family

    def __getattr__(self, name: str) -> Any:
        smooth = _SMOOTH.get((self.family.name, name))
        if smooth is not None:
            return functools.partial(smooth, self)
        method = getattr(type(self.family), name, None)
        if method in (rv_continuous._logcdf, rv_continuous._logsf):
            return functools.partial(self._logarithm, name == "_logcdf")
        if method is rv_generic._argcheck:
            return lambda *shapes: functools.reduce(operator.and_, [s > 0 for s in shapes], np.True_)
        if type(method) is FunctionType and method.__module__.startswith("scipy.stats"):
            return functools.partial(_seeing(method, _space(method.__module__)), self)
        return getattr(self.family, name)

    def _logarithm(self, of_left: bool, x: Any, *shapes: Any) -> Any:
        """Of the distribution function or of its complement, by the one that is small, where a family has no other."""
        left, right = self._cdf(x, *shapes), self._sf(x, *shapes)
        own, other = (left, right) if of_left else (right, left)
        return np.where(own < 0.5, np.log(own), np.log1p(-other))


def floats(value: Any) -> Any:
    """An argument as a traced array of float64, in which SciPy computes."""
    value = unwrapped(value, traced=True)
    return Tracer(as_node(value if holds_traced(value) else np.asarray(value, float))).astype(float)


#: families that SciPy writes with the absolute value: in their middle its slope 0 would hide theirs, as in that of
#: pearson3 the slope of the normal one by its skew
_FOLDED = ("dgamma", "dweibull", "gennorm")


class _Standard:
    """A family at its shapes, with location and scale; ``bounds`` are those of the support."""

    def __init__(self, family: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        shapes, loc, scale = family._parse_args(*args, **kwargs)
        if family.name in _FOLDED or (family.name == "pearson3" and holds_traced(shapes)):
            raise UnsupportedOperation.here(
                f"scipy.stats.{family.name} has no derivative rule in symgrad: SciPy folds it at its middle, where "
                "its slopes would be lost. Write its formula with NumPy and scipy.special."
            )
        self.family = _Family(family)
        self.given = shapes
        self.shapes = [floats(s) for s in shapes]
        self.loc, self.scale = floats(loc), floats(scale)
        self.bounds = self.family._get_support(*self.shapes)
        self.is_valid = (self.scale > 0) & self.family._argcheck(*self.shapes)

    def of(self, name: str, inside: Any, y: Any, held: Any) -> Any:
        """The family's own function at ``y`` inside, at ``held`` elsewhere: what is there is not looked at."""
        function = getattr(self.family, name)
        try:
            return function(np.where(inside, y, held), *self.shapes)
        except Exception as error:
            raise UnsupportedOperation.here(
                f"scipy.stats.{self.family.name}.{name.removeprefix('_')} has no derivative rule in symgrad: SciPy "
                "computes it with a function that has none. Write its formula with NumPy and scipy.special, or say "
                "what its derivative is: symgrad.custom."
            ) from error

    def settled(self, inside: Any, value: Any, others: Any) -> Any:
        """``value`` inside, ``others`` outside, and NaN where the shapes are none."""
        return np.where(self.is_valid, np.where(inside, value, others), np.nan)

    def moments(self) -> tuple[Any, Any]:
        """The mean and the variance at location 0 and scale 1: numbers, or by the family's own formulas."""
        family = self.family.family
        if not holds_traced(self.given):
            return family.stats(*self.given, moments="mv")
        with contextlib.suppress(Exception):  # of what is computed with a function that has no rule
            if type(family)._stats is not rv_generic._stats:
                mean, variance, *_ = self.family._stats(*self.shapes)
                return floats(mean), floats(variance)
            if type(family)._munp is not rv_continuous._munp and family.name != "rel_breitwigner":  # by complex numbers
                mean, square = (self.family._munp(n, *self.shapes) for n in (1, 2))
                return mean, square - mean**2
        raise UnsupportedOperation.here(
            f"moments of scipy.stats.{family.name} have no derivative rule by its shape in symgrad: SciPy has no "
            "formula for them that has one. Write it with NumPy and scipy.special."
        )

    def middle(self) -> Any:
        """A point inside of the support."""
        low, high = self.bounds
        near_low = np.where(np.isfinite(low), low + 1.0, np.where(np.isfinite(high), high - 1.0, 0.0))
        both = np.isfinite(low) & np.isfinite(high)
        return np.where(both, 0.5 * (np.where(both, low, 0.0) + np.where(both, high, 0.0)), near_low)


def _density(name: str, outside: float, scaled: Callable[[Any, Any], Any]) -> Callable:
    def answer(family: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        standard = _Standard(family, args, kwargs)
        x = floats(x)
        y = (x - standard.loc) / standard.scale
        inside = (standard.bounds[0] <= y) & (y <= standard.bounds[1])
        value = scaled(standard.of(name, inside, y, standard.middle()), standard.scale)
        return standard.settled(inside, value, np.where(np.isnan(x), np.nan, outside))

    return answer


def _distribution(name: str, below: float, above: float) -> Callable:
    def answer(family: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        standard = _Standard(family, args, kwargs)
        x = floats(x)
        y = (x - standard.loc) / standard.scale
        inside = (standard.bounds[0] < y) & (y < standard.bounds[1])
        value = standard.of(name, inside, y, standard.middle())
        others = np.where(y >= standard.bounds[1], above, np.where(np.isnan(x), np.nan, below))
        return standard.settled(inside, value, others)

    return answer


def _quantile(name: str, at_zero: int) -> Callable:
    def answer(family: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
        standard = _Standard(family, args, kwargs)
        q = floats(q)
        inside = (q > 0) & (q < 1)
        value = standard.of(name, inside, q, 0.5) * standard.scale + standard.loc
        low, high = standard.bounds[at_zero], standard.bounds[1 - at_zero]
        ends = np.where(q == 0, low, np.where(q == 1, high, np.nan)) * standard.scale + standard.loc
        return standard.settled(inside, value, ends)

    return answer


METHODS: dict[str, Callable] = {
    "pdf": _density("_pdf", 0.0, lambda value, scale: value / scale),
    "logpdf": _density("_logpdf", -np.inf, lambda value, scale: value - np.log(scale)),
    "cdf": _distribution("_cdf", 0.0, 1.0),
    "logcdf": _distribution("_logcdf", -np.inf, 0.0),
    "sf": _distribution("_sf", 1.0, 0.0),
    "logsf": _distribution("_logsf", 0.0, -np.inf),
    "ppf": _quantile("_ppf", 0),
    "isf": _quantile("_isf", 1),
}


def _moment(of: Callable[[Any, Any, Any, Any], Any]) -> Callable:
    def answer(family: Any, *args: Any, **kwargs: Any) -> Any:
        standard = _Standard(family, args, kwargs)
        value = of(*standard.moments(), standard.loc, standard.scale)
        return np.where(standard.is_valid, value, np.nan)

    return answer


#: of both kinds of families
MOMENTS: dict[str, Callable] = {
    "mean": _moment(lambda mean, variance, loc, scale: mean * scale + loc),
    "var": _moment(lambda mean, variance, loc, scale: variance * scale**2),
    "std": _moment(lambda mean, variance, loc, scale: np.sqrt(variance) * scale),
}


def _interval(family: Any, confidence: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if not isinstance(family, rv_continuous):
        raise UnsupportedOperation.here(f"scipy.stats.{family.name}.interval has no derivative rule in symgrad.")
    low, high = (METHODS["ppf"](family, q, *args, **kwargs) for q in ((1 - confidence) / 2, (1 + confidence) / 2))
    return low, high


def _mass(name: str, outside: float) -> Callable:
    """Of a discrete family: the mass at whole numbers of the support."""

    def answer(family: Any, k: Any, *args: Any, **kwargs: Any) -> Any:
        standard = _Standard(family, args, kwargs)
        y = floats(k) - standard.loc
        inside = (standard.bounds[0] <= y) & (y <= standard.bounds[1]) & (np.floor(y) == y)
        return standard.settled(inside, standard.of(name, inside, y, standard.bounds[0]), outside)

    return answer


def _steps(name: str, below: float, above: float) -> Callable:
    """Of a discrete family: what grows at whole numbers."""

    def answer(family: Any, k: Any, *args: Any, **kwargs: Any) -> Any:
        standard = _Standard(family, args, kwargs)
        y = np.floor(floats(k) - standard.loc)
        inside = (standard.bounds[0] <= y) & (y < standard.bounds[1])
        value = standard.of(name, inside, y, standard.bounds[0])
        return standard.settled(inside, value, np.where(y >= standard.bounds[1], above, below))

    return answer


DISCRETE: dict[str, Callable] = {
    "pmf": _mass("_pmf", 0.0),
    "logpmf": _mass("_logpmf", -np.inf),
    "cdf": _steps("_cdf", 0.0, 1.0),
    "sf": _steps("_sf", 1.0, 0.0),
}


def _frozen(rule: Callable) -> Callable:
    return lambda frozen, x: rule(frozen.dist, x, *frozen.args, **frozen.kwds)


for _name, _rule in METHODS.items():
    answers(getattr(rv_continuous, _name))(_rule)
for _name in ("pdf", "logpdf"):
    answers(getattr(rv_continuous_frozen, _name))(_frozen(METHODS[_name]))
for _name, _rule in DISCRETE.items():
    answers(getattr(rv_discrete, _name))(_rule)
for _name in ("pmf", "logpmf"):
    answers(getattr(rv_discrete_frozen, _name))(_frozen(DISCRETE[_name]))


def _frozen_moment(rule: Callable) -> Callable:
    return lambda frozen: rule(frozen.dist, *frozen.args, **frozen.kwds)


for _name, _rule in MOMENTS.items():
    answers(getattr(rv_generic, _name))(_rule)
    answers(getattr(rv_continuous_frozen, _name))(_frozen_moment(_rule))
answers(rv_generic.interval)(_interval)
answers(rv_continuous_frozen.interval)(_frozen(_interval))


def _either(name: str) -> Callable:
    def answer(frozen: Any, x: Any) -> Any:
        rules = METHODS if isinstance(frozen.dist, rv_continuous) else DISCRETE
        return rules[name](frozen.dist, x, *frozen.args, **frozen.kwds)

    return answer


for _name in ("cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
    answers(getattr(rv_continuous_frozen, _name))(_either(_name))
