"""Functions of numbers that a traced function applies to arrays: np.vectorize, np.frompyfunc, np.apply_along_axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .dispatch import refuse
from .making import array_of


class Vectorized:
    """A function of numbers as one of arrays, which it is called for element by element."""

    def __init__(self, function: Callable, otypes: Any = None, count: int = 1) -> None:
        self.function = function
        self.otypes = otypes
        self.count = count

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arrays = [
            v if hasattr(v, "shape") else array_of(v) if isinstance(v, (list, tuple)) else np.asarray(v) for v in args
        ]
        shape = np.broadcast_shapes(*[tuple(a.shape) for a in arrays])
        flat = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
        size = int(np.prod(shape))
        if not size:
            refuse("a function that is called for each element has nothing to be called for in an empty array.")
        made = [self.function(*[a[k] for a in flat], **kwargs) for k in range(size)]
        if not isinstance(made[0], tuple):
            return self._array(made, 0, shape)
        return tuple(self._array([m[j] for m in made], j, shape) for j in range(len(made[0])))

    def _array(self, values: list, place: int, shape: tuple) -> Any:
        dtype = self.otypes[place] if self.otypes else getattr(values[0], "dtype", None) or np.asarray(values[0]).dtype
        if not self.otypes and dtype.kind in "biu" and array_of(values).dtype.kind in "fc":
            refuse(
                f"np.vectorize takes the dtype of the first result, which is {dtype} here, and would cut the others: "
                "return floats alone, or give otypes=[float]."
            )
        made = array_of(values, dtype).reshape(shape)
        return made if shape else made[()]


def vectorized(function: np.vectorize, follow: Callable[[Callable], Callable]) -> Callable:
    """What stands for an ``np.vectorize``."""
    if function.signature is not None or function.excluded:
        refuse("np.vectorize with a signature, or with arguments left out, is not supported on traced values.")
    otypes = function.otypes
    return Vectorized(follow(function.pyfunc), None if otypes is None or "O" in otypes else otypes)


def along_axis(function: Callable, axis: int, array: Any, *args: Any, **kwargs: Any) -> Any:
    """``np.apply_along_axis``."""
    moved = np.moveaxis(array, axis, -1)
    lead = tuple(moved.shape[:-1])
    rows = [function(moved[at], *args, **kwargs) for at in np.ndindex(*lead)]
    made = array_of(rows)
    made = made.reshape(lead + tuple(made.shape[1:]))
    count = made.ndim - len(lead)
    places = [axis % moved.ndim + k for k in range(count)]
    return np.moveaxis(made, list(range(len(lead), made.ndim)), places) if count else made
