"""Conventions where a function has a kink or a step: ties share evenly, ``|x|`` has slope 0 at 0."""

import numpy as np
import pytest

import symgrad


def slope(fn, *args, by=0):
    return symgrad.grad(fn, by)(*args)


@pytest.mark.parametrize("fn", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_ties_of_two_arrays_share_evenly(fn):
    a, b = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    by_a, by_b = symgrad.grad(fn, (0, 1))(a, b)
    wins = 1.0 if fn in (np.maximum, np.fmax) else 0.0
    np.testing.assert_array_equal(by_a, [1 - wins, 0.5, wins])
    np.testing.assert_array_equal(by_b, [wins, 0.5, 1 - wins])


@pytest.mark.parametrize("fn", [np.max, np.min])
def test_ties_of_a_reduction_share_evenly(fn):
    x = np.array([[2.0, 2.0, 2.0], [0.0, 5.0, 5.0]])
    expected = {np.max: [[1 / 3] * 3, [0.0, 0.5, 0.5]], np.min: [[1 / 3] * 3, [1.0, 0.0, 0.0]]}[fn]
    np.testing.assert_allclose(slope(lambda v: fn(v, axis=1), x), expected, rtol=1e-15)
    out, pushed = symgrad.jvp(lambda v: fn(v, axis=1), x, np.array([[3.0, 6.0, 0.0], [1.0, 2.0, 4.0]]))
    np.testing.assert_array_equal(out, fn(x, axis=1))
    np.testing.assert_allclose(pushed, [3.0, 3.0 if fn is np.max else 1.0], rtol=1e-15)


@pytest.mark.parametrize("fn", [np.abs, np.fabs, abs])
def test_absolute_has_slope_zero_at_zero(fn):
    assert slope(fn, np.array([-2.0, 0.0, 3.0])).tolist() == [-1.0, 0.0, 1.0]


SMOOTH = {
    "square": (lambda x, y: np.abs(x) ** 2 * y, lambda x, y: 2 * y),
    "product": (lambda x, y: np.abs(x) * np.abs(x) + np.fabs(x) ** 2 * y, lambda x, y: 2 + 2 * y),
    "hypotenuse": (lambda x, y: np.hypot(x, 0.0) ** 2 * y, lambda x, y: 2 * y),
    "softplus": (
        lambda x, y: np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x))),
        lambda x, y: 0.25 / np.cosh(x / 2) ** 2,
    ),
    "logarithm": (
        lambda x, y: np.maximum(-x, 0) + np.log(1 + np.exp(-abs(x))) * 1.0,
        lambda x, y: 0.25 / np.cosh(x / 2) ** 2,
    ),
    "of twice": (lambda x, y: np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))), lambda x, y: 1 / np.cosh(x) ** 2),
    "a number after it": (
        lambda x, y: np.abs(x) / 2 + np.log1p(np.exp(np.abs(x) * -1.0)),
        lambda x, y: 0.25 / np.cosh(x / 2) ** 2,
    ),
    "a choice": (lambda x, y: np.where(y > -9, np.abs(x) ** 2, np.inf), lambda x, y: 2 + 0 * x),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives_of_smooth_functions_by_the_absolute_value_hold_at_zero(name, shape, dtype):
    fn, second = SMOOTH[name]
    x = np.resize(np.array([0.0, 1.5, -0.5], dtype), shape)
    y = np.linspace(1, 2, x.size, dtype=dtype).reshape(shape)
    expected = np.broadcast_to(second(x, y), shape)

    def total(x, y):
        return np.sum(fn(x, y))

    v = np.ones(shape, dtype)
    found = {
        "hvp": symgrad.hvp(total)(x, v, y),
        "laplacian": symgrad.laplacian(total)(x, y),
        **{m: symgrad.hessian(total, mode=m)(x, y).reshape(x.size, x.size) for m in ("forward", "reverse", "cross")},
    }
    for forward in ("forward", "reverse"):
        for backward in ("forward", "reverse"):
            first = symgrad.grad(total, mode=forward)
            found[forward, backward] = symgrad.grad(lambda x, y, f=first: np.sum(f(x, y)), mode=backward)(x, y)
    for mode, value in found.items():
        wanted = (
            np.sum(expected)
            if mode == "laplacian"
            else np.diag(expected.ravel())
            if value.ndim == 2 and value.shape != shape
            else expected
        )
        np.testing.assert_allclose(
            value, wanted, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-7, err_msg=str(mode)
        )
        assert value.dtype == dtype, mode


def test_relu_at_zero_is_one_half():
    x = np.array([-1.0, 0.0, 2.0])
    assert slope(lambda v: np.maximum(v, 0), x).tolist() == [0.0, 0.5, 1.0]
    assert slope(lambda v: np.maximum(0, v), x).tolist() == [0.0, 0.5, 1.0]
    assert slope(lambda v: np.where(v > 0, v, 0.0), x).tolist() == [0.0, 0.0, 1.0]


def test_clip_shares_at_its_bounds():
    x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert slope(lambda v: np.clip(v, -1.0, 1.0), x).tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    "fn",
    [np.linalg.norm, lambda x: np.linalg.norm(x, axis=0), lambda x: np.linalg.norm(x[None], "fro"), np.std],
)
def test_norms_have_slope_zero_at_zero(fn):
    assert slope(fn, np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_hypot_has_slope_zero_at_the_origin():
    assert symgrad.grad(np.hypot, (0, 1))(np.zeros(2), np.zeros(2))[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("fn", [np.floor, np.ceil, np.trunc, np.rint, np.sign, np.round])
def test_steps_are_flat(fn):
    x = np.array([-1.5, -1.0, 0.0, 0.3, 2.0])
    np.testing.assert_array_equal(symgrad.symbolic(fn)(x), fn(x))
    assert slope(fn, x).tolist() == [0.0] * 5


def test_nan_does_not_reach_branches_not_taken():
    x = np.array([np.nan, 1.0])
    got = slope(lambda v: np.where(np.isnan(v), 0.0, v**2), x)
    assert got.tolist() == [0.0, 2.0]


def test_sorting_with_ties_keeps_each_element_once():
    got = slope(lambda v: np.sort(v) * np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 1.0]))
    assert sorted(got.tolist()) == [1.0, 2.0, 3.0]
    assert got[2] == 1.0
