"""Factors with more vectors than a decomposition determines: those that it does may be taken, no others."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..errors import UnsupportedOperation
from .tracer import Tracer


def _spaced(places: np.ndarray) -> tuple[int, int | None, int]:
    """Evenly spaced places as a slice of them."""
    if not places.size:
        return 0, 0, 1
    step = int(places[1] - places[0]) if places.size > 1 else 1
    end = int(places[-1]) + step
    return int(places[0]), end if end >= 0 else None, step


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
        parts = list(index) if isinstance(index, tuple) else [index]
        at = next((k for k, p in enumerate(parts) if p is Ellipsis), None)
        if at is not None:
            parts[at : at + 1] = [slice(None)] * (self.ndim - len(parts) + 1)
        parts += [slice(None)] * (self.ndim - len(parts))
        if len(parts) == self.ndim and all(isinstance(p, (int, np.integer, slice)) for p in parts):
            own = parts[self._axis]
            places = np.arange(self._length)[own]
            if np.all(places < self._thin.shape[self._axis]):
                steps = isinstance(own, slice)  # counted from the start: from the end there are fewer
                parts[self._axis] = slice(*_spaced(places)) if steps else int(places)
                return self._thin[tuple(parts)]
        self._refuse()

    def _refuse(self) -> NoReturn:
        count = self._thin.shape[self._axis]
        vectors = f"[:, :{count}]" if self._axis == -1 else f"[:{count}]"
        raise UnsupportedOperation.here(
            f"{self._name} of a matrix that is not square with full_matrices=True: the vectors beyond the first "
            f"{count} are any basis, and have no derivative. Take {vectors} of them, or say full_matrices=False."
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
