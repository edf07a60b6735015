"""Formulas and checks of functions in which elements are chosen by value: every choice is decided both ways."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.closed_form.agreement import matrix_values
from symgrad.errors import SymgradError

RNG = np.random.default_rng(11)
M, W, V = RNG.normal(size=(5, 3)), RNG.normal(size=5), np.array([0.4, -0.3, 0.7])
GRID = np.linspace(-2, 2, 7)
DATA = np.array([1.5, np.nan, -0.5, np.nan, 2.0])

#: function of the point -> point; each depends on a largest or smallest value, or on masks of computed values
CHOSEN = {
    "a share of the largest": (lambda x: W @ (np.cosh(M @ x) / np.max(np.cosh(M @ x))), V),
    "a share of the smallest": (lambda x: W @ (np.exp(M @ x) / np.min(np.exp(M @ x))), V),
    "times the smallest": (lambda x: W @ (np.arctan(M @ x) * np.min(np.arctan(M @ x))), V),
    "less the largest": (lambda x: W @ np.exp(2 * (M @ x) - np.max(2 * (M @ x))), V),
    "the range": (lambda x: np.ptp(np.sin(x)) * np.sum(x * x), GRID),
    "between 0 and 1": (lambda x: np.sum(((x**3 - np.min(x**3)) / np.ptp(x**3)) ** 2), GRID),
    "a peak": (lambda c: np.sum(np.exp(-((GRID - c) ** 2)) / np.max(np.exp(-((GRID - c) ** 2)))), 0.37),
    "one where it is the largest": (lambda x: np.sum(np.where(np.exp(x) == np.max(np.exp(x)), x * x, 3 * x)), GRID),
    "above its mean": (lambda x: np.sum(np.where(np.tanh(x) > np.mean(np.tanh(x)), x**3, x)), GRID),
    "two computed sides": (lambda x: np.sum(np.where(M @ x > np.sin(M @ x), W * (M @ x), (M @ x) ** 2)), V),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_formulas_give_what_the_kernel_gives(name):
    function, x = CHOSEN[name]
    gradient = sg.grad(function)
    value, found = np.ravel(gradient(x)), gradient.formulas(x)
    if found.kind == "matrix":
        (made,) = matrix_values(found.program, [np.asarray(x, float)])
        np.testing.assert_allclose(np.ravel(made), value, rtol=1e-9, atol=1e-12, err_msg=str(found))
    assert gradient.agreement(x).worst < 1e-9


def of_largest(x):
    return W @ (np.tanh(M @ x) * np.max(np.tanh(M @ x)))


def of_largest_without_it(x):
    y = np.tanh(M @ x)
    return M.T @ (W * (1 - y * y)) * np.max(y)


def of_largest_by_hand(x):
    y = np.tanh(M @ x)
    k, slope = np.argmax(y), 1 - y * y
    return M.T @ (W * slope) * np.max(y) + (W @ y) * slope[k] * M[k]


def test_a_gradient_without_the_terms_through_the_largest_value_is_not_equal():
    gradient = sg.grad(of_largest)
    assert not gradient.equals(of_largest_without_it, V)
    assert gradient.equals(of_largest_by_hand, V)


def test_rounding_does_not_decide_whether_an_element_is_the_largest():
    gradient = sg.grad(lambda x: np.max(np.exp(x) * 1.1))
    verdict = gradient.equals(
        lambda x: np.where(np.exp(x) * 1.1 == np.max(np.exp(x) * 1.1), 2.2 * np.exp(x), 0.0), GRID
    )
    assert not verdict
    assert verdict.counterexample is not None


#: losses of data of which some are missing
MISSING = {
    "nansum": lambda x: np.nansum((DATA - M @ x) ** 2),
    "where": lambda x: np.sum(np.where(np.isnan(DATA), 0.0, np.cosh(DATA - M @ x))),
    "those that are there": lambda x: np.sum(((DATA - M @ x) ** 2)[~np.isnan(DATA)]),
    "nanmean": lambda x: np.nanmean(DATA * (M @ x)),
    "fmax": lambda x: np.sum(np.fmax(DATA, M @ x)),
    "nanmax": lambda x: np.nanmax(DATA * np.exp(M @ x)),
    "nancumsum": lambda x: np.nancumsum(DATA * (M @ x))[-1],
}


@pytest.mark.parametrize("name", MISSING)
def test_matrix_forms_leave_missing_data_out(name):
    gradient = sg.grad(MISSING[name])
    value = gradient(V)
    assert np.all(np.isfinite(value))
    try:
        form = gradient.closed_form(V, form="matrix")
    except SymgradError:
        return
    np.testing.assert_allclose(np.ravel(form.evaluate({"x": V})), value, rtol=1e-12)


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize(
    "ask",
    [
        lambda g: g.formulas(V),
        lambda g: g.latex(V),
        lambda g: g.agreement(V),
        lambda g: g.closed_form(V, form="entries"),
        *[lambda g, kind=kind: g.export(kind, V) for kind in ("sympy", "latex", "markdown", "mathml")],
    ],
)
def test_what_is_asked_of_missing_data_is_told_or_refused(name, ask):
    try:
        text = str(ask(sg.grad(MISSING[name])))
    except SymgradError as error:
        text = str(error)
    assert text


def test_masks_read_as_statements():
    text = str(sg.grad(MISSING["nansum"]).formulas(V))
    assert "≠ 0" not in text
    assert "[¬isnan(" in text
