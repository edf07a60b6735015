"""The elementwise functions: one declaration each.

``declare(name, ufunc, formula, …)`` is all it takes: the value is the ufunc's, the partials are
sympy's derivative of the formula unless declared, ``domain`` is where the rule tests draw from (one
interval an operand).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import sympy
from sympy.codegen import cfunctions, numpy_nodes

from ..program.node import Node
from .casting import REAL_PART, cast
from .contraction import gate
from .elementwise import ELEMENTWISE, SLOTS, Elementwise, Partial, conjugated, register_function
from .identity import Mark
from .primitive import CapturedArray, constant, literal, literal_value

A, B, C, _ = SLOTS
ANY = (-3.0, 3.0)
#: intervals of ints and of bools: operands of that kind are drawn
INTEGERS, TRUTH = (-3, 4), (False, True)
#: operation name -> intervals that the rule tests draw operands from
DOMAINS: dict[str, tuple[tuple[float, float], ...]] = {}

#: nanoseconds an element, by NumPy and in compiled loops -> the functions of NumPy that take more than an addition
_TAKING = {
    (1.0, 0.7): "divide reciprocal",
    (1.5, 1.2): "sqrt norm_sqrt",
    (0.4, 0.3): "maximum minimum",
    (2.5, 0.4): "where",
    (3.0, 0.2): "heaviside",
    (5.0, 0.2): "ldexp",
    (5.0, 2.0): "log",
    (6.0, 2.0): "exp exp2",
    (6.0, 2.2): "log2",
    (10.0, 2.0): "expm1",
    (10.0, 2.5): "hypot",
    (10.0, 2.7): "log1p",
    (11.0, 1.6): "sin",
    (13.0, 2.2): "log10",
    (14.0, 2.0): "cos",
    (15.0, 3.0): "arcsin arccos arctan",
    (15.0, 4.0): "tanh erf erfc",
    (15.0, 8.0): "floor_divide remainder",
    (16.0, 3.5): "cosh",
    (16.0, 6.0): "power float_power",
    (10.0, 3.0): "squared_sech",
    (18.0, 4.0): "sinh",
    (20.0, 4.0): "cbrt",
    (20.0, 8.0): "fmod",
    (22.0, 3.2): "tan",
    (25.0, 5.0): "arctan2 arcsinh arccosh arctanh",
    (28.0, 6.0): "logaddexp logaddexp2",
}
_COSTS = {name: costs for costs, names in _TAKING.items() for name in names.split()}


def declare(
    name: str,
    ufunc: Any,
    formula: Any,
    *,
    partials: tuple[Partial | None, ...] | None = None,
    domain: tuple[tuple[float, float], ...] | None = None,
    operator: bool = False,
) -> Elementwise:
    """Add one elementwise function; returns its operation."""
    arity = ufunc.nin if isinstance(ufunc, np.ufunc) else len(domain or (ANY,))
    operation = ELEMENTWISE[name] = Elementwise(name, ufunc, formula, partials, operator, arity, costs=_COSTS.get(name))
    DOMAINS[name] = domain or (ANY,) * operation.arity
    if isinstance(formula, (sympy.Function, sympy.Abs)) and formula.args == SLOTS[: operation.arity]:
        register_function(formula.func, operation)
    return operation


def opaque(name: str, arity: int) -> Any:
    """A formula that sympy only names, for functions it does not know."""
    return sympy.Function(name, real=True)(*SLOTS[:arity])


def _one(*_: Node) -> Node:
    return literal(1)


def _minus_one(*_: Node) -> Node:
    return literal(-1)


# arithmetic
add = declare("add", np.add, A + B, partials=(_one, _one), operator=True)
subtract = declare("subtract", np.subtract, A - B, partials=(_one, _minus_one), operator=True)
multiply = declare("multiply", np.multiply, A * B, partials=(lambda a, b: b, lambda a, b: a), operator=True)
conjugate = declare("conjugate", np.conjugate, sympy.conjugate(A, evaluate=False), partials=(_one,), operator=True)
conjugate.over_reals = (None, _one)
real = declare("real", np.real, sympy.re(A, evaluate=False), partials=(_one,), operator=True)
imag = declare("imag", np.imag, sympy.im(A, evaluate=False), partials=(lambda a: literal(-1j),), operator=True)
REAL_PART.append(real)
NONZERO = (0.3, 3.0)
divide = declare(
    "divide",
    np.divide,
    A / B,
    partials=(lambda a, b: divide(1, b), lambda a, b: negative(divide(divide(a, b), b))),
    domain=(ANY, NONZERO),
    operator=True,
)
negative = declare("negative", np.negative, -A, partials=(_minus_one,), operator=True)
positive = declare("positive", np.positive, A, partials=(_one,), operator=True)
square = declare("square", np.square, A**2, partials=(lambda a: multiply(2, a),), operator=True)
reciprocal = declare(
    "reciprocal", np.reciprocal, 1 / A, partials=(lambda a: negative(square(reciprocal(a))),), domain=(NONZERO,)
)
sqrt = declare("sqrt", np.sqrt, sympy.sqrt(A), domain=(NONZERO,))
norm_sqrt = declare(
    "norm_sqrt",
    np.sqrt,
    sympy.sqrt(A),
    partials=(lambda a: gate(not_equal(a, 0), divide(0.5, norm_sqrt(a))),),
    domain=(NONZERO,),
)
cbrt = declare(
    "cbrt",
    np.cbrt,
    cfunctions.Cbrt(A),
    partials=(lambda a: divide(1, multiply(3, square(cbrt(a)))),),
    domain=(NONZERO,),
)


def _power_by_base(a: Node, b: Node) -> Node | None:
    if b.is_literal:
        exponent = literal_value(b)
        if exponent in (0, 1, 2):
            return {0: None, 1: literal(1), 2: multiply(2, a)}[exponent]
        lower = power(a, exponent - 1) if exponent != 3 else square(a)
        return multiply(exponent, lower)
    return gate(b, power(a, subtract(b, 1)))


def _power_by_exponent(a: Node, b: Node) -> Node | None:
    if a.is_literal and literal_value(a) == 0:
        return None
    return gate(power(a, b), log(a))


power = declare(
    "power", np.power, A**B, partials=(_power_by_base, _power_by_exponent), domain=(NONZERO, ANY), operator=True
)
float_power = declare(
    "float_power",
    np.float_power,
    A**B,
    partials=(_power_by_base, _power_by_exponent),
    domain=(NONZERO, ANY),
)

# exponentials and logarithms
exp = declare("exp", np.exp, sympy.exp(A))
exp2 = declare("exp2", np.exp2, cfunctions.exp2(A))
expm1 = declare("expm1", np.expm1, cfunctions.expm1(A), partials=(lambda a: exp(a),))
log = declare("log", np.log, sympy.log(A), domain=(NONZERO,))
log2 = declare("log2", np.log2, cfunctions.log2(A), domain=(NONZERO,))
log10 = declare("log10", np.log10, cfunctions.log10(A), domain=(NONZERO,))
log1p = declare("log1p", np.log1p, cfunctions.log1p(A), domain=((-0.7, 3.0),))


def _log_odds(a: Node, b: Node) -> Node:
    """``a - b``, and 0 where both are -∞: log-space recursions begin so, and one NaN there would be all there is."""
    if any(x.is_literal and literal_value(x) > -math.inf for x in (a, b)):
        return subtract(a, b)
    return gate(not_equal(maximum(a, b), -math.inf), subtract(a, b))


logaddexp = declare(
    "logaddexp",
    np.logaddexp,
    numpy_nodes.logaddexp(A, B),
    partials=(lambda a, b: sigmoid(_log_odds(a, b)), lambda a, b: sigmoid(_log_odds(b, a))),
)
logaddexp2 = declare(
    "logaddexp2",
    np.logaddexp2,
    numpy_nodes.logaddexp2(A, B),
    partials=(
        lambda a, b: sigmoid(multiply(_LOG_2, _log_odds(a, b))),
        lambda a, b: sigmoid(multiply(_LOG_2, _log_odds(b, a))),
    ),
)
_LOG_2 = 0.6931471805599453

# trigonometric and hyperbolic
UNIT = (-0.9, 0.9)
sin = declare("sin", np.sin, sympy.sin(A))
cos = declare("cos", np.cos, sympy.cos(A))
tan = declare("tan", np.tan, sympy.tan(A), partials=(lambda a: add(1, square(tan(a))),), domain=((-1.2, 1.2),))


def _one_minus_square(a: Node) -> Node:
    """``1 - a²``, of factors that keep their digits near ±1."""
    return multiply(subtract(1, a), add(1, a))


arcsin = declare(
    "arcsin", np.arcsin, sympy.asin(A), partials=(lambda a: divide(1, sqrt(_one_minus_square(a))),), domain=(UNIT,)
)
arccos = declare(
    "arccos", np.arccos, sympy.acos(A), partials=(lambda a: divide(-1, sqrt(_one_minus_square(a))),), domain=(UNIT,)
)
arctan = declare("arctan", np.arctan, sympy.atan(A))
arctan2 = declare(
    "arctan2",
    np.arctan2,
    sympy.atan2(A, B),
    partials=(
        lambda a, b: divide(divide(b, hypot(a, b)), hypot(a, b)),
        lambda a, b: negative(divide(divide(a, hypot(a, b)), hypot(a, b))),
    ),
    domain=(NONZERO, NONZERO),
)
hypot = declare(
    "hypot",
    np.hypot,
    cfunctions.hypot(A, B),
    partials=(
        lambda a, b: gate(not_equal(hypot(a, b), 0), divide(a, hypot(a, b))),
        lambda a, b: gate(not_equal(hypot(a, b), 0), divide(b, hypot(a, b))),
    ),
    domain=(NONZERO, NONZERO),
)


def _secant(a: Node) -> Node:
    """``sqrt(1 + a²)``, which overflows nowhere."""
    return sqrt(add(1, square(a))) if a.is_complex else hypot(1, a)


def of_traced(operation: Elementwise, *values: Any) -> Any:
    """What an operation that NumPy has not gives of traced values and others; None where no value is traced."""
    traced = next((v for v in values if hasattr(v, "_symgrad_node")), None)
    return None if traced is None else type(traced)(operation(*map(_node, values)))


def _node(value: Any) -> Any:
    if not hasattr(value, "_symgrad_node") and isinstance(value, np.ndarray):
        return constant(CapturedArray(value))
    return getattr(value, "_symgrad_node", value)


class _SquaredSech:
    """``1/cosh(x)²``, in one exponential; ``1 - tanh(x)²`` loses its digits from 1 on, and is 0 from 19 on.

    The tangent is the second operand: derivatives go by it, and share its own.
    """

    nin, nout, __name__ = 2, 1, "squared_sech"
    resolve_dtypes = np.arctan2.resolve_dtypes

    def __call__(self, x: Any, tangent: Any) -> Any:
        traced = of_traced(squared_sech, x, tangent)
        if traced is not None:
            return traced
        dtype = self.resolve_dtypes((np.asarray(x).dtype, np.asarray(tangent).dtype, None))[-1]
        x = np.abs(np.broadcast_arrays(np.asarray(x, dtype), tangent)[0])
        e = np.exp(-2 * x)
        return 4 * e / np.square(1 + e)


def _tanh_slope(a: Node) -> Node:
    return subtract(1, square(tanh(a))) if a.is_complex else squared_sech(a, tanh(a))


sinh = declare("sinh", np.sinh, sympy.sinh(A))
cosh = declare("cosh", np.cosh, sympy.cosh(A))
tanh = declare("tanh", np.tanh, sympy.tanh(A), partials=(_tanh_slope,))
squared_sech = declare(
    "squared_sech",
    _SquaredSech(),
    1 - sympy.tanh(A) ** 2,
    partials=(None, lambda a, t: multiply(-2, t)),
    domain=(ANY, UNIT),
)
arcsinh = declare("arcsinh", np.arcsinh, sympy.asinh(A), partials=(lambda a: divide(1, _secant(a)),))
arccosh = declare(
    "arccosh",
    np.arccosh,
    sympy.acosh(A),
    partials=(lambda a: divide(1, multiply(sqrt(subtract(a, 1)), sqrt(add(a, 1)))),),
    domain=((1.3, 4.0),),
)
arctanh = declare(
    "arctanh",
    np.arctanh,
    sympy.atanh(A),
    partials=(lambda a: divide(1, _one_minus_square(a)),),
    domain=(UNIT,),
)
deg2rad = declare("deg2rad", np.deg2rad, A * sympy.pi / 180)
rad2deg = declare("rad2deg", np.rad2deg, A * 180 / sympy.pi)
radians = declare("radians", np.radians, A * sympy.pi / 180)
degrees = declare("degrees", np.degrees, A * 180 / sympy.pi)
# kinks and steps: ties of maximum and minimum share evenly, |x| has slope 0 at 0
sign = declare("sign", np.sign, sympy.sign(A), partials=(None,))


def _sign_of(a: Node) -> Node:
    """The slope of a size, and 1 of what is none below zero: ``|‖x‖|`` is ``‖x‖``, at 0 too."""
    own = a
    while isinstance(own.primitive, Mark):
        own = own.operands[0]
    is_square = own.primitive is multiply and len({*own.operands}) == 1
    return literal(1) if not a.is_complex and (own.primitive in _NONNEGATIVE or is_square) else conjugated(sign(a))


absolute = declare("absolute", np.absolute, sympy.Abs(A), partials=(_sign_of,), operator=True)


def _half_inverse_modulus(a: Node) -> Node:
    return gate(not_equal(a, 0), divide(0.5, absolute(a)))


sign.over_reals = (_half_inverse_modulus, lambda a: negative(multiply(square(sign(a)), _half_inverse_modulus(a))))
fabs = declare("fabs", np.fabs, sympy.Abs(A), partials=(_sign_of,))
_NONNEGATIVE = (absolute, fabs, norm_sqrt, hypot, sqrt, square, exp)
register_function(sympy.Abs, absolute)


def _share(wins: Partial) -> tuple[Partial, Partial]:
    def partial(mine: Node, other: Node) -> Node:
        won = wins(mine, other)
        assert won is not None
        return gate(won, where(equal(mine, other), 0.5, cast(literal(1.0), mine.dtype)))

    return (lambda a, b: partial(a, b), lambda a, b: partial(b, a))


greater = declare("greater", np.greater, A > B, partials=(None, None))
greater_equal = declare("greater_equal", np.greater_equal, A >= B, partials=(None, None))
less = declare("less", np.less, A < B, partials=(None, None))
less_equal = declare("less_equal", np.less_equal, A <= B, partials=(None, None))
equal = declare("equal", np.equal, sympy.Eq(A, B), partials=(None, None))
not_equal = declare("not_equal", np.not_equal, sympy.Ne(A, B), partials=(None, None))
maximum = declare("maximum", np.maximum, sympy.Max(A, B), partials=_share(greater_equal))
minimum = declare("minimum", np.minimum, sympy.Min(A, B), partials=_share(less_equal))
# a NaN beside a number does not win: it is not the result
fmax = declare("fmax", np.fmax, sympy.Max(A, B), partials=_share(lambda a, b: equal(a, fmax(a, b))))
fmin = declare("fmin", np.fmin, sympy.Min(A, B), partials=_share(lambda a, b: equal(a, fmin(a, b))))
for _function, _template in ((sympy.Max, maximum), (sympy.Min, minimum)):
    register_function(_function, _template)
where = declare(
    "where",
    np.where,
    sympy.Piecewise((B, sympy.Ne(A, 0)), (C, True)),
    partials=(None, lambda c, a, b: condition(c), lambda c, a, b: logical_not(c)),
    domain=(TRUTH, ANY, ANY),
)
floor = declare("floor", np.floor, sympy.floor(A), partials=(None,))
ceil = declare("ceil", np.ceil, sympy.ceiling(A), partials=(None,))
trunc = declare("trunc", np.trunc, opaque("trunc", 1), partials=(None,))
rint = declare("rint", np.rint, opaque("round", 1), partials=(None,))
heaviside = declare("heaviside", np.heaviside, opaque("heaviside", 2), partials=(None, lambda a, b: equal(a, 0)))
copysign = declare(
    "copysign",
    np.copysign,
    sympy.Abs(A) * sympy.sign(B),
    partials=(lambda a, b: multiply(sign(a), copysign(1.0, b)), None),
)
floor_divide = declare(
    "floor_divide",
    np.floor_divide,
    sympy.floor(A / B),
    partials=(None, None),
    domain=(ANY, NONZERO),
    operator=True,
)
remainder = declare(
    "remainder",
    np.remainder,
    sympy.Mod(A, B),
    partials=(_one, lambda a, b: negative(floor_divide(a, b))),
    domain=(ANY, NONZERO),
    operator=True,
)
fmod = declare(
    "fmod",
    np.fmod,
    opaque("fmod", 2),
    partials=(_one, lambda a, b: negative(trunc(divide(a, b)))),
    domain=(ANY, NONZERO),
)
ldexp = declare(
    "ldexp",
    np.ldexp,
    A * 2**B,
    partials=(lambda a, b: exp2(cast(b, a.dtype)), None),
    domain=(ANY, INTEGERS),
)

# truth
_FLAT = (None, None)
_TRUE_A: Any = sympy.Ne(A, 0)
_TRUE_B: Any = sympy.Ne(B, 0)
logical_and = declare("logical_and", np.logical_and, sympy.And(_TRUE_A, _TRUE_B), partials=_FLAT)
logical_or = declare("logical_or", np.logical_or, sympy.Or(_TRUE_A, _TRUE_B), partials=_FLAT)
logical_xor = declare("logical_xor", np.logical_xor, opaque("xor", 2), partials=_FLAT)
logical_not = declare("logical_not", np.logical_not, sympy.Eq(A, 0), partials=(None,))
isfinite = declare("isfinite", np.isfinite, opaque("isfinite", 1), partials=(None,))
isnan = declare("isnan", np.isnan, opaque("isnan", 1), partials=(None,))
isinf = declare("isinf", np.isinf, opaque("isinf", 1), partials=(None,))
signbit = declare("signbit", np.signbit, A < 0, partials=(None,))
bitwise_and = declare(
    "bitwise_and", np.bitwise_and, opaque("bitand", 2), partials=_FLAT, domain=(INTEGERS, INTEGERS), operator=True
)
bitwise_or = declare(
    "bitwise_or", np.bitwise_or, opaque("bitor", 2), partials=_FLAT, domain=(INTEGERS, INTEGERS), operator=True
)
bitwise_xor = declare(
    "bitwise_xor", np.bitwise_xor, opaque("bitxor", 2), partials=_FLAT, domain=(INTEGERS, INTEGERS), operator=True
)
invert = declare("invert", np.invert, opaque("invert", 1), partials=(None,), domain=(INTEGERS,), operator=True)


def condition(c: Node) -> Node:
    """``c`` as a boolean."""
    return c if c.dtype.kind == "b" else not_equal(c, 0)


def sigmoid(u: Node) -> Node:
    """``1/(1 + exp(-u))``, which neither overflows to NaN nor loses digits on either side."""
    return divide(1, add(1, exp(minus(u))))


def minus(u: Node) -> Node:
    """``-u``, without a double sign."""
    return u.operands[0] if u.primitive is negative else negative(u)


def terms_of(node: Node) -> list[Node]:
    """The terms of a sum of arrays of one shape."""
    found, pending = [], [node]
    while pending:
        n = pending.pop()
        if n.primitive is add and all(o.shape == n.shape for o in n.operands):
            pending += reversed(n.operands)
        else:
            found.append(n)
    return found
