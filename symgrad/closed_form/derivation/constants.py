"""Arrays that a function found outside: one name for each in a derivation, and what they hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...primitives.index_arrays import counts
from ...primitives.primitive import input_node
from ...primitives.selection import GATHER, SCATTER
from ...program.interpret import rebuilt, walk
from ...program.node import Node, ancestors
from ...program.program import Program
from ..contents import in_latex, in_words
from ..index_rules import is_spaced
from .lines import spelled_shape
from .naming import Name, Names, user_name

#: whole numbers that are written out where rows are picked by them
MAX_ROWS = 8


class Constants:
    """Names of captured arrays, put among ``names``; equal arrays have one, uniform ones and identities need none."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._found: dict[Any, Name] = {}
        self._values: dict[Name, np.ndarray] = {}

    def name(self, roots: Iterable[Node]) -> None:
        """Name the arrays that ``roots`` are made of, but for those few rows that are listed where they are picked."""
        nodes = ancestors(roots := list(roots))
        used = {*roots, *(o for n in nodes for o in n.operands if not _is_listed(n, o))}
        found = [n for n in nodes if n.primitive.name == "constant" and n in used]
        values = {n: n.params[0].value for n in found if n not in self._names}
        told = {n: v for n, v in values.items() if is_told(v)}
        for n in sorted(told, key=lambda n: is_unit(told[n]) or is_spaced(told[n])):  # last what is seldom called so
            self._names[n] = self._of(told[n], n.params[0].label)

    def _of(self, value: np.ndarray, label: str) -> Name:
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._found:
            generic = (user_name(f"c_{k}") for k in itertools.count(1))
            name = self._names.fresh(itertools.chain([user_name(label)] if label else [], generic))
            self._found[key] = name
            self._values[name] = value
        return self._found[key]

    def described(self) -> list[tuple[Name, str, str, str]]:
        """For each its name, then what it is: as text, as LaTeX, and in words."""
        return [(name, *description(name, value)) for name, value in self._values.items()]


def lifted(program: Program, names: Names, said: Callable[[np.ndarray], bool]) -> Program:
    """``program`` with the captured arrays that ``names`` has as inputs, called so, but those that a notation has said.

    Matrix notation has a sign for a ``is_unit``, an element at an index for what ``is_spaced``.
    """
    found: dict[Node, Node] = {}
    for n in program.nodes:
        if n.primitive.name == "constant" and n in names and not said(n.params[0].value):
            found[n] = input_node("constant", n.shape, n.dtype)
    with program.graph:
        image = walk(program.nodes, dict(found), rebuilt)
    labels = [*program.names, *[names[n] for n in found]]
    outputs = [image[o] for o in program.outputs]
    return Program([*program.inputs, *found.values()], outputs, labels, program.graph)


def is_told(value: np.ndarray) -> bool:
    """True for an array that a formula calls by a name: it does not hold the same number everywhere."""
    return bool(value.size and not (value == value.flat[0]).all())


def _is_listed(user: Node, operand: Node) -> bool:
    """True for rows that are written out as the numbers they are, and for all places, which an index is among."""
    if user.primitive not in (GATHER, SCATTER):
        return False
    if user.operands[0] is operand:
        return counts(operand, 1)
    return is_few_rows(operand)


def is_few_rows(node: Node) -> bool:
    """True for rows known beforehand that are so few that they are written out."""
    return node.primitive.name == "constant" and node.params[0].value.size <= MAX_ROWS


def is_unit(value: np.ndarray) -> bool:
    """True for a number times an identity or a unit vector, which matrix notation writes with ``I`` and ``e``."""
    if value.ndim == 1:
        return np.count_nonzero(value) == 1
    return value.ndim == 2 and min(value.shape) > 1 and bool((value == value.flat[0] * np.eye(*value.shape)).all())


def description(name: Name, value: np.ndarray) -> tuple[str, str, str]:
    """What an array holds: as text, as LaTeX, and in words."""
    return f"{name} = {in_words(value)}", f"{name.latex} &= {in_latex(value)}", f"shape {spelled_shape(value.shape)}"
