"""Statements of the loop language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...program.dims import Dim
from .expressions import Array, Element, Expression, Literal, Name, Slab


@dataclass(frozen=True)
class Note:
    """A comment, printable ASCII of the lowering's own."""

    text: str


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


Statement = Note | Let | Variable | Assign | Update | Loop | If | Require | Allocate | Free | Fill | Alias | Part | Call
