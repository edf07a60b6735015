"""What static arguments hold is guarded like what closures hold."""

import dataclasses
import functools
import types

import numpy as np
import pytest

import symgrad

X = np.array([1.0, 2.0])
K = 2.0


class Configuration:
    def __init__(self, k=2.0):
        self.k = k
        self.rates = [k]
        self.inner = types.SimpleNamespace(k=np.array([k]))

    def scaled(self, x):
        return self.k * np.sum(x)


def slope(g, *args, **kwargs):
    return g(X, *args, **kwargs)[0]


@pytest.mark.parametrize(
    ("read", "change"),
    [
        (lambda c: c.k, lambda c: setattr(c, "k", 5.0)),
        (lambda c: c.rates[0], lambda c: c.rates.__setitem__(0, 5.0)),
        (lambda c: c.inner.k[0], lambda c: c.inner.k.__setitem__(0, 5.0)),
        (lambda c: getattr(c, "late", 2.0), lambda c: setattr(c, "late", 5.0)),
    ],
)
def test_what_an_object_holds(read, change):
    g = symgrad.grad(lambda x, c: read(c) * np.sum(x))
    for call in (
        lambda c: slope(g, c),
        lambda c: slope(g, c=c),
        lambda c: slope(symgrad.grad(lambda x, d: read(d["c"][0]) * np.sum(x)), {"c": (c,)}),
    ):
        configuration = Configuration()
        assert call(configuration) == call(configuration) == 2.0
        change(configuration)
        assert call(configuration) == call(configuration) == 5.0


def test_it_is_traced_once_while_nothing_changes():
    g, configuration = symgrad.grad(lambda x, c: c.k * np.sum(x)), Configuration()
    kernel = g.kernel(X, configuration)
    assert g.kernel(X + 1, configuration) is kernel
    configuration.k = 5.0
    assert g.kernel(X, configuration) is not kernel


def test_a_function_that_reads_a_global(monkeypatch):
    g = symgrad.grad(lambda x, f: np.sum(f(x)))
    f = lambda x: K * x  # noqa: E731
    for given in (f, functools.partial(f)):
        assert slope(g, given) == 2.0
        monkeypatch.setitem(globals(), "K", 5.0)
        assert slope(g, given) == 5.0
        monkeypatch.undo()


def test_a_method_of_an_object():
    g, configuration = symgrad.grad(lambda x, f: f(x)), Configuration()
    assert slope(g, configuration.scaled) == 2.0
    configuration.k = 5.0
    assert slope(g, configuration.scaled) == 5.0


def test_a_class(monkeypatch):
    g = symgrad.grad(lambda x, make: make().k * np.sum(x))
    assert slope(g, Configuration) == 2.0
    monkeypatch.setattr(Configuration, "__init__", lambda self: setattr(self, "k", 5.0))
    assert slope(g, Configuration) == 5.0


def test_equal_objects_that_differ_where_equality_does_not_look():
    @dataclasses.dataclass(frozen=True)
    class Rate:
        name: str
        k: float = dataclasses.field(compare=False)

    g = symgrad.grad(lambda x, rate: rate.k * np.sum(x))
    assert slope(g, Rate("a", 2.0)) == 2.0
    assert slope(g, Rate("a", 5.0)) == 5.0
    assert g.kernel(X, Rate("a", 5.0)) is g.kernel(X, Rate("a", 5.0))


PICKED = {
    "a mask": (lambda x, m: np.sum(x[m] ** 2), np.array([True, True, False]), 0, False),
    "part of a mask": (lambda x, m: np.sum(x[m[:3].T] ** 2), np.array([True, True, False]), 2, True),
    "in a dict": (lambda x, m: np.sum(x[m] ** 2), np.array([True, False, True]), 1, True),
    "bins": (lambda x, m: np.sum(np.bincount(m, weights=x) ** 2), np.array([0, 1, 1]), 0, 1),
    "what is left out": (lambda x, m: np.sum(np.delete(x, m) ** 2), np.array([0]), 0, 1),
    "counts": (lambda x, m: np.sum(np.repeat(x, m) ** 2), np.array([1, 1, 1]), 0, 3),
}


@pytest.mark.parametrize("name", PICKED)
def test_an_argument_that_is_changed_in_place_picks_other_elements(name):
    """The guard holds a copy: the array itself would always be what it is."""
    fn, picked, at, value = PICKED[name]
    picked = picked.copy()
    f = (lambda x, m: fn(x, m["of"])) if name == "in a dict" else fn
    given = {"of": picked} if name == "in a dict" else picked
    x = np.array([1.0, 2.0, 3.0])
    g = symgrad.value_and_grad(f)
    for _ in range(2):
        found, slopes = g(x, given)
        assert found == f(x, given)
        differences = [(f(x + h, given) - f(x - h, given)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(slopes, differences, rtol=1e-6)
        picked[at] = value
