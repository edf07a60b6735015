"""Functions that keep their results: a trace sees what they keep, and that it was cleared."""

import functools

import numpy as np
import pytest

import symgrad as sg

X = np.array([1.0, 2.0, 3.0])
KEEPS = {"bounded": functools.lru_cache(maxsize=8), "unbounded": functools.cache}
SCALE = 2.0


@pytest.mark.parametrize("keeps", KEEPS.values(), ids=KEEPS)
@pytest.mark.parametrize(
    ("make", "change"),
    {
        "array": (lambda n: np.ones(n), lambda kept: kept.__setitem__(0, 50.0)),
        "list": (lambda n: [1.0] * n, lambda kept: kept.__setitem__(0, 50.0)),
        "dict": (lambda n: {"a": 1.0}, lambda kept: kept.__setitem__("a", 50.0)),
    }.values(),
    ids=["array", "list", "dict"],
)
def test_what_is_kept_is_looked_at(keeps, make, change):
    kept = keeps(make)

    def f(x):
        held = kept(3)
        return np.sum(x * np.array(list(held.values()) if isinstance(held, dict) else held))

    g = sg.value_and_grad(f)
    g(X)
    assert g(X)[0] == f(X)
    change(kept(3))
    value, gradient = g(X)
    assert value == f(X)
    assert gradient[0] == 50.0


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")  # it changes what it reads
@pytest.mark.parametrize("keeps", KEEPS.values(), ids=KEEPS)
def test_a_cache_that_is_cleared_is_filled_anew(keeps, monkeypatch):
    kept = keeps(lambda n: SCALE * n)
    g = sg.grad(lambda x: np.sum(x) * kept(3))
    assert g(X)[0] == 6.0
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert g(X)[0] == 6.0  # as Python has it
    kept.cache_clear()
    assert g(X)[0] == 21.0


def test_what_others_compute_is_no_change():
    kept = functools.cache(float)
    g = sg.grad(lambda x: np.sum(x**2) * kept(3))
    for n in range(10):
        kept(n)
        np.testing.assert_array_equal(g(X), 6 * X)
    assert [len(entries) for entries in g._compiled._entries.values()] == [1]
