"""What is said of long work, and how it ended."""

from __future__ import annotations

import contextlib
import sys
import threading

import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ArgumentTypeError
from symgrad.watching import stage


def test_the_hook_is_told_the_stages_and_that_it_is_done():
    seen, told = [], threading.Event()

    def hook(stage, seconds):
        seen.append((stage, seconds))
        if stage == f"tracing, at line {line}":
            told.set()

    def f(x):
        assert told.wait(60)
        return x * 2

    line = f.__code__.co_firstlineno + 1
    with sg.progress(hook, after=0.001, every=0.001):
        assert sg.grad(f)(1.0) == 2.0
    assert [stage for stage, _ in seen].count("done") == 1
    assert seen[-1][0] == "done"
    assert [seconds for _, seconds in seen] == sorted(seconds for _, seconds in seen)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_was_stopped_is_not_said_to_be_done(error):
    seen, told = [], threading.Event()

    def hook(stage, seconds):
        seen.append(stage)
        told.set()

    with contextlib.suppress(error), sg.progress(hook, after=0.001):
        assert told.wait(60)
        raise error
    assert seen[-1] == "stopped"
    assert "done" not in seen


def test_without_a_hook_it_is_a_line_on_the_standard_error(capsys):
    with sg.progress(after=0.001, every=0.001):
        while "working" not in (said := capsys.readouterr().err):
            pass
    assert said.startswith("\r")
    assert "done in 0." in capsys.readouterr().err


def test_work_that_is_done_before_says_nothing():
    seen = []
    with sg.progress(lambda *args: seen.append(args), after=600):
        sg.grad(lambda x: x**2)(1.0)
    assert seen == []
    assert not [t for t in threading.enumerate() if t.name == "symgrad progress"]


def test_the_stage_is_read_off_the_stack():
    seen = []

    def f(x):
        seen.append(stage(sys._getframe()))
        return x * 2

    line = f.__code__.co_firstlineno + 1
    sg.grad(f)(1.0)
    assert seen == [f"tracing, at line {line}"]


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"after": 0}, ArgumentError, "after is 0; give a positive"),
        ({"every": float("nan")}, ArgumentError, "every is nan"),
        ({"after": "1"}, ArgumentError, "after is '1'"),
        ({"hook": 3}, ArgumentTypeError, "got a int"),
    ],
)
def test_bad_arguments(arguments, error, said):
    with pytest.raises(error, match=said), sg.progress(**arguments):
        pass
