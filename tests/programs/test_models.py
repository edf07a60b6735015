"""Models as users of automatic differentiation write them in plain NumPy and SciPy, each checked, some fitted."""

import numpy as np
import pytest

import symgrad as sg

special = pytest.importorskip("scipy.special")
linalg = pytest.importorskip("scipy.linalg")
optimize = pytest.importorskip("scipy.optimize")
stats = pytest.importorskip("scipy.stats")

RNG = np.random.default_rng(5)


def slope(f, params, direction, step=1e-5):
    """The derivative along a direction through nested parameters, by differences."""

    def moved(values, along, s):
        if isinstance(values, dict):
            return {k: moved(v, along[k], s) for k, v in values.items()}
        if isinstance(values, (list, tuple)):
            return type(values)(moved(v, a, s) for v, a in zip(values, along, strict=True))
        return values + s * along

    steps = [(f(moved(params, direction, s)) - f(moved(params, direction, -s))) / (2 * s) for s in (step, step / 2)]
    return steps[1] + (steps[1] - steps[0]) / 3


def inner(gradient, direction):
    if isinstance(gradient, dict):
        return sum(inner(gradient[k], direction[k]) for k in gradient)
    if isinstance(gradient, (list, tuple)):
        return sum(inner(g, d) for g, d in zip(gradient, direction, strict=True))
    return float(np.sum(gradient * direction))


def like(params):
    if isinstance(params, dict):
        return {k: like(v) for k, v in params.items()}
    if isinstance(params, (list, tuple)):
        return type(params)(map(like, params))
    return RNG.normal(size=np.shape(params))


# a neural network


def classify(params, inputs):
    for W, b in params[:-1]:
        inputs = np.tanh(inputs @ W + b)
    W, b = params[-1]
    logits = inputs @ W + b
    return logits - special.logsumexp(logits, axis=1, keepdims=True)


IMAGES, LABELS = RNG.normal(size=(20, 6)), np.eye(3)[RNG.integers(0, 3, 20)]


def posterior_of_a_network(params):
    prior = sum(np.sum(np.square(W)) + np.sum(np.square(b)) for W, b in params)
    return -0.05 * prior + np.sum(classify(params, IMAGES) * LABELS)


LAYERS = [(0.3 * RNG.normal(size=(m, n)), np.zeros(n)) for m, n in ((6, 8), (8, 5), (5, 3))]


# a mixture of Gaussians, its covariances by their factors


def unpacked(params):
    factors = np.tril(params["factors"], -1) + np.exp(params["scales"])[:, :, None] * np.eye(2)
    return special.log_softmax(params["weights"]), params["means"], factors


def mixture(params):
    weights, means, factors = unpacked(params)
    rows = []
    for weight, mean, factor in zip(weights, means, factors):
        rows.append(weight + stats.multivariate_normal.logpdf(POINTS, mean, factor @ factor.T))
    return np.sum(special.logsumexp(np.stack(rows), axis=0))


POINTS = np.concatenate([RNG.normal(size=(30, 2)), RNG.normal(size=(30, 2)) + [3.0, 1.0]])
MIXTURE = {
    "weights": np.zeros(3),
    "means": RNG.normal(size=(3, 2)),
    "factors": 0.1 * RNG.normal(size=(3, 2, 2)),
    "scales": np.zeros((3, 2)),
}


# a hidden Markov model: the forward recursion, and expectation by the gradient


def evidence(natural):
    start, transition, emission = natural
    alpha = start - special.logsumexp(start)
    transition = transition - special.logsumexp(transition, axis=1, keepdims=True)
    emission = emission - special.logsumexp(emission, axis=1, keepdims=True)
    alpha = alpha + emission[:, SEEN[0]]
    for seen in SEEN[1:]:
        alpha = special.logsumexp(alpha[:, None] + transition, axis=0) + emission[:, seen]
    return special.logsumexp(alpha)


SEEN = RNG.integers(0, 4, 40)
HMM = (RNG.normal(size=3), RNG.normal(size=(3, 3)), RNG.normal(size=(3, 4)))


# a Gaussian process


def covariance(params, x, y):
    scaled = (x[:, None] - y[None]) / np.exp(params[2:])
    return np.exp(params[0]) * np.exp(-0.5 * np.sum(scaled**2, axis=2))


def marginal_likelihood(params):
    K = covariance(params, INPUTS, INPUTS) + np.exp(params[1]) * np.eye(len(INPUTS))
    factor = linalg.cho_factor(K, lower=True)
    fit = TARGETS @ linalg.cho_solve(factor, TARGETS)
    return -0.5 * fit - np.sum(np.log(np.diag(factor[0]))) - 0.5 * len(TARGETS) * np.log(2 * np.pi)


INPUTS = RNG.uniform(-3, 3, size=(25, 1))
TARGETS = np.sin(INPUTS[:, 0]) + 0.1 * RNG.normal(size=25)


# a variational autoencoder


def elbow(params):
    encoder, decoder, noise = params["encoder"], params["decoder"], NOISE
    hidden = np.tanh(IMAGES @ encoder[0] + encoder[1])
    mean, log_std = np.split(hidden @ encoder[2], 2, axis=1)
    latent = mean + np.exp(log_std) * noise
    logits = np.tanh(latent @ decoder[0]) @ decoder[1]
    seen = (IMAGES > 0).astype(float)
    likelihood = np.sum(seen * logits - np.logaddexp(0, logits))
    return likelihood - 0.5 * np.sum(np.exp(2 * log_std) + mean**2 - 1 - 2 * log_std)


NOISE = RNG.normal(size=(20, 2))
VAE = {
    "encoder": [0.3 * RNG.normal(size=(6, 7)), np.zeros(7), 0.3 * RNG.normal(size=(7, 4))],
    "decoder": [0.3 * RNG.normal(size=(2, 5)), 0.3 * RNG.normal(size=(5, 6))],
}


# a fluid: its velocities are chosen so that smoke takes the shape of a disc


def project(vx, vy):
    """Velocities without divergence, by Gauss-Seidel's iteration on a torus."""
    p = np.zeros(vx.shape)
    divergence = -0.5 * (np.roll(vx, -1, 1) - np.roll(vx, 1, 1) + np.roll(vy, -1, 0) - np.roll(vy, 1, 0)) / len(vx)
    for _ in range(8):
        p = (divergence + np.roll(p, 1, 1) + np.roll(p, -1, 1) + np.roll(p, 1, 0) + np.roll(p, -1, 0)) / 4.0
    vx = vx - 0.5 * len(vx) * (np.roll(p, -1, 1) - np.roll(p, 1, 1))
    return vx, vy - 0.5 * len(vx) * (np.roll(p, -1, 0) - np.roll(p, 1, 0))


def advect(f, vx, vy):
    """Carried along, and interpolated between cells; the way goes around the torus."""
    rows, columns = f.shape
    ys, xs = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    from_x, from_y = (xs - vx).ravel(), (ys - vy).ravel()
    left, top = np.floor(from_x).astype(int), np.floor(from_y).astype(int)
    right_weight, bottom_weight = from_x - left, from_y - top
    left, right = left % columns, (left + 1) % columns
    top, bottom = top % rows, (top + 1) % rows
    upper = (1 - right_weight) * f[top, left] + right_weight * f[top, right]
    lower = (1 - right_weight) * f[bottom, left] + right_weight * f[bottom, right]
    return np.reshape((1 - bottom_weight) * upper + bottom_weight * lower, (rows, columns))


def simulated(params):
    vx, vy = np.reshape(params, (2, *SMOKE.shape))
    smoke = SMOKE
    for _ in range(5):
        moved_x, moved_y = advect(vx, vx, vy), advect(vy, vx, vy)
        vx, vy = project(moved_x, moved_y)
        smoke = advect(smoke, vx, vy)
    return np.mean((WANTED - smoke) ** 2)


SIZE = 12
_ROW, _COLUMN = np.indices((SIZE, SIZE)) - SIZE / 2
SMOKE, WANTED = np.exp(-(_COLUMN**2) / 8), np.exp(-(_ROW**2 + _COLUMN**2) / 8)
FLOW = 0.3 * RNG.normal(size=2 * SIZE * SIZE)

MODELS = {
    "a neural network": (posterior_of_a_network, LAYERS),
    "a mixture of Gaussians": (mixture, MIXTURE),
    "a hidden Markov model": (evidence, HMM),
    "a Gaussian process": (marginal_likelihood, np.array([0.1, -2.0, 0.3])),
    "a variational autoencoder": (elbow, VAE),
    "a fluid": (simulated, FLOW),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_is_that_of_differences(name):
    f, params = MODELS[name]
    value, gradient = sg.value_and_grad(f)(params)
    assert value == pytest.approx(f(params), rel=1e-12)
    for _ in range(2):
        direction = like(params)
        assert inner(gradient, direction) == pytest.approx(slope(f, params, direction), rel=1e-6, abs=1e-8)


def test_a_mixture_is_fitted_by_scipy():
    shapes = {k: v.shape for k, v in MIXTURE.items()}
    ends = np.cumsum([v.size for v in MIXTURE.values()])[:-1]

    def nested(flat):
        return {k: p.reshape(s) for (k, s), p in zip(shapes.items(), np.split(flat, ends), strict=True)}

    objective = sg.value_and_grad(lambda flat: -mixture(nested(flat)))
    start = np.concatenate([v.ravel() for v in MIXTURE.values()])
    found = optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 60})
    assert found.fun < objective(start)[0] - 10
    assert np.abs(found.jac).max() < 0.5


def test_expected_states_are_the_gradient_of_the_evidence():
    """In the gradient by the emissions each symbol has its expected count, less what normalises a row."""
    _, _, by_emission = sg.grad(evidence)(HMM)
    np.testing.assert_allclose(by_emission.sum(axis=1), 0, atol=1e-12)


def test_a_gaussian_process_is_fitted_with_its_hessian():
    params = np.array([0.1, -2.0, 0.3])
    gradient, hessian = sg.grad(marginal_likelihood), sg.hessian(marginal_likelihood)
    found = optimize.minimize(
        lambda p: -marginal_likelihood(p),
        params,
        jac=lambda p: -gradient(p),
        hess=lambda p: -hessian(p),
        method="trust-exact",
    )
    assert np.abs(gradient(found.x)).max() < 1e-3
    assert np.all(np.linalg.eigvalsh(-hessian(found.x)) > 0)
