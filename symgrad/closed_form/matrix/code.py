"""Code: an array that writes down what NumPy is asked to do with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from numpy.lib.mixins import NDArrayOperatorsMixin

from .terms import NotExpressible

SUM, CHAIN, PRODUCT, POWER, ATOM = range(5)
_PI, _E, _INFINITY = map(sympy.Symbol, ("np.pi", "np.e", "np.inf"))
_CONSTANTS = {sympy.pi: _PI, sympy.E: _E, sympy.oo: _INFINITY, -sympy.oo: -_INFINITY}
#: operators: how they are written, what they bind as, and what their operands need no brackets at
_OPERATORS = {
    np.add: (" + ", SUM, SUM, SUM),
    np.subtract: (" - ", SUM, SUM, CHAIN),
    np.multiply: (" * ", PRODUCT, PRODUCT, POWER),
    np.divide: (" / ", PRODUCT, PRODUCT, POWER),
    np.matmul: (" @ ", CHAIN, CHAIN, ATOM),
    np.power: (" ** ", POWER, ATOM, ATOM),
}


class Code(NDArrayOperatorsMixin):
    """Source of a value, brackets where precedence asks for them.

    >>> import numpy as np
    >>> X, w = Code("X"), Code("w")
    >>> str(2 * X.T @ np.exp(X @ w - 1))
    '2 * X.T @ np.exp(X @ w - 1)'
    """

    def __init__(self, text: str, precedence: int = ATOM, is_scalar: bool = False) -> None:
        self.text = text
        self.precedence = precedence
        self.is_scalar = is_scalar

    @classmethod
    def number(cls, value: Any, named: Mapping[Any, sympy.Symbol]) -> Code:
        """A number, or a formula in the symbols that ``named`` spells."""
        spelled: Any = value.xreplace({**named, **_CONSTANTS})
        text = re.sub(r"\b(sqrt|log|exp)\(", r"np.\1(", str(spelled))
        atom = re.fullmatch(r"[\w.\[\]]+", text)
        return cls(text, ATOM if atom else SUM if value.is_Add else PRODUCT, True)

    @classmethod
    def call(cls, function: str, args: Sequence[Any], named: Mapping[str, Any] | None = None) -> Code:
        """A call of a function."""
        inside = [*map(_spelled, args), *(f"{k}={v}" for k, v in (named or {}).items())]
        return cls(f"{function}({', '.join(inside)})")

    def within(self, least: int) -> str:
        """The source as an operand of what needs no brackets at ``least``."""
        return self.text if self.precedence >= least else f"({self.text})"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Code:
        operands = [x if isinstance(x, Code) else Code(repr(x)) for x in inputs]
        if ufunc is np.negative:
            return Code(f"-{self.within(CHAIN)}", SUM, self.is_scalar)
        if ufunc in _OPERATORS:
            return _operated(ufunc, *operands)
        if getattr(np, ufunc.__name__, None) is not ufunc:
            raise NotExpressible
        name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        return Code.call(name, operands, named)

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Code:
        module = function.__module__.replace("numpy", "np", 1)
        return Code.call(f"{module}.{function.__name__}", args, named)

    @property
    def T(self) -> Code:
        """The transpose."""
        return Code(f"{self.within(ATOM)}.T")

    def __getitem__(self, index: Any) -> Code:
        entries = index if isinstance(index, tuple) else (index,)
        return Code(f"{self.within(ATOM)}[{', '.join(map(_entry, entries))}]")

    def __str__(self) -> str:
        return self.text


def _operated(ufunc: Any, a: Code, b: Code) -> Code:
    sign, precedence, left, right = _OPERATORS[ufunc]
    is_scalar = a.is_scalar and b.is_scalar
    if ufunc is np.add and b.text.startswith("-"):
        return Code(f"{a} - {b.text[1:]}", SUM, is_scalar)
    if ufunc is np.multiply and a.is_scalar and b.precedence == CHAIN:  # NumPy takes the number to the first factor
        right = precedence = CHAIN
    return Code(a.within(left) + sign + b.within(right), precedence, is_scalar)


def _spelled(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_spelled, value))})"
    return str(value)


def _entry(entry: Any) -> str:
    """An entry of an index."""
    if not isinstance(entry, slice):
        return _spelled(entry)
    parts = [entry.start, entry.stop] + ([] if entry.step is None else [entry.step])
    return ":".join("" if p is None else str(p) for p in parts)
