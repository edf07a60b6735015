"""Where terms were lost into arrays, a few products give the sparse result; its entries are those of the dense one."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.differentiation.structure import rules
from symgrad.finite_differences import differences


@pytest.fixture(autouse=True)
def no_triangles(monkeypatch):
    """Running sums as arrays, so that the terms behind them hold no structure."""
    monkeypatch.setattr(rules, "_MAX_TRIANGLE", 0)


def running(x):
    return np.cumsum(np.sin(x.reshape(-1, 4)), axis=1).ravel()


def energy(x):
    return np.sum(np.cumsum(x.reshape(-1, 4) ** 2, axis=1) * np.sin(x.reshape(-1, 4)))


def tall(x):
    return (np.cumsum(x.reshape(-1, 4), axis=1)[:, :, None] * np.arange(1.0, 9.0)).ravel()


def entries(function):
    """How many entries a sparse derivative computes, over all of its terms."""
    blocks = [block for block, _ in function._compiled.latest.assembled.values()]
    return sum(int(np.prod(p.grid)) for b in blocks for p in b.pieces)


@pytest.mark.parametrize("function", [running, tall])
def test_jacobian(function):
    x = np.random.default_rng(0).normal(size=160)
    sparse = sg.jacobian(function, sparse=True)
    found = sparse(x).toarray()
    direction = np.random.default_rng(1).normal(size=x.shape)
    values, _, _ = differences(lambda v: (function(v),), [x], [[direction]])
    np.testing.assert_allclose(found @ direction, np.asarray(values[0], float), atol=1e-8)
    np.testing.assert_allclose(found, sg.jacobian(function)(x), atol=1e-14)
    assert entries(sparse) < found.size / 20


def test_hessian():
    x = np.random.default_rng(0).normal(size=160)
    sparse = sg.hessian(energy, sparse=True)
    found = sparse(x).toarray()
    np.testing.assert_allclose(found, sg.hessian(energy)(x), atol=1e-12)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    assert entries(sparse) < found.size / 20


def test_an_index_that_changes_is_derived_anew():
    def picked(x, index):
        return np.cumsum(x.reshape(-1, 4), axis=1).ravel()[index]

    x = np.random.default_rng(0).normal(size=160)
    sparse, dense = sg.jacobian(picked, sparse=True), sg.jacobian(picked)
    for index in (np.arange(0, 160, 2), np.arange(159, 0, -2)):
        np.testing.assert_allclose(sparse(x, index).toarray(), dense(x, index), atol=1e-14)
