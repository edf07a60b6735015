"""The phases and signs that LAPACK gives eigenvectors and singular vectors, and how they move with the matrix.

A vector is one of many, each a phase apart. LAPACK gives one in which an element is real, so the slope is that of a
vector whose element keeps its phase:

- ``?geev``: the largest element, as the comment of the routine says.
- ``?heev``, ``?heevd``, ``?heevr``, ``?heevx``: the first element where the lower triangle is read, the last where the
  upper one is: ``?hetrd`` makes the matrix tridiagonal and real by a unitary one with the identity's first (last) row.
- ``?gesdd``, ``?gesvd``: the first element of the right vectors of matrices with no fewer rows than columns, and of the
  left vectors of others, by ``?gebrd`` for the same reason.

Which of the two signs is left comes out of the routine alone: other routines than NumPy's are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..primitives.external import Call, External
from ..primitives.identity import stop_gradient
from ..program.node import emit
from .trace import as_node
from .tracer import Tracer

#: a function of plain arrays that gives vectors, columns of matrices
Routine = Callable[..., np.ndarray]


def _held(x: Any) -> Any:
    return Tracer(stop_gradient(as_node(x)))


def in_phase(pivots: Any, *vectors: Any, is_given: bool = True) -> list[Any]:
    """``vectors``, columns of matrices, with the slopes of those whose ``pivots``, a row of one, keep their phases.

    Where ``is_given`` is false they are turned so that pivots are positive. Real vectors are as they are.
    """
    if pivots.dtype.kind != "c":
        return list(vectors)
    size = np.abs(pivots)
    phase = pivots / np.where(size == 0, 1.0, size)
    if not is_given:
        return [v * np.where(size == 0, 1.0, np.conj(phase)) for v in vectors]
    turned = [v * np.where(size == 0, 1.0, np.conj(phase) * _held(phase)) for v in vectors]
    return [_held(v) + (t - _held(t)) for v, t in zip(vectors, turned, strict=True)]


def largest(vectors: Any) -> Any:
    """The largest element of each column, as a row."""
    place = np.argmax(np.abs(_held(vectors)), axis=-2)
    return np.take_along_axis(vectors, place[..., None, :], axis=-2)


def _asked(name: str, routine: Routine, key: tuple, arrays: Sequence[Any], shape: Any, dtype: Any) -> Any:
    """What a routine gives, as a constant."""
    operands = tuple(as_node(m) for m in arrays)
    undeclared = f"{name} is asked for signs or an order, which have no derivative."
    call = Call(name, lambda values: [routine(*values)], (name, *key), [np.dtype(dtype)], undeclared)
    params = (call, (shape,), tuple(o.shape for o in operands), ())
    return Tracer(stop_gradient(emit(External(name), operands, params)))


def ordered_as(name: str, routine: Routine, key: tuple, matrices: Sequence[Any], values: Any) -> Any:
    """``values``, a vector, in the order in which ``routine(*matrices)`` has them."""

    def places(own: np.ndarray, *plain: np.ndarray) -> np.ndarray:
        left, found = list(range(len(own))), []
        for value in routine(*plain):
            found.append(min(left, key=lambda k: abs(own[k] - value)))
            left.remove(found[-1])
        return np.array(found, np.int64)

    return values[_asked(name, places, key, [_held(values), *matrices], values.shape, np.int64)]


def signed_as(
    name: str, routine: Routine, key: tuple, matrices: Sequence[Any], vectors: Any, *others: Any
) -> list[Any]:
    """``vectors`` and ``others`` with the signs that the ``vectors`` of ``routine(*matrices)`` have.

    ``key`` has what is not a matrix of it.
    """
    node = as_node(vectors)
    given = _asked(name, routine, key, matrices, node.shape, node.dtype)
    along = np.real(np.sum(np.conj(_held(vectors)) * given, axis=-2, keepdims=True))
    sign = np.where(along < 0, -1.0, 1.0).astype(along.dtype)
    return [v * sign for v in (vectors, *others)]
