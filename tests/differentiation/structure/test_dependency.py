"""Index sets through programs: every entry that moves is in the pattern, and known patterns are met exactly."""

import numpy as np
import pytest
from looping import heat, places

import symgrad as sg
from symgrad.differentiation.structure.dependency import dependency
from symgrad.passes.unrolling import unrolled
from symgrad.program.program import Program
from symgrad.tracing.trace import Trace, as_node
from symgrad.tracing.tracer import Tracer
from symgrad.transforms.loops import fori_loop, scan

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
    "loop": heat,
    "loop of running sums": lambda x: scan(lambda c, y: (c + np.sin(y), c * y), 0.0, x)[1],
    "loop backwards": lambda x: scan(lambda c, y: (c + y[0], c * y[1]), 1.0, x.reshape(3, 2), reverse=True)[1],
    "loop with places": places,
    "loop with a place that moves": lambda x: fori_loop(0, 3, lambda i, c: c * x[i + 1], x[:2]),
    "loop in a loop": lambda x: fori_loop(0, 2, lambda i, c: fori_loop(0, 2, lambda j, d: np.roll(d, 1) * d, c), x),
    "loop of no steps": lambda x: fori_loop(2, 2, lambda i, c: np.sum(c) + c, x),
    "gradient of a loop": sg.grad(lambda x: np.sum(heat(x) ** 2)),
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


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if "loop" in n])
def test_a_loop_has_the_pattern_of_its_steps(name):
    with Trace() as trace:
        source = trace.new_input("x", X)
        output = as_node(FUNCTIONS[name](Tracer(source)))
        (straight,) = unrolled(Program([source], [output], ["x"], trace.graph)).outputs
        found, wanted = (dependency(o, source, trace.value_of).toarray() for o in (output, straight))
    np.testing.assert_array_equal(found, wanted)


def test_a_loop_whose_steps_pick_what_their_values_say_depends_on_everything():
    def picks(x):
        return scan(lambda c, _: (c[np.argsort(c)], None), x, None, 2)[0]

    assert pattern(picks, X).all()


def test_a_loop_of_many_steps_is_no_further_followed_where_nothing_changes():
    found = pattern(lambda x: fori_loop(0, 9_000, lambda i, c: 0.5 * c + np.roll(c, 1), x), X)
    assert found.all()
    assert not pattern(lambda x: fori_loop(0, 9_000, lambda i, c: np.sin(c), x), X)[~np.eye(6, dtype=bool)].any()


def test_a_sparse_jacobian_through_a_loop():
    u = np.linspace(0, 1, 200)
    found = sg.jacobian(heat, sparse=True)(u)
    assert found.nnz == 1800
    np.testing.assert_allclose(found.toarray(), sg.jacobian(heat)(u), rtol=1e-12, atol=1e-14)
