"""Sizes, ``|x|``, ``‖x‖`` and ``hypot(a, b)``: what their slopes are made of, and what counts where they are zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import sympy

from ..program.node import Node
from .contraction import GATE
from .elementwise import SLOTS
from .functions import ANY, absolute, declare, divide, equal, fabs, not_equal, of_traced, sign

_SIZE, _VALUE = SLOTS[:2]


class Kink(NamedTuple):
    """A factor of slopes that is 0 where a size is: ``numerator/size`` elsewhere."""

    factor: Node
    size: Node
    numerator: Node


class _AtKink:
    nin, nout, __name__ = 2, 1, "at_kink"

    def resolve_dtypes(self, dtypes: tuple[Any, ...]) -> tuple[np.dtype, ...]:
        size, value = (np.divide.resolve_dtypes((d, d, None))[-1] for d in dtypes[:2])
        return size, value, value

    def __call__(self, x: Any, value: Any) -> Any:
        traced = of_traced(at_kink, x, value)
        if traced is not None:
            return traced
        dtype = self.resolve_dtypes((np.asarray(x).dtype, np.asarray(value).dtype))[-1]
        return np.where(np.equal(x, 0), np.asarray(value, dtype), dtype.type(0))


#: the second operand where the first is 0, and 0 elsewhere; formulas leave it out
at_kink = declare(
    "at_kink",
    _AtKink(),
    sympy.Piecewise((_VALUE, sympy.Eq(_SIZE, 0)), (0, True)),
    partials=(None, lambda size, _: equal(size, 0)),
    domain=(ANY, ANY),
)


def kinks_of(factor: Node) -> Iterator[Kink]:
    """The kinks that ``factor`` may be of: each is one in a program in which its size is."""
    # sign(x);  gate(r ≠ 0, numerator / r), also of r² in the place of the first r, or of both as a loop kept them
    if factor.primitive is sign:
        (x,) = factor.operands
        yield Kink(factor, absolute(x), x)
        if not factor.is_complex:
            yield Kink(factor, fabs(x), x)
    elif factor.primitive is GATE:
        mask, slope = factor.operands
        if mask.primitive is not_equal and slope.primitive is divide:
            numerator, size = slope.operands
            tested = mask.operands[0]
            is_size = tested in (size, *size.operands) or (tested.is_leaf and size.is_leaf)
            if is_size and (numerator.is_leaf or numerator.serial < size.serial):  # which is not made of the size
                yield Kink(factor, size, numerator)
