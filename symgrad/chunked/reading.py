"""Blocks of mapped files, read while the block before is computed.

A page of an ``np.memmap`` is fetched when it is touched, and what touches it waits. Where the system tells which file a
mapping is of, blocks of rows are read from that file by a thread, into memory that is used again.
"""

from __future__ import annotations

import math
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .blocks import Place

#: blocks of a file in memory: one that is computed with, one that is read, and one whose result is still there
_MAX_BUFFERS = 3


def ahead(requests: Iterable[Sequence[tuple[Any, Place]]]) -> Iterator[list[Any]]:
    """For each request the parts of its arrays; those of mapped files are read while the one before is in use.

    The memory of a part is used again when nothing refers to it.

    >>> [parts[0].tolist() for parts in ahead([[(np.arange(5), (slice(0, 3),))], [(np.arange(5), (slice(3, 5),))]])]
    [[0, 1, 2], [3, 4]]
    """
    files: dict[int, MappedFile | None] = {}
    with ExitStack() as opened, ThreadPoolExecutor(1, "symgrad reads") as pool:
        waiting: deque[list[Any]] = deque()
        for request in requests:
            for value, _ in request:
                if id(value) not in files:
                    files[id(value)] = file = mapped_file(value)
                    if file is not None:
                        opened.callback(file.close)
            waiting.append([_begun(pool, files[id(value)], value, place) for value, place in request])
            if len(waiting) > 1:
                yield list(map(_finished, waiting.popleft()))
        yield from (list(map(_finished, parts)) for parts in waiting)


def _begun(pool: ThreadPoolExecutor, file: MappedFile | None, value: Any, place: Place) -> Any:
    if file is not None and all(s == slice(None) for s in place[1:]) and place[0].stop is not None:
        return pool.submit(file.read, place[0])
    return value, place


def _finished(part: Any) -> Any:
    if isinstance(part, Future):
        return part.result()
    value, place = part
    return value[place] if any(s.stop is not None for s in place) else value


class MappedFile:
    """The file of a mapped array: its rows lie one after the other from ``start``."""

    def __init__(self, array: np.ndarray, file: int, start: int) -> None:
        self._array = array
        self._file = file
        self._start = start
        self._buffers: list[np.ndarray] = []

    def read(self, rows: slice) -> np.ndarray:
        """The rows as an array of its own, until nothing refers to it."""
        array = self._array
        shape = (rows.stop - rows.start, *array.shape[1:])
        each = array.itemsize * math.prod(array.shape[1:])
        size = shape[0] * each
        buffer = self._free(size)
        done = 0
        while done < size:
            got = os.preadv(self._file, [buffer.data[done:size]], self._start + rows.start * each + done)
            if not got:
                raise ArgumentError("a file that an array is mapped to has become shorter than the array.")
            done += got
        return buffer[:size].view(array.dtype).reshape(shape)

    def _free(self, size: int) -> np.ndarray:
        """Memory that no array reads any more, which its count of references says: an array of it holds one."""
        for k in range(len(self._buffers)):
            if len(self._buffers[k]) >= size and sys.getrefcount(self._buffers[k]) == 2:
                return self._buffers[k]
        made = np.empty(size, np.uint8)
        if len(self._buffers) < _MAX_BUFFERS:
            self._buffers.append(made)
        return made

    def close(self) -> None:
        os.close(self._file)


def mapped_file(array: Any) -> MappedFile | None:
    """The file of an array that is mapped from it, and only read; None where that is not known to be so."""
    if not isinstance(array, np.memmap) or array.mode != "r" or not array.flags.c_contiguous:
        return None
    if not array.ndim or not array.size:
        return None
    if array.filename is None or array.dtype.hasobject:
        return None
    address = array.__array_interface__["data"][0]
    try:
        with open("/proc/self/maps") as maps:
            start, identity = next(_mapping(line, address) for line in maps if _holds(line, address, array.nbytes))
        file = os.open(array.filename, os.O_RDONLY)
    except (OSError, StopIteration):
        return None
    found = os.fstat(file)
    if identity != (os.major(found.st_dev), os.minor(found.st_dev), found.st_ino):  # another file has its name now
        os.close(file)
        return None
    return MappedFile(array, file, start)


def _holds(line: str, address: int, size: int) -> bool:
    first, last = (int(end, 16) for end in line.split(maxsplit=1)[0].split("-"))
    return first <= address and address + size <= last


def _mapping(line: str, address: int) -> tuple[int, tuple[int, int, int]]:
    """Where ``address`` is in the file of a line of ``/proc/self/maps``, and which file that is."""
    ends, _, offset, device, inode, *_ = line.split()
    major, minor = device.split(":")
    return int(offset, 16) + address - int(ends.split("-")[0], 16), (int(major, 16), int(minor, 16), int(inode))
