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
from typing import Any, NamedTuple

import numpy as np

from ..program.dims import Dim, Shape, is_concrete
from ..program.node import Node, emit
from .batching import Batching
from .casting import cast
from .contraction import contract, scale
from .elementwise import conjugated
from .equal_values import APART, diagonal_mask, over_gaps, over_sums, sides
from .functions import absolute, add, less_equal, logical_and, not_equal, real, reciprocal, subtract, where
from .linalg import adjoint, inverse, lead_of, product, real_of, transposed
from .primitive import SWEEP, ByTangent, Params, Primitive, Stacked, input_node, literal, made_constant
from .selection import ASSEMBLE, Spec, as_index, assemble, concatenate, full, take_slice
from .shaping import reshape


class Found(NamedTuple):
    """The factors of a matrix; ``apart`` as in ``equal_values``, ``read`` which columns of each a cotangent reads."""

    a: Node
    factors: Sequence[Node]
    apart: bool = False
    read: Sequence[Node | None] = (None, None, None)


class Turns(NamedTuple):
    """How the vectors of two values turn into each other.

    ``along`` is the matrix that is divided by their gaps, of factors and a tangent; ``turned`` are the tangents of the
    factors along a skew matrix, and ``moved`` that of the matrix whose values move alone.
    """

    along: Callable[[Found, Node], Node]
    turned: Callable[[Found, Node], list[Node | None]]
    moved: Callable[[Found, Node], Node]


class Factors(Stacked):
    """A decomposition of a stack of matrices, its factors one below the other.

    ``heights`` says of the operand how many rows each factor has; one of None is a vector, and a row. ``tangents`` are
    those of the factors, which are ``Found``, and ``turns`` says how vectors turn into each other.
    """

    def __init__(
        self,
        name: str,
        evaluate: Callable[[np.ndarray], Sequence[np.ndarray]],
        heights: Callable[[Node], Sequence[Dim | None]],
        tangents: Callable[[Found, Node], list[Node]],
        turns: Turns | None = None,
        is_complex: bool = False,
    ) -> None:
        self.name = name
        self.heights = heights
        self.tangents = tangents
        self.turns = turns
        self._evaluate, self._is_complex = evaluate, is_complex

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        dtype = np.result_type(x.dtype, np.complex64) if self._is_complex else _computed(x)
        return (*x.shape[:-2], self._rows(x), _width(x)), dtype, False

    def _rows(self, x: Node) -> Dim:
        return sum([1 if h is None else h for h in self.heights(x)], 0)

    def specs(self, x: Node, lead: Shape) -> list[Spec]:
        """Where the factors of ``x`` stand behind these leading axes."""
        made: list[Spec] = []
        start: Dim = 0
        for height in self.heights(x):
            made.append((*full(lead), start if height is None else (start, height, 1), *full((_width(x),))))
            start = start + (1 if height is None else height)
        return made

    def factors(self, x: Node) -> list[Node]:
        """The factors of ``x``, a stack of matrices."""
        return self.factors_of(emit(self, (x,)), x)

    def factors_of(self, node: Node, x: Node) -> list[Node]:
        """The factors of ``x`` that ``node`` is."""
        return [take_slice(node, spec) for spec in self.specs(x, node.shape[:-2])]

    def placed(self, x: Node, factors: Sequence[Node | None]) -> Node:
        """Factors of ``x``, or what flows to them, as one below the other, with zeros for those that are None."""
        heights = self.heights(x)
        pairs = [(k, f) for k, f in enumerate(factors) if f is not None]
        k, first = pairs[0]
        lead = first.shape[: first.ndim - (1 if heights[k] is None else 2)]
        specs = self.specs(x, lead)
        return assemble([f for _, f in pairs], (*lead, self._rows(x), _width(x)), [specs[k] for k, _ in pairs])

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        factors = self.factors_of(node, source)
        return self.placed(source, self.tangents(Found(source, factors, node.primitive is APART), tangent))

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        direction = input_node("tangent", source.shape, source.dtype)
        pieces = self.pieces(source, ct)
        read = [_columns_read(p) for p in pieces]
        found = Found(source, self.factors_of(node, source), node.primitive is APART, read)
        return SWEEP[0](self.tangents(found, direction), pieces, [direction], batch)[0]

    def pieces(self, x: Node, ct: Node) -> list[Node | None]:
        """What a cotangent of all factors holds of each; None where it is known to be zero."""
        return _pieces_of(ct, self.specs(x, ct.shape[:-2]))

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
        self.factors = factors
        self._evaluate = evaluate

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        whole, dtype, _ = self.factors.infer(operands, ())
        is_real = dtype.kind == "c" and self.factors is not EIG
        return (*whole[:-2], whole[-1]), np.dtype(f"f{dtype.itemsize // 2}") if is_real else dtype, False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        made = self.factors.tangents(Found(source, self.factors.factors(source)), tangent)[0]
        return real(made) if made.is_complex and not node.is_complex else made

    def evaluate(self, params: Params, *values: Any) -> Any:
        return self._evaluate(values[0])


def has_turns(primitive: Primitive) -> bool:
    """Whether an operation gives values of matrices, or vectors that turn into each other where values are equal."""
    factors = primitive.factors if isinstance(primitive, Values) else primitive
    return isinstance(factors, Factors) and factors.turns is not None


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


def _width(x: Node) -> Dim:
    """How many vectors there are of each matrix; rows of a named number are as many as columns, or more."""
    return min(x.shape[-2:]) if is_concrete(x.shape[-2:]) else x.shape[-1]


def _along_eigh(found: Found, t: Node) -> Node:
    """``Vᴴ dA V``, of the Hermitian part."""
    lead, vectors = lead_of(t, 2), found.factors[1]
    t = scale(add(t, adjoint(t)), literal(0.5))
    moved = product(lead, [(t, "ij"), (vectors, "jb")], "ib")
    return product(lead, [(conjugated(vectors), "ia"), (moved, "ib")], "ab")


def _turned_eigh(found: Found, skew: Node) -> list[Node | None]:
    return [None, product(lead_of(skew, 2), [(found.factors[1], "ia"), (skew, "ab")], "ib")]


def _moved_eigh(found: Found, by: Node) -> Node:
    lead, vectors = lead_of(found.a, 2), found.factors[1]
    return product(lead, [(vectors, "ia"), (by, "a"), (conjugated(vectors), "ja")], "ij")


def _eigh_tangents(found: Found, t: Node) -> list[Node]:
    """``dλ = diag(Vᴴ dA V)`` and ``dV = V (F ∘ Vᴴ dA V)`` with ``Fᵢⱼ = 1/(λⱼ - λᵢ)``, of the Hermitian part."""
    lead, (values, vectors) = lead_of(t, 2), found.factors
    t = scale(add(t, adjoint(t)), literal(0.5))
    moved = product(lead, [(t, "ij"), (vectors, "jb")], "ib")
    mixed = over_gaps(_along_eigh(found, t), real_of(values), found.read[1], found.apart)
    return [
        product(lead, [(conjugated(vectors), "ia"), (moved, "ia")], "a"),
        product(lead, [(vectors, "ia"), (mixed, "ab")], "ib"),
    ]


def _eig_tangents(found: Found, t: Node) -> list[Node]:
    """``dΛ = diag(V⁻¹ dA V)`` and ``dV = V (F ∘ V⁻¹ dA V)``, less what is along each vector: their norm is 1."""
    lead, (values, vectors) = lead_of(t, 2), found.factors
    left = inverse(vectors)
    moved = product(lead, [(t, "ij"), (vectors, "jb")], "ib")
    own = product(lead, [(left, "ai"), (moved, "ib")], "ab")
    mixed = over_gaps(own, values, found.read[1], False)
    turned = product(lead, [(vectors, "ia"), (mixed, "ab")], "ib")
    along = product(lead, [(conjugated(vectors), "ib"), (turned, "ib")], "b")
    return [
        product(lead, [(left, "ai"), (moved, "ia")], "a"),
        subtract(turned, product(lead, [(vectors, "ib"), (along, "b")], "ib")),
    ]


def _along_svd(found: Found, t: Node) -> Node:
    """The Hermitian part of ``Uᴴ dA V``."""
    lead, (_, u, w) = lead_of(t, 2), found.factors
    moved = product(lead, [(t, "ij"), (conjugated(w), "jb")], "ib")
    own = product(lead, [(conjugated(u), "ia"), (moved, "ib")], "ab")
    return scale(add(own, adjoint(own)), literal(0.5))


def _turned_svd(found: Found, skew: Node) -> list[Node | None]:
    lead, (_, u, w) = lead_of(skew, 2), found.factors
    du, dw = [product(lead, [(v, "ia"), (s, "ab")], "ib") for v, s in ((u, skew), (w, conjugated(skew)))]
    return [None, du, dw]


def _moved_svd(found: Found, by: Node) -> Node:
    lead, (_, u, w) = lead_of(found.a, 2), found.factors
    return product(lead, [(u, "ia"), (by, "a"), (w, "ja")], "ij")


def _svd_tangents(found: Found, t: Node) -> list[Node]:
    """Of ``A = U S Wᵀ``, ``V`` the conjugate of ``W``: with ``D = Uᴴ dA V`` and ``Fᵢⱼ = 1/(sⱼ² - sᵢ²)``

    ``dS = Re diag D``, ``dU = U (F ∘ (D S + S Dᴴ)) + (I - U Uᴴ) dA V S⁻¹`` and
    ``dV = V (F ∘ (S D + Dᴴ S)) + (I - V Vᴴ) dAᴴ U S⁻¹``. No square of a singular value is taken, which may be too
    large or too small: both turn by ``(D + Dᴴ)/(2 (sⱼ - sᵢ))``, and against each other by ``(D - Dᴴ)/(2 (sᵢ + sⱼ))``.
    """
    a, lead, (values, u, w) = found.a, lead_of(t, 2), found.factors
    v, s = conjugated(w), real_of(values)
    moved = product(lead, [(t, "ij"), (v, "jb")], "ib")
    own = product(lead, [(conjugated(u), "ia"), (moved, "ib")], "ab")
    back = adjoint(own)
    half = literal(0.5)
    with_each, against = scale(add(own, back), half), scale(subtract(own, back), half)

    def mixed(read: Node | None, join: Callable[[Node, Node], Node]) -> Node:
        return join(over_gaps(with_each, s, read, found.apart), over_sums(against, s, read))

    du = product(lead, [(u, "ia"), (mixed(found.read[1], add), "ab")], "ib")
    dv = product(lead, [(v, "ia"), (mixed(found.read[2], subtract), "ab")], "ib")
    one_by = reciprocal(s)
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


def _qr_tangents(found: Found, t: Node) -> list[Node]:
    """With ``M = Qᴴ dA R⁻¹`` and the skew ``Ω`` that is ``M`` below the diagonal: ``dQ = dA R⁻¹ - Q (M - Ω)``,
    ``dR = (M - Ω) R``; further columns ``Y`` of a wide matrix are ``Qᴴ Y`` in ``R``. NaN where a column depends on
    those before it: there ``Q`` is no function of the matrix.
    """
    a, (q, whole) = found.a, found.factors
    lead, n = lead_of(t, 2), whole.shape[-1]
    own_columns, further = (0, n, 1), (n, a.shape[-1] - n, 1)

    def columns(x: Node, which: tuple[Dim, Dim, int]) -> Node:
        return take_slice(x, (*full(x.shape[:-1]), which))

    r = transposed(take_slice(whole, (*full(whole.shape[:-2]), own_columns, *full(whole.shape[-1:]))))
    dependent = dependent_columns(r)
    regular = where(logical_and(diagonal_mask(n), sides(dependent)[0]), 1, r)
    defined = where(dependent, math.nan, literal(1.0))
    moved = product(lead, [(columns(t, own_columns), "ij"), (inverse(regular), "jk"), (defined, "k")], "ik")
    own = product(lead, [(conjugated(q), "ia"), (moved, "ib")], "ab")
    below = _triangle(n, np.finfo(q.dtype).dtype)
    skew = product(lead, [(below, "ab"), (own, "ab")], "ab")
    skew = subtract(skew, adjoint(skew))
    if q.is_complex:
        unit = cast(diagonal_mask(n), below.dtype)
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


def _columns_read(ct: Node | None) -> Node | None:
    """Which columns a cotangent of vectors reads; None for all.

    A zero that is structure is not read; others may be zeros of what multiplies the vectors alone.
    """
    if ct is None or not ct.masked:
        return None
    n = ct.shape[-1]
    if ct.primitive is ASSEMBLE and isinstance(n, int):
        read = np.zeros(n, bool)
        for spec in ct.params[1]:
            read[as_index(spec)[-1]] = True
        return made_constant(("columns read", n, read.tobytes()), lambda: read)
    labels = tuple(range(ct.ndim))
    return not_equal(contract([cast(not_equal(ct, 0), np.dtype(int))], [labels], labels[-1:], ct.shape), 0)


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


EIGH = Factors(
    "eigh",
    np.linalg.eigh,
    lambda x: (None, x.shape[-1]),
    _eigh_tangents,
    Turns(_along_eigh, _turned_eigh, _moved_eigh),
)
EIG = Factors("eig", np.linalg.eig, lambda x: (None, x.shape[-1]), _eig_tangents, is_complex=True)
SVD = Factors(
    "svd",
    _svd,
    lambda x: (None, x.shape[-2], x.shape[-1]),
    _svd_tangents,
    Turns(_along_svd, _turned_svd, _moved_svd),
)
QR = Factors("qr", _qr, lambda x: (x.shape[-2], x.shape[-1]), _qr_tangents)
EIGVALSH = Values("eigvalsh", np.linalg.eigvalsh, EIGH)
EIGVALS = Values("eigvals", np.linalg.eigvals, EIG)
SVDVALS = Values("svdvals", np.linalg.svdvals, SVD)
LEAST_SQUARES_VALUES = Values("least_squares_values", _least_squares_values, SVD)
PSEUDO_INVERSE, LEAST_SQUARES = PseudoInverse(), LeastSquares()
