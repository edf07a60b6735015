"""Linear maps along the rows of Series and DataFrames: each is done to an identity, and its weights are kept."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .labelled_places import OTHERWISE, missing_of
from .labelled_statistics import no_method
from .labels import Labels, refuse
from .local_array import holds_traced

if TYPE_CHECKING:
    from .labelled import LabelledTracer

#: elements along a linear map
MAX_LINEAR = 2_000


def mapped_by(weights: np.ndarray, x: Any, axis: int) -> Any:
    """The linear map whose rows are ``weights`` of the elements along an axis; rows with NaN give NaN."""
    nothing: Any = np.any(np.isnan(weights), axis=-1)
    found = np.tensordot(np.where(nothing[..., None], 0.0, weights), x, (-1, axis))
    if np.any(nothing):
        found = np.where(nothing.reshape(nothing.shape + (1,) * (found.ndim - nothing.ndim)), np.nan, found)
    return found


class _ExponentialWindows:
    """``x.ewm(…)``: its means and sums are linear, and its variances those by the weights of its means."""

    def __init__(self, value: LabelledTracer, make: Callable[[Any], Any]) -> None:
        self._value = value._of_numbers()
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name not in ("sum", "mean"):
            return no_method(self, name)
        return lambda: _mapped(self._value, lambda v: getattr(self._make(v), name)(), name)

    def var(self, bias: bool = False) -> Any:
        own = self._value
        weights = _weights_of(own, lambda v: self._make(v).mean(), "var")
        means = self.mean()._array
        far = (own._array - np.expand_dims(means, 1)) ** 2
        made = np.sum(np.reshape(weights, (*weights.shape, *[1] * (own.ndim - 1))) * far, axis=1)
        if bias:
            return own._with(made)
        rest = 1 - np.sum(weights**2, axis=1)
        scale = np.where(rest > 0, 1 / np.where(rest > 0, rest, 1.0), np.nan)
        return own._with(made * np.reshape(scale, (-1, *[1] * (own.ndim - 1))))

    def std(self, bias: bool = False) -> Any:
        made = self.var(bias)
        is_positive = made._array > 0  # that of one element is 0, whose root has no slope
        return made._with(np.where(is_positive, np.sqrt(np.where(is_positive, made._array, 1.0)), made._array))


def ewm(self: LabelledTracer, *args: Any, **kwargs: Any) -> Any:
    if self._labels.dims is not None or holds_traced((args, kwargs)):
        refuse(f"{self._name}.ewm with these arguments", OTHERWISE)
    return _ExponentialWindows(self, operator.methodcaller("ewm", *args, **kwargs))


def _weights_of(value: LabelledTracer, make: Callable[[Any], Any], what: str, fills: bool = False) -> np.ndarray:
    """The matrix of what ``make``, which is linear along the first axis, does.

    ``fills`` where it sees NaN in rows without values, and puts others there.
    """
    count, missing = len(value), missing_of(value._array)
    where = None if missing is None else np.reshape(missing, (count, -1))
    if count > MAX_LINEAR or where is None or np.any(where != where[:, :1] if fills else where):
        refuse(f"{value._name} with NaN, or of more than {MAX_LINEAR} rows: its {what} here", OTHERWISE)
    like = value._labels.without_values()
    frame = type(like.to_frame() if like.ndim == 1 else like)
    rows = np.eye(count)
    rows[np.any(where, axis=1)] = np.nan
    return np.asarray(make(frame(rows, index=like.index)))


def _mapped(value: LabelledTracer, make: Callable[[Any], Any], what: str) -> Any:
    """What ``make``, which is linear along the first axis where no value is NaN, makes of a Series or a DataFrame."""
    own = value._of_numbers()
    weights = _weights_of(own, make, what)
    return type(value)(mapped_by(weights, own._array, 0), Labels(make(own._labels.without_values())))


def interpolate(self: LabelledTracer, *args: Any, **kwargs: Any) -> Any:
    """``x.interpolate(…)``, which is linear in what is there."""
    if self._labels.dims is not None:
        refuse(f"{self._name}.interpolate", "Write interp(…)")
    make = operator.methodcaller("interpolate", *args, **kwargs)
    weights = _weights_of(self, make, "interpolate", fills=True)
    return self._with(mapped_by(weights, np.where(missing_of(self._array), 0.0, self._array), 0))
