"""The functions that numba lacks, or has with other rules than NumPy for NaN, zero and signs."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import UnsupportedOperation
from .texts import NEEDS, TEXTS


class Library:
    """The functions that a text calls. They begin with an underscore, as no name of a user does."""

    def __init__(self) -> None:
        self._used: dict[str, None] = {}

    def use(self, name: str) -> str:
        """The Python name of a function, which is written from now on."""
        if name not in self._used:
            if name not in TEXTS:
                raise UnsupportedOperation(f"{name} has no form in numba; export it as python.")
            for needed in NEEDS.get(name, ()):
                self.use(needed)
            self._used[name] = None
        return f"_{name}"

    def texts(self) -> Iterator[str]:
        """The functions."""
        for name in self._used:
            yield '@njit(error_model="numpy")\n' + TEXTS[name].strip()
