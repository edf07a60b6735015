"""Functions of numbers that a traced function applies to arrays: np.vectorize, np.frompyfunc, np.apply_along_axis."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .dispatch import refuse
from .making import array_of


class Vectorized:
    """A function of numbers as one of arrays, which it is called for element by element.

    What is ``excluded``, by place or by name, is given to it whole. Of each of the other arguments it takes an array of
    its last ``axes``, one number for each of them. Where it is ``tried``, it is called for the first element twice, as
    NumPy does to find the dtype.
    """

    def __init__(
        self,
        function: Callable,
        otypes: Any = None,
        excluded: Collection[int | str] = (),
        axes: Sequence[int] = (),
        tried: bool = False,
    ) -> None:
        self.function = function
        self.tried = tried
        self.otypes = otypes
        self.excluded = excluded
        self.axes = axes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        arrays = {
            key: v if hasattr(v, "shape") else array_of(v) if isinstance(v, (list, tuple)) else np.asarray(v)
            for key, v in given.items()
            if key not in self.excluded
        }
        inner = dict(zip(arrays, [*self.axes, *[0] * len(arrays)], strict=False))
        for key, a in arrays.items():
            if a.ndim < inner[key]:
                raise ArgumentError.here(
                    f"np.vectorize: an array of {a.ndim} axes is given where {inner[key]} are taken."
                )
        lead = {key: tuple(a.shape[: a.ndim - inner[key]]) for key, a in arrays.items()}
        shape = np.broadcast_shapes(*lead.values())
        size = int(np.prod(shape))
        if not size:
            refuse("a function that is called for each element has nothing to be called for in an empty array.")
        flat = {}
        for key, a in arrays.items():
            core = tuple(a.shape[a.ndim - inner[key] :])
            flat[key] = np.broadcast_to(a, (*shape, *core)).reshape((-1, *core))
        order = [0] * self.tried + list(range(size))
        made = [self._called(given, {key: a[k] for key, a in flat.items()}, len(args)) for k in order][self.tried :]
        if not isinstance(made[0], tuple):
            return self._array(made, 0, shape)
        return tuple(self._array([m[j] for m in made], j, shape) for j in range(len(made[0])))

    def _called(self, given: dict[Any, Any], elements: dict[Any, Any], count: int) -> Any:
        own = {**given, **elements}
        return self.function(*[own.pop(k) for k in range(count)], **own)

    def _array(self, values: list, place: int, shape: tuple) -> Any:
        dtype = self.otypes[place] if self.otypes else getattr(values[0], "dtype", None) or np.asarray(values[0]).dtype
        if not self.otypes and dtype.kind in "biu" and array_of(values).dtype.kind in "fc":
            refuse(
                f"np.vectorize takes the dtype of the first result, which is {dtype} here, and would cut the others: "
                "return floats alone, or give otypes=[float]."
            )
        whole = (*shape, *np.shape(values[0]))
        return array_of(values, dtype).reshape(whole)


def vectorized(function: np.vectorize, follow: Callable[[Callable], Callable]) -> Callable:
    """What stands for an ``np.vectorize``."""
    otypes, axes = function.otypes, []
    if function.signature is not None:
        inputs, _, _ = function.signature.partition("->")
        axes = [len([d for d in core.split(",") if d.strip()]) for core in re.findall(r"\(([^)]*)\)", inputs)]
    known = None if otypes is None or "O" in otypes else otypes
    tried = not (otypes or function.cache or function.signature)
    return Vectorized(follow(function.pyfunc), known, excluded=function.excluded, axes=axes, tried=tried)


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
