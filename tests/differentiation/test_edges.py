"""Edges are found along what values depend on: past the nodes between, around what a rule is declared for."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import symgrad as sg
from symgrad.differentiation.edges import active_edges, edges_of, moving
from symgrad.primitives import functions as f
from symgrad.primitives.identity import stop_gradient
from symgrad.primitives.primitive import input_node
from symgrad.program.node import Graph, ancestors

SOURCE = Path(sg.__file__).parent
F64 = np.dtype(np.float64)
wave = sg.custom(jvp=lambda p, t, out: t[0] * np.cos(p[0]))(lambda x: np.sin(x))


@pytest.fixture
def x():
    with Graph():
        yield input_node("x", (3,), F64)


def test_an_edge_past_the_nodes_between(x):
    below = f.add(1, f.exp(f.negative(x)))
    logistic = f.divide(1, below)
    active = active_edges([logistic], [x])
    assert list(active) == [x, below.operands[1].operands[0], logistic]
    assert [source for source, _ in active[logistic]] == [below.operands[1].operands[0]]
    assert active[x] == ()


def test_what_no_path_leads_to_or_from_is_not_active(x):
    y = input_node("y", (3,), F64)
    kept, beside = f.sin(x), f.cos(y)
    f.exp(x)  # which no output reads
    active = active_edges([f.multiply(f.multiply(kept, beside), stop_gradient(x))], [x])
    assert beside not in active
    assert {n.primitive.name for n in active} == {"input", "sin", "multiply"}


def test_paths_begin_at_the_last_of_the_sources(x):
    middle = f.sin(x)
    active = active_edges([f.exp(middle)], [x, middle])
    assert list(active) == [middle, active_edges([f.exp(middle)], [middle]).popitem()[0]]


def test_what_moves_need_not_reach_an_output(x):
    below = f.add(1, f.exp(x))
    logistic = f.divide(1, below)
    assert moving(ancestors([logistic]), [x]) >= {x, below, logistic}


def test_every_sweep_gets_its_edges_from_one_place():
    """Dependencies are what an operation declares; what walks them asks ``edges_of``."""
    asking = {
        str(path.relative_to(SOURCE))
        for folder in ("differentiation", "transforms", "closed_form", "solvers", "kernels", "passes", "exporters")
        for path in (SOURCE / folder).rglob("*.py")
        if re.search(r"\.dependencies\(", path.read_text(encoding="utf-8"))
    }
    assert asking == {"differentiation/edges.py"}


def test_an_edge_from_a_later_node_is_found(x, monkeypatch):
    node, later = f.sin(x), f.cos(x)
    monkeypatch.setattr(type(node.primitive), "dependencies", lambda self, n: [(later, None)] if n is node else ())
    assert edges_of(node)[0][0] is later
    with pytest.raises(AssertionError, match="later node"):
        active_edges([node], [x])


#: functions with a rule past the nodes between, and their second derivatives
SECOND = {
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), lambda s, t: s * (1 - s) * (1 - 2 * s)),
    "square of a size": (lambda x: np.abs(x) ** 2, lambda s, t: 2 + 0 * s),
    "one by cosh": (lambda x: 1 / np.cosh(x), lambda s, t: (1 - 2 / np.cosh(t) ** 2) / np.cosh(t)),
}


@pytest.mark.parametrize("name", SECOND)
def test_other_sweeps_beside_a_custom_function(name):
    """The Laplacian, Taylor series, structured and sparse Hessians and loops walk the same edges."""
    function, curvature = SECOND[name]
    x = np.array([0.5, -1.2, 0.3])
    second = curvature(1 / (1 + np.exp(-x)), x) - np.sin(x)

    def both(x):
        return np.sum(function(x)) + np.sum(wave(x))

    np.testing.assert_allclose(sg.laplacian(both)(x), np.sum(second), rtol=1e-12)
    np.testing.assert_allclose(sg.hessian(both)(x), np.diag(second), atol=1e-12)
    np.testing.assert_allclose(sg.hessian(both, sparse=True)(x).toarray(), np.diag(second), atol=1e-12)
    step = np.array([1.0, 0.0, 0.0])
    series = sg.jet(both, (x,), ([step, 0 * step],))[1]
    np.testing.assert_allclose(series[1], second[0], rtol=1e-12)
    looped = sg.grad(lambda x: sg.fori_loop(0, 3, lambda _, c: c + function(x) + wave(x), 0 * x).sum())
    np.testing.assert_allclose(looped(x), 3 * sg.grad(both)(x), rtol=1e-12)
