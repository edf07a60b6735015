"""How each elementwise function is written: a rule a template, on operands of the dtype that NumPy computes in."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...errors import UnsupportedOperation
from ...primitives.elementwise import Template
from ...program.node import Node
from . import accurate, division, special
from .graph import Graph
from .steps import BOOL, Value, supported

Rule = Callable[..., Value]
_PYTHON = {"b": np.dtype(bool), "i": int, "u": int, "f": float}


def elementwise(g: Graph, node: Node, operands: list[Value]) -> Value:
    """The value of an elementwise node."""
    template = node.primitive
    assert isinstance(template, Template)
    rule = RULES.get(template.name)
    if rule is None:
        raise UnsupportedOperation(
            f"onnx: {template.name} has no operator in the standard domain; write it with functions that have one, "
            "or export to another format."
        )
    kinds = _computed_in(node, template)
    made = rule(g, *[g.cast(x, d) for x, d in zip(operands, kinds, strict=True)])
    return g.expand(g.cast(made, node.dtype), node.shape)


def _computed_in(node: Node, template: Template) -> list[np.dtype]:
    """The dtypes of the loop that NumPy takes."""
    if template.name == "where":
        return [node.operands[0].dtype, node.dtype, node.dtype]
    ufunc = template.ufunc
    assert isinstance(ufunc, np.ufunc)
    strong = any(not o.weak for o in node.operands)
    kinds = [_PYTHON[o.dtype.kind] if o.weak and strong else o.dtype for o in node.operands]
    loop = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[: template.arity]
    return [supported(np.dtype(d)) for d in loop]


def truth(g: Graph, x: Value) -> Value:
    """False where ``x`` is zero."""
    return x if x.dtype == BOOL else g.negation(g.test("Equal", x, g.like(0, x)))


def _of(operator: str) -> Rule:
    return lambda g, *xs: g.unary(operator, *xs) if len(xs) == 1 else g.binary(operator, *xs)


def _arithmetic(operator: str, of_truth: str) -> Rule:
    return lambda g, a, b: g.binary(of_truth if a.dtype == BOOL else operator, a, b)


def _comparison(operator: str) -> Rule:
    def rule(g: Graph, a: Value, b: Value) -> Value:
        if a.dtype == BOOL:
            a, b = g.cast(a, np.int32), g.cast(b, np.int32)
        return g.test(operator, a, b)

    return rule


def _logical(operator: str) -> Rule:
    return lambda g, a, b: g.binary(operator, truth(g, a), truth(g, b))


def _bitwise(operator: str, of_truth: str) -> Rule:
    return _arithmetic(operator, of_truth)


def _step(operator: str) -> Rule:
    """A rounding, which leaves whole numbers and truth values as they are."""
    return lambda g, x: g.unary(operator, x) if x.is_float else x


def _scaled(factor: float) -> Rule:
    return lambda g, x: g.mul(x, g.like(factor, x))


def _same(g: Graph, x: Value) -> Value:
    return x


def _absolute(g: Graph, x: Value) -> Value:
    return x if x.dtype == BOOL else g.unary("Abs", x)


def _reciprocal(g: Graph, x: Value) -> Value:
    if not x.is_float:
        raise UnsupportedOperation("onnx: reciprocal of whole numbers is not written; cast to float, or write 1/x.")
    return g.unary("Reciprocal", x)


def _exp2(g: Graph, x: Value) -> Value:
    return g.binary("Pow", g.like(2, x), x)


def _ordered(operator: str) -> Rule:
    """An extremum that ignores NaN where the other side has a number."""
    extremum = _arithmetic(operator, "Or" if operator == "Max" else "And")

    def rule(g: Graph, a: Value, b: Value) -> Value:
        if not a.is_float:
            return extremum(g, a, b)
        return g.where(g.is_nan(a), b, g.where(g.is_nan(b), a, extremum(g, a, b)))

    return rule


def _trunc(g: Graph, x: Value) -> Value:
    if not x.is_float:
        return x
    return g.where(g.test("Less", x, g.like(0, x)), g.unary("Ceil", x), g.unary("Floor", x))


def _heaviside(g: Graph, a: Value, b: Value) -> Value:
    zero = g.like(0, a)
    inside = g.where(g.test("Greater", a, zero), g.like(1, a), a)
    return g.where(g.test("Equal", a, zero), b, g.where(g.test("Less", a, zero), zero, inside))


def _ldexp(g: Graph, a: Value, b: Value) -> Value:
    """By three powers of 2, each of which a float holds."""
    most = 300 if a.dtype == np.float32 else 2130
    exponent = g.binary("Max", g.binary("Min", b, g.like(most, b)), g.like(-most, b))
    third = g.div(exponent, g.like(3, b))
    for part in (third, third, g.sub(exponent, g.add(third, third))):
        a = g.mul(a, g.binary("Pow", g.like(2, a), g.cast(part, a.dtype)))
    return a


def _invert(g: Graph, x: Value) -> Value:
    return g.negation(x) if x.dtype == BOOL else g.unary("BitwiseNot", x)


def _never(g: Graph, x: Value) -> Value:
    return g.expand(g.constant(False, bool), x.shape)


def _is_nan(g: Graph, x: Value) -> Value:
    return g.is_nan(x) if x.is_float else _never(g, x)


def _is_infinite(g: Graph, x: Value) -> Value:
    return g.unary("IsInf", x, BOOL) if x.is_float else _never(g, x)


def _is_finite(g: Graph, x: Value) -> Value:
    return g.negation(g.either(_is_nan(g, x), _is_infinite(g, x)))


RULES: dict[str, Rule] = {
    "add": _arithmetic("Add", "Or"),
    "subtract": _of("Sub"),
    "multiply": _arithmetic("Mul", "And"),
    "divide": _of("Div"),
    "negative": _of("Neg"),
    "positive": _same,
    "conjugate": _same,
    "square": lambda g, x: g.mul(x, x),
    "reciprocal": _reciprocal,
    "sqrt": _of("Sqrt"),
    "norm_sqrt": _of("Sqrt"),
    "cbrt": accurate.cbrt,
    "power": division.power,
    "float_power": division.power,
    "exp": _of("Exp"),
    "exp2": _exp2,
    "expm1": accurate.expm1,
    "log": _of("Log"),
    "log2": lambda g, x: accurate.logarithm(g, x, 2),
    "log10": lambda g, x: accurate.logarithm(g, x, 10),
    "log1p": accurate.log1p,
    "logaddexp": accurate.logaddexp,
    "logaddexp2": accurate.logaddexp2,
    "sin": _of("Sin"),
    "cos": _of("Cos"),
    "tan": accurate.tan,
    "arcsin": accurate.arcsin,
    "arccos": accurate.arccos,
    "arctan": accurate.arctan,
    "arctan2": accurate.arctan2,
    "hypot": accurate.hypot,
    "sinh": accurate.sinh,
    "cosh": accurate.cosh,
    "tanh": _of("Tanh"),
    "arcsinh": accurate.arcsinh,
    "arccosh": accurate.arccosh,
    "arctanh": accurate.arctanh,
    "deg2rad": _scaled(math.pi / 180),
    "radians": _scaled(math.pi / 180),
    "rad2deg": _scaled(180 / math.pi),
    "degrees": _scaled(180 / math.pi),
    "sign": _of("Sign"),
    "absolute": _absolute,
    "fabs": _absolute,
    "greater": _comparison("Greater"),
    "greater_equal": _comparison("GreaterOrEqual"),
    "less": _comparison("Less"),
    "less_equal": _comparison("LessOrEqual"),
    "equal": _comparison("Equal"),
    "not_equal": lambda g, a, b: g.negation(_comparison("Equal")(g, a, b)),
    "maximum": _arithmetic("Max", "Or"),
    "minimum": _arithmetic("Min", "And"),
    "fmax": _ordered("Max"),
    "fmin": _ordered("Min"),
    "where": lambda g, c, a, b: g.where(truth(g, c), a, b),
    "floor": _step("Floor"),
    "ceil": _step("Ceil"),
    "trunc": _trunc,
    "rint": _step("Round"),
    "heaviside": _heaviside,
    "copysign": accurate.copysign,
    "floor_divide": division.floor_divide,
    "remainder": division.remainder,
    "fmod": division.fmod,
    "ldexp": _ldexp,
    "logical_and": _logical("And"),
    "logical_or": _logical("Or"),
    "logical_xor": _logical("Xor"),
    "logical_not": lambda g, x: g.negation(truth(g, x)),
    "isfinite": _is_finite,
    "isnan": _is_nan,
    "isinf": _is_infinite,
    "signbit": accurate.signbit,
    "bitwise_and": _bitwise("BitwiseAnd", "And"),
    "bitwise_or": _bitwise("BitwiseOr", "Or"),
    "bitwise_xor": _bitwise("BitwiseXor", "Xor"),
    "invert": _invert,
    **special.RULES,
}
