"""The lines of the NumPy kernel for operations that are not elementwise, where they are not those of an export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..emit.arrays.statements import STATEMENTS, Statement
from ..primitives.cofactors import cofactors
from ..primitives.contraction import EINSUM
from ..primitives.identity import IDENTITIES
from ..primitives.matrix_functions import DECOMPOSITIONS, decomposed
from ..primitives.primitive import CONSTANT
from ..primitives.reduction import ARGSORT
from ..primitives.selection import GATHER, SLICE, full
from ..primitives.spelling import self_dot
from ..primitives.windows import OVERLAP_ADD, OVERLAPPED_PRODUCT, WINDOWED_PRODUCT, Viewed
from ..program.dims import Dim, is_concrete, size
from ..program.node import Node
from ..program.program import Program
from .reuse import empty
from .runtime import diagonal, embed_diagonal, from_end, gate, gram, in_order, row, scatter

if TYPE_CHECKING:
    from .numpy_backend import Writer

#: what sources call beside NumPy itself
FUNCTIONS = (
    *(empty, cofactors, decomposed, self_dot, gate, in_order, gram, row, scatter, from_end, diagonal, embed_diagonal),
    *(primitive.function for primitive in (OVERLAP_ADD, WINDOWED_PRODUCT, OVERLAPPED_PRODUCT)),
)
#: reads from which a column of a large array is worth a copy
_USES_WORTH_COPY = 3
#: elements for each place that is read of what sorts, from which no others are sorted
_WORTH_SORTING = 16


def places_read(program: Program) -> dict[Node, set[int]]:
    """The places along its axis that are read of each result of argsort, where these are known and few."""
    read: dict[Node, set[int]] = {n: set() for n in program.nodes if n.primitive is ARGSORT}
    whole = {n for n in program.outputs if n in read}
    for node in program.nodes if read else ():
        for order in [o for o in node.operands if o in read]:
            found = _places(node, order)
            if found is None:
                whole.add(order)
            else:
                read[order].update(found)
    return {n: places for n, places in read.items() if n not in whole and _are_few(len(places), n)}


def _places(node: Node, order: Node) -> Iterable[int] | None:
    """The places that ``node`` reads of ``order``; None where they are not known, or many."""
    (axis,) = order.params
    if node.primitive is SLICE:
        entry = node.params[0][axis]
        start, length, step = entry if isinstance(entry, tuple) else (entry, 1, 1)
        return range(start, start + length * step, step) if _are_few(length, order) else None
    if node.primitive is GATHER and node.operands[0] is order and node.params == (axis,):
        index = node.operands[1]
        return index.params[0].value.ravel().tolist() if index.primitive is CONSTANT else None
    return None


def _are_few(count: Dim, order: Node) -> bool:
    length = order.shape[order.params[0]]
    return is_concrete((length, count)) and count * _WORTH_SORTING <= length


def is_diagonal(node: Node) -> bool:
    """True for an einsum that stands on diagonals of its result alone."""
    if node.primitive is not EINSUM:
        return False
    _, out, _, spelling = node.params
    return len(out) > 1 and not spelling and len(set(out)) < len(out)


def _sliced(w: Writer, node: Node) -> tuple[str, bool]:
    code, _ = STATEMENTS["slice"](w, node)
    is_column = w.is_large(node) and not isinstance(node.params[0][-1], tuple)
    if is_column and w.uses[node] >= _USES_WORTH_COPY and not w.exact:
        return f"{code}.copy()", True  # its elements side by side, for which NumPy and BLAS have other loops
    return code, False


def _assembled(w: Writer, node: Node) -> tuple[str, bool]:
    shape, specs = node.params
    name = w.assign(f"np.zeros({w.shape(shape)}, np.{node.dtype.name})", node)
    for k, (o, spec) in enumerate(zip(node.operands, specs, strict=True)):
        index, _ = w.index(spec, shape)
        target, operator = f"{name}[{index}]", "=" if k == 0 else "+="
        if o in w.delayed:
            w.put(o, target, operator)
        else:
            w.lines.append(f"{target} {operator} {w.names[o]}")
    return name, True


def _part(w: Writer, node: Node) -> tuple[str, bool]:
    start, shape, dtype = node.params
    index, _ = w.index(((start, size(shape), 1),), node.operands[0].shape)
    code = f"{w.read(node.operands[0])}[{index}].reshape({w.shape(shape)})"
    return f"np.asarray({code}, np.{dtype.name})", False


def _row(w: Writer, node: Node) -> tuple[str, bool]:
    starts, _, batch = node.params
    name = w.assign(f"np.zeros({w.shape(node.shape)}, np.{node.dtype.name})", node)
    for o, start in zip(node.operands, starts, strict=True):
        count = size(o.shape[batch:])
        index, _ = w.index((*full(node.shape[:batch]), (start, count, 1)), node.shape)
        w.lines.append(f"{name}[{index}] += np.reshape({w.names[o]}, {w.shape((*node.shape[:batch], count))})")
    return name, True


def _sorted(w: Writer, node: Node) -> tuple[str, bool]:
    """Where few places of what sorts are read, these alone are put in order."""
    places = w.places_read.get(node)
    if not places:
        return STATEMENTS["argsort"](w, node)
    return f"np.argpartition({w.read(node.operands[0])}, {sorted(places)}, {node.params[0]})", True


def _viewed(w: Writer, node: Node) -> tuple[str, bool]:
    """A function of ``primitives/windows.py``."""
    primitive = node.primitive
    assert isinstance(primitive, Viewed)
    arguments = [w.own(node, k) for k in range(len(node.operands))]
    arguments += map(str, primitive.arguments(node.params))
    if primitive is not OVERLAP_ADD and not w.exact:
        arguments.append("blas.matmul")
    return f"{primitive.name}({', '.join(arguments)})", True


def _decomposed(w: Writer, node: Node) -> tuple[str, bool]:
    return f"decomposed({node.primitive.name!r}, {node.params!r}, {', '.join(map(w.read, node.operands))})", True


KERNEL_STATEMENTS: Mapping[str, Statement] = {
    **STATEMENTS,
    "argsort": _sorted,
    "assemble": _assembled,
    "cast": lambda w, n: (w.converted(n.operands[0], n.dtype), False),
    **dict.fromkeys(IDENTITIES, lambda w, n: (w.read(n.operands[0]), False)),
    "cofactor": lambda w, n: (f"cofactors({', '.join(w.read(o) for o in n.operands)}, order={n.params[0]})", True),
    **dict.fromkeys(DECOMPOSITIONS, _decomposed),
    "part": _part,
    "row": _row,
    "slice": _sliced,
    **{primitive.name: _viewed for primitive in (OVERLAP_ADD, WINDOWED_PRODUCT, OVERLAPPED_PRODUCT)},
}
