"""Dimensions: an ``int``, or a sympy expression in named dims (positive integer symbols).

Traced with arrays every dim is an int. Traced with named dims the same rules run on symbols, and
two dims are equal when their expressions are.
"""

from __future__ import annotations

from typing import Any

import sympy

from ..errors import ShapeError

Dim = Any  # int | sympy.Expr
Shape = tuple


def named_dim(name: str) -> sympy.Symbol:
    """The dim called ``name``: a positive integer symbol.

    >>> named_dim("n") == named_dim("n")
    True
    """
    return sympy.Symbol(name, integer=True, positive=True)


def is_concrete(shape: Shape) -> bool:
    """True where every dim is an int."""
    return all(isinstance(d, int) for d in shape)


def size(shape: Shape) -> Dim:
    """The number of elements.

    >>> size((2, 3))
    6
    """
    total: Dim = 1
    for d in shape:
        total = total * d
    return total


def broadcast(*shapes: Shape) -> Shape:
    """NumPy's broadcasting, over named dims too.

    >>> broadcast((3, 1), (2,))
    (3, 2)
    """
    first = shapes[0]
    for other in shapes[1:]:
        if first == other:
            continue
        rank = max(len(first), len(other))
        a = (1,) * (rank - len(first)) + tuple(first)
        b = (1,) * (rank - len(other)) + tuple(other)
        out = []
        for x, y in zip(a, b, strict=True):
            if x == y or y == 1:
                out.append(x)
            elif x == 1:
                out.append(y)
            else:
                listed = " ".join(str(tuple(s)) for s in shapes)
                raise ShapeError(f"operands could not be broadcast together with shapes {listed}")
        first = tuple(out)
    return tuple(first)
