"""Programs that decompose matrices: how a graph's connectivity depends on its edges, and a loss by principal axes."""

import numpy as np

import symgrad as sg


def connectivity(weights):
    """The second smallest eigenvalue of the Laplacian of a graph with these weights of edges."""
    return np.linalg.eigvalsh(np.diag(np.sum(weights, axis=1)) - weights)[1]


def test_connectivity_of_a_graph():
    """By an edge it changes as the square of the difference of the Fiedler vector at its ends."""
    weights = np.random.default_rng(2).uniform(0.5, 1.5, (6, 6))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    step = np.zeros((6, 6))
    step[1, 4] = step[4, 1] = 1e-6
    slope = np.sum(sg.grad(connectivity)(weights) * step) / 1e-6
    wanted = (connectivity(weights + step) - connectivity(weights - step)) / 2e-6
    np.testing.assert_allclose(slope, wanted, rtol=1e-7)


def test_loss_of_principal_axes(check_rule):
    def loss(points):
        centred = points - np.mean(points, axis=0)
        u, s, vh = np.linalg.svd(centred, full_matrices=False)
        return np.mean((centred - (u[:, :2] * s[:2]) @ vh[:2]) ** 2)

    points = np.random.default_rng(3).standard_normal((7, 4)) * [5.0, 3.0, 1.0, 0.4]
    check_rule(loss, [points])
