"""Linear algebra of square matrices: inverse, solve, determinant, log|det| and Cholesky factor.

Axes before the last two are stacked, as NumPy has them. The rules are contractions with the inverse, so an
identity that seeds a Jacobian goes through as labels; a solve whose seed is an array solves for its columns. A
matrix that is singular raises NumPy's ``LinAlgError`` where the value or the derivative needs its inverse; those of
its determinant need none.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program.dims import Dim, Shape
from ..program.node import Node, emit
from .batching import Batching
from .casting import cast
from .cofactors import cofactors
from .contraction import EINSUM, contract, expand, expand_behind, identity, pad_rank, scale, transpose
from .elementwise import conjugated
from .functions import add, imag, real, subtract
from .primitive import CONSTANT, ByTangent, Params, Primitive, literal, made_constant
from .reduction import cumulative_sum
from .shaping import reshape

#: a node and letters for its last axes
Factor = tuple[Node, str]
_SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


class Inverse(ByTangent):
    """``np.linalg.inv``: ``dB = -B dA B``."""

    name = "inverse"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape, _dtype(operands), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return product(lead_of(tangent, 2), [(node, "ik"), (tangent, "kl"), (node, "lj")], "ij", -1)

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.linalg.inv(values[0])


class Solve(Primitive):
    """``np.linalg.solve(A, b)``, the stacked axes of both alike; ``b`` of one axis less is a stack of vectors.

    ``dx = A⁻¹(db - dA x)`` forward; ``ct_b = A⁻ᵀ ct`` and ``ct_A = -ct_b xᵀ`` in reverse.
    """

    name = "solve"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[1].shape, _dtype(operands), False

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        return operands[1].masked

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        a, _ = node.operands
        if key == 0:
            columns = columns_of(node)
            tangent = product(lead_of(tangent, 2), [(tangent, "ik"), (node, "k" + columns)], "i" + columns, -1)
        return _solved(a, tangent, batch)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        columns = columns_of(node)
        by_b = _solved(transposed(node.operands[0]), ct, batch)
        if key == 1:
            return by_b
        return product(lead_of(ct, 1 + len(columns)), [(by_b, "i" + columns), (node, "j" + columns)], "ij", -1)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        a, b = operands
        if not batched[0]:
            return _solved(a, b, 1)
        return emit(self, tuple(over.complete(operands, batched)))

    def evaluate(self, params: Params, *values: Any) -> Any:
        a, b = values
        if b.ndim == a.ndim - 1 > 1:  # NumPy takes a stack of vectors for a matrix
            return np.linalg.solve(a, b[..., None])[..., 0]
        return np.linalg.solve(a, b)


class Determinant(ByTangent):
    """``np.linalg.det``: ``d det A = ⟨cof A, dA⟩``, which is ``det A · tr(A⁻¹ dA)``."""

    name = "determinant"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape[:-2], _dtype(operands), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return product(lead_of(tangent, 2), [(_cofactor(node), "ij"), (tangent, "ij")], "")

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.linalg.det(values[0])


class Cofactor(Primitive):
    """The matrix of cofactors of ``A``, which is the derivative of ``det A``, and its own; ``params = (order,)``.

    Operands are ``A``, ``det A`` and any number of directions, their stacks after others. The value is the derivative
    of ``det`` by ``order`` matrices and along each direction, defined for every ``A`` (``cofactors.py``); there are
    directions where ``order`` is 1 alone. Derivatives commute, so each map is its own transpose. Formulas and
    exports have ``det A · A⁻ᵀ`` in its place (``passes/cofactors.py``).
    """

    name = "cofactor"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        a, _, *directions = operands
        return (*(directions or [a])[0].shape, *a.shape[-2:] * (params[0] - 1)), _dtype(operands), False

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return [(o, k) for k, o in enumerate(node.operands) if k != 1 and o.differentiable]

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        if node.params[0] > 1 or (len(node.operands) == 2 and _has_identity(tangent)):
            return by_minors(node, tangent)
        return self._along(node, key, tangent, batch)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        if node.params[0] > 1 or (len(node.operands) == 2 and _has_identity(ct)):
            return by_minors(node, ct, transposed=True)
        made = self._along(node, key, ct, batch)
        further = range(batch, batch + node.ndim - source.ndim) if not key else ()
        labels = tuple(range(made.ndim))
        return contract([made], [labels], tuple([k for k in labels if k not in further]), made.shape)

    def _along(self, node: Node, key: int, flow: Node, batch: int) -> Node:
        """The derivative with ``flow`` for the direction that ``key`` names, along it as well where that is ``A``."""
        a, determinant, *directions = node.operands
        if key:
            directions[key - 2] = flow
        else:
            directions.append(pad_rank(flow, batch, node.ndim))
        shape = flow.shape[:batch] + node.shape
        return emit(self, (a, determinant, *[expand(d, shape) for d in directions]), node.params)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        (a, determinant, *directions), rows = operands, node.operands[0].shape[-2:]
        if batched[0]:
            a, determinant = over.complete((a, determinant), batched[:2])
            lead = lead_of(node, 2 * node.params[0])
            a, determinant = expand_behind(a, 1, lead + rows), expand_behind(determinant, 1, lead)
        return emit(self, (a, determinant, *over.complete(directions, batched[2:])), node.params)

    def evaluate(self, params: Params, *values: Any) -> Any:
        return cofactors(*values, order=params[0])

    def spell(self, node: Node) -> str:
        return self.name if node.params == (1,) else f"{self.name}[{node.params[0]}]"


class LogDeterminant(Determinant):
    """The ``logabsdet`` of ``np.linalg.slogdet``: ``d log|det A| = Re tr(A⁻¹ dA)``."""

    name = "log_determinant"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape[:-2], real_dtype(_dtype(operands)), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return real_of(product(lead_of(tangent, 2), [(inverse(source), "ji"), (tangent, "ij")], ""))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.linalg.slogdet(values[0])[1]


class DeterminantSign(Determinant):
    """The ``sign`` of ``np.linalg.slogdet``: constant of real matrices, ``ds = i s Im tr(A⁻¹ dA)`` of complex ones."""

    name = "determinant_sign"

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return super().dependencies(node) if node.is_complex else ()

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        turn = imag(product(lead_of(tangent, 2), [(inverse(source), "ji"), (tangent, "ij")], ""))
        return product(turn.shape, [(turn, ""), (node, "")], "", 1j)

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.linalg.slogdet(values[0])[0]


class Cholesky(ByTangent):
    """``np.linalg.cholesky``; ``params = (upper,)``.

    NumPy reads one triangle of ``A`` alone. The derivative is that of a Hermitian ``A``: a tangent counts by its
    Hermitian part, and the cotangent is Hermitian. With ``Φ`` the lower triangle, its diagonal halved,
    ``dL = L Φ(L⁻¹ dA L⁻ᴴ)``; the upper factor is ``Lᴴ``.
    """

    name = "cholesky"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape, _dtype(operands), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        factor, out = self._lower(node), "ji" if node.params[0] else "ij"
        lower, half = inverse(factor), halved_triangle(node.shape[-1], real_dtype(node.dtype))
        halves = [
            product(
                lead_of(tangent, 2),
                [(factor, "ik"), (half, "kj"), (lower, "kp"), (t, own), (conjugated(lower), "jq")],
                out,
                0.5,
            )
            for t, own in ((tangent, "pq"), (conjugated(tangent), "qp"))
        ]
        return conjugated(add(*halves)) if node.params[0] else add(*halves)

    def _lower(self, node: Node) -> Node:
        return adjoint(node) if node.params[0] else node

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.linalg.cholesky(values[0], upper=params[0])

    def spell(self, node: Node) -> str:
        return "cholesky[upper]" if node.params[0] else "cholesky"


INVERSE, SOLVE, CHOLESKY = Inverse(), Solve(), Cholesky()
DETERMINANT, LOG_DETERMINANT, DETERMINANT_SIGN = Determinant(), LogDeterminant(), DeterminantSign()
COFACTOR = Cofactor()


def _cofactor(determinant: Node, order: int = 1) -> Node:
    return emit(COFACTOR, (*determinant.operands, determinant), (order,))


def by_minors(node: Node, flow: Node, transposed: bool = False) -> Node:
    """``flow`` through cofactors without directions, by one array of minors: an identity goes through as labels."""
    (order,) = node.params
    own = string.ascii_lowercase[: 2 * order]
    taken, out = (own, "YZ") if transposed else ("YZ", own)
    minors = _cofactor(node.operands[1], order + 1)
    return product(lead_of(flow, len(taken)), [(minors, own + "YZ"), (flow, taken)], out)


def inverse(x: Node) -> Node:
    """``x⁻¹`` as derivatives need it: ``# (xᵀ)⁻¹ -> (x⁻¹)ᵀ, (x⁻¹)⁻¹ -> x``."""
    if x.primitive is INVERSE:
        return x.operands[0]
    turned = transposed(x)
    return transposed(emit(INVERSE, (turned,))) if x.operands == (turned,) else emit(INVERSE, (x,))


def product(lead: Shape, factors: Sequence[Factor], out: str, factor: complex = 1) -> Node:
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


_HALVED = "halved triangle"


def halved_triangle(size: Dim, dtype: np.dtype) -> Node:
    """Ones below the diagonal and halves on it."""
    if not isinstance(size, int):
        diagonal = cast(identity((size,)), dtype)
        return subtract(cumulative_sum(diagonal, 0), scale(diagonal, literal(0.5)))
    key = (_HALVED, size, dtype.str)
    return made_constant(key, lambda: np.tri(size, dtype=dtype) - np.eye(size, dtype=dtype) / 2)


def is_halved_triangle(node: Node) -> bool:
    """Whether it is what ``halved_triangle`` made, of a size that is a number."""
    key = node.params[0].key if node.primitive is CONSTANT else None
    return key is not None and key[0] == _HALVED


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


def transposed(x: Node) -> Node:
    """A stack of matrices, each transposed."""
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def adjoint(x: Node) -> Node:
    """The conjugate transpose of a stack of matrices."""
    return transposed(conjugated(x))


def real_of(x: Node) -> Node:
    """The real part; real numbers as they are."""
    return real(x) if x.is_complex else x


def real_dtype(dtype: np.dtype) -> np.dtype:
    """That of the parts of complex numbers; of real ones itself."""
    return np.finfo(dtype).dtype


def columns_of(x: Node) -> str:
    """A letter for the columns of a solution that is a stack of matrices."""
    return "c" if x.ndim == x.operands[0].ndim else ""


def lead_of(x: Node, matrix: int) -> Shape:
    """The axes before the last ``matrix``."""
    return x.shape[: x.ndim - matrix]


def _dtype(operands: Sequence[Node]) -> np.dtype:
    """NumPy's linear algebra is in single precision where all operands are, else in double, real or complex."""
    single = all(o.dtype in _SINGLE for o in operands)
    return np.result_type(np.float32 if single else np.float64, *[np.complex64 for o in operands if o.is_complex])
