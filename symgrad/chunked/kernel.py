"""BlockKernel: what runs on one block, in this process or in another one."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..errors import DtypeError, ShapeError
from ..kernels.base import Kernel
from ..kernels.kernel import lower
from ..passes.block_axes import Edges
from ..program.forks import cached_property
from ..program.node import Node
from ..program.program import Program
from ..tracing.plain_arrays import plain_array

#: what runs on the blocks of a stage, by the edges of the whole that they are at
Kernels = Mapping[tuple[Edges, ...], "BlockKernel"]


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

    def __call__(self, arrays: Sequence[Any], shapes: Sequence[tuple[int, ...]], totals: Sequence[float]) -> tuple:
        """What the block gives; compiled code reads memory, so arrays of other dtypes and shapes are refused."""
        kernel = self.kernel
        inputs = kernel.program.inputs
        taken = [_checked(*own) for own in zip(arrays, shapes, inputs, strict=False)]
        return kernel.call(*taken, *totals)

    def __dask_tokenize__(self) -> str:
        return self.name


def _checked(array: Any, shape: tuple[int, ...], node: Node) -> Any:
    """A block as a plain array; an error where it is not what was said of the whole."""
    if isinstance(array, (float, complex)):
        return array
    plain = plain_array(array, "a block")
    if plain.dtype != node.dtype:
        raise DtypeError(
            f"a block has dtype {plain.dtype}, and the whole array says {node.dtype}. Say what the blocks are where "
            "the array is made (dtype=, meta=), or cast them: x.astype(…)."
        )
    if plain.shape != shape:
        raise ShapeError(f"a block has shape {plain.shape}, and by the lengths of the blocks it must be {shape}.")
    return plain


@lru_cache(maxsize=256)
def _lowered(name: str, packed: bytes, backend: str) -> Kernel:
    """The kernel of a program that came from another process, one a process."""
    return lower(pickle.loads(packed), backend)
