"""np.array and its kin of traced values: what NumPy would make of the numbers."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, TracingError

X = np.array([0.5, -1.5, 2.0])
F32 = X.astype(np.float32)


def _filled(x):
    made = np.zeros((2, 2))
    made[0], made[1, 0] = x[:2], x[2]
    return made


MADE = {
    "of elements": lambda x: np.array([x[0], x[1] * 2, 3]),
    "of rows": lambda x: np.array([x, [1.0, x[2], 4], np.zeros(3)]),
    "nested": lambda x: np.array([[[x[0]], [x[1]]], [[1.0], [x[0] * x[1]]]]),
    "of a number": lambda x: np.array(x[0]) * np.asarray(x[1]),
    "of dimensions": lambda x: np.array(x, ndmin=3) + np.array([x[0]], ndmin=2),
    "of tuples": lambda x: np.asarray((x[0], (x[1] + 1))),
    "of whole numbers too": lambda x: np.array([x[0], 2, True]),
    "an array as it is": lambda x: np.asarray(x) + np.asanyarray(x) + np.ascontiguousarray(x),
    "by a generator": lambda x: np.fromiter((v * v for v in x), float, count=2),
    "filled": lambda x: np.full((2, 2), x[0]) + np.full_like(np.zeros(2), x[1]),
    "like": lambda x: np.zeros_like(x) + np.ones_like(x[:1]) * x,
    "evenly spaced": lambda x: np.linspace(x[0], x[2], 5) * np.linspace(0.0, x[1], 5, endpoint=False),
    "spaced with the step": lambda x: np.multiply(*np.linspace(x[0], 3.0, 4, retstep=True)),
    "r_": lambda x: np.r_[x[0], 0.0, x[1:], [x[2], 1.0], 0:2],
    "c_": lambda x: np.c_[x, x**2, np.ones(3)],
    "appended": lambda x: np.append(np.append(x, x[0] ** 2), [[1.0, 2.0]]),
    "inserted": lambda x: np.insert(x, [0, 2], [x[1], 7.0]),
    "deleted": lambda x: np.delete(np.array([x, x * 2]), 1, axis=1),
    "resized": lambda x: np.resize(x, (2, 4)),
    "compressed": lambda x: np.compress([True, False, True], x) * np.extract(np.array([0, 1, 1]), x),
    "diagflat": lambda x: np.diagflat([x[0], x[1]], 1),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(np.array([*x, 1.0]), 2) * 2,
    "by rows of memory": lambda x: np.array([[x[0], 1.0], [x[1], x[2]]], order="F").ravel(order="F"),
    "where": lambda x: x[np.where(x > 0)] * x[np.flatnonzero(x > 0)] + x[np.argwhere(x > 0)[:, 0]],
    "narrow counts": lambda x: np.arange(np.int8(100))[-1] ** 2 * x + np.arange(len(x), dtype=np.uint8) * x,
    "turned": lambda x: np.rot90(_filled(x)) + np.transpose(_filled(x), np.argsort([1, 0])) ** 2,
    "of a shape in an array": lambda x: (
        np.reshape(_filled(x), np.array(_filled(x).shape)[::-1]) * np.roll(x[:2], np.array([1]))
    ),
    "axes and sizes in arrays": lambda x: (
        np.tile(_filled(x), np.array([2, 1])).transpose(np.array([1, 0]))
        * np.broadcast_to(np.tensordot(x, x, (np.array([0]), np.array([0]))), np.array([2, 4]))
        + np.moveaxis(_filled(x), np.array([0]), np.array([1]))[0, 1]
    ),
    "nonzero": lambda x: x[np.nonzero(x)],
}


@pytest.mark.parametrize("name", MADE)
def test_values_and_derivatives(check_rule, name):
    check_rule(MADE[name], [X], order=1)


@pytest.mark.parametrize("name", MADE)
def test_dtypes_are_those_of_numpy(name):
    made, wanted = sg.symbolic(MADE[name])(F32), MADE[name](F32)
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", [float, np.float32, "float64"])
def test_a_dtype_that_is_asked_for(dtype):
    fn = lambda x: np.array([x[0], 1], dtype=dtype)  # noqa: E731
    assert sg.symbolic(fn)(X).dtype == fn(X).dtype
    assert sg.jacobian(fn)(X).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_arrays_of_named_dims_are_stacked():
    fn = sg.named(lambda x: np.sum(np.array([x, 2 * x]) ** 2), x="n")
    gradient = sg.grad(fn)
    assert gradient(np.ones(2)).tolist() == [10.0, 10.0]
    assert gradient(np.ones(3)).tolist() == [10.0, 10.0, 10.0]


def test_what_numpy_would_cut_or_cannot_make_is_refused():
    with pytest.raises(TracingError, match="would cut"):
        sg.grad(lambda x: np.insert(np.arange(3), 0, x[0]) * x[0])(X)
    with pytest.raises(ArgumentError, match="different lengths"):
        sg.grad(lambda x: np.array([[x[0]], [x[1], x[2]]]))(X)
    with pytest.raises(ArgumentError, match=r"np\.concatenate"):
        sg.grad(lambda x: np.r_["0,2", x, x])(X)


def test_data_that_is_joined_stays_an_argument():
    """Its values are no part of the trace, so that the next data are served too."""
    gradient = sg.grad(lambda w, x: np.sum(w * np.r_[x[1:], 0.0, x[0]] ** 2))
    gradient(np.ones(4), X[:3])
    np.testing.assert_allclose(gradient(np.ones(4), 2 * X[:3]), np.r_[2 * X[1:3], 0.0, 2 * X[0]] ** 2)
    program = gradient.program(np.ones(4), X[:3])
    assert any(program.inputs[1] in n.operands for n in program.nodes)
