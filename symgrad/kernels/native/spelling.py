"""How C spells the templates, in which dtypes, and what its names are declared as.

A spelling holds ``{0} {1} {2}`` for the operands, ``{f}`` for the suffix that a function of ``float`` has and ``{t}``
for the type. Truth values are ``_Bool``. What NumPy does with NaN is what C does here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...program.node import Node

F64, F32, I64, BOOL = (np.dtype(t) for t in (np.float64, np.float32, np.int64, np.bool_))
#: the C type of an element in memory, and of a value in a loop
STORED = {F64: "double", F32: "float", I64: "int64_t", BOOL: "uint8_t"}
HELD = {F64: "double", F32: "float", I64: "int64_t", BOOL: "_Bool"}

_FLOATS = frozenset({F64, F32})
_NUMBERS = frozenset({F64, F32, I64})
_ANY = frozenset(HELD)

#: template name -> (spelling, dtypes of its loop)
_SPELLINGS: dict[str, tuple[str, frozenset]] = {
    "add": ("({0} + {1})", _NUMBERS),
    "subtract": ("({0} - {1})", _NUMBERS),
    "multiply": ("({0} * {1})", _NUMBERS),
    "divide": ("({0} / {1})", _FLOATS),
    "negative": ("(-{0})", _NUMBERS),
    "positive": ("{0}", _NUMBERS),
    "conjugate": ("{0}", _NUMBERS),
    "square": ("({0} * {0})", _NUMBERS),
    "reciprocal": ("(1 / {0})", _FLOATS),
    "absolute": ("fabs{f}({0})", _FLOATS),
    "fabs": ("fabs{f}({0})", _FLOATS),
    "sign": ("({0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0})", _FLOATS),
    "maximum": ("({0} > {1} || {0} != {0} ? {0} : {1})", _NUMBERS),
    "minimum": ("({0} < {1} || {0} != {0} ? {0} : {1})", _NUMBERS),
    "fmax": ("({0} > {1} || {1} != {1} ? {0} : {1})", _FLOATS),
    "fmin": ("({0} < {1} || {1} != {1} ? {0} : {1})", _FLOATS),
    "heaviside": ("({0} != {0} ? {0} : {0} == 0 ? {1} : {0} < 0 ? 0 : 1)", _FLOATS),
    "copysign": ("copysign{f}({0}, {1})", _FLOATS),
    "fmod": ("fmod{f}({0}, {1})", _FLOATS),
    "remainder": ("remainder_of{f}({0}, {1})", _FLOATS),
    "logaddexp": ("logaddexp{f}({0}, {1})", _FLOATS),
    "rint": ("rint{f}({0})", _FLOATS),
    "radians": ("({0} * ({t})0x1.1df46a2529d39p-6)", _FLOATS),
    "deg2rad": ("({0} * ({t})0x1.1df46a2529d39p-6)", _FLOATS),
    "degrees": ("({0} * ({t})0x1.ca5dc1a63c1f8p+5)", _FLOATS),
    "rad2deg": ("({0} * ({t})0x1.ca5dc1a63c1f8p+5)", _FLOATS),
    "greater": ("({0} > {1})", _ANY),
    "greater_equal": ("({0} >= {1})", _ANY),
    "less": ("({0} < {1})", _ANY),
    "less_equal": ("({0} <= {1})", _ANY),
    "equal": ("({0} == {1})", _ANY),
    "not_equal": ("({0} != {1})", _ANY),
    "logical_and": ("({0} != 0 && {1} != 0)", _ANY),
    "logical_or": ("({0} != 0 || {1} != 0)", _ANY),
    "logical_xor": ("(({0} != 0) != ({1} != 0))", _ANY),
    "logical_not": ("({0} == 0)", _ANY),
    "isnan": ("({0} != {0})", _FLOATS),
    "isinf": ("(fabs{f}({0}) == INFINITY)", _FLOATS),
    "isfinite": ("(fabs{f}({0}) < INFINITY)", _FLOATS),
    "where": ("({0} != 0 ? {1} : {2})", _ANY),
    "norm_sqrt": ("sqrt{f}({0})", _FLOATS),
    "float_power": ("pow{f}({0}, {1})", _FLOATS),
    "power": ("pow{f}({0}, {1})", _FLOATS),
    "arctan2": ("atan2{f}({0}, {1})", _FLOATS),
    "hypot": ("hypot{f}({0}, {1})", _FLOATS),
}
#: the functions of one argument whose C name differs from NumPy's only so much
_RENAMED = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}
_RENAMED |= {"arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}
_EXACT = ("sqrt", "floor", "ceil", "trunc")
_FUNCTIONS = (
    *("cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
)
for _name in (*_EXACT, *_FUNCTIONS, *_RENAMED):
    _SPELLINGS[_name] = (_RENAMED.get(_name, _name) + "{f}({0})", _FLOATS)

#: what a function costs an element, in additions; the others cost one
COSTS = {"divide": 4, "reciprocal": 4, "sqrt": 5, "norm_sqrt": 5, "hypot": 20, "power": 30, "float_power": 30}
COSTS |= {"arctan2": 25, "fmod": 40, "remainder": 40, "logaddexp": 30}
COSTS |= dict.fromkeys((*_FUNCTIONS, *_RENAMED), 12)
#: integers up to which a power is written as products
_MOST_FACTORS = 4

#: the functions that have a vectorised form in libmvec
VECTORISED = (*_FUNCTIONS, *_RENAMED.values(), "pow", "atan2", "hypot")


def loop_dtypes(node: Node) -> tuple[np.dtype, ...]:
    """The dtypes in which a template node takes its operands."""
    template: Any = node.primitive
    return template.loop_dtypes(node.operands)[:-1]


def is_spelled(node: Node) -> bool:
    """True for a template node that C computes as NumPy does."""
    found = _SPELLINGS.get(node.primitive.name)
    if found is None or node.dtype not in HELD or any(o.dtype not in HELD for o in node.operands):
        return False
    loop = loop_dtypes(node)
    return all(d in found[1] for d in (loop[1:] if node.primitive.name == "where" else loop))


def spelled(node: Node) -> str:
    """The C expression of a template node over ``{0} {1} {2}``, its operands of the dtypes of its loop."""
    name = node.primitive.name
    loop = loop_dtypes(node)[-1]
    if name == "power" and node.operands[1].is_literal:
        exponent = node.operands[1].params[0]
        if isinstance(exponent, (int, float)) and exponent in range(1, _MOST_FACTORS + 1):
            return "(" + " * ".join(["{0}"] * int(exponent)) + ")"
    return _SPELLINGS[name][0].replace("{f}", "f" if loop == F32 else "").replace("{t}", HELD[loop])


def spelled_literal(value: Any, dtype: np.dtype) -> str:
    """A Python scalar in C, exact."""
    if dtype == BOOL:
        return "1" if value else "0"
    if dtype == I64:
        return f"INT64_C({int(value)})" if value > -(2**63) else "INT64_MIN"
    number = float(dtype.type(value))
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "(-INFINITY)"
    code = number.hex() + ("f" if dtype == F32 else "")
    return f"({code})" if code.startswith("-") else code
