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
    x0, x1, y = sympy.symbols("x0 x1 y")
    derived = sg.grad(lambda x, y: np.sum(x**2) * y, (0, 1))
    args = (np.array([1.0, 2.0]), 3.0)
    assert derived.equals(([2 * x0 * y, 2 * x1 * y], x0**2 + x1**2), *args).symbolic
    assert derived.equals(derived.closed_form(*args), *args).symbolic
    assert not derived.equals(([2 * x0 * y, 2 * x1 * y], x0**2 - x1**2), *args)
    assert sg.hessian(lambda x: np.sum(x**2)).equals(2 * sympy.eye(2), np.ones(2))
    with pytest.raises(ArgumentError, match="no entry called z; the entries are x0, x1, y"):
        derived.equals(([sympy.Symbol("z"), x0], x1), *args)
    with pytest.raises(ArgumentError, match="a tuple of 2"):
        derived.equals(x0, *args)
    with pytest.raises(ArgumentError, match=r"shape \(2,\), and the expressions \(3,\)"):
        derived.equals(([x0, x0, x0], x1), *args)
    with pytest.raises(ArgumentError, match="not named dims"):
        sg.grad(lambda x: np.sum(x)).equals([x0], "n")


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


def test_points_are_counted_and_not_outputs():
    found = sg.grad(lambda x, y: x * y**2, (0, 1)).equals(lambda x, y: (2 * x * y, y**2), 1.0, 2.0)
    assert not found
    differing, points = (int(word) for word in found.how.split() if word.isdecimal())
    assert 0 < differing <= points == found.points


def growth(x):
    return np.sum(np.exp(x) * np.sin(x))


@pytest.mark.parametrize("factor", [1 + 1e-7, 1 - 1e-8, 1 + 2e-9])
def test_a_factor_beyond_rounding_is_found(factor):
    found = sg.grad(growth).equals(lambda x: np.exp(x) * (np.sin(x) + np.cos(x)) * factor, np.ones(3))
    assert not found
    assert "which is no proof" not in repr(found)


def test_a_factor_beyond_rounding_is_found_in_float32():
    x = np.ones(3, np.float32)
    factor = np.float32(1 + 2e-4)
    assert not sg.grad(growth).equals(lambda x: np.exp(x) * (np.sin(x) + np.cos(x)) * factor, x)
    assert sg.grad(growth).equals(lambda x: np.exp(x) * (np.sin(x) + np.cos(x)), x)


def points_alone(left, right, *args):
    """For arrays of more elements than algebra looks at."""
    return sg.symbolic(left).equals(right, *args)


WIDE = np.linspace(0.3, 2.0, 70)
SAME = {
    "log1p(exp(x))": (lambda x: np.log1p(np.exp(x)), lambda x: np.logaddexp(0.0, x), WIDE),
    "log(1 + exp(x))": (lambda x: np.log(1 + np.exp(x)), lambda x: np.log1p(np.exp(x)), WIDE),
    "(1 - cos x) / x**2": (lambda x: (1 - np.cos(x)) / x**2, lambda x: 2 * np.sin(x / 2) ** 2 / x**2, WIDE),
    "near 0": (lambda x: (1 - np.cos(x)) / x**2, lambda x: 2 * np.sin(x / 2) ** 2 / x**2, 1e-8 * WIDE),
    "expm1": (lambda x: np.exp(x) - 1, np.expm1, 1e-6 * WIDE),
    "variance": (
        lambda x: np.mean(x**2) * np.ones(70) - np.mean(x) ** 2,
        lambda x: np.mean((x - np.mean(x)) ** 2) * np.ones(70),
        1e5 + WIDE,
    ),
    "difference of squares": (lambda x: (x + 1e4) ** 2 - x**2, lambda x: 2e4 * x + 1e8, 1e3 * WIDE),
    "difference of roots": (
        lambda x: np.sqrt(x * x + 1) - abs(x),
        lambda x: 1 / (np.sqrt(x * x + 1) + abs(x)),
        1e5 * WIDE,
    ),
    "large angles": (lambda x: np.sin(2 * x), lambda x: 2 * np.sin(x) * np.cos(x), 1e6 * WIDE),
    "large powers": (lambda x: np.exp(30 * np.log(abs(x))), lambda x: (x * x) ** 15.0, 10 * WIDE),
    "underflow": (
        lambda x: np.exp(x) / np.sum(np.exp(x)),
        lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))),
        WIDE,
    ),
    "float32": (lambda x: np.exp(x) - 1, np.expm1, WIDE.astype(np.float32)),
}


@pytest.mark.parametrize("case", SAME)
def test_rounding_is_no_difference_where_terms_cancel(case):
    left, right, x = SAME[case]
    found = points_alone(left, right, x)
    assert found, repr(found)
    assert found.points > 40
    assert points_alone(right, left, x)


@pytest.mark.parametrize("case", ["log1p(exp(x))", "(1 - cos x) / x**2", "expm1", "variance", "large angles"])
def test_a_difference_is_found_though_terms_cancel(case):
    left, right, x = SAME[case]
    assert not points_alone(left, lambda x: right(x) * (1 + 1e-6), x)


def test_what_rounding_hides_is_noted():
    left, right, x = SAME["near 0"]
    assert any("no larger than rounding explains" in note for note in points_alone(left, right, x).notes)


def test_a_function_that_cannot_be_traced_is_given_room_and_that_is_said():
    def written(x):
        x = np.frombuffer(np.asarray(x, float).tobytes())[0]
        return np.exp(x) * (np.sin(x) + np.cos(x))

    derived = sg.grad(lambda x: np.exp(x) * np.sin(x))
    exact = derived.equals(written, 1.0)
    assert exact
    assert not any("cannot be traced" in note for note in exact.notes)
    near = derived.equals(lambda x: written(x) * (1 + 1e-8), 1.0)
    assert any("cannot be traced" in note for note in near.notes)
    assert not derived.equals(lambda x: written(x) * (1 + 1e-6), 1.0)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def cross_entropy(w, X, y):
    p = sigmoid(X @ w)
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def from_the_textbook(w, X, y):
    return X.T @ (sigmoid(X @ w) - y)


@pytest.mark.parametrize(
    ("loss", "by_hand"),
    [
        (cross_entropy, from_the_textbook),
        (lambda w, X, y: np.sum(np.log1p(np.exp(X @ w)) - y * (X @ w)) / 4, lambda *a: from_the_textbook(*a) / 4),
        (logistic, lambda w, X, y: X.T @ (-y * (1 - sigmoid(y * (X @ w))))),
    ],
)
def test_the_gradient_of_logistic_regression_is_that_of_the_textbook(loss, by_hand):
    rng = np.random.default_rng(0)
    args = rng.normal(size=2), rng.normal(size=(4, 2)), (rng.normal(size=4) > 0) * 1.0
    found = sg.grad(loss).equals(by_hand, *args, seconds=60)
    assert found
    assert found.symbolic
    assert sg.grad(loss).equals(by_hand, "d", "n d", "n", seconds=60).symbolic
    assert not sg.grad(loss).equals(lambda w, X, y: by_hand(w, X, y) + 1e-7 * w, *args, seconds=60)
