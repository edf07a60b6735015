"""No step from the function to what is taken away grows faster than the program: work is counted, not timed."""

from __future__ import annotations

import numpy as np
import pytest
from growing import chain, written
from symgrad_notebook.picture import picture
from work import calls

import symgrad as sg
from symgrad.exporters import FORMATS

X = np.array([0.5, 1.5, 2.0])
DEPTHS = (16, 32, 64)
#: formats that say what another one says: Graphviz draws dot, the formulas are those of LaTeX
RELATED = {"svg", "markdown", "mathml", "sympy"}


def derived(fn):
    """The gradient, traced and derived: what follows is counted alone."""
    gradient = sg.grad(fn)
    gradient.program(X)
    return gradient


STAGES = {
    "trace": lambda fn: lambda: sg.trace(fn, X),
    "reverse": lambda fn: lambda: sg.grad(fn).program(X),
    "forward": lambda fn: lambda: sg.grad(fn, mode="forward").program(X),
    "second order": lambda fn: lambda: sg.hessian(fn).program(X),
    "kernel": lambda fn: (lambda gradient: lambda: gradient(X))(derived(fn)),
    "steps": lambda fn: (lambda gradient: lambda: str(gradient.steps(X)))(derived(fn)),
    "picture": lambda fn: (lambda gradient: lambda: picture(gradient, (X,), {}).by("stretch").svg)(derived(fn)),
}


def grows_with_the_program(stage, family):
    stage(family(3))()  # what is loaded once is not counted
    counts = [calls(stage(family(depth))) for depth in DEPTHS]
    assert counts[0] > 0
    assert counts[2] < 2.5 * counts[1] + 1000
    assert counts[2] < 5.5 * counts[0] + 1000


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_deriving_and_showing(stage):
    grows_with_the_program(stage, chain)


def test_deriving_what_is_written_in_place():
    grows_with_the_program(STAGES["reverse"], written)


@pytest.mark.parametrize("format", sorted(set(FORMATS) - RELATED))
def test_exports(format):
    grows_with_the_program(lambda fn: (lambda g: lambda: g.export(format, X))(derived(fn)), chain)


@pytest.mark.parametrize("format", sorted(set(FORMATS) - RELATED))
def test_exports_of_functions_with_long_names(format):
    """Searches for words took the square of a name's length: minutes for these, in no call that could be counted."""
    function, first, second = ("f" * 100_000, "a" * 100_000, "b" * 100_000)
    made = {"np": np}
    exec(f"def {function}({first}, {second}):\n    return np.sum(np.sin({first}) * {second})", made)
    text = sg.grad(made[function]).export(format, X, X)
    assert not isinstance(text, str) or len(text) < 20 * len(function)


def test_the_count_sees_what_grows_faster():
    def quadratic(n):
        return lambda: [abs(i - k) for i in range(n) for k in range(n)]

    assert calls(quadratic(20)) > 3.5 * calls(quadratic(10))
