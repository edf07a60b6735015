"""Contributions: the parts of an entry by line, against entries of functions that leave the other lines out."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError

X = np.array([0.5, 2.0, -1.0])


def parts(x):
    a = np.sin(x)
    b = 3 * x
    return a * x[0] + b


def first(x):
    return np.sin(x) * x[0]


def second(x):
    return 3 * x


def numbered(found, fn):
    start = inspect.getsourcelines(fn)[1]
    return {s.line.number - start: s for s in found.lines}


def slope(fn, k, x=X, h=1e-6):
    step = h * np.eye(len(x))[k]
    return (fn(x + step) - fn(x - step)) / (2 * h)


@pytest.mark.parametrize("index", [(0, 0), (1, 0), (2, 2), (1, 2)])
def test_the_parts_are_those_of_each_line(index):
    i, j = index
    found = sg.jacobian(parts).contributions(index, X)
    shares = numbered(found, parts)
    np.testing.assert_allclose(found.value, slope(parts, j)[i], atol=1e-8)
    through_b = shares[2].flow if 2 in shares else 0.0
    np.testing.assert_allclose(through_b, slope(second, j)[i], atol=1e-8)
    np.testing.assert_allclose(found.value - through_b, slope(first, j)[i], atol=1e-8)


def test_what_leaves_the_last_line_is_the_entry():
    found = sg.jacobian(parts).contributions((0, 0), X)
    np.testing.assert_allclose(numbered(found, parts)[3].flow, found.value)


def test_parts_that_cancel_have_a_size():
    def f(x):
        a = 2 * x
        b = -2 * x
        return a + b

    shares = numbered(sg.jacobian(f).contributions((), 1.5), f)
    assert (shares[1].flow, shares[2].flow) == (2.0, -2.0)
    assert shares[3].flow == 0
    assert shares[3].size > 0


def test_lines_have_the_names_that_are_bound_there():
    shares = numbered(sg.jacobian(parts).contributions((0, 0), X), parts)
    assert shares[1].labels == ["a"]
    assert shares[2].labels == ["b"]


def test_paths_go_from_the_input_to_the_output():
    start = inspect.getsourcelines(parts)[1]
    found = sg.jacobian(parts).contributions((0, 0), X)
    paths = [tuple(line.number - start for line in p) for p in found.paths]
    assert set(paths) == {(1, 3), (2, 3), (3,)}
    assert sg.jacobian(parts).contributions((1, 2), X).paths == []


def test_blocks_of_several_outputs_and_inputs():
    def f(x, y):
        u = x["a"] * y
        v = x["b"] + y
        return u, v

    args = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])}, np.array([5.0, 6.0])
    jacobian = sg.jacobian(f, (0, 1))
    blocks = [jacobian.contributions((1, 1), *args, output=k).value for k in range(6)]
    assert blocks == [6.0, 0.0, 2.0, 0.0, 1.0, 1.0]
    with pytest.raises(ArgumentError, match="output=6, and the Jacobian has 6 blocks"):
        jacobian.contributions((0, 0), *args, output=6)


def test_a_hessian_flows_through_the_lines_of_the_function():
    def f(x):
        a = x[1:] - x[:-1] ** 2
        b = 1 - x[:-1]
        return np.sum(100 * a**2 + b**2)

    hessian = sg.hessian(f)
    h = 1e-5
    nudged = (sg.grad(f)(X + h * np.eye(3)[1]) - sg.grad(f)(X - h * np.eye(3)[1])) / (2 * h)
    for i in range(3):
        found = hessian.contributions((i, 1), X)
        np.testing.assert_allclose(found.value, nudged[i], rtol=1e-6, atol=1e-4)
        assert set(numbered(found, f)) <= {1, 2, 3}


def test_further_entries_use_the_trace_and_new_values_are_seen():
    runs = itertools.count()

    def f(x):
        next(runs)
        return np.sin(x) * scale[0]

    scale = [2.0]
    jacobian = sg.jacobian(f)
    before = [jacobian.contributions((k, k), X).value for k in range(3)]
    assert next(runs) == 1
    np.testing.assert_allclose(before, 2 * np.cos(X))
    np.testing.assert_allclose(jacobian.contributions((0, 0), X + 1).value, 2 * np.cos(1.5))
    scale[0] = 3.0
    np.testing.assert_allclose(jacobian.contributions((0, 0), X).value, 3 * np.cos(0.5))


def test_the_identity_and_a_constant():
    assert sg.jacobian(lambda x: x).contributions((1, 1), X).value == 1.0
    assert sg.jacobian(lambda x: x).contributions((1, 0), X).value == 0.0
    assert sg.jacobian(lambda x: np.ones(2) + 0 * x[:2]).contributions((1, 0), X).value == 0.0


def test_functions_of_named_dims():
    def f(x: sg.Array["n"], A: sg.Array["m n"]):  # noqa: F821, F722, UP037
        y = A @ x
        return np.sin(y)

    A = np.arange(6.0).reshape(2, 3)
    jacobian = sg.jacobian(f)
    for matrix in (A, A[:, :2]):
        x = X[: matrix.shape[1]]
        found = jacobian.contributions((1, 0), x, matrix)
        np.testing.assert_allclose(found.value, slope(lambda v, m=matrix: np.sin(m @ v), 0, x)[1], atol=1e-7)
        assert len(found.lines) == 2
