"""equals finds differences, says how it decided, and never calls equal what it only could not tell apart."""

import itertools
import math
import types

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.closed_form import deadline
from symgrad.errors import ArgumentError, ArgumentTypeError


def logistic(w, X, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w))))


def by_hand(w, X, y):
    s = 1 / (1 + np.exp(y * (X @ w)))
    return -X.T @ (y * s)


ARGS = (np.array([0.1, -0.2]), np.array([[1.0, 2.0], [0.5, -1.0], [0.3, 0.2]]), np.array([1.0, -1.0, 1.0]))


def test_equal_by_algebra():
    found = sg.grad(logistic).equals(by_hand, *ARGS)
    assert found
    assert found.symbolic
    assert found.counterexample is None
    assert repr(found) == "equal: the difference of the formulas simplifies to 0"


def test_equal_for_all_sizes():
    found = sg.grad(logistic).equals(by_hand, "d", "n d", "n")
    assert found.symbolic
    assert sg.grad(sg.named(logistic, w="d", X="n d", y="n")).equals(by_hand).symbolic


def test_a_missing_factor_is_found_at_sizes_that_are_not_one():
    wrong = sg.grad(logistic).equals(lambda w, X, y: by_hand(w, X, y) / len(y), "d", "n d", "n")
    assert not wrong
    assert wrong.counterexample.args[2].shape != (1,)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda w, X, y: 2 * by_hand(w, X, y),
        lambda w, X, y: -by_hand(w, X, y),
        lambda w, X, y: by_hand(w, X, -y),
        lambda w, X, y: by_hand(w, X, y)[::-1],
        lambda w, X, y: by_hand(w, X, y) + 1e-5 * w,
    ],
)
def test_differences_come_with_a_counterexample(wrong):
    found = sg.grad(logistic).equals(wrong, *ARGS)
    assert not found
    assert not found.symbolic
    shown = found.counterexample
    difference = np.abs(shown.left - shown.right)
    assert shown.difference == pytest.approx(difference.max())
    assert difference[shown.place] == difference.max()
    np.testing.assert_array_equal(sg.grad(logistic)(*shown.args), shown.left)
    assert repr(found).startswith("differ: at ")
    assert "for w = " in repr(found)


def test_a_wrong_sign_in_one_branch_far_from_the_arguments():
    def f(x):
        return np.sum(np.where(x > 5, x**2, x))

    right = sg.grad(f).equals(lambda x: np.where(x > 5, 2 * x, 1.0), np.ones(3))
    wrong = sg.grad(f).equals(lambda x: np.where(x > 5, -2 * x, 1.0), np.ones(3))
    assert right
    assert not wrong
    assert wrong.counterexample.args[0].max() > 5


def test_a_branch_of_python_is_not_proved_by_the_formula_of_the_other():
    def f(x):
        return x**2 if x > 0 else -x

    found = sg.grad(f).equals(lambda x: 2 * x, 1.0)
    assert not found
    assert found.counterexample.args[0] <= 0


def test_log_of_a_square_is_not_twice_the_log():
    for other in (lambda x: 2 * np.log(x), lambda x: 2 * math.log(x)):
        found = sg.symbolic(lambda x: np.log(x**2)).equals(other, 1.5)
        assert not found
        assert found.how == "one is defined where the other is not"
        assert found.counterexample.args[0] <= 0
        assert np.isnan(found.counterexample.difference)


def test_roots_of_squares():
    assert not sg.symbolic(lambda x: np.sqrt(x**2)).equals(lambda x: x, 1.0)
    assert sg.symbolic(lambda x: np.sqrt(x**2)).equals(np.abs, 1.0)


def test_kinks_are_told_apart():
    found = sg.grad(lambda x: np.sum(np.abs(x))).equals(lambda x: np.where(x > 0, 1.0, -1.0), np.ones(3))
    assert not found
    assert "only at special values" in found.how
    assert 0 in found.counterexample.args[0]


def test_what_is_nowhere_defined_is_not_equal():
    found = sg.symbolic(lambda x: np.log(-(x**2) - 1)).equals(lambda x: x * np.nan, 1.0)
    assert not found
    assert repr(found).startswith("undecided: no point was found")


def test_agreement_without_a_proof_says_so():
    table = np.array([0, 2, 2])
    found = sg.grad(lambda E, i: np.sum(E[i] ** 2)).equals(
        lambda E, i: 2 * E * np.bincount(i, minlength=len(E))[:, None], np.ones((4, 2)), table
    )
    assert found
    assert not found.symbolic
    assert found.points > 40
    assert "which is no proof" in repr(found)


def test_rounding_is_no_difference():
    found = sg.symbolic(lambda x: (1 - np.cos(x)) / x**2).equals(
        lambda x: 2 * np.sin(x / 2) ** 2 / x**2, 1.0, seconds=60
    )
    assert found.symbolic
    assert sg.grad(lambda x: np.sum(np.tanh(x))).equals(lambda x: 1 - np.tanh(x) ** 2, np.ones(3, np.float32))


def test_overflow_far_out_is_noted_only():
    found = sg.grad(lambda x: np.log(1 + np.exp(x))).equals(lambda x: np.exp(x) / (1 + np.exp(x)), 0.5)
    assert found


def test_derivatives_with_each_other():
    assert sg.grad(logistic).equals(sg.grad(logistic, mode="forward"), *ARGS).symbolic
    assert sg.hessian(logistic).equals(sg.jacobian(sg.grad(logistic)), *ARGS)
    assert not sg.grad(np.sin).equals(sg.grad(np.cos), 0.3)


def test_sympy_expressions_in_the_entries():
    x1, x2, y = sympy.symbols("x1 x2 y")
    derived = sg.grad(lambda x, y: np.sum(x**2) * y, (0, 1))
    args = (np.array([1.0, 2.0]), 3.0)
    assert derived.equals(([2 * x1 * y, 2 * x2 * y], x1**2 + x2**2), *args).symbolic
    assert derived.equals(derived.closed_form(*args), *args).symbolic
    assert not derived.equals(([2 * x1 * y, 2 * x2 * y], x1**2 - x2**2), *args)
    assert sg.hessian(lambda x: np.sum(x**2)).equals(2 * sympy.eye(2), np.ones(2))
    with pytest.raises(ArgumentError, match="no entry called z; the entries are x1, x2, y"):
        derived.equals(([sympy.Symbol("z"), x1], x2), *args)
    with pytest.raises(ArgumentError, match="a tuple of 2"):
        derived.equals(x1, *args)
    with pytest.raises(ArgumentError, match=r"shape \(2,\), and the expressions \(3,\)"):
        derived.equals(([x1, x1, x1], x2), *args)
    with pytest.raises(ArgumentError, match="not named dims"):
        sg.grad(lambda x: np.sum(x)).equals([x1], "n")


def test_definite_matrices_are_among_the_points():
    found = sg.grad(lambda S: np.sum(np.log(np.diag(np.linalg.cholesky(S))))).equals(
        lambda S: np.linalg.inv((S + S.T) / 2) / 2, "n n"
    )
    assert found.points > 0


def test_other_shapes_and_structures():
    derived = sg.grad(lambda x: np.sum(x**2))
    found = derived.equals(lambda x: (2 * x)[:, None], np.ones(3))
    assert not found
    assert "shape (3,) and shape (3, 1)" in repr(found)
    with pytest.raises(ArgumentError, match="one result holds 1 arrays, and the other 2"):
        derived.equals(lambda x: (x, x), np.ones(3))


def test_the_latest_arguments_serve():
    derived = sg.grad(lambda x: np.sum(x**2))
    derived(np.ones(3))
    assert derived.equals(lambda x: 2 * x)
    picked = sg.grad(lambda E, i: np.sum(E[i]))
    picked(np.ones(3), np.array([1]))
    with pytest.raises(ArgumentError, match="pass the arguments"):
        picked.equals(lambda E, i: E)


def test_a_function_that_fails_is_said_so():
    derived = sg.grad(lambda x: np.sum(x**2))
    with pytest.raises(ArgumentError, match="the other function fails: KeyError"):
        derived.equals(lambda x: {}["gone"], np.ones(2))
    with pytest.raises(ArgumentTypeError, match="got a object"):
        derived.equals(object(), np.ones(2))


def test_without_time_for_algebra_points_decide(monkeypatch):
    square, rest = sg.symbolic(lambda x: np.sin(x) ** 2), lambda x: 1 - np.cos(x) ** 2
    assert square.equals(rest, 0.3).symbolic
    seconds = itertools.count()
    monkeypatch.setattr(deadline, "time", types.SimpleNamespace(monotonic=lambda: next(seconds)))
    found = square.equals(rest, 0.3)
    assert found
    assert not found.symbolic
    assert "which is no proof" in found.how
    assert 3 < next(seconds) < 1000  # it was stopped, and what it was at ended soon


def test_the_profiling_hook_is_put_back():
    import sys

    before = sys.getprofile()
    sg.grad(logistic).equals(by_hand, *ARGS)
    assert sys.getprofile() is before


def test_a_formula_that_is_undefined_at_a_kink_alone_agrees_and_it_is_said():
    def loss(t):
        return np.linalg.norm(t)

    found = sg.grad(loss).equals(lambda t: t / np.sqrt(np.sum(t**2)), np.array([0.3, -0.4]))
    assert found
    assert any("only one is defined" in note for note in found.notes)
