"""What arrays hold that a traced function has made: one memory for all that look into it, with the traced elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.primitive import literal
from .dispatch import refuse
from .elements import KNOWN, Elements
from .trace import Trace
from .tracer import Tracer


class Memory:
    """The elements of an array that owns them, and the numbers of the traced ones, in the order in which they lie."""

    def __init__(self, owner: np.ndarray, is_foreign: bool, trace: Locals) -> None:
        self.owner = owner
        self.trace = trace
        self.is_foreign = is_foreign
        self.lent = ""  # how others were given the memory itself
        self.lies_alike = True  # as NumPy's array does; False where nobody knows how that lies
        self.start = _address(owner)
        self.numbers: np.ndarray | None = None
        self.holders: list[Any] = []  # objects of libraries that look into it, and know no traced values
        self._writes: Tracer | None = None

    @property
    def writes(self) -> Tracer:
        """What counts the writes for parts of complex numbers, which no array of elements can look into."""
        if self._writes is None:
            self._writes = Tracer(literal(0))
        return self._writes

    def written(self) -> None:
        """Something was written into the array."""
        if self._writes is not None:
            self._writes._writes += 1

    def numbers_like(self, view: np.ndarray) -> np.ndarray:
        """The numbers of the elements of a view."""
        if self.numbers is None:
            self.numbers = np.full(self.owner.size, KNOWN, np.int64)
        if not view.size:
            return np.empty(view.shape, np.int64)
        step = self.owner.itemsize
        if view.itemsize != step or any(s % step for s in view.strides):
            refuse("an array of traced values cannot be read as another dtype; use x.astype(…), or z.real = ….")
        strides = [s // step * 8 for s in view.strides]
        numbers = np.ndarray(view.shape, np.int64, self.numbers, (_address(view) - self.start) // step * 8, strides)
        numbers.flags.writeable = view.flags.writeable
        return numbers


class Locals:
    """The arrays that the function of one trace has made: their memory, and the elements written into them."""

    def __init__(self) -> None:
        self.elements = Elements()
        self._memories: dict[int, Memory] = {}

    def memory(self, array: np.ndarray, is_foreign: bool = False) -> Memory:
        """The memory that ``array`` looks into; ``is_foreign`` where the function has not made it."""
        owner = owner_of(array)
        found = self._memories.get(id(owner))
        if found is None:
            found = self._memories[id(owner)] = Memory(owner, is_foreign, self)
        return found

    def knows(self, array: np.ndarray) -> bool:
        """Whether the function made what ``array`` looks into."""
        return id(owner_of(array)) in self._memories


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array whose memory ``array`` looks into; the last of them where no array owns it."""
    base = array.base
    while base is not None:
        array = base if isinstance(base, np.ndarray) else array
        base = getattr(base, "base", None)  # strided views have a base of their own kind between
    return array


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def locals_of(trace: Trace) -> Locals:
    """The arrays that the function of a trace has made."""
    if trace.locals is None:
        trace.locals = Locals()
    return trace.locals
