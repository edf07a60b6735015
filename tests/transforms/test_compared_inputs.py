"""A derivative that is 0 because the function only compares its argument is warned of; cases of a rule are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DependsByComparing


class Model:
    """It keeps what it has computed last."""

    last = None

    def simulated(self, p):
        if self.last is None or not np.array_equal(p, self.last):
            self.last, self.kept = p.copy(), p[0] * np.exp(-p[1] * np.arange(5.0))
        return self.kept

    def loss(self, p):
        return np.sum(self.simulated(p) ** 2)


def kept_by(key):
    known = {}

    def fn(x):
        if key(x) not in known:
            known[key(x)] = x**3
        return known[key(x)]

    return fn


def bisected(a):
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        if middle**3 + middle > a:
            high = middle
        else:
            low = middle
    return (low + high) / 2


KEYS = {"rounded": lambda x: round(x, 6), "text": lambda x: f"{x:.4f}", "all digits": str}


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_what_was_kept_under_a_key_is_a_constant(key):
    fn = kept_by(key)
    gradient = sg.grad(fn)
    assert gradient(2.0) == 12
    with pytest.warns(DependsByComparing, match=r"depends on x by comparisons alone.*compute it anew"):
        assert gradient(2.0) == 0
    assert fn(2.0) == 8  # no traced value is left among the keys
    assert gradient(3.0) == 27


def test_what_was_kept_for_the_same_array_is_a_constant():
    model, p = Model(), np.array([1.0, 0.5])
    gradient = sg.grad(model.loss)
    assert np.all(gradient(p) != 0)
    with pytest.warns(DependsByComparing, match="depends on p"):
        assert np.all(gradient(p) == 0)


def test_a_search_by_comparing_has_no_derivative():
    with pytest.warns(DependsByComparing, match=r"bisection.*brentq"):
        assert sg.grad(bisected)(2.0) == 0


def test_members_of_sets_are_values_after_a_trace():
    seen = set()

    def fn(x):
        seen.add(round(x, 3))
        return x**2

    assert sg.grad(fn)(3.0) == 6
    assert seen == {3.0}
    assert type(next(iter(seen))) is float


CASES = {
    "a part of a function": lambda x: x if x > 0 else 0.0,
    "the middle of a curve": lambda x: 1.0 if x == 0 else np.sin(x) / x,
    "steps": lambda x: np.floor(x) + int(x),
    "a text that is shown": lambda x: print(f"{x}") or 1.0,
    "another argument": lambda x, tolerance=1e-3: x**2 if tolerance > 1e-6 else x,
}


@pytest.mark.parametrize("name", CASES)
def test_cases_of_a_rule_are_not_warned_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (-1.0, 0.0, 2.5):
            sg.grad(CASES[name])(x)
