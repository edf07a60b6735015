"""Tracebacks without the frames of symgrad's own code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import ParamSpec, TypeVar

from .errors import SymgradError, full_tracebacks, is_own

P = ParamSpec("P")
R = TypeVar("R")


def briefly(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, whose errors come without the frames of symgrad's own code."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                error.__traceback__ = None  # the call itself does not fit the function, which is the caller's mistake
            brief(error)
            raise

    return called


def brief(error: BaseException) -> None:
    """Leave the frames of symgrad's own code out of the traceback of ``error``, and of those that it came from.

    They stay where ``full_tracebacks`` is set, and in an error of symgrad's code that it did not raise on purpose.
    """
    if full_tracebacks.is_set():
        return
    seen: set[int] = set()
    on_purpose = isinstance(error, SymgradError)
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        frames = list(_each(at.__traceback__))
        if frames and (on_purpose or not _is_of_own(frames[-1])):
            kept: TracebackType | None = None
            for frame in reversed(frames):
                if not _is_of_own(frame):
                    kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
            at.__traceback__ = kept
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)


def _each(step: TracebackType | None) -> Iterator[TracebackType]:
    while step is not None:
        yield step
        step = step.tb_next


def _is_of_own(step: TracebackType) -> bool:
    return is_own(step.tb_frame.f_code.co_filename)
