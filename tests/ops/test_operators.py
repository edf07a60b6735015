"""Operators: what they compute, the same inside a trace, their slopes, and their functions."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import Parameter, Tensor, ops
from symgrad.ops.operator import Operator

OPERATORS = {
    n: v
    for n, v in vars(ops).items()
    if isinstance(v, type) and issubclass(v, Operator) and v is not Operator and v.__module__ != "symgrad.ops.loops"
}
RNG = np.random.default_rng(0)
A, B = RNG.uniform(0.2, 0.8, (2, 3)), RNG.uniform(0.2, 0.8, (2, 3))
ABOVE_1 = A + 1.1
INDEX = np.array([1, 0])
C = np.array([[-4.0, 7.0], [-0.6, 0.7], [0.2, -0.1], [2.5, -1.5]])
#: operator -> (options, arguments, what NumPy gives)
CALLS = {
    "Acosh": ({}, (ABOVE_1,), np.arccosh(ABOVE_1)),
    "MatMul": ({"transpose_b": True}, (A, B), A @ B.T),
    "BatchMatMul": ({"transpose_a": True}, (A, B), A.T @ B),
    "BiasAdd": ({}, (A, B[0]), A + B[0]),
    "ReduceSum": ({"keep_dims": True}, (A, 1), A.sum(1, keepdims=True)),
    "ReduceMean": ({}, (A, (0, 1)), A.mean()),
    "ReduceMax": ({}, (A,), A.max()),
    "ReduceMin": ({}, (A, 0), A.min(0)),
    "ReduceProd": ({}, (A, -1), A.prod(-1)),
    "CumSum": ({}, (A, 1), A.cumsum(1)),
    "AddN": ({}, ([A, B, A],), A + B + A),
    "Transpose": ({}, (A, (1, 0)), A.T),
    "Reshape": ({}, (A, (3, -1)), A.reshape(3, 2)),
    "Flatten": ({}, (A[None],), A.reshape(1, 6)),
    "Squeeze": ({"axis": 0}, (A[None],), A),
    "ExpandDims": ({}, (A, -1), A[..., None]),
    "Concat": ({"axis": 1}, ([A, B],), np.concatenate([A, B], 1)),
    "Stack": ({"axis": -1}, ([A, B],), np.stack([A, B], -1)),
    "Split": ({"axis": 1, "output_num": 3}, (A,), np.split(A, 3, 1)),
    "Tile": ({}, (A, (2, 1)), np.tile(A, (2, 1))),
    "BroadcastTo": ({"shape": (4, 2, 3)}, (A,), np.broadcast_to(A, (4, 2, 3))),
    "Gather": ({}, (A, INDEX, 0), A[INDEX]),
    "Select": ({}, (A > B, A, B), np.maximum(A, B)),
    "OneHot": ({"axis": 0}, (INDEX, 3, 1.0, 0.0), np.eye(3)[INDEX].T),
    "Cast": ({}, (A, np.float32), A.astype(np.float32)),
    "Elu": ({"alpha": 0.5}, (A - 0.5,), np.where(A > 0.5, A - 0.5, 0.5 * np.expm1(A - 0.5))),
    "GeLU": (
        {},
        (A,),
        0.5 * A * (1 + np.tanh(np.sqrt(2 / np.pi) * (A + 0.044715 * A**3))),
    ),
    "CeLU": ({"alpha": 0.5}, (C,), np.where(C > 0, C, 0.5 * np.expm1(C / 0.5))),
    "GLU": ({"axis": 1}, (C,), C[:, :1] / (1 + np.exp(-C[:, 1:]))),
    "HShrink": ({"lambd": 0.3}, (C,), C * (abs(C) > 0.3)),
    "HSigmoid": ({}, (C,), np.clip(C / 6 + 0.5, 0, 1)),
    "HSwish": ({}, (C,), C * np.clip(C / 6 + 0.5, 0, 1)),
    "Hardtanh": ({"min_val": -0.5}, (C,), np.clip(C, -0.5, 1)),
    "LogSigmoid": ({}, (C,), -np.log1p(np.exp(-C))),
    "Mish": ({}, (C,), C * np.tanh(np.log1p(np.exp(C)))),
    "PReLU": ({}, (C, np.array([0.3, 0.7])), np.where(C > 0, C, np.array([0.3, 0.7]) * C)),
    "ReLU6": ({}, (C,), np.clip(C, 0, 6)),
    "SeLU": ({}, (C,), 1.0507009873554805 * np.where(C > 0, C, 1.6732632423543772 * np.expm1(C))),
    "SiLU": ({}, (C,), C / (1 + np.exp(-C))),
    "SoftShrink": ({"lambd": 0.3}, (C,), np.sign(C) * np.maximum(abs(C) - 0.3, 0)),
    "Softmin": ({}, (C,), np.exp(-C) / np.exp(-C).sum(-1, keepdims=True)),
    "Softsign": ({}, (C,), C / (1 + abs(C))),
    "Tanhshrink": ({}, (C,), C - np.tanh(C)),
    "Threshold": ({}, (C, 0.4, 2.0), np.where(C > 0.4, C, 2.0)),
    "LeakyReLU": ({"alpha": 0.1}, (A - 0.5,), np.where(A > 0.5, A - 0.5, 0.1 * (A - 0.5))),
    "ReLU": ({}, (A - 0.5,), np.maximum(A - 0.5, 0)),
    "Sigmoid": ({}, (A,), 1 / (1 + np.exp(-A))),
    "Softplus": ({}, (A,), np.log1p(np.exp(A))),
    "Softmax": ({"axis": 0}, (A,), np.exp(A) / np.exp(A).sum(0)),
    "LogSoftmax": ({}, (A,), np.log(np.exp(A) / np.exp(A).sum(-1, keepdims=True))),
    "Rsqrt": ({}, (A,), 1 / np.sqrt(A)),
    "SquaredDifference": ({}, (A, B), (A - B) ** 2),
    "ZerosLike": ({}, (A,), 0 * A),
    "OnesLike": ({}, (A,), 0 * A + 1),
    "Identity": ({}, (A,), A),
}
LOGICAL = {"LogicalNot", "LogicalAnd", "LogicalOr"}
STEPS = {"Floor", "Ceil", "Rint", "Sign", "FloorDiv", "ZerosLike", "OnesLike", "OneHot", "Cast"}


def _call(name):
    """Options, arguments and NumPy's answer of one call."""
    if name in CALLS:
        return CALLS[name]
    made = OPERATORS[name]
    args = (A, B)[: made.needed]
    if name in LOGICAL:
        args = tuple(v > 0.5 for v in args)
    return {}, args, made._function(*args)


def _flat(value):
    return np.concatenate([np.ravel(v) for v in value]) if isinstance(value, (tuple, list)) else np.ravel(value)


@pytest.mark.parametrize("name", OPERATORS)
def test_value_eager_and_traced(name):
    options, args, wanted = _call(name)
    made = OPERATORS[name](**options)
    np.testing.assert_allclose(_flat(made(*args)), _flat(wanted), rtol=1e-12)
    arrays = [k for k, a in enumerate(args) if isinstance(a, (np.ndarray, list))]

    def apply(*given):
        full = list(args)
        for k, v in zip(arrays, given, strict=True):
            full[k] = v
        return made(*full)

    np.testing.assert_allclose(_flat(ms.symbolic(apply)(*(args[k] for k in arrays))), _flat(wanted), rtol=1e-12)


@pytest.mark.parametrize("name", OPERATORS)
def test_tensors_and_parameters_give_tensors(name):
    options, args, wanted = _call(name)
    made = OPERATORS[name](**options)
    for kind in (Tensor, Parameter):
        wrap = lambda v, kind=kind: [kind(x) for x in v] if isinstance(v, list) else kind(v)  # noqa: E731
        result = made(*(wrap(a) if isinstance(a, (np.ndarray, list)) else a for a in args))
        for part in result if isinstance(result, tuple) else (result,):
            assert isinstance(part, Tensor)
            assert name == "Identity" or not isinstance(part, Parameter)
        np.testing.assert_allclose(_flat(result), _flat(wanted), rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in OPERATORS if n not in STEPS and _flat(_call(n)[2]).dtype.kind == "f"])
def test_slopes(name):
    options, args, wanted = _call(name)
    made = OPERATORS[name](**options)
    position = 1 if name == "Select" else 0
    weights = RNG.normal(size=_flat(wanted).shape)

    def f(x):
        out = made(*args[:position], x, *args[position + 1 :])
        parts = out if isinstance(out, tuple) else (out,)
        return sum(np.sum(np.ravel(p) * w) for p, w in zip(parts, np.split(weights, len(parts)), strict=True))

    gradient = _flat(ms.grad(f)(args[position]))
    for k in range(gradient.size):
        shifted = []
        for sign in (1, -1):
            flat = _flat(args[position]).copy()
            flat[k] += sign * 1e-6
            shape = np.shape(args[position])
            value = list(flat.reshape(shape)) if isinstance(args[position], list) else flat.reshape(shape)
            shifted.append(f(value))
        np.testing.assert_allclose(gradient[k], (shifted[0] - shifted[1]) / 2e-6, rtol=1e-6, atol=1e-8)


def test_parameters_alone_are_traced():
    w = Parameter(A, name="w")
    for f in (lambda: ops.sin(w), lambda: ops.MatMul()(w, np.ones((3, 1))), lambda: ops.stack([w, w]), lambda: w * 2):
        g = ms.grad(lambda f=f: np.sum(f()), None, w)
        assert (np.asarray(g()) != 0).all()


def test_functions_take_options_behind_the_arguments():
    np.testing.assert_allclose(ops.softmax(A, 0), ops.Softmax(axis=0)(A))
    np.testing.assert_allclose(ops.softmax(A, axis=0), ops.Softmax(axis=0)(A))
    np.testing.assert_allclose(ops.concat([A, B], 1), ops.Concat(axis=1)([A, B]))
    np.testing.assert_allclose(ops.matmul(A, B, transpose_b=True), A @ B.T)
    np.testing.assert_allclose(ops.reduce_sum(A, 1, True), A.sum(1, keepdims=True))
    np.testing.assert_allclose(ops.reduce_sum(A, axis=1, keep_dims=True), A.sum(1, keepdims=True))
    np.testing.assert_allclose(ops.ReduceSum()(x=A, axis=1), A.sum(1))
    np.testing.assert_allclose(ops.functional.tanh(A), np.tanh(A))


def test_every_name_has_a_docstring_and_is_public():
    assert set(OPERATORS) <= set(ops.__all__)
    for name in ops.__all__:
        assert getattr(ops, name).__doc__, name


def test_repr():
    assert repr(ops.MatMul(transpose_b=True)) == "MatMul<transpose_a=False, transpose_b=True>"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ops.Sin()(A, B), r"Sin is called with \(x\), of which it needs 1; it got 2"),
        (lambda: ops.ReduceSum()(), r"ReduceSum is called with \(x, axis\), of which it needs 1; it got 0"),
        (lambda: ops.Sin()(A, y=A), "it got 1 and y"),
        (lambda: ops.Sin(3), r"Sin takes the options \(\)"),
        (lambda: ops.Softmax(dim=1), r"Softmax takes the options \(axis=-1\)"),
        (lambda: ops.Softmax(1, axis=1), "each once"),
    ],
)
def test_bad_calls(make, message):
    with pytest.raises(TypeError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ops.BiasAdd()(A, B), "BiasAdd: x has shape"),
        (lambda: ops.AddN()([]), "AddN: the list of arrays is empty"),
        (lambda: ops.MatMul()(A, B), "MatMul: the left side has 3 columns and the right side 2 rows"),
    ],
)
def test_bad_values(make, message):
    with pytest.raises(ValueError, match=message):
        make()
