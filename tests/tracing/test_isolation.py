"""What a trace sees, nobody else does: other threads, the function itself, and all code after it see plain NumPy."""

from __future__ import annotations

import builtins
import math
import threading
import traceback
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import symgrad as sg
from symgrad.tracing.trace import current

_OTHERS = 7


def mixed(x, pause=lambda: None):
    """Every habit in one function; ``pause`` is called where a trace is on."""
    out = np.zeros(3)
    out[0] = math.sin(x[0])
    out[1:] = np.array([x[1], float(x[0]) * x[1]])
    pause()
    flat = out.reshape(-1)
    flat[flat < 0] *= 0.5
    np.add.at(out, [0, 0], x)
    total = sum(v * v for v in out) + max(x[0], x[1])
    return total + np.r_[x, out].sum() + abs(round(x[0])) + pow(x[1], 2)


def plain(seed):
    """What NumPy, math and Python make of plain numbers: arrays, numbers and text."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(4)
    a = np.array([x[0], np.sin(x[1]), 2])
    z = np.zeros(3)
    z[1] = x[2]
    z += np.asarray([x[0], x[1], float(x[3])])
    e, f, o = np.empty_like(z), np.full((2, 2), x[0]), np.ones(2)
    e[:] = np.ascontiguousarray(z[::-1])
    np.add.at(o, [0, 0, 1], x[:3])
    np.fill_diagonal(f, x[:2])
    np.put(z, [0], x[3])
    vectorized = np.vectorize(lambda v: v if v > 0 else -v)(x)
    ufunc = np.frompyfunc(lambda v: v * 2, 1, 1)(x).astype(float)
    made = [a, z, e, f, o, vectorized, ufunc, np.fromiter(iter(x), float), np.r_[x, 1.0], np.c_[x, x]]
    made += [np.block([[f, f]]), np.append(x, 1.0), np.insert(x, 1, 2.0), np.eye(2), np.arange(3) * x[0]]
    made += [np.apply_along_axis(np.sum, 0, f), np.zeros_like(x), np.copy(x), np.multiply(x, x, out=np.empty(4))]
    numbers = [math.sin(x[0]), math.hypot(x[1], 1.0), float(x[2]), int(x[3] * 10), abs(x[0]), round(x[1], 3)]
    numbers += [sum(x), max(x), min(x), pow(x[0], 2), divmod(x[1], 0.3)[1], sorted(x)[1], bool(x[0] > 0), len(x)]
    numbers += [math.isclose(x[0], x[0] + 1e-12), bool(np.isclose(x[1], 0.0)), bool(np.allclose(x, x)), *range(2)]
    return made, numbers, [f"{x[0]:.3f} {a}", repr(z), str(mixed(x[:2]))]


def same(got, want):
    """Alike to the bit, in dtypes and types."""
    for a, b in zip(got[0], want[0], strict=True):
        assert type(a) is type(b) is np.ndarray
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    for a, b in zip(got[1], want[1], strict=True):
        assert type(a) is type(b)
        assert a == b
    assert got[2] == want[2]


def namespaces():
    """What is in each namespace that a function reads, and what functions and classes there are made of."""
    held = {"builtins": builtins, "math": math, "numpy": np, "linalg": np.linalg, "random": np.random}
    found = {name: dict(vars(module)) for name, module in held.items()}
    found["ndarray"] = dict(vars(np.ndarray))
    found["ufunc"] = dict(vars(np.ufunc))
    found["r_"] = {"own": np.r_, "class": type(np.r_), "getitem": type(np.r_).__getitem__}
    found["globals"] = {k: v for k, v in globals().items() if not k.startswith("@")}
    for function in (mixed, plain, same):
        found[function.__name__] = {
            **{name: getattr(function, name) for name in ("__code__", "__globals__", "__closure__", "__defaults__")},
            **{name: getattr(function, name) for name in ("__kwdefaults__", "__doc__", "__name__", "__qualname__")},
            **{f"own {k}": v for k, v in vars(function).items()},
        }
    return found


def unchanged(before):
    """Every name holds the very object that it held; there are none beside them but modules that were imported."""
    now = namespaces()
    for name, held in before.items():
        for key, value in held.items():
            assert now[name][key] is value, f"{name}.{key}"
        for key in now[name].keys() - held.keys():
            assert isinstance(now[name][key], types.ModuleType), f"{name}.{key}"


@pytest.fixture
def paused():
    """A trace that stands still in a thread of its own, until the test is over."""
    inside, go_on = threading.Event(), threading.Event()

    def pause():
        inside.set()
        assert go_on.wait(60)

    before = namespaces()
    with ThreadPoolExecutor(1) as pool:
        derivative = sg.grad(lambda x: mixed(x, pause), backend="numpy")
        running = pool.submit(derivative, np.array([0.4, -1.2]))
        running.add_done_callback(lambda _: inside.set())  # one that fails is not waited for
        try:
            assert inside.wait(60)
            assert not running.done(), running.exception()
            yield before
        finally:
            go_on.set()
        running.result()


def test_other_threads_see_plain_numpy(paused):
    wanted = [plain(seed) for seed in range(20)]
    with ThreadPoolExecutor(_OTHERS) as pool:
        for seeds in pool.map(lambda _: [plain(seed) for seed in range(20)], range(_OTHERS)):
            for got, want in zip(seeds, wanted, strict=True):
                same(got, want)
    assert current() is None


def test_plain_values_are_those_without_any_trace():
    """What ``plain`` gives beside a trace is compared with what it gave before there was one."""
    wanted = [plain(seed) for seed in range(5)]
    sg.grad(mixed, backend="numpy")(np.array([0.4, -1.2]))
    for seed, want in enumerate(wanted):
        same(plain(seed), want)


def test_no_name_is_changed_while_a_trace_is_on(paused):
    unchanged(paused)


def test_no_name_is_changed_after_a_trace():
    before = namespaces()
    sg.grad(mixed, backend="numpy")(np.array([0.4, -1.2]))
    unchanged(before)


def test_the_traced_function_itself_is_plain_elsewhere(paused):
    x = np.array([0.4, -1.2])
    want = mixed(x)
    with ThreadPoolExecutor(_OTHERS) as pool:
        for got in pool.map(mixed, [x] * 50):
            assert type(got) is np.float64
            assert got == want


def test_traces_beside_traces_and_plain_code():
    points = np.random.default_rng(0).standard_normal((40, 2))
    want = [sg.grad(mixed, backend="numpy")(x) for x in points]
    wanted = [plain(seed) for seed in range(40)]

    def either(k):
        return plain(k) if k % 2 else sg.grad(mixed, backend="numpy")(points[k])

    with ThreadPoolExecutor(_OTHERS + 1) as pool:
        for k, got in enumerate(pool.map(either, range(40))):
            if k % 2:
                same(got, wanted[k])
            else:
                np.testing.assert_array_equal(got, want[k])


def test_a_thread_that_the_function_starts_is_no_part_of_it():
    wanted = plain(3)

    def function(x):
        found = []
        thread = threading.Thread(target=lambda: found.append((plain(3), current())))
        thread.start()
        thread.join()
        [(got, trace)] = found
        same(got, wanted)
        assert trace is None
        return np.array([x[0] ** 2, x[1]])

    np.testing.assert_array_equal(sg.grad(function, backend="numpy")(np.array([0.4, -1.2])), [0.8, 1.0])


def test_plain_numbers_within_a_trace_are_plain():
    """What is computed of constants alone in a traced function has NumPy's values."""
    wanted = plain(4)

    def function(x):
        _, numbers, _ = plain(4)
        assert numbers == wanted[1]
        return np.sum(np.array([x[0] * numbers[0], x[1]]))

    np.testing.assert_array_equal(sg.grad(function, backend="numpy")(np.ones(2)), [wanted[1][0], 1.0])


def test_what_a_function_leaves_behind_is_plain_later():
    """Closures, generators and methods that outlive the trace in which they were made."""
    kept = []

    def function(x):
        def helper(v):
            out = np.zeros(2)
            out[0] = math.sin(v)
            return np.array([out[0], float(v)])

        def generator(v):
            yield np.array([v, 1.0])
            yield np.full(2, v)

        begun = generator(1.5)
        next(begun)
        kept.extend([helper, begun, lambda v: np.asarray([v, abs(v)])])
        return np.sum(np.array([x[0], x[1]]) ** 2)

    sg.grad(function, backend="numpy")(np.ones(2))
    helper, begun, small = kept[:3]
    for made in (helper(0.3), next(begun), small(-2.0)):
        assert type(made) is np.ndarray
        assert made.dtype == np.float64
    assert helper(0.3).tolist() == [math.sin(0.3), 0.3]
    assert small(-2.0).tolist() == [-2.0, 2.0]


class Stop(BaseException):
    """No Exception, as an interrupt is none."""


def test_a_thousand_exceptions():
    before, wanted = namespaces(), [plain(seed) for seed in range(3)]
    raised = [ValueError("no"), ZeroDivisionError("no"), KeyboardInterrupt(), Stop(), StopIteration(), SystemExit(3)]
    places = [first, in_a_write, in_a_vectorized_function, in_a_generator, in_a_helper, in_a_comparison]
    caught = 0
    for k in range(1000):
        error, place = raised[k % len(raised)], places[k // len(raised) % len(places)]
        try:
            sg.grad(lambda x, error=error, place=place: place(x, error), backend="numpy")(np.array([0.4, -1.2]))
        except (Exception, KeyboardInterrupt, Stop, SystemExit):
            caught += 1
        assert current() is None
        if k % 200 == 0:
            unchanged(before)
    assert caught == 1000
    unchanged(before)
    for seed, want in enumerate(wanted):
        same(plain(seed), want)
    with ThreadPoolExecutor(_OTHERS) as pool:
        for got in pool.map(lambda _: plain(0), range(_OTHERS)):
            same(got, wanted[0])


def first(x, error):
    raise error


def in_a_write(x, error):
    out = np.zeros(2)
    out[0] = x[0]
    for k in range(3):
        if k == 1:
            raise error
        out[k] += math.exp(x[1])
    return out


def in_a_vectorized_function(x, error):
    def fails(v):
        raise error

    return np.vectorize(fails)(np.array([x[0], x[1]]))


def in_a_generator(x, error):
    def values():
        yield x[0]
        raise error

    total = 0.0
    for value in values():
        total += float(value)
    return total


def in_a_helper(x, error):
    return np.array([mixed(x), first(x, error)])


def in_a_comparison(x, error):
    if math.isclose(x[0], 0.4):
        raise error
    return x


def test_errors_show_the_users_lines():
    def fails(x):
        out = np.zeros(2)
        out[0] = math.sin(x[0])
        return deeper(out, np.array([x[0], x[1]]))

    def deeper(out, made):
        made[0] = out[0]
        raise LookupError("this line")

    with pytest.raises(LookupError) as caught:
        sg.grad(fails, backend="numpy")(np.ones(2))
    own = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert [frame.name for frame in own][-2:] == ["fails", "deeper"]
    assert own[-1].line == 'raise LookupError("this line")'
    assert own[-2].line == "return deeper(out, np.array([x[0], x[1]]))"
