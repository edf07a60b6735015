"""Formulas of many cases: they are counted before sympy combines them, and a form that is too long is refused."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.closed_form.bound import ExtremumOver
from symgrad.closed_form.cases import MAX_COMBINATIONS, cases, over
from symgrad.closed_form.deadline import within
from symgrad.closed_form.entries import entry_forms
from symgrad.errors import ClosedFormTooLarge, UnsupportedOperation

K = sympy.Symbol("k", integer=True, nonnegative=True)
NAMES = sympy.symbols("a:f", real=True)
#: seconds after which a form has not been refused, on the slowest of machines; it takes a part of one
LONG = 60.0


def rectified(x):
    return sympy.Piecewise((x, x > 0), (0, True))


def test_cases_in_a_condition_are_combined_while_they_are_few():
    few = cases((1, rectified(NAMES[0]) + rectified(NAMES[1]) > 1), (0, True))
    assert few.subs({NAMES[0]: 2, NAMES[1]: -1}) == 1
    assert few.subs({NAMES[0]: -2, NAMES[1]: -1}) == 0
    assert 2 ** len(NAMES) > MAX_COMBINATIONS
    with pytest.raises(ClosedFormTooLarge):
        cases((1, sympy.Add(*map(rectified, NAMES)) > 1), (0, True))


def test_cases_with_the_same_conditions_are_one():
    test = NAMES[0] > 0
    alike = sympy.Add(*[sympy.Piecewise((n, test), (0, True)) for n in NAMES], evaluate=False)
    assert cases((1, alike > 1), (0, True)).subs(dict.fromkeys(NAMES, 2)) == 1


def test_conditions_are_not_moved_out_of_what_binds_their_index():
    element = rectified(sympy.IndexedBase("x", real=True)[K])
    largest = ExtremumOver(sympy.Symbol("max"), element, K, 3)
    with pytest.raises(ClosedFormTooLarge):
        cases((1, largest > 1), (0, True))


def test_sums_of_many_cases_are_refused():
    x = sympy.IndexedBase("x", real=True)
    few = over(sympy.Sum, rectified(x[K]), (K, 0, 2))
    assert few.doit().subs({x[0]: 1, x[1]: -1, x[2]: 2}) == 3
    with pytest.raises(ClosedFormTooLarge):
        over(sympy.Sum, sympy.Mul(*[rectified(x[K + k]) + 1 for k in range(6)]), (K, 0, 2))


def middle_of_leaky(x):
    v = np.where(x > 0, x, 0.1 * x)
    return np.convolve(np.median(v).ravel(), x.ravel())


def sorted_cases(x):
    return np.sort(np.where(x > 0, x, x**2), axis=0) ** 2


def sorting_network(x):
    rows = list(x)
    for i in range(len(rows)):
        for j in range(len(rows) - 1 - i):
            rows[j], rows[j + 1] = np.minimum(rows[j], rows[j + 1]), np.maximum(rows[j], rows[j + 1])
    return np.stack(rows)


def layers(x):
    for _ in range(3):
        v = x @ x
        x = np.where(v > 0, v, 0.1 * v)
    return x


@pytest.mark.parametrize(
    ("fn", "shape"),
    [
        (middle_of_leaky, (5, 3)),
        (sorted_cases, (3, 3)),
        (sorting_network, (6,)),
        (layers, (2, 2)),
        (lambda x: np.median(x, axis=0), (4, 4)),
        (lambda x: np.linalg.norm(np.where(np.linalg.norm(x) > x, x, x**2), np.inf), (4, 3)),
    ],
    ids=["median of cases", "sort of cases", "sorting network", "layers", "median", "norm of cases"],
)
def test_every_form_comes_soon_or_is_refused(fn, shape):
    x = np.random.default_rng(0).normal(size=shape)
    derived = sg.jacobian(fn)
    with within(LONG):
        for form in ("entries", "index", "auto"):
            with contextlib.suppress(ClosedFormTooLarge, UnsupportedOperation):
                derived.closed_form(x, form=form)
        assert derived.formulas(x).kind in ("entries", "matrix", "index", "recurrence", "let-bound")
        assert derived.steps(x).latex


def test_entries_that_turn_out_long_are_not_written():
    hessian = sg.hessian(lambda x: np.sum(np.outer(np.linalg.inv(x), np.linalg.inv(x)) % 2.0))
    program = hessian.program(np.array([[1.5, 0.2], [0.3, 1.1]]))
    with pytest.raises(ClosedFormTooLarge, match="more than 50 operations"):
        entry_forms(program, 50)


def test_decimals_on_both_sides_of_a_condition():
    """sympy turned them to and fro until Python's stack was full: the pinball loss had no formula."""
    derived = sg.grad(lambda r: np.maximum(0.9 * r, -0.1 * r))
    entry = derived.closed_form(0.5)
    (r,) = entry.free_symbols
    for at, want in ((0.5, 0.9), (-0.5, -0.1), (0.0, 0.4)):
        assert float(entry.subs(r, at)) == pytest.approx(want)
        assert derived(at) == pytest.approx(want)


@pytest.mark.parametrize(
    ("fn", "at"),
    [
        (lambda r: np.where(np.abs(r) <= 1, 0.5 * r**2, np.abs(r) - 0.5), (0.3, -0.4, 1.5, -2.0)),
        (lambda x: np.where(x > 0, x, 0.01 * x), (0.5, -0.5)),
        (lambda x: np.where(x > 0, x, np.exp(x) - 1), (0.5, -0.5)),
    ],
    ids=["Huber", "leaky", "elu"],
)
def test_both_sides_of_a_condition_are_one_pair_of_cases(fn, at):
    derived = sg.grad(fn)
    made = derived.closed_form(at[0])
    assert isinstance(made, sympy.Piecewise)
    assert len(made.args) == 2
    (symbol,) = made.free_symbols
    for x in at:
        assert float(made.subs(symbol, x)) == pytest.approx(derived(x))
