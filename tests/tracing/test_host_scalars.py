"""Ints that change: Python's arithmetic to the bit, few traces, and a trace of its own for whatever is no value."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiled import CompiledFunction
from symgrad.errors import ArgumentError

X = np.linspace(0.5, 2.0, 4)
SMALL = X.astype(np.float32)
INTS = range(1, 12)


@contextlib.contextmanager
def runs():
    """How often a function is run for a trace inside, one item each: what counts itself has effects."""
    count, run = [], CompiledFunction._traced
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompiledFunction, "_traced", lambda *args: count.append(1) or run(*args))
        yield count


#: what is computed of a changing int, and how many traces 11 of them may take
VALUES = {
    "times": (lambda x, t: x * t, 2),
    "reflected": (lambda x, t: t / x - t * x + t**x, 2),
    "bias correction": (lambda x, t: x / (1 - 0.9**t), 2),
    "decay": (lambda x, t: x * np.exp(-0.1 * t) + np.sqrt(t) * x, 2),
    "more than 64 bits": (lambda x, t: x / 2 ** (t * 40), 2),
    "shifts and masks": (lambda x, t: x * (1 << t) + (t & 3) - (~t) + abs(-t), 2),
    "whole division": (lambda x, t: x * (t // 3) + t % 3 + divmod(t, 4)[1], 2),
    "rounding": (lambda x, t: x * round(t / 3) + math.floor(t / 3) + math.ceil(t / 5), 2),
    "array operators": (lambda x, t: x % t + x // t, 2),
    "functions of two": (lambda x, t: np.maximum(x, t) + np.power(x, t) + np.where(x > 1, x, t), 2),
    "a function of a number": (lambda x, t: x * np.round(t), 2),
    "clip": (lambda x, t: np.clip(x, 0, t * 0.1), 2),
    "float32": (lambda x, t: x.astype(np.float32) * t, 2),
    "numpy scalars": (lambda x, t: np.float32(2) * t * x + t * np.float64(3), 2),
    "a constant array": (lambda x, t: x + np.arange(4) * t + np.eye(4)[0] / t, 2),
    "isinstance": (lambda x, t: x * (t if isinstance(t, int) else 0), 2),
    "a branch": (lambda x, t: x * 2 if t % 3 == 0 else x * t, 3),
    "max": (lambda x, t: x * max(t, 5), 3),
    "truth": (lambda x, t: x * t if t - 4 else x, 3),
    "a power, but for those that NumPy computes in another way": (lambda x, t: x**t, 3),
    "an index made of it": (lambda x, t: x[t % 4], 5),
    "an axis made of it": (lambda x, t: np.sum(x.reshape(2, 2), axis=t % 2), 3),
    "int()": (lambda x, t: x * t + x[int(t / 4)], 4),
}
#: what needs the number itself, so that it is part of the signature
STATIC = {
    "range": lambda x, t: sum(x * k for k in range(t)),
    "a shape": lambda x, t: np.sum(np.zeros(t) + x[0]),
    "a slice": lambda x, t: np.sum(x[:t]),
    "an index": lambda x, t: x * np.arange(20.0)[t],
    "a shift": lambda x, t: np.roll(x, t),
    "full": lambda x, t: x + np.full(4, t),
    "linspace": lambda x, t: x * np.linspace(0, t, 4),
    "repeat": lambda x, t: np.sum(np.repeat(x, t)),
    "an array of it": lambda x, t: x[0] * np.array([1.0, t]) + np.asarray(t),
    "a narrow dtype": lambda x, t: x + np.arange(4, dtype=np.int8) * t,
    "float()": lambda x, t: x * float(t),
    "text": lambda x, t: x * len(f"{t}{t!r}"),
    "a key": lambda x, t: x * {k: 2.0 * k for k in range(20)}[t],
    "a method": lambda x, t: x * t.bit_length(),
    "a copy": lambda x, t: x * pickle.loads(pickle.dumps(t)) + copy.deepcopy(t) * x,
    "math": lambda x, t: x * math.sqrt(t),
}


def served(fn, x, backend="numpy", ints=INTS):
    """``fn`` traced and called with each int: values and dtypes are its own, to the bit where NumPy runs."""
    run = sg.symbolic(fn, backend=backend)
    traces = 0
    for t in ints:
        with np.errstate(all="ignore"):
            want = fn(x, t)
        with runs() as count:
            got = run(x, t)
        traces += len(count)
        assert np.asarray(got).dtype == np.asarray(want).dtype
        if backend == "numpy":
            np.testing.assert_array_equal(got, want)
        else:
            np.testing.assert_allclose(got, want, rtol=1e-6)
    return traces, run


@pytest.mark.parametrize("name", VALUES)
def test_ints_that_are_computed_with_are_values(name):
    fn, most = VALUES[name]
    assert served(fn, X)[0] == most
    served(fn, SMALL)


@pytest.mark.parametrize("name", STATIC)
def test_ints_that_are_needed_as_numbers_have_a_trace_each(name):
    traces, run = served(STATIC[name], X)
    assert traces <= len(INTS) + 1
    again = [run(X, t) for t in INTS]
    assert len(again) == len(INTS)


@pytest.mark.parametrize("backend", ["native", "numexpr"])
@pytest.mark.parametrize("name", ["times", "reflected", "bias correction", "functions of two", "float32", "a branch"])
def test_every_backend_takes_them(name, backend):
    served(VALUES[name][0], X, backend)


def test_derivatives_take_them():
    gradient = sg.grad(lambda x, t: np.sum(x**t) / (1 - 0.5**t))
    for t in INTS:
        step = 1e-6
        want = [(np.sum((X + d) ** t) - np.sum((X - d) ** t)) / (2 * step) / (1 - 0.5**t) for d in step * np.eye(4)]
        np.testing.assert_allclose(gradient(X, t), want, rtol=1e-5)
    at_zero = sg.grad(sg.grad(lambda x, n: x**n))
    assert [float(at_zero(0.0, n)) for n in range(1, 7)] == [0.0, 2.0, 0.0, 0.0, 0.0, 0.0]


def test_formulas_are_of_the_number_while_it_stays():
    gradient = sg.grad(lambda x, n: x**n)
    gradient(2.0, 3)
    assert str(gradient.closed_form()) == "3*x**2"
    gradient(2.0, 4), gradient(2.0, 5)
    assert str(gradient.closed_form(2.0, 3)) == "3*x**2"


def test_exports_are_for_the_ints_that_are_passed():
    gradient = sg.grad(lambda x, n: np.sum(x**n))
    for n in (3, 4, 5):
        gradient(X, n)
    with pytest.raises(ArgumentError, match="pass example arguments"):
        gradient.export("python")
    assert "** 2" in gradient.export("python", X, 3) or "square" in gradient.export("python", X, 3)


def test_the_second_of_two_ints_changes_alone():
    gradient = sg.grad(lambda x, n, t: np.sum(x[:n]) * t)
    with runs() as count:
        for t in range(1, 30):
            np.testing.assert_array_equal(gradient(X, 2, t), [t, t, 0, 0])
        assert len(count) == 2
        np.testing.assert_array_equal(gradient(X, 3, 50), [50, 50, 50, 0])
        for t in range(30, 60):
            np.testing.assert_array_equal(gradient(X, 3, t), [t, t, t, 0])
        assert len(count) <= 5


def test_nested_and_keyword_ints_change_too():
    gradient = sg.symbolic(lambda p, *, step: np.sum(p["w"] * p["n"]) / step)
    with runs() as count:
        for t in range(1, 20):
            assert gradient({"w": X, "n": t}, step=t + 1) == np.sum(X * t) / (t + 1)
    assert len(count) <= 3


def test_truth_values_and_subclasses_of_int_stay_what_they_are():
    run = sg.symbolic(lambda x, flag: x * 2 if flag is True else x)
    with runs() as count:
        for flag in (True, False, True, False):
            np.testing.assert_array_equal(run(X, flag), X * 2 if flag else X)
    assert len(count) == 2


def test_ints_beyond_53_bits_have_traces_of_their_own():
    for t in (1, 2, 2**53 + 1, 2**60 + 1, 2**70, -(2**63), 3):
        served(lambda x, n: x * n + n, X, ints=[1, 2, t])


def test_an_int_array_keeps_its_dtype_and_numpys_errors():
    run = sg.symbolic(lambda x, t: x + t)
    small = np.arange(3, dtype=np.int8)
    for t in (1, 2, 3):
        assert run(small, t).dtype == np.int8
    with pytest.raises(OverflowError):
        small + 300
    with pytest.raises(OverflowError):
        run(small, 300)


def test_errors_of_the_function_are_its_own():
    def f(x, t):
        if t > 3:
            raise KeyError("too large")
        return x * (1 // (t - 2))

    run = sg.symbolic(f)
    assert run(3.0, 1) == -3.0
    for t, error in ((4, KeyError), (2, ZeroDivisionError), (5, KeyError)):
        with pytest.raises(error):
            run(3.0, t)
    assert run(3.0, 3) == 3.0


def test_a_function_with_effects_is_given_the_int_itself():
    kept = []
    run = sg.symbolic(lambda x, t: (x * t, kept.append(t))[0])
    assert [run(2.0, t) for t in (1, 2, 3, 5)] == [2.0, 4.0, 6.0, 10.0]
    assert kept == [1, 2, 3, 5]
    assert {*map(type, kept)} == {int}


def test_what_is_returned_is_the_int_of_the_call():
    run = sg.symbolic(lambda x, t: (x * 2, t, [t + 1]))
    for t in (1, 2, 3, 4):
        assert run(3.0, t) == (6.0, t, [t + 1])


@pytest.mark.parametrize(
    ("fn", "error", "ints"),
    [
        (lambda n: 7 // n, ZeroDivisionError, (1, 0, 3, 0, 2)),
        (lambda n: 7 / (n % 3), ZeroDivisionError, (0, 3, 0, 4, 5, 6)),
        (lambda n: 1 << n, ValueError, (4, -1, 3)),
        (lambda n: 2.0**n, OverflowError, (1, 5000, 3)),
    ],
)
def test_what_a_caught_step_raised_serves_no_other_int(fn, error, ints):
    """The trace of the ``except`` branch had no guard: every later int was given its result."""

    def caught(x, n):
        try:
            return x * fn(n)
        except error:
            return x * 100

    value, gradient = sg.symbolic(caught), sg.grad(caught)
    for n in ints:
        assert (value(2.0, n), gradient(2.0, n)) == (caught(2.0, n), caught(1.0, n))
