"""``symgrad.load``: a derivative that was exported as JSON, as a function to go on with."""

from .function import LoadedFunction, load

__all__ = ["LoadedFunction", "load"]
