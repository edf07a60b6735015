"""How C spells numbers, dims, indices and the operations of the loop language."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from ...errors import UnsupportedOperation
from ...primitives.elementwise import COMPARISONS, ON_BITS, SIGNS
from ...program.dims import Dim, is_named
from ..loops.language import (
    Apply,
    Cast,
    Counted,
    Element,
    Expression,
    Index,
    Literal,
    Name,
    Search,
    Size,
)

#: the C type of each dtype
TYPES: dict[str, str] = {"bool": "bool", "float32": "float", "float64": "double"} | {
    f"{u}int{bits}": f"{u}int{bits}_t" for u in ("", "u") for bits in (8, 16, 32, 64)
}
#: how tightly an operator binds; what is not an operator binds tightest
ATOM, _UNARY, _TIMES, _PLUS, _LOOSE = 9, 8, 7, 6, 0

_INFIX = {name: (sign, _PLUS if sign in "+-" else _TIMES) for name, sign in SIGNS.items()}
_COMPARED = {**COMPARISONS, **ON_BITS, "logical_and": "&&", "logical_or": "||", "logical_xor": "!="}
#: functions of math.h of which there are forms that take many numbers at once, in glibc's libmvec
VECTORISED = (
    *("cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc", "sin", "cos", "tan", "sinh"),
    *("cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "pow", "atan2", "hypot"),
)
#: those of two numbers
TWO = ("pow", "atan2", "hypot")
#: operations on floats that are functions of math.h, by another name than NumPy's
MATH = {"absolute": "fabs", "power": "pow", "arctan2": "atan2"}
MATH |= {f"arc{name[1:]}": name for name in VECTORISED if name[0] == "a" and name != "atan2"}
MATH |= {name: name for name in VECTORISED if name[0] != "a" and name != "pow"}
MATH |= {name: name for name in ("sqrt", "floor", "ceil", "trunc", "rint", "copysign", "fmod")}
#: operations on floats that are macros of math.h, of one name for all types
_TESTS = ("isnan", "isinf", "isfinite", "signbit")

Spelled = tuple[str, int]


def type_of(dtype: np.dtype) -> str:
    """The C type of a dtype."""
    return TYPES[dtype.name]


def declarations(names: Iterable[str], vector: bool = True) -> str:
    """Prototypes of functions of math.h, which say of which there are forms for many numbers at once.

    Of functions that are not ``const`` a compiler takes no loop at once in which anything is chosen.

    >>> print(declarations(["pow"]))
    __attribute__((simd("notinbranch"), const)) double pow(double, double);
    __attribute__((simd("notinbranch"), const)) float powf(float, float);
    """
    mark = '__attribute__((simd("notinbranch"), const)) ' if vector else ""
    kinds = (("double", ""), ("float", "f"))
    rows = [(name, kind, end, ", ".join([kind] * (2 if name in TWO else 1))) for name in names for kind, end in kinds]
    return "\n".join(f"{mark}{kind} {name}{end}({given});" for name, kind, end, given in rows)


def suffix(dtype: np.dtype) -> str:
    """What ends the name of a function of the library for a dtype: ``f64``, ``i64``, ``b8``."""
    return f"{dtype.kind}{8 * dtype.itemsize}"


def literal(value: Any, dtype: np.dtype) -> str:
    """A number in C, exact.

    >>> literal(0.1, np.dtype(np.float64)), literal(2, np.dtype(np.float32)), literal(-3, np.dtype(np.int64))
    ('0.1', '2.0f', '-3')
    """
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        if int(value) == -(2**63):
            return "INT64_MIN"
        return (
            str(int(value)) if abs(int(value)) < 2**31 else f"{'U' if dtype.kind == 'u' else ''}INT64_C({int(value)})"
        )
    number = dtype.type(value)
    if np.isnan(number):
        return "NAN"
    if np.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    text = str(number)
    text = text if any(c in text for c in ".e") else f"{text}.0"
    return text + ("f" if dtype.itemsize == 4 else "")


class Spelling:
    """Spells expressions; ``dims`` are the names of the sizes, ``used`` collects the functions that they call."""

    def __init__(self, dims: Mapping[sympy.Symbol, str], counters: set[str], used: Callable[[str, np.dtype], str]):
        self.dims = dims
        self._counters = counters
        self._used = used
        self._known: dict[tuple[Dim, bool], Spelled] = {}

    # sizes and indices, of type size_t

    def dim(self, dim: Dim, signed: bool = False) -> str:
        """A dim, in arithmetic with or without signs; an operand of a product."""
        text, level = self._dim(dim, signed)
        return text if level >= _TIMES else f"({text})"

    def _dim(self, dim: Dim, signed: bool) -> Spelled:
        if not is_named(dim):
            return (str(int(dim)), ATOM if dim >= 0 else _PLUS)
        if isinstance(dim, sympy.Symbol):
            return self._polynomial(dim, signed)
        found = self._known.get((dim, signed))
        if found is None:
            top, bottom = sympy.fraction(sympy.together(dim))
            found = self._polynomial(top, signed)
            if bottom != 1:
                found = (f"{_tight(found, _TIMES)} / {_tight(self._polynomial(bottom, signed), _UNARY)}", _TIMES)
            self._known[dim, signed] = found
        return found

    def _polynomial(self, e: Any, signed: bool) -> Spelled:
        if e.is_Integer:
            return str(e), ATOM if e >= 0 else _PLUS
        if isinstance(e, sympy.Symbol):
            return (f"(int64_t){self.dims[e]}", _UNARY) if signed else (self.dims[e], ATOM)
        if isinstance(e, sympy.Add):
            terms = sorted(e.args, key=lambda t: (t.could_extract_minus_sign(), bool(t.is_number), str(t)))
            text = _tight(self._polynomial(terms[0], signed), _PLUS)
            for t in terms[1:]:
                negative = t.could_extract_minus_sign()
                part = _tight(self._polynomial(-t if negative else t, signed), _TIMES)
                text += f" {'-' if negative else '+'} {part}"
            return text, _PLUS
        if isinstance(e, sympy.Mul):
            if e.could_extract_minus_sign():
                return f"-{_tight(self._polynomial(-e, signed), _UNARY)}", _PLUS
            return " * ".join(_tight(self._polynomial(f, signed), _TIMES) for f in e.args), _TIMES
        if isinstance(e, sympy.Pow) and e.exp.is_Integer and e.exp > 0:
            return " * ".join([_tight(self._polynomial(e.base, signed), _UNARY)] * int(e.exp)), _TIMES
        raise UnsupportedOperation(f"the size {e} has no form in C; export it as python or json.")

    def index(self, index: Index) -> Spelled:
        """An index; where steps are negative the offset comes first."""
        parts: list[tuple[bool, str]] = []
        for name, coefficient in index.terms:
            counter = name if name in self._counters else f"(size_t){name}"
            negative = (coefficient < 0) if not is_named(coefficient) else coefficient.could_extract_minus_sign()
            size = -coefficient if negative else coefficient
            parts.append((negative, counter if size == 1 else f"{counter} * {self.dim(size)}"))
        if index.offset != 0 or not parts:
            offset = index.offset
            negative = (offset < 0) if not is_named(offset) else False
            parts.append((negative, self._dim(-offset if negative else offset, False)[0]))
        parts.sort(key=lambda p: p[0])
        text = ("-" if parts[0][0] else "") + parts[0][1]
        for negative, part in parts[1:]:
            text += f" {'-' if negative else '+'} {part if not negative or ' ' not in part else f'({part})'}"
        single = len(parts) == 1 and not parts[0][0] and " " not in text
        return text, ATOM if single else _PLUS

    def flat(self, shape: Sequence[Dim], place: Sequence[Index]) -> str:
        """The index into an array in C order."""
        terms = []
        for axis, index in enumerate(place):
            if index == Index():
                continue
            text, level = self.index(index)
            strides = [self.dim(d) for d in shape[axis + 1 :] if d != 1]
            if all(isinstance(d, int) for d in shape[axis + 1 :]):
                number = math.prod(shape[axis + 1 :])
                strides = [str(number)] if number != 1 else []
            terms.append(" * ".join([_tight((text, level), _UNARY if strides else _PLUS), *strides]))
        return " + ".join(terms) or "0"

    # numbers

    def __call__(self, e: Expression, loosest: int = _LOOSE) -> str:
        """An expression, in parentheses where it binds more loosely than ``loosest``."""
        return _tight(self._spelled(e), loosest)

    def _spelled(self, e: Expression) -> Spelled:
        if isinstance(e, Name):
            return e.name, ATOM
        if isinstance(e, Literal):
            text = literal(e.value, e.dtype)
            return text, _UNARY if text.startswith("-") else ATOM
        if isinstance(e, Element):
            array = e.array
            if not array.shape:
                return f"*{array.name}", _UNARY
            return f"{array.name}[{self.flat(array.shape, e.place)}]", ATOM
        if isinstance(e, Size):
            text, level = self._dim(e.dim, True)
            if e.dtype != np.int64 and is_named(e.dim):
                return f"({type_of(e.dtype)}){_tight((text, level), _UNARY)}", _UNARY
            return (literal(e.dim, e.dtype), ATOM if e.dim >= 0 else _UNARY) if not is_named(e.dim) else (text, level)
        if isinstance(e, Counted):
            return f"({type_of(e.dtype)}){_tight(self.index(e.index), _UNARY)}", _UNARY
        if isinstance(e, Cast):
            if e.dtype.kind == "b":
                return f"{self(e.operand, _UNARY)} != 0", _LOOSE
            return f"({type_of(e.dtype)}){self(e.operand, _UNARY)}", _UNARY
        if isinstance(e, Search):
            count = " * ".join(self.dim(d) for d in e.knots.shape)
            name = self._used(f"search_{e.side}", e.value.dtype)
            return f"{name}({count}, {e.knots.name}, {self(e.value)})", ATOM
        return self._applied(e)

    def _applied(self, e: Apply) -> Spelled:
        name, operands = e.operation, e.operands
        kind = operands[-1].dtype
        if name == "where":
            return " ".join([self(operands[0], 1), "?", self(operands[1], 1), ":", self(operands[2], 1)]), _LOOSE
        if name == "logical_not":
            return f"!{self(operands[0], _UNARY)}", _UNARY
        if name in _COMPARED:
            left, right = (self(o, _PLUS) for o in operands)
            return f"{left} {_COMPARED[name]} {right}", _LOOSE
        if kind.kind == "f":
            return self._floating(name, operands, e.dtype)
        if name == "ldexp":
            return f"{self._used(name, e.dtype)}({self(operands[0])}, {self(operands[1])})", ATOM
        return f"{self._used(name, kind)}({', '.join(map(self, operands))})", ATOM

    def _floating(self, name: str, operands: Sequence[Expression], dtype: np.dtype) -> Spelled:
        if name in _INFIX:
            sign, level = _INFIX[name]
            right = []
            while name == "multiply":  # products may have any number of factors
                first = operands[0]
                if not isinstance(first, Apply) or first.operation != name:
                    break
                right.append(self(operands[1], level + 1))
                operands = first.operands
            left = f"{self(operands[0], level)} {sign} {self(operands[1], level + 1)}"
            return f" {sign} ".join([left, *reversed(right)]), level
        if name == "negative":
            return f"-{self(operands[0], ATOM)}", _UNARY
        if name in _TESTS:
            return f"{name}({self(operands[0])}) != 0", _LOOSE
        arguments = ", ".join(map(self, operands))
        if name in MATH:
            return f"{MATH[name]}{'f' if dtype.itemsize == 4 else ''}({arguments})", ATOM
        return f"{self._used(name, dtype)}({arguments})", ATOM


def _tight(spelled: Spelled, loosest: int) -> str:
    text, level = spelled
    return text if level >= loosest else f"({text})"
