"""Decompositions of a matrix whose rows are in blocks, by the triangle ``R`` of its rows.

Each block gives the triangle of its own rows, and that of two one below the other is the triangle of both (Demmel,
Grigori, Hoemmen and Langou 2012, "Communication-optimal parallel and sequential QR and LU factorizations"). Singular
values, and solutions of least squares, of the matrix are those of its triangle; vectors are the rows times what is
found of it.
"""

from __future__ import annotations

import math

import numpy as np

from ..primitives import functions as f
from ..primitives.casting import cast
from ..primitives.contraction import expand_behind, identity
from ..primitives.decompositions import (
    LEAST_SQUARES,
    LEAST_SQUARES_VALUES,
    PSEUDO_INVERSE,
    QR,
    SVD,
    SVDVALS,
    Factors,
    dependent_columns,
)
from ..primitives.elementwise import conjugated
from ..primitives.external import zeros_of
from ..primitives.linalg import CHOLESKY, inverse, lead_of, product, real_of, transposed
from ..primitives.primitive import Params, Primitive, literal
from ..primitives.reduction import MAX, cumulative_sum
from ..primitives.selection import SLICE, assemble, concatenate, full, take_slice
from ..program.dims import Shape, is_named, normal
from ..program.node import Node, emit
from .block_axes import Dims, SizesNeeded, is_split


class TriangleOfRows(Primitive):
    """A triangle ``R`` with ``Rᴴ R = Aᴴ A``, of a stack of matrices."""

    name = "triangle of the rows"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        return (*x.shape[:-2], x.shape[-1], x.shape[-1]), x.dtype, False

    def of_block(self, rows: Node) -> Node:
        """That of the rows of a block, which may be few."""
        lead, width = lead_of(rows, 2), rows.shape[-1]
        _, turned = QR.factors(concatenate([rows, zeros_of((*lead, width, width), rows.dtype)], rows.ndim - 2))
        return transposed(turned)


TRIANGLE = TriangleOfRows()


def triangle_of_both(first: np.ndarray, second: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The triangle of the rows that two are the triangles of.

    >>> a = np.array([[1.0, 2.0], [0.0, 3.0]])
    >>> r = triangle_of_both(a, 2 * a)
    >>> np.allclose(r.T @ r, 5 * a.T @ a)
    True
    """
    made = np.asarray(np.linalg.qr(np.concatenate([first, second], -2), mode="r"))
    if out is None:
        return made
    out[...] = made
    return out


def of_tall(node: Node, operands: tuple[Node, ...], over: Dims) -> Node | None:
    """A decomposition of matrices whose rows alone are in blocks, by their triangle; None for another node."""
    primitive = node.primitive
    if primitive is SLICE and isinstance(node.operands[0].primitive, Factors):
        specs = operands[0].params[1] if operands[0].primitive.name == "assemble" else ()
        return operands[0].operands[specs.index(node.params[0])] if node.params[0] in specs else None
    if primitive not in (QR, SVD, SVDVALS, LEAST_SQUARES, LEAST_SQUARES_VALUES, PSEUDO_INVERSE):
        return None
    rows, width = operands[0].shape[-2:]
    if not is_split(rows, over) or is_split(width, over):
        return None
    if is_named(width):
        raise SizesNeeded(width.free_symbols)
    a = operands[0] if operands[0].differentiable else cast(operands[0], np.dtype(np.float64))
    if primitive in (SVDVALS, LEAST_SQUARES_VALUES):
        return emit(primitive, (emit(TRIANGLE, (a,)),))
    if primitive is LEAST_SQUARES:
        return _least_squares(node, a, operands[1])
    if primitive is PSEUDO_INVERSE:
        return _pseudo_inverse(node, a)
    made = _orthogonal(a) if primitive is QR else _singular(a)
    assert isinstance(primitive, Factors)
    return primitive.placed(a, made)


def _signed(a: Node) -> Node:
    """The triangle with the signs that LAPACK gives it, which follow from the first rows and the length of the rest."""
    lead, (rows, width) = lead_of(a, 2), a.shape[-2:]
    whole = full(a.shape)
    first = take_slice(a, (*whole[:-2], (0, width, 1), whole[-1]))
    rest = take_slice(a, (*whole[:-2], (width, normal(rows - width), 1), whole[-1]))
    _, turned = QR.factors(concatenate([first, emit(TRIANGLE, (rest,))], len(lead)))
    return transposed(turned)


def _orthogonal(a: Node) -> list[Node]:
    """``Q`` and ``Rᵀ``: ``A R⁻¹``, and once more of that, which is orthogonal to rounding.

    From a column on that depends on those before it ``Q`` is NaN: it is no function of the matrix there.
    """
    lead, r = lead_of(a, 2), _signed(a)
    unit = cast(identity((r.shape[-1],)), real_of(a).dtype)
    met = cumulative_sum(cast(dependent_columns(r), unit.dtype), len(lead))
    is_defined = f.equal(met, literal(0.0))
    kept, others = cast(is_defined, unit.dtype), cast(f.logical_not(is_defined), unit.dtype)
    rest = product(lead, [(unit, "ij"), (others, "j")], "ij")
    q = product(lead, [(a, "ij"), (inverse(f.add(product(lead, [(r, "ij"), (kept, "j")], "ij"), rest)), "jk")], "ik")
    gram = product(lead, [(kept, "j"), (conjugated(q), "ij"), (q, "ik"), (kept, "k")], "jk")
    lower = emit(CHOLESKY, (f.add(gram, rest),), (False,))
    defined = cast(f.where(is_defined, literal(1.0), math.nan), unit.dtype)
    q = product(lead, [(q, "ij"), (conjugated(inverse(lower)), "kj"), (defined, "k")], "ik")
    return [q, transposed(product(lead, [(conjugated(lower), "ji"), (r, "jk")], "ik"))]


def _singular(a: Node) -> list[Node]:
    """The singular values, and the vectors of both sides."""
    values, _, w = SVD.factors(_signed(a))
    s = real_of(values)
    u = product(lead_of(a, 2), [(a, "ij"), (conjugated(w), "jk"), (f.reciprocal(s), "k")], "ik")
    return [values, u, w]


def _pseudo_inverse(node: Node, a: Node) -> Node:
    rcond, lead = node.params[0], lead_of(a, 2)
    values, _, w = SVD.factors(emit(TRIANGLE, (a,)))
    s, v = real_of(values), conjugated(w)
    largest = f.multiply(emit(MAX, (s,), ((s.ndim - 1,),)), literal(rcond))
    kept = f.less(expand_behind(largest, len(lead), s.shape[-1:]), s)
    one_by = f.where(kept, f.reciprocal(f.where(kept, s, 1)), 0)
    u = product(lead, [(a, "ij"), (v, "jk"), (one_by, "k")], "ik")
    return product(lead, [(v, "jk"), (one_by, "k"), (conjugated(u), "ik")], "ji")


def _least_squares(node: Node, a: Node, b: Node) -> Node:
    """By the triangle of both, whose last columns are ``Qᴴ b`` and what is left of ``b``."""
    width, count = a.shape[-1], b.shape[-1]
    both = emit(TRIANGLE, (concatenate([cast(a, node.dtype), cast(b, node.dtype)], 1),))
    r = take_slice(both, ((0, width, 1), (0, width, 1)))
    turned = take_slice(both, ((0, width, 1), (width, count, 1)))
    rest = take_slice(both, ((width, count, 1), (width, count, 1)))
    squares = real_of(product((), [(conjugated(rest), "ik"), (rest, "ik")], "k"))
    made = emit(LEAST_SQUARES, (r, turned), node.params)
    return f.add(made, assemble([cast(squares, node.dtype)], node.shape, [(width, (0, count, 1))]))
