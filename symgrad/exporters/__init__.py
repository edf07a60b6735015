"""Exporters: a derivative as text that stands alone, one file a format.

Every format is a function of a ``Subject``. Users' names reach a target only through ``naming`` and ``header``.
"""

from __future__ import annotations

import errno
import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from .sources import Sources
from .subject import Subject


@dataclass(frozen=True)
class Format:
    """A format: the module of this package and the function in it that writes it, and what a file of it is called."""

    module: str
    function: str
    suffix: str
    about: str

    def make(self, subject: Subject) -> Any:
        """``subject`` in this format: a text, bytes, Sources, or live objects."""
        return getattr(importlib.import_module(f".{self.module}", __name__), self.function)(subject)


#: every format by its name
FORMATS: dict[str, Format] = {
    "c": Format("c", "source", ".c", "C99 with its own check"),
    "dot": Format("pictures", "dot", ".dot", "the program as a Graphviz graph"),
    "fortran": Format("fortran", "source", ".f90", "a Fortran module with its own check"),
    "jax": Format("jax", "module", ".py", "a module of jax.numpy"),
    "json": Format("program_json", "document", ".json", "the Program itself, which symgrad.load reads"),
    "julia": Format("julia", "source", ".jl", "a Julia module"),
    "latex": Format("latex", "latex", ".tex", "the formulas"),
    "markdown": Format("markdown", "markdown", ".md", "the formulas and the program"),
    "mathml": Format("mathml", "mathml", ".xml", "the formulas as presentation MathML"),
    "numba": Format("numba", "module", ".py", "a module of loops for numba"),
    "numexpr": Format("numexpr_module", "module", ".py", "numexpr strings and a driver"),
    "onnx": Format("onnx_model", "model", ".onnx", "an ONNX model"),
    "python": Format("python", "module", ".py", "a module of NumPy alone"),
    "svg": Format("pictures", "svg", ".svg", "the picture of that graph"),
    "sympy": Format("sympy_objects", "objects", ".py", "live sympy objects, or a script that makes them"),
    "text": Format("text", "text", ".txt", "the let-bound program"),
    "torch": Format("torch", "module", ".py", "a module of torch"),
}


def export(subject: Subject, format: str, path: str | Path | None = None) -> Any:
    """``subject`` in ``format``, which is also written to ``path`` where that is given."""
    if path is not None and Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    made = checked_format(format).make(subject)
    if path is not None:
        _write(made, Path(path))
    return made


def checked_format(name: str) -> Format:
    """The format of this name; an ArgumentError that lists them for another one."""
    if not isinstance(name, str) or name not in FORMATS:
        raise ArgumentError(f"format {name!r} is unknown; choose one of {', '.join(FORMATS)}.")
    return FORMATS[name]


def _write(made: Any, path: Path) -> None:
    if isinstance(made, Sources):
        for name, text in made.items():
            (path.parent / name).write_text(text, encoding="utf-8")
    elif isinstance(made, bytes):
        path.write_bytes(made)
    else:
        path.write_text(made, encoding="utf-8")
