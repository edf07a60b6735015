"""Two kernels of one program: what is computed in nearly every call, and the whole where that says it is not all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..program.forks import cached_property
from ..program.program import Program
from .base import Kernel
from .explanation import Explanation


class RareKernel(Kernel):
    """A kernel of what is computed in nearly every call, and where it says that this is not all, one of the whole."""

    def __init__(self, program: Program, usual: Kernel, whole: Callable[[], Kernel], flags: int) -> None:
        """The last ``flags`` outputs of ``usual`` are true where it is not all."""
        self.program = program
        self._usual = usual
        self._make_whole = whole
        self._flags = flags

    @property
    def backend(self) -> str:
        return self._usual.backend

    @property
    def source(self) -> str:
        return self._usual.source

    @property
    def compile_seconds(self) -> float:
        return self._usual.compile_seconds

    def explain(self) -> Explanation:
        return self._usual.explain()

    def ready(self, timeout: float | None = None) -> bool:
        return self._usual.ready(timeout)

    @cached_property
    def _whole(self) -> Kernel:
        return self._make_whole()

    @cached_property
    def call(self) -> Callable[..., tuple]:
        return self._called

    def _called(self, *arrays: Any) -> tuple:
        made = self._usual.call(*arrays)
        for flag in made[-self._flags :]:
            if flag.any():
                return self._whole.call(*arrays)
        return made[: -self._flags]
