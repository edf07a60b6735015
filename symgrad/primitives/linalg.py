"""Linear algebra of square matrices: inverse, solve, determinant, log|det| and Cholesky factor.

Axes before the last two are stacked, as NumPy has them. The rules are contractions with the inverse, so an
identity that seeds a Jacobian goes through as labels; a solve whose seed is an array solves for its columns. A
matrix that is singular raises NumPy's ``LinAlgError`` where the value or the derivative needs its inverse; that of
its determinant does not (``passes/cofactors.py``), but the second does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..program.dims import Dim, Shape
from ..program.node import Node, emit
from .casting import cast
from .contraction import EINSUM, contract, identity, scale, transpose
from .functions import add, subtract
from .primitive import CONSTANT, Primitive, literal, made_constant
from .reduction import cumulative_sum
from .shaping import reshape

#: a node and letters for its last axes
Factor = tuple[Node, str]


class Inverse(Primitive):
    """``np.linalg.inv``: ``dB = -B dA B``."""

    name = "inverse"

    def infer(self, operands, params):
        return operands[0].shape, _dtype(operands), False

    def jvp(self, node, source, key, tangent, batch):
        return product(lead_of(tangent, 2), [(node, "ik"), (tangent, "kl"), (node, "lj")], "ij", -1)

    def vjp(self, node, source, key, ct, batch):
        return product(lead_of(ct, 2), [(node, "ki"), (ct, "kl"), (node, "jl")], "ij", -1)

    def vmap(self, node, operands, batched, over):
        return emit(self, operands)

    def evaluate(self, params, *values):
        return np.linalg.inv(values[0])


class Solve(Primitive):
    """``np.linalg.solve(A, b)``, the stacked axes of both alike; ``b`` of one axis less is a stack of vectors.

    ``dx = A⁻¹(db - dA x)`` forward; ``ct_b = A⁻ᵀ ct`` and ``ct_A = -ct_b xᵀ`` in reverse.
    """

    name = "solve"

    def infer(self, operands, params):
        return operands[1].shape, _dtype(operands), False

    def jvp(self, node, source, key, tangent, batch):
        a, _ = node.operands
        if key == 0:
            columns = columns_of(node)
            tangent = product(lead_of(tangent, 2), [(tangent, "ik"), (node, "k" + columns)], "i" + columns, -1)
        return _solved(a, tangent, batch)

    def vjp(self, node, source, key, ct, batch):
        columns = columns_of(node)
        by_b = _solved(_transposed(node.operands[0]), ct, batch)
        if key == 1:
            return by_b
        return product(lead_of(ct, 1 + len(columns)), [(by_b, "i" + columns), (node, "j" + columns)], "ij", -1)

    def vmap(self, node, operands, batched, over):
        a, b = operands
        if not batched[0]:
            return _solved(a, b, 1)
        return emit(self, tuple(over.complete(operands, batched)))

    def evaluate(self, params, *values):
        a, b = values
        if b.ndim == a.ndim - 1 > 1:  # NumPy takes a stack of vectors for a matrix
            return np.linalg.solve(a, b[..., None])[..., 0]
        return np.linalg.solve(a, b)


class Determinant(Primitive):
    """``np.linalg.det``: ``d det A = det A · tr(A⁻¹ dA)``."""

    name = "determinant"

    def infer(self, operands, params):
        return operands[0].shape[:-2], _dtype(operands), False

    def jvp(self, node, source, key, tangent, batch):
        return product(lead_of(tangent, 2), [(node, ""), (inverse(source), "ji"), (tangent, "ij")], "")

    def vjp(self, node, source, key, ct, batch):
        return product(lead_of(ct, 0), [(node, ""), (ct, ""), (inverse(source), "ji")], "ij")

    def vmap(self, node, operands, batched, over):
        return emit(self, operands)

    def evaluate(self, params, *values):
        return np.linalg.det(values[0])


class Cofactor(Primitive):
    """``cof A = det A · A⁻ᵀ`` of a matrix and its determinant, in kernels alone; defined for every matrix."""

    name = "cofactor"

    def infer(self, operands, params):
        return operands[0].shape, _dtype(operands), False

    def vmap(self, node, operands, batched, over):
        return emit(self, tuple(over.complete(operands, batched)))

    def evaluate(self, params, *values):
        return cofactors(*values)


def cofactors(matrix: np.ndarray, determinant: np.ndarray) -> np.ndarray:
    """The matrix of cofactors; of ``U Σ Vᵀ`` it is ``det U · det V · U cof Σ Vᵀ``, where there is no inverse.

    The source is G. W. Stewart, On the adjugate matrix, Linear Algebra and its Applications 283 (1998).

    >>> cofactors(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array(0.0))
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    try:
        with np.errstate(all="ignore"):
            made = np.swapaxes(np.linalg.inv(matrix), -1, -2) * np.asarray(determinant)[..., None, None]
        if np.all(np.isfinite(made)) or not np.all(np.isfinite(matrix)):
            return made
    except np.linalg.LinAlgError:
        pass
    left, values, right = np.linalg.svd(matrix)
    others = np.where(np.eye(values.shape[-1], dtype=bool), 1, values[..., None, :])
    sign = np.sign(np.linalg.det(left) * np.linalg.det(right))[..., None, None]
    return sign * ((left * np.prod(others, axis=-1)[..., None, :]) @ right)


class LogDeterminant(Determinant):
    """The ``logabsdet`` of ``np.linalg.slogdet``: ``d log|det A| = tr(A⁻¹ dA)``."""

    name = "log_determinant"

    def jvp(self, node, source, key, tangent, batch):
        return product(lead_of(tangent, 2), [(inverse(source), "ji"), (tangent, "ij")], "")

    def vjp(self, node, source, key, ct, batch):
        return product(lead_of(ct, 0), [(ct, ""), (inverse(source), "ji")], "ij")

    def evaluate(self, params, *values):
        return np.linalg.slogdet(values[0])[1]


class DeterminantSign(Determinant):
    """The ``sign`` of ``np.linalg.slogdet``, without a derivative."""

    name = "determinant_sign"

    def dependencies(self, node):
        return ()

    def evaluate(self, params, *values):
        return np.linalg.slogdet(values[0])[0]


class Cholesky(Primitive):
    """``np.linalg.cholesky``; ``params = (upper,)``.

    NumPy reads one triangle of ``A`` alone. The derivative is that of a symmetric ``A``: a tangent counts by its
    symmetric part, and the cotangent is symmetric. With ``Φ`` the lower triangle, its diagonal halved,
    ``dL = L Φ(L⁻¹ dA L⁻ᵀ)``; the upper factor is ``Lᵀ``.
    """

    name = "cholesky"

    def infer(self, operands, params):
        return operands[0].shape, _dtype(operands), False

    def jvp(self, node, source, key, tangent, batch):
        factor, out = self._lower(node), "ji" if node.params[0] else "ij"
        lower, half = inverse(factor), halved_triangle(node.shape[-1], node.dtype)
        halves = [
            product(
                lead_of(tangent, 2),
                [(factor, "ik"), (half, "kj"), (lower, "kp"), (tangent, own), (lower, "jq")],
                out,
                0.5,
            )
            for own in ("pq", "qp")
        ]
        return add(*halves)

    def vjp(self, node, source, key, ct, batch):
        factor, own = self._lower(node), "jl" if node.params[0] else "lj"
        lower, half = inverse(factor), halved_triangle(node.shape[-1], node.dtype)
        factors = [(lower, "kp"), (half, "kj"), (factor, "lk"), (ct, own), (lower, "jq")]
        return add(*[product(lead_of(ct, 2), factors, out, 0.5) for out in ("pq", "qp")])

    def _lower(self, node: Node) -> Node:
        return _transposed(node) if node.params[0] else node

    def vmap(self, node, operands, batched, over):
        return emit(self, operands, node.params)

    def evaluate(self, params, *values):
        return np.linalg.cholesky(values[0], upper=params[0])

    def spell(self, node):
        return "cholesky[upper]" if node.params[0] else "cholesky"


INVERSE, SOLVE, CHOLESKY = Inverse(), Solve(), Cholesky()
DETERMINANT, LOG_DETERMINANT, DETERMINANT_SIGN = Determinant(), LogDeterminant(), DeterminantSign()
COFACTOR = Cofactor()


def inverse(x: Node) -> Node:
    """``x⁻¹`` as derivatives need it: ``# (xᵀ)⁻¹ -> (x⁻¹)ᵀ, (x⁻¹)⁻¹ -> x``."""
    if x.primitive is INVERSE:
        return x.operands[0]
    turned = _transposed(x)
    return _transposed(emit(INVERSE, (turned,))) if x.operands == (turned,) else emit(INVERSE, (x,))


def product(lead: Shape, factors: Sequence[Factor], out: str, factor: float = 1) -> Node:
    """The contraction of stacks of matrices.

    Letters name the last axes of each; the axes before them align from the right with ``lead``, as NumPy
    broadcasts, and lead the result.
    """
    sizes: list[Dim] = list(lead)
    number: dict[str, int] = {}

    def labelled(spelled: str, own: Shape, stacked: int) -> tuple[int, ...]:
        for letter, d in zip(spelled, own, strict=True):
            if letter not in number:
                number[letter] = len(sizes)
                sizes.append(d)
        return tuple(range(len(lead) - stacked, len(lead))) + tuple([number[letter] for letter in spelled])

    labels = []
    for x, spelled in factors:
        stacked = x.ndim - len(spelled)
        labels.append(labelled(spelled, x.shape[stacked:], stacked))
    result = tuple(range(len(lead))) + tuple([number[letter] for letter in out])
    return contract([literal(factor), *[_plain(x) for x, _ in factors]], [(), *labels], result, sizes)


def _plain(flow: Node) -> Node:
    """A seed of ones or an identity without the dtype that it was given: the matrices beside it have one.

    ``# δ·1.0 -> δ``
    """
    if flow.primitive is CONSTANT and not flow.shape:
        return literal(flow.params[0].value.item())
    if flow.primitive is EINSUM and len(flow.operands) == 1 and flow.operands[0].primitive is CONSTANT:
        labels, out, sizes, spelling = flow.params
        return flow if labels[0] or spelling else contract([_plain(flow.operands[0])], labels, out, sizes)
    return flow


def halved_triangle(size: Dim, dtype: np.dtype) -> Node:
    """Ones below the diagonal and halves on it."""
    if not isinstance(size, int):
        diagonal = cast(identity((size,)), dtype)
        return subtract(cumulative_sum(diagonal, 0), scale(diagonal, literal(0.5)))
    key = ("halved triangle", size, dtype.str)
    return made_constant(key, lambda: np.tri(size, dtype=dtype) - np.eye(size, dtype=dtype) / 2)


def _solved(a: Node, flow: Node, batch: int) -> Node:
    """``a⁻¹`` applied to a right side behind its ``batch`` leading axes: by columns, an identity by the inverse."""
    stacked = a.ndim - 2
    columns = "j" * (flow.ndim - batch - stacked - 1)
    if not batch:
        return emit(SOLVE, (a, flow))
    if _has_identity(flow):
        return product(lead_of(flow, 1 + len(columns)), [(inverse(a), "ik"), (flow, "k" + columns)], "i" + columns)
    order = (*range(batch, flow.ndim), *range(batch))
    moved = transpose(flow, order)
    wide = reshape(moved, (*moved.shape[: stacked + 1], math.prod(moved.shape[stacked + 1 :])))
    solved = reshape(emit(SOLVE, (a, wide)), moved.shape)
    return transpose(solved, [order.index(k) for k in range(flow.ndim)])


def _has_identity(x: Node) -> bool:
    """True for a contraction with δ: an output label that stands there twice."""
    return x.primitive is EINSUM and len(set(x.params[1])) < len(x.params[1])


def _transposed(x: Node) -> Node:
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def columns_of(x: Node) -> str:
    """A letter for the columns of a solution that is a stack of matrices."""
    return "c" if x.ndim == x.operands[0].ndim else ""


def lead_of(x: Node, matrix: int) -> Shape:
    """The axes before the last ``matrix``."""
    return x.shape[: x.ndim - matrix]


def _dtype(operands: Sequence[Node]) -> np.dtype:
    """NumPy's linear algebra is in float32 where all operands are, else in float64."""
    return np.dtype(np.float32 if all(o.dtype == np.float32 for o in operands) else np.float64)
