"""How Fortran spells operations and numbers."""

from __future__ import annotations

import functools
import math
import struct
from typing import Any

import numpy as np
import sympy
from sympy.printing.fortran import FCodePrinter

from ...errors import UnsupportedOperation
from ..loops.language import Apply
from ..printed import ATOM, SUM, Pattern, Text, integer_quotient, printed

_PRINTER = FCodePrinter({"standard": 2008, "source_format": "free", "human": False, "name_mangling": False})
#: dtype -> its kind in iso_fortran_env
KINDS = {np.dtype(t): f"real{t.itemsize * 8}" for t in map(np.dtype, (np.float32, np.float64))}
KINDS |= {np.dtype(t): f"int{t.itemsize * 8}" for t in map(np.dtype, (np.int8, np.int16, np.int32, np.int64))}
BOOL = np.dtype(np.bool_)

#: operations on floats that the printer's formula spells, in functions that Fortran 2008 has
_PRINTED = (
    *("add", "subtract", "multiply", "divide", "power", "negative", "absolute", "where"),
    *("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot", "erf"),
    *("greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_not"),
)
#: those that Fortran has and the printer knows not, or prints with fewer digits
_INTRINSIC = {
    "fmod": "mod({0}, {1})",
    "trunc": "aint({0})",
    "copysign": "sign({0}, {1})",
    "exp2": "2**{0}",
    "erfc": "erfc({0})",
    "erfcx": "erfc_scaled({0})",
    "isnan": "ieee_is_nan({0})",
    "isfinite": "ieee_is_finite({0})",
    "logical_xor": "{0} .neqv. {1}",
}
#: those that a procedure of functions.f90 computes
_FUNCTIONS = {
    "equal": "equal({0}, {1})",
    "not_equal": ".not. equal({0}, {1})",
    "sign": "signum({0})",
    "isinf": "is_infinite({0})",
    "floor": "floor_of({0})",
    "ceil": "ceiling_of({0})",
    "ldexp": "ldexp({0}, int({1}, int64))",
    **{
        f: f"{f}({{0}})"
        for f in ("rint", "signbit", "cbrt", "expm1", "log1p", "log2", "expit", "logit", "ndtr", "log_ndtr")
    },
    **{f: f"{f}({{0}})" for f in ("digamma", "gammaln")},
    **{
        f: f"{f}({{0}}, {{1}})"
        for f in ("maximum", "minimum", "fmax", "fmin", "remainder", "floor_divide", "heaviside")
    },
    **{f: f"{f}({{0}}, {{1}})" for f in ("logaddexp", "logaddexp2", "xlogy", "zeta")},
}
#: what integers need otherwise
_INTEGER = {
    "equal": "{0} == {1}",
    "not_equal": "{0} /= {1}",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "sign": "signum({0})",
    "fmod": "fmod({0}, {1})",
    "reciprocal": "reciprocal({0})",
    "bitwise_and": "iand({0}, {1})",
    "bitwise_or": "ior({0}, {1})",
    "bitwise_xor": "ieor({0}, {1})",
    "invert": "not({0})",
}
#: what truth values need otherwise
_TRUTH = {
    "equal": "{0} .eqv. {1}",
    "not_equal": "{0} .neqv. {1}",
    "greater": "({0} .and. .not. {1})",
    "greater_equal": "({0} .or. .not. {1})",
    "less": "({1} .and. .not. {0})",
    "less_equal": "({1} .or. .not. {0})",
    "maximum": "{0} .or. {1}",
    "minimum": "{0} .and. {1}",
}
_OF_FLOATS: dict[str, str | None] = dict.fromkeys(_PRINTED) | _INTRINSIC | _FUNCTIONS
_TABLES = {"f": _OF_FLOATS, "i": _OF_FLOATS | _INTEGER, "b": _OF_FLOATS | _TRUTH}


def pattern(e: Apply) -> Pattern:
    """How an operation is spelled on the dtype of its first operand; ``where`` on any."""
    return _pattern(e.operation, e.operands[0].dtype.kind)


@functools.cache
def _pattern(operation: str, kind: str) -> Pattern:
    table = _TABLES.get(kind, {})
    if operation not in table:
        raise UnsupportedOperation(f"{operation} has no form in Fortran; export it as python, c or json.")
    return Pattern.of(table[operation] or printed(operation, _PRINTER))


def kind(dtype: np.dtype) -> str:
    """The kind of a dtype that is no truth value."""
    if dtype not in KINDS:
        raise UnsupportedOperation(
            f"Fortran has no {dtype.name}; cast it in the function, integers to int64, others to float32 or float64."
        )
    return KINDS[dtype]


def declared(dtype: np.dtype) -> str:
    """The type of a dtype.

    >>> declared(np.dtype(np.float32)), declared(np.dtype(bool))
    ('real(real32)', 'logical')
    """
    return "logical" if dtype == BOOL else f"{'real' if dtype.kind == 'f' else 'integer'}({kind(dtype)})"


def number(value: Any, dtype: np.dtype) -> Text:
    """A number, exactly.

    >>> number(0.1, np.dtype(np.float32)).source, number(-(2**63), np.dtype(np.int64)).source
    ('0.1_real32', '-9223372036854775807_int64 - 1')
    """
    if dtype == BOOL:
        return Text(".true." if value else ".false.")
    own = kind(dtype)
    if dtype.kind == "i":
        if value == np.iinfo(dtype).min:
            return Text(f"{value + 1}_{own} - 1", SUM)
        return Text(f"{value}_{own}", SUM if value < 0 else ATOM)
    x = dtype.type(value)
    if np.isnan(x):
        return Text(f"nan_{own}")
    sign = "-" if math.copysign(1, x) < 0 else ""
    x = abs(x)
    if np.isinf(x):
        source = f"infinity_{own}"
    elif 0 < x < np.finfo(dtype).tiny:
        source = f"transfer({_bits(x)}_int{dtype.itemsize * 8}, 1.0_{own})"
    else:
        source = f"{x!s}_{own}"
    return Text(sign + source, SUM if sign else ATOM)


def special_numbers(source: str) -> list[str]:
    """Declarations of the infinities and NaNs that occur in a source."""
    lines = []
    for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        for name, value in (("infinity", np.inf), ("nan", np.nan)):
            if f"{name}_{KINDS[dtype]}" in source:
                bits = f"transfer({_bits(dtype.type(value))}_int{dtype.itemsize * 8}, 1.0_{KINDS[dtype]})"
                lines.append(f"real({KINDS[dtype]}), parameter :: {name}_{KINDS[dtype]} = {bits}")
    return lines


def _bits(x: Any) -> int:
    """The bits of a positive float as a whole number."""
    return struct.unpack("<q" if x.itemsize == 8 else "<i", struct.pack("<d" if x.itemsize == 8 else "<f", abs(x)))[0]


def whole(value: int) -> str:
    """A whole number that counts or indexes."""
    return str(value) if abs(value) < 2**31 else f"{value}_int64"


def dim(expr: sympy.Expr) -> str:
    """A named dim over the names of sizes."""
    return integer_quotient(expr, lambda e: _PRINTER.doprint(e)[-1], "({0})/({1})")
