"""sympy stops when its time is up, or its calls, and the profiling hook is the one from before."""

import itertools
import sys
import types

import mpmath
import pytest

from symgrad.closed_form import deadline
from symgrad.closed_form.deadline import Allowance, TimeIsUp, within, within_calls


def _count(n):
    return sum(map(abs, range(n)))


def _forever():
    while True:
        _count(100)


def test_what_takes_too_long_is_stopped():
    with pytest.raises(TimeIsUp), within(0.1):
        _forever()
    assert sys.getprofile() is None


def test_what_is_quick_goes_on():
    with within(60):
        assert _count(10) == 45
    assert sys.getprofile() is None


def test_the_outer_hook_sees_the_calls():
    seen = []

    def hook(frame, event, arg):
        seen.append(event)

    sys.setprofile(hook)
    try:
        with within(60):
            _count(3)
        assert sys.getprofile() is hook
    finally:
        sys.setprofile(None)
    assert "call" in seen


def test_limits_nest():
    with within(60):
        with pytest.raises(TimeIsUp), within(0.05):
            _forever()
        _count(3)


def _called(times):
    for _ in range(times):
        _count(1)


def test_calls_are_counted_whatever_the_clock_says(monkeypatch):
    clock = itertools.count(0, 10**9)
    monkeypatch.setattr(deadline, "time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    with within_calls(100):
        _called(99)  # and this call itself
    with pytest.raises(TimeIsUp), within_calls(100):
        _called(100)
    assert sys.getprofile() is None


def test_the_end_of_a_with_is_not_cut_short():
    with within_calls(0):
        pass
    assert sys.getprofile() is None


def test_an_allowance_is_for_all_that_draws_on_it():
    allowance = Allowance(100)
    for _ in range(2):
        with allowance.drawn_on():
            _called(30)
    with pytest.raises(TimeIsUp), allowance.drawn_on():
        _called(60)
    with pytest.raises(TimeIsUp), allowance.drawn_on():
        _called(1)


def test_the_precision_of_mpmath_is_left_as_it_was():
    """A ``with`` that is left while it begins has no end that puts it back."""

    def broken_off():
        mpmath.mp.prec = 7
        _forever()

    before = mpmath.mp.prec
    with pytest.raises(TimeIsUp), within_calls(100):
        broken_off()
    assert mpmath.mp.prec == before
