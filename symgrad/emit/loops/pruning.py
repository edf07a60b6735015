"""What a routine does for nothing is left out: loops over nothing, names that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .language import Alias, Allocate, Element, Fill, Free, Let, Loop, Name, Part, Slab, Statement, Variable
from .reading import every, names_read_by


def pruned(body: Sequence[Statement]) -> list[Statement]:
    """The statements that do something."""
    body = _without_empty(body)
    lets: dict[str, Let] = {}
    wanted: list[str] = []
    for statement in every(body):
        if isinstance(statement, Let):
            lets[statement.name] = statement
        else:
            wanted += names_read_by(statement)
    read: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in read:
            read.add(name)
            wanted += names_read_by(lets[name]) if name in lets else ()
    return _kept(body, read, read | {name for statement in every(body) for name in _written_by(statement)})


def _written_by(statement: Statement) -> Iterator[str]:
    """The names that one statement writes to."""
    target = getattr(statement, "target", None)
    if isinstance(target, Name):
        yield target.name
    elif isinstance(target, Element | Slab):
        yield target.array.name
    elif isinstance(statement, Fill):
        yield statement.array.name


def _without_empty(body: Sequence[Statement]) -> list[Statement]:
    """Without loops of extent 0; nests are as deep as arrays have axes."""
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, Loop):
            if statement.extent != 0:
                kept.append(replace(statement, body=_without_empty(statement.body)))
        elif not (isinstance(statement, Fill) and 0 in statement.array.shape):
            kept.append(statement)
    return kept


def _kept(body: Sequence[Statement], read: set[str], used: set[str]) -> list[Statement]:
    """Without loops over nothing, names that nobody reads, and what has memory that nobody reads or writes."""
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, Loop):
            inner = _kept(statement.body, read, used)
            if inner:
                kept.append(replace(statement, body=inner))
        elif isinstance(statement, Let):
            if statement.name in read:
                kept.append(statement)
        elif isinstance(statement, Variable | Alias | Part | Allocate | Free):
            if (statement.name if isinstance(statement, Variable) else statement.array.name) in used:
                kept.append(statement)
        else:
            kept.append(statement)
    return kept
