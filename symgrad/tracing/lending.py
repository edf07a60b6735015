"""Which arrays that a function has made a library goes on looking into: by what refers to them after its call."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from .local_array import LocalArray
from .sparse_operands import is_operand

Made = TypeVar("Made")
#: what holds no array, or is one, of which is known what it looks into
_PLAIN = (np.ndarray, np.float64, np.int64, np.bool_, float, int, bool, complex, str, type(None))


class Lent:
    """The arrays among what a library's function is given, and how many references there are to each before it."""

    def __init__(self, given: Iterable[Any]) -> None:
        self._arrays = [v for v in given if type(v) is LocalArray and not v.is_traced]
        self._before = self._counted()

    def noted(self, made: Made, name: str) -> Made:
        """``made`` by the function called ``name``; arrays that it looks into are lent from now on."""
        if self._arrays and not _is_plain(made) and not is_operand(made):  # which are told of what is written
            for array, before, now in zip(self._arrays, self._before, self._counted(), strict=True):
                if now > before:
                    array.lend(f"by {name}")
        return made

    def _counted(self) -> list[int]:
        return [sys.getrefcount(a.plain) + sys.getrefcount(a.owner) for a in self._arrays]


def _is_plain(made: Any) -> bool:
    """Whether it is numbers and arrays of no class of their own, or some of them in a tuple or list."""
    return type(made) in _PLAIN or (type(made) in (tuple, list) and all(map(_is_plain, made)))
