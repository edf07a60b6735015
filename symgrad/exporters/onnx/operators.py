"""The elementwise operators of the standard domain that onnxruntime computes in float64, and in all their digits."""

from __future__ import annotations

import numpy as np

#: operations that give truth values
COMPARISONS = {
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "equal": "Equal",
}
TESTS = {"isnan": "IsNaN", "isinf": "IsInf"}
_NUMBERS = COMPARISONS | {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "negative": "Neg",
    "absolute": "Abs",
    "sign": "Sign",
    "maximum": "Max",
    "minimum": "Min",
    "where": "Where",
}
_FLOATS = (
    _NUMBERS
    | TESTS
    | {name: name.capitalize() for name in ("sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "reciprocal")}
    | {"power": "Pow", "rint": "Round", "fmod": "Mod"}
)
_WHOLE = _NUMBERS | {
    "fmax": "Max",
    "fmin": "Min",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "invert": "BitwiseNot",
}
_TRUTH = {
    **dict.fromkeys(("add", "maximum", "fmax", "bitwise_or", "logical_or"), "Or"),
    **dict.fromkeys(("multiply", "minimum", "fmin", "bitwise_and", "logical_and"), "And"),
    **dict.fromkeys(("bitwise_xor", "logical_xor"), "Xor"),
    **dict.fromkeys(("invert", "logical_not"), "Not"),
}
#: those that onnxruntime has for float32 alone
_SINGLE = {name: name.capitalize() for name in ("sinh", "cosh", "tan", "erf")}
_SINGLE |= {f"arc{name}": f"A{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


def operator_of(name: str, dtype: np.dtype) -> str | None:
    """The operator of an operation on a dtype; None where there is none.

    >>> operator_of("tan", np.dtype("f4")), operator_of("tan", np.dtype("f8")), operator_of("add", np.dtype(bool))
    ('Tan', None, 'Or')
    """
    table = {"f": _FLOATS, "b": _TRUTH}.get(dtype.kind, _WHOLE)
    return table.get(name) or (_SINGLE.get(name) if dtype == np.float32 else None)
