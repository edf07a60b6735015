"""What a gradient looks like: formulas, text, shapes; and that a user's strings stay text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from symgrad_notebook.display import bundles

import symgrad as sg
from symgrad import Parameter, nn

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    r"\href{javascript:alert(1)}{x}",
    "$x$ & 'quotes\" `ticks`",
    "\u202eevil\u200f",
]


def shown(gradient, *args, **kwargs):
    return bundles(gradient, args, kwargs, "g", "")


def test_formulas_are_typeset_under_one_another():
    formula, table = shown(sg.grad(lambda x, y: np.exp(-x * y), (0, 1)), 1.0, 2.0)
    assert formula["text/latex"].startswith(r"$\displaystyle \begin{aligned} f &= ")
    assert r"\frac{\partial f}{\partial x} &= " in formula["text/latex"]
    assert formula["text/plain"] == "f = exp(-x*y)\n∂f/∂x = -y*exp(-x*y)\n∂f/∂y = -x*exp(-x*y)"
    assert "f(x: (), y: ()) → ()" in table["text/plain"]
    assert "g(x, y) → (∂f/∂x: (), ∂f/∂y: ())" in table["text/plain"]
    assert "Σ out" not in table["text/plain"]


def test_large_arrays_are_written_in_matrix_notation_else_by_element():
    formula, table = shown(sg.grad(lambda x: np.sin(x)), np.ones(100))
    assert formula["text/plain"] == "f = sin(x)\n∂f/∂x = cos(x)"
    by_element, _ = shown(sg.grad(np.cumsum), np.ones(100))
    assert "∂f/∂a[i] = " in by_element["text/plain"]
    assert "∂(Σ out): the gradient of the sum of all outputs" in table["text/plain"]


def test_long_formulas_are_let_bound_apart_and_cut():
    def long(x):
        for k in range(100):  # no steps that repeat (Thue and Morse), so none are a loop
            x = (np.sin, np.cos)[k.bit_count() % 2](x) * x
        return x

    value, gradient, table = shown(sg.grad(long), 1.0)
    assert r"\begin{aligned} v_{0} &= " in value["text/latex"]
    assert r"\begin{aligned} v_{0} &= " in gradient["text/latex"]
    assert r"\frac{\partial f}{\partial x}" in gradient["text/latex"]
    assert gradient["text/plain"].count("\n") < 70
    assert "more lines" in gradient["text/plain"]
    assert "operations: 200" in table["text/plain"]
    assert value["text/html"].startswith("<details><summary>long in 200 lines: a formula would be too long to read<")
    assert "&amp;= " in gradient["text/html"]


def test_what_is_too_long_for_a_formula_is_told_by_the_chain_rule():
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(2, 1, 3, 3))

    def network(x, W):
        h = sg.ops.relu(sg.ops.conv2d(x, kernel))
        p = sg.ops.max_pool2d(h, 2)
        z = p.reshape(1, 18) @ W
        return np.sum(z**2)

    derivation, table = shown(sg.grad(network, (0, 1)), rng.normal(size=(1, 1, 8, 8)), rng.normal(size=(18, 3)))
    assert "The chain rule, from the output back" in derivation["text/plain"]
    lines = [line.strip() for line in derivation["text/plain"].splitlines()]
    assert any(line.startswith("z̄ = ") for line in lines)
    assert any(line.startswith(("∂f/∂W", "W̄")) for line in lines)
    assert derivation["text/html"].startswith("<p><b>grad(network), reverse mode</b></p>")
    assert "text/latex" not in derivation
    assert "reverse mode" in table["text/plain"]


def test_a_loop_is_told_once_for_the_function_and_its_derivative():
    formula, _ = shown(sg.grad(lambda x: sg.fori_loop(0, 9, lambda i, v: np.sin(v), x)), 1.0)
    assert formula["text/plain"].splitlines() == [
        "v₀ = x",
        "vₜ₊₁ = sin(vₜ)   (t = 0, …, 8)",
        "f = v₉",
        "λ₉ = 1",
        "λₜ = cos(vₜ)·λₜ₊₁   (t = 8, …, 0)",
        "∂f/∂x = λ₀",
    ]
    assert r"v_{t+1} &= \sin\left(v_{t}\right) \qquad t = 0, \ldots, 8" in formula["text/latex"]


def test_a_branch_is_said():
    gradient = sg.grad(lambda x: x if x > 0 else -x)
    assert "the formulas hold where x > 0" in shown(gradient, 1.0)[1]["text/plain"]
    assert "branches on values" not in shown(sg.grad(np.abs), 1.0)[1]["text/plain"]


@pytest.mark.parametrize("takes", ["position", "keyword"])
def test_sens_is_an_argument_or_a_keyword(takes):
    gradient = sg.GradOperation(sens_param=True)(lambda x: x**2)
    x, sens = np.ones(2), np.ones(2)
    *_, table = shown(gradient, x, sens) if takes == "position" else shown(gradient, x, sens=sens)
    assert "f(x: (2,)) → (2,)" in table["text/plain"]
    assert "g(x, sens) → " in table["text/plain"]
    assert "⟨sens, out⟩" in table["text/plain"]


@pytest.mark.parametrize(
    ("derive", "tree"),
    [
        (sg.value_and_grad(lambda x, y: x * y, (0, 1)), "((), (∂f/∂x: (), ∂f/∂y: ()))"),
        (sg.grad(lambda x, y: (x * y, y), has_aux=True), "(∂f/∂x: (), ((),))"),
        (sg.GradOperation(get_all=True)(lambda x, y: x * y), "(∂f/∂x: (), ∂f/∂y: ())"),
        (
            sg.grad(lambda x, y: x * y, (0, 1), return_ids=True),
            "((0, ∂f/∂x: ()), (1, ∂f/∂y: ()))",
        ),
        (sg.hessian(lambda x, y: x * y, (0, 1)), "((∂²f/∂x²: (), ∂²f/∂x∂y: ()), (∂²f/∂y∂x: (), ∂²f/∂y²: ()))"),
    ],
)
def test_every_derivative_shows_its_structure(derive, tree):
    assert f"g(x, y) → {tree}, " in shown(derive, 1.0, 2.0)[-1]["text/plain"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(name):
    def f(x, option):
        return x * net(x)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = Parameter(np.ones(2), name=name)

        def construct(self, x):
            return x * self.z

    net = Net()
    f.__name__ = name
    for bundle in bundles(sg.grad(f, 0, net.trainable_params()), (np.ones(2), name), {}, name, name):
        tags = set(re.findall(r"<\s*/?\s*(\w+)", bundle.get("text/html", "")))
        assert tags <= {"table", "thead", "tbody", "tr", "th", "td", "code", "small"}
        assert not re.search(r"<[^>]*onerror", bundle.get("text/html", ""))
        latex = bundle.get("text/latex", "$$")
        assert latex.count("$") == 2
        assert not re.search(r"\\href|javascript:|<", latex)
        for text in bundle.values():
            assert text.replace("\n", "").isprintable()
