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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...primitives.elementwise import COMPARISONS, ON_BITS, SIGNS
from ...program.dims import Dim, Shape

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

# expressions


@dataclass(frozen=True, eq=False)
class Array:
    """A named array. ``role`` is input, output, constant or local; local ones are allocated and freed by statements."""

    name: str
    shape: Shape
    dtype: np.dtype
    role: str


class Index(NamedTuple):
    """``offset + Σ coefficient · name``, from 0; names are loop counters and integer values, the rest are dims."""

    offset: Dim = 0
    terms: tuple[tuple[Any, Dim], ...] = ()


@dataclass(frozen=True)
class Literal:
    """A number, exact in its dtype."""

    value: Any
    dtype: np.dtype


@dataclass(frozen=True)
class Size:
    """A dim as a number."""

    dim: Dim
    dtype: np.dtype


@dataclass(frozen=True)
class Name:
    """A number that has a name: an argument, or what a ``Let`` or ``Variable`` made."""

    name: str
    dtype: np.dtype


@dataclass(frozen=True)
class Counted:
    """An index as a number."""

    index: Index
    dtype: np.dtype


@dataclass(frozen=True)
class Element:
    """An element of an array."""

    array: Array
    place: tuple[Index, ...]

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype


@dataclass(frozen=True)
class Cast:
    """A number in another dtype, as ``astype`` makes it: to bool ``!= 0``, from float to integer towards zero."""

    operand: Expression
    dtype: np.dtype


@dataclass(frozen=True)
class Apply:
    """An operation of ``OPERATIONS``; the operands have the dtypes of NumPy's loop."""

    operation: str
    operands: tuple[Expression, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class Search:
    """``np.searchsorted(knots, value, side)``; both are of one dtype, NaN is sorted last."""

    knots: Array
    value: Expression
    side: str
    dtype: np.dtype


Expression = Literal | Size | Name | Counted | Element | Cast | Apply | Search


@dataclass(frozen=True)
class Slab:
    """The part of an array at indices of its first axes; all of it where there are none."""

    array: Array
    lead: tuple[Index, ...] = ()

    @property
    def shape(self) -> Shape:
        return self.array.shape[len(self.lead) :]


# statements


@dataclass(frozen=True)
class Let:
    """A name for a number, until the block ends."""

    name: str
    value: Expression


@dataclass(frozen=True)
class Variable:
    """A name for a number that changes, until the block ends."""

    name: str
    value: Expression


@dataclass(frozen=True)
class Assign:
    """``target = value``, of one dtype."""

    target: Name | Element
    value: Expression


@dataclass(frozen=True)
class Update:
    """``target = operation(target, value)``; the operation is add, multiply, maximum or minimum."""

    target: Name | Element
    operation: str
    value: Expression


@dataclass(frozen=True)
class Loop:
    """The body for ``counter`` from 0 to ``extent - 1``, downwards where ``reverse``."""

    counter: str
    extent: Dim
    body: Sequence[Statement]
    reverse: bool = False


@dataclass(frozen=True)
class If:
    """The body where the condition is true."""

    condition: Expression
    body: Sequence[Statement]


@dataclass(frozen=True)
class Require:
    """End with a status unless the condition is true."""

    condition: Expression
    status: str


@dataclass(frozen=True)
class Allocate:
    """Memory for a local array, whose elements are anything."""

    array: Array


@dataclass(frozen=True)
class Free:
    """The end of a local array."""

    array: Array


@dataclass(frozen=True)
class Fill:
    """Every element of the array set to the value."""

    array: Array
    value: Literal


@dataclass(frozen=True)
class Alias:
    """``array`` holds the elements of ``source`` in C order; ``source`` lives as long, neither is written after."""

    array: Array
    source: Array


@dataclass(frozen=True)
class Part:
    """``array`` is the part of another one, in the same memory, until the block ends."""

    array: Array
    source: Slab


@dataclass(frozen=True)
class Call:
    """A function on whole arrays that the target has or writes; all of one dtype, float32 or float64.

    - ``inverse(A) -> B``, ``solve(A, b) -> x`` (``b`` a vector or the columns of a matrix): "singular" where a pivot of
      the LU factorisation with row exchanges is zero;
    - ``determinant(A) -> d``, ``log_determinant(A) -> l`` (of the absolute value), ``determinant_sign(A) -> s``: 0,
      -inf and 0 for a singular matrix, 1, 0 and 1 for one of no rows;
    - ``cholesky(A) -> L``: the lower factor, zeros above, of which ``A`` is read in the lower triangle: "indefinite"
      where a pivot is not positive;
    - ``argsort(x) -> p``: stable, NaN last, of a vector of any dtype; ``p`` is int64.
    """

    function: str
    target: Slab | Name | Element
    operands: tuple[Slab, ...]


Statement = Let | Variable | Assign | Update | Loop | If | Require | Allocate | Free | Fill | Alias | Part | Call
