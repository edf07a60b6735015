"""Loss scaling for low precision: scale the loss, differentiate, unscale the gradients, check them.

>>> import numpy as np
>>> from symgrad import grad
>>> scaler = StaticLossScaler(1024.0)
>>> g = grad(lambda x: scaler.scale(x * x))(np.float16(0.25))
>>> g, scaler.unscale(g)
(np.float16(512.0), np.float16(0.5))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ArgumentError, TracingError
from .tensor import Parameter, Tensor
from .tracing.trace import current
from .tracing.tree import flatten, tree_map


class StaticLossScaler:
    """Multiplies and divides by a fixed ``scale_value``; arrays keep their dtypes, tuples and lists their shape.

    A value below 1 or not finite is an ArgumentError, as in MindSpore.

    >>> StaticLossScaler(4.0).unscale((np.array([8.0]), np.array([2.0])))
    (array([2.]), array([0.5]))
    """

    def __init__(self, scale_value: float) -> None:
        self.scale_value = _from_one("scale_value", scale_value)

    def scale(self, inputs: Any) -> Any:
        """``inputs`` times the scale."""
        return tree_map(lambda v: np.multiply(v, self.scale_value), inputs)

    def unscale(self, inputs: Any) -> Any:
        """``inputs`` divided by the scale."""
        return tree_map(lambda v: np.divide(v, self.scale_value), inputs)

    def adjust(self, grads_finite: Any) -> bool:
        """The scale stays: always False."""
        return False


class DynamicLossScaler:
    """A scale that grows by ``scale_factor`` after ``scale_window`` finite steps in a row and shrinks at overflow.

    ``scale`` and ``unscale`` are those of ``StaticLossScaler``. The scale is a Parameter that traced functions
    read at every call, so ``adjust`` needs no new trace. Numbers out of range are an ArgumentError.

    >>> scaler = DynamicLossScaler(1024.0, 2, 1)
    >>> scaler.adjust(True), print(scaler.scale_value)
    2048.0
    (True, None)
    >>> scaler.adjust(False), print(scaler.scale_value)
    1024.0
    (True, None)
    """

    def __init__(self, scale_value: float, scale_factor: float, scale_window: int) -> None:
        self.scale_value = Parameter(_from_one("scale_value", scale_value), "scale_value", requires_grad=False)
        self.scale_factor = _from_one("scale_factor", scale_factor)
        if self.scale_factor == 1:
            raise ArgumentError(f"scale_factor must be above 1, got {scale_factor!r}.")
        if isinstance(scale_window, bool) or not isinstance(scale_window, int) or scale_window < 1:
            raise ArgumentError(f"scale_window must be a positive int, got {scale_window!r}.")
        self.scale_window = scale_window
        self._finite_steps = 0

    def _guarded(self) -> dict[str, Any]:
        return {"scale_value": self.scale_value}

    def scale(self, inputs: Any) -> Any:
        """``inputs`` times the scale."""
        return tree_map(lambda v: np.multiply(v, self._scale_for(v)), inputs)

    def unscale(self, inputs: Any) -> Any:
        """``inputs`` divided by the scale."""
        return tree_map(lambda v: np.divide(v, self._scale_for(v)), inputs)

    def _scale_for(self, value: Any) -> Any:
        return self.scale_value.astype(getattr(value, "dtype", np.float64))

    def adjust(self, grads_finite: Any) -> bool:
        """Move the scale by whether the last gradients were finite: always True.

        The scale never falls below 1, and never grows to infinity.
        """
        if current() is not None:
            raise TracingError.here("adjust was called inside a traced function; call it outside.")
        scale = float(self.scale_value)
        if not bool(grads_finite):
            self.scale_value.set_data(max(scale / self.scale_factor, 1.0))
            self._finite_steps = 0
            return True
        self._finite_steps += 1
        if self._finite_steps == self.scale_window:
            self._finite_steps = 0
            grown = scale * self.scale_factor
            if grown <= float(np.finfo(self.scale_value.dtype).max):
                self.scale_value.set_data(grown)
        return True


def all_finite(inputs: Any) -> Any:
    """Whether no element of the arrays in ``inputs`` (an array, or nested tuples and lists) is infinite or NaN.

    >>> print(all_finite((np.array([1.0]), np.array([np.inf]))))
    False
    """
    finite = [np.all(np.isfinite(v)) for v in flatten(inputs)[0]]
    if current() is None:
        return Tensor(all(finite))
    return np.all(np.stack(finite)) if finite else np.True_


def _from_one(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 1 <= value < np.inf:
        raise ArgumentError(f"{name} must be a finite number, 1 or more, got {value!r}.")
    return float(value)
