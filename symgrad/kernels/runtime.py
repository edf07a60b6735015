"""What generated source calls beside NumPy itself: the transposes that NumPy has no name for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def gate(m, t):
    """``m · t`` where ``m`` is not zero, else 0."""
    if not (isinstance(m, np.ndarray) or isinstance(t, np.ndarray)):  # steps of loops have many of these
        product = t if isinstance(m, (bool, np.bool_)) else m * t
        return product if m else np.result_type(product).type(0)
    m = np.asarray(m)
    product = t if m.dtype == bool else np.multiply(m, t)
    return np.where(m if m.dtype == bool else m != 0, product, np.zeros((), np.result_type(product)))


def in_order(buffer, *others):
    """``buffer`` where NumPy would lay out a result of all of them as it is, else None: sums go in memory order."""
    strides = buffer.strides
    return buffer if all(x.strides == strides for x in others) else None


#: integers as wide as a float, through which a truth value selects without a branch
_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


def copied(x, out):
    """``x`` in ``out``, cast to its dtype."""
    np.copyto(out, x, casting="unsafe")
    return out


def masked(m, t, out):
    """``gate(m, t)`` in ``out``, which may be the memory of ``m`` or ``t``."""
    m = np.asarray(m)
    if m.dtype != bool:
        m, t = np.not_equal(m, 0), np.multiply(m, t, out=out)
    bits = _BITS.get(out.itemsize) if out.dtype.kind == "f" else None
    if bits is None:
        np.copyto(out, np.where(m, t, np.zeros((), out.dtype)))
    else:
        np.multiply(np.asarray(t, out.dtype).view(bits), m, out=out.view(bits))
    return out


def select(c, a, b, out):
    """``where(c, a, b)`` in ``out``, which is the memory of none of them."""
    c = np.asarray(c)
    if c.dtype != bool:
        c = np.not_equal(c, 0)
    bits = _BITS.get(out.itemsize) if out.dtype.kind == "f" else None
    if bits is None:
        return copied(np.where(c, a, b), out)
    first, second, made = np.asarray(a, out.dtype).view(bits), np.asarray(b, out.dtype).view(bits), out.view(bits)
    np.bitwise_xor(first, second, out=made)
    np.multiply(made, c, out=made)
    np.bitwise_xor(made, second, out=made)
    return out


#: elements of a row from which adding it alone costs less than what np.add.at does for each element
_LONG_ROW = 128


def scatter(y, index, axis: int, dim: int):
    """Zeros with the entries of ``y`` added along ``axis`` where ``index`` says."""
    index = np.asarray(index)
    y = np.asarray(y)
    tail = y.shape[axis + index.ndim :]
    result = np.zeros((*y.shape[:axis], dim, *tail), y.dtype)
    if axis or math.prod(tail) < _LONG_ROW:
        rows: tuple = (*(slice(None),) * axis, index)
        np.add.at(result, rows, y)
    else:
        for place, row in zip(index.ravel().tolist(), y.reshape(index.size, *tail), strict=True):
            result[place] += row
    return result


def from_end(accumulate, x, axis: int):
    """Running sums or products along ``axis``, from its end."""
    backwards = (slice(None),) * axis + (slice(None, None, -1),)
    return accumulate(x[backwards], axis)[backwards]


def diagonal(x, letters: str):
    """The view of ``x`` on the diagonals that repeated letters name, to write into."""
    return np.einsum(letters, x)


def embed_diagonal(wide, shape, letters: str):
    """Zeros of ``shape`` with ``wide`` on the diagonals that repeated letters name."""
    wide = np.asarray(wide)
    result = np.zeros(shape, wide.dtype)
    diagonal(result, letters)[...] = wide
    return result


#: from this many columns a symmetric product is worth its preparations
_GRAM_FROM = 48


def gram(a, w, dot=np.dot):
    """``aᵀ diag(w) a``: ``dot`` computes one triangle of ``bᵀ b``, with the rows of negative weight apart."""
    if a.shape[1] < _GRAM_FROM:
        return dot((a * w[:, None]).T, a)
    low, high = (w.min(), w.max()) if w.size else (0.0, 0.0)
    if low >= 0:
        return _square(a, w, dot)
    if high <= 0:
        return -_square(a, -w, dot)
    if not (np.isfinite(low) and np.isfinite(high)):
        return dot((a * w[:, None]).T, a)
    negative = w < 0
    return _square(a[~negative], w[~negative], dot) - _square(a[negative], -w[negative], dot)


def _square(a, w, dot):
    b = a * np.sqrt(w)[:, None]
    return dot(b.T, b)


def row(pieces: Sequence[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """The elements of arrays, one after another."""
    return np.concatenate([np.ravel(p) for p in pieces], dtype=dtype)
