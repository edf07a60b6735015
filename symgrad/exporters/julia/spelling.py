"""How Julia spells operations and numbers."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from sympy.printing.julia import JuliaCodePrinter

from ...errors import UnsupportedOperation
from ..loops.language import Apply
from ..printed import ATOM, SUM, Pattern, Procedures, Text, integer_quotient, printed

_PRINTER = JuliaCodePrinter({"human": False})
PROCEDURES = Procedures((Path(__file__).parent / "functions.jl").read_text())

#: operations that the printer's formula spells
_PRINTED = (
    *("add", "subtract", "multiply", "divide", "negative", "absolute", "floor", "ceil"),
    *("exp", "arctan", "sinh", "cosh", "tanh", "arcsinh", "erf", "erfc"),
    *("greater", "greater_equal", "less", "less_equal", "equal", "not_equal"),
    *("logical_and", "logical_or", "logical_not"),
)
#: those that Julia has under these names
_OWN = {
    "where": "ifelse({0}, {1}, {2})",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "arctan2": "atan({0}, {1})",
    "remainder": "mod({0}, {1})",
    "fmod": "rem({0}, {1})",
    "rint": "round({0})",
    "logical_xor": "xor({0}, {1})",
    "digamma": "digamma({0})",
    "erfcx": "erfcx({0})",
    "zeta": "zeta({0}, {1})",
} | {
    name: f"{name}({', '.join(['{0}', '{1}'][:arity])})"
    for names, arity in (
        (("exp2", "expm1", "cbrt", "trunc", "isnan", "isinf", "isfinite", "signbit"), 1),
        (("hypot", "copysign", "ldexp"), 2),
    )
    for name in names
}
#: those that a function of functions.jl computes
_FUNCTIONS = {
    **{name: f"{name}_or_nan({{0}})" for name in ("sqrt", "log", "log2", "log10", "log1p", "sin", "cos", "tan")},
    **{f"arc{name}": f"a{name}_or_nan({{0}})" for name in ("sin", "cos", "cosh", "tanh")},
    "power": "power_or_nan({0}, {1})",
    "sign": "signum({0})",
    "fmax": "larger({0}, {1})",
    "fmin": "smaller({0}, {1})",
    **{name: f"{name}({{0}})" for name in ("gammaln", "expit", "logit", "ndtr", "log_ndtr")},
    **{name: f"{name}({{0}}, {{1}})" for name in ("heaviside", "floor_divide", "logaddexp", "logaddexp2", "xlogy")},
}
#: what integers need otherwise
_INTEGER = {
    "power": "{0}^{1}",
    "sign": "sign({0})",
    "floor_divide": "integer_floor_divide({0}, {1})",
    "remainder": "integer_remainder({0}, {1})",
    "fmod": "integer_fmod({0}, {1})",
    "reciprocal": "integer_reciprocal({0})",
    "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})",
    "bitwise_xor": "xor({0}, {1})",
    "invert": "(~{0})",
}
_OF_FLOATS: dict[str, str | None] = dict.fromkeys(_PRINTED) | _OWN | _FUNCTIONS
_OF_INTEGERS = _OF_FLOATS | _INTEGER
_TABLES = {"f": _OF_FLOATS, "i": _OF_INTEGERS, "u": _OF_INTEGERS, "b": _OF_FLOATS}
#: functions of packages, which are imported where they are called
PACKAGES = {
    "LinearAlgebra": ("Symmetric", "cholesky", "det", "inv", "logabsdet", "lu"),
    "Printf": ("@printf",),
    "SpecialFunctions": ("digamma", "erf", "erfc", "erfcx", "logabsgamma", "zeta"),
}
#: function of a Call -> how Julia computes it; these throw where there is no result
CALLS = {
    "inverse": "inv(lu({0}))",
    "solve": "lu({0}) \\ {1}",
    "determinant": "det({0})",
    "log_determinant": "logabsdet({0})[1]",
    "determinant_sign": "logabsdet({0})[2]",
    "cholesky": "cholesky(Symmetric({0}, :L)).L",
    "argsort": "sortperm({0} .+ 0) .- 1",  # a negative zero is equal to zero
}


def pattern(e: Apply) -> Pattern:
    """How an operation is spelled on the dtype of its first operand."""
    return _pattern(e.operation, e.operands[0].dtype.kind)


@functools.cache
def _pattern(operation: str, kind: str) -> Pattern:
    table = _TABLES[kind]
    if operation not in table:
        raise UnsupportedOperation(f"{operation} has no form in Julia; export it as python, c or json.")
    return Pattern.of(table[operation] or printed(operation, _PRINTER))


def type_name(dtype: np.dtype) -> str:
    """The type of a dtype.

    >>> type_name(np.dtype(np.float32)), type_name(np.dtype(np.uint8)), type_name(np.dtype(bool))
    ('Float32', 'UInt8', 'Bool')
    """
    return {"b": "Bool", "i": "Int", "u": "UInt", "f": "Float"}[dtype.kind] + (
        "" if dtype.kind == "b" else str(8 * dtype.itemsize)
    )


def number(value: Any, dtype: np.dtype) -> Text:
    """A number, exactly.

    >>> number(1e-7, np.dtype(np.float32)).source, number(-(2**63), np.dtype(np.int64)).source
    ('1f-07', 'typemin(Int64)')
    """
    if dtype.kind == "b":
        return Text("true" if value else "false")
    if dtype.kind in "iu":
        if value == np.iinfo(np.int64).min:
            return Text("typemin(Int64)")
        plain = str(int(value))
        return Text(plain, SUM if value < 0 else ATOM) if dtype == np.int64 else Text(f"{type_name(dtype)}({plain})")
    x = dtype.type(value)
    narrow = dtype == np.float32
    if np.isnan(x):
        return Text("NaN32" if narrow else "NaN")
    sign = "-" if math.copysign(1, x) < 0 else ""
    source = ("Inf32" if narrow else "Inf") if np.isinf(x) else str(abs(x))
    if narrow and not np.isinf(x):
        source = source.replace("e", "f") if "e" in source else f"{source}f0"
    return Text(sign + source, SUM if sign else ATOM)


def dim(expr: sympy.Expr) -> str:
    """A named dim over the names of sizes."""
    return integer_quotient(expr, _plain, "div({0}, {1})")


def _plain(expr: sympy.Expr) -> str:
    """A formula over whole numbers, without the dots of arrays."""
    source = _PRINTER.doprint(expr)[-1]
    return source.replace(" .* ", "*").replace(" .^ ", "^").replace(" * ", "*").replace(" ^ ", "^")


#: Julia's words, and the functions and types that are called
_WORDS = """
    abstract baremodule begin break catch const continue do else elseif end export false finally for function global if
    import in isa let local macro module mutable outer primitive public quote return struct true try type using where
    while AbstractArray AbstractMatrix AbstractVector ArgumentError Array Base Bool BoundsError Core DimensionMismatch
    Float32 Float64 GOLDEN Inf Inf32 Int Int16 Int32 Int64 Int8 Integer LinearAlgebra Main NaN NaN32 PROGRAM_FILE Printf
    Real SpecialFunctions UInt16 UInt32 UInt64 UInt8 abs abspath acos acosh asin asinh atan atanh atan cbrt ceil
    copysign cos cosh det difference div drawn eval exit exp exp2 expm1 fill fill! first fld floor hypot ifelse include
    inv isfinite isinf isnan ldexp length log log10 log1p log2 max min mod ndims nothing oftype one permutedims println
    rem reshape reverse round sign signbit sin sinh size sizeof sortperm sqrt tan tanh throw trunc typemin undef
    unsafe_trunc vec xor zero zeros self_check
"""
RESERVED: frozenset[str] = frozenset(_WORDS.split()).union(PROCEDURES.sources, *PACKAGES.values())
