"""What a call would take, block by block: the passes over the data, what they read and the memory of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..kernels.explanation import in_columns
from ..kernels.memory import array_bytes, human_bytes
from ..passes.block_axes import BEFORE
from ..passes.splitting import Combine, Split, Stage
from ..passes.tall_matrices import triangle_of_both
from .blocks import Blocks, runs, shape_of


@dataclass(frozen=True)
class Explained:
    """What would run: ``text`` says it."""

    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


#: what becomes of the parts that blocks give
_REDUCED: dict[Combine, str] = {
    np.add: "summed",
    np.maximum: "the largest",
    np.minimum: "the smallest",
    triangle_of_both: "one below the other",
}


#: bytes of a block below which a task of Dask takes its scheduler about as long as a worker, and those that pay
_SHORT, _LONG = 16 * 2**20, 64 * 2**20


def explained(split: Split, blocks: Blocks, sizes: Mapping[sympy.Symbol, int], by_tasks: bool) -> Explained:
    """The stages with their blocks, what they read and the memory of one of their blocks.

    Where each block is a task of Dask's, also how many these are, and how long blocks should be where they are short.
    """
    rows: list[Sequence[str]] = [("", "over", "operations", "a block", "in all", "held", "parts")]
    tasks, largest, most = 0, 0, 1
    longest = {**sizes, **{d: max(own) for d, own in blocks.lengths.items()}}
    for k, stage in enumerate(split.stages):
        read = _read_by_blocks(split, stage, blocks, sizes)
        tasks, largest, most = tasks + len(read), max(largest, max(read)), max(most, len(read))
        over = " × ".join(f"{len(blocks.lengths[d])} blocks of {d}{_beside(stage, d)}" for d in stage.dims)
        few = f"{len(read)} of " if len(read) < blocks.count(stage.dims) else ""
        held = max(read) + sum(array_bytes(n.dtype, n.shape, longest) for n in stage.program.bindings)
        parts = dict.fromkeys(_REDUCED[c] for c in stage.combines if c is not None)
        parts |= dict.fromkeys("summed up to each" for n in stage.gives if n.primitive is BEFORE)
        counted = str(len(stage.program.bindings)), *map(human_bytes, (max(read), sum(read), held))
        rows.append((str(k + 1), few + over or "once", *counted, ", ".join(parts)))
    lines = in_columns(rows)
    if by_tasks:
        lines.append(f"{tasks} tasks of Dask, and those that put their parts together")
        if largest < _SHORT and tasks > len(split.stages):
            times = min(-(-_LONG // max(largest, 1)), most)
            lines.append(
                f"blocks are short: make them {times} times as long, so that a worker takes longer than the scheduler"
            )
    return Explained("\n".join(lines))


def _read_by_blocks(split: Split, stage: Stage, blocks: Blocks, sizes: Mapping[Any, int]) -> list[int]:
    """The bytes that each block reads in a stage, of those where something runs."""
    reads = stage.reads
    return [
        sum(array_bytes(reads[k].dtype, shape_of(reads[k].shape, place, sizes)) for k, place in run.places)
        for run in runs(split, stage, blocks)
    ]


def _beside(stage: Stage, dim: sympy.Symbol) -> str:
    """How many elements of its neighbours a block reads along a dim."""
    most = 0
    for on_block in filter(None, stage.on_blocks.values()):
        for k, reaches in zip(on_block.reads, on_block.reaches, strict=True):
            for axis, reach in zip(stage.reads[k].shape, reaches, strict=True):
                if reach is not None and dim in axis.free_symbols:
                    most = max(most, max(0, -reach[0]) + max(0, reach[1]))
    return f" and {most} beside" if most else ""
