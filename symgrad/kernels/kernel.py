"""Kernel: a lowered Program that can be called, and that shows its source."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import BackendError
from ..passes.constants import fold_constants
from ..passes.gates import float_gates
from ..passes.grams import expose_grams
from ..passes.marks import strip_marks
from ..passes.products import absorb_products
from ..passes.transposes import share_transposes
from ..program.dims import is_concrete, size
from ..program.program import Program
from .numexpr_backend import PAYS_FROM, NumexprWriter
from .numpy_backend import Writer

BACKENDS = ("auto", "numpy", "numexpr")


class Kernel:
    """``kernel(*arrays)`` computes the outputs; ``source`` is the code, ``backend`` what it runs on."""

    def __init__(self, program: Program, backend: str, source: str, function: Callable) -> None:
        self.program = program
        self.backend = backend
        self.source = source
        self._function = function

    def __call__(self, *arrays: Any) -> tuple:
        with np.errstate(all="ignore"):
            return self._function(*arrays)

    def __repr__(self) -> str:
        return f"<kernel on {self.backend}: {len(self.program.bindings)} bindings>"


def optimized(program: Program) -> Program:
    """``program`` after the passes that every kernel wants."""
    return share_transposes(expose_grams(absorb_products(float_gates(strip_marks(program)))))


def lower(program: Program, backend: str = "auto") -> Kernel:
    """Compile ``program`` for a backend: ``numpy``, ``numexpr``, or ``auto``: numexpr for large regions."""
    check_backend(backend)
    ready = fold_constants(optimized(program))
    writer = _writer(ready, backend)
    source = writer.write()
    used = "numexpr" if isinstance(writer, NumexprWriter) and writer.regions else "numpy"
    return Kernel(ready, used, source, compiled(source, writer.namespace))


def _writer(program: Program, backend: str) -> Writer:
    if backend == "numexpr":
        return NumexprWriter(program)
    large = any(is_concrete(n.shape) and size(n.shape) >= PAYS_FROM for n in program.bindings)
    if backend == "auto" and large and importlib.util.find_spec("numexpr"):
        return NumexprWriter(program, PAYS_FROM)
    return Writer(program)


def compiled(source: str, namespace: dict[str, Any]) -> Callable:
    """The function ``kernel`` that ``source`` defines; the source is symgrad's own."""
    exec(compile(source, "<symgrad kernel>", "exec"), namespace)
    return namespace["kernel"]


def check_backend(backend: str) -> None:
    """A BackendError where ``backend`` is not one of BACKENDS."""
    if backend not in BACKENDS:
        raise BackendError(f"backend={backend!r} is unknown; choose one of {', '.join(map(repr, BACKENDS))}.")
