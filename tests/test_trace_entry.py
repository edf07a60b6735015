"""Trace cache entries: the value of the function beside its derivative, and what goes on in a trace that has ended."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.kernels import kernel
from symgrad.kernels.kernel import lower
from symgrad.passes.unrolling import has_loops
from symgrad.program.interpret import interpreted
from symgrad.tracing.trace import Purpose

X = np.array([1.0, 2.0, 3.0])


def f(x):
    return np.sum(np.sin(x) * x[::-1])


def value_of(derived, *args, **kwargs):
    """What the value in the trace of a derivative gives for these arguments."""
    entry, arrays = derived._served(args, kwargs)
    return entry.value.filled(interpreted(entry.value.program, arrays))


@pytest.mark.parametrize("derive", [sg.grad, sg.jacobian, sg.hessian, sg.value_and_grad, sg.symbolic])
def test_the_value_is_that_of_the_function(derive):
    np.testing.assert_array_equal(value_of(derive(f), X), f(X))


def test_of_derivatives_of_derivatives_it_is_the_innermost_function_that_counts():
    np.testing.assert_array_equal(value_of(sg.grad(sg.grad(lambda x: np.sum(x**3))), X), np.sum(X**3))
    np.testing.assert_array_equal(value_of(sg.jacobian(sg.grad(f)), X), f(X))


def test_functions_that_are_called_on_the_way_do_not_count():
    def slope(x):
        return sg.grad(f)(x) * x

    np.testing.assert_allclose(value_of(sg.jacobian(slope), X), sg.grad(f)(X) * X)


def test_of_many_examples_there_is_a_value_each():
    rows = np.stack([X, 2 * X])
    for derived in (sg.vmap(sg.grad(f)), sg.grad(sg.vmap(f)), sg.vmap(f)):
        np.testing.assert_allclose(value_of(derived, rows), [f(row) for row in rows])
    np.testing.assert_allclose(value_of(sg.vmap(sg.vmap(sg.grad(np.sin))), rows), np.sin(rows))


def test_with_aux_sens_and_weights():
    np.testing.assert_array_equal(value_of(sg.grad(lambda x: (f(x), x), has_aux=True), X)[1], X)
    gradient = sg.GradOperation(sens_param=True)(lambda x: np.sin(x) * 2)
    np.testing.assert_array_equal(value_of(gradient, X, X), np.sin(X) * 2)
    net = nn.Dense(3, 2)
    np.testing.assert_allclose(value_of(sg.grad(net, None, net.trainable_params()), X[None]), np.asarray(net(X[None])))


def test_an_entry_holds_no_array_of_its_call():
    x = np.arange(1000.0)
    gone = weakref.ref(x)
    derived = sg.hessian(lambda x: np.sum(x * x) * 2)
    entry = derived._entry((x,), {})
    _ = entry.value
    derived.explain(x)
    assert not entry.trace.values
    del x
    gc.collect()
    assert gone() is None


def test_a_trace_that_is_recorded_serves_calls_and_is_made_once():
    def square(x):
        y = x * x
        return np.sum(y)

    derived = sg.grad(square)
    entry, _ = derived._recorded((X,), {})
    assert [b.name for b in entry.trace.bindings] == ["y"]
    assert derived._recorded((X,), {})[0] is entry
    assert derived._entry((X,), {}) is entry
    assert derived._recorded(("n",), {})[0].is_recorded


@pytest.mark.parametrize("steps", [3, 9, 40])
def test_a_trace_for_formulas_has_loops_and_computes_the_same(steps):
    def repeated(x):
        y = x
        for _ in range(steps):
            z = np.sin(y) * 0.5 + x
            y = np.tanh(z) + z
        return np.sum(y)

    derived = sg.value_and_grad(repeated)
    lines, _ = derived._recorded((X,), {})
    formulas, _ = derived._recorded((X,), {}, Purpose.FORMULAS)
    assert not has_loops(lines.program)
    assert has_loops(formulas.program)
    assert formulas is not lines
    assert derived._recorded((X,), {}, Purpose.FORMULAS)[0] is formulas
    assert derived._entry((X,), {}) is not formulas  # it is read, not run
    value, slope = lower(lines.program, "numpy")(X)
    other, told = lower(formulas.program, "numpy")(X)
    assert value.tobytes() == other.tobytes() == np.asarray(repeated(X)).tobytes()
    np.testing.assert_allclose(told, slope, rtol=1e-13)


def test_one_trace_serves_lines_and_formulas_where_nothing_repeats():
    derived = sg.grad(lambda x: np.sum(np.sin(x) * x))
    lines, _ = derived._recorded((X,), {})
    assert derived._recorded((X,), {}, Purpose.FORMULAS)[0] is lines


def test_a_kernel_that_is_there_runs_on_beside_a_recorded_trace():
    derived = sg.grad(f)
    derived(X)
    first = derived._entry((X,), {})
    recorded, _ = derived._recorded((X,), {})
    assert recorded is not first
    derived(X)
    assert derived._compiled.latest is first


def test_passes_run_once_for_what_is_shown_and_for_what_runs(monkeypatch):
    runs = []
    passes = kernel.strip_marks
    monkeypatch.setattr(kernel, "strip_marks", lambda program: runs.append(program) or passes(program))
    derived = sg.grad(f)
    derived(X)
    derived.latex()
    assert len(runs) == 1
    program = weakref.ref(runs.pop())
    del derived
    gc.collect()
    assert program() is None


class Model:
    """A model that holds its own derivative, as classes of users do."""

    def __init__(self, derivative):
        self.derivative = derivative(self)

    def loss(self, x):
        return np.sum(np.log(np.exp(x @ x) + 1) ** 2 * np.sinh(x))

    def steps(self, x):
        for _ in range(300):
            x = x + np.sin(x) * 0.1
        return np.sum(x**2)

    def scan(self, x):
        carry, rows = sg.scan(lambda c, t: (c * np.cos(c) + t, c), x, np.arange(5.0))
        return np.sum(carry * rows[2])

    def sides(self, x):
        return np.sin(x) * np.cumsum(x) ** 2

    def sparse(self, x):
        return (pytest.importorskip("scipy.sparse").csr_matrix(np.diag(np.arange(1.0, 4.0))) @ x) @ np.sin(x)

    def root(self, x):
        return np.sum(pytest.importorskip("scipy.optimize").root(lambda y: y**3 + y - x, x).x)

    def flow(self, x):
        integrate = pytest.importorskip("scipy.integrate")
        return np.sum(integrate.solve_ivp(lambda t, y: -y * self.rate(y), (0, 1), x).y[:, -1])

    def rate(self, y):
        return np.cos(y)


HELD = {
    "a gradient": lambda m: sg.grad(m.loss),
    "a Hessian": lambda m: sg.hessian(m.loss),
    "a Jacobian": lambda m: sg.jacobian(m.sides),
    "of derivatives": lambda m: sg.grad(lambda x: np.sum(sg.grad(m.loss)(x) ** 2)),
    "of many steps": lambda m: sg.grad(m.steps),
    "a scan": lambda m: sg.hessian(m.scan),
    "a sparse matrix": lambda m: sg.grad(m.sparse),
    "a root": lambda m: sg.grad(m.root),
    "a differential equation": lambda m: sg.grad(m.flow),
    "its formula": lambda m: sg.grad(m.loss).closed_form,
    "its steps": lambda m: sg.grad(m.loss).steps,
    "its source": lambda m: lambda x: sg.grad(m.loss).export("python", x),
    "a batch": lambda m: lambda x: sg.vmap(m.sides)(np.stack([x, x])),
}


@pytest.mark.parametrize("made", HELD.values(), ids=HELD)
def test_what_holds_its_own_derivative_goes(made):
    model = Model(made)
    model.derivative(np.arange(1.0, 4.0))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def _pieces(p, xs):
    total = 0.0
    for x in xs:
        total += p[0] * x if x * p[0] > 0.5 else p[1] * x**2
    return total


def _likelihood(p, xs):
    variance = np.empty(len(xs))
    variance[0] = 1.0
    for t in range(1, len(xs)):
        variance[t] = p[0] + p[1] * variance[t - 1]
    found = np.sum(np.log(variance) + xs**2 / variance)
    return found if np.isfinite(found) and found < 1e3 else p[0] * 1e3


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("fn", [_pieces, _likelihood])
def test_long_branches_are_one_truth_value(fn, backend):
    gradient = sg.grad(fn, backend=backend)
    xs = np.linspace(0.1, 2.0, 80)
    for p in np.array([[1.0, 2.0], [0.3, 0.5], [1e-9, 1e-9], [1.0, 2.0], [2.0, 0.1]]):
        found = gradient(p, xs)
        differences = [(fn(p + h, xs) - fn(p - h, xs)) / (2 * h.max()) for h in np.diag(1e-6 * p)]
        np.testing.assert_allclose(found, differences, rtol=1e-5)
    entry = gradient._entry((p, xs), {})
    assert entry.serves([p, xs])
    assert len(entry._branch_kernel(p, xs)) == 1
    assert len(entry.taken) >= 2
