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
