"""What a function changes in a run that does not get through is undone before it runs again."""

from __future__ import annotations

import collections
import contextvars
import threading
import types

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.errors import TracedAgain
from symgrad.tracing.trace_guards import TraceGuards

X = np.array([1.5, 2.0])
CALLS = contextvars.ContextVar("calls", default=0)
COUNT, CACHE, LAST = 0, {}, None


def again(x):
    """A number that is known only where calls are followed: what stands before it has then run twice."""
    return float(x[1])


def count_of(holder):
    holder.calls = getattr(holder, "calls", 0) + 1
    return holder.calls


class Slotted:
    __slots__ = ("__secret", "calls")

    def secret(self):
        try:
            return self.__secret
        except AttributeError:
            self.__secret = 2
            return 1


class Counted:
    calls = 0


class Cell(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = 0

    def construct(self, x):
        self.count += 1
        return x[0] * again(x) * self.count


def _of_a_global(x):
    global COUNT
    COUNT += 1
    return COUNT


def _of_a_new_global(x):
    global FRESH
    try:
        return FRESH
    except NameError:
        FRESH = 2
        return 1


def _of_a_class(x):
    Counted.calls += 1
    return Counted.calls


def _of_a_closure():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return count

    return f


def _of_an_empty_cell():
    if not X.size:
        first = None

    def f(x):
        nonlocal first
        try:
            return first
        except NameError:
            first = 2
            return 1

    return f


def _of(holder, change):
    return lambda x: change(holder)


def _array(a):
    a[0] += 1
    return float(a[0])


def _in_context(variable):
    variable.set(variable.get() + 1)
    return variable.get()


HOLDERS = {
    "a list": lambda: _of([], lambda h: h.append(1) or len(h)),
    "a set": lambda: _of({0}, lambda h: h.add(len(h)) or len(h) - 1),
    "a deque": lambda: _of(collections.deque([0], maxlen=3), lambda h: h.append(1) or len(h) - 1),
    "a dict": lambda: _of({"n": 0}, lambda h: h.update(n=h["n"] + 1) or h["n"]),
    "an empty dict": lambda: _of({}, lambda h: h.update({len(h): 1}) or len(h)),
    "a defaultdict": lambda: _of(collections.defaultdict(int, n=0), lambda h: h.update(n=h["n"] + 1) or h["n"]),
    "a dict that loses a key": lambda: _of({1: 1, 2: 2}, lambda h: h.pop(next(iter(h)))),
    "an array": lambda: _of(np.zeros(2), _array),
    "a large array": lambda: _of(np.zeros((2, 40000)).T, lambda a: _array(a[:, 0])),
    "attributes": lambda: _of(types.SimpleNamespace(), count_of),
    "slots": lambda: _of(Slotted(), count_of),
    "a private slot": lambda: _of(Slotted(), Slotted.secret),
    "a global": lambda: _of_a_global,
    "a global that was not there": lambda: _of_a_new_global,
    "a class": lambda: _of_a_class,
    "a closure": _of_a_closure,
    "a cell that was empty": _of_an_empty_cell,
}


@pytest.mark.parametrize("made", HOLDERS.values(), ids=HOLDERS)
def test_a_count_is_that_of_one_run(made, monkeypatch):
    monkeypatch.setattr(Counted, "calls", 0)
    monkeypatch.setitem(globals(), "COUNT", 0)
    globals().pop("FRESH", None)
    counted = made()
    value, gradient = sg.value_and_grad(lambda x: counted(x) * x[0] * again(x))(X)
    assert value == 3.0
    np.testing.assert_array_equal(gradient, [2.0, 1.5])


def _of_a_series(data):
    data[0] += 1
    return data[0]


def _of_a_table(data):
    data.loc[0, "n"] += 1
    data[f"more{len(data.columns)}"] = 1.0
    return data.loc[0, "n"]


def test_a_count_in_data_of_pandas_is_that_of_one_run():
    pandas = pytest.importorskip("pandas")
    series, table = pandas.Series([0.0, 5.0]), pandas.DataFrame({"n": [0.0, 5.0], "text": ["a", "b"]})
    for data, change in ((series, _of_a_series), (table, _of_a_table)):
        gradient = sg.value_and_grad(lambda x, data=data, change=change: change(data) * x[0] * again(x))
        with pytest.warns(TracedAgain, match="changes what it reads"):
            assert [gradient(X)[0] for _ in range(2)] == [3.0, 6.0]
    assert series.tolist() == [2.0, 5.0]
    assert table.columns.tolist() == ["n", "text", "more2", "more3"]


def test_a_cell_counts_one_run():
    cell = Cell()
    assert sg.value_and_grad(cell)(X)[0] == 3.0
    assert cell.count == 1


class Lazy:
    """A model that keeps what it has computed."""

    def __init__(self):
        self.known = {}
        self.factor = None

    def __call__(self, x):
        if self.factor is None:
            self.factor = np.sin(x[0])
        if "rate" not in self.known:
            self.known["rate"] = np.exp(x[0])
        return self.factor * self.known["rate"] * again(x)


def test_what_is_kept_has_its_slope_in_the_run_that_computes_it():
    e, s, c = np.exp(1.5), np.sin(1.5), np.cos(1.5)
    np.testing.assert_allclose(sg.grad(Lazy())(X), [2 * e * (s + c), e * s], rtol=1e-14)


def test_with_whole_numbers_that_a_trace_is_not_made_for():
    count = []

    def f(x, k):
        count.append(k)
        return len(count) * x[0] * {1: 2.0}[k]

    assert sg.value_and_grad(f)(X, 1)[0] == 3.0


def test_what_runs_once_stays_as_the_function_leaves_it():
    seen = []

    def fails(x):
        seen.append(again(x))
        raise LookupError

    with pytest.raises(LookupError):
        sg.grad(fails)(X)
    assert seen == [2.0]


def test_what_another_thread_says_stays():
    said = threading.Event()

    def f(x):
        said.set()
        return x[0] * again(x)

    guards = TraceGuards(f)
    said.set()
    guards.undo()
    assert said.is_set()


def test_modules_stay_imported():
    space = {"__name__": "fresh"}
    exec("def f(x): return os.sep", space)
    guards = TraceGuards(space["f"])
    space["os"] = types.ModuleType("os")
    guards.undo()
    assert "os" in space
