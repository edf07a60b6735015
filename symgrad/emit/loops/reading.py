"""What statements read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...program.dims import Dim, Shape
from .expressions import Apply, Cast, Counted, Element, Expression, Index, Name, Search, Size, Slab
from .statements import (
    Alias,
    Allocate,
    Assign,
    Call,
    Fill,
    If,
    Let,
    Loop,
    Part,
    Require,
    Statement,
    Update,
    Variable,
)


def read_by(statement: Statement) -> list[Expression]:
    """The expressions of one statement; targets that are elements are among them for the sake of their indices."""
    if isinstance(statement, Let | Variable):
        return [statement.value]
    if isinstance(statement, Assign | Update):
        return [statement.target, statement.value]
    if isinstance(statement, If | Require):
        return [statement.condition]
    return []


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all that it is made of."""
    pending = [expression]
    while pending:
        e = pending.pop()
        yield e
        if isinstance(e, Apply):
            pending += reversed(e.operands)
        elif isinstance(e, Cast):
            pending.append(e.operand)
        elif isinstance(e, Search):
            pending.append(e.value)


def names_read_by(statement: Statement) -> Iterator[Any]:
    """The names that one statement reads, and the symbols of its dims; not those of what it nests."""
    for expression in read_by(statement):
        for e in parts(expression):
            if isinstance(e, Name):
                yield e.name
            elif isinstance(e, Size):
                yield from _symbols(e.dim)
            elif isinstance(e, Counted):
                yield from _of_indices((e.index,))
            elif isinstance(e, Element):
                yield e.array.name
                yield from _of_place(e.array.shape, e.place)
            elif isinstance(e, Search):
                yield e.knots.name
                yield from (n for d in e.knots.shape for n in _symbols(d))
    if isinstance(statement, Loop):
        yield from _symbols(statement.extent)
    elif isinstance(statement, Alias):
        yield statement.source.name
    elif isinstance(statement, Part):
        yield statement.source.array.name
        yield from _of_place(statement.source.array.shape, statement.source.lead)
    elif isinstance(statement, Allocate | Fill):
        yield from (n for d in statement.array.shape for n in _symbols(d))
    elif isinstance(statement, Call):
        slabs = [s for s in (statement.target, *statement.operands) if isinstance(s, Slab)]
        for slab in slabs:
            yield slab.array.name
            yield from _of_place(slab.array.shape, slab.lead)
            yield from (n for d in slab.shape for n in _symbols(d))
        if isinstance(statement.target, Element):
            yield from _of_place(statement.target.array.shape, statement.target.place)


def _symbols(dim: Dim) -> Iterator[Any]:
    if not isinstance(dim, int):
        yield from dim.free_symbols


def _of_indices(indices: Sequence[Index]) -> Iterator[Any]:
    for index in indices:
        yield from _symbols(index.offset)
        for name, coefficient in index.terms:
            yield name
            yield from _symbols(coefficient)


def _of_place(shape: Shape, place: Sequence[Index]) -> Iterator[Any]:
    """Names in the place of an element, whose later axes are strides of the earlier ones."""
    yield from _of_indices(place)
    for axis, d in enumerate(shape):
        if any(index != Index() for index in place[:axis]):
            yield from _symbols(d)
