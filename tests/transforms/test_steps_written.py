"""A derivation read step by step reads well: in the names of the function, cut where it is long, set by LaTeX."""

import numpy as np
import pytest
import sympy
import typesetting
from derivations import READ, close, logistic, loop, picked, rosenbrock

import symgrad as sg


def test_the_function_is_told_in_its_own_names():
    text = str(sg.grad(logistic).steps(*READ["logistic"][2]))
    assert text.splitlines()[3].split() == ["z", "=", "Xw", "shape", "(6,)"]
    assert "z̄ = −y ⊙ v̄₁" in text
    assert "w̄ = Xᵀz̄" in text
    assert "∂f/∂w = −Xᵀ(y ⊙ σ(−y ⊙ Xw))" in text


def test_names_that_are_bound_again_are_numbered():
    text = str(sg.grad(loop, (0, 1)).steps(*READ["loop"][2]))
    assert "x₃ = tanh(v₃)" in text
    assert "W̄ = v̄₁xᵀ + v̄₂x₁ᵀ + v̄₃x₂ᵀ" in text
    assert "used in v₃, v₂ and v₁, so contributions add up" in text


def test_computed_values_are_used_again():
    """d exp(u) = exp(u) du, in terms of what exp(u) is called."""

    def f(x):
        u = np.exp(x)
        return np.sum(u**2)

    assert "x̄ = u ⊙ ū" in str(sg.grad(f).steps(np.ones(3)))


def test_slices_add_to_their_places():
    text = str(sg.grad(rosenbrock).steps(np.ones(5)))
    assert "x̄[1:5] += v̄₁" in text
    assert "Ē[i] += r̅o̅w̅s̅" in str(sg.grad(picked).steps(*READ["picked"][2]))


def test_a_place_of_what_has_an_index_is_in_braces():
    latex = sg.grad(lambda x: np.sum(np.cumsum(np.exp(x))[::-2] ** 2)).steps(np.ones(4))._repr_latex_()
    assert r"{\bar{v}_{2}}_{[::-2]} &\mathrel{+}=" in latex
    assert "}_{2}_{" not in latex


def test_rows_of_matrices_stay_apart_in_a_table():
    held = np.arange(6.0).reshape(3, 2)
    table = sg.grad(lambda x: np.sum(np.sin(held @ x))).steps(np.ones(2))._repr_html_()
    assert r"\begin{bmatrix} 0 &amp; 1 \\ 2 &amp; 3 \\ 4 &amp; 5 \end{bmatrix}" in table


def test_hostile_names_stay_names():
    def f(**arguments):
        return sum(np.sum(v**2) for v in arguments.values())

    names = ["a.b", r"\input{/etc/passwd}", "</script>", "$x$", "v1", "vbar", "Δt", "x" * 60]
    derived = sg.grad(lambda p: f(**p))
    steps = derived.steps({n: np.ones(2) for n in names})
    written = steps.latex() + steps.markdown() + steps._repr_html_()
    assert r"\input{/" not in written
    assert "</script>" not in written
    assert len({s.name.latex for s in steps}) == len({s.target for s in steps})


def test_reprs_of_a_notebook():
    steps = sg.grad(logistic).steps(*READ["logistic"][2])
    assert steps._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")
    assert r"$\displaystyle \bar{w} = X^\top \bar{z}$ | linear in w" in steps._repr_markdown_()
    assert "<td" in steps._repr_html_()
    assert steps[0]._repr_latex_() == r"$\displaystyle z = X w$"
    assert repr(steps[0]).startswith("z = Xw")
    assert len(steps) == len(list(steps)) == len(steps[:])


@pytest.mark.parametrize("budget", [2, 10, 1000])
def test_long_derivations_are_cut_with_a_note(budget):
    def f(x):
        for k in range(40):
            x = np.sin(x) * x if k % 3 else np.exp(-x)
            x = np.tanh(x) if k % 7 else x
        return x

    steps = sg.grad(f).steps(0.9, budget=budget)
    text = str(steps)
    assert ("more lines, budget=" in text) == (budget < 1000)
    assert len(text.splitlines()) < len(steps) + 12
    assert text.count("\n") < budget + 20
    close(steps.values()["x̄"], sg.grad(f)(0.9))


def test_a_loop_is_told_once():
    def f(x):
        total = 0.0
        for k in range(1000):
            total = total + np.sin(k * x)
        return total

    steps = sg.grad(f).steps(0.3)
    assert str(steps).endswith("Put together\n  ∂f/∂x = Σₜ t·cos(xt)   (t = 0, …, 999)")


def test_thousands_of_operations():
    def f(x):
        total = 0.0
        for k in np.random.default_rng(0).integers(1, 5, 1000):
            total = [np.sin, np.cos, np.tanh, np.arctan][k - 1](total) + k * x
        return total

    steps = sg.grad(f).steps(0.3)
    text, written = str(steps), steps.latex()
    assert len(steps) > 3000
    assert len(text) + len(written) < 60_000
    close(steps.values()["x̄"], sg.grad(f)(0.3))


@pytest.mark.needs("pdflatex")
def test_the_latex_compiles(tmp_path):
    pages = []
    for function, positions, args in READ.values():
        pages.append("\\[\n" + sg.grad(function, positions).steps(*args).latex() + "\n\\]\n\\newpage")
    pages.append("\\[\n" + sg.hessian(logistic).steps(*READ["logistic"][2]).latex() + "\n\\]")
    source = "\n".join(
        [
            r"\documentclass{article}\usepackage{amsmath,amssymb}\usepackage[a2paper,margin=1cm]{geometry}\begin{document}"
        ]
        + pages
        + [r"\end{document}"]
    )
    typesetting.pdflatex(source, tmp_path)


def test_sympy_symbols_are_not_confused_with_names():
    """Names that sympy would read as accents or Greek letters stay what they are."""

    def f(xbar, alpha):
        xdot = np.sin(xbar) * alpha
        return xdot**2

    steps = sg.grad(f, (0, 1)).steps(0.3, 0.4)
    latex = steps.latex()
    assert r"\overline{\mathit{xbar}}" in latex
    assert r"\bar{\alpha}" in latex
    assert sympy.Symbol("x")  # nothing of sympy's state has changed
