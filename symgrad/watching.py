"""Progress of long work: what symgrad is doing, said from beside it once it takes a while."""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from .errors import ArgumentError, ArgumentTypeError, is_library

_HOME = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: part of symgrad -> what it does, the first that is found from the inside out
_STAGES = {
    "kernels" + os.sep + "native": "compiling",
    "kernels": "writing the kernel",
    "passes": "simplifying",
    "differentiation": "deriving",
    "closed_form": "writing the formula",
    "compiled": "tracing",
}
#: where blocks are counted
_BLOCKS = os.path.join(_HOME, "chunked", "local.py")


@contextlib.contextmanager
def progress(
    hook: Callable[[str, float], object] | None = None, *, after: float = 0.5, every: float = 0.5
) -> Iterator[None]:
    """Say what symgrad is doing inside of the ``with`` statement, once it has taken ``after`` seconds.

    ``hook(stage, seconds)`` is called ``every`` so many seconds with what is being done (such as ``"deriving"``,
    ``"tracing, at line 12"`` of the function, ``"block 3 of 40"`` of data that are read in blocks) and since when;
    at last with ``"done"``, or ``"stopped"`` after an error or an interrupt. It is called in a thread of its own,
    and never where the work is done before. Without a hook this is one line on the standard error, written over
    itself. The work does nothing for it: the thread looks where it stands. ArgumentError where a time is no
    positive number of seconds, ArgumentTypeError for a hook that is no function.

    >>> import symgrad as sg
    >>> with sg.progress(lambda stage, seconds: print(f"{stage}: {seconds:.0f} s"), after=10):
    ...     sg.grad(lambda x: x**2)(3.0)
    np.float64(6.0)
    """
    if hook is not None and not callable(hook):
        raise ArgumentTypeError(f"the hook is a function of a stage and its seconds, got a {type(hook).__name__}.")
    for name, seconds in (("after", after), ("every", every)):
        if not isinstance(seconds, (int, float)) or not 0 < seconds <= threading.TIMEOUT_MAX:
            raise ArgumentError(f"{name} is {seconds!r}; give a positive number of seconds.")
    ended: list[str] = []
    over = threading.Event()
    # a notebook's output belongs to the cell that is part of the context
    run, ident = contextvars.copy_context().run, threading.get_ident()
    args = ident, hook or _on_standard_error, after, every, over, ended
    watch = threading.Thread(target=run, args=(_report, *args), daemon=True, name="symgrad progress")
    watch.start()
    try:
        yield
        ended.append("done")
    finally:
        over.set()
        watch.join()


def _report(
    worker: int,
    hook: Callable[[str, float], object],
    after: float,
    every: float,
    over: threading.Event,
    ended: list[str],
) -> None:
    start, wait, has_said = time.monotonic(), after, False
    while not over.wait(wait):
        hook(stage(sys._current_frames().get(worker)), time.monotonic() - start)
        wait, has_said = every, True
    if has_said:
        hook(ended[0] if ended else "stopped", time.monotonic() - start)


def _on_standard_error(stage: str, seconds: float) -> None:
    over = stage in ("done", "stopped")
    text = said(stage, seconds)
    print(f"\r{text:<60}", end="\n" if over else "", file=sys.stderr, flush=True)


def said(stage: str, seconds: float) -> str:
    """A stage and its seconds as one line.

    >>> said("deriving", 3.2), said("done", 4.71)
    ('deriving, 3 s …', 'done in 4.7 s')
    """
    if stage in ("done", "stopped"):
        return f"{stage} {'in' if stage == 'done' else 'after'} {seconds:.1f} s"
    return f"{stage}, {seconds:.0f} s …"


def stage(frame: FrameType | None) -> str:
    """What the work does whose innermost frame this is; for a function that is being traced, the line that it is at.

    >>> stage(None)
    'working'
    """
    line, found = 0, ""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == _BLOCKS and "number" in frame.f_locals:  # whatever runs on that block
            return f"block {frame.f_locals['number']} of {frame.f_locals['count']}"
        if not found:
            what = next((text for part, text in _STAGES.items() if name.startswith(_HOME + part)), "")
            found = f"{what}, at line {line}" if what == "tracing" and line else what
        if not line and not is_library(name):
            line = frame.f_lineno
        frame = frame.f_back
    return found or "working"
