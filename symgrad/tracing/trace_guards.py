"""The guards of a trace: all that a function can read besides the arrays it is called with.

A trace bakes in the numbers and arrays that the function found in globals, closures, attributes, defaults and static
arguments. They are remembered before the run: by identity where they cannot change and by content where they can.
What is read is over-approximated, so a change that matters is never missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .generators import GLOBAL_GENERATORS, state_of
from .guards import Guards
from .libraries import is_random
from .walk import Walk


class TraceGuards(Guards):
    """The guards of one trace of ``function``, called with these static arguments."""

    def __init__(self, function: Callable, arguments: Iterable[Any] = ()) -> None:
        super().__init__()
        walk = Walk(self)
        walk.run(function, arguments)
        self._changing = walk.changing
        self._weights = walk.weights
        self.classes = [*walk.classes]
        self.is_followed = walk.is_followed
        self.caught = walk.caught
        self._generators = walk.generators + [(g, state_of(g)) for g in GLOBAL_GENERATORS]

    def watch_weights(self, read: set[int]) -> None:
        """Guard the contents of weights that the trace (which read those with these ids) holds no input for."""
        for weight in self._weights:
            if id(weight) not in read:
                self.watch_array(weight)

    def may_serve_again(self) -> bool:
        """True after a run that has drawn no random number, and read and moved nothing but what the guards see."""
        return not self._changing and not self._have_moved() and self.unchanged()

    def changing(self) -> list[str]:
        """After the run, what the function may read that no guard can see; none where it draws random numbers too."""
        return [] if self._have_moved() or any(map(is_random, self._changing)) else sorted(self._changing)

    def _have_moved(self) -> bool:
        return any(state_of(g) != state for g, state in self._generators)
