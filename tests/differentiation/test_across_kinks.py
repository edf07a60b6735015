"""Second derivatives where sizes are zero: against second differences of the values, in every mode."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import symgrad as sg

norm = np.linalg.norm
#: functions of a size that are smooth as functions of what it is the size of
SMOOTH = {
    "matern 5/2": lambda r: (1 + np.sqrt(5) * r + 5 / 3 * r**2) * np.exp(-np.sqrt(5) * r),
    "matern 3/2": lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
    "cosine": np.cos,
    "sinc": lambda r: np.sinc(r / 2),
    "r tanh r": lambda r: r * np.tanh(r),
    "log cosh": lambda r: np.log(np.cosh(r)),
    "soft size": lambda r: r - np.log1p(r),
    "quotient": lambda r: r**2 / (1 + r**3),
    "spline": lambda r: np.where(r < 1, 1 - 6 * r**2 * (1 - r), 2 * (1 - r) ** 3),
}
POINTS = np.array([[0.3, -0.2], [0.0, 0.0], [1.1, 0.4]])
#: sizes that are zero at x = 0, and others beside them
SIZES = {
    "norm": lambda x: norm(x),
    "root of a product": lambda x: norm(x * np.array([1.0, 2.0])),
    "absolute": lambda x: np.abs(x),
    "fabs": lambda x: np.fabs(x),
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "of a complex number": lambda x: np.abs(x[0] + 1j * x[1]),
    "rows": lambda x: norm(x - POINTS, axis=1),
    "pairs": lambda x: cdist(x[None], POINTS)[0],
    "curved": lambda x: norm(np.sin(x) + x * x[::-1]),
    "deviation": lambda x: np.std(x),
}
MODES = {
    "hessian": sg.hessian,
    "forward over forward": lambda f: sg.jacfwd(sg.jacfwd(f)),
    "forward over reverse": lambda f: sg.jacfwd(sg.jacrev(f)),
    "reverse over forward": lambda f: sg.jacrev(sg.jacfwd(f)),
    "reverse over reverse": lambda f: sg.jacrev(sg.jacrev(f)),
}
ORIGIN = np.zeros(2)


def second_differences(f, x, h=1e-3):
    """``(f(x + hu + hv) - f(x + hu - hv) - …) / 4h²`` of two steps, extrapolated: a term in r³ leaves one in h."""
    coarse, fine = (
        np.array(
            [
                [(f(x + u + v) - f(x + u - v) - f(x - u + v) + f(x - u - v)) / (4 * k * k) for v in k * np.eye(x.size)]
                for u in k * np.eye(x.size)
            ]
        )
        for k in (h, h / 2)
    )
    return 2 * fine - coarse


def of(g, size):
    return lambda x: np.sum(np.cos(np.arange(1.0, 1 + np.size(size(x)))) * g(size(x))) * np.exp(x[0] / 3)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_hessians_of_smooth_functions_of_a_size(size):
    for name, g in SMOOTH.items():
        f = of(g, size)
        want = second_differences(f, ORIGIN)
        for mode, derivative in MODES.items() if name in ("matern 5/2", "sinc") else [("hessian", sg.hessian)]:
            np.testing.assert_allclose(derivative(f)(ORIGIN), want, atol=1e-4, err_msg=f"{name}, {mode}")


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_other_second_derivatives(size):
    v = np.array([0.7, -0.4])
    for name in ("matern 5/2", "cosine"):
        f = of(SMOOTH[name], size)
        want = second_differences(f, ORIGIN)
        np.testing.assert_allclose(sg.hvp(f, ORIGIN, v), want @ v, atol=1e-4, err_msg=name)
        np.testing.assert_allclose(sg.laplacian(f)(ORIGIN), np.trace(want), atol=1e-4, err_msg=name)
        both = sg.laplacian(lambda x, f=f: np.stack([f(x), x[0] * f(x)]))(ORIGIN)  # no Hessian is built of two
        np.testing.assert_allclose(both[0], np.trace(want), atol=1e-4, err_msg=name)
        np.testing.assert_allclose(sg.directional(f, order=2)(ORIGIN, v), v @ want @ v, atol=1e-4, err_msg=name)


def test_numbers_of_the_book():
    # (1 + √3·r)·exp(-√3·r) = 1 - 3/2·r² + …, and of 5/2: 1 - 5/6·r² + …
    for name, curvature in {"matern 3/2": -3.0, "matern 5/2": -5 / 3, "r tanh r": 2.0, "cosine": -1.0}.items():
        for dim in (1, 2, 5):
            got = sg.hessian(lambda x, g=SMOOTH[name]: g(norm(x)))(np.zeros(dim))
            np.testing.assert_allclose(got, curvature * np.eye(dim), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "numexpr", "native"])
def test_every_backend_and_many_points_at_once(backend):
    x = np.random.default_rng(0).normal(size=(70, 2))
    x[::3] = 0.0
    f = lambda x: np.sum(SMOOTH["matern 5/2"](norm(x, axis=1)))  # noqa: E731
    own = np.einsum("iaib->iab", sg.hessian(f, backend=backend)(x))
    np.testing.assert_allclose(own[::3], np.tile(-5 / 3 * np.eye(2), (24, 1, 1)), atol=1e-12)
    one = second_differences(lambda x: SMOOTH["matern 5/2"](norm(x)), x[1])
    np.testing.assert_allclose(own[1], one, atol=1e-4)


def test_matrices_of_a_kernel_have_points_beside_themselves():
    x = np.array([[0.1, 0.2], [0.1, 0.2], [-0.3, 0.5]])
    weights = np.sin(np.arange(9.0)).reshape(3, 3)

    def f(x):
        return np.sum(weights * SMOOTH["matern 5/2"](norm(x[:, None] - x[None], axis=-1)))

    want = second_differences(lambda flat: f(flat.reshape(3, 2)), x.ravel())
    for derivative in (sg.hessian, MODES["reverse over reverse"], MODES["forward over forward"]):
        np.testing.assert_allclose(derivative(f)(x).reshape(6, 6), want, atol=1e-4)


def test_loops_see_it_in_a_step():
    def f(x):
        total, y = 0.0, x
        for k in range(40):
            y = y + 0.01 * np.sin(y)
            total = total + SMOOTH["matern 3/2"](norm(y)) + np.sum(np.cos(np.abs(y * (k + 1) / 40)))
        return total

    want = second_differences(f, ORIGIN, 1e-4)
    for mode, derivative in MODES.items():
        np.testing.assert_allclose(derivative(f)(ORIGIN), want, atol=0.2, rtol=3e-3, err_msg=mode)


def test_slopes_of_a_sign_times_what_is_zero_with_the_size():
    symlog = lambda x: np.sign(x) * np.log1p(np.abs(x))  # noqa: E731
    points = np.array([-1.0, 0.0, 2.0])
    want = [(symlog(p + 1e-6) - symlog(p - 1e-6)) / 2e-6 for p in points]
    np.testing.assert_allclose(sg.vmap(sg.grad(symlog))(points), want, atol=2e-6)
    np.testing.assert_allclose(sg.jvp(symlog, (points,), (np.ones(3),))[1], want, atol=2e-6)


def test_true_kinks_count_zero():
    for f in (norm, lambda x: np.sum(np.abs(x)), lambda x: np.abs(x[0]) * np.abs(x[1] + 1), lambda x: norm(x) * x[0]):
        np.testing.assert_array_equal(sg.hessian(f)(ORIGIN), np.zeros((2, 2)))
    np.testing.assert_allclose(sg.hessian(lambda x: np.exp(-norm(x)))(ORIGIN), np.eye(2))  # r²/2 counts, -r does not
    exclusive = sg.hessian(lambda x: np.sum(np.abs(x)) ** 2)(np.array([0.0, 1.0, -2.0]))
    np.testing.assert_allclose(exclusive, [[2, 0, 0], [0, 2, -2], [0, -2, 2]])


def test_third_derivatives():
    f = lambda x: SMOOTH["cosine"](norm(np.sin(x) + x * x[::-1]))  # noqa: E731
    hessian = lambda x: second_differences(f, x, 1e-3)  # noqa: E731
    want = np.stack([(hessian(u) - hessian(-u)) / 2e-2 for u in 1e-2 * np.eye(2)], axis=-1)
    np.testing.assert_allclose(sg.jacobian(sg.hessian(f))(ORIGIN), want, atol=5e-3)
    np.testing.assert_allclose(sg.jacfwd(sg.jacfwd(sg.jacfwd(f)))(ORIGIN), want, atol=5e-3)


def test_formulas_are_the_textbooks():
    assert "kink" not in sg.hessian(lambda x: np.cos(norm(x))).latex(np.ones(2))


def test_the_size_of_a_size():
    """It is that size, and 1 is its slope, where it is zero too."""
    for fn in (
        lambda x: np.cos(np.abs(np.linalg.norm(x))),
        lambda x: -(np.abs(x[0] * x[0]) + np.fabs(x[1] ** 2)) / 2,
        lambda x: np.cos(np.fabs(np.hypot(x[0], x[1]))),
    ):
        np.testing.assert_allclose(sg.hessian(fn)(np.zeros(2)), -np.eye(2), atol=1e-15)
