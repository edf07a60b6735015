"""NativeCode: a program planned for the C compiler, built now or in the background."""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable

from ...errors import BackendError
from ...program.collector import collector_paused
from ...program.forks import in_each_child
from ...program.program import Program
from . import compiler
from .points import for_loops
from .writer import Functions, NativeWriter


class NativeCode:
    """A program as Python source that calls compiled steps. Nothing is planned before it is asked for.

    Codes that share ``functions`` are built together, by one run of the compiler, with the first that is.
    """

    def __init__(self, program: Program, functions: Functions | None = None) -> None:
        self.program = program
        #: seconds that the C compiler took, 0 where what it made was kept
        self.seconds = 0.0
        self._functions = Functions() if functions is None else functions
        self._writer: NativeWriter | None = None

    @property
    def writer(self) -> NativeWriter:
        """The plan; a ``cached_property`` of Python 3.11 would make a call wait for the plan of another program."""
        if self._writer is None:
            with collector_paused():
                writer = NativeWriter(for_loops(self.program), self._functions)
                self._python = writer.write()
            self._writer = writer
        return self._writer

    @property
    def source(self) -> str:
        """The Python source and the C functions that it calls."""
        _ = self.writer
        functions = [text.replace("@", str(k)) for k, text in enumerate(self._functions)]
        return "\n\n".join([self._python, *self._functions.library.values(), *functions])

    def _c_source(self) -> str:
        if not self.writer.compiles:
            raise BackendError("nothing in it is for the C compiler: NumPy computes all of it")
        if len(self._functions) > _MAX_FUNCTIONS:
            raise BackendError(f"it needs {len(self._functions)} different C functions, more than {_MAX_FUNCTIONS}")
        chain = compiler.toolchain()
        if chain is None:
            raise BackendError(compiler.why_none())
        return chain.source(list(self._functions), list(self._functions.library.values()))

    def kept(self) -> Callable | None:
        """The function, where an earlier build of the same C source is at hand."""
        if compiler.toolchain(asks=False) is None:
            return None
        library = compiler.known(self._c_source())
        return None if library is None else self._function(library)

    def build(self) -> Callable:
        """The function, built where it must be; a BackendError says why it cannot."""
        library = compiler.compiled(self._c_source())
        self.seconds = library.seconds
        return self._function(library)

    def _function(self, library: compiler.Library) -> Callable:
        return self.writer.bind(self._python, library.library)


#: C functions beyond which the compiler takes longer than it can save
_MAX_FUNCTIONS = 400


class Builds:
    """One thread that builds what it is given, in order, while the interpreter goes on."""

    def __init__(self) -> None:
        self._begin()
        in_each_child(self._begin)

    def _begin(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        #: changes in a child process, where nothing of what was added is built
        self.life = object()

    def add(self, job: Callable[[], None]) -> None:
        """Run ``job`` after those before it."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="symgrad-builds", daemon=True)
                self._thread.start()
                atexit.register(self._stop)
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()

    def _stop(self) -> None:
        """At the end of the process: forget what waits, end the compiler that runs, so that it leaves nothing."""
        while not self._jobs.empty():
            self._jobs.get_nowait()
        self._jobs.put(None)
        compiler.interrupt()
        if self._thread is not None:
            self._thread.join(timeout=5)


BUILDS = Builds()
