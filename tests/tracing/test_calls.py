"""A function that needs it is traced again with its calls followed, and nothing outside of it changes."""

import functools
import math
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.compiled import CompiledFunction
from symgrad.errors import TracingError
from symgrad.tracing import calls

X = np.array([0.5, -1.5, 2.0])


class Arm:
    lengths = np.array([1.0, 0.5, 0.25])

    def __init__(self, scale=1.0):
        self.scale = scale

    @property
    def reach(self):
        return math.sqrt(self.scale) * self.lengths.sum()

    @staticmethod
    def pair(a, b):
        return np.array([a, b])

    @classmethod
    def of(cls, scale):
        return cls(float(scale))

    def tip(self, q):
        at = np.zeros(2)
        for length, angle in zip(self.lengths, np.cumsum(q)):
            at += self.pair(length * math.cos(angle), length * math.sin(angle))
        return at * self.scale

    def __call__(self, q):
        return self.tip(q)

    def __add__(self, other):
        return Arm(self.scale + math.exp(other))


class Pair(tuple):
    __slots__ = ()

    def __new__(cls, a, b):
        return super().__new__(cls, (float(a), b))


@functools.lru_cache
def cached(v):
    return math.tanh(v)


def doubled(fn):
    @functools.wraps(fn)
    def inner(*args):
        return 2 * fn(*args)

    return inner


@doubled
def decorated(v):
    return math.sin(v)


def generated(x):
    yield from (math.exp(v) for v in x)


FUNCTIONS = {
    "a bound method": Arm(2.0).tip,
    "an instance": Arm(2.0),
    "made inside": lambda x: Arm.of(x[2]).tip(x) * Arm(x[0] ** 2).reach,
    "operators": lambda x: (Arm(1.0) + x[0]).tip(x),
    "a partial": functools.partial(lambda k, x: np.array([k * x[0], math.cos(x[1])]), 3.0),
    "a decorator": lambda x: decorated(x[0]) * x,
    "a cached function": lambda x: cached(x[0]) * x + cached(2.0),
    "a generator": lambda x: np.array(list(generated(x))),
    "a function made inside": lambda x: (lambda f: f(f(x[0])))(lambda v: math.sqrt(v * v + 1)) * x,
    "recursion": lambda x: power(x[0], 5) * np.array([x[1], x[2]]),
    "comprehensions": lambda x: np.array([[math.sin(a * b) for a in x] for b in x]),
    "star arguments": lambda x: math.hypot(*x) * np.array([*x, *x[:1]]),
    "a derivative inside": lambda x: sg.grad(lambda v: math.exp(v) * float(v))(x[0]) * x,
    "an iterator that is asked about": lambda x: asked(x),
    "a subclass of tuple": lambda x: np.array(Pair(x[0] * 2, x[1])),
    "a condition": lambda x: np.array([x[0]]) if float(x[1]) < 0 else np.array([x[2]]),
    "unpacking": lambda x: np.array([(lambda a, b, c: a * b + c)(*x), x[0]]),
    "constants that are made": lambda x: (np.eye(3) * 2.0 + np.diag([1.0, 2.0, 3.0])) @ np.array([x[0], x[1], 1.0]),
    "products of constants that are written": lambda x: written(Arm.lengths * 2.0, x),
}


def asked(x):
    values = iter(x)
    kept = isinstance(values, Iterator) and hasattr(values, "__next__") and type(values) is not list
    return np.array(list(values)) * (2.0 if kept else 3.0)


def power(v, n):
    return float(v) if n == 1 else v * power(v, n - 1)


def written(a, x):
    a[0] = x[1]
    return a


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(name):
    fn = FUNCTIONS[name]
    np.testing.assert_allclose(sg.symbolic(fn)(X), fn(X), rtol=1e-14)
    wanted = np.stack([(fn(X + s) - fn(X - s)) / 2e-6 for s in np.eye(3) * 1e-6], -1)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(sg.jacobian(fn, mode=mode)(X), wanted, atol=1e-7)


def test_cells_are_followed():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = sg.Parameter([1.0, 2.0], name="w")

        def construct(self, x):
            return np.array([self.w[0] * x[0], math.exp(self.w[1])])

    net = Net()
    gradients = sg.grad(net, None, net.trainable_params())(np.array([3.0]))
    np.testing.assert_allclose(gradients[0], [3.0, math.exp(2.0)])
    np.testing.assert_allclose(net(np.array([3.0])), [3.0, math.exp(2.0)])


def test_a_function_that_needs_nothing_of_it_is_traced_once(monkeypatch):
    runs = []
    traced = CompiledFunction._traced
    monkeypatch.setattr(CompiledFunction, "_traced", lambda *args: runs.append(1) or traced(*args))
    for fn, count in ((lambda x: np.sum(np.sin(x)), 1), (lambda x: np.array([x[0]]), 2)):
        runs.clear()
        gradient = sg.grad(fn)
        gradient(X)
        assert len(runs) == count
        gradient(X[:2])
        assert len(runs) == count + 1  # that it needs it is known by then
        gradient(X)
        assert len(runs) == count + 1


def test_what_is_refused_and_caught_is_refused_all_the_same():
    def fn(x):
        try:
            return x[0].__complex__().real * x
        except TypeError:
            return x * 0.0

    with pytest.raises(TracingError, match="plain number"):
        sg.grad(fn)(X)

    def caught(x):
        try:
            return float(x[0]) * x
        except TypeError:
            return x * 0.0

    np.testing.assert_allclose(sg.grad(caught)(X), [2 * 0.5 - 1.5 + 2.0, 0.5, 0.5])


def test_other_threads_see_nothing_of_it():
    found = {}

    def other():
        made = np.array([1.0, math.sin(2.0)])
        made[0] = 3.0
        found["made"] = made

    def fn(x):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return np.array([x[0], math.sin(x[1])])

    assert sg.grad(fn)(X).tolist() == [1.0, math.cos(-1.5), 0.0]
    assert type(found["made"]) is np.ndarray
    assert found["made"].tolist() == [3.0, math.sin(2.0)]


def test_functions_stay_as_they_are():
    before = power.__code__, power.__globals__, Arm.tip.__code__, np.array, math.sin
    sg.grad(lambda x: Arm(1.0).tip(x) * power(x[0], 3))(X)
    assert (power.__code__, power.__globals__, Arm.tip.__code__, np.array, math.sin) == before
    assert calls.followed(power) is not power
    assert calls.followed(power).__name__ == "power"


def test_local_names_stand_in_the_steps():
    def fn(x):
        rotated = np.array([math.cos(x[0]) * x[1], x[2]])
        return rotated @ rotated

    assert "rotated = " in str(sg.grad(fn).steps(X))


def joined(x):
    row, rows = [x[0], 0.0], []
    rows = [*rows] + [row]
    row[1] = x[1] * x[2]
    return np.array(rows)


def repeated(x):
    grid = [[0.0, 0.0]] * 2
    grid[0][0] = x[0] * x[1]
    return np.array(grid)


def held(x):
    leaf = {"v": x[0]}
    root = {"kids": []}
    root["kids"] = root["kids"] + [leaf]
    leaf["v"] = leaf["v"] * x[2]
    return np.array([root["kids"][0]["v"]])


def kept(x):
    history, now = [], [0.0, 0.0]
    for v in x:
        now[0] = now[0] + math.sin(v)
        history = history + [now]
    return history[0][0]


def placed(x):
    k = x.argmax()
    return np.dot([0.0] * k + [1.0] + [0.0] * (len(x) - k - 1), x**2)


def padded(x):
    n = int(x[0] + 3)
    values = [0.0] * n
    for i in range(n):
        values[i] = x[0] * i
    values *= int(x[2])
    return np.array(values + [x[1]] * n)


@pytest.mark.parametrize("fn", [joined, repeated, held, kept, placed, padded], ids=lambda f: f.__name__)
def test_lists_are_joined_and_repeated_as_python_does_it(fn):
    x, step = np.array([0.4, -1.2, 2.7]), 1e-6
    made, gradient = sg.value_and_grad(fn)(x)
    np.testing.assert_allclose(made, fn(x), rtol=1e-15)
    wanted = [(np.sum(fn(x + d)) - np.sum(fn(x - d))) / (2 * step) for d in np.eye(3) * step]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-7, atol=1e-8)
