"""Formulas: which form is taken, and that LaTeX and text say the same of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import symgrad as sg


def kind(derived, *args, **options):
    return derived.formulas(*args, **options).kind


@pytest.mark.parametrize(
    ("fn", "args", "expected"),
    [
        (np.sin, (np.ones(3),), "matrix"),
        (np.sin, (np.ones(100),), "matrix"),
        (lambda x: x[0] * np.sin(x[1]), (np.ones(3),), "entries"),
        (np.cumsum, (np.ones(100),), "index"),
        (lambda x: np.sum(np.sort(x) * np.cumsum(x)), (np.ones(100),), "index"),
    ],
)
def test_the_form_that_is_read_fastest(fn, args, expected):
    assert kind(sg.grad(fn), *args) == expected


def test_long_formulas_are_let_bound():
    def long(x):
        for k in range(100):  # never the same, so that it is no loop
            x = (np.sin if k.bit_count() % 2 else np.cos)(x) * x
        return x

    made = sg.grad(long).formulas(1.0)
    assert made.kind == "let-bound"
    assert made.latex_rows(["g"])[0].startswith("v_{0} &= ")
    assert made.text_rows(["g"])[0].startswith("program(x: float64[])")
    assert "more lines" in made.text_rows(["g"])[-2]


def test_a_budget_folds_every_form():
    for size in (3, 100):
        assert kind(sg.grad(lambda x: np.sum(np.sin(x) * x)), np.ones(size), budget=1) == "let-bound"


def test_wide_arrays_are_written_entry_by_entry():
    def hand(q):
        return np.stack([np.sum(np.cos(np.cumsum(q))), np.sum(np.sin(np.cumsum(q)))])

    rows = sg.jacobian(hand).latex_rows(np.ones(3))
    assert len(rows) == 6
    assert rows[0].startswith(r"\left(\frac{\partial f}{\partial q}\right)_{0,0} &= ")
    assert rows[5] == r"\left(\frac{\partial f}{\partial q}\right)_{1,2} &= \cos{\left(q_{0} + q_{1} + q_{2} \right)}"
    assert len(sg.jacobian(hand).latex_rows(np.ones(2))) == 1


def test_text_and_latex_have_a_row_an_output():
    made = sg.grad(lambda x, y: np.sum(x * y), (0, 1)).formulas(np.ones(2), np.ones(2))
    assert made.text_rows(["a", "b"]) == ["a = y", "b = x"]
    assert [row.partition(" &= ")[0] for row in made.latex_rows(["a", "b"])] == ["a", "b"]


def test_an_empty_array_has_a_formula():
    made = sg.jacobian(lambda x: x[:0]).formulas(np.ones(3))
    assert made.kind == "entries"
    assert made.text_rows(["J"]) == ["J = []"]
    assert sg.jacobian(lambda x: x[:0]).latex(np.ones(3))


def test_entries_that_are_zero_are_said_together():
    def late(q):
        return np.array([q[1] * np.exp(-q[0] * np.sin(q[1])) * np.cos(q[0]) * np.sin(q[2] ** 2), q[2], q[2] * q[1]])

    rows = sg.jacobian(late).latex_rows(np.ones(3))
    assert len(rows) == 7
    assert rows[3] == r"\left(\frac{\partial f}{\partial q}\right)_{1,2} &= 1"
    assert rows[-1] == r"\left(\frac{\partial f}{\partial q}\right)_{i,j} &= 0 \quad \text{elsewhere}"


def test_as_many_names_as_results():
    made = sg.grad(lambda x, y: np.sum(x * y), (0, 1)).formulas(np.ones(2), np.ones(2))
    for names in (["a"], ["a", "b", "c"], "ab"):
        for rows in (made.text_rows, made.latex_rows):
            with pytest.raises(sg.errors.ArgumentError, match="give 2 names, one for each result"):
                rows(names)


def test_numbers_of_one_formula_are_one_line():
    h = sg.hessian(lambda x, y: np.sin(x) * y**3, (0, 1))
    (_, row, *_) = h.latex(0.5, 2.0).split(r"\\[1ex]")
    mixed = [r"\frac{\partial^{2} f}{\partial x\,\partial y}", r"\frac{\partial^{2} f}{\partial y\,\partial x}"]
    assert row.strip().startswith(" = ".join(mixed) + " &= 3 y^{2}")
    found = h.formulas(0.5, 2.0)
    assert found.text_rows(["a", "b", "c", "d"])[1] == "b = c = 3*y**2*cos(x)"
    assert found.text_rows(["a", "b", "c", "d"], apart=True)[1:3] == ["b = 3*y**2*cos(x)", "c = 3*y**2*cos(x)"]


def test_many_labels_stand_in_several_lines():
    names = [f"g{k}" for k in range(5)]
    g = sg.grad(lambda *x: x[0] + x[1] + x[2] + x[3] + x[4], tuple(range(5)))
    assert g.formulas(*np.ones(5)).text_rows(names) == ["g0 = g1 = g2 = 1", "g3 = g4 = 1"]


def test_one_and_a_power_of_e():
    x = np.ones(3)
    (latex,) = sg.symbolic(lambda x: np.logaddexp(0, x)).formulas(x).latex
    assert latex == r"\log\left(1 + \exp\left(x\right)\right)"
    assert r"1 + e^{x}" in sg.symbolic(lambda x: np.logaddexp(0, x)).latex(1.0)


def test_a_first_power_is_what_it_is_a_power_of():
    bond = sg.grad(lambda y, c: sum(c / (1 + y) ** k for k in range(1, 7)))
    (row,) = bond.formulas(0.1, 2.0).text_rows(["d"])
    assert row == "d = " + " - ".join(["-c/(y + 1)**2", *(f"{k}*c/(y + 1)**{k + 1}" for k in range(2, 7))])


def softmax(S):
    E = np.exp(S - S.max(1, keepdims=True))
    return E / E.sum(1, keepdims=True)


def chosen(Q, K, V):
    mask = np.tril(np.ones((4, 4)), 0) > 0
    return np.sum((softmax(np.where(mask, Q @ K.T / 2, -np.inf)) @ V) ** 2)


def written(Q, K, V):
    mask = np.triu(np.ones((4, 4)), 1).astype(bool)
    S = Q @ K.T / 2
    S[mask] = -np.inf
    return np.sum((softmax(S) @ V) ** 2)


def added(Q, K, V):
    mask = np.triu(np.full((4, 4), -np.inf), 1)
    return np.sum((softmax(Q @ K.T / 2 + mask) @ V) ** 2)


@pytest.mark.parametrize(
    ("fn", "scores"),
    [
        (chosen, "where(mask, 1/2 · QKᵀ, −∞)"),
        (written, "where(mask, −∞, S), axis=1)  where S = 1/2 · QKᵀ"),
        (added, "1/2 · QKᵀ + mask"),
    ],
)
def test_masked_attention(fn, scores):
    """However the mask is put on, and what the formulas share is said once."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(4, 3)) for _ in range(3)]
    derived = sg.grad(fn, (0, 1, 2))
    rows = str(derived.formulas(*arrays)).replace("softmax(S, axis=1)\n  where S = ", "").split("\n")
    assert rows[:3] == [
        "∂f/∂Q = (P ⊙ (PVVᵀ − (PV)^⊙2 𝟏𝟏ᵀ))K",
        "∂f/∂K = (P ⊙ (PVVᵀ − (PV)^⊙2 𝟏𝟏ᵀ))ᵀQ",
        "∂f/∂V = 2PᵀPV",
    ]
    assert scores in "".join(rows[3:])
    assert len(rows) <= 5
    assert derived.latex(*arrays).count(r"P &= \operatorname{softmax}") == 1
    assert derived.agreement(*arrays).worst < 1e-12


def test_a_mask_stays_where_nothing_is_0_for_it():
    def fn(x, m):
        return np.sum(np.where(m, x**2, 0) * np.exp(np.where(m, -np.inf, x)) + np.where(m, 0, x**3))

    x, m = np.array([0.5, 2.0, 3.0]), np.array([True, False, True])
    derived = sg.grad(fn)
    assert np.allclose(derived(x, m), np.where(m, 0, 3 * x**2))
    assert derived.agreement(x, m).worst < 1e-12


def test_formulas_are_printed_with_the_names_of_the_arguments():
    made = sg.value_and_grad(lambda u0, lam: np.sum(lam * u0**2), (0, 1)).formulas(np.ones(20), 2.0)
    assert str(made) == "f = lam·‖u0‖²\n∂f/∂u0 = 2 lam·u0\n∂f/∂lam = ‖u0‖²"
    assert made._repr_latex_().startswith(r"$\displaystyle \begin{aligned} f &= \lambda ")


def shown(fn, *args, by=0):
    derived = sg.grad(fn, by)
    assert derived.agreement(*args).worst < 1e-9
    return str(derived.formulas(*args)), derived.latex(*args)


def test_no_helper_is_called_as_an_argument_that_only_a_name_reads():
    def fn(th, z):
        y = np.sin(z)
        n = np.sqrt(1 + th * y**2)
        return np.sum(n + 1 / n) * np.mean(y / n)

    text, _ = shown(fn, 0.3, np.linspace(0.1, 0.9, 4))
    assert "where u = 1 + th·y^⊙2" in text
    assert text.endswith("where y = sin(z)")


def test_no_helper_is_called_as_a_unit_vector():
    def morse(p, r):
        depth, a, at = p
        return np.sum(depth * (1 - np.exp(-a * (r - at))) ** 2)

    text, _ = shown(morse, np.array([1.0, 0.7, 1.2]), np.linspace(1.0, 2.0, 5))
    assert "e₁" in text
    assert "where e = " not in text


def test_a_local_name_is_safe_in_the_formula_and_in_what_it_stands_for():
    def fn(w, x):
        x_ = np.concatenate([[1.0], x])
        return np.sum(x_ * w) ** 2

    text, latex = shown(fn, np.ones(4), np.ones(3))
    assert text == "∂f/∂w = 2(wᵀ x_2)·x_2\n  where x_2 = [1, x_entry_0, x_entry_1, x_entry_2]"
    assert r"x_{2} &= \left[\begin{matrix}1 & x_{\mathit{entry},0}" in latex


def test_an_element_is_told_from_an_argument_of_that_name():
    text, latex = shown(lambda x, x0, x1: (x[0] - x0) ** 2 * x[1] + x1 * x[0], np.ones(4), 0.5, 2.0)
    assert "where c = x[0] − x0" in text
    assert r"c = {x}_{[0]} - x_{0}" in latex
    text, _ = shown(lambda x, x0: (x[0] - x0[0]) ** 2 * (x[1] - x0[1]), np.ones(2), np.zeros(2))
    assert text == "∂f/∂x = 2c(x[1] − x0[1])e₀ + c²e₁\n  where c = x[0] − x0[0]"


@pytest.mark.parametrize(
    "function", [special.ndtri, special.erfcinv, special.i0, special.ellipk, special.entr, special.gamma, special.dawsn]
)
def test_formulas_with_functions_of_scipy_agree(function):
    shown(lambda a, u: np.sum((a * function(u[:, 0])) ** 2), 0.3, np.full((4, 2), 0.3))
    shown(lambda a, u: np.sum(a * special.huber(u[:, 0], u[:, 1])), 0.3, np.full((4, 2), 0.3))


def test_an_argument_in_which_a_loop_begins_is_not_said_to_be_itself():
    def orbit(x0, v0):
        x, v = x0, v0
        for _ in range(20):
            v = v - 0.1 * x
            x = x + 0.1 * v
        return x**2 + v**2

    made = sg.grad(orbit).formulas(1.0, 0.0)
    assert made.text_rows(["g"])[0] == "x₀ = x0"
    assert not any(row == "x_{0} &= x_{0}" for row in made.latex_rows(["g"]))
    assert made.latex_rows(["g"])[0].startswith("v_{t+1} &= ")
