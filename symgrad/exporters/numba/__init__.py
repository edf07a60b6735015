"""The format ``numba``: a Python module whose loops numba compiles."""

from .document import module

__all__ = ["module"]
