"""What searches find is held; other results are other traces."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedOperation

optimize = pytest.importorskip("scipy.optimize")
ndimage = pytest.importorskip("scipy.ndimage")
signal = pytest.importorskip("scipy.signal")
spatial = pytest.importorskip("scipy.spatial")
RNG = np.random.default_rng(5)


def matched(x, y):
    cost = (x[:, None] - y[None, :]) ** 2
    rows, columns = optimize.linear_sum_assignment(cost)
    return cost[rows, columns].sum()


def of_peaks(x):
    places, found = signal.find_peaks(x, height=0.1, distance=2)
    return np.sum(x[places] ** 2) + np.sum(found["peak_heights"]) * len(places)


def of_regions(x):
    labels, count = ndimage.label(x > 0.4)
    return sum(np.mean(x[labels == k]) ** 2 for k in range(1, count + 1))


@pytest.mark.parametrize("function", [of_peaks, of_regions, lambda x: matched(x, np.linspace(0.0, 2.0, 12))])
def test_at_values_of_other_results(function):
    gradient, step = sg.grad(function), 1e-6 * np.eye(12)
    for x in RNG.uniform(0, 1, (4, 12)):
        slopes = [(function(x + h) - function(x - h)) / 2e-6 for h in step]
        np.testing.assert_allclose(gradient(x), slopes, rtol=1e-6, atol=1e-7)


TREE = spatial.cKDTree(RNG.uniform(size=(6, 2)))


def aligned(x):
    turned = np.array([[np.cos(x[0]), -np.sin(x[0])], [np.sin(x[0]), np.cos(x[0])]])
    moved = TREE.data @ turned + x[1:3] + x[3:9].reshape(3, 2).mean(0)
    apart, which = TREE.query(moved)
    return np.sum((moved - TREE.data[which]) ** 2) + np.sum(apart)


def several_neighbours(x):
    return np.sum(spatial.KDTree(x.reshape(6, 2)).query(TREE.data, k=2, p=1)[0] ** 2)


def of_moved_points(x):
    tree = spatial.KDTree(x.reshape(6, 2))
    return tree.query([0.4, 0.4])[0] + np.sum(spatial.KDTree(TREE.data).query(x.reshape(6, 2))[0])


@pytest.mark.parametrize("function", [aligned, several_neighbours, of_moved_points])
def test_nearest_neighbours(function):
    gradient, step = sg.value_and_grad(function), 1e-6 * np.eye(12)
    for x in RNG.uniform(0, 1, (4, 12)):
        value, found = gradient(x)
        np.testing.assert_allclose(value, function(x), rtol=1e-12)
        slopes = [(function(x + h) - function(x - h)) / 2e-6 for h in step]
        np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-7)


def test_what_has_no_rule_names_the_line():
    with pytest.raises(UnsupportedOperation, match=r"np\.where"):
        sg.grad(lambda x: TREE.query(x, distance_upper_bound=0.1)[0].sum())(RNG.uniform(size=(3, 2)))
    with pytest.raises(UnsupportedOperation, match=r"KDTree\.count_neighbors"):
        sg.grad(lambda x: spatial.KDTree(x).count_neighbors(TREE, 0.1) * x[0, 0])(RNG.uniform(size=(3, 2)))
    with pytest.raises(UnsupportedOperation, match="pass their places") as refused:
        sg.grad(lambda x: x[signal.find_peaks(x, prominence=0.1)[0]].sum())(RNG.uniform(size=9))
    assert __file__ in str(refused.value)
    with pytest.raises(UnsupportedOperation, match=r"vmap"):
        sg.vmap(sg.grad(of_peaks))(RNG.uniform(size=(2, 9)))
