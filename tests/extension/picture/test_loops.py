"""Which operations are boxed as one loop: those that the kernel computes together."""

from __future__ import annotations

import numpy as np
import pytest
from symgrad_notebook.picture import picture

import symgrad


def chain(x):
    return np.sum(np.exp(np.sin(x) * x) @ np.ones((len(x), 2)))


def loops(shown):
    """The number of the loop that each operation is in."""
    return {b.rows[0].split(" =")[0]: b.loop for b in shown.diagram.boxes if b.kind == "operation"}


@pytest.mark.needs("native")
def test_compiled():
    gradient = symgrad.grad(chain, backend="native")
    shown = picture(gradient, (np.ones(5),), {})
    kernel = gradient.kernel(np.ones(5))
    assert kernel.backend == "native"
    assert shown.diagram.subject.loops.serves
    assert "one loop of compiled C" in shown.svg
    inside = [step for step in kernel.explain().steps if step.backend == "native" and "," in step.what]
    assert len({k for k in loops(shown).values() if k}) == len(inside)


def test_planned():
    shown = picture(symgrad.grad(chain), (np.ones(5),), {})
    assert not shown.diagram.subject.loops.serves
    assert "stroke-dasharray" in shown.svg
    assert "once the kernel is compiled" in str(shown)
    assert len(set(loops(shown).values())) > 1


def test_blocks():
    gradient = symgrad.grad(lambda x: np.sum(np.exp(np.sin(x) * x)))
    x = np.linspace(0, 1, 300_000)
    shown = picture(gradient, (x,), {})
    assert gradient.kernel(x).backend == "numpy"
    assert "one pass over blocks" in str(shown)
    assert shown.diagram.subject.loops.serves
    assert 1 in loops(shown).values()


def test_numpy_runs_one_operation_at_a_time():
    shown = picture(symgrad.grad(chain, backend="numpy"), (np.ones(5),), {})
    assert not any(loops(shown).values())
    assert "calls NumPy for each operation" in shown.svg


def test_both_sides_of_a_loop_bear_its_number():
    shown = picture(symgrad.grad(lambda x: np.sum(np.sin(x) * np.exp(x))), (np.ones(5),), {})
    boxed = {(b.side, b.loop) for b in shown.diagram.boxes if b.loop}
    assert boxed >= {(0, 1), (1, 1)}


def test_constants_are_folded_first():
    gradient = symgrad.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))
    shown = picture(gradient, (np.ones(5),), {})
    outside = [b.rows[0] for b in shown.diagram.boxes if b.kind == "operation" and not b.loop]
    assert outside == ["v1 = 1 for all [5]"]
