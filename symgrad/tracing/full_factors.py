"""Factors with more vectors than a decomposition determines: those that it does may be taken, no others."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..errors import UnsupportedOperation
from ..primitives.primitive import input_node
from ..program.dims import is_concrete
from .indexing import expanded, is_array, spec_entry
from .tracer import Tracer


class FullFactor(np.lib.mixins.NDArrayOperatorsMixin):
    """``U`` of ``np.linalg.svd(A)``, ``A`` not square: ``thin`` along an axis, then vectors that may be any basis.

    ``U[:, :k]`` is that of the thin one, which has a derivative; whatever reads further is an UnsupportedOperation.
    """

    def __init__(self, thin: Tracer, axis: int, length: int, name: str) -> None:
        self._thin, self._axis, self._length, self._name = thin, axis, length, name

    @property
    def shape(self) -> tuple:
        """That of all vectors."""
        sizes = list(self._thin.shape)
        sizes[self._axis] = self._length
        return tuple(sizes)

    @property
    def dtype(self) -> np.dtype:
        """That of the vectors."""
        return self._thin.dtype

    @property
    def ndim(self) -> int:
        """That of the vectors."""
        return self._thin.ndim

    def __getitem__(self, index: Any) -> Any:
        entries = expanded(input_node(self._name, self.shape, self.dtype), index)
        if not any(e is None or is_array(e) for e in entries):
            taken = spec_entry(entries[self._axis], self._length)
            first, count, step = taken if isinstance(taken, tuple) else (taken, 1, 1)
            end = first + count * step
            if not count or (is_concrete((first, end)) and max(first, end - step) < self._thin.shape[self._axis]):
                entries[self._axis] = slice(first, end if end >= 0 else None, step) if taken is not first else first
                return self._thin[tuple(entries)]
        self._refuse()

    def _refuse(self) -> NoReturn:
        count = self._thin.shape[self._axis]
        vectors = f"[:, :{count}]" if self._axis == -1 else f"[:{count}]"
        raise UnsupportedOperation.here(
            f"{self._name} of a matrix that is not square with full_matrices=True: the vectors beyond the first "
            f"{count} are any basis, and have no derivative. Take {vectors} of them, or say "
            "full_matrices=False, which leaves the others out. The null vector of A, where there is one, is "
            "np.linalg.eigh(A.T @ A)[1][:, 0], up to its sign."
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        self._refuse()

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        self._refuse()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self._refuse()

    @property
    def _symgrad_node(self) -> NoReturn:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()
