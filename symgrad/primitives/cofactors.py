"""The derivatives of the determinant in numbers, for every matrix: where it is singular too.

``det A`` is linear in each row, so its derivatives are sums of minors, and need no inverse. Of ``A = U Σ Vᵀ`` they are
``det U · det V`` times those of ``Σ``, turned by ``U`` and ``V``. The source is G. W. Stewart, On the adjugate matrix,
Linear Algebra and its Applications 283 (1998).
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator

import numpy as np

#: a product of the largest elements of a matrix and its inverse, up to which second derivatives are taken with both
_MAX_CONDITION = 1e3


def cofactors(matrix: np.ndarray, determinant: np.ndarray, *directions: np.ndarray, order: int = 1) -> np.ndarray:
    """The derivative of ``det`` by ``order`` matrices and along each of ``directions``: at first the cofactors.

    Axes before the last two are stacks of matrices, those of ``directions`` with others before them.

    >>> singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    >>> cofactors(singular, np.array(0.0))
    array([[ 4., -2.],
           [-2.,  1.]])
    >>> np.round(cofactors(singular, np.array(0.0), np.eye(2)), 12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    made = _by_inverse(matrix, determinant, directions, order) if order + len(directions) < 3 else None
    return _by_singular_values(matrix, directions, order) if made is None else made


def signed_permutations(count: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every permutation of so many, with its sign.

    >>> list(signed_permutations(2))
    [((0, 1), 1), ((1, 0), -1)]
    """
    for order in itertools.permutations(range(count)):
        exchanged = sum(a > b for a, b in itertools.combinations(order, 2))
        yield order, -1 if exchanged % 2 else 1


def _by_inverse(
    matrix: np.ndarray, determinant: np.ndarray, directions: tuple[np.ndarray, ...], order: int
) -> np.ndarray | None:
    """What is at most two derivatives of ``det``, in less time; None where the inverse is too far off for it."""
    try:
        with np.errstate(all="ignore"):
            inverse = np.linalg.inv(matrix).mT
            first = inverse * np.asarray(determinant)[..., None, None]
    except np.linalg.LinAlgError:
        return None
    if order == 1 and not directions:  # both are of one factorisation, so what it lost cancels
        return first if np.all(np.isfinite(first)) or not np.all(np.isfinite(matrix)) else None
    if not np.max(np.abs(inverse), initial=0) * np.max(np.abs(matrix), initial=0) < _MAX_CONDITION:
        return None
    if directions:
        (along,) = directions
        trace = np.sum(inverse * along, axis=(-2, -1), keepdims=True)
        return trace * first - first @ along.mT @ inverse
    made = first[..., None, None] * inverse[..., None, None, :, :]
    return made - np.swapaxes(made, -3, -1)


def _by_singular_values(matrix: np.ndarray, directions: tuple[np.ndarray, ...], order: int) -> np.ndarray:
    size, count = matrix.shape[-1], order + len(directions)
    if not matrix.size:
        return np.zeros((*directions, matrix)[0].shape + matrix.shape[-2:] * (order - 1), matrix.dtype)
    finite = np.all(np.isfinite(matrix), axis=(-2, -1), keepdims=True)
    left, values, right = np.linalg.svd(np.where(finite, matrix, 0))
    sign = np.sign(np.linalg.det(left) * np.linalg.det(right))
    others = _products_of_others(np.where(finite[..., 0], values, np.nan), count)
    others *= sign.reshape(sign.shape + (1,) * count)
    if directions:
        return left @ _along(others, [left.mT @ d @ right.mT for d in directions]) @ right
    stack = matrix.shape[:-2]
    pairs = (left[..., :, None, :] * right.mT[..., None, :, :]).reshape(*stack, size * size, size).mT
    made = others
    for _ in range(order):
        made = made.reshape(*stack, size, -1).mT @ pairs
    made = made.reshape(stack + (size, size) * order)
    first, total = len(stack), np.zeros_like(made)
    for columns, parity in signed_permutations(order):
        axes = [axis for r in range(order) for axis in (first + 2 * r, first + 2 * columns[r] + 1)]
        total += parity * np.transpose(made, (*range(first), *axes))
    distinct = _distinct(size, order)
    possible = distinct.reshape((size, 1) * order) & distinct.reshape((1, size) * order)
    return np.where(possible, total, 0)  # a product has one element of each row and column


def _distinct(size: int, count: int) -> np.ndarray:
    """For every ``count`` places whether no two of them are the same."""
    places = np.indices((size,) * count)
    unlike = np.ones((size,) * count, bool)
    return np.all([unlike, *(a != b for a, b in itertools.combinations(places, 2))], axis=0)


def _products_of_others(values: np.ndarray, count: int) -> np.ndarray:
    """For every ``count`` places the product of the values that stand at none of them; 0 where two are the same."""
    size = values.shape[-1]
    taken = (np.indices((size,) * count)[..., None] == np.arange(size)).any(0)
    wide = values.reshape(*values.shape[:-1], *(1,) * count, size)
    return np.where(_distinct(size, count), np.prod(np.where(taken, 1, wide), axis=-1), 0)


def _along(others: np.ndarray, directions: list[np.ndarray]) -> np.ndarray:
    """What is left of the derivative of a diagonal matrix by one element, along directions."""
    made = np.zeros_like(directions[0], dtype=np.result_type(others, *directions))
    diagonal = np.einsum("...ii->...i", made)
    places = string.ascii_letters[: 1 + len(directions)]
    for columns, sign in signed_permutations(len(places)):
        turned = [places[k] for k in columns]
        factors = ",".join(f"...{places[k]}{turned[k]}" for k in range(1, len(places)))
        out, into = (places[0], diagonal) if turned[0] == places[0] else (places[0] + turned[0], made)
        into += sign * np.einsum(f"...{places},{factors}->...{out}", others, *directions)
    return made
