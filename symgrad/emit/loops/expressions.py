"""Arrays, indices and expressions of the loop language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...program.dims import Dim, Shape


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
