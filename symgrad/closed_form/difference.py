"""Is the difference of two closed forms zero? By sympy's algebra, within a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from ..program.dims import is_concrete
from ..program.program import Program
from .budget import fits
from .deadline import TimeIsUp, within
from .entries import entry_forms
from .index_form import index_forms

#: elements whose differences are simplified
_MOST_ELEMENTS = 64


def proved_equal(pairs: Iterable[tuple[Any, Any]], seconds: float) -> bool:
    """True where sympy shows every pair to be the same; False where it does not within the time.

    >>> x = sympy.Symbol("x", real=True)
    >>> proved_equal([(sympy.sin(x) ** 2, 1 - sympy.cos(x) ** 2)], 5.0), proved_equal([(x, abs(x))], 5.0)
    (True, False)
    """
    try:
        with within(seconds):
            return all(_same(left, right) for left, right in pairs)
    except TimeIsUp:
        return False
    except (TypeError, ValueError, ArithmeticError, NotImplementedError, RecursionError, AttributeError):
        return False  # sympy's own algorithms fail in many ways; then nothing is proved


def _same(left: Any, right: Any) -> bool:
    if left == right:
        return not sympy.sympify(left).has(sympy.nan)
    difference = sympy.sympify(left) - sympy.sympify(right)
    return any(step(difference) == 0 for step in (sympy.expand, sympy.together, sympy.simplify))


def element_pairs(left: Program, right: Program | Sequence[np.ndarray]) -> list[tuple[Any, Any]] | None:
    """The elements of the outputs, side by side, in the same symbols; None where they cannot be written out.

    ``right`` is a program of the same inputs, or the elements themselves.
    """
    if not is_concrete(tuple(d for n in (*left.inputs, *left.outputs) for d in n.shape)) or not _is_small(left):
        return None
    if isinstance(right, Program):
        if [n.shape for n in right.outputs] != [n.shape for n in left.outputs] or not _is_small(right):
            return None
        right = Program(
            right.inputs, right.outputs, left.names, right.graph
        )  # the same symbols, whatever it calls them
    try:
        ours = entry_forms(left)
        theirs = entry_forms(right) if isinstance(right, Program) else right
    except TypeError:  # an index that is computed from values
        return None
    return [pair for a, b in zip(ours, theirs, strict=True) for pair in zip(a.ravel(), np.ravel(b), strict=True)]


def _is_small(program: Program) -> bool:
    count = sum(int(np.prod(n.shape)) for n in program.outputs)
    return count <= _MOST_ELEMENTS and fits(program, True)


def same_at_all_indices(left: Program, right: Program) -> bool:
    """True where both have one and the same formula at free indices, which holds for every size."""
    shapes = [[n.shape for n in nodes] for p in (left, right) for nodes in (p.inputs, p.outputs)]
    if shapes[:2] != shapes[2:] or not (fits(left, False) and fits(right, False)):
        return False
    right = Program(right.inputs, right.outputs, left.names, right.graph)
    if any(n.primitive.name == "constant" for p in (left, right) for n in p.nodes):
        return False  # captured arrays have names there, and no values
    try:
        return index_forms(left) == index_forms(right)
    except ValueError:
        return False
