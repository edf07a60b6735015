"""What a routine demands of the sizes that it is called with, so that no index leaves its array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import sympy

from ...errors import UnsupportedOperation
from ...program.dims import Dim, is_named, normal
from ...program.facts import SizeFacts
from ...program.node import Node
from .language import Apply, Expression, Literal, Require, Size

_I64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
_SIGNS = {"zero": "equal", "nonnegative": "greater_equal", "not zero": "not_equal"}


def demands(nodes: Iterable[Node], facts: SizeFacts) -> list[Require]:
    """What must hold of named dims: the facts of the derivation, no negative extents, slices within their arrays."""
    found: dict[Expression, None] = dict.fromkeys(_compared(d, _SIGNS[sign]) for d, sign in facts.facts)
    shapes: dict[Dim, None] = {}
    for node in nodes:
        shapes.update(dict.fromkeys(d for d in node.shape if is_named(d)))
        for length, dim in _needed(node):
            if not _is_nonnegative(dim):
                least = _compared(dim, "greater_equal")
                if is_named(length):
                    none = Apply("less", (Size(length, _I64), Literal(1, _I64)), _BOOL)
                    least = Apply("logical_or", (none, least), _BOOL)
                found[least] = None
    extents = [_compared(d, "greater_equal") for d in shapes if not _is_nonnegative(d)]
    return [Require(e, "size") for e in (*extents, *found)]


def _compared(dim: Dim, operation: str) -> Expression:
    return Apply(operation, (Size(dim, _I64), Literal(0, _I64)), _BOOL)


def _needed(node: Node) -> Iterator[tuple[Dim, Dim]]:
    """Extents with what must not be negative where they are not 0."""
    name = node.primitive.name
    if name == "slice":
        yield from _within(node.params[0], node.operands[0].shape)
    elif name == "assemble":
        for spec in node.params[1]:
            yield from _within(spec, node.params[0])
    elif name in ("max", "min"):
        x = node.operands[0]
        for axis in node.params[0]:
            yield 1, _not_empty(node, x.shape[axis])
    elif name in ("argmax", "argmin"):
        yield 1, _not_empty(node, node.operands[0].shape[node.params[0]])
    elif name == "convolve":
        for o in node.operands:
            yield 1, _not_empty(node, o.shape[0])


def _not_empty(node: Node, dim: Dim) -> Dim:
    if dim == 0:
        raise UnsupportedOperation(f"{node.primitive.name} of an empty array has no value; NumPy refuses it too.")
    return normal(dim - 1)


def _within(spec: Sequence, shape: Sequence[Dim]) -> Iterator[tuple[Dim, Dim]]:
    for entry, d in zip(spec, shape, strict=True):
        if isinstance(entry, tuple):
            start, length, step = entry
            if not (is_named(d) or is_named(start) or is_named(length)) or length == 0:
                continue
            end = start + (length - 1) * step
            for place in (start, end):
                yield length, normal(place)
                yield length, normal(d - 1 - place)
        elif is_named(d) or is_named(entry):
            place = entry + d if isinstance(entry, int) and entry < 0 else entry
            yield 1, normal(place)
            yield 1, normal(d - 1 - place)


def _is_nonnegative(dim: Dim) -> bool:
    """True where no sizes from 0 on make a dim negative."""
    if not is_named(dim):
        return dim >= 0
    terms = sympy.Add.make_args(sympy.expand(dim))
    return all(not t.could_extract_minus_sign() for t in terms)
