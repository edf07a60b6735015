"""Long loops: those of which steps are left out, those of which none are, and the same results."""

import types

import numpy as np
import pytest

import symgrad
from symgrad.tracing import left_out, long_loops

N = 400
_rng = np.random.default_rng(0)
A = np.linalg.qr(_rng.normal(size=(3, 3)))[0] * 1.02
H = _rng.normal(size=3)
XS = _rng.normal(size=(N, 3)) * 0.3
ORDER = np.arange(N)
ORDER[20:-20] = _rng.permutation(ORDER[20:-20])
WIDTH = A * 0.5


def step(h, x):
    return np.tanh(WIDTH @ h + x)


def halved(h, factor=0.9):
    made = factor * h
    return made, made.sum()


def runge_kutta(f, y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    return y + h / 6 * (k1 + 4 * k2 + k3)


def oscillator(y):
    return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])


class Cell:
    gain = 0.9

    def __init__(self):
        self.matrix = A

    def advance(self, h, x):
        return np.sin(self.matrix @ h) * self.gain + x


CELL = Cell()


def by_place(h, a, xs):
    for t in range(len(xs)):
        h = np.sin(a @ h + xs[t])
    return h.sum()


def rows(h, a, xs):
    for x in xs:
        h = np.sin(a @ h + x)
    return h.sum()


def before_and_sum(h, a, xs):
    total = 0.0
    for t in range(1, N):
        h = np.sin(a @ h + xs[t - 1])
        total += (h**2).sum() * xs[t, 0]
    return total


def backwards(h, a, xs):
    n = len(xs)
    for t in range(n):
        h = np.sin(a @ h + xs[n - 1 - t])
    return h.sum()


def down(h, a, xs):
    for t in range(N - 1, -1, -1):
        h = np.sin(a @ h + xs[t])
    return h.sum()


def every_other(h, a, xs):
    for t in range(0, N, 2):
        h = np.sin(a @ h + xs[t])
    return h.sum()


def two_back(h, a, xs):
    u, v = h, h * 2
    for t in range(2, N):
        u, v = v, np.sin(a @ u + 0.1 * v) + xs[t - 2]
    return (u * v).sum()


def by_function(h, a, xs):
    for t in range(N):
        h = step(h, xs[t])
    return h.sum()


def by_method(h, a, xs):
    for t in range(N):
        h = CELL.advance(h, xs[t])
    return h.sum()


def by_lambda(h, a, xs):
    f = lambda h: np.cos(a @ h)  # noqa: E731
    for _ in range(N):
        h = f(h)
    return h.sum()


def by_members(h, a, xs):
    given = {"a": a, "more": [1, a]}
    for t in range(N):
        h = np.sin(given["a"] @ h + given["more"][1] @ xs[t])
    return h.sum()


def of_two_results(h, a, xs):
    total = 0.0
    for _ in range(N):
        h, part = halved(h)
        total = total + part
    return total


def of_a_function_of_a_function(h, a, xs):
    for _ in range(N):
        h = runge_kutta(oscillator, h[:2], 0.01)
    return h.sum()


def updated(h, a, xs):
    x = h
    for _ in range(N):
        x += 0.01 * np.sin(a @ x)
    return (x * h).sum()


def constant_inside(h, a, xs):
    for t in range(N):
        rate = 0.5
        h = np.sin(a @ h + rate * xs[t])
    return h.sum()


def kalman(h, a, xs):
    p, m, likelihood = np.eye(3), h, 0.0
    for t in range(N):
        m, p = a @ m, a @ p @ a.T + 0.1 * np.eye(3)
        s = p[0, 0] + 0.5
        gain, v = p[:, 0] / s, xs[t, 0] - m[0]
        m, p = m + gain * v, p - np.outer(gain, p[0])
        likelihood = likelihood - 0.5 * (np.log(s) + v**2 / s)
    return likelihood


def inside_of_others(h, a, xs):
    for i in range(3):
        for t in range(N // 4):
            h = np.sin(a @ h + xs[t])
        h = h * xs[i]
    return h.sum()


def one_after_the_other(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    for t in range(N):
        h = np.cos(h - xs[t]) + 0.5 * h
    return h.sum()


def number_of_the_last(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    return (h * t).sum()


def stale_view(h, a, xs):
    m = np.sin(np.array([h[0], h[1], h[2], h[0]])).reshape(2, 2)
    for t in range(N):
        v = m.T.reshape(-1)
        w = v * 2
        m *= 0.99
        h = np.sin(a @ h + w[0] + xs[t])
    return h.sum()


def once_more(h, a, xs):
    total = 0.0
    for count in (N, N, 12, N // 2, 11):
        u = h
        for _ in range(count):
            u = np.sin(a @ u) + 0.1 * u
        total = total + u.sum() * xs[0, 0]
    return total


LEFT_OUT = [
    stale_view,
    *(by_place, rows, before_and_sum, backwards, down, every_other, two_back, by_function, by_method, by_lambda),
    *(by_members, of_two_results, of_a_function_of_a_function, updated, constant_inside, kalman, inside_of_others),
    *(one_after_the_other, number_of_the_last),
]


def counter(h, a, xs):
    k = 0
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        k = k + 1
    return h.sum() * k


def counter_as_place(h, a, xs):
    k = -1
    for _ in range(N):
        k += 1
        h = np.sin(a @ h + xs[k])
    return h.sum()


def rate_that_falls(h, a, xs):
    rate = 1.0
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * rate
        rate = rate * 0.999
    return h.sum() * rate


def any_order(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[ORDER[t]])
    return h.sum()


def any_order_elsewhere(h, a, xs):
    def at():
        return xs[ORDER[t]]

    for t in range(N):  # noqa: B007
        h = np.sin(a @ h + at())
    return h.sum()


def kept(h, a, xs):
    found = []
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        found.append(h)
    return np.stack(found).sum()


def kept_by_a_name(h, a, xs):
    found = []
    keep = found.append
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        _ = keep(h)
    return np.stack(found).sum()


def one_step_is_another(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        if t == 100:
            h = h * 2
    return h.sum()


def known_array_changes(h, a, xs):
    z = np.ones(3)
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        z = z * 0.99
    return h.sum() + z.sum()


def known_array_is_updated(h, a, xs):
    z = np.ones(3)
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        z *= 0.99
    return h.sum() + z.sum()


def known_array_is_written_by_name(h, a, xs):
    z = np.ones(3)
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        _ = np.add(z, 1, z)
    return h.sum() + z.sum()


def number_of_the_step(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * (1 - 0.001 * t)
    return h.sum()


def last_number(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        last = t
    return h.sum() * last


def arguments_change_places(h, a, xs):
    u, v = xs[0], xs[1]
    for t in range(N - 1):
        h = np.sin(a @ h + xs[t])
        u, v = v, u
    return (h * u).sum() - v.sum()


def arguments_change_places_in_a_tuple(h, a, xs):
    pair = (xs[0], xs[1])
    for t in range(N - 1):
        h = np.sin(a @ h + xs[t])
        pair = (pair[1], pair[0])
    return (h * pair[0]).sum() - pair[1].sum()


def what_was_made_before(h, a, xs):
    u, v, w = h, h * 0.5, np.sin(h)
    for _ in range(60):
        v, u = u, np.sin(v)
        w, u = u, np.sin(w)
    return (u + 2 * v + 3 * w).sum() + (a.sum() * xs).sum()


def parts_of_a_list(h, a, xs):
    parts = [xs[t] for t in range(N)]
    for t in range(N):
        h = np.sin(a @ h + parts[t])
    return h.sum()


def the_same_from_both_ends(h, a, xs):
    total = 0.0
    for t in range(N):
        total = total + (np.sin(xs[t]) * np.cos(xs[N - 1 - t]) * h).sum() * np.sum(np.sin(xs[N - 1 - t]))
    return total + (a @ h).sum()


PULSE = np.zeros(N)
PULSE[N // 2] = 1.0
LISTED = [0.0] * 100 + [1.0] * 50 + [0.0] * (N - 150)
PLACES = [0] * 100 + [1] * 50 + [0] * (N - 150)


def pulse(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t]) + PULSE[t]
    return h.sum()


def pulse_of_a_list(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t]) + LISTED[t]
    return h.sum()


def pulse_by_a_name(h, a, xs):
    h = np.array([h[0], h[1], h[2]])
    for t in range(N):
        k = PLACES[t]
        h = np.sin(a @ h + xs[k])
    return h.sum()


def pulse_summed_up(h, a, xs):
    h, total = np.array([h[0], h[1], h[2]]), 0.0
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        total = total + LISTED[t]
    return h.sum() * total


def listed_values(h, a, xs):
    matrices = [a] * 100 + [a * 0.5] * 50 + [a] * (N - 150)
    for t in range(N):
        h = np.sin(matrices[t] @ h + xs[t])
    return h.sum()


def kept_for_long(h, a, xs):
    last = [h] * 6
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        last = last[1:] + [h]
    return sum(last).sum()


def kept_in_names(h, a, xs):
    u = v = w = x = y = h
    for t in range(N):
        y, x, w, v, u = x, w, v, u, h
        h = np.sin(a @ h + xs[t])
    return (h - y).sum()


def kept_in_fewer_names(h, a, xs):
    u = v = w = x = h
    for t in range(N):
        x, w, v, u = w, v, u, h
        h = np.sin(a @ h + xs[t])
    return (h * x).sum() + v.sum()


def cross_over(h, a, xs):
    u, v = h, -2 * h
    for _ in range(N - 1):
        u, v = 1.001 * v, 1.001 * u
    return (u * xs[0]).sum() + a.sum()


class Counts:
    n = 0

    def first(self, h):
        return self.count(h)

    def second(self, h):
        return h * 0.99

    def third(self, h):
        return h * 0.98

    def count(self, h):
        self.n += 1
        return h * 1.0

    def __getattr__(self, name):
        self.__dict__["n"] = self.__dict__.get("n", 0) + 1
        return 0.5 if self.n == 200 else 1.0


class Half:
    def __get__(self, owner, kind=None):
        owner.n = getattr(owner, "n", 0) + 1
        return 0.5 if owner.n == 200 else 1.0


class Described:
    rate = Half()


class Odd(float):
    def __mul__(self, other):
        COUNT["n"] += 1
        return float(self) * other * (2 if COUNT["n"] == 200 else 1)


COUNTS, DESCRIBED, ODD = Counts(), Described(), Odd(0.9)


def by_methods_that_count(h, a, xs):
    COUNTS.n = 0
    for t in range(N):
        h = np.sin(a @ COUNTS.third(COUNTS.second(COUNTS.first(h))) + xs[t])
    return h.sum() * COUNTS.n


def by_attributes_that_are_made(h, a, xs):
    COUNTS.n = 0
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * COUNTS.rate
    return h.sum()


def by_a_descriptor(h, a, xs):
    DESCRIBED.n = 0
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * DESCRIBED.rate
    return h.sum()


def by_a_number_of_ones_own(h, a, xs):
    COUNT["n"] = 0
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * (ODD * 0.9)
    return h.sum()


def doubled_once(h):
    COUNT["n"] += 1
    return h * 2 if COUNT["n"] == 200 else h


def applied(h, act=doubled_once):
    return act(h)


def by_what_is_given_by_default(h, a, xs):
    COUNT["n"] = 0
    for t in range(N):
        h = applied(np.sin(a @ h + xs[t]))
    return h.sum()


CACHE = {}


def cached(h, a, xs):
    if "w" not in CACHE:
        CACHE["w"] = np.sin(h)
    w = CACHE["w"]
    for t in range(N):
        h = np.sin(w * (a @ h) + xs[t])
    CACHE.clear()
    return h.sum()


LEFT_VALUES = []


def left_elsewhere(h, a, xs):
    LEFT_VALUES.clear()
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    LEFT_VALUES.append(h)
    return h.sum()


def same_value_twice(h, a, xs):
    start = np.sin(h)
    old, new = start, np.sin(h)  # the same node, and two objects
    for t in range(N - 1):
        old, new = new, old
        h = np.sin(a @ h + xs[t])
    old -= h
    return (start * h).sum()


def lists_trade_places(h, a, xs):
    u, v = [h], [h]
    first = u
    for t in range(N - 1):
        u, v = v, u
        h = np.sin(a @ h + xs[t])
    u += [h]
    return sum(first).sum() + h.sum()


def written_in_turns(h, a, xs):
    now, then = h * 1.0, h * 2.0
    keep = now
    for _ in range(N - 1):
        now, then = then, now
        now += 0.001 * np.sin(a @ then)
    return keep.sum() + (now * xs[0]).sum()


def sign_of_zero(h, a, xs):
    h, s = np.array([h[0], h[1], h[2]]), 0.0
    for t in range(N - 1):
        s = -s
        h = np.sin(a @ h + xs[t])
    return h.sum() + np.copysign(1.0, s)


FIRST, SECOND = 1.0, 2.0


def first():
    return FIRST


def second():
    return SECOND


def globals_trade_places(h, a, xs):
    global FIRST, SECOND
    FIRST, SECOND = 1.0, 2.0
    h = np.array([h[0], h[1], h[2]])
    for t in range(N - 1):
        held = first()
        FIRST = second()
        SECOND = held
        h = np.sin(a @ h + xs[t])
    return h.sum() * FIRST


def tick(x):
    COUNT["n"] += 1
    return x


TICK = np.frompyfunc(tick, 1, 1)


def by_a_ufunc_of_ones_own(h, a, xs):
    h = np.array([h[0], h[1], h[2]])
    for t in range(N):
        _ = TICK(1.0)
        h = np.sin(a @ h + xs[t])
    return h.sum() * COUNT["n"]


class Kept:
    def __mul__(self, other):
        COUNT["n"] += 1
        return 1.0


OBJECTS = np.array([Kept()], dtype=object)


def by_an_array_of_objects(h, a, xs):
    h = np.array([h[0], h[1], h[2]])
    for t in range(N):
        _ = OBJECTS[0] * 2
        h = np.sin(a @ h + xs[t])
    return h.sum() * COUNT["n"]


MODULE = types.ModuleType("module")
MODULE.sum = lambda h: tick(h)


def by_a_module_that_is_given(h, a, xs):
    def applied(m, h):
        return m.sum(h)

    h = np.array([h[0], h[1], h[2]])
    for t in range(N):
        h = applied(MODULE, np.sin(a @ h + xs[t]))
    return h.sum() * COUNT["n"]


def left_in_an_outer_function(h, a, xs):
    last = None

    def loss(u):
        nonlocal last
        for _ in range(N):
            u = np.sin(a @ u)
        last = u
        return (u * u).sum()

    slope = symgrad.grad(loss)(h)
    return (slope * 0.1).sum() + (last * xs[0]).sum()


class Model:
    epoch = 0


MODEL = Model()


def counts_after_it(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    MODEL.epoch += 1
    if h[0] > 0:
        h = h * 2
    return h.sum()


COUNT = {"n": 0}


def counted(h):
    COUNT["n"] += 1
    return h * 1.0


def by_a_function_that_counts(h, a, xs):
    COUNT["n"] = 0
    for t in range(N):
        h = np.sin(a @ counted(h) + xs[t])
    return h.sum() * COUNT["n"]


GLOBAL = 0


def global_counter(h, a, xs):
    global GLOBAL
    GLOBAL = 0
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        GLOBAL = GLOBAL + 1
    return h.sum() * GLOBAL


def number_in_a_list(h, a, xs):
    w = [1.0]
    for t in range(N):
        h = np.sin(a @ h + xs[t])
        w = [w[0] * 0.999]
    return h.sum() * w[0]


def by_a_property(h, a, xs):
    class Counts:
        n = 0

        @property
        def one(self):
            self.n += 1
            return 1.0

    counts = Counts()
    for t in range(N):
        h = np.sin(a @ h + xs[t]) * counts.one
    return h.sum() * counts.n


def random_each(h, a, xs):
    rng = np.random.default_rng(0)
    for t in range(N):
        h = np.sin(a @ h + xs[t] + rng.normal(size=3))
    return h.sum()


def with_their_numbers(h, a, xs):
    for t, x in enumerate(xs):  # noqa: B007
        h = np.sin(a @ h + x)
    return h.sum() * t


def held_error(h, a, xs):
    try:
        for t in range(N + 5):
            h = np.sin(a @ h + xs[t])
    except IndexError:
        h = h * 7
    return h.sum()


def held_error_and_more(h, a, xs):
    try:
        for t in range(N):
            h = np.sin(a @ h)
            k = xs[t + 2]
    except IndexError:
        for t in range(20):
            h = np.sin(a @ h)
            k = xs[t]
    return h.sum() + k.sum()


WHOLE = [
    *(counter, counter_as_place, rate_that_falls, any_order, any_order_elsewhere, kept, kept_by_a_name),
    *(one_step_is_another, known_array_changes, known_array_is_updated, known_array_is_written_by_name),
    *(number_of_the_step, last_number, by_a_function_that_counts, global_counter, number_in_a_list, by_a_property),
    *(random_each, with_their_numbers, arguments_change_places, arguments_change_places_in_a_tuple),
    *(
        left_elsewhere,
        what_was_made_before,
        parts_of_a_list,
        pulse,
        pulse_of_a_list,
        pulse_by_a_name,
        pulse_summed_up,
        listed_values,
    ),
    *(
        kept_for_long,
        kept_in_fewer_names,
        kept_in_names,
        by_methods_that_count,
        by_attributes_that_are_made,
        by_a_descriptor,
    ),
    *(by_a_number_of_ones_own, by_what_is_given_by_default, cached),
]


def by_its_value(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    return h.sum() if h[0] > 0 else -h.sum()


def held_by_a_bare_except(h, a, xs):
    try:
        for t in range(N):
            h = np.sin(a @ h + xs[t])
        if h[0] > 0:
            h = -h
    except:  # noqa: E722
        h = h * 7
    return h.sum()


def not_alike_all_the_way(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t - N // 2 - 3])
    return h.sum()


AGAIN = [
    once_more,
    cross_over,
    the_same_from_both_ends,
    held_error,
    held_error_and_more,
    by_its_value,
    held_by_a_bare_except,
    not_alike_all_the_way,
]


@pytest.fixture
def left(monkeypatch):
    """How many steps were left out, of each loop of the traces that were made."""
    found = []
    leave = left_out.LeftOut.leave

    def note(self, steps, began):
        found.append(steps)
        leave(self, steps, began)

    monkeypatch.setattr(left_out.LeftOut, "leave", note)
    monkeypatch.setattr(long_loops, "LONG", 100)
    return found


def results(function):
    """The value, which is NumPy's to the bit, and the gradients."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    COUNT["n"] = 0
    value, gradients = symgrad.value_and_grad(copy, (0, 1, 2), backend="numpy")(H.copy(), A.copy(), XS.copy())
    COUNT["n"] = 0
    assert value == function(H.copy(), A.copy(), XS.copy())
    return [value, *gradients]


def with_every_step(function, monkeypatch, left):
    left.clear()
    with monkeypatch.context() as patch:
        patch.setattr(long_loops, "MIN_STEPS", 1 << 40)
        patch.setattr(long_loops, "LONG", 1 << 40)
        found = results(function)
    assert not left
    return found


def expect_same(found, whole):
    for a, b in zip(found, whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12 * np.max(np.abs(b)))


@pytest.mark.parametrize("function", LEFT_OUT, ids=lambda f: f.__name__)
def test_steps_are_left_out(function, left, monkeypatch):
    made_again = []
    make_again = left_out.LeftOut.make_again
    monkeypatch.setattr(
        left_out.LeftOut, "make_again", lambda own, whole: made_again.append(whole) or make_again(own, whole)
    )
    found = results(function)
    assert left
    assert True not in made_again  # with every step
    assert min(left) >= N // 4 - long_loops.HEAD - long_loops.TAIL
    expect_same(found, with_every_step(function, monkeypatch, left))


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_no_step_is_left_out(function, left, monkeypatch):
    found = results(function)
    assert not left
    expect_same(found, with_every_step(function, monkeypatch, left))


@pytest.mark.parametrize("function", AGAIN, ids=lambda f: f.__name__)
def test_what_cannot_do_without_steps_is_traced_with_all(function, left, monkeypatch):
    found = results(function)
    assert left
    expect_same(found, with_every_step(function, monkeypatch, left))


def test_what_is_left_elsewhere_has_its_value(left):
    results(left_elsewhere)
    assert not left
    h = H
    for t in range(N):
        h = np.sin(A @ h + XS[t])
    np.testing.assert_array_equal(np.asarray(LEFT_VALUES[0]), h)


def test_errors_that_a_bare_except_makes_of_it_are_no_errors(left):
    def function(h, a, xs):
        try:
            return by_place(h, a, xs)
        except:  # noqa: E722
            raise ValueError("held") from None

    results(function)
    assert left


def test_a_trace_that_knows_its_lines_says_nothing_of_those_that_run(left):
    gradient = symgrad.grad(by_place, backend="numpy")
    gradient._compiled.recorded(H, A, XS[:60])
    assert not left
    gradient(H, A, XS[:70])
    assert left


def test_a_short_loop_says_nothing_of_a_long_one(left):
    def function(h, a, xs):
        h = np.array([h[0], h[1], h[2]])
        for x in xs:
            h = np.sin(a @ h + x)
        return h.sum()

    gradient = symgrad.grad(function, backend="numpy")
    gradient(H, A, XS[:20])
    gradient(H, A, XS[:200])
    assert left == [200 - long_loops.HEAD - long_loops.TAIL]


def test_slopes_are_those_of_differences(left):
    gradients = results(kalman)[1:]
    assert left
    arguments = [H, A, XS]
    rng = np.random.default_rng(1)
    along = [rng.normal(size=x.shape) for x in arguments]
    up, down = (kalman(*[x + s * d for x, d in zip(arguments, along, strict=True)]) for s in (1e-6, -1e-6))
    slope = sum(np.sum(g * d) for g, d in zip(gradients, along, strict=True))
    assert slope == pytest.approx((up - down) / 2e-6, rel=1e-6)


def rotation(x, v):
    for _ in range(100_000):
        x, v = x + 1e-4 * v, v - 1e-4 * np.sin(x)
    return x + v


def test_a_trace_does_not_grow_with_the_steps():
    gradient = symgrad.value_and_grad(rotation, (0, 1), backend="numpy")
    value, slopes = gradient(1.0, 0.5)
    assert value == rotation(1.0, 0.5)
    up, down = rotation(1.0 + 1e-6, 0.5), rotation(1.0 - 1e-6, 0.5)
    assert slopes[0] == pytest.approx((up - down) / 2e-6, rel=1e-5)
    assert len(gradient._compiled.entry(1.0, 0.5).trace.graph.table) < 1000


def test_the_next_shape_is_traced_with_less_from_the_start(left, monkeypatch):
    asked = []
    make_again = left_out.LeftOut.make_again
    monkeypatch.setattr(
        left_out.LeftOut, "make_again", lambda self, whole: asked.append(whole) or make_again(self, whole)
    )
    gradient = symgrad.grad(by_place, backend="numpy")
    for n in (100, 150, 200):
        gradient(H, A, XS[:n])
    assert asked == [False]
    assert left == [n - long_loops.HEAD - long_loops.TAIL for n in (100, 150, 200)]


@pytest.mark.parametrize("made", [symgrad.jacobian, symgrad.hessian], ids=["jacobian", "hessian"])
def test_higher_orders(made, left, monkeypatch):
    def function(h, xs):
        for t in range(60):
            h = np.sin(A @ h + xs[t])
        return h.sum() if made is symgrad.hessian else h

    found = made(function, backend="numpy")(H, XS)
    assert left
    monkeypatch.setattr(long_loops, "MIN_STEPS", 1 << 40)
    monkeypatch.setattr(long_loops, "LONG", 1 << 40)

    def again(h, xs):
        return function(h, xs)

    np.testing.assert_allclose(found, made(again, backend="numpy")(H, XS), rtol=1e-10, atol=1e-12)


def test_gradients_inside_of_functions(left, monkeypatch):
    def norm(h, a, xs):
        return (symgrad.grad(by_place)(h, a, xs) ** 2).sum()

    found = symgrad.grad(norm, backend="numpy")(H, A, XS[:100])
    assert left
    monkeypatch.setattr(long_loops, "MIN_STEPS", 1 << 40)
    whole = symgrad.grad(lambda *args: norm(*args), backend="numpy")(H, A, XS[:100])
    np.testing.assert_allclose(found, whole, rtol=1e-10)


@pytest.mark.parametrize(
    "function", [by_place, rows, before_and_sum, down, two_back, by_function], ids=lambda f: f.__name__
)
def test_formulas_are_those_of_every_step(function, left, monkeypatch):
    def told():
        copy = types.FunctionType(function.__code__, function.__globals__, function.__name__)
        return str(symgrad.grad(copy, (0, 1)).formulas(H, A, XS))

    found = told()
    assert left
    assert f"t = 0, …, {'398' if function is before_and_sum else '397' if function is two_back else '399'}" in found
    monkeypatch.setattr(long_loops, "MIN_STEPS", 1 << 40)
    monkeypatch.setattr(long_loops, "LONG", 1 << 40)
    assert found == told()


def test_formulas_and_exports_have_every_step(left):
    gradient = symgrad.grad(by_place)
    found = gradient(H, A, XS[:50])
    assert left == [50 - long_loops.HEAD - long_loops.TAIL]
    assert "λ₅₀" in str(gradient.formulas(H, A, XS[:50]))
    space = {}
    exec(gradient.export("python", H, A, XS[:50]), space)
    np.testing.assert_allclose(space["grad_by_place"](H, A, XS[:50]), found, rtol=1e-12)
