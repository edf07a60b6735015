"""The stages of a program as tasks of Dask: one a block and stage, and trees that put the parts together.

Nothing runs here: results are lazy arrays, and what they are made of is Dask's own graph, for any of its schedulers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import getitem
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..kernels.array_libraries import is_dask
from ..kernels.sparse import Assembly, scipy_sparse
from ..passes.block_axes import BEFORE, Axis
from ..passes.splitting import Combine, Split, Stage
from ..program.dims import value_of
from ..program.node import Node
from ..tracing.plain_arrays import plain_array
from .blocks import Block, Blocks, runs, shape_of, totals_of
from .kernel import BlockKernel, Kernels

#: parts that one task puts together
FAN_IN = 8


def run(split: Split, kernels: Sequence[Kernels], arrays: Sequence[Any], sizes: Any, blocks: Blocks) -> list[Any]:
    """The outputs as arrays of Dask for these inputs, each in the blocks that it is read in."""
    from dask.base import tokenize

    pairs = zip(split.program.inputs, arrays, strict=True)
    sizes = {**sizes, **blocks.counts()}
    known: dict[Node, Any] = {n: _in_blocks(value, split.of(n), blocks) for n, value in pairs}
    token = tokenize([k.name for of_stage in kernels for k in of_stage.values()], list(known.values()))
    for number, (stage, of_stage) in enumerate(zip(split.stages, kernels, strict=True)):
        known |= _Tasks(split, stage, of_stage, known, sizes, blocks, f"symgrad-{token}-{number}").results()
    return [known[o] for o in split.program.outputs]


class _Tasks:
    """The tasks of one stage."""

    def __init__(
        self,
        split: Split,
        stage: Stage,
        kernels: Kernels,
        known: dict[Node, Any],
        sizes: Any,
        blocks: Blocks,
        name: str,
    ) -> None:
        self._split = split
        self._stage = stage
        self._sizes = sizes
        self._blocks = blocks
        self._name = name
        self._kernels = kernels
        self._read = [(known[n], n.shape, split.of(n)) for n in stage.reads]

    def results(self) -> dict[Node, Any]:
        """What the stage gives, as arrays of Dask."""
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        array: Any = da.Array
        sources = [value for value, _, _ in self._read if is_dask(value)]
        layer: dict[Any, Any] = {}
        functions = {edges: partial(_on_block, kernel) for edges, kernel in self._kernels.items()}
        for run in runs(self._split, self._stage, self._blocks):
            own, shapes = [], []
            for k, place in run.places:
                value, dims, axes = self._read[k]
                own.append(self._part(value, axes, run.block, place, layer) if is_dask(value) else value)
                shapes.append(shape_of(dims, place, self._sizes))
            layer[self._key(run.block)] = (functions[run.edges], self._totals(run.block), shapes, *own)
        graph = HighLevelGraph.from_collections(self._name, layer, dependencies=sources)
        made: dict[Node, Any] = {}
        for k, (node, combine) in enumerate(zip(self._stage.gives, self._stage.combines, strict=True)):
            name = f"{self._name}-{k}"
            tasks = self._put_together(node, k, combine, name, layer)
            if node.primitive is BEFORE:
                tasks = self._of_those_before(node, name, tasks)
            own_graph = HighLevelGraph({**graph.layers, name: tasks}, {**graph.dependencies, name: {self._name}})
            shape = [value_of(d, self._sizes) for d in node.shape]
            axes = self._split.of(node)
            chunks = [self._blocks.lengths_of(a) if a is not None else (n,) for a, n in zip(axes, shape, strict=True)]
            made[node] = array(own_graph, name, chunks=tuple(chunks), dtype=node.dtype)
        return made

    def _totals(self, block: Block) -> list[float]:
        return totals_of(self._stage, self._blocks, block, self._sizes)

    def _put_together(
        self, node: Node, k: int, combine: Combine | None, name: str, layer: dict[Any, Any]
    ) -> dict[Any, Any]:
        """The tasks that give each block of a value from the results of the stage's, those in ``layer``."""
        axes = self._split.of(node)
        own = {a.dim for a in axes if a is not None}
        kept = [d for d in self._stage.dims if d in own]
        lost = [d for d in self._stage.dims if d not in own]
        tasks: dict[Any, Any] = {}
        for block in self._blocks.over(kept):
            beside = [{**block, **rest} for rest in self._blocks.over(lost)]
            parts = [key for b in beside if (key := self._key(b)) in layer]
            place = _numbers(axes, block)
            pieces: list[Any] = [(_picked, part, k) for part in parts]
            level = 0
            while len(pieces) > 1:
                groups = [pieces[at : at + FAN_IN] for at in range(0, len(pieces), FAN_IN)]
                pieces = [(f"{name}-part", *place, level, number) for number in range(len(groups))]
                tasks |= {key: (_combined, combine, group) for key, group in zip(pieces, groups, strict=True)}
                level += 1
            tasks[(name, *place)] = pieces[0]
        return tasks

    def _of_those_before(self, node: Node, name: str, totals: dict[Any, Any]) -> dict[Any, Any]:
        """The tasks that give each block what those before it add up to, from the ``totals`` of each."""
        along = node.params[0] + 1  # in a key, after the name
        tasks = {(f"{name}-total", *key[1:]): task for key, task in totals.items()}
        lines: dict[Any, list[Any]] = {}
        for key in totals:
            lines.setdefault((*key[:along], *key[along + 1 :]), []).append(key)
        for line, keys in lines.items():
            whole = (f"{name}-before", *line[1:])
            tasks[whole] = (_before, node.params, [(f"{name}-total", *key[1:]) for key in keys])
            tasks |= {key: (getitem, whole, number) for number, key in enumerate(keys)}
        return tasks

    def _key(self, block: Block) -> tuple[Any, ...]:
        """The task of a block."""
        return self._name, *[block[d] for d in self._stage.dims]

    def _part(
        self, value: Any, axes: Sequence[Axis | None], block: Block, place: Sequence[slice], layer: dict[Any, Any]
    ) -> Any:
        """The task that has ``place`` of an array: a block of it, with what is cut off from its neighbours."""
        numbers = _numbers(axes, block)
        if tuple(place) == self._blocks.slices(axes, block):
            return (value.name, *numbers)
        spans = [_overlaps(own, number, s) for own, number, s in zip(value.chunks, numbers, place, strict=True)]

        def pieces(at: tuple[int, ...], cut: tuple[slice, ...]) -> Any:
            if len(at) < len(spans):
                return [pieces((*at, number), (*cut, inner)) for number, inner in spans[len(at)]]
            key = (f"{self._name}-{value.name}-cut", *at, *[f"{s.start}:{s.stop}" for s in cut])
            layer[key] = (getitem, (value.name, *at), cut)
            return key

        return np.block, pieces((), ())


def _overlaps(lengths: Sequence[int], number: int, place: slice) -> list[tuple[int, slice]]:
    """The blocks of an axis that ``place`` reaches into, which are ``number`` and its neighbours, and where in each."""
    if place.stop is None:
        return [(0, slice(None))]
    if place.start >= place.stop:
        return [(number, slice(0, 0))]
    first = sum(lengths[: max(number - 1, 0)])
    found = []
    for k in range(max(number - 1, 0), min(number + 2, len(lengths))):
        low, high = max(place.start - first, 0), min(place.stop - first, lengths[k])
        if low < high:
            found.append((k, slice(low, high)))
        first += lengths[k]
    return found


def _in_blocks(value: Any, axes: Sequence[Any], blocks: Blocks) -> Any:
    """An array as Dask's, split along these axes; a number as it is."""
    if isinstance(value, (float, complex)):
        return value
    lengths = tuple([-1 if a is None else blocks.lengths_of(a) for a in axes])
    return value.rechunk(lengths) if is_dask(value) else _in_blocks_of(value, lengths)


def _in_blocks_of(value: Any, lengths: tuple) -> Any:
    import dask.array as da

    return da.from_array(np.asarray(value), chunks=lengths)  # type: ignore[arg-type]


def _numbers(axes: Sequence[Any], block: Block) -> tuple[int, ...]:
    """Which block of an array of these axes it is, as Dask counts them."""
    return tuple([0 if a is None else block[a.dim] for a in axes])


def _on_block(kernel: BlockKernel, totals: Sequence[float], shapes: Sequence[tuple], *arrays: Any) -> tuple:
    return kernel(arrays, shapes, totals)


def _picked(values: tuple, k: int) -> np.ndarray:
    return np.asarray(values[k])


def _combined(combine: Combine, parts: Sequence[np.ndarray]) -> np.ndarray:
    """The parts put together in order."""
    total = parts[0]
    with np.errstate(all="ignore"):  # as in kernels
        for part in parts[1:]:
            total = combine(total, part)
    return np.asarray(total)


def _before(params: tuple, totals: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the blocks before each add up to, from what each has."""
    axis = params[0]
    return np.split(BEFORE.evaluate(params, np.concatenate(totals, axis)), len(totals), axis)


def assembled(assembly: Assembly, values: Sequence[Any]) -> Any:
    """The sparse array of these values, as an array of Dask of a single block."""
    import dask.array as da
    from dask.delayed import delayed

    like = scipy_sparse().csr_array((0, 0), dtype=assembly.dtype)
    return da.from_delayed(delayed(assembly.assemble)(list(values)), assembly.shape, meta=like)


def in_same_blocks(value: Any, like: Any) -> Any:
    """``value`` in the blocks of an array of Dask; as it is where ``like`` is none, or has another shape."""
    if not is_dask(like) or is_dask(value) or np.shape(value) != like.shape or not like.ndim:
        return value
    return _in_blocks_of(value, like.chunks)


def lengths_of(array: Any, label: str) -> tuple[tuple[int, ...], ...]:
    """The lengths of the blocks of each axis of an array of Dask, whose blocks are plain arrays."""
    plain_array(array._meta, label)
    if any(n != n for own in array.chunks for n in own):
        raise ArgumentError(
            f"{label} has blocks of unknown sizes; call its compute_chunk_sizes(), so that they are known."
        )
    return tuple([tuple([n for n in own if n]) or (0,) for own in array.chunks])
