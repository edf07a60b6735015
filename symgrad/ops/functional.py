"""The operators as functions, gradient clipping, and the derivatives under the names of ``ops``.

>>> softmax(np.array([0.0, 0.0]), axis=0)
array([0.5, 0.5])
>>> matmul(np.ones((1, 2)), np.ones((1, 2)), transpose_b=True)
array([[2.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, mistakes
from ..tracing import tree
from ..transforms.gradient import GradOperation, get_grad, grad, value_and_grad
from ..transforms.jacobian import jacfwd, jacrev
from ..transforms.products import jvp, stop_gradient, vjp
from . import activations as _act
from . import arrays as _arr
from . import elementwise as _el
from .operator import function_form

__all__ = [
    "GradOperation",
    "abs",
    "acos",
    "acosh",
    "add",
    "addn",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "batch_matmul",
    "bias_add",
    "broadcast_to",
    "cast",
    "ceil",
    "celu",
    "clip_by_global_norm",
    "clip_by_value",
    "concat",
    "cos",
    "cosh",
    "cumsum",
    "div",
    "elu",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "flatten",
    "floor",
    "floor_div",
    "floor_mod",
    "gather",
    "gelu",
    "get_grad",
    "glu",
    "grad",
    "greater",
    "greater_equal",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "isfinite",
    "isinf",
    "isnan",
    "jacfwd",
    "jacrev",
    "jvp",
    "leaky_relu",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logsigmoid",
    "matmul",
    "maximum",
    "minimum",
    "mish",
    "mul",
    "neg",
    "not_equal",
    "one_hot",
    "ones_like",
    "pow",
    "prelu",
    "reciprocal",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "relu",
    "relu6",
    "reshape",
    "rint",
    "rsqrt",
    "select",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "split",
    "sqrt",
    "square",
    "squared_difference",
    "squeeze",
    "stack",
    "stop_gradient",
    "sub",
    "tan",
    "tanh",
    "tanhshrink",
    "threshold",
    "tile",
    "transpose",
    "value_and_grad",
    "vjp",
    "zeros_like",
]

abs = function_form("abs", _el.Abs)
acos = function_form("acos", _el.ACos)
acosh = function_form("acosh", _el.Acosh)
asin = function_form("asin", _el.Asin)
asinh = function_form("asinh", _el.Asinh)
atan = function_form("atan", _el.Atan)
atanh = function_form("atanh", _el.Atanh)
ceil = function_form("ceil", _el.Ceil)
cos = function_form("cos", _el.Cos)
cosh = function_form("cosh", _el.Cosh)
exp = function_form("exp", _el.Exp)
expm1 = function_form("expm1", _el.Expm1)
floor = function_form("floor", _el.Floor)
isfinite = function_form("isfinite", _el.IsFinite)
isinf = function_form("isinf", _el.IsInf)
isnan = function_form("isnan", _el.IsNan)
log = function_form("log", _el.Log)
log1p = function_form("log1p", _el.Log1p)
logical_not = function_form("logical_not", _el.LogicalNot)
neg = function_form("neg", _el.Neg)
reciprocal = function_form("reciprocal", _el.Reciprocal)
rint = function_form("rint", _el.Rint)
rsqrt = function_form("rsqrt", _el.Rsqrt)
sign = function_form("sign", _el.Sign)
sin = function_form("sin", _el.Sin)
sinh = function_form("sinh", _el.Sinh)
sqrt = function_form("sqrt", _el.Sqrt)
square = function_form("square", _el.Square)
tan = function_form("tan", _el.Tan)
tanh = function_form("tanh", _el.Tanh)
add = function_form("add", _el.Add)
atan2 = function_form("atan2", _el.Atan2)
div = function_form("div", _el.Div)
equal = function_form("equal", _el.Equal)
floor_div = function_form("floor_div", _el.FloorDiv)
floor_mod = function_form("floor_mod", _el.FloorMod)
greater = function_form("greater", _el.Greater)
greater_equal = function_form("greater_equal", _el.GreaterEqual)
less = function_form("less", _el.Less)
less_equal = function_form("less_equal", _el.LessEqual)
logical_and = function_form("logical_and", _el.LogicalAnd)
logical_or = function_form("logical_or", _el.LogicalOr)
maximum = function_form("maximum", _el.Maximum)
minimum = function_form("minimum", _el.Minimum)
mul = function_form("mul", _el.Mul)
not_equal = function_form("not_equal", _el.NotEqual)
pow = function_form("pow", _el.Pow)
squared_difference = function_form("squared_difference", _el.SquaredDifference)
sub = function_form("sub", _el.Sub)
addn = function_form("addn", _arr.AddN)
batch_matmul = function_form("batch_matmul", _arr.BatchMatMul)
bias_add = function_form("bias_add", _arr.BiasAdd)
broadcast_to = function_form("broadcast_to", _arr.BroadcastTo)
cast = function_form("cast", _arr.Cast)
concat = function_form("concat", _arr.Concat)
cumsum = function_form("cumsum", _arr.CumSum)
expand_dims = function_form("expand_dims", _arr.ExpandDims)
flatten = function_form("flatten", _arr.Flatten)
gather = function_form("gather", _arr.Gather)
matmul = function_form("matmul", _arr.MatMul)
one_hot = function_form("one_hot", _arr.OneHot)
ones_like = function_form("ones_like", _arr.OnesLike)
reduce_max = function_form("reduce_max", _arr.ReduceMax)
reduce_mean = function_form("reduce_mean", _arr.ReduceMean)
reduce_min = function_form("reduce_min", _arr.ReduceMin)
reduce_prod = function_form("reduce_prod", _arr.ReduceProd)
reduce_sum = function_form("reduce_sum", _arr.ReduceSum)
reshape = function_form("reshape", _arr.Reshape)
select = function_form("select", _arr.Select)
split = function_form("split", _arr.Split)
squeeze = function_form("squeeze", _arr.Squeeze)
stack = function_form("stack", _arr.Stack)
tile = function_form("tile", _arr.Tile)
transpose = function_form("transpose", _arr.Transpose)
zeros_like = function_form("zeros_like", _arr.ZerosLike)
elu = function_form("elu", _act.Elu)
gelu = _act.gelu
leaky_relu = function_form("leaky_relu", _act.LeakyReLU)
log_softmax = function_form("log_softmax", _act.LogSoftmax)
relu = function_form("relu", _act.ReLU)
sigmoid = function_form("sigmoid", _act.Sigmoid)
softmax = function_form("softmax", _act.Softmax)
softplus = function_form("softplus", _act.Softplus)
celu = function_form("celu", _act.CeLU)
glu = function_form("glu", _act.GLU)
hardshrink = function_form("hardshrink", _act.HShrink)
hardsigmoid = function_form("hardsigmoid", _act.HSigmoid)
hardswish = function_form("hardswish", _act.HSwish)
hardtanh = function_form("hardtanh", _act.Hardtanh)
logsigmoid = function_form("logsigmoid", _act.LogSigmoid)
mish = function_form("mish", _act.Mish)
prelu = function_form("prelu", _act.PReLU)
relu6 = function_form("relu6", _act.ReLU6)
selu = function_form("selu", _act.SeLU)
silu = function_form("silu", _act.SiLU)
softshrink = function_form("softshrink", _act.SoftShrink)
softmin = function_form("softmin", _act.Softmin)
softsign = function_form("softsign", _act.Softsign)
tanhshrink = function_form("tanhshrink", _act.Tanhshrink)
threshold = function_form("threshold", _act.Threshold)


@mistakes("clip_by_global_norm")
def clip_by_global_norm(x: Any, clip_norm: float = 1.0) -> Any:
    """The arrays ``x``, all scaled by one factor so that their norm taken together is at most ``clip_norm``.

    ``x`` is a tuple or list (nested if need be) of arrays and keeps its structure and dtypes; the norm is
    computed in float64. Arrays within the norm are unchanged. A ``clip_norm`` that is not positive is an
    ArgumentError.

    >>> clip_by_global_norm((np.array([3.0]), np.array([4.0])))
    (array([0.6]), array([0.8]))
    """
    if not clip_norm > 0:
        raise ArgumentError(f"clip_by_global_norm: clip_norm must be positive, got {clip_norm!r}.")
    leaves, structure = tree.flatten(x)
    squares = sum(np.sum(np.square(_arr.Cast()(v, np.float64))) for v in leaves)
    factor = np.divide(clip_norm, np.maximum(np.sqrt(squares), clip_norm))
    return tree.unflatten(structure, [np.multiply(v, _arr.Cast()(factor, _dtype(v))) for v in leaves])


@mistakes("clip_by_value")
def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Each element of ``x`` (an array, or a tuple or list of them) moved into the bounds; None is no bound.

    Two Nones are an ArgumentError.

    >>> clip_by_value(np.array([-2.0, 0.5, 2.0]), -1.0, 1.0)
    array([-1. ,  0.5,  1. ])
    """
    if clip_value_min is None and clip_value_max is None:
        raise ArgumentError("clip_by_value: give clip_value_min, clip_value_max or both.")

    def clipped(v: Any) -> Any:
        raised = v if clip_value_min is None else np.maximum(v, clip_value_min)
        return raised if clip_value_max is None else np.minimum(raised, clip_value_max)

    return tree.tree_map(clipped, x)


def _dtype(value: Any) -> Any:
    return getattr(value, "dtype", np.float64)
