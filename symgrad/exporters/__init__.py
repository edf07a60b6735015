"""Exporters: a derivative as text that stands alone, one file a format.

Every format is a function of a ``Subject``. Users' names reach a target only through ``naming`` and ``header``.
"""

from __future__ import annotations

import errno
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, UnsupportedOperation
from ..passes.as_read import as_read
from ..passes.complex_parts import in_parts
from ..passes.expansion import expand_formulas
from ..passes.unrolling import unrolled
from ..primitives.external import External
from ..program.program import Program
from .sources import Sources
from .subject import Subject


@dataclass(frozen=True)
class Format:
    """A format: the function that writes it, and what a file of it is called.

    It gives a text, bytes, Sources, or live objects. Where it ``names_operations`` it is given those that a user has
    registered, where not their formulas; where it ``names_functions`` it can hold functions that run as they are.
    Where it ``writes_loops`` it is given those of the program, where not their steps one after the other. Where it is
    ``real_only`` it is given complex numbers in their parts, as far as operations are known. Where it ``is_read`` it
    is given the forms that people write.
    """

    write: Callable[[Subject], Any]
    suffix: str
    about: str
    names_operations: bool = False
    names_functions: bool = False
    writes_loops: bool = False
    real_only: bool = False
    is_read: bool = False

    def make(self, subject: Subject) -> Any:
        """``subject`` in this format."""
        if not self.names_functions:
            _refuse_functions(subject)
        if not self.writes_loops:
            subject = _changed(subject, unrolled)
        if self.is_read:
            subject = _changed(subject, as_read)
        if not self.names_operations:
            subject = _changed(subject, expand_formulas)
        return self.write(_changed(subject, in_parts) if self.real_only else subject)


def _refuse_functions(subject: Subject) -> None:
    """An UnsupportedOperation where a function runs as it is, of which nothing but its name is known."""
    found = next((n for n in subject.guarded.every_node if isinstance(n.primitive, External)), None)
    if found is not None:
        others = ", ".join(name for name, format in FORMATS.items() if format.names_functions)
        raise UnsupportedOperation(
            f"{found.primitive.spell(found)} is a custom function, which runs as it is: this format cannot hold it. "
            f"Those that give its name can: {others}."
        )


def _changed(subject: Subject, change: Callable[[Program], Program]) -> Subject:
    """``subject`` with its programs changed, such as to symgrad's own operations, as far as formulas are known."""
    program, traced = change(subject.guarded), change(subject.traced)
    if program is subject.guarded and traced is subject.traced:
        return subject
    count, sparse = len(subject.program.outputs), subject.as_sparse
    return replace(
        subject,
        program=program.with_outputs(program.outputs[:count]),
        conditions=program.outputs[count:],
        traced=traced,
        as_sparse=sparse and (lambda: _changed(sparse(), change)),
    )


def _writer(module: str, function: str) -> Callable[[Subject], Any]:
    """The function of a module of this package, which is imported when it is called."""

    def write(subject: Subject) -> Any:
        return getattr(importlib.import_module(f".{module}", __name__), function)(subject)

    return write


#: every format by its name
FORMATS: dict[str, Format] = {
    "c": Format(_writer("c", "source"), ".c", "C99 with its own check", writes_loops=True, real_only=True),
    "dot": Format(_writer("pictures", "dot"), ".dot", "the program as a Graphviz graph", True, True, True),
    "fortran": Format(
        _writer("fortran", "source"),
        ".f90",
        "the C function, a Fortran module for it, and its check",
        writes_loops=True,
        real_only=True,
    ),
    "jax": Format(_writer("jax", "module"), ".py", "a module of jax.numpy", writes_loops=True),
    "json": Format(
        _writer("program_json", "document"), ".json", "the Program itself, which symgrad.load reads", writes_loops=True
    ),
    "julia": Format(_writer("julia", "source"), ".jl", "a Julia module", writes_loops=True, real_only=True),
    "latex": Format(
        _writer("latex", "latex"), ".tex", "the formulas", names_functions=True, writes_loops=True, is_read=True
    ),
    "markdown": Format(
        _writer("markdown", "markdown"),
        ".md",
        "the formulas and the program",
        names_functions=True,
        writes_loops=True,
        is_read=True,
    ),
    "mathml": Format(
        _writer("mathml", "mathml"),
        ".xml",
        "the formulas as presentation MathML",
        names_functions=True,
        writes_loops=True,
        is_read=True,
    ),
    "numba": Format(
        _writer("numba", "module"), ".py", "a module of loops for numba", writes_loops=True, real_only=True
    ),
    "numexpr": Format(_writer("numexpr_module", "module"), ".py", "numexpr strings and a driver"),
    "onnx": Format(_writer("onnx_model", "model"), ".onnx", "an ONNX model", writes_loops=True, real_only=True),
    "python": Format(_writer("python", "module"), ".py", "a module of NumPy alone", writes_loops=True),
    "svg": Format(_writer("pictures", "svg"), ".svg", "the picture of that graph", True, True, True),
    "sympy": Format(
        _writer("sympy_objects", "objects"), ".py", "live sympy objects, or a script that makes them", is_read=True
    ),
    "text": Format(_writer("text", "text"), ".txt", "the let-bound program", True, True, True),
    "torch": Format(_writer("torch", "module"), ".py", "a module of torch", writes_loops=True),
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
