"""The size of a closed form, predicted before anything is expanded.

A closed form is a tree: what a Program shares is written out at each use, so its size can be exponential
in the Program's. The prediction walks the bindings once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import ClosedFormTooLarge, UnsupportedOperation
from ..passes.unrolling import unrolled
from ..primitives.primitive import known_value
from ..program.node import Node
from ..program.program import Program
from .linalg import ENTRIES as LINEAR_ALGEBRA

#: operations that a closed form may have; beyond it the let-bound form is given
BUDGET = 2000
#: the minors of larger matrices are not counted to the end
_MAX_ROWS = 20
_RUNNING = ("cumsum", "cumprod")
#: operations that are read where loops are written out
_MAX_STEPS = 10_000
#: nesting that sympy's printers bear without recursion trouble
MAX_DEPTH = 80


def _extent(dims: Sequence) -> int:
    return math.prod(d if isinstance(d, int) else 1 for d in dims)


def _terms(node: Node) -> int:
    """How many summands an element of ``node`` is written with, entry by entry."""
    if node.primitive.name == "einsum":
        labels, out, sizes, _ = node.params
        kept = set(out)
        return _extent([sizes[i] for i in {i for ls in labels for i in ls} - kept])
    if node.primitive.name in ("max", "min", "prod", *_RUNNING, "scatter"):
        whole, part = _extent(node.operands[0].shape), _extent(node.shape)
        running = node.primitive.name in _RUNNING
        return node.operands[0].shape[node.params[0]] if running else max(whole // max(part, 1), 1)
    if node.primitive.name in ("fft", "rfft", "irfft"):
        return _extent(node.operands[0].shape[node.params[0] :][:1])
    if node.primitive.name == "convolve":
        return min(_extent(o.shape) for o in node.operands)
    if node.primitive.name in LINEAR_ALGEBRA:  # written out by minors
        n = node.operands[0].shape[-1]
        return math.factorial(min(n, _MAX_ROWS)) if isinstance(n, int) else 1
    return 1


def without_loops(program: Program) -> Program:
    """``program`` with its loops written out; a ClosedFormTooLarge where no formula of so many steps could be read."""
    try:
        return unrolled(program, _MAX_STEPS)
    except UnsupportedOperation as error:
        raise ClosedFormTooLarge(f"{error} The let-bound form has the loops: print .program().") from None


def predicted_operations(program: Program, entries: bool) -> int:
    """Operations in the written-out form of all outputs: of every entry, or of one in index notation."""
    size: dict[Node, int] = {}
    for node in program.nodes:
        read = sum(size[o] for o in node.operands)
        if entries and node.primitive.name == "assemble":  # each entry is one of an operand's
            read = math.ceil(sum(size[o] * _extent(o.shape) for o in node.operands) / max(_extent(node.shape), 1))
        size[node] = (1 + read if node.operands else 0) * (_terms(node) if entries else 1)
    return sum(size[o] * (_extent(o.shape) if entries else 1) for o in program.outputs)


def depth(program: Program) -> int:
    """The longest chain of bindings."""
    level: dict[Node, int] = {}
    for node in program.nodes:
        level[node] = 1 + max((level[o] for o in node.operands), default=-1)
    return max((level[o] for o in program.outputs), default=0)


def fits(program: Program, entries: bool, budget: int = BUDGET) -> bool:
    """True where the closed form stays within ``budget`` operations and a printable depth."""
    try:
        program = without_loops(program)
    except ClosedFormTooLarge:
        return False
    if entries and lacks_numbers(program):
        return False
    return predicted_operations(program, entries) <= budget and depth(program) <= MAX_DEPTH


def lacks_numbers(program: Program) -> bool:
    """True for data with missing values: written out, NaN would stand among numbers, and algebra knows no such."""
    values = [v for n in program.nodes if n.dtype.kind in "fc" and (v := known_value(n)) is not None]
    return any(np.isnan(v).any() for v in values)


def require(program: Program, entries: bool, budget: int) -> None:
    """A ClosedFormTooLarge, with the numbers and the way out, where the form does not fit."""
    if fits(program, entries, budget):
        return
    program = without_loops(program)
    if entries and lacks_numbers(program):
        raise ClosedFormTooLarge(
            "the function has data with missing values (NaN), which no formula of its elements can hold; "
            'form="matrix" names the data, and so does the let-bound form: print .program().'
        )
    form, deep = "entry form" if entries else "index form", depth(program)
    larger = ", raise budget=" if deep <= MAX_DEPTH else ""  # which no budget makes less deep
    raise ClosedFormTooLarge(
        f"the {form} would have {_human(predicted_operations(program, entries))} operations, {deep} deep; "
        f"the budget is {budget} operations and a depth of {MAX_DEPTH}. The let-bound form has "
        f"{len(program.bindings)} bindings: print .program(){larger}, or see .formulas(), which shortens."
    )


def _human(count: int) -> str:
    return str(count) if count < 10**9 else f"about 10^{int(math.log10(count))}"
