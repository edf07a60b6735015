"""Dimensions: an ``int``, or a sympy expression in named dims (positive integer symbols).

Traced with arrays every dim is an int. Traced with named dims the same rules run on symbols, and
two dims are equal when their expressions are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy

from ..errors import ArgumentError, ShapeError

Dim = Any  # int | sympy.Expr
Shape = tuple[Dim, ...]


def named_dim(name: str) -> sympy.Symbol:
    """The dim called ``name``: a positive integer symbol.

    >>> named_dim("n") == named_dim("n")
    True
    """
    return sympy.Symbol(name, integer=True, positive=True)


def is_named(dim: Dim) -> bool:
    """True for a dim that is an expression in names."""
    return isinstance(dim, sympy.Basic)


def declared_shape(text: str) -> Shape:
    """The shape that words declare: names and sizes.

    >>> declared_shape("n 3")
    (n, 3)
    """
    dims: list[Dim] = []
    for word in text.split():
        if word.isdecimal():
            dims.append(int(word))
        elif word.isidentifier():
            dims.append(named_dim(word))
        else:
            raise ArgumentError(f"the shape {text!r} holds {word!r}; write names and sizes, such as 'n d' or 'n 3'.")
    return tuple(dims)


def normal(dim: Dim) -> Dim:
    """The one form that equal dims have: an int, or an expanded expression.

    >>> n = named_dim("n")
    >>> normal(n + 2 - n), normal(n * (n + 1))
    (2, n**2 + n)
    """
    if not is_named(dim):
        return int(dim)
    expanded = sympy.expand(dim)
    return int(expanded) if expanded.is_Integer else expanded


def dim_source(dim: Dim, names: Mapping[sympy.Symbol, str]) -> str:
    """Python source of a dim, whose names are spelled as ``names`` says; whole where the dim is.

    >>> n = named_dim("n")
    >>> dim_source(n, {n: "v0"}), dim_source((n - 1) * n / 2, {n: "v0"})
    ('v0', '((v0*(v0 - 1))//(2))')
    """
    if not is_named(dim):
        return str(int(dim))
    top, bottom = sympy.fraction(sympy.together(dim))
    renamed = {s: sympy.Symbol(name) for s, name in names.items()}
    code = str(sympy.printing.pycode(top.xreplace(renamed)))
    if bottom != 1:
        code = f"({code})//({sympy.printing.pycode(bottom.xreplace(renamed))})"
    return code if code.isidentifier() else f"({code})"


def value_of(dim: Dim, sizes: Mapping[sympy.Symbol, int]) -> int:
    """The size of a dim where its names have ``sizes``."""
    return int(dim.xreplace({s: sympy.Integer(v) for s, v in sizes.items()})) if is_named(dim) else dim


def size_function(dims: Sequence[Dim], names: Sequence[sympy.Symbol]) -> Callable[..., tuple[int, ...]]:
    """The function of the sizes of ``names``, in order, that gives the sizes of ``dims``; the source is symgrad's own.

    >>> n, d = named_dim("n"), named_dim("d")
    >>> size_function([n * d, n - 1, 3], [n, d])(5, 2)
    (10, 4, 3)
    """
    arguments = {s: f"s{k}" for k, s in enumerate(names)}
    body = "".join(f"{dim_source(d, arguments)}, " for d in dims)
    source = f"def sizes({', '.join(arguments.values())}):\n    return ({body})\n"
    scope: dict[str, Callable[..., tuple[int, ...]]] = {}
    exec(compile(source, "<symgrad sizes>", "exec"), scope)
    return scope["sizes"]


def is_concrete(shape: Shape) -> bool:
    """True where every dim is an int."""
    for d in shape:  # noqa: SIM110 (asked of every node: a generator takes three times as long)
        if not isinstance(d, int):
            return False
    return True


def size(shape: Shape) -> Dim:
    """The number of elements.

    >>> size((2, 3))
    6
    """
    total: Dim = 1
    for d in shape:
        total = total * d
    return total if isinstance(total, int) else normal(total)


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


class Expected(int):
    """The size that a named dim may be expected to have; what holds for 0 and 1 alone is never expected."""

    dim: Any

    def __new__(cls, size: int, dim: Any) -> Expected:
        made = super().__new__(cls, max(size, 2))
        made.dim = dim
        return made
