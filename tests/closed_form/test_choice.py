"""Of the forms that there are, the one that is read fastest is shown; how long it is looked for is bounded."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.closed_form import choice
from symgrad.closed_form.choice import formulas


def cross_entropy(z, y):
    p = 1 / (1 + np.exp(-z))
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


@pytest.fixture
def program():
    return sg.grad(cross_entropy).program(np.ones(3), np.eye(3)[0])


def test_a_search_that_takes_too_long_shows_the_best_until_then(monkeypatch, program):
    best = formulas(program)
    monkeypatch.setattr(choice, "_MAX_CALLS", 80_000)
    first = formulas(program)
    monkeypatch.setattr(choice, "_MAX_CALLS", 0)
    assert (best.kind, first.kind, formulas(program).kind) == ("matrix", "matrix", "let-bound")
    assert best.reading_cost < first.reading_cost


def test_nested_maxima_of_a_network_are_no_matter_of_seconds():
    images, labels = np.linspace(-1, 1, 4 * 12 * 12).reshape(4, 12, 12), np.array([1, 0, 2, 1])

    def loss(k1, k2, w):
        seen = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
        h = np.maximum(np.einsum("bijuv,kuv->bkij", seen, k1), 0)
        h = h.reshape(4, 2, 5, 2, 5, 2).max(axis=(3, 5))
        seen = np.lib.stride_tricks.sliding_window_view(h, (2, 2), axis=(2, 3))
        h = np.maximum(np.einsum("bcijuv,kcuv->bkij", seen, k2), 0)
        z = h.reshape(4, -1) @ w
        return -np.mean(z[np.arange(4), labels] - np.log(np.sum(np.exp(z - z.max(axis=1, keepdims=True)), axis=1)))

    derived = sg.grad(loss, (0, 1, 2))
    found = derived.formulas(np.ones((2, 3, 3)), np.ones((3, 2, 2, 2)), np.ones((48, 3)))
    assert found.kind == "let-bound"  # its index form takes sympy minutes


def test_what_sympy_cannot_write_is_a_program():
    made = sg.grad(lambda x, s: np.nan_to_num(x / s).sum()).formulas(np.ones(2), np.ones(2))
    assert "isnan" in str(made)


def test_cases_that_are_never_taken_are_not_told():
    stats = pytest.importorskip("scipy.stats")
    made = str(sg.grad(lambda x, y: stats.ttest_ind(x, y).statistic).formulas(np.arange(4.0), np.arange(4.0) ** 2))
    assert "where(" not in made
    assert "[" not in made
