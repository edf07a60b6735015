"""Operands for elementwise functions, drawn from the intervals that each is declared with."""

from __future__ import annotations

import numpy as np


def draw(rng: np.random.Generator, interval: tuple, shape: tuple) -> np.ndarray:
    """Values of the kind of the interval's ends: floats, ints or bools."""
    low, high = interval
    if isinstance(low, bool):
        return np.asarray(rng.random(shape) < 0.5)
    if isinstance(low, int):
        return np.asarray(rng.integers(low, high, shape))
    return np.asarray(rng.uniform(low, high, shape))
