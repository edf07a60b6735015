"""The stages of a program in this process, block after block: no more than a block of the data is held."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ResultTooLarge
from ..kernels.memory import array_bytes, human_bytes, memory_limit
from ..passes.block_axes import BEFORE
from ..passes.splitting import Combine, Split, Stage
from ..primitives.primitive import INPUT
from ..program.dims import value_of
from ..program.node import Node
from .blocks import Blocks, runs, shape_of, totals_of
from .kernel import Kernels
from .reading import ahead


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
    sizes = {**sizes, **blocks.counts()}
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
    reads = stage.reads
    results = [_Result(n, split.of(n), combine, sizes) for n, combine in zip(stage.gives, stage.combines, strict=True)]
    once, again = itertools.tee(runs(split, stage, blocks))
    loaded = ahead([(known[reads[k]], place) for k, place in run.places] for run in again)
    count = blocks.count(stage.dims)  # noqa: F841  ``progress`` reads it and the number
    for number, (run, own) in enumerate(zip(once, loaded, strict=True), 1):  # noqa: B007
        shapes = [shape_of(reads[k].shape, place, sizes) for k, place in run.places]
        values = kernels[run.edges](own, shapes, totals_of(stage, blocks, run.block, sizes))
        for result, value in zip(results, values, strict=True):
            result.take(value, blocks.slices(result.axes, run.block))
        own.clear()  # so that what was read is free for the next block
    return {
        n: n.primitive.evaluate(n.params, result.value) if n.primitive is BEFORE else result.value
        for n, result in zip(stage.gives, results, strict=True)
    }


class _Result:
    """A value of the whole program, which blocks give: each its own place, or a part of what they add up to."""

    def __init__(self, node: Node, axes: tuple, combine: Combine | None, sizes: Mapping[Any, int]) -> None:
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
