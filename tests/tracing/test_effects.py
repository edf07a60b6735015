"""A function that may have effects runs once for a trace, and what has none may run again."""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import heapq
import io
import itertools
import math
import sqlite3
import threading
import types

import numpy as np
import pytest
from scipy import special

import symgrad as sg
from symgrad import nn
from symgrad.errors import TracedAgain, TracingError
from symgrad.tracing.trace_guards import TraceGuards

X = np.array([1.5, 2.0])
CALLS = contextvars.ContextVar("calls", default=0)
COUNT, CACHE, LAST = 0, {}, None


def again(x):
    """A number that is known only where calls are followed."""
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


def test_what_another_thread_changes_meanwhile_stays():
    known, go, done = {"n": 0, "w": 2.0}, threading.Event(), threading.Event()

    def other():
        go.wait()
        known["n"] += 100
        done.set()

    def f(x):
        go.set()
        done.wait()
        return again(x) * known["w"]

    thread = threading.Thread(target=other)
    thread.start()
    assert sg.value_and_grad(f)(X)[0] == 4.0
    thread.join()
    assert known == {"n": 100, "w": 2.0}


def _of_a_database():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (n)")

    def count(x):
        base.execute("insert into t values (1)")
        return base.execute("select count(*) from t").fetchone()[0]

    count.close = base.close
    return count


def _of_a_file(file):
    return lambda x: (file.write("x"), file.tell())[1]


def _of_a_local(local):
    def count(x):
        local.n = getattr(local, "n", 0) + 1
        return local.n

    return count


def _of_a_lock(lock):
    def count(x):
        with lock:
            return 1

    return count


def _of_a_cached():
    @functools.cache
    def known(n):
        seen.append(n)
        return len(seen)

    seen = []
    return lambda x: known(len(seen))


#: of which nothing that Python can look at says how often it was called
HIDDEN = {
    "an iterator": lambda: _of(iter([1, 2, 3]), next),
    "a generator": lambda: _of((n for n in (1, 2, 3)), next),
    "a counter": lambda: _of(itertools.count(1), next),
    "a method of an iterator": lambda: _of(iter([1, 2, 3]).__next__, lambda h: h()),
    "an array of Python's": lambda: _of(array.array("d"), lambda h: h.append(1.0) or len(h)),
    "a text file": lambda: _of_a_file(io.StringIO()),
    "a thread's own": lambda: _of_a_local(threading.local()),
    "a lock": lambda: _of_a_lock(threading.Lock()),
    "a database": _of_a_database,
    "a cache": _of_a_cached,
    "the least of a heap": lambda: _of([1, 2], heapq.heappop),
    "an ordered dict": lambda: _of(collections.OrderedDict({1: 0, 2: 0}), lambda h: h.popitem(last=False)[0]),
    "a context variable": lambda: _of(contextvars.ContextVar("n", default=0), _in_context),
}


@pytest.mark.parametrize("made", HIDDEN.values(), ids=HIDDEN)
def test_what_nobody_could_undo_is_done_once(made):
    counted = made()
    value, gradient = sg.value_and_grad(lambda x: counted(x) * x[0] * again(x))(X)
    assert value == 3.0
    np.testing.assert_array_equal(gradient, [2.0, 1.5])
    getattr(counted, "close", lambda: None)()


def test_settings_of_numpy_are_as_the_function_leaves_them():
    def f(x):
        old = np.seterr(all="ignore")
        y = again(x) * 2
        np.seterr(**old)
        return y

    before = np.geterr()
    assert sg.value_and_grad(f)(X)[0] == 4.0
    assert np.geterr() == before


def test_a_lock_that_is_taken_is_given_back():
    lock = threading.Lock()

    def f(x):
        lock.acquire()
        y = again(x)
        lock.release()
        return y

    assert sg.value_and_grad(f)(X)[0] == 2.0
    assert not lock.locked()


def test_random_numbers_are_drawn_once():
    first = sg.value_and_grad(lambda x: rng.normal() * again(x))
    rng = np.random.default_rng(3)
    value = first(X)[0]
    wanted = np.random.default_rng(3)
    assert value == wanted.normal() * 2.0
    assert rng.normal() == wanted.normal()


WEIGHTS, TABLE = np.ones(2), {"rate": 2.0}


def helper(x):
    return np.sum(x * WEIGHTS) * TABLE["rate"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.sin(x) ** 2),
        lambda x: helper(x) / np.linalg.norm(x),
        lambda x: sum(v * w for v, w in zip(x, WEIGHTS, strict=True)),
        lambda x: np.mean(np.fft.fft(x).real) + math.pi * len(x),
        lambda x: special.gammaln(x).sum(axis=0) if x.ndim else float("nan"),
        lambda x: sg.grad(helper)(x)[0] * max(x[0], 0.0),
    ],
)
def test_what_does_nothing_but_compute_is_known_to_have_no_effects(function):
    assert not TraceGuards(function).has_effects


@pytest.mark.parametrize("name", ["np.copyto", "np.put", "np.save", "np.random.normal", "print", "next", "setattr"])
def test_others_count_as_having_some(name):
    assert TraceGuards(eval(f"lambda x: {name}(x)", {"np": np})).has_effects


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")
def test_a_function_is_run_once_whatever_it_needs():
    """Followed calls, ints that change, loops of many steps, solvers: each with an effect that counts."""
    count = []

    def counted(x, n=3):
        count.append(n)
        y = np.zeros(2)
        y[0] = math.sin(x[0])
        for _ in range(n):
            y = y * 0.5 + x
        return y.sum() * len(str(n))

    gradient = sg.grad(counted)
    for k, n in enumerate((3, 3, 4, 5, 60, 600)):
        gradient(X, n)
        assert len(count) == k + 1


def test_where_a_first_run_has_changed_what_it_reads_it_is_refused_and_then_followed():
    """Only an array that is written into by an operator, through a name that could be any other."""
    kept = np.zeros(2)

    def f(x):
        a = kept
        a += 1.0
        return again(x) * a[0]

    gradient = sg.value_and_grad(f)
    with pytest.raises(TracingError, match="had changed what it reads"):
        gradient(X)
    assert gradient(X)[0] == 2.0 * kept[0]


class Kept:
    def __init__(self, value):
        self.value = value


def keeps(places, x):
    number, vector = float(x[0]), x * 2
    places["list"].append(number)
    places["queue"].append(vector)
    places["deep"]["inside"] = ({"number": number, "whole": int(number)}, [number])
    places["queue in list"].append(collections.deque([number]))
    places["object"].append(Kept(Kept(number)))
    places["real"] = number.real
    return number * vector[1]


def test_what_is_left_in_containers_and_objects_is_of_the_kinds_of_a_plain_call():
    def fresh():
        return {"list": [], "queue": collections.deque(), "deep": {}, "queue in list": [], "object": []}

    places, plainly = fresh(), fresh()
    assert sg.symbolic(lambda x: keeps(places, x))(X) == keeps(plainly, X)
    inside = [p["object"].pop().value.value for p in (places, plainly)]
    assert repr(inside[0]) == repr(inside[1])
    assert repr(places) == repr(plainly)


@pytest.mark.parametrize("options", [{}, {"otypes": [float]}, {"cache": True}, {"signature": "()->()"}])
def test_vectorize_calls_its_function_as_often_as_numpy(options):
    def counted(x):
        return np.vectorize(lambda t: calls.append(1) or 2 * t, **options)(x)

    calls = []
    counted(X)
    plainly = len(calls)
    np.testing.assert_array_equal(sg.symbolic(counted)(X), 2 * X)
    assert len(calls) == 2 * plainly
