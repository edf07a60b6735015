"""Long loops of which no step may be left out: they change, or depend on, what no step shows."""

import types

import numpy as np
from loops_left_out import N

import symgrad

#: how often something was called; none before a function is
COUNT = {"n": 0}


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
