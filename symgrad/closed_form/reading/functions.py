"""sympy's functions of numbers, as NumPy computes them on arrays and on traced values."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy
from sympy.codegen import cfunctions
from sympy.core.function import AppliedUndef

from ...errors import MissingPart
from ...primitives.elementwise import elementwise_of


def _special(name: str) -> Callable[..., Any]:
    """A function of ``scipy.special``, imported where it is called."""

    def call(*values: Any) -> Any:
        try:
            module = importlib.import_module("scipy.special")
        except ModuleNotFoundError:
            raise MissingPart(f"{name} needs scipy: pip install 'symgrad[sparse]'") from None
        return getattr(module, name)(*values)

    return call


def _gamma(x: Any) -> Any:
    size = np.exp(_special("gammaln")(x))
    return np.where(np.greater(x, 0), size, (1 - 2 * np.mod(np.floor(x), 2)) * size)


def _loggamma(x: Any) -> Any:
    """Of positive numbers; it is complex elsewhere."""
    return np.where(np.greater(x, 0), _special("gammaln")(x), np.nan)


def _sinc(x: Any) -> Any:
    other = np.where(np.equal(x, 0), 1.0, x)
    return np.where(np.equal(x, 0), 1.0, np.sin(other) / other)


def folded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of two values as one of any number."""
    return lambda *values: functools.reduce(function, values)


#: sympy's class -> the function of the values of its arguments, where no elementwise operation is its own
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.cot: lambda x: 1 / np.tan(x),
    sympy.sec: lambda x: 1 / np.cos(x),
    sympy.csc: lambda x: 1 / np.sin(x),
    sympy.acot: lambda x: np.where(np.equal(x, 0), np.pi / 2, np.arctan(1 / np.where(np.equal(x, 0), 1.0, x))),
    sympy.asec: lambda x: np.arccos(1 / x),
    sympy.acsc: lambda x: np.arcsin(1 / x),
    sympy.coth: lambda x: 1 / np.tanh(x),
    sympy.sech: lambda x: 1 / np.cosh(x),
    sympy.csch: lambda x: 1 / np.sinh(x),
    sympy.sinc: _sinc,
    sympy.frac: lambda x: x - np.floor(x),
    sympy.Max: folded(np.maximum),
    sympy.Min: folded(np.minimum),
    sympy.Heaviside: np.heaviside,
    sympy.KroneckerDelta: lambda a, b, *_: np.where(np.equal(a, b), 1.0, 0.0),
    sympy.re: lambda x: x,
    sympy.im: lambda x: 0.0 * x,
    sympy.conjugate: lambda x: x,
    sympy.erf: _special("erf"),
    sympy.erfc: _special("erfc"),
    sympy.gamma: _gamma,
    sympy.factorial: lambda x: _gamma(x + 1),
    sympy.loggamma: _loggamma,
    sympy.digamma: _special("psi"),
    cfunctions.Sqrt: np.sqrt,
    sympy.StrictGreaterThan: np.greater,
    sympy.GreaterThan: np.greater_equal,
    sympy.StrictLessThan: np.less,
    sympy.LessThan: np.less_equal,
    sympy.Equality: np.equal,
    sympy.Unequality: np.not_equal,
    sympy.And: folded(np.logical_and),
    sympy.Or: folded(np.logical_or),
    sympy.Xor: folded(np.logical_xor),
    sympy.Not: np.logical_not,
    sympy.ITE: np.where,
}


def function_of(kind: Any) -> Callable[..., Any] | None:
    """What computes a function of sympy, or one that symgrad names in closed forms; None for any other.

    >>> function_of(sympy.asin).__name__, function_of(sympy.Function("heaviside")).__name__
    ('arcsin', 'heaviside')
    """
    if kind in _FUNCTIONS:
        return _FUNCTIONS[kind]
    named = sympy.Function(kind.__name__, real=True) if issubclass(kind, AppliedUndef) else kind
    template = elementwise_of(named)
    return None if template is None else template.ufunc
