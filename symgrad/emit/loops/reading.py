"""Routine: the loops of a program; and what its statements read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from ...program.dims import Dim, Shape
from .language import (
    FAILURES,
    STATUSES,
    Alias,
    Allocate,
    Apply,
    Array,
    Assign,
    Call,
    Cast,
    Counted,
    Element,
    Expression,
    Fill,
    If,
    Index,
    Let,
    Loop,
    Name,
    Part,
    Require,
    Search,
    Size,
    Slab,
    Statement,
    Update,
    Variable,
)


def every(body: Sequence[Statement]) -> Iterator[Statement]:
    """Every statement, in order, those in loops behind the loop."""
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        yield statement
        if isinstance(statement, Loop | If):
            pending += reversed(statement.body)


def read_by(statement: Statement) -> list[Expression]:
    """The expressions of one statement; targets that are elements are among them for the sake of their indices."""
    if isinstance(statement, Let | Variable):
        return [statement.value]
    if isinstance(statement, Assign | Update):
        return [statement.target, statement.value]
    if isinstance(statement, If | Require):
        return [statement.condition]
    return []


def operands_of(e: Expression) -> tuple[Expression, ...]:
    """What an expression is made of."""
    if isinstance(e, Apply):
        return e.operands
    if isinstance(e, Cast):
        return (e.operand,)
    return (e.value,) if isinstance(e, Search) else ()


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all that it is made of."""
    pending = [expression]
    while pending:
        e = pending.pop()
        yield e
        pending += reversed(operands_of(e))


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


@dataclass(frozen=True)
class Routine:
    """The loops of a program.

    ``dims`` are the named dims with the names of the arguments that hold their sizes; ``inputs`` are names of
    numbers and arrays, ``outputs`` arrays (of shape ``()`` where they are numbers), both in the program's order;
    ``constants`` are arrays with their values.
    """

    dims: dict[sympy.Symbol, str]
    inputs: tuple[Name | Array, ...]
    outputs: tuple[Array, ...]
    constants: tuple[tuple[Array, np.ndarray], ...]
    body: Sequence[Statement] = field(repr=False)

    def statements(self) -> Iterator[Statement]:
        """Every statement, in order, those in loops behind the loop."""
        return every(self.body)

    def names_read(self) -> set[str]:
        """Every name that something reads: of numbers, arrays, counters and dims (by their arguments)."""
        found = {n for s in self.statements() for n in names_read_by(s)}
        return {self.dims[n] if isinstance(n, sympy.Symbol) else n for n in found}

    def statuses(self) -> list[str]:
        """The statuses that the routine may end with, in the order of ``STATUSES``."""
        found = {s.status for s in self.statements() if isinstance(s, Require)}
        for s in self.statements():
            if isinstance(s, Call) or (isinstance(s, Allocate) and s.array.role == "local"):
                found.add("memory")
            if isinstance(s, Call) and s.function in FAILURES:
                found.add(FAILURES[s.function])
        return [s for s in STATUSES if s in found]
