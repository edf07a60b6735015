"""Nested values that loops carry and branches give: their arrays, and apart from these what stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..tracing.trace import is_traced
from ..tracing.tree import flatten, leaf_labels, unflatten


class Nested(NamedTuple):
    """A nested value taken apart; ``others`` has for each leaf what stands there, or the mark of an array."""

    arrays: list[Any]
    structure: Any
    others: tuple

    @classmethod
    def of(cls, value: Any, is_array: Callable[[Any], bool] | None = None) -> Nested:
        """The numbers and arrays of ``value``, or those leaves that ``is_array`` is true of."""
        leaves, structure = flatten(value)
        chosen = [(is_array or _is_numeric)(v) for v in leaves]
        others = tuple([_ARRAY if own else v for v, own in zip(leaves, chosen, strict=True)])
        return cls([v for v, own in zip(leaves, chosen, strict=True) if own], structure, others)

    def filled(self, arrays: Iterable[Any]) -> Any:
        """The value with other arrays."""
        rest = iter(arrays)
        return unflatten(self.structure, [next(rest) if v is _ARRAY else v for v in self.others])

    def labels(self, label: str) -> list[str]:
        """What the arrays are called."""
        return self.arrays_of(leaf_labels(label, self.structure))

    def arrays_of(self, leaves: Sequence[Any]) -> list[Any]:
        """Those of something for each leaf that are for arrays."""
        return [own for own, v in zip(leaves, self.others, strict=True) if v is _ARRAY]

    def is_like(self, other: Nested) -> bool:
        """Whether arrays stand in the same places, and the same beside them."""
        return self.structure == other.structure and all(map(_same, self.others, other.others))


_ARRAY = object()


def _is_numeric(leaf: Any) -> bool:
    """True for a number or an array of numbers, traced or not."""
    if is_traced(leaf) or isinstance(leaf, (bool, int, float)):
        return True
    return isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "biufc"


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if a is _ARRAY or b is _ARRAY or type(a) is not type(b) or isinstance(a, np.ndarray):
        return False
    return bool(a == b)
