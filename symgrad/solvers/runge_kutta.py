"""One step of the Runge-Kutta methods of ``scipy.integrate``, and the solution between two steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .implicit import Equation, solution

Rates = Callable[[Any, Any], Any]
#: that of Hairer and Wanner (Solving Ordinary Differential Equations II, IV.5): where stages are, and their weights
_RADAU_TIMES = np.array([(4 - 6**0.5) / 10, (4 + 6**0.5) / 10, 1.0])
_MOST_ITERATIONS, _PRECISION = 20, 1e-12


class Explicit:
    """A method of ``scipy.integrate`` whose stages follow from those before; ``tableau`` is its class there."""

    def __init__(self, tableau: Any) -> None:
        self._stages = list(zip(tableau.A[1:].tolist(), tableau.C[1:].tolist(), strict=True))
        self._weights = tableau.B.tolist()
        is_wide = hasattr(tableau, "D")  # of DOP853, which asks for more rates between two steps
        self._rows = tableau.D.tolist() if is_wide else None
        extra = zip(tableau.A_EXTRA.tolist(), tableau.C_EXTRA.tolist(), strict=True) if is_wide else ()
        self._further = list(extra)
        self._powers = tableau.P

    def begin(self, rates: Rates, t: Any, y: Any) -> Any:
        """What the first step is given as ``f``."""
        return rates(t, y)

    def step(self, rates: Rates, t: Any, y: Any, f: Any, h: Any) -> tuple[Any, Any, list[Any]]:
        """The next ``y`` and ``f``, its rates, and what the solution between them is made of."""
        made = [f]

        def add_stages(stages: Sequence[Any]) -> None:
            for weights, c in stages:
                made.append(rates(t + c * h, y + h * _weighted(weights, made)))

        add_stages(self._stages)
        end = y + h * _weighted(self._weights, made)
        made.append(rates(t + h, end))
        rate = made[-1]
        if self._rows is None:
            return end, rate, made
        add_stages(self._further)
        step = end - y
        rest = [h * _weighted(row, made) for row in self._rows]
        return end, rate, [step, h * f - step, 2 * step - h * (rate + f), *rest]

    def between(self, kept: Sequence[Any], y: Any, h: Any, s: Any) -> Any:
        """The solution at the share ``s`` of steps that begin with ``y``; all have a row each point."""
        if self._rows is None:
            shares = np.stack([s**k for k in range(1, self._powers.shape[1] + 1)], axis=-1) @ self._powers.T
            return y + h * _weighted([shares[:, k : k + 1] for k in range(len(kept))], kept)
        made = 0.0
        for k, part in enumerate(reversed(kept)):
            made = (made + part) * (1 - s if k % 2 else s)[:, None]
        return y + made


class Radau:
    """Radau IIA of three stages, of fifth order, for stiff equations: each step solves for its stages."""

    def __init__(self) -> None:
        powers = _RADAU_TIMES[:, None] ** np.arange(1, 4)
        slopes = np.arange(1, 4) * _RADAU_TIMES[:, None] ** np.arange(3)
        self.inverse = slopes @ np.linalg.inv(powers)  # of the weights: h f = inverse @ (stages - y)
        self.to_powers = np.linalg.inv(powers)

    def begin(self, rates: Rates, t: Any, y: Any) -> Any:
        """As that of ``Explicit``."""
        return y

    def step(self, rates: Rates, t: Any, y: Any, f: Any, h: Any) -> tuple[Any, Any, list[Any]]:
        """As that of ``Explicit``; ``f`` is not read."""

        def equations(stages: Any) -> Any:
            wanted = np.stack([rates(t + c * h, y + stages[k]) for k, c in enumerate(_RADAU_TIMES.tolist())])
            return self.inverse @ stages - h * wanted

        stages = solution("scipy.integrate.Radau", equations, np.zeros((3, 1)) * y, _by_newton, [y])
        return y + stages[2], f, [stages]

    def between(self, kept: Sequence[Any], y: Any, h: Any, s: Any) -> Any:
        """As that of ``Explicit``."""
        (stages,) = kept
        powers = np.stack([s, s**2, s**3], axis=-1)
        return y + np.sum((powers @ self.to_powers)[:, :, None] * stages, axis=1)


def _weighted(weights: Any, parts: Sequence[Any]) -> Any:
    made: Any = None
    for weight, part in zip(weights, parts, strict=False):
        if not isinstance(weight, float) or weight:
            made = weight * part if made is None else made + weight * part
    return 0.0 * parts[0] if made is None else made


def _by_newton(of: Equation, like: Any) -> Any:
    """The stages of a step, on plain arrays, from where the step begins."""
    stages = np.zeros((3, len(like)))
    for _ in range(_MOST_ITERATIONS):
        left, slope = of.value(stages).ravel(), of.slope(stages).reshape(stages.size, stages.size)
        move = np.linalg.solve(slope.T, -left).reshape(stages.shape)
        stages = stages + move
        if np.all(np.abs(move) <= _PRECISION * (np.abs(like) + np.abs(stages))):
            return stages
    raise ArgumentError("scipy.integrate.Radau: Newton's iteration for the stages of a step does not converge")
