"""Traced derivatives split over blocks, with the kernels of their stages; what was split once is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import sympy

from ..chunked.blocks import Blocks
from ..chunked.kernel import BlockKernel, Kernels
from ..errors import UnsupportedOperation, at_user_line
from ..passes.block_axes import SizesNeeded
from ..passes.sizes import resized
from ..passes.splitting import NotSplit, Split, Stage, sharded, split
from ..program.dims import normal
from ..program.kept import kept
from ..trace_entry import TraceEntry


@kept
def _splits(entry: TraceEntry) -> dict[Any, tuple[Split, list[Kernels]]]:
    """What was split before, by the dims."""
    return {}


def split_of(
    entry: TraceEntry,
    blocks: Blocks,
    sizes: Mapping[sympy.Symbol, int],
    recorded: Callable[[], TraceEntry],
    in_shards: bool,
) -> tuple[Split, list[Kernels]]:
    """The program of an entry in stages, with their kernels; ``recorded`` gives one that knows the user's lines."""
    known_splits = _splits(entry)
    dims = frozenset(blocks.lengths)
    others = frozenset((s, n) for s, n in sizes.items() if s not in dims)
    known = {s: sympy.Integer(n) for s, n in others}
    for key in ((in_shards, dims), (in_shards, dims, others)):
        if key in known_splits:
            return known_splits[key]
    key, program = (in_shards, dims), entry.readable
    try:
        try:
            made = sharded(program, dims) if in_shards else split(program, dims)
        except SizesNeeded:
            key = in_shards, dims, others
            made = split(resized(program, lambda d: normal(d.xreplace(known))), dims)
    except NotSplit as error:
        raise UnsupportedOperation(_with_line(error, dims, recorded)) from None
    kernels: list[Kernels] = [
        {edges: BlockKernel(own.program, _backend(entry, s)) for edges, own in s.on_blocks.items() if own}
        for s in made.stages
    ]
    return known_splits.setdefault(key, (made, kernels))


def _backend(entry: TraceEntry, stage: Stage) -> str:
    """What a stage runs on: never two kernels in turn, so that the same blocks give the same bits."""
    if entry.backend != "auto":
        return entry.backend
    return "native" if stage.dims else "numpy"


def _with_line(error: NotSplit, dims: frozenset, recorded: Callable[[], TraceEntry]) -> str:
    """The refusal with the user's line that the operation comes from, where that is found."""
    entry = recorded()
    with contextlib.suppress(SizesNeeded):
        try:
            split(entry.readable, dims)
        except NotSplit as again:
            return at_user_line(str(again), entry.ledger.line(again.node))
    return str(error)
