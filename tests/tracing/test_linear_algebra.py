"""What NumPy's linear algebra refuses, and results that the rule cases cannot show."""

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DtypeError
from symgrad.finite_differences import differences
from symgrad.testing import check_grads

RNG = np.random.default_rng(5)


def test_slogdet_is_named_as_numpy_names_it():
    a = -np.diag([1.0, 2.0, 3.0])
    got, want = sg.symbolic(np.linalg.slogdet)(a), np.linalg.slogdet(a)
    assert type(got) is type(want)
    assert got.sign == want.sign
    sign, logabsdet = got
    assert (sign, logabsdet) == tuple(want)

    def unpacked(x):
        sign, logabsdet = np.linalg.slogdet(x)
        return sign * logabsdet

    check_grads(unpacked, [a])


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (np.linalg.inv, [(2, 3)]),
        (np.linalg.inv, [(3,)]),
        (np.linalg.det, [(3, 2)]),
        (np.linalg.slogdet, [()]),
        (np.linalg.cholesky, [(2, 2, 3)]),
        (np.linalg.solve, [(3, 3), (2,)]),
        (np.linalg.solve, [(3, 3), ()]),
        (np.linalg.solve, [(2, 3, 3), (3, 3, 1)]),
        (lambda x: np.linalg.matrix_power(x, 2), [(2, 3)]),
        (lambda x: np.linalg.multi_dot([x]), [(2, 3)]),
        (lambda x: np.linalg.multi_dot([x, x, x]), [(2, 3, 3)]),
        (np.linalg.outer, [(2, 2), (2,)]),
    ],
)
def test_shapes_that_numpy_refuses_are_refused(function, shapes):
    arrays = [np.ones(s) for s in shapes]
    with pytest.raises(ValueError, match=r".*"):
        function(*arrays)
    with pytest.raises(ValueError, match=r"\(|at least|one-dimensional|square"):
        sg.symbolic(function)(*arrays)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
@pytest.mark.parametrize(
    "function", [np.linalg.inv, np.linalg.det, np.linalg.cholesky, lambda x: np.linalg.solve(x, x)]
)
def test_dtypes_that_numpy_refuses_are_refused(function, dtype):
    a = np.eye(2, dtype=dtype)
    with pytest.raises(TypeError):
        function(a)
    with pytest.raises(DtypeError, match="float32 and float64"):
        sg.symbolic(function)(a)


@pytest.mark.parametrize(("a", "b"), [*itertools.product([np.int64, bool, np.float32, np.float64], repeat=2)])
def test_dtypes_of_a_solution(a, b):
    matrix, right = np.eye(2, dtype=a), np.ones(2, dtype=b)
    got, want = sg.symbolic(np.linalg.solve)(matrix, right), np.linalg.solve(matrix, right)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    by = [k for k, x in enumerate((matrix, right)) if x.dtype.kind == "f"]
    for k in by:
        assert sg.grad(np.linalg.solve, k)(matrix, right).dtype == (matrix, right)[k].dtype


@pytest.mark.parametrize("function", [np.linalg.inv, np.linalg.det, lambda x: np.linalg.slogdet(x)[1]])
def test_integers_are_computed_with_as_floats(function):
    a = np.array([[2, 1], [1, 3]])
    got = sg.symbolic(function)(a)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, function(a))


@pytest.mark.parametrize(
    "shapes", [[(2, 9), (9, 3), (3, 4)], [(7, 2), (2, 5), (5, 1), (1, 6)], [(3, 3)] * 5, [(3,), (3, 2), (2, 8), (8,)]]
)
def test_a_chain_is_multiplied_in_the_order_of_numpy(shapes):
    arrays = [RNG.normal(size=s) for s in shapes]
    got = sg.symbolic(lambda *xs: np.linalg.multi_dot(xs), backend="numpy")(*arrays)
    np.testing.assert_array_equal(got, np.linalg.multi_dot(arrays))


@pytest.mark.parametrize("n", [np.int64(3), True])
def test_a_power_is_an_integer(n):
    a = RNG.normal(size=(2, 2))
    np.testing.assert_array_equal(sg.symbolic(lambda x: np.linalg.matrix_power(x, n))(a), np.linalg.matrix_power(a, n))
    with pytest.raises(TypeError):
        sg.symbolic(lambda x: np.linalg.matrix_power(x, 0.5))(a)


def test_the_likelihood_of_a_gaussian():
    """Its gradient and Hessian by the covariance's factor, against differences of a density without linear algebra."""
    x = np.array([0.3, -0.7])

    def density(factor):
        covariance = factor @ factor.T + np.eye(2)
        return -0.5 * (np.linalg.slogdet(covariance)[1] + x @ np.linalg.solve(covariance, x))

    def written_out(factor):
        (a, b), (c, d) = factor @ factor.T + np.eye(2, dtype=factor.dtype)
        determinant = a * d - b * c
        square = (d * x[0] * x[0] - (b + c) * x[0] * x[1] + a * x[1] * x[1]) / determinant
        return (-0.5 * (np.log(determinant) + square),)

    factor = RNG.normal(size=(2, 2))
    gradient, hessian = sg.grad(density)(factor), sg.hessian(density)(factor)
    units = [np.eye(4)[k].reshape(2, 2) for k in range(4)]
    for i, u in enumerate(units):
        (slope,), _, exact = differences(written_out, [factor], [[u]])
        assert exact
        assert abs(gradient.flat[i] - slope) < 1e-12
        for j, w in enumerate(units):
            (mixed,), _, _ = differences(written_out, [factor], [[u], [w]])
            assert abs(hessian.reshape(4, 4)[i, j] - mixed) < 1e-9
