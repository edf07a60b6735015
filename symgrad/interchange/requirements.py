"""What must be true of the sizes that a document speaks of, checked at once where they are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy

from ..program.dims import Dim, Shape, is_named, normal, value_of
from ..program.facts import HOLDS, spelled_fact
from .dims import terms
from .field import Field
from .limits import MOST_TERMS, MOST_TERMS_COMPARED


class Requirements:
    """What sizes have to satisfy; ``open`` are the facts that only the sizes of a call can tell."""

    def __init__(self) -> None:
        self.open: dict[tuple[sympy.Expr, str], None] = {}
        self._normal: dict[Any, Dim] = {}
        self._compared = 0
        self._settled: set[tuple[Any, str]] = set()

    def nonnegative(self, field: Field, dim: Dim, message: str) -> None:
        """``dim`` is at least 0, else it is ``field`` that is wrong."""
        self._require(field, dim, "nonnegative", message)

    def equal(self, field: Field, left: Dim, right: Dim, message: str) -> None:
        """Two sizes are the same."""
        if left != right:
            self._require(field, left - right, "zero", message)

    def alike(self, field: Field, left: Shape, right: Shape, what: str) -> None:
        """Two shapes are the same."""
        message = f"{what} should have the same shape; they have {shape_text(left)} and {shape_text(right)}"
        if len(left) != len(right):
            field.fail(message)
        for a, b in zip(left, right, strict=True):
            self.equal(field, a, b, message)

    def sum(self, field: Field, sizes: Iterable[Dim]) -> None:
        """The sum of these sizes has no more terms than a size may have."""
        if sum(map(terms, set(sizes))) > MOST_TERMS:
            field.fail(f"the sum of these sizes has more than {MOST_TERMS} terms")

    def size(self, field: Field, shape: Sequence[Dim]) -> Dim:
        """The number of elements."""
        total: Dim = 1
        count = 1
        for d in shape:
            count *= terms(d)
            if count > MOST_TERMS:
                field.fail(f"multiplied out this number of elements has more than {MOST_TERMS} terms")
            total = total * d
        return total

    def _require(self, field: Field, dim: Dim, sign: str, message: str) -> None:
        if (dim, sign) in self._settled:
            return
        known = self._known(field, dim, sign)
        if known is False:
            field.fail(message)
        if known is None:
            self.open[self._normal[dim], sign] = None
        self._settled.add((dim, sign))

    def _known(self, field: Field, dim: Dim, sign: str) -> bool | None:
        if is_named(dim):
            if dim not in self._normal:
                self._compared += terms(dim)
                if self._compared > MOST_TERMS_COMPARED:
                    field.fail(f"the sizes of this document have more than {MOST_TERMS_COMPARED} terms to compare")
                self._normal[dim] = normal(dim)
            dim = self._normal[dim]
        if not is_named(dim):
            return HOLDS[sign](dim)
        return dim.is_zero if sign == "zero" else dim.is_nonnegative


def first_broken(facts: Iterable[tuple[sympy.Expr, str]], sizes: Mapping[sympy.Symbol, int]) -> str | None:
    """The first of the facts that is not so for these sizes, as text; None where all are."""
    return next((spelled_fact(dim, sign) for dim, sign in facts if not HOLDS[sign](value_of(dim, sizes))), None)


def shape_text(shape: Sequence[Dim]) -> str:
    """A shape as the text form of a Program has it."""
    return "[" + ",".join(map(str, shape)) + "]"
