"""Interrupting a cell at any point: one short line, nothing bound, and everything works as before."""

from __future__ import annotations

import contextlib
import sys
import threading
import time

import numpy as np
import pytest
from IPython.utils.capture import capture_output
from symgrad_notebook.display import reported
from symgrad_notebook.errors import Interrupted

import symgrad as sg
from symgrad.program.node import active_graph
from symgrad.tracing.trace import current

CELL = """%%grad --wrt w --name fresh --backend numpy
def loss(w, X, y):
    z = X @ w
    return np.sum(np.log(1 + np.exp(-y * z)) * np.where(z > 0, z, 0.5))
"""


@pytest.fixture
def interrupted_after(shell):
    """Run a cell that is interrupted when symgrad has run so many lines; gives the result, or None if it was done."""

    def run(lines: int):
        left = [lines]

        def step(frame, event, arg):
            left[0] -= event == "line"
            if left[0] == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
            return step

        def called(frame, event, arg):
            return step if "symgrad" in frame.f_code.co_filename else None

        with capture_output() as captured:
            sys.settrace(called)
            try:
                result = shell.run_cell(CELL)
            finally:
                sys.settrace(None)
        return result, captured.stdout + captured.stderr, left[0] > 0

    return run


def test_everything_is_as_before(shell, run, interrupted_after):
    rng = np.random.default_rng(0)
    shell.user_ns |= {"w": rng.normal(size=3), "X": rng.normal(size=(5, 3)), "y": np.ones(5)}
    run(CELL.replace("fresh", "known"))
    known = shell.user_ns["known"]
    args = [shell.user_ns[name] for name in ("w", "X", "y")]
    expected = known(*args)
    points = [int(1.6**k) for k in range(2, 30)]
    interrupted = 0
    for lines in points:
        shell.user_ns.pop("fresh", None)
        result, printed, done = interrupted_after(lines)
        if done:
            break
        interrupted += 1
        assert isinstance(result.error_in_exec, KeyboardInterrupt)
        if isinstance(result.error_in_exec, Interrupted):
            assert printed.strip() == "interrupted: no derivative was bound, and what was there before still is."
        assert "fresh" not in shell.user_ns
        assert current() is None
        with pytest.raises(sg.errors.TracingError):
            active_graph()
        np.testing.assert_array_equal(known(*args), expected)
    assert interrupted > 15
    run(CELL)
    np.testing.assert_allclose(shell.user_ns["fresh"](*args), expected, rtol=1e-12)


def test_an_interrupt_of_the_users_function(shell):
    cell = "%%grad --at x=2\ndef f(x):\n    raise KeyboardInterrupt\n"
    with capture_output() as captured:
        result = shell.run_cell(cell)
    assert isinstance(result.error_in_exec, Interrupted)
    assert "Traceback" not in captured.stdout
    assert current() is None


def test_long_work_says_what_it_is_at():
    with capture_output() as captured, reported(0.05):
        time.sleep(0.4)
    assert captured.outputs
    assert "working, 0 s" in captured.outputs[0].data["text/plain"]
    assert captured.outputs[-1].data == {"text/plain": "", "text/html": ""}  # nothing to save with the notebook


def test_an_interrupt_is_not_said_to_be_done():
    with capture_output() as captured, contextlib.suppress(KeyboardInterrupt), reported(0.05):
        time.sleep(0.4)
        raise KeyboardInterrupt
    assert captured.outputs[-1].data["text/plain"].startswith("stopped after 0.")


@pytest.mark.parametrize("after", [0.0, 60.0])
def test_short_work_says_nothing(after):
    with capture_output() as captured, reported(after):
        time.sleep(0.05)
    assert captured.outputs == []
    assert not [t for t in threading.enumerate() if t.name.startswith("symgrad progress")]
