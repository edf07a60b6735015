"""A function that reads what no guard can see is traced at every call, and warned of once; not for random numbers."""

import functools
import itertools
import random
import re
import time
import warnings

import numpy as np
import pytest

import symgrad
from symgrad.errors import TracedAgain

X = np.array([1.0, 2.0])
NUMBERS = itertools.count()
GENERATOR = np.random.default_rng(0)


def timed(x):
    return np.sum(x) * (time.perf_counter_ns() % (1 << 40))


def of_a_clock(clock, x):
    return np.sum(x) * (clock() % (1 << 40))


def of_a_file(x):
    with open(__file__) as file:
        return np.sum(x) * len(file.read())


def of_an_iterator(x):
    return np.sum(x) * next(NUMBERS)


CHANGING = {
    "clock": (timed, "timed", "time.perf_counter_ns"),
    "partial": (functools.partial(of_a_clock, time.perf_counter_ns), "partial", "time.perf_counter_ns"),
    "file": (of_a_file, "of_a_file", "io.open"),
    "iterator": (of_an_iterator, "of_an_iterator", "an iterator (count)"),
}


@pytest.mark.parametrize("kind", CHANGING)
def test_what_is_traced_at_every_call_is_warned_of_once(kind):
    fn, name, what = CHANGING[kind]
    kept = symgrad.grad(fn)
    kept(X)
    kept(X[:1])  # another shape is traced in any case
    with pytest.warns(
        TracedAgain, match=rf"^{re.escape(name)} is traced again at every call.*{re.escape(what)}"
    ) as warned:
        values = [tuple(kept(X[:1])) for _ in range(4)]
    assert len(warned) == 1
    assert "test_warnings.py" in str(warned[0].message)
    assert len(set(values)) == (1 if kind == "file" else 4)


RANDOM = {
    "generator": lambda x: np.sum(x) * GENERATOR.random(),
    "global": lambda x: np.sum(x) * np.random.random(),
    "made inside": lambda x: np.sum(x) * np.random.default_rng().random(),
    "machine": lambda x: np.sum(x) * random.SystemRandom().random(),
    "with a clock": lambda x: np.sum(x) * np.random.default_rng(time.perf_counter_ns()).random(),
    "generator with a clock": lambda x: np.sum(x) * GENERATOR.random() + time.perf_counter_ns(),
}


@pytest.mark.parametrize("kind", RANDOM)
def test_what_draws_random_numbers_is_meant_to_be_traced_at_every_call(kind):
    kept = symgrad.grad(RANDOM[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len({tuple(kept(X)) for _ in range(4)}) == 4


def test_what_changes_but_is_not_read_is_not_warned_of():
    class Model:
        def __init__(self):
            self.made = time.time()

        def loss(self, x):
            return np.sum(x**2)

        def save(self, path):
            path.write_text(str(self.made))

    kept = symgrad.grad(Model().loss)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [kept(X) for _ in range(4)]


def test_a_derivative_that_is_never_kept_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [symgrad.grad(timed)(X) for _ in range(3)]
