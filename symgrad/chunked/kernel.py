"""BlockKernel: what runs on one block, in this process or in another one."""

from __future__ import annotations

import hashlib
import pickle
from functools import cached_property, lru_cache
from typing import Any

from ..kernels.base import Kernel
from ..kernels.kernel import lower
from ..program.program import Program


class BlockKernel:
    """The kernel of ``program`` on a backend; a pickle holds the program, compiled code is in the cache on disk."""

    def __init__(self, program: Program, backend: str) -> None:
        self.program = program
        self.backend = backend

    def __getstate__(self) -> tuple[bytes, str, str]:
        return self._packed, self.name, self.backend

    def __setstate__(self, state: tuple[bytes, str, str]) -> None:
        self._packed, self.name, self.backend = state

    @cached_property
    def _packed(self) -> bytes:
        return pickle.dumps(self.program)

    @cached_property
    def name(self) -> str:
        """What programs of the same operations share."""
        return hashlib.sha256(self._packed + self.backend.encode()).hexdigest()

    @cached_property
    def kernel(self) -> Kernel:
        if "program" in vars(self):
            return lower(self.program, self.backend)
        return _lowered(self.name, self._packed, self.backend)

    def __call__(self, *arrays: Any) -> tuple:
        return self.kernel.call(*arrays)

    def __dask_tokenize__(self) -> str:
        return self.name


@lru_cache(maxsize=256)
def _lowered(name: str, packed: bytes, backend: str) -> Kernel:
    """The kernel of a program that came from another process, one a process."""
    return lower(pickle.loads(packed), backend)
