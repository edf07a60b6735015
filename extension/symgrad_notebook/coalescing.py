"""Requests that come faster than they are answered: the newest of each kind replaces the one that waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

#: seconds that are left between answers at most, for the messages that came meanwhile to be read
_LONGEST_REST = 0.05


class Newest:
    """Answers requests one after the other, of those of a kind that wait only the newest.

    They are answered from the event loop in which this was made, the kernel's own, between cells, whichever thread
    they come in on. As long as an answer took, so long it rests before the next, and what arrives meanwhile is
    read. Without a loop a request is answered where it is made.
    """

    def __init__(self, answer: Callable[[Any], None]) -> None:
        self._answer = answer
        self._waiting: dict[str, Any] = {}
        self._is_due = False
        self._next = 0.0
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def ask(self, kind: str, request: Any) -> None:
        """Have ``request`` answered, unless a newer one of this ``kind`` comes first."""
        if self._loop is None:
            self._answer(request)
        else:
            self._loop.call_soon_threadsafe(self._take, kind, request)

    def _take(self, kind: str, request: Any) -> None:
        self._waiting[kind] = request
        if not self._is_due:
            assert self._loop is not None
            self._is_due = True
            self._loop.call_later(max(self._next - time.monotonic(), 0), self._answer_all)

    def _answer_all(self) -> None:
        self._is_due = False
        waiting, self._waiting = self._waiting, {}
        begun = time.monotonic()
        try:
            while waiting:
                self._answer(waiting.pop(next(iter(waiting))))
        finally:
            ended = time.monotonic()
            self._next = ended + min(ended - begun, _LONGEST_REST)
            for kind, request in waiting.items():  # an answer failed: the others have theirs
                if kind not in self._waiting:
                    self._take(kind, request)
