"""sympy's functions of numbers, as NumPy computes them on arrays and on traced values."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy
from sympy.codegen import cfunctions, numpy_nodes

from ...errors import MissingPart


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


def _folded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: functools.reduce(function, values)


#: sympy's class -> the function of the values of its arguments
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.sin: np.sin,
    sympy.cos: np.cos,
    sympy.tan: np.tan,
    sympy.cot: lambda x: 1 / np.tan(x),
    sympy.sec: lambda x: 1 / np.cos(x),
    sympy.csc: lambda x: 1 / np.sin(x),
    sympy.asin: np.arcsin,
    sympy.acos: np.arccos,
    sympy.atan: np.arctan,
    sympy.acot: lambda x: np.where(np.equal(x, 0), np.pi / 2, np.arctan(1 / np.where(np.equal(x, 0), 1.0, x))),
    sympy.asec: lambda x: np.arccos(1 / x),
    sympy.acsc: lambda x: np.arcsin(1 / x),
    sympy.atan2: np.arctan2,
    sympy.sinh: np.sinh,
    sympy.cosh: np.cosh,
    sympy.tanh: np.tanh,
    sympy.coth: lambda x: 1 / np.tanh(x),
    sympy.sech: lambda x: 1 / np.cosh(x),
    sympy.csch: lambda x: 1 / np.sinh(x),
    sympy.asinh: np.arcsinh,
    sympy.acosh: np.arccosh,
    sympy.atanh: np.arctanh,
    sympy.sinc: _sinc,
    sympy.exp: np.exp,
    sympy.log: np.log,
    sympy.Abs: np.abs,
    sympy.sign: np.sign,
    sympy.floor: np.floor,
    sympy.ceiling: np.ceil,
    sympy.frac: lambda x: x - np.floor(x),
    sympy.Mod: np.mod,
    sympy.Max: _folded(np.maximum),
    sympy.Min: _folded(np.minimum),
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
    cfunctions.exp2: np.exp2,
    cfunctions.expm1: np.expm1,
    cfunctions.log1p: np.log1p,
    cfunctions.log2: np.log2,
    cfunctions.log10: np.log10,
    cfunctions.Cbrt: np.cbrt,
    cfunctions.Sqrt: np.sqrt,
    cfunctions.hypot: np.hypot,
    numpy_nodes.logaddexp: np.logaddexp,
    numpy_nodes.logaddexp2: np.logaddexp2,
    sympy.StrictGreaterThan: np.greater,
    sympy.GreaterThan: np.greater_equal,
    sympy.StrictLessThan: np.less,
    sympy.LessThan: np.less_equal,
    sympy.Equality: np.equal,
    sympy.Unequality: np.not_equal,
    sympy.And: _folded(np.logical_and),
    sympy.Or: _folded(np.logical_or),
    sympy.Xor: _folded(np.logical_xor),
    sympy.Not: np.logical_not,
    sympy.ITE: np.where,
}

#: functions that symgrad writes in closed forms and sympy only names, by name
NAMED: dict[str, Callable[..., Any]] = {
    "positive": np.positive,
    "conjugate": np.conjugate,
    "trunc": np.trunc,
    "round": np.rint,
    "heaviside": np.heaviside,
    "fmod": np.fmod,
    "xor": np.logical_xor,
    "isfinite": np.isfinite,
    "isnan": np.isnan,
    "isinf": np.isinf,
}
