"""Progress of long work: what symgrad is doing, said from beside it once it takes a while."""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

from IPython.display import DisplayHandle, display

import symgrad
from symgrad.errors import is_own

_HOME = os.path.dirname(os.path.abspath(symgrad.__file__)) + os.sep
#: part of symgrad -> what it does, the first that is found from the inside out
_STAGES = {
    "kernels" + os.sep + "native": "compiling",
    "kernels": "writing the kernel",
    "passes": "simplifying",
    "differentiation": "deriving",
    "closed_form": "writing the formula",
    "compiled": "tracing",
}
_EVERY = 0.5


@contextlib.contextmanager
def reported(after: float) -> Iterator[None]:
    """Say what is being done, and for how long, once it has taken ``after`` seconds; never where that is 0.

    The work itself does nothing for it: another thread looks where it stands. The line is gone when the work is done.
    """
    if after <= 0:
        yield
        return
    done = threading.Event()
    # the cell that output belongs to is part of the context
    run, ident = contextvars.copy_context().run, threading.get_ident()
    watch = threading.Thread(target=run, args=(_report, ident, after, done), daemon=True, name="symgrad progress")
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join()


def _report(worker: int, after: float, done: threading.Event) -> None:
    start = time.monotonic()
    shown: DisplayHandle | None = None
    wait = after
    while not done.wait(wait):
        text = f"{stage(sys._current_frames().get(worker))}, {time.monotonic() - start:.0f} s …"
        if shown is None:
            shown = display(_line(text), raw=True, display_id=True)
        else:
            shown.update(_line(text), raw=True)
        wait = _EVERY
    if shown is not None:
        shown.update(_line(f"done in {time.monotonic() - start:.1f} s"), raw=True)


def _line(text: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": f"<small>{text}</small>"}


def stage(frame: FrameType | None) -> str:
    """What the work does whose innermost frame this is; for a function that is being traced, the line that it is at.

    >>> stage(None)
    'working'
    """
    line = 0
    while frame is not None:
        name = frame.f_code.co_filename
        what = next((text for part, text in _STAGES.items() if name.startswith(_HOME + part)), "")
        if what:
            return f"{what}, at line {line}" if what == "tracing" and line else what
        if not line and not is_own(name):
            line = frame.f_lineno
        frame = frame.f_back
    return "working"
