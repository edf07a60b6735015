"""A program split over blocks of its named dims: what runs once a block, and how the parts are put together.

Along a dim that is split an operation is independent (elementwise, a product that keeps it), or it is reduced over it
(sum, extremum, the rows that a scatter adds), and then each block gives a part of the result. Anything else is
refused by name. A stage is what can run on a block at once: it reads blocks of the inputs and whole results of earlier
stages, and computes the rest anew, so no intermediate array is ever as long as the data.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from ..errors import UnsupportedOperation
from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, Labels
from ..primitives.decompositions import ByTangent, Factors
from ..primitives.elementwise import COMPARISONS, Elementwise
from ..primitives.linalg import Cholesky, Cofactor, Determinant, Inverse, Solve
from ..primitives.primitive import INPUT, input_node
from ..primitives.reduction import Accumulation, Extremum, Product, Search
from ..primitives.selection import ASSEMBLE, CONCATENATE, GATHER, SCATTER, SLICE, Spec, full
from ..primitives.shaping import RESHAPE, moves_elements
from ..program.dims import Dim, Shape, is_named, size
from ..program.interpret import walk
from ..program.node import Graph, Node, emit
from ..program.program import Program
from .sizes import made_again

Dims = frozenset[sympy.Symbol]

_NONE: Dims = frozenset()


class NotSplit(UnsupportedOperation):
    """An operation that no block can do alone; ``node`` is where it stands."""

    def __init__(self, message: str, node: Node) -> None:
        super().__init__(message)
        self.node = node


@dataclass(frozen=True)
class Stage:
    """What runs once for each block of ``dims``.

    ``program`` takes the values of ``reads`` (inputs of the whole program, and what stages before gave) at the block,
    then the sizes ``totals`` of the whole, as floats. It gives ``gives``, each as it is or, where ``combines`` has a
    ufunc, as a part of the result that the ufunc puts together.
    """

    program: Program
    dims: tuple[sympy.Symbol, ...]
    reads: tuple[Node, ...]
    totals: tuple[Dim, ...]
    gives: tuple[Node, ...]
    combines: tuple[np.ufunc | None, ...]


@dataclass(frozen=True)
class Split:
    """The stages of ``program`` in order, split over blocks of ``dims``."""

    program: Program
    dims: Dims
    stages: tuple[Stage, ...]

    def of(self, node: Node) -> tuple[sympy.Symbol | None, ...]:
        """For each axis of a value the dim whose blocks it is split in, None for a whole axis."""
        return tuple([d if d in self.dims else None for d in node.shape])


def split(program: Program, dims: Collection[sympy.Symbol]) -> Split:
    """``program`` in stages over blocks of ``dims``; NotSplit where an operation needs several blocks at once.

    >>> import numpy as np, symgrad as sg
    >>> from symgrad.program.dims import named_dim
    >>> gradient = sg.grad(lambda w, X: np.sum(np.log(1 + np.exp(X @ w)))).program("d", "n d")
    >>> (stage,) = split(gradient, [named_dim("n")]).stages
    >>> stage.dims, stage.combines
    ((n,), (<ufunc 'add'>,))
    """
    over = frozenset(dims)
    apart = _labels_apart(program, over)
    spaces = {n: _dims_of(n, over) for n in apart.nodes}
    wide: dict[Node, Dims] = {}
    combines: dict[Node, np.ufunc | None] = {}
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
    stored = {n for n in program.nodes if spaces[n] != wide[n]}
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
    combines: Mapping[Node, np.ufunc | None],
    over: Dims,
) -> Stage:
    inside, reads = _cone(gives, stored)
    known = {s for n in reads for d in n.shape if is_named(d) for s in d.free_symbols}
    needed = {s for n in inside for d in n.shape if is_named(d) for s in d.free_symbols}
    for n in whole.inputs:  # a block's sizes are those of what it reads
        own = {d for d in n.shape if isinstance(d, sympy.Symbol)}
        if own & (needed - known):
            reads.append(n)
            known |= own
    totals = list(
        dict.fromkeys(n.params[0] for n in inside if n.primitive.name == "dim" and n.params[0].free_symbols & over)
    )
    graph = Graph()
    with graph:
        names = [f"x{k}" for k in range(len(reads) + len(totals))]
        inputs = [input_node(name, n.shape, n.dtype, n.weak) for name, n in zip(names, reads, strict=False)]
        for n, i in zip(reads, inputs, strict=True):
            i.masked = n.masked
        counted = [input_node(name, (), np.dtype(np.float64), True) for name in names[len(reads) :]]
        of_total = dict(zip(totals, counted, strict=True))
        image = dict(zip(reads, inputs, strict=True))
        image |= {n: of_total[n.params[0]] for n in inside if n.primitive.name == "dim" and n.params[0] in of_total}
        walk(inside, image, _again)
        outputs = [image[n] for n in gives]
    for n, made in zip(gives, outputs, strict=True):
        if made.dtype != n.dtype:
            raise _refused(n, "the number of all elements is an integer in it")
    program = Program([*inputs, *counted], outputs, names, graph)
    parts = [combines.get(n) for n in gives]
    return Stage(program, tuple(sorted(dims, key=str)), tuple(reads), tuple(totals), tuple(gives), tuple(parts))


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
    own = [d for d in node.shape if is_named(d) and d.free_symbols & over]
    if any(d not in over for d in own):
        raise _refused(node, f"an axis of {next(d for d in own if d not in over)} elements follows no block")
    if len(own) != len(set(own)):
        raise _refused(node, f"it has two axes of {own[0]} elements, and so all pairs of blocks")
    return frozenset(own)


def _refused(node: Node, why: str) -> NotSplit:
    return NotSplit(
        f"{node.primitive.name} cannot be computed block by block: {why}. Keep that axis in one piece (rechunk), or "
        "compute this outside of the function.",
        node,
    )


def _combined(node: Node, spaces: Mapping[Node, Dims], over: Dims) -> np.ufunc | None:
    """What puts the parts of a node together where it is reduced over blocks; None where it has parts of its own."""
    primitive = node.primitive
    lost = frozenset().union(*[spaces[o] for o in node.operands]) - spaces[node]
    if primitive is EINSUM:
        return np.add if lost else None
    if isinstance(primitive, Extremum):
        return primitive.ufunc if lost else None
    if primitive is SCATTER:
        if node.params[1] in over:
            raise _refused(node, "its rows go to any block")
        return np.add if lost else None
    if isinstance(primitive, Elementwise) or primitive is CAST or primitive.name in _PLAIN:
        return None
    why = _why_not(node, over)
    if why is None and not lost:
        return None
    raise _refused(node, why or "it reads several blocks at once")


#: what is computed element by element and is no elementwise function
_PLAIN = ("gate", "mark", "stop_gradient")
_LINALG = (Inverse, Solve, Determinant, Cofactor, Cholesky, ByTangent, Factors)


def _why_not(node: Node, over: Dims) -> str | None:
    """Why an operation that moves or orders elements needs several blocks at once; None where it does not."""
    primitive, params, operands = node.primitive, node.params, node.operands
    if not any(d in over for n in (*operands, node) for d in n.shape):
        return None
    if primitive is SLICE:
        return None if _is_whole(params[0], operands[0].shape, over) else "it takes a part of an axis that is split"
    if primitive is ASSEMBLE:
        whole = all(_is_whole(spec, node.shape, over) for spec in params[1])
        return None if whole else "it puts pieces together along an axis that is split"
    if primitive is CONCATENATE:
        return None if all(o.shape[params[0]] not in over for o in operands) else "it joins blocks"
    if primitive is GATHER:
        return None if operands[0].shape[params[0]] not in over else "it reads rows of any block"
    if primitive is RESHAPE:
        return (
            None if _keeps_axes(operands[0].shape, node.shape, over) else "it joins an axis that is split with others"
        )
    if isinstance(primitive, (Accumulation, Search)):
        return None if operands[0].shape[params[0]] not in over else "each element reads those before it, or all"
    if isinstance(primitive, Product):
        return None
    if isinstance(primitive, _LINALG):
        matrices = [d for o in operands for d in o.shape[max(0, operands[0].ndim - 2) :]]
        return None if not any(d in over for d in matrices) else "it needs the whole matrix"
    return "it has no rule for blocks"


def _is_whole(spec: Spec, shape: Shape, over: Dims) -> bool:
    return all(e == whole for e, whole, d in zip(spec, full(shape), shape, strict=True) if d in over)


def _keeps_axes(before: Shape, after: Shape, over: Dims) -> bool:
    """Whether a reshape leaves each axis that is split where it is in memory."""
    return all(
        d in after and size(before[: before.index(d)]) == size(after[: after.index(d)]) for d in before if d in over
    )


# contractions in which two labels have blocks of one dim


def _labels_apart(program: Program, over: Dims) -> Program:
    """``program`` with contractions in which no two labels are of one dim that is split.

    ``# einsum[i,k->i](x, y) -> einsum[i,->i](x, einsum[k->](y))``: the blocks of ``i`` are not those of ``k``.
    """
    if not any(n.primitive is EINSUM and _twice(n, over) is not None for n in program.nodes):
        return program
    with program.graph:
        image: dict[Node, Node] = {n: n for n in program.inputs}
        walk(program.nodes, image, lambda node, operands: _apart(_again(node, operands), over))
    return program.with_outputs([image[o] for o in program.outputs])


def _apart(node: Node, over: Dims) -> Node:
    while node.primitive is EINSUM:
        label = _twice(node, over)
        if label is None:
            break
        labels, out, sizes, _ = node.params
        group = [k for k, own in enumerate(labels) if label in own]
        rest = [k for k in range(len(labels)) if k not in group]
        needed = {*out, *(i for k in rest for i in labels[k])}
        kept = tuple([i for i in dict.fromkeys(i for k in group for i in labels[k]) if i in needed and i != label])
        inner = _einsum([node.operands[k] for k in group], [labels[k] for k in group], kept, sizes)
        node = _einsum([*[node.operands[k] for k in rest], inner], [*[labels[k] for k in rest], kept], out, sizes)
    return node


def _einsum(operands: Sequence[Node], labels: Sequence[Labels], out: Labels, sizes: Shape) -> Node:
    used = list(dict.fromkeys(i for own in (*labels, out) for i in own))
    new = {i: k for k, i in enumerate(used)}
    renamed = [tuple([new[i] for i in own]) for own in (*labels, out)]
    return emit(EINSUM, tuple(operands), (tuple(renamed[:-1]), renamed[-1], tuple([sizes[i] for i in used]), ""))


def _again(node: Node, operands: Sequence[Node]) -> Node:
    return made_again(node, operands, node.params)


def _twice(node: Node, over: Dims) -> int | None:
    """A label that is summed over and has the same dim as another one, the one with the fewest operands."""
    labels, out, sizes, _ = node.params
    used = {i for own in labels for i in own} | set(out)
    dims = [sizes[i] for i in used if sizes[i] in over]
    found = [i for i in used if i not in out and sizes[i] in over and dims.count(sizes[i]) > 1]
    return min(found, key=lambda i: sum(i in own for own in labels), default=None)
