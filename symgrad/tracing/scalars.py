"""Python's functions of numbers on traced values: ``math``, ``cmath``, ``float``, ``int`` and ``complex``."""

from __future__ import annotations

import cmath
import contextlib
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, MissingPart, UnsupportedOperation
from ..primitives import functions as f
from ..primitives.shaping import reshape
from .catching import is_caught
from .dispatch import answers
from .python_numbers import as_number, beyond_bounds, is_number, operands, strong, whole_number
from .trace import as_node, running
from .tracer import Tracer

#: functions of ``math`` and the ufuncs of NumPy that compute the same
_UFUNCS = {
    name: getattr(np, {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "pow": "power"}.get(name, name), None)
    or getattr(np, f"arc{name[1:]}")
    for name in (
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2"),
        *("exp", "exp2", "expm1", "sqrt", "cbrt", "log1p", "log2", "log10", "pow", "degrees", "radians"),
        *("copysign", "fabs", "fmod", "ldexp", "modf"),
    )
    if hasattr(math, name)
}
_SPECIAL = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln"}


def number(value: Any) -> Any:
    """A value as a function of floats takes it: without axes, and a float64."""
    node = as_node(value)
    if node.shape:  # newer versions of NumPy convert no array with axes
        try:
            float(np.zeros(node.shape))
        except TypeError as error:
            raise ArgumentTypeError.here(f"{error}; use NumPy's function of arrays.") from None
    x = Tracer(reshape(node, ()))
    return _python_number(x if x.dtype == float else x.astype(float))


def _python_number(x: Any) -> Any:
    """``x``, or the parts of it, as Python's numbers."""
    if type(x) is tuple:
        return tuple(map(_python_number, x))
    return as_number(x) if type(x) is Tracer else x


def _answers(function: Callable) -> Callable[[Callable], Callable]:
    """As ``answers``, of a function that gives numbers of Python."""
    return lambda rule: answers(function)(lambda *args, **kwargs: _python_number(rule(*args, **kwargs)))


def _of(function: Callable, ufunc: np.ufunc) -> Callable:
    def rule(*args: Any) -> Any:
        given = [v if isinstance(v, int) and k else number(v) for k, v in enumerate(args)]
        return _in_domain(function, given, ufunc(*given))

    return rule


def _in_domain(function: Callable, args: list, made: Any) -> Any:
    """What a function of ``math`` has made; or what it raises of these values, guarded.

    Where the user's code catches errors, that none was raised is guarded too; else what is out of the domain is NaN or
    infinite, as NumPy has it.
    """
    trace = running()
    nodes = [as_node(v) for v in args]
    if not all(map(trace.has_value, nodes)):
        return made
    try:
        function(*[v if type(v) is int else float(trace.value_of(n)) for v, n in zip(args, nodes, strict=True)])
    except (ValueError, OverflowError):
        for node in nodes:
            trace.guard(node)
        raise
    if type(made) is Tracer and is_caught():
        trace.guard(f.isfinite(made._symgrad_node))
    return made


for _name, _ufunc in _UFUNCS.items():
    _answers(getattr(math, _name))(_of(getattr(math, _name), _ufunc))


def _test(ufunc: np.ufunc, taken: Callable) -> Callable:
    return lambda x: bool(ufunc(taken(x)))


for _name in ("isnan", "isinf", "isfinite"):
    answers(getattr(math, _name))(_test(getattr(np, _name), number))


def _special(name: str) -> Callable:
    def rule(x):
        try:
            from scipy import special
        except ImportError:
            raise MissingPart.here(
                f"math.{name} of a traced value needs SciPy: pip install 'symgrad[sparse]'"
            ) from None
        x = number(x)
        return _in_domain(getattr(math, name), [x], getattr(special, _SPECIAL[name])(x))

    return rule


for _name in _SPECIAL:
    _answers(getattr(math, _name))(_special(_name))


@_answers(math.gamma)
def _gamma(x):
    x = number(x)
    sign = np.where((x > 0) | (np.floor(x) % 2 == 0), 1.0, -1.0)
    return _in_domain(math.gamma, [x], sign * np.exp(_special("lgamma")(x)))


@_answers(math.log)
def _log(x, base=math.e):
    x, base = number(x), base if base is math.e else number(base)
    if base is math.e:
        return _in_domain(math.log, [x], np.log(x))
    return _in_domain(math.log, [x, base], np.log(x) / np.log(base))


@_answers(math.remainder)
def _remainder(x, y):
    x, y = number(x), number(y)
    return _in_domain(math.remainder, [x, y], x - y * np.rint(x / y))


@_answers(math.hypot)
def _hypot(*coordinates):
    x = [number(c) for c in coordinates]
    return np.hypot(*x) if len(x) == 2 else np.linalg.norm(np.stack(x))


@_answers(math.dist)
def _dist(p, q):
    return _hypot(*[a - b for a, b in zip(p, q, strict=True)])


@_answers(math.fsum)
def _fsum(seq):
    return sum(seq, 0.0)


@answers(math.prod)
def _prod(iterable, *, start=1):
    for value in iterable:
        start = start * value
    return start


@answers(math.isclose)
def _isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    x, y = number(a), number(b)
    near = abs(x - y) <= np.maximum(rel_tol * np.maximum(abs(x), abs(y)), abs_tol)
    return bool((x == y) | (near & np.isfinite(x) & np.isfinite(y)))


@_answers(math.frexp)
def _frexp(x):
    x = number(x)
    exponent = math.frexp(float(running().guard(x._symgrad_node)))[1]
    return x * 2.0**-exponent, exponent


def _whole(function: Callable, ufunc: np.ufunc) -> Callable:
    def rule(x: Any) -> Any:
        x = number(x)
        return whole_number(function, x, ufunc(x))

    return rule


for _name, _ufunc in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc)):
    _answers(getattr(math, _name))(_whole(getattr(math, _name), _ufunc))


@_answers(int)
def _int(x=0):
    node = number(x)._symgrad_node
    return int(running().guard(node)) if running().keeps_value(node) else _whole(int, np.trunc)(x)


@_answers(float)
def _float(x=0.0):
    return number(x)


def _complex_number(value: Any) -> Any:
    """A value as a function of complex numbers takes it: without axes, and a complex128."""
    node = as_node(value)
    made = Tracer(reshape(node, ())) if node.is_complex else number(value)
    return made if made.dtype == complex else made.astype(complex)


@_answers(complex)
def _complex(real=0.0, imag=None):
    made = _complex_number(real)
    return made if imag is None else made + 1j * _complex_number(imag)


def _of_complex(function: Callable, ufunc: np.ufunc) -> Callable:
    def rule(z: Any) -> Any:
        z = _complex_number(z)
        trace = running()
        if trace.has_value(z._symgrad_node):
            try:
                function(complex(trace.value_of(z._symgrad_node)))
            except (ValueError, OverflowError):
                trace.guard(z._symgrad_node)
                raise
        return ufunc(z)

    return rule


for _name in (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "sqrt", "log10"),
):
    _answers(getattr(cmath, _name))(_of_complex(getattr(cmath, _name), _UFUNCS[_name]))


@_answers(cmath.log)
def _complex_log(z, base=None):
    made = _of_complex(cmath.log, np.log)(z)
    return made if base is None else made / _of_complex(cmath.log, np.log)(base)


@_answers(cmath.phase)
def _phase(z):
    return np.angle(_complex_number(z))


@_answers(cmath.polar)
def _polar(z):
    z = _complex_number(z)
    return np.abs(z), np.angle(z)


@_answers(cmath.rect)
def _rect(r, phi):
    return number(r) * np.exp(1j * number(phi))


for _name in ("isnan", "isinf", "isfinite"):
    answers(getattr(cmath, _name))(_test(getattr(np, _name), _complex_number))


@functools.lru_cache(maxsize=1024)
def _stands_for_another(kind: type) -> bool:
    """Whether the instances of a class say that they are of another."""
    return any(isinstance(vars(c).get("__class__"), property) for c in kind.__mro__)


@answers(type)
def _type(value, *args):
    return type(value, *args) if args else value.__class__ if _stands_for_another(type(value)) else type(value)


@answers(isinstance)
def _isinstance(value, kinds):
    asks_of_it = isinstance(kinds, type) and _stands_for_another(kinds)  # such as ``isinstance(x, Tracer)``
    if asks_of_it or not _stands_for_another(type(value)):
        return isinstance(value, kinds)
    return issubclass(value.__class__, kinds)


@answers(hasattr)
def _hasattr(value, name):
    if not _stands_for_another(type(value)):
        return hasattr(value, name)
    with contextlib.suppress(UnsupportedOperation):  # which it has, without a rule
        return hasattr(value.__class__, name) or (hasattr(value, "_labels") and hasattr(value, name))
    return True


@answers(round)
def _round(number, ndigits=None):
    return round(number if type(number) is Tracer else Tracer(as_node(number)), ndigits)


def _extreme(function: Callable, is_before: Callable[[Any, Any], Any]) -> Callable:
    """``min`` or ``max``: of numbers a choice by their values, so that one trace serves whichever it is."""

    def rule(*args: Any, key: Any = None, **default: Any) -> Any:
        items = [*args[0]] if len(args) == 1 else args
        if key is not None or not items or not all(map(_is_real_number, items)):
            return function(items, key=key, **default)
        made = items[0]
        for item in items[1:]:
            comes_first = is_before(item, made)
            if type(comes_first) is Tracer:
                chosen = f.where(comes_first._symgrad_node, *operands((item, made)))
                made = as_number(Tracer(chosen), is_number(item) and is_number(made))
            elif comes_first:
                made = item
        return made

    return rule


def _is_real_number(value: Any) -> bool:
    if type(value) is Tracer:
        return not value._symgrad_node.shape and value.dtype.kind != "c"
    return isinstance(value, (int, float, np.generic)) and not isinstance(value, np.complexfloating)


answers(min)(_extreme(min, operator.lt))
answers(max)(_extreme(max, operator.gt))


def _of_type(kind: type[np.generic]) -> Callable:
    def rule(x: Any = 0) -> Any:
        beyond = beyond_bounds(kind, x) if issubclass(kind, np.integer) and type(x) is Tracer else None
        return Tracer(strong(as_node(x))).astype(kind) if beyond is None else beyond

    return rule


for _kind in (
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
):
    answers(_kind)(_of_type(_kind))
