"""Memory of large arrays, used again when nobody has it any more.

New memory is not there before it is first written: the system hands it over page by page, which costs more than
most arithmetic on it. So large arrays are views of memory that is kept here, and given out again as soon as the array
and all views of it are gone. Smaller ones are left to the C library, which is made to keep what it has.
"""

from __future__ import annotations

import math
import sys
from collections import OrderedDict
from functools import lru_cache
from typing import Any

import numpy as np

from ..program.forks import Lock

#: bytes from which memory is kept, and of a piece that is kept at most
_FROM, _LARGEST = 1 << 20, 1 << 26
#: bytes of an array whose freeing makes glibc keep twice as much; what has more than 32 MiB does not count
_FREED = 1 << 24
#: bytes that are kept at most, in use or not
_MOST = 1 << 28
#: pieces of one length that are looked at
_LOOKED_AT = 8
_lock = Lock()
_kept: OrderedDict[int, list[np.ndarray]] = OrderedDict()  # by length, the length used last at the end
_counts = not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled()  # type: ignore[attr-defined]


@lru_cache(maxsize=1)
def keep_freed() -> None:
    """Let the C library keep what is freed of smaller arrays.

    glibc gives the end of its heap back to the system when more than twice the largest array that was freed so far is
    free there. So of a kernel's arrays, all freed before its next call, every page would be asked for again each time.
    Here an array is freed that is larger; its own pages are never asked for.
    """
    np.empty(_FREED, np.uint8)


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """``np.empty``; large ones in memory that was used before.

    >>> a = empty((1000, 1000), np.float64)
    >>> place = a.ctypes.data
    >>> del a
    >>> empty((500, 2000), np.float64).ctypes.data == place
    True
    """
    dtype = np.dtype(dtype)
    length = math.prod(shape) * dtype.itemsize
    if not _FROM <= length <= _LARGEST or not _counts:
        return np.empty(shape, dtype)
    return _piece(length).view(dtype).reshape(shape)


def _piece(length: int) -> np.ndarray:
    """Memory of that length that nobody has."""
    with _lock:
        pieces = _kept.setdefault(length, [])
        _kept.move_to_end(length)
        for _ in range(min(len(pieces), _LOOKED_AT)):
            if _references(pieces) == _ALONE:
                return pieces[-1]
        piece = np.empty(length, np.uint8)
        if _make_room(length):
            pieces.append(piece)
        return piece


def _references(pieces: list[np.ndarray]) -> int:
    """How often the first piece is referred to, which goes to the end of the list."""
    piece = pieces.pop(0)
    count = sys.getrefcount(piece)
    pieces.append(piece)
    return count


#: the references of a piece that is in the list alone
_ALONE = _references([np.empty(1)])


def _make_room(length: int) -> bool:
    """Let go of what was used longest ago, so that ``length`` bytes more may be kept; False where they may not."""
    total = sum(size * len(pieces) for size, pieces in _kept.items())
    for size, pieces in _kept.items():
        for piece in list(pieces):
            if total + length <= _MOST:
                return True
            pieces[:] = [p for p in pieces if p is not piece]
            total -= size
    return total + length <= _MOST


def release() -> None:
    """Keep nothing."""
    with _lock:
        _kept.clear()
