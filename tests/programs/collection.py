"""Programs as people have them: a function, arguments to try it at, and what it is differentiated by.

A module of programs is read as it stands, written anew in other spellings (``spellings``), and run again; so what it
holds is found by its own decorator, in its own globals.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Program:
    """A function with arguments; ``also`` are other arguments that the same derivative is called with."""

    function: Callable
    args: tuple
    wrt: tuple[int, ...]
    also: tuple[tuple, ...] = ()

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def points(self) -> list[tuple]:
        """All arguments, made anew."""
        return copy.deepcopy([self.args, *self.also])


def program(*args: Any, wrt: int | tuple[int, ...] = 0, also: tuple | list[tuple] = ()) -> Callable:
    """Put a function among the ``PROGRAMS`` of its module, as it is."""

    def keep(function: Callable) -> Callable:
        others = (also,) if isinstance(also, tuple) and also else tuple(also)
        positions = (wrt,) if isinstance(wrt, int) else wrt
        held = function.__globals__.setdefault("PROGRAMS", {})
        held[function.__name__] = Program(function, args, positions, others)
        return function

    return keep
