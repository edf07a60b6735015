"""Loops found again: a Python loop that was traced step by step becomes the operation that it is.

Its operations repeat after so many others, alike in all but what they read: of the step itself, of steps before it
(what is carried), the same of each (constants), another of each (elements). Where that holds for every step, they
become one ``scan``, which is derived, compiled and read once. Shorter periods come first, so loops inside loops are
found from the inside.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..differentiation.loops import DifferentiableLoop
from ..primitives.elementwise import Elementwise
from ..primitives.identity import CUSTOM, MARK
from ..primitives.scan import SCAN
from ..primitives.selection import CONCATENATE, SLICE, concatenate, full, take_slice
from ..primitives.shaping import moves_elements, reshape
from ..program.dims import is_concrete, size
from ..program.interpret import rebuilt
from ..program.node import Node, active_graph, ancestors
from ..tracing.left_out import Missing
from .repetition import MAX_BACK, Gap, Repetition, Unlike


class Least(NamedTuple):
    """What operations that repeat must have to be a loop: steps, and operations in all of them together."""

    steps: int
    operations: int


#: where loops are run, and where they are read
RUN, READ = Least(10, 100), Least(3, 12)
#: elements of an array from which the loop is left as it is: kernels join its steps in one pass through memory
MAX_ELEMENTS = 1 << 14
#: periods that are tried
_MAX_PERIODS = 24
#: operations in a step that may be alike, and periods that are tried for the sake of these
_MAX_ALIKE, _MAX_FAR = 16, 12
#: how many times what a short loop computes all operations may be
_PART = 4
#: phases that are tried
_MAX_PHASES = 4


def rolled(
    outputs: Sequence[Node],
    derived_by: Collection[Node],
    since: int,
    loops: dict[Any, DifferentiableLoop],
    least: Least,
    called: Mapping[Node, str],
    left_out: Sequence[Missing] = (),
) -> list[Node]:
    """``outputs`` with each loop that they were unrolled from as one operation, values the same to the bit.

    ``derived_by`` are marks that derivatives have been taken by: of these nothing is asked any more. Nodes up to the
    serial number ``since`` stay as they are. ``loops`` are those that were found before, of one form one. ``called``
    are names that the user has for values, which those of the bodies keep; a loop that is shorter than those that run
    carries something that has one, and is a good part of all.

    Steps that were ``left_out`` are put back; Unlike where that cannot be done.
    """
    found = list(outputs)
    if left_out:
        (nodes,) = _ways(outputs, since, RUN)
        image = _put_back(nodes, outputs, derived_by, loops, called, left_out)
        found = [image.get(o, o) for o in outputs]
    count = len(ancestors(found))
    while True:
        left: list[tuple[int, str]] = []
        best, fewest = found, count
        # the last step is a whole one with what it binds for a step that never comes
        for nodes in _ways([*found, *[n for n in called if n.serial > since]], since, least):
            if len(nodes) < least.operations:
                continue
            image = _once(nodes, found, derived_by, loops, left, least, called)
            made = [image.get(o, o) for o in found]
            operations = len(ancestors(made)) if image else count
            if operations < fewest:
                best, fewest = made, operations
        if fewest >= count:
            active_graph().unrolled = [text for _, text in sorted(left, reverse=True)[:1]]
            return found
        found, count = best, fewest


def _put_back(
    nodes: list[Node],
    outputs: Sequence[Node],
    derived_by: Collection[Node],
    loops: dict[Any, DifferentiableLoop],
    called: Mapping[Node, str],
    left_out: Sequence[Missing],
) -> dict[Node, Node]:
    """What nodes become where the loops that lack steps are rolled up with all of them."""
    tokens, promotes = _tokens(nodes, derived_by)
    position = {n: k for k, n in enumerate(nodes)}
    serials = [n.serial for n in nodes]
    repetitions = []
    for steps, before, after, _ in left_out:
        place = bisect.bisect(serials, before[-1])
        period = place - bisect.bisect(serials, before[-2])
        # a step that finds some of its operations made before, or of which others are read later, is no row of the loop
        # (of the last steps not all need be read)
        rows, last = ([_numbers(serials, a, b) for a, b in itertools.pairwise(part)] for part in (before, after))
        is_alike = len({*rows, *last[:2]}) == 1 and all(set(row) <= set(rows[0]) for row in last)
        runs = _runs(tokens, period, RUN.steps) if period else ()
        run = next(((first, count) for first, count in runs if first < place < first + count), None)
        if run is None or not is_alike:
            raise Unlike("the steps that are traced are not alike")
        _check_worth(nodes[place - period : place])
        gap = Gap(place, steps)
        repetitions.append(
            _repetition(nodes, position, run[0], period, run[1], outputs, promotes, RUN.steps, called, gap)
        )
    spans = sorted((r.first, r.end) for r in repetitions)
    if any(end > first for (_, end), (first, _) in itertools.pairwise(spans)):
        raise Unlike("loops that lack steps are alike, and follow one another")
    return _written(nodes, repetitions, loops, called)


def _numbers(serials: Sequence[int], begin: int, end: int) -> tuple[int, ...]:
    """The serial numbers between two, counted from the first."""
    return tuple([s - begin for s in serials[bisect.bisect(serials, begin) : bisect.bisect(serials, end)]])


def repeats(outputs: Sequence[Node], derived_by: Collection[Node], since: int, least: Least) -> bool:
    """Whether like operations follow one another as often as ``rolled`` asks."""
    for nodes in _ways(outputs, since, least):
        tokens, _ = _tokens(nodes, derived_by)
        runs = (run for period in _periods(tokens, least.steps) for run in _runs(tokens, period, least.steps))
        if any(count >= least.operations for _, count in runs):
            return True
    return False


def _ways(outputs: Sequence[Node], since: int, least: Least) -> Iterator[list[Node]]:
    """What is computed after ``since``, operands first, without what steps may share: slices of what was there.

    Where loops are read, first without that alone which so many share that each step may read it: then the first step
    has its slices too, as the others have.
    """
    whole = ancestors(outputs)
    own = [n for n in whole if n.serial > since and not n.is_leaf]
    if least is READ:
        readers: dict[Node, list[int]] = {}
        for k, n in enumerate(own):
            for o in n.operands:
                readers.setdefault(o, []).append(k)
        often = {n for n, read in readers.items() if len(read) >= least.steps}
        everywhere = {n for n in often if readers[n][-1] - readers[n][0] >= len(own) // 2}
        for candidates in (often, everywhere) if everywhere < often else (often,):
            shared: set[Node] = set()
            for n in own:
                if n in candidates and all(o.is_leaf or o.serial <= since or o in shared for o in n.operands):
                    shared.add(n)
            yield [n for n in own if n not in shared]
    yield [n for n in own if not _reads(n, since)]


def _reads(node: Node, since: int) -> bool:
    return node.primitive is SLICE and (node.operands[0].is_leaf or node.operands[0].serial <= since)


def _once(
    nodes: list[Node],
    outputs: Sequence[Node],
    derived_by: Collection[Node],
    loops: dict[Any, DifferentiableLoop],
    left: list[tuple[int, str]],
    least: Least,
    called: Mapping[Node, str],
) -> dict[Node, Node]:
    """What nodes become where the loops of the shortest period that any have are rolled up.

    ``left`` says which operations repeat and stay as they are, how many, and why.
    """
    tokens, promotes = _tokens(nodes, derived_by)
    position = {n: k for k, n in enumerate(nodes)}
    for period in _periods(tokens, least.steps):
        repetitions = []
        for first, count in _runs(tokens, period, least.steps):
            if count < least.operations or all(map(moves_elements, nodes[first : first + period])):
                continue
            try:
                _check_worth(nodes[first : first + period])
                found = _repetition(nodes, position, first, period, count, outputs, promotes, least.steps, called)
                is_long = count >= RUN.operations and count >= RUN.steps * period
                if not is_long and (_PART * count < len(nodes) or not found.is_written_as_loop(called)):
                    raise Unlike("they are few, and no local variable of the function goes from step to step")
                repetitions.append(found)
            except Unlike as why:
                times = f"{count // period} × {period} operations" if period > 1 else f"{count} operations"
                left.append((count, f"{times} that repeat stay written out, since {why}"))
        if not repetitions:
            continue
        made = _written(nodes, repetitions, loops, called, left)
        if made:
            return made
    return {}


def _written(
    nodes: Sequence[Node],
    repetitions: Sequence[Repetition],
    loops: dict[Any, DifferentiableLoop],
    called: Mapping[Node, str],
    left: list[tuple[int, str]] | None = None,
) -> dict[Node, Node]:
    """What nodes become where these are written as loops; ``left`` takes those that cannot be, or Unlike is raised."""
    made: dict[Node, Node] = {}
    begins = {r.first: r for r in repetitions}
    k = 0
    while k < len(nodes):
        repetition = begins.pop(k, None)
        if repetition is not None:
            try:
                made |= repetition.written(made, loops, called)
                k = repetition.end
            except Unlike as why:
                if left is None:
                    raise
                left.append((repetition.end - k, f"operations that repeat stay written out, since {why}"))
            continue
        node = nodes[k]
        if any(o in made for o in node.operands):
            new = _joined(node, [made.get(o, o) for o in node.operands])
            made[node] = new
        k += 1
    return made


def _tokens(nodes: Sequence[Node], derived_by: Collection[Node]) -> tuple[np.ndarray, bool]:
    """Numbers that are equal where operations are alike, and whether Python's numbers are as any others among them."""
    kinds: dict[Any, int] = {}
    known: dict[Any, int] = {}
    tokens = np.empty(len(nodes), np.int64)
    dtypes = set()
    for k, node in enumerate(nodes):
        operands = []
        for o in node.operands:
            kind = (o.shape, o.dtype.char, o.weak, type(o.params[0]) if o.is_literal else None)
            operands.append(kinds.setdefault(kind, len(kinds)))
        primitive = node.primitive
        params: Any = node.params
        if primitive is SLICE:
            params = tuple([(e[1], e[2]) if isinstance(e, tuple) else None for e in params[0]])
        elif primitive is MARK and node in derived_by:
            params = ()
        key = (primitive, params, tuple(operands))
        tokens[k] = known.setdefault(key, len(known))
        if not node.weak:
            dtypes.add(node.dtype.char)
    return tokens, dtypes <= set("d?" + np.dtype(np.int64).char)


def _periods(tokens: np.ndarray, least: int) -> list[int]:
    """How far apart like operations often are, the shortest first."""
    order = np.argsort(tokens, kind="stable")
    near = _often(order, tokens, range(1, 2), least, _MAX_PERIODS)
    far = _often(order, tokens, range(2, _MAX_ALIKE + 1), least, _MAX_FAR)  # a step may hold several that are alike
    return sorted({*near, *far})


def _often(order: np.ndarray, tokens: np.ndarray, apart: range, least: int, most: int) -> list[int]:
    """The distances that operations and those so many like ones on have most often, by how much they cover."""
    ordered = tokens[order]
    found = [(order[k:] - order[:-k])[ordered[k:] == ordered[:-k]] for k in apart if k < len(order)]
    counts = np.bincount(np.concatenate([*found, order[:0]]))
    often = np.flatnonzero(counts >= least - 1)
    best = np.argsort(-counts[often] * often, kind="stable")[:most]
    return often[best].tolist()


def _runs(tokens: np.ndarray, period: int, least: int) -> Iterator[tuple[int, int]]:
    """Where operations repeat after ``period`` others: the first of them, and how often they stand there."""
    alike = np.concatenate([[False], tokens[period:] == tokens[:-period], [False]])
    edges = np.flatnonzero(np.diff(alike.astype(np.int8)))
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        steps = (end - first) // period + 1
        if steps >= least:
            yield first, (end - first) + period


def _check_worth(body: Sequence[Node]) -> None:
    """Unlike where a loop is better left as it is."""
    if any(n.primitive is CUSTOM for n in body):
        raise Unlike("a rule of one's own is among them")
    if any(not is_concrete(n.shape) for n in body):
        raise Unlike("they have named dims")
    computed = [n for n in body if not moves_elements(n)]
    arrays = [n for n in computed if n.primitive is not SCAN]
    arrays += [o for n in arrays if isinstance(n.primitive, Elementwise) for o in n.operands]
    elements = max([math.prod(n.shape) for n in arrays], default=0)
    if elements > MAX_ELEMENTS:
        raise Unlike(f"an array has {elements} elements, and kernels join steps in one pass through memory")


def _repetition(
    nodes: Sequence[Node],
    position: Mapping[Node, int],
    first: int,
    period: int,
    count: int,
    outputs: Sequence[Node],
    promotes: bool,
    least: int,
    called: Mapping[Node, str],
    gap: Gap | None = None,
) -> Repetition:
    """The loop among ``count`` operations, of the phase that carries least, of that what has a name."""
    last = Unlike()
    phases = range(min(count % period + 1, period))
    carried = {phase: _carried(nodes, position, first + period, period, phase) for phase in phases}
    cost = {
        phase: (sum(size(o.shape) for o in read), sum(o not in called for o in read), phase)
        for phase, read in carried.items()
    }
    for phase in sorted(phases, key=cost.__getitem__)[:_MAX_PHASES]:
        start = first + phase
        for begin in (start - period, start, start + period):
            steps = (first + count - begin) // period
            if steps < least or begin < 0:
                continue
            try:
                found = Repetition(nodes, position, begin, period, steps, promotes, gap)
                found.read_later(outputs)
            except Unlike as why:
                last = why
            else:
                return found
    raise last


def _carried(nodes: Sequence[Node], position: Mapping[Node, int], start: int, period: int, phase: int) -> list[Node]:
    """What the operations from ``start`` read of the step before, where steps begin ``phase`` later."""
    read: dict[Node, None] = {}
    for k in range(start, start + period):
        for o in nodes[k].operands:
            back = position.get(o, -1) - k
            if back >= -period * MAX_BACK and (k - start - phase) % period + back < 0:
                read[o] = None
    return list(read)


def _joined(node: Node, operands: list[Node]) -> Node:
    """``node`` on other operands; pieces that stand side by side in one array are put together as a slice of it."""
    if node.primitive is not CONCATENATE or node.params != (0,):
        return rebuilt(node, operands)
    parts: list[Node] = []
    for key, group in itertools.groupby(enumerate(map(_row_of, operands)), _stretch):
        places = [k for k, _ in group]
        if key is None:
            parts += [operands[k] for k in places]
            continue
        source, before, flat = key
        rows = take_slice(source, ((before + places[0], len(places), 1), *full(source.shape[1:])))
        parts.append(reshape(rows, (size(rows.shape),)) if flat else rows)
    return concatenate(parts, 0)


class _Row(NamedTuple):
    """A row of an array: as an array of one row, or of its elements where ``flat``."""

    source: Node
    number: int
    flat: bool


def _stretch(item: tuple[int, _Row | None]) -> tuple[Node, int, bool] | None:
    """What rows share that follow one another."""
    place, row = item
    return None if row is None else (row.source, row.number - place, row.flat)


def _row_of(node: Node) -> _Row | None:
    """Of which array ``node`` is a row, if it is one."""
    row = node if node.primitive is SLICE or not node.operands else node.operands[0]
    if row.primitive is not SLICE or (row is not node and not moves_elements(node)):
        return None
    (source,) = row.operands
    number = row.params[0][0]
    if isinstance(number, tuple) or row.params[0][1:] != full(source.shape[1:]):
        return None
    if node is reshape(row, (1, *row.shape)):
        return _Row(source, number, False)
    return _Row(source, number, True) if node is reshape(row, (size(row.shape),)) else None
