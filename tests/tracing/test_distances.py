"""Distances of scipy between traced vectors: scipy's value, and the derivative by differences."""

import numpy as np
import pytest
import scipy.spatial.distance as distance

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.testing import check_grads
from symgrad.tracing.distances import METRICS

RNG = np.random.default_rng(2)
A, B = RNG.uniform(0.2, 2.0, (4, 3)), RNG.uniform(0.2, 2.0, (3, 3))
W = np.array([0.5, 2.0, 1.0])
VI = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
#: metric -> other ways to ask for it between all pairs, and what it takes between two vectors
GIVEN = {
    "minkowski": [{"p": 3}, {"p": 1.5, "w": W}, {"p": np.inf}],
    "seuclidean": [{"V": W}],
    "mahalanobis": [{"VI": VI}],
    "jensenshannon": [{"base": 2.0}],
    **{name: [{"w": W}] for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation")},
    **{name: [{"w": W}] for name in ("canberra", "braycurtis")},
}


def check(fn, *args):
    np.testing.assert_allclose(sg.symbolic(fn, backend="numpy")(*args), fn(*args), rtol=1e-13, atol=1e-15)
    check_grads(fn, args)


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name):
    for kwargs in ({}, *(GIVEN[name] if name != "jensenshannon" else [])):
        check(lambda a, b, k=kwargs: distance.cdist(a, b, name, **k), A, B)
    check(lambda a: distance.pdist(a, metric=name), A)
    kwargs = GIVEN[name][0]
    check(lambda a, b: getattr(distance, name)(a, b, **kwargs), A[0], B[0])


def test_weights_are_differentiated_by_too():
    check(lambda a, w: distance.cdist(a, B, "euclidean", w=w), A, W)
    check(lambda a, v: distance.mahalanobis(a, B[0], v @ v.T), A[0], VI)


def test_a_metric_of_ones_own():
    check(lambda a, b: distance.cdist(a, b, lambda x, y: np.sum((x - y) ** 4)), A, B)


def test_square_forms():
    check(lambda a: distance.squareform(distance.pdist(a)) ** 2, A)
    check(lambda a: distance.squareform(a + a.T - 2 * np.diag(np.diag(a))), RNG.normal(size=(4, 4)))


def test_equal_rows_are_at_a_flat_place():
    for name in ("euclidean", "mahalanobis", "canberra", "chebyshev"):
        gradient = sg.grad(lambda a, n=name: np.sum(distance.cdist(a, a, n, **({"VI": VI} if n[0] == "m" else {}))))(A)
        assert np.all(np.isfinite(gradient))


def test_other_metrics_are_refused_by_name():
    with pytest.raises(UnsupportedOperation, match="metric='jaccard'"):
        sg.grad(lambda a: np.sum(distance.cdist(a, a, "jaccard")))(A)
