"""Runs in a process of their own: what they change ends with it."""

from __future__ import annotations

import marshal
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..errors import SymgradError


def apart(work: Callable[[], Any]) -> Any:
    """What ``work()`` gives, made of numbers, text, tuples, lists and dicts, in a copy of this process that ends then.

    What it writes into objects is not seen here; what it writes into files is. Where the system has no ``fork`` it runs
    here. Raises SymgradError where the process ends before its time.

    >>> counts = []
    >>> apart(lambda: (counts.append(1), len(counts))[1]), counts
    (1, [])
    """
    if not hasattr(os, "fork"):
        return work()
    ours, its = os.pipe()
    drawn = random.getstate()  # which Python seeds anew in each child
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, which Python and JAX warn of: their locks are none of the child's
        child = os.fork()
    if child == 0:
        random.setstate(drawn)
        _run(work, its)
    os.close(its)
    sent, status = b"", None
    try:
        with os.fdopen(ours, "rb") as pipe:
            sent = pipe.read()
        status = os.waitpid(child, 0)[1]
    finally:
        if status is None:  # interrupted
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if not sent:
        raise SymgradError(f"the process that ran the function ended early, with status {status}.")
    has_ended, made = marshal.loads(sent)
    if not has_ended:
        raise SymgradError(f"the process that ran the function ended early: {made}")
    return made


def _run(work: Callable[[], Any], its: int) -> None:
    """The child's life."""
    try:
        try:
            made = True, work()
        except BaseException as error:
            made = False, f"{type(error).__name__}: {error}"
        sent = marshal.dumps(made)
        with os.fdopen(its, "wb") as pipe:
            pipe.write(sent)
    finally:
        os._exit(0)
