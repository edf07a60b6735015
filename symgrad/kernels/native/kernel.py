"""Kernels that run compiled C: at once, or as soon as it pays and is built."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...errors import BackendError
from ...program.forks import cached_property
from ...program.program import Program
from ..base import Kernel
from ..explanation import Explanation
from . import compiler
from .calibration import calibrate
from .code import BUILDS, NativeCode
from .prediction import predicted_saving
from .trial import Trial, clock
from .writer import Functions

#: nanoseconds that calls must have cost too much before the compiler is started
_WASTE = 500_000.0
#: of the time that calls of NumPy take what C might save although that is not expected
_DOUBT = 1 / 1000
#: how much later both are tried again
_LATER = 4.0
#: bindings from which even the prediction is left to the thread that builds
_LONG = 500
#: nanoseconds a binding that planning takes: the first call looks for an earlier build where it saves more than that
_PLANNING = 100_000.0
#: how often a compiled kernel runs in the time of planning the plain one before that is planned, to compare
_SPARED = 10.0
#: nanoseconds of its calls before they are compared again
_EARLIEST = 2e8
#: nanoseconds of its calls after which it is compared no more
_SETTLED = 2e9
#: nanoseconds from which what the first call may save is worth waiting for the compiler
_WORTH_WAITING = 1e9
#: how many times the time of a compiled call has to be saved for a trial to be spared, where trying takes so long
_CLEARLY = 10.0
#: nanoseconds of a call of a derivative that its kernel does not take
_AROUND = 2_000
_NOT_EXPECTED = "compiled C is not expected to be faster"


class NativeKernel(Kernel):
    """A kernel of compiled C, with the lines of NumPy that stand between."""

    def __init__(self, code: NativeCode, function: Callable[..., tuple]) -> None:
        super().__init__(code.program, "native", "", function, code.writer.steps_told)
        self._code = code
        self.needs_errstate = code.writer.calls_numpy

    @classmethod
    def built(cls, *programs: Program) -> list[NativeKernel | None]:
        """The kernels, by one run of the compiler; None where one cannot be built here, or has nothing to compile."""
        functions = Functions()
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
    """NumPy's kernel first, the compiled one from when it is built; ``backend`` says which one serves.

    What is expected to pay is only a reason to build: which kernel goes on is decided by a trial of both, and again by
    others ever more rarely, since what held up one of them may be over. What was not expected to pay is tried when
    calls have taken long.
    """

    def __init__(self, program: Program, plain: Callable[[], Kernel]) -> None:
        self.program = program
        self._make_plain = plain
        long = len(program.bindings) > _LONG  # of a long one more is known after its first call
        saving = _WASTE if long else predicted_saving(program)
        self._saving = saving or 0.0
        self._waste, self._limit = 0.0, _WASTE
        self._spared = max(_EARLIEST, _SPARED * _PLANNING * len(program.bindings))
        self._native: NativeKernel | None = None
        self._left = False
        self._settled = threading.Event()
        self._asked: object = None  # the life of the thread that was asked to build
        self.call: Callable[..., tuple] = self._only_plain if saving is None else self._first
        #: why no compiled kernel serves, once that is known
        self.why_not = "" if self._saving > 0 else _NOT_EXPECTED

    @cached_property
    def plain(self) -> Kernel:
        """The kernel without compiled code."""
        return self._make_plain()

    @property
    def _serving(self) -> Kernel:
        return self._native if self._native is not None and not self._left else self.plain

    @property
    def backend(self) -> str:
        return self._serving.backend

    @property
    def source(self) -> str:
        return self._serving.source

    @property
    def compile_seconds(self) -> float:
        return self._native.compile_seconds if self._native else 0.0

    def _only_plain(self, *arrays: Any) -> tuple:
        self.call = self.plain.call
        return self.call(*arrays)

    def _first(self, *arrays: Any) -> tuple:
        self.call = self._counted
        waits = self._saving >= _WORTH_WAITING
        if waits or self._saving >= _PLANNING * len(self.program.bindings):
            self._build(waits, True, False)
        return self.call(*arrays)

    def _counted(self, *arrays: Any) -> tuple:
        """A call of the plain kernel; when enough may have been lost by it, the compiler is started."""
        call = self.plain.call
        began = clock()
        results = call(*arrays)
        self._waste += max(self._saving, _DOUBT * (clock() - began))
        if self._waste >= self._limit:
            self._start()
        return results

    def _unproven(self, *arrays: Any) -> tuple:
        """A call of the compiled kernel; when planning the plain one costs little beside its calls, both are tried."""
        assert self._native is not None
        began = clock()
        results = self._native.call(*arrays)
        taken = clock() - began
        self._waste += taken + _AROUND
        if self._waste >= self._spared:
            if self._saving >= max(_WORTH_WAITING, _CLEARLY * taken):
                self.call = self._native.call
            else:
                self._try(self._native)
        return results

    def _start(self) -> None:
        if self._asked is BUILDS.life:
            return
        self._asked = BUILDS.life
        if self._native is not None:
            self._try(self._native)
            return
        expects = self._saving > 0
        BUILDS.add(lambda: self._build(True, expects, True))

    def _build(self, compiles: bool, expects: bool, tries: bool) -> None:
        """Go on with the compiled kernel, where it is kept from before or, if it ``compiles``, can be built.

        Where that ``expects`` it to pay, it is not built when what is known by now says otherwise; it ``tries`` both
        at once where no call waits for it.
        """
        try:
            if compiles and expects and (predicted_saving(self.program) or 0.0) <= 0:
                self.why_not = _NOT_EXPECTED
                self._count_again(_WASTE)
                return
            code = NativeCode(self.program)
            function = code.build() if compiles else code.kept()
            if function is not None:
                self._native = NativeKernel(code, function)
                if tries:
                    self._try(self._native)
                else:
                    self.call = self._unproven
        except compiler.Stopped as error:
            self.why_not = str(error)
            self._count_again(self._limit * _LATER)
        except BackendError as error:
            self.why_not = str(error)
            self.call = self._told
        finally:
            if compiles or self._native is not None:
                self._settled.set()
        if tries:
            calibrate(NativeKernel.built)
        elif compiles:  # a call waits
            BUILDS.add(lambda: calibrate(NativeKernel.built))

    def _told(self, *arrays: Any) -> tuple:
        self.call = self.plain.call
        compiler.warn()
        return self.call(*arrays)

    def _try(self, native: NativeKernel) -> None:
        """Let the next calls show which kernel is faster."""
        self._left = False
        self.call = Trial(native.call, self.plain.call, self._decide)

    def _decide(self, native_is_faster: bool) -> None:
        if native_is_faster:
            assert self._native is not None
            self._waste, self._spared = 0.0, _LATER * self._spared
            self.call = self._unproven if self._spared < _SETTLED else self._native.call
            self.__dict__.pop("plain", None)  # its buffers and code are memory that nothing uses any more
        else:
            self._left = True
            self.why_not = "compiled C was slower here"
            self._count_again(self._limit * _LATER)

    def _count_again(self, limit: float) -> None:
        """Go on with the plain kernel, and expect nothing but what ``limit`` may show."""
        self._saving, self._waste, self._limit = 0.0, 0.0, limit
        self._asked = None
        self.call = self._counted

    def explain(self) -> Explanation:
        told = self._serving.explain()
        if self._serving is self._native:
            return told
        if self.why_not:
            return replace(told, why=f"{told.why}; not compiled, since {self.why_not}")
        return replace(told, why=f"{told.why}; compiled C takes over when enough calls have been made")

    def ready(self, timeout: float | None = None) -> bool:
        if self._saving > 0 and not self._settled.is_set():
            self._start()
            self._settled.wait(timeout)
        return self._serving is self._native
