"""The objectives of ADBench as they are written: Jacobians and gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
import slopes
from adbench import bundle_adjustment, hand_tracking, mixtures

import symgrad as sg


@pytest.mark.parametrize("is_mirrored", [False, True])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_hand_tracking(is_mirrored, mode):
    model = hand_tracking.small_model(is_mirrored=is_mirrored)
    rng = np.random.default_rng(1)
    theta, correspondences = 0.3 * rng.standard_normal(26), rng.integers(0, 10, 5)
    points = rng.standard_normal((3, 5))
    check(hand_tracking.hand_objective, theta, (model, correspondences, points), mode)


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_hand_tracking_with_barycentric_coordinates(is_mirrored):
    model = hand_tracking.small_model(seed=2, is_mirrored=is_mirrored)
    rng = np.random.default_rng(3)
    params = np.concatenate([rng.random(8), 0.3 * rng.standard_normal(26)])
    given = model, rng.integers(0, 6, 4), rng.standard_normal((3, 4))
    check(hand_tracking.hand_objective_complicated, params, given)


def test_hand_tracking_without_rotation():
    """No rotation of the hand as a whole is a branch of its own."""
    model = hand_tracking.small_model(seed=4)
    rng = np.random.default_rng(5)
    given = model, rng.integers(0, 10, 3), rng.standard_normal((3, 3))
    derivative = sg.jacobian(lambda theta: hand_tracking.hand_objective(theta, *given), backend="numpy")
    theta = 0.3 * rng.standard_normal(26)
    derivative(theta)
    theta[:3] = 0.0
    got = derivative(theta)
    want = slopes.jacobian(lambda t: hand_tracking.hand_objective(np.concatenate([np.zeros(3), t]), *given), theta[3:])
    np.testing.assert_allclose(got[:, 3:], want, rtol=1e-7, atol=1e-8)


def check(objective, unknowns, given, mode="auto"):
    """The Jacobian by the first argument, of all others held."""

    def function(x):
        return objective(x, *given)

    got = sg.jacobian(function, mode=mode, backend="numpy")(unknowns)
    want = slopes.jacobian(function, unknowns)
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("objective", [mixtures.gmm_objective, mixtures.gmm_objective_in_loops])
def test_gaussian_mixtures(objective):
    given = mixtures.small_problem()
    value, gradients = sg.value_and_grad(objective, (0, 1, 2), backend="numpy")(*given)
    np.testing.assert_allclose(value, objective(*given), rtol=1e-12)
    for got, want in zip(gradients, slopes.gradients(objective, given, (0, 1, 2)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("position", range(3))
def test_bundle_adjustment(position):
    given = list(bundle_adjustment.small_problem())

    def objective(x):
        return bundle_adjustment.ba_objective(*given[:position], x, *given[position + 1 :])

    got = sg.jacobian(bundle_adjustment.ba_objective, position, backend="numpy")(*given)
    np.testing.assert_allclose(got, slopes.jacobian(objective, given[position]), rtol=1e-7, atol=1e-8)


def test_rotation_of_a_point():
    rot, x = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, 3.0])
    rotate = bundle_adjustment.rodrigues_rotate_point
    got = sg.jacobian(rotate, backend="numpy")(rot, x)
    np.testing.assert_allclose(got, slopes.jacobian(lambda r: rotate(r, x), rot), rtol=1e-8, atol=1e-9)
    got = sg.jacobian(rotate, backend="numpy")(np.zeros(3), x)
    np.testing.assert_allclose(got, slopes.jacobian(lambda r: r * 0 + x + bundle_adjustment.cross(r, x), rot))
