"""The stages of a program in this process, block after block: no more than a block of the data is held."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ResultTooLarge
from ..kernels.memory import array_bytes, human_bytes, memory_limit
from ..passes.splitting import Split, Stage
from ..primitives.primitive import INPUT
from ..program.dims import value_of
from ..program.node import Node
from .blocks import Block, Blocks, shape_of
from .kernel import BlockKernel, Kernels
from .reading import Place, ahead


def run(
    split: Split,
    kernels: Sequence[Kernels],
    arrays: Sequence[Any],
    sizes: Mapping[Any, int],
    blocks: Blocks,
) -> list[Any]:
    """The outputs for these inputs: arrays, or what gives one where it is sliced; ``sizes`` are those of all dims.

    Parts are put together in the order of the blocks, so that the same blocks give the same bits.
    """
    known: dict[Node, Any] = dict(zip(split.program.inputs, arrays, strict=True))
    with np.errstate(all="ignore"):  # as in kernels
        for stage, of_stage in zip(split.stages, kernels, strict=True):
            known |= _results(split, stage, of_stage, known, sizes, blocks)
    # an output that is an argument is a copy, as of any function
    return [np.array(known[o])[()] if o.primitive is INPUT else known[o] for o in split.program.outputs]


def _results(
    split: Split,
    stage: Stage,
    kernels: Kernels,
    known: dict[Node, Any],
    sizes: Mapping[Any, int],
    blocks: Blocks,
) -> dict[Node, Any]:
    read = [(known[n], n.shape, split.of(n)) for n in stage.reads]
    totals = [float(value_of(d, sizes)) for d in stage.totals]
    results = [_Result(n, split.of(n), combine, sizes) for n, combine in zip(stage.gives, stage.combines, strict=True)]

    def runs() -> Iterator[tuple[Block, BlockKernel, list[tuple[int, Place]]]]:
        for block in blocks.over(stage.dims):
            edges = stage.edges(blocks.edges(stage.dims, block))
            on_block = stage.on_blocks[edges]
            if on_block is not None:
                pairs = zip(on_block.reads, on_block.reaches, strict=True)
                yield block, kernels[edges], [(k, blocks.slices(read[k][2], block, reaches)) for k, reaches in pairs]

    once, again = itertools.tee(runs())
    loaded = ahead([(read[k][0], place) for k, place in places] for _, _, places in again)
    count = blocks.count(stage.dims)  # noqa: F841  ``progress`` reads it and the number
    for number, ((block, kernel, places), own) in enumerate(zip(once, loaded, strict=True), 1):  # noqa: B007
        values = kernel(own, [shape_of(read[k][1], place, sizes) for k, place in places], totals)
        for result, value in zip(results, values, strict=True):
            result.take(value, blocks.slices(result.axes, block))
        own.clear()  # so that what was read is free for the next block
    return {n: result.value for n, result in zip(stage.gives, results, strict=True)}


class _Result:
    """A value of the whole program, which blocks give: each its own place, or a part of what they add up to."""

    def __init__(self, node: Node, axes: tuple, combine: np.ufunc | None, sizes: Mapping[Any, int]) -> None:
        self.axes = axes
        self._combine = combine
        self._filled: set[tuple] = set()
        self.value: Any = None
        if any(axes):
            shape = tuple([value_of(d, sizes) for d in node.shape])
            taken, limit = array_bytes(node.dtype, shape), memory_limit()
            if taken > limit:
                raise ResultTooLarge(
                    f"a value of shape {' × '.join(map(str, shape))} would take {human_bytes(taken)}, and this process "
                    f"has {human_bytes(limit)}. Pass arrays of Dask: of these it stays in blocks."
                )
            self.value = np.empty(shape, node.dtype)

    def take(self, value: Any, place: tuple[slice, ...]) -> None:
        """Put in what a block gave."""
        key = tuple([(s.start, s.stop) for s in place])
        is_first = key not in self._filled
        self._filled.add(key)
        if not any(self.axes):
            self.value = value if is_first or self._combine is None else self._combine(self.value, value)
        elif is_first or self._combine is None:
            self.value[place] = value
        else:
            self._combine(self.value[place], value, out=self.value[place])
