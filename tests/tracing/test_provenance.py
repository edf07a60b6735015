"""Provenance: each node belongs to the line that computed it, or whose derivative it is."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import symgrad as sg


def helper(u):
    return np.exp(u)


def f(x, A):
    y = np.sin(x)
    z = helper(A @ y)
    return np.sum(z * y)


START = inspect.getsourcelines(f)[1]
X, A = np.array([0.5, 1.0]), np.eye(2)


def by_line(found, order):
    """What was computed for each line of ``f``, at this order."""
    lines: dict[int, list[str]] = {}
    for n in found.program.bindings:
        own = [s for s in found.stack(n) if s.file == __file__ and s.number >= START]
        if own and found.order(n) == order:
            lines.setdefault(own[-1].number - START, []).append(n.primitive.name)
    return lines


def test_a_node_belongs_to_the_line_that_computes_it():
    found = sg.symbolic(f).provenance(X, A)
    assert by_line(found, 0) == {1: ["sin"], 2: ["einsum", "exp"], 3: ["multiply", "einsum"]}
    assert by_line(found, 1) == {}


def test_the_stack_goes_from_the_inner_to_the_outer_line():
    found = sg.symbolic(f).provenance(X, A)
    (exp,) = [n for n in found.program.bindings if n.primitive.name == "exp"]
    inner, outer = found.stack(exp)
    assert (inner.text, outer.text) == ("return np.exp(u)", "z = helper(A @ y)")
    assert found.line(exp) == inner


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_what_a_sweep_makes_belongs_to_the_line_that_is_differentiated(mode):
    found = sg.grad(f, mode=mode).provenance(X, A)
    added = by_line(found, 1)
    assert "cos" in added[1]
    assert added[2]
    assert set(added) <= {1, 2, 3}
    assert "sin" in by_line(found, 0)[1]


def test_structured_sweeps_and_second_orders_count_further():
    found = sg.hessian(f).provenance(X, A)
    orders = {found.order(n) for n in found.program.bindings if found.stack(n)}
    assert orders == {0, 1, 2}


def test_what_passes_make_stays_with_its_line():
    derived = sg.grad(f)
    found = derived.provenance(X, A)
    from symgrad.kernels.kernel import optimized

    passed = optimized(found.program)
    unknown = [n for n in passed.bindings if not found.stack(n)]
    before = [n for n in found.program.bindings if not found.stack(n)]
    assert len(unknown) <= len(before)
    assert set(passed.nodes) != set(found.program.nodes)


def test_requests_tell_what_was_shared():
    def g(x):
        a = np.sin(x)
        b = np.sin(x)
        return a * b

    found = sg.grad(g).provenance(1.0)
    (sine,) = [n for n in found.program.bindings if n.primitive.name == "sin"]
    first = inspect.getsourcelines(g)[1]
    assert {line.number - first: count for (line, _), count in found.requests(sine).items()} == {1: 1, 2: 1}


def test_lifted_nodes_keep_their_lines():
    mapped = sg.vmap(lambda x: helper(x) * 2)
    found = sg.symbolic(mapped).provenance(np.ones((3, 2)))
    (exp,) = [n for n in found.program.bindings if n.primitive.name == "exp"]
    assert found.line(exp).text == "return np.exp(u)"


def test_a_long_derivation_is_recorded_and_not_read_from_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(tmp_path))

    def long(x):
        for _ in range(500):
            x = np.sin(x) * x
        return x

    for _ in range(2):
        found = sg.grad(long).provenance(1.0)
        known = [n for n in found.program.bindings if found.stack(n)]
        assert len(known) > 0.9 * len(found.program.bindings)


def test_recording_leaves_calls_and_traces_alone():
    derived = sg.grad(f)
    derived(X, A)
    kept = derived._compiled.latest
    derived.provenance(X, A)
    assert derived._compiled.latest is kept
    assert not kept.program.graph.is_recorded
