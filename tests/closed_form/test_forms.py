"""Closed forms against the kernel's numbers: every form, evaluated, is what the kernel computes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy

import symgrad
from symgrad.closed_form.bound import ExtremumOver
from symgrad.closed_form.entries import entry_forms
from symgrad.closed_form.index_form import IndexForm
from symgrad.closed_form.symbols import safe_names
from symgrad.errors import ArgumentError, ClosedFormTooLarge

X = np.array([[0.5, 1.25, -0.75], [1.5, -0.25, 2.0]])
V = np.array([0.3, -0.7, 1.1])
U = np.array([1.2, 0.4])

FUNCTIONS = {
    "elementwise": (lambda x: np.exp(-x) * np.sin(x) / (1 + x**2), (V,)),
    "logistic": (lambda w, x: np.log(1 + np.exp(-(x @ w))), (V, X)),
    "quadratic": (lambda x, a: x @ (a.T @ a) @ x, (V, X)),
    "outer": (lambda u, v: np.outer(u, v) * 2.0, (U, V)),
    "slices": (lambda x: x[1:] * x[:-1] + x[::-1][1:], (V,)),
    "reshape": (lambda x: x.reshape(3, 2).T @ x.T, (X,)),
    "concatenate": (lambda x, y: np.concatenate([x * 2.0, y, x]), (V, U)),
    "gather": (lambda x: x[:, [2, 0, 0]] * 3.0, (X,)),
    "where": (lambda x: np.where(x > 0.2, x**3, np.abs(x)), (V,)),
    "maximum": (lambda x: np.maximum(x, 0.25) + np.max(x, axis=-1, keepdims=True), (X,)),
    "mean": (lambda x: np.mean(x, axis=0) + np.std(x), (X,)),
    "cumsum": (lambda x: np.cumsum(x, axis=1), (X,)),
    "prod": (lambda x: np.prod(x, axis=1), (X,)),
    "diagonal": (lambda x: np.diag(x[:, :2] @ x[:, 1:]), (X,)),
    "stack": (lambda x: np.stack([np.sum(np.cos(x)), x[-1]]), (V,)),
    "pad": (lambda x: np.pad(x, 1) * 2.0, (V,)),
}


def index_value(expr: sympy.Basic, arrays: dict[str, np.ndarray]) -> float:
    """The number an index form stands for: sums written out, entries looked up."""
    known = {s: sympy.Float(float(arrays[str(s)])) for s in expr.free_symbols if np.ndim(arrays.get(str(s), V)) == 0}
    expr = _written_out(expr).xreplace(known)

    def look_up(base, *index):
        return sympy.Float(float(arrays[str(base)][tuple(int(i) for i in index)]))

    return float(expr.replace(sympy.Indexed, look_up))


def _written_out(expr: sympy.Basic) -> sympy.Basic:
    def extremum(name, element, index, size):
        terms = [element.subs(index, k) for k in range(int(size))]
        return (sympy.Max if name.name == "max" else sympy.Min)(*terms)

    for _ in range(6):
        expr = expr.replace(ExtremumOver, extremum).doit()
    return expr


@pytest.mark.parametrize("name", FUNCTIONS)
def test_entry_form_of_the_function_and_its_gradient(name):
    function, args = FUNCTIONS[name]
    for derived in (symgrad.symbolic(function), symgrad.grad(function, tuple(range(len(args))))):
        program = derived.program(*args)
        symbols = {}
        for label, node, array in zip(safe_names(program.names), program.inputs, args, strict=True):
            count = array.size
            names = [label] if count == 1 else [f"{label}{k}" for k in range(count)]
            symbols |= {sympy.Symbol(n, real=True): v for n, v in zip(names, array.ravel(), strict=True)}
            assert node.shape == array.shape
        forms = entry_forms(program)
        for form, number in zip(forms, derived.kernel(*args)(*args), strict=True):
            found = np.reshape([float(e.subs(symbols)) for e in form.ravel()], form.shape)
            np.testing.assert_allclose(found, number, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_index_form_of_the_function_and_its_gradient(name):
    function, args = FUNCTIONS[name]
    for derived in (symgrad.symbolic(function), symgrad.grad(function, tuple(range(len(args))))):
        program = derived.program(*args)
        arrays = dict(zip(safe_names(program.names), args, strict=True))
        form = IndexForm(program)
        constants = [n for n in program.nodes if n.primitive.name == "constant"]
        arrays |= {f"c_{k}": n.params[0].value for k, n in enumerate(constants)}
        for node, number in zip(program.outputs, derived.kernel(*args)(*args), strict=True):
            free, element = form.output(node)
            places = list(itertools.product(*map(range, node.shape)))
            for place in (places[0], places[-1]):
                at = element.subs(dict(zip(free, place, strict=True)))
                expected = np.asarray(number)[place]
                np.testing.assert_allclose(index_value(at, arrays), expected, rtol=1e-10, atol=1e-12)


def test_the_matmul_network_is_written_as_in_a_textbook():
    gradient = symgrad.grad(lambda x, y, z: (x * z) @ y)
    entries = gradient.closed_form(np.ones((2, 3)), np.ones((3, 3)), np.ones(1))
    y0, y1, y2, z = sympy.symbols("y0 y1 y2 z", real=True)
    assert entries[0, 0] == z * (y0 + y1 + y2)
    assert entries.shape == (2, 3)


def test_structure_of_the_result_is_kept():
    f, g = symgrad.value_and_grad(lambda x, y: x * y, (0, 1)).closed_form(2.0, 3.0)
    x, y = sympy.symbols("x y", real=True)
    assert (f, g) == (x * y, (y, x))


def test_a_form_beyond_the_budget_is_refused_before_it_is_built():
    def never_the_same(x):  # so that it is no loop
        for k in range(200):
            x = 4.0 * x * ((1.0 - x) if k.bit_count() % 2 else np.sin(x))
        return x

    gradient = symgrad.grad(never_the_same)
    with pytest.raises(ClosedFormTooLarge, match=r"about 10\^\d+ operations.*let-bound form has \d+ bindings"):
        gradient.closed_form(0.3)
    assert "v_{0}" in gradient.latex(0.3)
    assert len(gradient.latex(0.3)) < 20_000


def test_unknown_form_is_refused():
    with pytest.raises(ArgumentError, match="form='dense' is unknown"):
        symgrad.grad(np.sin).closed_form(1.0, form="dense")


def test_latex_names_what_it_differentiates():
    latex = symgrad.value_and_grad(lambda alpha, x: np.sum(alpha * x**2), (0, 1)).latex(2.0, np.ones(30))
    assert r"\frac{\partial f}{\partial \alpha}" in latex
    assert r"\frac{\partial f}{\partial x}" in latex
    assert r"f &= \alpha \lVert x \rVert^{2}" in latex


def test_notebooks_get_latex_and_text():
    gradient = symgrad.grad(lambda x: np.sin(x) * x)
    assert gradient._repr_latex_() is None
    gradient(1.0)
    bundle = gradient._repr_mimebundle_()
    assert bundle["text/latex"].startswith(r"$\displaystyle")
    assert bundle["text/plain"].endswith("∂f/∂x = x*cos(x) + sin(x)")


@pytest.mark.parametrize("hostile", ["<img src=x onerror=alert(1)>", "$x$", "x_{\\href{javascript:1}{y}}", "a b", "1x"])
def test_hostile_names_never_reach_the_output(hostile):
    names = safe_names([hostile, hostile])
    assert len(set(names)) == 2
    assert all(n.isidentifier() for n in names)


def test_named_dims_give_a_form_for_every_size():
    program = symgrad.trace(lambda X, w: np.sum(X @ w, axis=0), "n d", "d")
    free, element = IndexForm(program).output(program.outputs[0])
    assert free == ()
    assert {str(s) for s in element.free_symbols} >= {"n", "d"}


def test_entries_of_different_inputs_are_never_called_alike():
    form = symgrad.grad(lambda x, x1: x[0] ** 2 * x1).closed_form(np.array([2.0, 3.0]), 5.0)
    assert len(form[0].free_symbols) == 2


def test_a_form_that_sympy_would_get_wrong_is_refused_and_shown_let_bound():
    def f(x):
        table = np.stack([x, x * x])
        return np.sum(np.exp(table @ table))

    gradient = symgrad.grad(f)
    with pytest.raises(ClosedFormTooLarge, match="nested sums"):
        gradient.closed_form(np.array([0.3, 0.5]), form="index")
