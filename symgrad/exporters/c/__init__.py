"""The format ``c``: C99 that stands alone, and a ``main`` that checks it."""

from .document import source

__all__ = ["source"]
