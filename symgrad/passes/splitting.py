"""A program split over blocks of its named dims: what runs once a block, and how the parts are put together.

Along a dim that is split an operation is independent (elementwise, a product that keeps it), shifted (``x[1:]``, a
difference of neighbours, ``np.roll``: ``halos`` says what is read of the blocks beside), or it is reduced over it
(sum, extremum, the rows that a scatter adds), and then each block gives a part of the result. Anything else is
refused by name. A stage is what can run on a block at once: it reads blocks of the inputs and whole results of earlier
stages, and computes the rest anew, so no intermediate array is ever as long as the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..errors import UnsupportedOperation
from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM
from ..primitives.decompositions import ByTangent, Factors
from ..primitives.elementwise import COMPARISONS, Elementwise
from ..primitives.fourier import Fourier, InverseRealFourier, RealFourier
from ..primitives.linalg import SOLVE, Cholesky, Cofactor, Determinant, Inverse, Solve
from ..primitives.primitive import INPUT
from ..primitives.reduction import CUMSUM, SEARCHSORTED, Accumulation, Extremum, Product, Search
from ..primitives.selection import ASSEMBLE, CONCATENATE, GATHER, SCATTER, SLICE, Spec
from ..primitives.shaping import RESHAPE, moves_elements
from ..program.dims import Dim, Shape, size
from ..program.node import Node
from ..program.program import Program
from .block_axes import (
    BEFORE,
    INNER,
    Axis,
    Dims,
    Edges,
    SizesNeeded,
    axis_of,
    first_of,
    is_split,
    part_of,
    places,
    shifted_dims,
)
from .halos import Halo, OnBlock, sizes_in
from .separable import in_own_rows, separable
from .tall_matrices import TRIANGLE, triangle_of_both

#: what puts two parts together, into ``out`` where that is given: a ufunc, mostly
Combine = Callable[..., np.ndarray]


class NotSplit(UnsupportedOperation):
    """An operation that no block can do alone; ``node`` is where it stands."""

    def __init__(self, message: str, node: Node) -> None:
        super().__init__(message)
        self.node = node


@dataclass(frozen=True)
class Stage:
    """What runs once for each block of ``dims``.

    It takes the values of ``reads`` (inputs of the whole program, and what stages before gave) at the block and, with
    their halos, beside it, then ``totals`` as floats: sizes of the whole, and where the block begins. It gives
    ``gives``, each as it is or, where ``combines`` has a ufunc, as a part of the result that the ufunc puts together.
    Along the dims that are ``shifted``, a block at an edge of the whole runs another program than one inside, or none.
    """

    dims: tuple[sympy.Symbol, ...]
    reads: tuple[Node, ...]
    totals: tuple[Dim, ...]
    gives: tuple[Node, ...]
    combines: tuple[Combine | None, ...]
    shifted: Dims
    #: what runs on a block by its ``edges``; None where such a block gives nothing
    on_blocks: Mapping[tuple[Edges, ...], OnBlock | None]
    #: the elements along a dim that a block must have
    least: Mapping[sympy.Symbol, int]

    def edges(self, edges: Sequence[Edges]) -> tuple[Edges, ...]:
        """Those of a block's edges, one a dim, at which another program runs than inside."""
        return tuple([e if d in self.shifted else INNER for d, e in zip(self.dims, edges, strict=True)])

    @property
    def program(self) -> Program:
        """What runs on most blocks."""
        return next(made.program for made in self.on_blocks.values() if made is not None)


@dataclass(frozen=True)
class Split:
    """The stages of ``program`` in order, split over blocks of ``dims``."""

    program: Program
    dims: Dims
    stages: tuple[Stage, ...]

    def of(self, node: Node) -> tuple[Axis | None, ...]:
        """For each axis of a value the dim whose blocks it is split in, None for a whole axis."""
        return tuple([axis_of(d, self.dims) for d in node.shape])

    def least(self) -> dict[sympy.Symbol, int]:
        """The elements along each dim that a block must have."""
        found: dict[sympy.Symbol, int] = {}
        for stage in self.stages:
            for dim, length in stage.least.items():
                found[dim] = max(length, found.get(dim, 1))
        return found


def sharded(program: Program, dims: Collection[sympy.Symbol]) -> Split:
    """All of ``program`` run on each block of ``dims`` as if it were the whole, the results added up.

    Results that have one of these dims stay in its blocks.

    >>> import numpy as np, symgrad as sg
    >>> from symgrad.program.dims import named_dim
    >>> gradient = sg.grad(lambda w, X: np.mean(np.sort(X @ w))).program("d", "n d")
    >>> (stage,) = sharded(gradient, [named_dim("n")]).stages
    >>> stage.dims, stage.combines
    ((n,), (<ufunc 'add'>,))
    """
    over = frozenset(dims)
    order = tuple(sorted(over, key=str))
    gives = tuple(dict.fromkeys(o for o in program.outputs if o not in program.inputs))
    combines = tuple([None if _dims_of(o, over) else np.add for o in gives])
    reaches = tuple([(None,) * n.ndim for n in program.inputs])
    whole = OnBlock(program.with_outputs(gives), tuple(range(len(program.inputs))), reaches)
    stage = Stage(order, program.inputs, (), gives, combines, frozenset(), {(INNER,) * len(order): whole}, {})
    return Split(program, over, (stage,))


def split(program: Program, dims: Collection[sympy.Symbol]) -> Split:
    """``program`` in stages over blocks of ``dims``; NotSplit where an operation needs several blocks at once.

    SizesNeeded where the names of some other dims must be numbers first.

    >>> import numpy as np, symgrad as sg
    >>> from symgrad.program.dims import named_dim
    >>> gradient = sg.grad(lambda w, X: np.sum(np.log(1 + np.exp(X @ w)))).program("d", "n d")
    >>> (stage,) = split(gradient, [named_dim("n")]).stages
    >>> stage.dims, stage.combines
    ((n,), (<ufunc 'add'>,))
    """
    over = frozenset(dims)
    apart = separable(program, over)
    spaces = {n: _dims_of(n, over) for n in (*apart.inputs, *apart.nodes)}
    wide: dict[Node, Dims] = {}
    combines: dict[Node, Combine | None] = {}
    reads_inputs: set[Node] = set(apart.inputs)
    for node in apart.nodes:
        wide[node] = spaces[node].union(*[spaces[o] for o in node.operands])
        if wide[node] and not node.is_leaf:
            combines[node] = _combined(node, spaces, over)
        if any(o in reads_inputs for o in node.operands):
            reads_inputs.add(node)
    stored = _stored(apart, spaces, wide, reads_inputs)
    stages: dict[tuple[int, Dims], list[Node]] = {}
    level: dict[Node, int] = {}
    for node in apart.nodes:
        level[node] = max([level[o] for o in node.operands], default=0) + (node in stored)
        if node in stored:
            stages.setdefault((level[node], wide[node]), []).append(node)
    made = [
        _stage(apart, gives, dims, stored, combines, over)
        for (_, dims), gives in sorted(stages.items(), key=lambda stage: (stage[0][0], sorted(map(str, stage[0][1]))))
    ]
    return Split(apart, over, tuple(made))


def _stored(
    program: Program, spaces: Mapping[Node, Dims], wide: Mapping[Node, Dims], reads_inputs: Collection[Node]
) -> set[Node]:
    """The values that stages hand on: results, parts put together, and what is read by more blocks than it has.

    What an extremum is sought among, and what is compared later, is handed on too: computed anew by another kernel it
    may differ in its last bit.
    """
    stored = {n for n in program.nodes if spaces[n] != wide[n] or n.primitive is BEFORE}
    compared = {o for n in program.nodes if n.primitive.name in COMPARISONS for o in n.operands}
    for node in program.nodes:
        if isinstance(node.primitive, Extremum) and node in stored:
            stored.update(o for o in node.operands if o in compared and o in reads_inputs and o.primitive is not INPUT)
        for o in node.operands:
            if o in reads_inputs and spaces[o] != wide[node] and not (o.is_leaf or moves_elements(o)):
                stored.add(o)
    return stored | {o for o in program.outputs if o.primitive is not INPUT}


def _stage(
    whole: Program,
    gives: Sequence[Node],
    dims: Dims,
    stored: Collection[Node],
    combines: Mapping[Node, Combine | None],
    over: Dims,
) -> Stage:
    inside, reads = _cone(gives, stored)
    known = {axis.dim for n in reads for d in n.shape if (axis := axis_of(d, over)) is not None and axis.times}
    known |= {d for n in reads for d in n.shape if isinstance(d, sympy.Symbol)}
    of_whole = over | {first_of(d) for d in over}
    totals = list(
        dict.fromkeys(n.params[0] for n in inside if n.primitive.name == "dim" and n.params[0].free_symbols & of_whole)
    )
    needed = sizes_in([*inside, *reads], totals, over)
    for n in whole.inputs:  # a block's sizes are those of what it reads
        own = {d for d in n.shape if isinstance(d, sympy.Symbol)}
        if own & (needed - known) and own & over <= dims:
            reads.append(n)
            known |= own
    if needed - known:
        raise SizesNeeded(needed - known)
    ordered = tuple(sorted(dims, key=str))
    shifted = shifted_dims([*inside, *reads], over)
    on_blocks: dict[tuple[Edges, ...], OnBlock | None] = {}
    least: dict[sympy.Symbol, int] = {}
    for edges in itertools.product(*[_EDGES if d in shifted else (INNER,) for d in ordered]):
        halo = Halo(inside, gives, over, {**dict.fromkeys(over, INNER), **dict(zip(ordered, edges, strict=True))})
        on_blocks[edges] = made = halo.on_block(reads, totals)
        for n, given in zip(gives, made.program.outputs if made else (), strict=bool(made)):
            if given.dtype != n.dtype:
                raise _refused(n, "the number of all elements is an integer in it")
        least = {d: max(least.get(d, 1), halo.least.get(d, 1)) for d in shifted}
    parts = [combines.get(n) for n in gives]
    return Stage(ordered, tuple(reads), tuple(totals), tuple(gives), tuple(parts), shifted, on_blocks, least)


#: an inner block first, which is what most are
_EDGES = tuple([Edges(first, last) for first in (False, True) for last in (False, True)])


def _cone(gives: Sequence[Node], stored: Collection[Node]) -> tuple[list[Node], list[Node]]:
    """What ``gives`` are computed of, operands first, down to what is stored or an input; and these."""
    seen, inside, reads = set(gives), list(gives), []
    pending = list(gives)
    while pending:
        for o in pending.pop().operands:
            if o in seen:
                continue
            seen.add(o)
            if o in stored or o.primitive is INPUT:
                reads.append(o)
            else:
                inside.append(o)
                pending.append(o)
    return sorted(inside, key=lambda n: n.serial), sorted(reads, key=lambda n: n.serial)


# what an operation does along the dims that are split


def _dims_of(node: Node, over: Dims) -> Dims:
    """Those of ``over`` that are axes of a node; each may be one only."""
    try:
        own = [axis.dim for d in node.shape if (axis := axis_of(d, over)) is not None]
    except ValueError as error:
        raise _refused(node, f"an axis of {error} elements follows no block") from None
    if len(own) != len(set(own)):
        raise _refused(node, f"it has two axes of {own[0]} elements, and so all pairs of blocks")
    return frozenset(own)


def _refused(node: Node, why: str) -> NotSplit:
    return NotSplit(
        f"{node.primitive.name} cannot be computed block by block: {why}. Keep that axis in one piece (rechunk), or "
        "compute this outside of the function.",
        node,
    )


def _combined(node: Node, spaces: Mapping[Node, Dims], over: Dims) -> Combine | None:
    """What puts the parts of a node together where it is reduced over blocks; None where it has parts of its own."""
    primitive = node.primitive
    lost = frozenset().union(*[spaces[o] for o in node.operands]) - spaces[node]
    if primitive is EINSUM:
        return np.add if lost else None
    if primitive is TRIANGLE:
        return triangle_of_both if lost else None
    if isinstance(primitive, Extremum):
        return primitive.ufunc if lost else None
    if primitive is SCATTER:
        if is_split(node.params[1], over) and not in_own_rows(node, over):
            raise _refused(node, "its rows go to any block")
        return np.add if lost else None
    if isinstance(primitive, Elementwise) or primitive in (CAST, BEFORE) or primitive.name in _PLAIN:
        return None
    why = _why_not(node, over)
    if why is None and primitive is SLICE:
        return np.add if lost else None  # what is at an end is given by the block that has it
    if why is None and not lost:
        return None
    raise _refused(node, why or "it reads several blocks at once")


#: what is computed element by element and is no elementwise function
_PLAIN = ("gate", "mark", "stop_gradient")
_LINALG = (Inverse, Solve, Determinant, Cofactor, Cholesky, ByTangent, Factors)


def _why_not(node: Node, over: Dims) -> str | None:
    """Why an operation that moves or orders elements needs several blocks at once; None where it does not."""
    primitive, params, operands = node.primitive, node.params, node.operands

    if not any(is_split(d, over) for n in (*operands, node) for d in n.shape):
        return None
    if primitive is SLICE:
        shifts = _is_shift(params[0], operands[0].shape, over)
        return None if shifts else "it takes a part of an axis that is split, and not neighbours or what is at its ends"
    if primitive in (ASSEMBLE, CONCATENATE):
        shifts = all(_is_shift(spec, node.shape, over) for spec in places(node))
        return None if shifts else "it puts pieces together along an axis that is split, and not at its ends"
    if primitive is GATHER:
        stays = in_own_rows(node, over) or not is_split(operands[0].shape[params[0]], over)
        return None if stays else "it reads rows of any block"
    if primitive is RESHAPE:
        return (
            None if _keeps_axes(operands[0].shape, node.shape, over) else "it joins an axis that is split with others"
        )
    if primitive is CUMSUM:
        return None  # with what the blocks before add up to
    if isinstance(primitive, (Accumulation, Search)):
        whole = not is_split(operands[0].shape[params[0]], over)
        return None if whole else "each element reads those before it, or all"
    if isinstance(primitive, Product):
        return None
    if primitive is SEARCHSORTED:
        whole = not any(is_split(d, over) for d in operands[0].shape)
        return None if whole else "it looks in all blocks"
    if isinstance(primitive, (Fourier, RealFourier, InverseRealFourier)):
        return None if not is_split(operands[0].shape[params[0]], over) else "each element reads all others"
    if isinstance(primitive, _LINALG):
        matrices = [d for o in operands for d in o.shape[max(0, operands[0].ndim - 2) :]]
        if primitive is SOLVE and operands[1].ndim >= operands[0].ndim:
            matrices = matrices[:-1]  # each column is solved for by itself
        return None if not any(is_split(d, over) for d in matrices) else "it needs the whole matrix"
    return "it has no rule for blocks"


def _is_shift(spec: Spec, shape: Shape, over: Dims) -> bool:
    axes = [(e, axis_of(d, over)) for e, d in zip(spec, shape, strict=True)]
    return all(part_of(e, axis) is not None for e, axis in axes if axis is not None)


def _keeps_axes(before: Shape, after: Shape, over: Dims) -> bool:
    """Whether a reshape leaves the rows of each axis that is split where they are in memory."""

    def rows(shape: Shape) -> set[tuple[Any, ...]]:
        axes = [(k, axis_of(d, over)) for k, d in enumerate(shape)]
        return {(*axis[:2], size(shape[:k])) for k, axis in axes if axis is not None}

    return rows(before) == rows(after)
