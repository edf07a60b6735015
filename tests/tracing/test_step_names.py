"""What a step of a loop calls its values, as far as its code says so."""

from __future__ import annotations

import functools
import sys

import pytest

from symgrad.tracing.step_names import argument_labels, local_variables
from symgrad.tracing.tree import flatten


def labels(fn, value, position=0):
    return argument_labels(fn, position, flatten(value)[1], "carry")


def unpacks(state, x):
    m, (P, q) = state
    return (m, (P, q)), x


class Cell:
    def step(self, h, x):
        return h, x


@pytest.mark.parametrize(
    ("fn", "value", "expected"),
    [
        (lambda h, x: h, 1.0, ["h"]),
        (lambda c, x: c, (1.0, 2.0), ["carry_0", "carry_1"]),
        (lambda c, x: c, {"u": 1.0, "v": (2.0, 3.0)}, ["u", "v_0", "v_1"]),
        (unpacks, (1.0, 2.0), ["carry_0", "carry_1"]),
        (Cell().step, 1.0, ["h"]),
        (functools.partial(unpacks), 1.0, ["state"]),
        (max, 1.0, ["carry"]),
        (lambda: None, 1.0, ["carry"]),
    ],
)
def test_arguments_are_called_as_the_code_calls_them(fn, value, expected):
    assert labels(fn, value) == expected


def test_arguments_are_called_as_they_are_unpacked():
    def step(state, pair):
        m, P = state
        x, y = pair
        return (m, P), x + y

    assert labels(step, (1.0, 2.0)) == ["m", "P"]
    assert labels(step, (1.0, 2.0), position=1) == ["x", "y"]


def outer(x):
    inner = x + 1
    return helper(inner)


def helper(inner):
    other = inner * 2
    return other


def test_local_variables_are_those_of_the_function_itself():
    with local_variables(outer) as found:
        outer(1)
    assert found == {"x": 1, "inner": 2}
    assert sys.getprofile() is None


def test_a_profiler_that_runs_is_left_alone():
    calls = []
    sys.setprofile(lambda *event: calls.append(event))
    try:
        with local_variables(outer) as found:
            outer(1)
    finally:
        sys.setprofile(None)
    assert found == {}
    assert calls
