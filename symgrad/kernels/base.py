"""Kernel: a lowered Program that can be called, and that shows its source."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..pickling import OfOneProcess
from ..program.forks import cached_property
from ..program.program import Program
from .backend import checked_backend
from .explanation import Explanation, Step

#: a context in which NumPy says nothing; a copy of it is entered faster than ``np.errstate``
_QUIET = contextvars.Context()
_QUIET.run(np.seterr, all="ignore")


class Kernel(OfOneProcess):
    """``kernel(*arrays)`` computes the outputs; ``source`` is the code, ``backend`` what it runs on."""

    #: whether NumPy may warn of values while the function runs
    needs_errstate = True
    #: why compiled C does not serve, where it was asked for
    why_not = ""

    def __init__(
        self,
        program: Program,
        backend: str,
        source: str,
        function: Callable,
        steps: Callable[[], Sequence[Step]] = tuple,
    ) -> None:
        """``steps`` says what the kernel does, where that is asked."""
        self.program = program
        self._steps = steps
        self._backend = backend
        self._source = source
        self._function = function

    @property
    def backend(self) -> str:
        return self._backend

    @property
    def source(self) -> str:
        return self._source

    def explain(self) -> Explanation:
        """What the kernel does step by step, where each runs and why.

        >>> import numpy as np, symgrad
        >>> g = symgrad.grad(lambda x: np.sum(np.sin(x)), backend="numpy")
        >>> print(g.kernel(np.ones(3)).explain())
        kernel on numpy: 1 step, 3 operations; NumPy's own calls, its values to the bit
           step  over  operations  bytes  on     why
        0  cos   3     3           48 B   numpy  a call of NumPy
        """
        return Explanation(self.backend, self._why(), tuple(self._steps()))

    @property
    def compile_seconds(self) -> float:
        """What the C compiler took; 0 where it did not run, or where an earlier build served."""
        return 0.0

    def ready(self, timeout: float | None = None) -> bool:
        """Wait for compiled C, where it is expected to pay; True where it serves from now on."""
        return self.backend == "native"

    def _why(self) -> str:
        said = [f"not compiled, since {self.why_not}"] if self.why_not else []
        return "; ".join([checked_backend(self.backend).about, *said, *self.program.graph.unrolled])

    @cached_property
    def call(self) -> Callable[..., tuple]:
        """What ``kernel(*arrays)`` runs now, as a plain function; some kernels run another one later."""
        return quiet(self._function) if self.needs_errstate else self._function

    def __call__(self, *arrays: Any) -> tuple:
        return self.call(*arrays)

    def __repr__(self) -> str:
        return f"<kernel on {self.backend}: {len(self.program.bindings)} bindings>"


def quiet(function: Callable[..., tuple]) -> Callable[..., tuple]:
    """``function`` without NumPy's warnings of values."""

    def call(*arrays: Any) -> tuple:
        return _QUIET.copy().run(function, *arrays)

    return call
