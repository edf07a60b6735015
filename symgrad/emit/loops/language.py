"""The loop language: what a target prints. Scalars, arrays, loops, a few calls; nothing of any one target.

A ``Routine`` takes the sizes of its named dims and its inputs and fills its outputs. Names are those that ``lower`` was
given for arguments and, for everything else, ``v0, v1, …`` (values) and those of ``COUNTERS`` (loops).

- **Arrays** have a shape of dims (ints or sympy expressions in the routine's dims), are read and written by one
  ``Index`` an axis, counted from 0, and are laid out as the target likes. An ``Array`` of shape ``()`` is an output
  number; all other numbers are names.
- **Expressions** are typed: ``dtype`` is NumPy's. The operands of an ``Apply`` have been cast to the dtypes in which
  NumPy's loop takes them, so a target needs one table from operation to spelling; ``OPERATIONS`` lists them.
- **Statements** are executed in order. ``Require`` and the calls that may fail end the routine with a status of
  ``STATUSES``; what is in the outputs then means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import sympy

from ...primitives.elementwise import COMPARISONS, ON_BITS, SIGNS
from .expressions import Apply, Array, Cast, Counted, Element, Expression, Index, Literal, Name, Search, Size, Slab
from .reading import names_read_by
from .statements import (
    Alias,
    Allocate,
    Assign,
    Call,
    Fill,
    Free,
    If,
    Let,
    Loop,
    Note,
    Part,
    Require,
    Statement,
    Update,
    Variable,
)

__all__ = [
    "COUNTERS",
    "FAILURES",
    "OPERATIONS",
    "STATUSES",
    "Alias",
    "Allocate",
    "Apply",
    "Array",
    "Assign",
    "Call",
    "Cast",
    "Counted",
    "Element",
    "Expression",
    "Fill",
    "Free",
    "If",
    "Index",
    "Let",
    "Literal",
    "Loop",
    "Name",
    "Note",
    "Part",
    "Require",
    "Routine",
    "Search",
    "Size",
    "Slab",
    "Statement",
    "Update",
    "Variable",
]

#: status -> what it says; a routine that ends well has none of them
STATUSES: dict[str, str] = {
    "memory": "there is not enough memory",
    "branch": "the arguments take another branch than the ones that this code was made for",
    "index": "an index is out of bounds",
    "size": "the sizes do not fit this code",
    "singular": "a matrix is singular",
    "indefinite": "a matrix is not positive definite",
    "exponent": "an integer is raised to a negative power",
}
#: names that loops count with, from the outermost
COUNTERS = ("i", "j", "k", "l", "p", "q", "r", "s")

#: elementwise operation -> number of operands. With floats: NumPy's function of that name. With integers: add,
#: subtract, multiply, negative wrap; floor_divide and remainder follow Python's signs and give 0 for a zero divisor.
#: Truth values come as operands of the logical operations, comparisons, maximum, minimum, bitwise ones and ``where``.
OPERATIONS: dict[str, int] = (
    dict.fromkeys((*SIGNS, "power", "floor_divide", "remainder", "fmod"), 2)
    | dict.fromkeys(("negative", "reciprocal", "absolute", "sign", "sqrt", "cbrt"), 1)
    | dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"), 1)
    | dict.fromkeys(("sin", "cos", "tan", "arcsin", "arccos", "arctan"), 1)
    | dict.fromkeys(("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"), 1)
    | dict.fromkeys(("floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite", "signbit"), 1)
    | dict.fromkeys(("arctan2", "hypot", "copysign", "ldexp"), 2)
    | dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), 2)
    | dict.fromkeys((*COMPARISONS, *ON_BITS, "logical_and", "logical_or", "logical_xor"), 2)
    | dict.fromkeys(("logical_not", "invert"), 1)
    | {"where": 3}
    | dict.fromkeys(("erf", "erfc", "erfcx", "digamma", "gammaln"), 1)
    | {"zeta": 2}
)
#: those that floats have; floor_divide and remainder are of whole numbers alone
OF_FLOATS = OPERATIONS.keys() - {"floor_divide", "remainder"}
#: function of a ``Call`` -> the status that it may end with
FAILURES = {"inverse": "singular", "solve": "singular", "cholesky": "indefinite"}


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
        pending = list(reversed(self.body))
        while pending:
            statement = pending.pop()
            yield statement
            if isinstance(statement, Loop | If):
                pending += reversed(statement.body)

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
