"""What %%grad shows comes from one trace of the function; a second one, of a short function, knows the names in it."""

from __future__ import annotations

import pytest

import symgrad
from symgrad.compiled import CompiledFunction
from symgrad.transforms import gradient, linearised

CELL = "def f(x):\n    y = np.sin(x)\n    return np.sum(y * x)\n"


@pytest.fixture
def counted(monkeypatch):
    """How often a function was traced, and differentiated."""
    counts = {"traces": 0, "derivations": 0}

    def count(owner, name, what):
        original = getattr(owner, name)

        def counting(*args, **kwargs):
            counts[what] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    count(CompiledFunction, "_new_entry", "traces")
    count(gradient, "pulled_back", "derivations")
    count(linearised, "chosen", "derivations")
    return counts


@pytest.mark.parametrize("shown", ["", "--annotate", "--quiet --annotate", "--panel", "--annotate --panel --steps"])
@pytest.mark.parametrize("derivative", ["", "--order 2", "--hessian", "--jacobian", "--mode forward --jacobian"])
def test_one_trace_and_one_derivation_know_the_lines_and_names(run, counted, derivative, shown):
    if "--panel" in shown:
        pytest.importorskip("ipywidgets")
        if "hessian" in derivative or "jacobian" in derivative:
            pytest.skip("the panel is for gradients")
    run(f'%%grad {derivative} {shown} --at "x=[1.0, 2.0]"\n' + CELL)
    traces = 1 if shown else 2  # calls are served from one that keeps no lines
    derivations = traces * (2 if "order" in derivative and "--panel" in shown else 1)
    if "order" in derivative and "--panel" not in shown:  # the Hessian, which the shape of the function decides on
        traces += 1
    assert counted == {"traces": traces, "derivations": derivations}


def test_what_names_nothing_is_traced_once_and_a_loop_again_for_its_names(run, counted):
    run('%%grad --at "x=2."\ndef f(x):\n    return x * np.sin(x)\n')
    assert counted == {"traces": 1, "derivations": 1}
    loop = "    for _ in range(40):\n        x = x - (x * x - a) / (2 * x)\n"
    shown = run(f'%%grad --at "a=2."\ndef root(a):\n    x = a\n{loop}    return x\n')
    assert "λₜ₊₁(1 − a / xₜ²)   (t = 39, …, 0)" in shown.outputs[0].data["text/plain"]
    assert counted == {"traces": 3, "derivations": 3}


def test_what_is_asked_for_after_a_call_is_read_from_its_trace(counted):
    import numpy as np

    x = np.array([1.0, 2.0, 3.0])
    derived = symgrad.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))
    derived(x)
    derived.explain(x)
    derived.latex(x)
    derived.export("python", x)
    derived.equals(derived, x)
    assert counted == {"traces": 1, "derivations": 1}
