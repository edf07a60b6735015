"""Steps of long loops that are left out: noted, or not left out at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from symgrad.tracing import left_out, long_loops


def noted(monkeypatch: pytest.MonkeyPatch, long: int) -> list[int]:
    """How many steps are left out of each loop from now on; traces are long from so many operations on."""
    found: list[int] = []
    leave = left_out.LeftOut.leave

    def note(self, steps, before):
        found.append(steps)
        leave(self, steps, before)

    monkeypatch.setattr(left_out.LeftOut, "leave", note)
    monkeypatch.setattr(long_loops, "LONG", long)
    return found


@contextlib.contextmanager
def every_step() -> Iterator[None]:
    """Inside, no step is left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_loops, "MIN_STEPS", 1 << 40)
        patch.setattr(long_loops, "LONG", 1 << 40)
        yield
