"""The picture of a derivative's program: what the function computes, what the derivative adds, and how it runs."""

from __future__ import annotations

from typing import Any

from symgrad.transforms.derived import DerivedFunction

from .folding import folded
from .picture import Picture
from .subject import subject_of

__all__ = ["Picture", "picture"]


def picture(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> Picture:
    """The program of ``derived`` for these arguments as a picture, long ones folded.

    >>> import numpy as np, symgrad
    >>> shown = picture(symgrad.grad(lambda x: np.sum(np.log(x))), (np.array([1.0, 0.0]),), {})
    >>> print(shown)
    grad(f): 1 operation (0 of the function, 1 of its derivative), kernel on numpy
    the function f:
      x           [2]: 0 … 1
    its derivative:
      v0 = 1 / x  [2]: 1 … 1, inf    ⚠
    result ∂f/∂x = v0
    ⚠ v0 = 1 / x: 1 / 0 at [1]
    the kernel calls NumPy for each operation
    """
    return Picture(folded(subject_of(derived, args, kwargs)))
