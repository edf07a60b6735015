"""Slopes and curvatures where eigenvalues or singular values are equal, or nearly so: by differences and mpmath."""

import mpmath as mp
import numpy as np
import pytest

import symgrad as sg

RNG = np.random.default_rng(11)
WEIGHTS = RNG.standard_normal((3, 3))
TURN = np.linalg.qr(RNG.standard_normal((3, 3)))[0]


def symmetric(a):
    return (a + np.swapaxes(a, -1, -2)) / 2


def turned(*values):
    """A matrix of these eigenvalues whose vectors are nothing special."""
    return symmetric(TURN @ np.diag(values) @ TURN.T)


MATRICES = {
    "identity": np.eye(3),
    "twice the identity": 2 * np.eye(3),
    "two of three": turned(2.0, 2.0, 5.0),
    "diagonal": np.diag([3.0, 1.0, 3.0]),
    "apart": turned(1.0, 2.0, 0.5),
}


def function_of(a, f):
    values, vectors = np.linalg.eigh(a)
    return (vectors * f(values)) @ vectors.T


def of_quotients(a, vectors):
    return (vectors * np.exp(np.diag(vectors.T @ a @ vectors))) @ vectors.T


def polar(a):
    u, _, vh = np.linalg.svd(a)
    return u @ vh


def below(a):
    values, vectors = np.linalg.eigh(a)
    vectors = vectors * (values < 4)
    return vectors @ vectors.T


def mean_of(a):
    """Between two matrices, as the Riemannian metric has it: decompositions of what decompositions made."""
    root = function_of(a, np.sqrt)
    back = function_of(a, lambda w: 1 / np.sqrt(w))
    return root @ function_of(back @ (a @ a) @ back, np.sqrt) @ root


def steps(a):
    return sg.fori_loop(0, 3, lambda i, c: function_of(c, np.log) + 1.5 * np.eye(3), a)


#: what is a smooth function of a symmetric matrix, whichever vectors equal values have
SMOOTH = {
    "logarithm": lambda a: function_of(a, np.log),
    "flat at one": lambda a: function_of(a, lambda w: (w - 1) ** 2),
    "of all values": lambda a: function_of(a, lambda w: np.exp(w) / np.sum(np.exp(w))),
    "by diag": lambda a: np.linalg.eigh(a)[1] @ np.diag(np.sqrt(np.linalg.eigh(a)[0])) @ np.linalg.eigh(a)[1].T,
    "quotients of Rayleigh": lambda a: of_quotients(a, np.linalg.eigh(a)[1]),
    "of half of the sum": lambda a: of_quotients(a, np.linalg.eigh((a + a.T) / 2)[1]),
    "values apart": lambda a: (np.linalg.eigh(a)[1] * np.linalg.eigvalsh(a) ** 3) @ np.linalg.eigh(a)[1].T,
    "beside others": lambda a: np.linalg.inv(function_of(a, np.exp) + a @ a) * np.linalg.det(a),
    "polar factor": lambda a: polar(a + 0.1 * (WEIGHTS - WEIGHTS.T)),
    "square of a singular one": lambda a: (lambda u, s, vh: (vh.T * s) @ vh)(*np.linalg.svd(TURN @ a)),
    "chain": mean_of,
    "loop": steps,
}


def expect_slopes(fn, a, direction, tolerance=2e-7):
    """The derivative of the weighed outputs along a direction, in every mode, is that of differences."""
    total = lambda a: np.sum(WEIGHTS * fn(a))  # noqa: E731
    h = 1e-3
    ahead = [total(a + k * h * direction) for k in (-2, -1, 1, 2)]
    want = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
    found = [
        np.sum(sg.grad(total)(a) * direction),
        sg.jvp(total, (a,), (direction,))[1],
        np.sum(WEIGHTS * sg.jvp(fn, (a,), (direction,))[1]),
        *(np.einsum("ij,ijkl,kl", WEIGHTS, sg.jacobian(fn, mode=m)(a), direction) for m in ("forward", "reverse")),
    ]
    np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("at", MATRICES)
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_have_slopes(name, at):
    expect_slopes(SMOOTH[name], MATRICES[at], symmetric(RNG.standard_normal((3, 3))))


def test_of_a_subspace():
    expect_slopes(
        lambda a: (lambda v: v[:, :2] @ v[:, :2].T)(np.linalg.eigh(a)[1]), MATRICES["two of three"], symmetric(WEIGHTS)
    )
    expect_slopes(below, MATRICES["two of three"], symmetric(WEIGHTS))


def test_of_singular_vectors_of_tall_and_wide_matrices():
    tall, direction, weights = np.linalg.qr(RNG.standard_normal((5, 3)))[0], *RNG.standard_normal((2, 5, 3))
    expect_slope_of_polar_factors(tall, direction, weights)
    expect_slope_of_polar_factors(tall.T, direction.T, weights.T)


def expect_slope_of_polar_factors(a, direction, weights):
    def total(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(weights * (u @ vh))

    want = (total(a + 1e-5 * direction) - total(a - 1e-5 * direction)) / 2e-5
    assert np.sum(sg.grad(total)(a) * direction) == pytest.approx(want, rel=1e-6)
    assert sg.jvp(total, (a,), (direction,))[1] == pytest.approx(want, rel=1e-6)


def test_of_complex_matrices():
    unitary = np.linalg.qr(RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3)))[0]
    hermitian = (unitary * [2.0, 2.0, 5.0]) @ unitary.conj().T
    p, q = RNG.standard_normal((2, 3, 3))

    def logarithm(x, y):
        values, vectors = np.linalg.eigh(x + x.T + 1j * (y - y.T))
        made = (vectors * np.log(values)) @ vectors.conj().T
        return np.sum(WEIGHTS * made.real) + np.sum(WEIGHTS.T * made.imag)

    def nearest(x, y):
        u, _, vh = np.linalg.svd(x + 1j * y)
        return np.sum(WEIGHTS * (u @ vh).real) + np.sum(WEIGHTS.T * (u @ vh).imag)

    for fn, x, y in (
        (logarithm, hermitian.real / 2, hermitian.imag / 2),
        (logarithm, np.eye(3), np.zeros((3, 3))),
        (nearest, unitary.real, unitary.imag),
    ):
        by_x, by_y = sg.grad(fn, (0, 1))(x, y)
        want = (fn(x + 1e-5 * p, y + 1e-5 * q) - fn(x - 1e-5 * p, y - 1e-5 * q)) / 2e-5
        assert np.sum(by_x * p) + np.sum(by_y * q) == pytest.approx(want, rel=1e-6)


def test_of_stacks_and_many_examples():
    stack = np.stack([MATRICES["two of three"], np.eye(3), MATRICES["apart"]])
    direction = symmetric(RNG.standard_normal((3, 3, 3)))

    def total(a):
        values, vectors = np.linalg.eigh(a)
        made = (vectors * np.log(values)[:, None, :]) @ np.swapaxes(vectors, -1, -2)
        return np.sum(WEIGHTS * np.sin(made))

    want = (total(stack + 1e-5 * direction) - total(stack - 1e-5 * direction)) / 2e-5
    assert np.sum(sg.grad(total)(stack) * direction) == pytest.approx(want, rel=1e-6)
    one = lambda a: np.sum(WEIGHTS * np.sin(function_of(a, np.log)))  # noqa: E731
    each = sg.vmap(sg.grad(one))(stack)
    assert np.sum(each * direction) == pytest.approx(want, rel=1e-6)
    many = sg.vmap(sg.hessian(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3)))(stack)
    for made, a in zip(many, stack, strict=True):
        np.testing.assert_allclose(made, sg.hessian(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))(a), atol=1e-12)


@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-15, 3e-15, 1e-14, 1e-12, 1e-10, 1e-8, 3e-8, 1e-7, 1e-5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_close_values(gap, dtype):
    """The logarithm's slope in the mean of two vectors, by divided differences in 60 digits."""
    a = turned(2.0, 2.0 + gap * (1 if dtype is np.float64 else 1e8), 5.0).astype(dtype)
    direction, weights = symmetric(WEIGHTS).astype(dtype), symmetric(WEIGHTS[::-1]).astype(dtype)
    with mp.workdps(60):
        values, vectors = mp.eigsy(mp.matrix(a.astype(float).tolist()))
        c, d = (vectors.T * mp.matrix(x.astype(float).tolist()) * vectors for x in (weights, direction))

        def quotient(x, y):
            return 1 / x if abs(x - y) < 1e-40 else (mp.log(x) - mp.log(y)) / (x - y)

        want = sum(c[i, j] * d[i, j] * quotient(values[i], values[j]) for i in range(3) for j in range(3))

    def total(a):
        return np.sum(weights * function_of(a, np.log))

    # half of the digits at worst, where the quotient is as good as the limit
    bound = 20 * float(np.sqrt(np.finfo(dtype).eps))
    assert np.sum(sg.grad(total)(a) * direction) == pytest.approx(float(want), rel=bound)
    assert sg.jvp(total, (a,), (direction,))[1] == pytest.approx(float(want), rel=bound)


def test_vectors_of_close_values_turn_fast():
    """They are functions of the matrix, and their slope is one over the gap."""
    for gap in (1e-9, 1e-12):
        a = turned(2.0, 2.0 + gap, 5.0)
        values, vectors = np.linalg.eigh(a)
        mixed = sum(vectors[0, k] * vectors[:, k] / (values[0] - values[k]) for k in (1, 2))
        want = symmetric(np.outer(vectors[:, 0], mixed))
        made = sg.grad(lambda a: np.linalg.eigh(a)[1][0, 0])(a)
        np.testing.assert_allclose(made, want, atol=1e-12 * np.max(abs(want)))


#: what depends on which vectors equal values have, though some of it does not move at first as they turn
ROUGH = {
    "an entry": lambda a: np.linalg.eigh(a)[1][0, 0] + np.linalg.eigh(a)[1][1, 0],
    "its square": lambda a: np.linalg.eigh(a)[1][0, 0] ** 2,
    "of one side": lambda a: np.sum(WEIGHTS * (np.linalg.eigh(a)[1] * np.linalg.eigh(a)[0])),
    "of one singular side": lambda a: np.sum(WEIGHTS * np.linalg.svd(a)[0]),
}


@pytest.mark.parametrize("at", ["identity", "twice the identity", "two of three"])
@pytest.mark.parametrize("name", ROUGH)
def test_no_slope_is_nan(name, at):
    a = MATRICES[at]
    assert np.isnan(sg.grad(ROUGH[name])(a)).any()
    direction = symmetric(RNG.standard_normal((3, 3)))
    assert np.isnan(sg.jvp(ROUGH[name], (a,), (direction,))[1])


def expect_curvature(fn, a, tolerance=1e-5):
    v, w = symmetric(RNG.standard_normal((2, 3, 3)))
    mixed = [
        sum(s * t * fn(a + h * (s * v + t * w)) for s in (-1, 1) for t in (-1, 1)) / (4 * h * h) for h in (1e-3, 2e-3)
    ]
    want = (4 * mixed[0] - mixed[1]) / 3
    slope = sg.grad(fn)
    found = [
        np.einsum("ij,ijkl,kl", v, sg.hessian(fn)(a), w),
        np.sum(v * sg.hvp(fn, (a,), (w,))[-1]),
        *(np.einsum("ij,ijkl,kl", v, sg.jacobian(slope, mode=m)(a), w) for m in ("forward", "reverse")),
        np.sum(v * sg.grad(lambda a: np.sum(w * slope(a)))(a)),
    ]
    np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)


#: functions of values, of which the first derivative reads vectors
OF_VALUES = {
    "exponential": lambda a: np.sum(np.exp(np.linalg.eigvalsh(a) / 2)),
    "von Mises": lambda a: np.sum((np.linalg.eigvalsh(a) - np.mean(np.linalg.eigvalsh(a))) ** 2),
    "entropy": lambda a: -np.sum(np.linalg.eigh(a)[0] * np.log(np.linalg.eigh(a)[0])),
    "nuclear norm": lambda a: np.linalg.norm(TURN @ a, "nuc"),
    "cubes of singular values": lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 3) / 9,
    "of logarithms": lambda a: np.sum(np.log(np.linalg.eigvalsh(a @ a)) ** 2),
}


@pytest.mark.parametrize("at", MATRICES)
@pytest.mark.parametrize("name", OF_VALUES)
def test_functions_of_values_have_curvature(name, at):
    expect_curvature(OF_VALUES[name], MATRICES[at])


def test_curvature_of_what_reads_other_vectors():
    """Those of two equal values stand in the slope of the third one's, and in no way that depends on which."""

    def leading(a):
        values, vectors = np.linalg.eigh(a)
        v = vectors[:, 2]
        return (WEIGHTS[0] @ v) * (WEIGHTS[1] @ v) * values[2]

    expect_curvature(leading, MATRICES["two of three"], 1e-4)


def test_laplacian():
    for fn in OF_VALUES.values():
        for a in (np.eye(3), MATRICES["two of three"]):
            want = np.einsum("ijij", sg.hessian(fn)(a))
            assert sg.laplacian(fn)(a) == pytest.approx(want, rel=1e-9, abs=1e-9)


def test_curvature_through_vectors_of_equal_values_is_nan():
    fn = lambda a: np.sum(WEIGHTS * function_of(a, np.log))  # noqa: E731
    assert np.isnan(sg.hessian(fn)(MATRICES["two of three"])).any()
    expect_curvature(fn, MATRICES["apart"])


def test_slopes_by_tangents_and_cotangents():
    """What is linear in them is differentiated as such, where values are equal too."""
    fn = lambda a: np.sum(WEIGHTS * function_of(a, np.log))  # noqa: E731
    a, direction = MATRICES["two of three"], symmetric(WEIGHTS)
    along = np.sum(sg.grad(fn)(a) * direction)
    by_tangent = sg.grad(lambda v: sg.jvp(fn, (a,), (v,))[1])(direction)
    assert np.sum(by_tangent * direction) == pytest.approx(along, rel=1e-12)
    by_weight = sg.grad(lambda s: np.sum(direction * sg.grad(lambda a: s * fn(a))(a)))(1.5)
    assert by_weight == pytest.approx(along, rel=1e-12)


def test_weights_that_are_zero_by_chance():
    """A loop that gives vectors on as they are has no slope, though the weight of all that is made of them is zero."""
    fn = lambda a: np.sum(WEIGHTS * ((lambda w, v: (v * np.log(w)) @ v.T)(*decomposed_in_a_loop(a))))  # noqa: E731
    a = np.eye(3)
    assert np.isnan(sg.grad(fn)(a)).any()
    along = sg.vjp(lambda a: np.linalg.eigh(a)[1], a)
    pulled = along[1] if isinstance(along, tuple) else along
    assert np.isnan(np.asarray(pulled(np.zeros((3, 3))))).any()


def decomposed_in_a_loop(a):
    found = sg.fori_loop(0, 2, lambda i, c: tuple(np.linalg.eigh((c[1] * c[0]) @ c[1].T)), tuple(np.linalg.eigh(a)))
    return found[0], found[1]
