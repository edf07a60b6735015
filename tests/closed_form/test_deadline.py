"""sympy stops when its time is up, and the profiling hook is the one from before."""

import sys

import pytest

from symgrad.closed_form.deadline import TimeIsUp, within


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
