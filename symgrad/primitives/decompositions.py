"""Decompositions of matrices: eigenvalues and eigenvectors, singular values, QR, and what follows from them.

The factors of a matrix are one node, one below the other, of which each is a slice: a decomposition is computed once,
and flows know which factors they are of. A rule is the tangent alone, as in Giles (2008, "Collected matrix derivative
results"), Townsend (2016, "Differentiating the singular value decomposition") and Walter and Lehmann (2010,
"Algorithmic differentiation of linear algebra functions"); the cotangent is its transpose.

Derivatives of eigenvectors and singular vectors divide by the gaps between eigenvalues, or squared singular values.
Where two are equal, to rounding, these vectors are no functions of the matrix, and the derivative is NaN; what reads
other vectors alone has one. Those of the values alone divide by nothing. Vectors are given up to a phase, or a sign;
derivatives are those of vectors that turn by no phase.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program.dims import Dim, Shape, is_concrete
from ..program.node import Node, emit
from .batching import Batching
from .casting import cast
from .contraction import expand_behind, gate, identity, scale
from .elementwise import conjugated
from .functions import absolute, add, divide, equal, less_equal, logical_and, real, reciprocal, subtract, where
from .linalg import adjoint, inverse, lead_of, product, real_of, transposed
from .primitive import SWEEP, ByTangent, Params, Stacked, input_node, literal, made_constant
from .selection import ASSEMBLE, Spec, assemble, concatenate, full, take_slice
from .shaping import reshape


class Factors(Stacked):
    """A decomposition of a stack of matrices, its factors one below the other.

    ``heights`` says of the operand how many rows each factor has; one of None is a vector, and a row.
    """

    def __init__(
        self,
        name: str,
        evaluate: Callable[[np.ndarray], Sequence[np.ndarray]],
        heights: Callable[[Node], Sequence[Dim | None]],
        tangents: Callable[..., list[Node]],
        is_complex: bool = False,
    ) -> None:
        self.name = name
        self.heights = heights
        self.tangents = tangents
        self._evaluate, self._is_complex = evaluate, is_complex

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        rows = sum([1 if h is None else h for h in self.heights(x)], 0)
        width = min(x.shape[-2:]) if is_concrete(x.shape[-2:]) else x.shape[-1]  # named rows are as many, or more
        dtype = np.result_type(x.dtype, np.complex64) if self._is_complex else _computed(x)
        return (*x.shape[:-2], rows, width), dtype, False

    def spec(self, node: Node, which: int, lead: Shape) -> Spec:
        """Where a factor stands behind these leading axes."""
        heights = self.heights(node.operands[0])
        start = sum([1 if h is None else h for h in heights[:which]], 0)
        height = heights[which]
        return (*full(lead), start if height is None else (start, height, 1), *full(node.shape[-1:]))

    def factors(self, x: Node) -> list[Node]:
        """The factors of ``x``, a stack of matrices."""
        return self.factors_of(emit(self, (x,)))

    def factors_of(self, node: Node) -> list[Node]:
        """The factors that ``node`` is."""
        count = len(self.heights(node.operands[0]))
        return [take_slice(node, self.spec(node, k, node.shape[:-2])) for k in range(count)]

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        made = self.tangents(node.operands[0], *self.factors_of(node), tangent)
        shape = (*tangent.shape[:batch], *node.shape)
        return assemble(made, shape, [self.spec(node, k, shape[:-2]) for k in range(len(made))])

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        direction = input_node("tangent", source.shape, source.dtype)
        specs = [self.spec(node, k, ct.shape[:-2]) for k in range(len(self.heights(source)))]
        made = self.tangents(source, *self.factors_of(node), direction)
        return SWEEP[0](made, _pieces_of(ct, specs), [direction], batch)[0]

    def evaluate(self, params: Params, *values: Any) -> Any:
        made = self._evaluate(values[0])
        heights = self.heights(input_node("matrix", values[0].shape, values[0].dtype))
        return np.concatenate(
            [f[..., None, :] if h is None else f for h, f in zip(heights, made, strict=True)], axis=-2
        )


class Values(ByTangent):
    """Eigenvalues or singular values alone; derivatives take the vectors from ``factors``."""

    def __init__(self, name: str, evaluate: Callable[[np.ndarray], np.ndarray], factors: Factors) -> None:
        self.name = name
        self._evaluate, self._factors = evaluate, factors

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        whole, dtype, _ = self._factors.infer(operands, ())
        is_real = dtype.kind == "c" and self._factors is not EIG
        return (*whole[:-2], whole[-1]), np.dtype(f"f{dtype.itemsize // 2}") if is_real else dtype, False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        made = self._factors.tangents(source, *self._factors.factors(source), tangent)[0]
        return real(made) if made.is_complex and not node.is_complex else made

    def evaluate(self, params: Params, *values: Any) -> Any:
        return self._evaluate(values[0])


class PseudoInverse(ByTangent):
    """``np.linalg.pinv``; ``params = (rcond, hermitian)``: below it, relatively, singular values count as zero.

    Where the rank stays as it is, ``dP = -P dA P + P Pᴴ dAᴴ (I - A P) + (I - P A) dAᴴ Pᴴ P`` (Golub and Pereyra 1973).
    """

    name = "pseudo_inverse"
    parameters = "[{}]"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        return (*x.shape[:-2], x.shape[-1], x.shape[-2]), _computed(x), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        lead, back = lead_of(tangent, 2), adjoint(tangent)
        through = product(lead, [(node, "ij"), (tangent, "jk")], "ik")
        made = product(lead, [(through, "ik"), (node, "kl")], "il", -1)
        side = product(lead, [(node, "ij"), (conjugated(node), "kj"), (back, "kl")], "il")
        rest = product(lead, [(side, "ij"), (source, "jk"), (node, "kl")], "il")
        made = add(made, subtract(side, rest))
        side = product(lead, [(back, "ij"), (conjugated(node), "kj"), (node, "kl")], "il")
        rest = product(lead, [(node, "ij"), (source, "jk"), (side, "kl")], "il")
        return add(made, subtract(side, rest))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.linalg.pinv(values[0], *params)


class LeastSquares(ByTangent):
    """``np.linalg.lstsq(A, b)`` of matrices, and below it the sum of squares of each column of ``b - A x``.

    ``params = (rcond,)``. Where the rank stays as it is, with ``P = A⁺`` and ``r = b - A x``:
    ``dx = P (db - dA x) + P Pᴴ dAᴴ r + (I - P A) dAᴴ Pᴴ x``.
    """

    name = "least_squares"
    parameters = "[{}]"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        a, b = operands
        dtype = np.result_type(_computed(a), _computed(b))
        return (a.shape[-1] + 1, b.shape[-1]), dtype, False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        a, b = node.operands
        lead, n = lead_of(tangent, 2), a.shape[-1]
        x = take_slice(node, ((0, n, 1), *full(node.shape[1:])))
        rest = subtract(b, product((), [(a, "ij"), (x, "jk")], "ik"))
        inverse_of = emit(PSEUDO_INVERSE, (a,), (*node.params, False))
        change = tangent if key else product(lead, [(tangent, "ij"), (x, "jk")], "ik", -1)
        made = product(lead, [(inverse_of, "ij"), (change, "jk")], "ik")
        if not key:
            back = adjoint(tangent)
            moved = product(lead, [(back, "ij"), (rest, "jk")], "ik")
            made = add(made, product(lead, [(inverse_of, "ij"), (conjugated(inverse_of), "kj"), (moved, "kl")], "il"))
            moved = product(lead, [(back, "ij"), (conjugated(inverse_of), "kj"), (x, "kl")], "il")
            beyond = product(lead, [(inverse_of, "ij"), (a, "jk"), (moved, "kl")], "il")
            made = add(made, subtract(moved, beyond))
        square = real_of(product(lead, [(conjugated(rest), "ik"), (change, "ik")], "k", 2))
        dtype = np.result_type(made.dtype, square.dtype)
        shape, whole = (*lead, *node.shape), full((*lead, *node.shape))
        specs = [(*whole[:-2], (0, n, 1), whole[-1]), (*whole[:-2], n, whole[-1])]
        return assemble([cast(made, dtype), cast(square, dtype)], shape, specs)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        a, b = over.complete(operands, batched)
        lead = lead_of(a, 2)
        x = product(lead, [(emit(PSEUDO_INVERSE, (a,), (*node.params, False)), "ij"), (b, "jk")], "ik")
        rest = subtract(b, product(lead, [(a, "ij"), (x, "jk")], "ik"))
        squares = cast(real_of(product(lead, [(conjugated(rest), "ik"), (rest, "ik")], "k")), x.dtype)
        return concatenate([x, reshape(squares, (*lead, 1, squares.shape[-1]))], x.ndim - 2)

    def evaluate(self, params: Params, *values: Any) -> Any:
        a, b = values
        x, rest, *_ = np.linalg.lstsq(a, b, *params)
        if not len(rest):  # which NumPy leaves out where the rank is not full
            rest = np.sum(np.abs(b - a @ x) ** 2, axis=0)
        return np.concatenate([x, rest[None]], dtype=x.dtype)


def _computed(x: Node) -> np.dtype:
    """The dtype that NumPy's linear algebra computes in."""
    return np.result_type(x.dtype, np.float32) if x.differentiable else np.dtype(np.float64)


def _diagonal_mask(size: Dim) -> Node:
    if not isinstance(size, int):
        return cast(identity((size,)), np.dtype(bool))
    return made_constant(("diagonal", size), lambda: np.eye(size, dtype=bool))


def _over_gaps(own: Node, values: Node) -> Node:
    """A matrix over ``λⱼ - λᵢ``; 0 on the diagonal and where it is 0.

    NaN where the two are equal to rounding: the decomposition is that of a matrix nearby.
    """
    row, column = _sides(values)
    gaps = subtract(row, column)
    lead = lead_of(values, 1)
    error = product(lead, [(absolute(values), "a")], "", 2 * float(np.finfo(values.dtype).eps))
    alike = less_equal(absolute(gaps), expand_behind(error, len(lead), gaps.shape[-2:]))
    diagonal = _diagonal_mask(gaps.shape[-1])
    return gate(own, where(diagonal, 0, reciprocal(where(diagonal, 1, where(alike, math.nan, gaps)))))


def _sides(values: Node) -> tuple[Node, Node]:
    """A vector as the row, and as the column, of matrices."""
    lead, n = values.shape[:-1], values.shape[-1]
    return reshape(values, (*lead, 1, n)), reshape(values, (*lead, n, 1))


def _eigh_tangents(a: Node, values: Node, vectors: Node, t: Node) -> list[Node]:
    """``dλ = diag(Vᴴ dA V)`` and ``dV = V (F ∘ Vᴴ dA V)`` with ``Fᵢⱼ = 1/(λⱼ - λᵢ)``, of the Hermitian part."""
    lead, turned = lead_of(t, 2), conjugated(vectors)
    t = scale(add(t, adjoint(t)), literal(0.5))
    moved = product(lead, [(t, "ij"), (vectors, "jb")], "ib")
    own = product(lead, [(turned, "ia"), (moved, "ib")], "ab")
    mixed = _over_gaps(own, real_of(values))
    return [
        product(lead, [(turned, "ia"), (moved, "ia")], "a"),
        product(lead, [(vectors, "ia"), (mixed, "ab")], "ib"),
    ]


def _eig_tangents(a: Node, values: Node, vectors: Node, t: Node) -> list[Node]:
    """``dΛ = diag(V⁻¹ dA V)`` and ``dV = V (F ∘ V⁻¹ dA V)``, less what is along each vector: their norm is 1."""
    lead, left = lead_of(t, 2), inverse(vectors)
    moved = product(lead, [(t, "ij"), (vectors, "jb")], "ib")
    own = product(lead, [(left, "ai"), (moved, "ib")], "ab")
    mixed = _over_gaps(own, values)
    turned = product(lead, [(vectors, "ia"), (mixed, "ab")], "ib")
    along = product(lead, [(conjugated(vectors), "ib"), (turned, "ib")], "b")
    return [
        product(lead, [(left, "ai"), (moved, "ia")], "a"),
        subtract(turned, product(lead, [(vectors, "ib"), (along, "b")], "ib")),
    ]


def _svd_tangents(a: Node, values: Node, u: Node, w: Node, t: Node) -> list[Node]:
    """Of ``A = U S Wᵀ``, ``V`` the conjugate of ``W``: with ``D = Uᴴ dA V`` and ``Fᵢⱼ = 1/(sⱼ² - sᵢ²)``

    ``dS = Re diag D``, ``dU = U (F ∘ (D S + S Dᴴ)) + (I - U Uᴴ) dA V S⁻¹`` and
    ``dV = V (F ∘ (S D + Dᴴ S)) + (I - V Vᴴ) dAᴴ U S⁻¹``. No square of a singular value is taken, which may be too
    large or too small: ``F`` is a share ``s/(sᵢ + sⱼ)`` over the gap ``sⱼ - sᵢ``.
    """
    lead, v, s = lead_of(t, 2), conjugated(w), real_of(values)
    one_by = reciprocal(s)
    moved = product(lead, [(t, "ij"), (v, "jb")], "ib")
    own = product(lead, [(conjugated(u), "ia"), (moved, "ib")], "ab")
    back = adjoint(own)

    row, column = _sides(s)
    both = add(row, column)
    both = where(equal(both, 0), 1, both)
    shares = divide(row, both), divide(column, both)

    def mixed(*sides: Node) -> Node:
        parts = [product(lead, [(own, "ab"), (share, "ab")], "ab") for own, share in zip(sides, shares, strict=True)]
        return _over_gaps(add(*parts), s)

    inner = mixed(own, back)
    if a.is_complex:  # the phase between the two vectors
        unit = cast(_diagonal_mask(s.shape[-1]), s.dtype)
        phase = scale(subtract(own, back), literal(0.5))
        inner = add(inner, product(lead, [(unit, "ab"), (one_by, "b"), (phase, "ab")], "ab"))
    du = product(lead, [(u, "ia"), (inner, "ab")], "ib")
    dv = product(lead, [(v, "ia"), (mixed(back, own), "ab")], "ib")
    if a.shape[-2] != s.shape[-1]:
        rest = subtract(moved, product(lead, [(u, "ia"), (own, "ab")], "ib"))
        du = add(du, product(lead, [(rest, "ib"), (one_by, "b")], "ib"))
    if a.shape[-1] != s.shape[-1]:
        moved_back = product(lead, [(conjugated(t), "ij"), (u, "ib")], "jb")
        rest = subtract(moved_back, product(lead, [(v, "ia"), (back, "ab")], "ib"))
        dv = add(dv, product(lead, [(rest, "ib"), (one_by, "b")], "ib"))
    ds = product(lead, [(conjugated(u), "ia"), (moved, "ia")], "a")
    return [cast(real_of(ds), values.dtype), du, conjugated(dv)]


def _triangle(size: Dim, dtype: np.dtype) -> Node:
    """Ones below the diagonal."""
    assert isinstance(size, int)
    return made_constant(("below the diagonal", size, dtype.str), lambda: np.tri(size, k=-1, dtype=dtype))


def dependent_columns(r: Node) -> Node:
    """Which columns of a triangle are, to rounding, a sum of those before them."""
    size = absolute(r)
    own = product(lead_of(r, 2), [(size, "ii")], "i")
    whole = product(lead_of(r, 2), [(size, "ki")], "i", 64 * float(np.finfo(r.dtype).eps))
    return less_equal(own, whole)


def _qr_tangents(a: Node, q: Node, turned: Node, t: Node) -> list[Node]:
    """With ``M = Qᴴ dA R⁻¹`` and the skew ``Ω`` that is ``M`` below the diagonal: ``dQ = dA R⁻¹ - Q (M - Ω)``,
    ``dR = (M - Ω) R``; further columns ``Y`` of a wide matrix are ``Qᴴ Y`` in ``R``. NaN where a column depends on
    those before it: there ``Q`` is no function of the matrix.
    """
    lead, n, whole = lead_of(t, 2), turned.shape[-1], turned
    own_columns, further = (0, n, 1), (n, a.shape[-1] - n, 1)

    def columns(x: Node, which: tuple[Dim, Dim, int]) -> Node:
        return take_slice(x, (*full(x.shape[:-1]), which))

    r = transposed(take_slice(whole, (*full(whole.shape[:-2]), own_columns, *full(whole.shape[-1:]))))
    dependent = dependent_columns(r)
    regular = where(logical_and(_diagonal_mask(n), _sides(dependent)[0]), 1, r)
    defined = where(dependent, math.nan, literal(1.0))
    moved = product(lead, [(columns(t, own_columns), "ij"), (inverse(regular), "jk"), (defined, "k")], "ik")
    own = product(lead, [(conjugated(q), "ia"), (moved, "ib")], "ab")
    below = _triangle(n, np.finfo(q.dtype).dtype)
    skew = product(lead, [(below, "ab"), (own, "ab")], "ab")
    skew = subtract(skew, adjoint(skew))
    if q.is_complex:
        unit = cast(_diagonal_mask(n), below.dtype)
        skew = add(skew, product(lead, [(unit, "ab"), (subtract(own, adjoint(own)), "ab")], "ab", 0.5))
    upper = subtract(own, skew)
    dq = subtract(moved, product(lead, [(q, "ia"), (upper, "ab")], "ib"))
    dr = product(lead, [(upper, "ab"), (r, "bc")], "ca")
    if a.shape[-1] > n:
        rest = product(lead, [(columns(t, further), "ij"), (conjugated(q), "ib")], "jb")
        rest = add(rest, product(lead, [(columns(a, further), "ij"), (conjugated(dq), "ib")], "jb"))
        dr = concatenate([dr, rest], dr.ndim - 2)
    return [dq, dr]


def _pieces_of(ct: Node, specs: Sequence[Spec]) -> list[Node | None]:
    """What a cotangent holds at each of ``specs``; None where it is known to be zero."""
    if ct.primitive is not ASSEMBLE or not all(s in specs for s in ct.params[1]):
        return [take_slice(ct, spec) for spec in specs]
    made: list[Node | None] = [None] * len(specs)
    for piece, spec in zip(ct.operands, ct.params[1], strict=True):
        k = specs.index(spec)
        own = made[k]
        made[k] = piece if own is None else add(own, piece)
    return made


def _svd(a: np.ndarray) -> tuple[np.ndarray, ...]:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return s, u, vh.mT


def _least_squares_values(a: np.ndarray) -> np.ndarray:
    """The singular values as ``lstsq`` gives them, which rounds otherwise than ``svd``."""
    if a.ndim > 2:
        return np.linalg.svdvals(a)
    return np.linalg.lstsq(a, np.zeros((len(a), 1), a.dtype))[3]


def _qr(a: np.ndarray) -> tuple[np.ndarray, ...]:
    q, r = np.linalg.qr(a)
    return q, r.mT


EIGH = Factors("eigh", np.linalg.eigh, lambda x: (None, x.shape[-1]), _eigh_tangents)
EIG = Factors("eig", np.linalg.eig, lambda x: (None, x.shape[-1]), _eig_tangents, is_complex=True)
SVD = Factors("svd", _svd, lambda x: (None, x.shape[-2], x.shape[-1]), _svd_tangents)
QR = Factors("qr", _qr, lambda x: (x.shape[-2], x.shape[-1]), _qr_tangents)
EIGVALSH = Values("eigvalsh", np.linalg.eigvalsh, EIGH)
EIGVALS = Values("eigvals", np.linalg.eigvals, EIG)
SVDVALS = Values("svdvals", np.linalg.svdvals, SVD)
LEAST_SQUARES_VALUES = Values("least_squares_values", _least_squares_values, SVD)
PSEUDO_INVERSE, LEAST_SQUARES = PseudoInverse(), LeastSquares()
