"""What a call may not share between its arguments, and with what the function reads: the trace has them apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..errors import CONTRACT, ArgumentError

_WRITTEN = "the arguments {0} and {1} share memory, and the function writes into {0}. Pass a copy() of one of them."
_READ = (
    "the argument {0} shares memory with an array that the function also reads from elsewhere, a global or an "
    "attribute, and the function {1}. Pass a copy() of it."
)
_IS = "the arguments {0} and {1} are the same array, and the function compares by `is`. Pass a copy() of one of them."


class SharedMemory:
    """What is asked of the arrays of each call, where the trace depends on what they share.

    ``written`` are the numbers of the arguments that the function writes into, ``reached`` the arrays that it can read
    from elsewhere; ``asks`` is whether it compares by ``is``.
    """

    def __init__(self, written: Sequence[int], reached: Sequence[np.ndarray], asks: bool) -> None:
        self._written = written
        self._reached = reached
        self._asks = asks
        #: whether there is anything to be asked
        self.matters = bool(written) or asks

    def check(self, leaves: Sequence[Any], names: Sequence[str]) -> None:
        """An ArgumentError where arrays of a call share what they may not."""
        for one, other in itertools.product(self._written, range(len(leaves))):
            if one != other and _share(leaves[one], leaves[other]):
                _refuse(_WRITTEN, names[one], names[other])
        for one, array in itertools.product(self._written, self._reached):
            if _share(leaves[one], array):
                _refuse(_READ, names[one], "writes into it")
        if self._asks:
            self._check_identities(leaves, names)

    def _check_identities(self, leaves: Sequence[Any], names: Sequence[str]) -> None:
        known = {id(array) for array in self._reached}
        met: dict[int, int] = {}
        for k, leaf in enumerate(leaves):
            if not isinstance(leaf, np.ndarray):
                continue
            if id(leaf) in known:
                _refuse(_READ, names[k], "compares by `is`")
            if id(leaf) in met:
                _refuse(_IS, names[met[id(leaf)]], names[k])
            met[id(leaf)] = k


def _refuse(message: str, *names: str) -> NoReturn:
    raise ArgumentError.here(f"{message.format(*names)} {CONTRACT}")


def _share(one: Any, other: Any) -> bool:
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.shares_memory(one, other)
