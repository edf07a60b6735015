"""Zeros that are structure win through products too, in every order and mode."""

import numpy as np
import pytest

import symgrad as sg

X = np.array([0.5, -1.5])
HIDDEN = {
    "a root": lambda x: np.sum(np.where(x > 0, x[0] * np.sqrt(x), x)),
    "a logarithm": lambda x: np.sum(np.where(x > 0, x[0] * np.log(x) * x[0], x**2)),
    "a power of itself": lambda x: np.sum(np.where(x > 0, x ** (x[0] + 1), 1.0)),
    "an arc": lambda x: np.sum(np.where(np.abs(x) < 1, x[0] * np.arcsin(x), 0.0)),
    "a part of a sum": lambda x: np.sum(x[0] * np.sqrt(x), where=x > 0),
    "a matrix": lambda x: np.sum(np.where(x[:, None] > 0, np.sqrt(x)[:, None] * np.outer(x, x), 0.0)),
    "a selection": lambda x: np.sum(np.select([x > 0, x < 0], [x[0] * x**1.5, x])),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_not_chosen_contributes_nothing(name):
    function, step = HIDDEN[name], 1e-4 * np.eye(2)
    with np.errstate(all="ignore"):
        wanted = [(sg.grad(function)(X + h) - sg.grad(function)(X - h)) / 2e-4 for h in step]
        slope = [(function(X + h) - function(X - h)) / 2e-4 for h in step]
    np.testing.assert_allclose(sg.grad(function)(X), slope, rtol=1e-6, atol=1e-8)
    for hessian in (
        sg.hessian(function),
        sg.jacrev(sg.jacfwd(function)),
        sg.jacfwd(sg.jacfwd(function)),
        sg.jacrev(sg.grad(function)),
        sg.jacobian(lambda x: sg.jacfwd(function)(x), mode="reverse"),
    ):
        np.testing.assert_allclose(hessian(X), wanted, rtol=1e-6, atol=1e-8)
    along = sg.grad(lambda x: sg.jvp(function, x, np.array([1.0, -2.0]))[1])(X)
    np.testing.assert_allclose(along, np.array(wanted).T @ [1.0, -2.0], rtol=1e-6, atol=1e-8)


def test_powers_of_nothing():
    """The factor 0 of an exponent wins against an infinite power, and a power that is 0 against an infinite slope."""
    powers = lambda x: np.sum((x[:, None] ** np.arange(4)) @ np.array([1.0, 2, 3, 4]))  # noqa: E731
    np.testing.assert_array_equal(sg.hessian(powers)(np.array([0.0, 1.0])), [[6, 0], [0, 30]])
    np.testing.assert_array_equal(sg.hessian(lambda x: np.sum(x ** np.arange(3.0)))(np.zeros(3)), np.diag([0, 0, 2]))
    assert sg.laplacian(lambda x: np.sum(x ** np.array([0.0, 1.0])))(np.zeros(2)) == 0
    by_count = sg.hessian(lambda x, n: np.sum(x**n))
    for n in (3, 2, 1, 0):
        np.testing.assert_array_equal(
            by_count(np.array([0.0, 2.0]), n), np.diag([2.0 * (n == 2), n * (n - 1) * 2.0 ** (n - 2)])
        )
    norm = lambda x: np.linalg.norm(x, 3)  # noqa: E731
    np.testing.assert_array_equal(sg.jacobian(norm, mode="reverse")(np.zeros(2)), np.zeros(2))


ROWS, SQUARE, KEPT = (
    np.array([[0.5, 0.8], [0.6, -0.7]]),
    np.array([[1.0, 2.0], [3.0, 4.0]]),
    np.array([[True], [False]]),
)
#: linear maps of what has no slope in the second row, of which only the first row is chosen
MAPS = {
    "a product": lambda u: np.where(KEPT, u @ SQUARE, 0.0),
    "a product from the left": lambda u: np.where(np.isfinite(SQUARE @ u), SQUARE @ u, 0.0),
    "products": lambda u: np.where(KEPT, np.tanh(u @ SQUARE) @ SQUARE, 0.0),
    "what is no number": lambda u: np.nan_to_num(u @ SQUARE),
    "a vector": lambda u: np.where(KEPT[:, 0], u @ SQUARE[0], 0.0),
    "a system": lambda u: np.where(np.isfinite(np.linalg.solve(SQUARE, u)), np.linalg.solve(SQUARE, u), 0.0),
    "sums on the way": lambda u: np.where(np.isfinite(np.cumsum(u, 1)), np.cumsum(u, 1), 0.0),
}


@pytest.mark.parametrize("slope", [np.sqrt, np.log], ids=["sqrt", "log"])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_zeros_of_a_flow_win_behind_linear_maps(name, slope):
    def fn(x):
        return np.sum(MAPS[name](slope(x)) ** 2)

    found = sg.grad(fn)(ROWS)
    steps = 1e-6 * np.eye(4).reshape(4, 2, 2)
    differences = np.array([(fn(ROWS + h) - fn(ROWS - h)) / 2e-6 for h in steps]).reshape(2, 2)
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-6)
