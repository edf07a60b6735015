"""The elementwise operators, a row each: class, NumPy's ufunc, what it computes.

>>> Sin()(np.array([0.0]))
array([0.])
>>> Pow()(np.float32(3.0), 2)
np.float32(9.0)
"""

from __future__ import annotations

import numpy as np

from .operator import operator, ufunc_operator

__all__ = [
    "ACos",
    "Abs",
    "Acosh",
    "Add",
    "Asin",
    "Asinh",
    "Atan",
    "Atan2",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Div",
    "Equal",
    "Exp",
    "Expm1",
    "Floor",
    "FloorDiv",
    "FloorMod",
    "Greater",
    "GreaterEqual",
    "IsFinite",
    "IsInf",
    "IsNan",
    "Less",
    "LessEqual",
    "Log",
    "Log1p",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "Maximum",
    "Minimum",
    "Mul",
    "Neg",
    "NotEqual",
    "Pow",
    "RealDiv",
    "Reciprocal",
    "Rint",
    "Rsqrt",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Square",
    "SquaredDifference",
    "Sub",
    "Tan",
    "Tanh",
]


def _row(name: str, ufunc: np.ufunc, doc: str):
    return ufunc_operator(name, ufunc, doc, __name__)


# one argument
Abs = _row("Abs", np.absolute, "``|x|``, with slope 0 at 0")
ACos = _row("ACos", np.arccos, "The inverse cosine")
Acosh = _row("Acosh", np.arccosh, "The inverse hyperbolic cosine")
Asin = _row("Asin", np.arcsin, "The inverse sine")
Asinh = _row("Asinh", np.arcsinh, "The inverse hyperbolic sine")
Atan = _row("Atan", np.arctan, "The inverse tangent")
Atanh = _row("Atanh", np.arctanh, "The inverse hyperbolic tangent")
Ceil = _row("Ceil", np.ceil, "The next integer above; its derivative is 0")
Cos = _row("Cos", np.cos, "The cosine")
Cosh = _row("Cosh", np.cosh, "The hyperbolic cosine")
Exp = _row("Exp", np.exp, "eˣ")
Expm1 = _row("Expm1", np.expm1, "eˣ - 1, exact near 0")
Floor = _row("Floor", np.floor, "The next integer below; its derivative is 0")
IsFinite = _row("IsFinite", np.isfinite, "Whether x is neither infinite nor NaN")
IsInf = _row("IsInf", np.isinf, "Whether x is infinite")
IsNan = _row("IsNan", np.isnan, "Whether x is NaN")
Log = _row("Log", np.log, "The natural logarithm")
Log1p = _row("Log1p", np.log1p, "log(1 + x), exact near 0")
LogicalNot = _row("LogicalNot", np.logical_not, "Whether x is zero or false")
Neg = _row("Neg", np.negative, "-x")
Reciprocal = _row("Reciprocal", np.reciprocal, "1/x")
Rint = _row("Rint", np.rint, "The nearest integer; its derivative is 0")
Sign = _row("Sign", np.sign, "-1, 0 or 1; its derivative is 0")
Sin = _row("Sin", np.sin, "The sine")
Sinh = _row("Sinh", np.sinh, "The hyperbolic sine")
Sqrt = _row("Sqrt", np.sqrt, "The square root")
Square = _row("Square", np.square, "x²")
Tan = _row("Tan", np.tan, "The tangent")
Tanh = _row("Tanh", np.tanh, "The hyperbolic tangent")

# two arguments
Add = _row("Add", np.add, "x + y")
Atan2 = _row("Atan2", np.arctan2, "The angle of the point (y, x)")
Div = _row("Div", np.true_divide, "x / y")
Equal = _row("Equal", np.equal, "Whether x = y")
FloorDiv = _row("FloorDiv", np.floor_divide, "x / y rounded down; its derivative is 0")
FloorMod = _row("FloorMod", np.remainder, "What x / y rounded down leaves over")
Greater = _row("Greater", np.greater, "Whether x > y")
GreaterEqual = _row("GreaterEqual", np.greater_equal, "Whether x ≥ y")
Less = _row("Less", np.less, "Whether x < y")
LessEqual = _row("LessEqual", np.less_equal, "Whether x ≤ y")
LogicalAnd = _row("LogicalAnd", np.logical_and, "Whether both are true")
LogicalOr = _row("LogicalOr", np.logical_or, "Whether one is true")
Maximum = _row("Maximum", np.maximum, "The larger of the two; ties share the derivative")
Minimum = _row("Minimum", np.minimum, "The smaller of the two; ties share the derivative")
Mul = _row("Mul", np.multiply, "x · y")
NotEqual = _row("NotEqual", np.not_equal, "Whether x ≠ y")
Pow = _row("Pow", np.power, "x to the power y")
RealDiv = _row("RealDiv", np.true_divide, "x / y")
Sub = _row("Sub", np.subtract, "x - y")


@operator
def Rsqrt(x):
    """``1/√x``, element by element.

    >>> Rsqrt()(4.0)
    np.float64(0.5)
    """
    return np.reciprocal(np.sqrt(x))


@operator
def SquaredDifference(x, y):
    """``(x - y)²``, element by element, with broadcasting.

    >>> SquaredDifference()(3.0, 1.0)
    np.float64(4.0)
    """
    return np.square(np.subtract(x, y))
