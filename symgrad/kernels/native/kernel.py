"""Kernels that run compiled C: at once, or as soon as it pays and is built."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

from ...errors import BackendError
from ...program.program import Program
from ..base import Kernel
from ..explanation import Explanation
from . import compiler
from .calibration import calibrate
from .code import BUILDS, NativeCode
from .prediction import predicted_saving

#: nanoseconds that calls must have cost too much before the compiler is started
_WASTE = 500_000.0
#: bindings from which even the prediction is left to the thread that builds
_LONG = 500
#: nanoseconds a binding that planning takes: the first call looks for an earlier build where it saves more than that
_PLANNING = 100_000.0


class NativeKernel(Kernel):
    """A kernel of compiled C, with the lines of NumPy that stand between."""

    def __init__(self, code: NativeCode, function: Callable[..., tuple]) -> None:
        super().__init__(code.program, "native", "", function, code.writer.steps_told)
        self._code = code
        self.needs_errstate = code.writer.calls_numpy

    @classmethod
    def built(cls, *programs: Program) -> list[NativeKernel | None]:
        """The kernels, by one run of the compiler; None where one cannot be built here, or has nothing to compile."""
        functions: dict[str, int] = {}
        codes = [NativeCode(p, functions) for p in programs]
        for code in codes:
            _ = code.writer
        return [cls._of(code) for code in codes]

    @classmethod
    def or_plain(cls, program: Program, plain: Callable[[], Kernel]) -> Kernel:
        """The kernel; where it cannot be built here, the one that ``plain`` makes, which says why."""
        code = NativeCode(program)
        try:
            return cls(code, code.build())
        except BackendError as error:
            compiler.warn()
            made = plain()
            made.why_not = str(error)
            return made

    @classmethod
    def _of(cls, code: NativeCode) -> NativeKernel | None:
        try:
            return cls(code, code.build())
        except BackendError:
            return None

    @property
    def source(self) -> str:
        return self._code.source

    @property
    def compile_seconds(self) -> float:
        return self._code.seconds


class TieredKernel(Kernel):
    """NumPy's kernel first, and the compiled one from when it is built; ``backend`` says which one serves."""

    def __init__(self, program: Program, plain: Callable[[], Kernel]) -> None:
        self.program = program
        self._make_plain = plain
        long = len(program.bindings) > _LONG
        self._saving = _WASTE if long else predicted_saving(program)  # of a long one more is known after its first call
        self._waste = 0.0
        self._native: NativeKernel | None = None
        self._settled = threading.Event()
        self._asked = False
        self._running: Callable[..., tuple] = self._first if self._saving > 0 else self._only_plain
        #: why no compiled kernel serves, once that is known
        self.why_not = "" if self._saving > 0 else "compiled C is not expected to be faster"

    @cached_property
    def plain(self) -> Kernel:
        """The kernel without compiled code."""
        return self._make_plain()

    @property
    def backend(self) -> str:
        return (self._native or self.plain).backend

    @property
    def source(self) -> str:
        return (self._native or self.plain).source

    @property
    def compile_seconds(self) -> float:
        return self._native.compile_seconds if self._native else 0.0

    @cached_property
    def call(self) -> Callable[..., tuple]:
        return self._dispatch

    def _dispatch(self, *arrays: Any) -> tuple:
        return self._running(*arrays)

    def _only_plain(self, *arrays: Any) -> tuple:
        self._running = self.plain.call
        return self._running(*arrays)

    def _first(self, *arrays: Any) -> tuple:
        if self._saving >= _PLANNING * len(self.program.bindings):
            self._build(False)
            if self._native is not None:
                return self._native.call(*arrays)
        self._running = self._counted
        return self._counted(*arrays)

    def _counted(self, *arrays: Any) -> tuple:
        """A call of the plain kernel; when enough has been lost by it, the compiler is started."""
        results = self.plain.call(*arrays)
        self._waste += self._saving
        if self._waste >= _WASTE:
            self._start()
        return results

    def _start(self) -> None:
        if not self._asked:
            self._asked = True
            self._running = self.plain.call
            BUILDS.add(lambda: self._build(True))

    def _build(self, compiles: bool) -> None:
        """Go on with the compiled kernel, where it is kept from before or, if it ``compiles``, can be built."""
        try:
            if compiles and predicted_saving(self.program) <= 0:
                raise BackendError("compiled C is not expected to be faster")
            code = NativeCode(self.program)
            function = code.build() if compiles else code.kept()
            if function is not None:
                self._native = NativeKernel(code, function)
                self._running = self._native.call
                self.__dict__.pop("plain", None)  # its buffers and code are memory that nothing uses any more
        except BackendError as error:
            self.why_not = str(error)
            self._running = self._told
        finally:
            if compiles or self._native is not None:
                self._settled.set()
        if compiles:
            calibrate(NativeKernel.built)

    def _told(self, *arrays: Any) -> tuple:
        self._running = self.plain.call
        compiler.warn()
        return self._running(*arrays)

    def explain(self) -> Explanation:
        told = (self._native or self.plain).explain()
        if self._native is not None or not self.why_not:
            waiting = "" if self._native is not None else "; compiled C takes over when enough calls have been made"
            return replace(told, why=told.why + waiting)
        return replace(told, why=f"{told.why}; not compiled, since {self.why_not}")

    def ready(self, timeout: float | None = None) -> bool:
        if self._saving > 0 and not self._settled.is_set():
            self._start()
            self._settled.wait(timeout)
        return self._native is not None
