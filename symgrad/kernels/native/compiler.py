"""The machine's C compiler: found, asked what it can do, and run; what it makes is kept in the disk cache.

``SYMGRAD_CC`` names the compiler; empty, it says that there is none. A compiler that was stopped or hangs has said
nothing about what it can do: that is not kept for other processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import logging
import os
import platform
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from ... import disk_cache
from ...emit.c.spelling import TWO, VECTORISED, declarations
from ...errors import BackendError, CompilerWarning, at_user_line
from ...program.forks import cached_property, in_each_child

#: arithmetic stays IEEE's and NumPy's: no contraction to fused operations, no reordering; only errno and traps go
_FLAGS = (
    *("-std=gnu11", "-O3", "-fPIC", "-shared", "-fopenmp-simd", "-w"),
    *("-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
    *("-fno-builtin-sin", "-fno-builtin-cos", "-fno-builtin-sinf", "-fno-builtin-cosf"),  # as a pair they are no loop
)
_NATIVE = "-march=native"
_PROBE = "int probe(void) { return 0; }\n"
#: seconds that the compiler may take, and for how many bytes of source it gets one more
_MAX_SECONDS, _BYTES_A_SECOND = 15.0, 4000.0
#: what compilers say when the programs that they run were stopped
_STOPPED = ("signal terminated program", "due to signal", "unable to execute command")

_lock = threading.Lock()
_running: set[subprocess.Popen] = set()
_found: dict[str, Toolchain | None] = {}
_why_none: dict[str, str] = {}
_told: set[str] = set()
_closing = threading.Event()
_log = logging.getLogger("symgrad")
_libraries: dict[str, ctypes.PyDLL] = {}


class Toolchain:
    """A compiler with the flags that it takes and the declarations of its libm."""

    def __init__(self, command: str, flags: tuple[str, ...], libraries: tuple[str, ...], declarations: str) -> None:
        self.command = command
        self.flags = flags
        self.libraries = libraries
        self.declarations = declarations
        #: seconds that it took to find out how to call it, not told yet as part of a build
        self.probed = 0.0

    def source(self, functions: list[str], library: list[str]) -> str:
        """The whole text of a kernel whose steps are ``functions``, numbered as they stand, which call ``library``."""
        steps = [text.replace("@", str(k)) for k, text in enumerate(functions)]
        table = ", ".join(f"step{k}" for k in range(len(functions)))
        prelude = _text("prelude.c").replace("/* DECLARATIONS */", self.declarations)
        return "\n".join([prelude, *library, *steps, f"static step_t steps[] = {{{table}}};\n", _text("python_call.c")])

    @cached_property
    def identity(self) -> str:
        """What compiled code depends on besides its source."""
        return "\n".join([_version(self.command), *self.flags, *self.libraries, _processor()])

    def build(self, source: str, target: Path) -> None:
        """Compile ``source`` into the shared library ``target``; a BackendError with what the compiler said."""
        text = target.with_suffix(".c")
        limit = _MAX_SECONDS + len(source) / _BYTES_A_SECOND
        try:
            text.write_text(source)
            command = [self.command, *self.flags, "-o", str(target), str(text), *self.libraries]
            status, told = _run(command, limit, target.parent)
        except subprocess.TimeoutExpired:
            raise Hanging(f"the C compiler {self.command!r} was not done after {limit:.0f} s") from None
        except OSError as error:
            raise Stopped(f"the C compiler {self.command!r} did not start: {error}") from None
        if _closing.is_set() or not 0 <= status < 128 or any(words in told for words in _STOPPED):
            raise Stopped(f"the C compiler {self.command!r} was stopped")
        if status:
            said = told.strip().splitlines()
            raise BackendError(f"the C compiler {self.command!r} refused a kernel: {said[0] if said else 'no message'}")


class Stopped(BackendError):
    """The compiler did not come to its end, or not to its beginning: another time it may."""


class Hanging(BackendError):
    """The compiler took longer than it should for any kernel."""


def _run(command: list[str], limit: float, folder: Path) -> tuple[int, str]:
    """Status and messages of a command, which a signal to this process's group does not reach.

    What it leaves where it is stopped lies in ``folder``.
    """
    if _closing.is_set():
        raise Stopped("the process is at its end")
    running = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    _running.add(running)
    try:
        _, told = running.communicate(timeout=limit)
        return running.returncode, told
    finally:  # also where it takes too long, or this thread is interrupted
        _running.discard(running)
        if running.returncode is None:
            _end(running)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.communicate(timeout=1)


def _end(running: subprocess.Popen) -> None:
    """Stop a compiler and the programs that it runs."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(running.pid, signal.SIGKILL)
        else:
            running.kill()


@functools.lru_cache(maxsize=2)
def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text()


@functools.lru_cache(maxsize=8)
def _candidates(command: str) -> tuple[Toolchain, ...]:
    """The ways to call a compiler, the best first; none where there is no such program."""
    found = shutil.which(command) if command else None
    if found is None:
        return ()
    chains = []
    for vector in (True, False):
        for flags in ((*_FLAGS, _NATIVE), _FLAGS):
            libraries = ("-lmvec", "-lm") if vector else ("-lm",)
            chains.append(Toolchain(found, flags, libraries, declarations(VECTORISED, vector)))
    return tuple(chains)


def _try(chain: Toolchain) -> None:
    """Compile and load loops over every function of libm; a BackendError where that cannot be done."""
    vector = "-lmvec" in chain.libraries
    body = "".join(
        f"  for (int i = 0; i < 64; i++) y[i] = {n}(x[i]{', x[i]' if n in TWO else ''});\n" for n in VECTORISED
    )
    source = f"{chain.declarations}\nvoid probe(double *restrict y, const double *restrict x) {{\n{body}}}\n"
    with _folder() as folder:
        target = folder / "probe.so"
        chain.build(source if vector else chain.declarations + _PROBE, target)
        try:
            _ = ctypes.CDLL(str(target)).probe
        except (OSError, AttributeError):
            raise BackendError(f"what the C compiler {chain.command!r} makes cannot be loaded") from None


def _is_refused(chain: Toolchain) -> bool:
    """True where the compiler itself says that it cannot."""
    try:
        _try(chain)
    except (Stopped, Hanging):
        return False
    except BackendError:
        return True
    return False


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder for what the compiler reads and writes."""
    try:
        made = tempfile.TemporaryDirectory(prefix="symgrad-", ignore_cleanup_errors=True)
    except OSError as error:
        raise Stopped(f"there is no folder for what the C compiler makes: {error}") from None
    with made as folder:
        yield Path(folder)


@functools.lru_cache(maxsize=8)
def _version(command: str) -> str:
    """Which compiler it is, without running it."""
    target = Path(command).resolve()
    about = target.stat()
    return f"{target} {about.st_size} {about.st_mtime_ns}"


@functools.lru_cache(maxsize=1)
def _processor() -> str:
    """What ``-march=native`` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    flags = [line for line in lines if line.startswith(("flags", "Features", "model name"))]
    return "\n".join([platform.machine(), *flags[:2]])


def _forget() -> None:
    """In a child process: whoever held the lock is not here, and the compilers that run are the parent's."""
    global _lock
    _lock = threading.Lock()
    _running.clear()


in_each_child(_forget)


def interrupt() -> None:
    """End the compilers that run, and start none any more: the process is at its end."""
    _closing.set()
    for process in list(_running):
        _end(process)


def toolchain(asks: bool = True) -> Toolchain | None:
    """The compiler of this machine, as it has to be called; None where there is none that can build a kernel.

    What was found out is kept. Unless it ``asks``, nobody waits: where it is not known yet the answer is None too.
    """
    command = _wanted()
    if command in _found:
        return _found[command]
    if not _lock.acquire(blocking=asks):  # a compiler is being asked, which may hang
        return None
    try:
        if command not in _found:
            candidates = _candidates(command)
            key = disk_cache.content_key("toolchain", *[c.identity for c in candidates])
            kept = disk_cache.load("native", key) if candidates else b"none"
            if kept is not None and kept.isdigit() and int(kept) < len(candidates):
                _found[command] = candidates[int(kept)]
            elif asks or not candidates:
                _found[command] = _ask(command, candidates, key)
        return _found.get(command)
    finally:
        _lock.release()


def _ask(command: str, candidates: tuple[Toolchain, ...], key: str) -> Toolchain | None:
    """The first of ``candidates`` that works; kept on disk where those before it are refused a second time."""
    began = time.perf_counter()
    why = "no C compiler was found (SYMGRAD_CC names one; cc is the default)"
    if command and "SYMGRAD_CC" in os.environ and not candidates:
        why = f"SYMGRAD_CC names the C compiler {command!r}, and there is no such program"
    for number, chain in enumerate(candidates):
        try:
            _try(chain)
        except BackendError as error:
            why = f"no working C compiler was found: {error}"
            if isinstance(error, Hanging):
                break
        else:
            chain.probed = time.perf_counter() - began
            if all(map(_is_refused, candidates[:number])):
                disk_cache.store("native", key, str(number).encode())
            return chain
    _why_none[command] = why
    return None


def _wanted() -> str:
    return os.environ.get("SYMGRAD_CC", "cc")


def why_none() -> str:
    """Why ``toolchain`` has none."""
    return _why_none.get(_wanted(), "")


def warn() -> None:
    """Say once, in a warning, that the compiler that there should be does not work."""
    command = _wanted()
    expected = command and (_candidates(command) or "SYMGRAD_CC" in os.environ)
    if expected and command in _why_none and command not in _told:
        _told.add(command)
        message = f"{why_none()}; kernels run on NumPy. SYMGRAD_CC='' says that there is no compiler."
        warnings.warn(at_user_line(message), CompilerWarning, stacklevel=2)


class Library:
    """A compiled source: the loaded library, and the seconds that the compiler took, 0 where it was kept."""

    def __init__(self, library: ctypes.PyDLL, seconds: float) -> None:
        self.library = library
        self.seconds = seconds


def known(source: str) -> Library | None:
    """What an earlier build of ``source`` left, in this process or in the disk cache; None where it must be built."""
    chain = toolchain()
    if chain is None:
        return None
    key = disk_cache.content_key(source, chain.identity)
    loaded = _libraries.get(key)
    if loaded is not None:
        return Library(loaded, 0.0)
    kept = disk_cache.file("native", key)
    return None if kept is None else _loaded(key, kept, 0.0)


def compiled(source: str) -> Library:
    """``source`` built, or taken from an earlier build; a BackendError says why it cannot be."""
    chain = toolchain()
    if chain is None:
        raise BackendError(why_none())
    before = known(source)
    if before is not None:
        return before
    key = disk_cache.content_key(source, chain.identity)
    with _folder() as folder:
        target = folder / "kernel.so"
        began = time.perf_counter()
        try:
            chain.build(source, target)
        except Hanging as error:  # so does the next build
            _why_none[_wanted()] = str(error)
            _found[_wanted()] = None
            raise
        seconds = time.perf_counter() - began + chain.probed
        _log.debug("compiled a kernel of %d lines in %.2f s", source.count("\n"), seconds)
        chain.probed = 0.0
        library = _loaded(key, target, seconds)
        if library is None:
            raise BackendError(f"what the C compiler {chain.command!r} made of a kernel cannot be loaded")
        disk_cache.store("native", key, target.read_bytes())
    return library


def _loaded(key: str, path: Path, seconds: float) -> Library | None:
    """The library at ``path``; None where it is none of ours."""
    try:
        library = ctypes.PyDLL(str(path))
        library.bind.restype = ctypes.py_object
        library.bind.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    except (OSError, AttributeError):
        return None
    return Library(_libraries.setdefault(key, library), seconds)
