"""The Jacobian explorer: ``J.explore(…)`` shows values and pattern, and for an entry its formula and its lines."""

from __future__ import annotations

from typing import Any

from symgrad.transforms.jacobian import JacobianFunction

from .explorer import Explorer
from .static import StaticPicture

__all__ = ["Explorer", "StaticPicture", "explore"]


def explore(derivative: JacobianFunction, args: tuple, kwargs: dict[str, Any]) -> Explorer:
    """The explorer of a Jacobian or Hessian at these arguments.

    >>> import numpy as np, symgrad
    >>> explore(symgrad.hessian(lambda x: np.sum(x**3)), (np.array([1.0, 2.0]),), {})
    Hessian of f
      ∂f/∂x by x: 2 × 2, 2 entries (50%), the others zero by structure, magnitudes 6 to 12
    """
    derivative._needs_examples(args, kwargs)
    return Explorer(derivative, args, kwargs)
