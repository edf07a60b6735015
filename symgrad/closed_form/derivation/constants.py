"""Arrays that a function found outside: one name for each in a derivation, and what they hold."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import sympy

from ...primitives.primitive import input_node
from ...primitives.selection import GATHER, SCATTER
from ...program.interpret import rebuilt, walk
from ...program.node import Node, ancestors
from ...program.program import Program
from ..index_rules import is_spaced
from ..symbols import number
from ..typeset import typeset
from .lines import spelled_shape
from .naming import Name, Names, user_name

#: whole numbers that are written out where rows are picked by them
MAX_ROWS = 8
#: entries of an array that is written out in LaTeX, and characters of each
_MAX_ENTRIES, _MAX_CHARACTERS = 16, 16
#: entries from which an array is told by its first and last
_MANY = 12


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
    """True for rows that are written out as the numbers they are."""
    if user.primitive not in (GATHER, SCATTER) or user.operands[1] is not operand:
        return False
    return operand is not user.operands[0] and is_few_rows(operand)


def is_few_rows(node: Node) -> bool:
    """True for rows known beforehand that are so few that they are written out."""
    return node.primitive.name == "constant" and node.params[0].value.size <= MAX_ROWS


def is_unit(value: np.ndarray) -> bool:
    """True for a number times an identity, which matrix notation writes with ``I``."""
    return value.ndim == 2 and min(value.shape) > 1 and bool((value == value.flat[0] * np.eye(*value.shape)).all())


def description(name: Name, value: np.ndarray) -> tuple[str, str, str]:
    """What an array holds: as text, as LaTeX, and in words."""
    said = _triangles(value) or _shortened(value)
    matrix = _written_out(value)
    if matrix is None:
        words = said.replace("-", "$-$").replace("…", r"$\ldots$")
        matrix = rf"\text{{{words}}}"
    return f"{name} = {said}", f"{name.latex} &= {matrix}", f"shape {spelled_shape(value.shape)}"


def _shortened(value: np.ndarray) -> str:
    around = value.ndim - 1 if value.ndim > 2 and value.size > _MANY else 0  # else a screen full of corners
    shown = value.ravel() if around else value
    short = np.array2string(shown, precision=4, threshold=_MANY, edgeitems=2, separator=", ")
    short = "[" * around + short + "]" * around
    return re.sub(r" +(?=[],])|(?<=\[) +", "", " ".join(short.replace("...", "…").split()))


def _triangles(value: np.ndarray) -> str:
    """What stands below, on and above the diagonal, where that is one number each."""
    if value.ndim != 2 or min(value.shape) < 2:
        return ""
    rows, columns = np.indices(value.shape)
    said = []
    for where, part in (("below", rows > columns), ("on", rows == columns), ("above", rows < columns)):
        held = value[part]
        if not (held == held[0]).all():
            return ""
        entry = number(held[0] + 0)
        said.append(f"{entry} {where} {'it' if said else 'the diagonal'}")
    return ", ".join(said)


def _written_out(value: np.ndarray) -> str | None:
    """A small array in brackets; None for one that is too wide."""
    if value.ndim > 2 or value.size > _MAX_ENTRIES or value.dtype.kind not in "biuf":
        return None
    entries = [typeset(sympy.Integer(int(v)) if value.dtype.kind == "b" else number(v)) for v in value.ravel()]
    if max(map(len, entries)) > _MAX_CHARACTERS or not np.isfinite(value).all():
        return None
    width = value.shape[-1] if value.ndim == 2 else 1
    rows = r" \\ ".join([" & ".join(entries[k : k + width]) for k in range(0, len(entries), width)])
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
