"""The machine's C compiler: found, asked what it can do, and run; what it makes is kept in the disk cache.

``SYMGRAD_CC`` names the compiler; empty, it says that there is none.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from ... import disk_cache
from ...errors import BackendError
from .spelling import VECTORISED

#: arithmetic stays IEEE's and NumPy's: no contraction to fused operations, no reordering; only errno and traps go
_FLAGS = (
    *("-std=gnu11", "-O3", "-fPIC", "-shared", "-fopenmp-simd", "-w"),
    *("-fwrapv", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
    *("-fno-builtin-sin", "-fno-builtin-cos", "-fno-builtin-sinf", "-fno-builtin-cosf"),  # as a pair they are no loop
)
_NATIVE = "-march=native"
_PROBE = "int probe(void) { return 0; }\n"
_MOST_SECONDS = 120
_TWO = {"pow", "atan2", "hypot"}

_ARGUMENTS = "(char **p, const int64_t *d, int64_t lo, int64_t hi)"

_lock = threading.Lock()
_running: set[subprocess.Popen] = set()
_found: dict[str, Toolchain | None] = {}
_closing = threading.Event()
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

    def source(self, functions: list[str]) -> str:
        """The whole text of a kernel whose steps are ``functions``, numbered as they stand."""
        steps = [f"static void step{k}{_ARGUMENTS} {{\n{text}\n}}\n" for k, text in enumerate(functions)]
        table = ", ".join(f"step{k}" for k in range(len(functions)))
        prelude = _text("prelude.c").replace("/* DECLARATIONS */", self.declarations)
        return "\n".join([prelude, *steps, f"static step_t steps[] = {{{table}}};\n", _text("door.c")])

    @functools.cached_property
    def identity(self) -> str:
        """What compiled code depends on besides its source."""
        return "\n".join([_version(self.command), *self.flags, *self.libraries, _processor()])

    def build(self, source: str, target: Path) -> None:
        """Compile ``source`` into the shared library ``target``; a BackendError with what the compiler said."""
        if _closing.is_set():
            raise BackendError("the process is at its end")
        text = target.with_suffix(".c")
        text.write_text(source)
        try:
            running = subprocess.Popen(
                [self.command, *self.flags, "-o", str(target), str(text), *self.libraries],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            raise BackendError(f"the C compiler {self.command!r} did not start: {error}") from None
        _running.add(running)
        try:
            _, told = running.communicate(timeout=_MOST_SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            raise BackendError(f"the C compiler {self.command!r} took more than {_MOST_SECONDS} s.") from None
        finally:
            _running.discard(running)
        if running.returncode:
            said = told.strip().splitlines()
            raise BackendError(f"the C compiler {self.command!r} refused a kernel: {said[0] if said else 'no message'}")


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
            chains.append(Toolchain(found, flags, libraries, _declarations(vector)))
    return tuple(chains)


def _works(chain: Toolchain) -> bool:
    """True where loops over every function of libm compile and load."""
    vector = "-lmvec" in chain.libraries
    body = "".join(
        f"  for (int i = 0; i < 64; i++) y[i] = {n}(x[i]{', x[i]' if n in _TWO else ''});\n" for n in VECTORISED
    )
    source = f"{chain.declarations}\nvoid probe(double *restrict y, const double *restrict x) {{\n{body}}}\n"
    with tempfile.TemporaryDirectory(prefix="symgrad-") as folder:
        target = Path(folder) / "probe.so"
        try:
            chain.build(source if vector else chain.declarations + _PROBE, target)
            ctypes.CDLL(str(target))
        except (BackendError, OSError):
            return False
    return True


def _declarations(vector: bool) -> str:
    """The prototypes of libm's functions, which say what libmvec has."""
    mark = '__attribute__((simd("notinbranch"))) ' if vector else ""
    lines = []
    for name in VECTORISED:
        for kind, suffix in (("double", ""), ("float", "f")):
            arguments = ", ".join([kind] * (2 if name in _TWO else 1))
            lines.append(f"{mark}{kind} {name}{suffix}({arguments});")
    return "\n".join(lines)


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


def interrupt() -> None:
    """End the compilers that run, and start none any more: the process is at its end."""
    _closing.set()
    for process in list(_running):
        process.kill()


def toolchain(asks: bool = True) -> Toolchain | None:
    """The compiler of this machine, as it has to be called; None where there is none that can build a kernel.

    What was found out is kept; where it is not known yet and ``asks`` is false the answer is None too.
    """
    command = os.environ.get("SYMGRAD_CC", "cc")
    with _lock:
        if command in _found:
            return _found[command]
        candidates = _candidates(command)
        key = disk_cache.key("toolchain", *[c.identity for c in candidates])
        kept = disk_cache.load("native", key) if candidates else b"none"
        if kept is not None and kept.isdigit() and int(kept) < len(candidates):
            _found[command] = candidates[int(kept)]
        elif asks or not candidates:
            began = time.perf_counter()
            working = next((k for k, c in enumerate(candidates) if _works(c)), None)
            _found[command] = None if working is None else candidates[working]
            if working is not None:
                candidates[working].probed = time.perf_counter() - began
                disk_cache.store("native", key, str(working).encode())
        return _found.get(command)


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
    key = disk_cache.key(source, chain.identity)
    with _lock:
        loaded = _libraries.get(key)
    if loaded is not None:
        return Library(loaded, 0.0)
    kept = disk_cache.file("native", key)
    return None if kept is None else _loaded(key, kept, 0.0)


def compiled(source: str) -> Library:
    """``source`` built, or taken from an earlier build; a BackendError where there is no compiler."""
    chain = toolchain()
    if chain is None:
        raise BackendError(
            "backend='native' needs a C compiler: none was found that builds kernels (SYMGRAD_CC names one; cc is the "
            "default). Install gcc or clang, or choose backend='auto'."
        )
    before = known(source)
    if before is not None:
        return before
    key = disk_cache.key(source, chain.identity)
    with tempfile.TemporaryDirectory(prefix="symgrad-") as folder:
        target = Path(folder) / "kernel.so"
        began = time.perf_counter()
        chain.build(source, target)
        seconds = time.perf_counter() - began + chain.probed
        chain.probed = 0.0
        disk_cache.store("native", key, target.read_bytes())
        library = _loaded(key, target, seconds)
    if library is None:
        raise BackendError("what the C compiler made cannot be loaded")
    return library


def _loaded(key: str, path: Path, seconds: float) -> Library | None:
    try:
        library = ctypes.PyDLL(str(path))
    except OSError:
        return None
    library.bind.restype = ctypes.py_object
    library.bind.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    with _lock:
        library = _libraries.setdefault(key, library)
    return Library(library, seconds)
