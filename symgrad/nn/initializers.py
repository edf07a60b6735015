"""How weights start: ``initial("he_uniform", (out, in))``."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..dtype import float32
from ..errors import ArgumentError, ShapeError


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs a weight of shape (out, in, …) connects."""
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    receptive = math.prod(shape[2:])
    return shape[1] * receptive, shape[0] * receptive


def _uniform(bound: float, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.uniform(-bound, bound, shape)


def _truncated(sigma: float, shape: tuple[int, ...]) -> np.ndarray:
    """Normal numbers, drawn again where they are beyond two deviations."""
    drawn = np.random.normal(0.0, 1.0, shape)
    while np.any(beyond := np.abs(drawn) > 2):
        drawn = np.where(beyond, np.random.normal(0.0, 1.0, shape), drawn)
    return sigma * drawn


def _matrix(name: str, shape: tuple[int, ...], make: Callable[..., np.ndarray]) -> np.ndarray:
    if len(shape) != 2:
        raise ShapeError(f"the initializer {name!r} is of matrices, got the shape {shape}.")
    return make(*shape)


def _orthogonal(shape: tuple[int, ...]) -> np.ndarray:
    """Orthonormal rows or columns; axes behind the first count as one (Saxe, McClelland and Ganguli, 2014)."""
    if len(shape) < 2:
        raise ShapeError(f"the initializer 'orthogonal' is of two axes or more, got the shape {shape}.")
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(np.random.normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))
    return (q if rows >= columns else q.T).reshape(shape)


#: name -> what draws an array of a shape; they draw from ``np.random``, so ``np.random.seed`` fixes them
INITIALIZERS: dict[str, Callable[[tuple[int, ...]], np.ndarray]] = {
    "zeros": np.zeros,
    "ones": np.ones,
    "normal": lambda shape: np.random.normal(0.0, 0.01, shape),
    "uniform": lambda shape: _uniform(0.07, shape),
    "one": np.ones,
    "zero": np.zeros,
    "truncated_normal": lambda shape: _truncated(0.01, shape),
    "xavier_normal": lambda shape: np.random.normal(0.0, math.sqrt(2 / sum(_fans(shape))), shape),
    "identity": lambda shape: _matrix("identity", shape, np.eye),
    "orthogonal": lambda shape: _orthogonal(shape),
    "xavier_uniform": lambda shape: _uniform(math.sqrt(6 / sum(_fans(shape))), shape),
    "he_uniform": lambda shape: _uniform(math.sqrt(6 / max(_fans(shape)[0], 1)), shape),
    "he_normal": lambda shape: np.random.normal(0.0, math.sqrt(2 / max(_fans(shape)[0], 1)), shape),
}


def initial(init: Any, shape: tuple[int, ...], dtype: Any = float32, bound: float | None = None) -> np.ndarray:
    """An array of ``shape``: of the initializer of that name, filled with a number, or a copy of an array.

    None draws uniformly within ±``bound``. An unknown name is an ArgumentError, an array of another shape a
    ShapeError. A callable is called with the shape.

    >>> initial("ones", (2,))
    array([1., 1.], dtype=float32)
    >>> initial(0.5, (2,))
    array([0.5, 0.5], dtype=float32)
    """
    if isinstance(init, str):
        if init not in INITIALIZERS:
            raise ArgumentError(f"there is no initializer {init!r}; there are {', '.join(INITIALIZERS)}.")
        init = INITIALIZERS[init]
    init = partial(_uniform, bound) if init is None and bound is not None else init
    values: Any = init(shape) if callable(init) else init
    if isinstance(values, (int, float)):
        return np.full(shape, values, dtype)
    if np.shape(values) != shape:
        raise ShapeError(f"the initial value has shape {np.shape(values)} and the parameter {shape}.")
    return np.array(values, dtype)
