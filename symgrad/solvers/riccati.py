"""Riccati equations of control, as ``scipy.linalg`` solves them, on traced values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..errors import UnsupportedArguments
from ..tracing.dispatch import answers_for
from ..tracing.given_arrays import array
from .implicit import solution

linalg: Any = scipy.linalg


def _continuous(x: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    return a.T @ x + x @ a - x @ b @ np.linalg.solve(r, b.T @ x) + q


def _discrete(x: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    return a.T @ x @ a - x - a.T @ x @ b @ np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a) + q


def _declare(name: str, equation: Callable[..., Any]) -> None:
    @answers_for(f"scipy.linalg.{name}")
    def rule(a, b, q, r, e=None, s=None, balanced=True):
        if e is not None or s is not None:
            raise UnsupportedArguments.here(
                f"scipy.linalg.{name} with e or s has no derivative rule in symgrad. Write the equation that is left, "
                "and solve it by scipy.optimize.root."
            )
        given = [array(v) * 1.0 for v in (a, b, q, r)]

        def find(_: Any, *matrices: Any) -> Any:
            return getattr(linalg, name)(*matrices, balanced=balanced)

        return solution(f"scipy.linalg.{name}", lambda x: equation(x, *given), np.zeros(given[0].shape), find, given)


_declare("solve_continuous_are", _continuous)
_declare("solve_discrete_are", _discrete)
