"""Index sets through programs: every entry that moves is in the pattern, and known patterns are met exactly."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.differentiation.structure.dependency import dependency
from symgrad.tracing.trace import Trace, as_node
from symgrad.tracing.tracer import Tracer

X = np.array([0.3, -1.2, 0.7, 2.0, -0.4, 1.1])
M = np.arange(1.0, 13.0).reshape(2, 6)
INDEX = np.array([[0, 5], [-1, 2]])


def pattern(function, x):
    """The dependency of a traced function as a dense array of truth values."""
    with Trace() as trace:
        source = trace.new_input("x", x)
        output = as_node(function(Tracer(source)))
        return dependency(output, source, trace.value_of).toarray()


FUNCTIONS = {
    "elementwise": lambda x: np.sin(x) * x + 1,
    "broadcast": lambda x: x[:, None] * x,
    "matrix product": lambda x: M @ x,
    "outer": np.outer,
    "slices": lambda x: x[1:] - x[:-1] + x[::-1][1:],
    "reshape and sum": lambda x: x.reshape(3, 2).sum(axis=1),
    "gather": lambda x: x[INDEX] ** 2,
    "concatenate": lambda x: np.concatenate([x[:2], 3 * x[4:]]),
    "max": lambda x: x.reshape(2, 3).max(axis=0),
    "prod": lambda x: x.reshape(3, 2).prod(axis=1),
    "cumsum": np.cumsum,
    "cumsum backwards": lambda x: np.cumsum(x[::-1])[::-1],
    "diagonal": lambda x: np.diagonal(x.reshape(2, 3)[:, :2]) * 2,
    "diag": lambda x: np.diag(x[:3]) @ x.reshape(3, 2),
    "inverse": lambda x: np.linalg.inv(x[:4].reshape(2, 2) + 3 * np.eye(2)),
    "where": lambda x: np.where(x > 0, x, x[::-1]),
    "gradient with scatter": lambda x: sg.grad(lambda y: np.sum(y[INDEX] ** 3))(x),
    "nothing": lambda x: np.ones(3) + 0 * np.floor(x[:3]),
}


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "outer"])
def test_what_moves_is_in_the_pattern(name):
    function = FUNCTIONS[name]
    found = pattern(function, X)
    moved = np.zeros_like(found)
    for k in range(len(X)):
        for step in (1e-3, 0.9, -0.7):
            shifted = X.copy()
            shifted[k] += step
            moved[:, k] |= np.ravel(np.asarray(function(shifted)) != np.asarray(function(X)))
    assert not (moved & ~found).any()


@pytest.mark.parametrize("name", ["elementwise", "slices", "reshape and sum", "gather", "max", "cumsum", "diagonal"])
def test_nothing_else_is(name):
    function = FUNCTIONS[name]
    jacobian = np.zeros_like(pattern(function, X))
    rng = np.random.default_rng(3)
    for _ in range(4):
        x = rng.normal(size=X.shape)
        for k in range(len(x)):
            shifted = x.copy()
            shifted[k] += 5.0
            jacobian[:, k] |= np.ravel(np.asarray(function(shifted)) != np.asarray(function(x)))
    np.testing.assert_array_equal(pattern(function, X), jacobian)
