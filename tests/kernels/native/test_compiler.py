"""Compilers that hang, fail, are stopped or make something else: they cost speed, and nothing that stays."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import symgrad
from symgrad import disk_cache
from symgrad.errors import CompilerWarning
from symgrad.kernels.native import compiler
from symgrad.kernels.native.compiler import toolchain

needs_compiler = pytest.mark.needs("native")
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="programs that are scripts")
pytestmark = posix


#: a program that takes long, as Python and, beside another, as a line of the shell
SLEEP = ["-S", "-c", "import time; time.sleep(1000)"]
HANGS = f"{sys.executable} -S -c '{SLEEP[-1]}' & wait"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    """As in a process that has asked no compiler, with a cache of its own."""
    for name in ("_found", "_why_none", "_libraries"):
        monkeypatch.setattr(compiler, name, {})
    monkeypatch.setattr(compiler, "_told", set())
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Makes a shell script the C compiler; answers the file in which it leaves a line each time it runs."""

    def make(text: str):
        path, runs = tmp_path / "cc", tmp_path / "runs"
        path.write_text(f"#!/bin/sh\necho $* >> {runs}\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv("SYMGRAD_CC", str(path))
        return runs

    return make


def cosine_of(backend):
    """A function that nobody has compiled yet, called once: its kernel."""
    g = symgrad.grad(lambda x: np.sum(np.sin(x)), backend=backend)
    np.testing.assert_allclose(g(np.ones(3)), np.cos(np.ones(3)), rtol=1e-15)
    return g.kernel(np.ones(3))


@pytest.fixture
def _interruptible():
    """What is started here can be interrupted, even where the tests run in the background and cannot."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@needs_compiler
@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize(
    "end",
    ["kill -INT $$", "kill -KILL $$", "exit 130", "echo cc: Killed signal terminated program cc1 >&2; exit 1"],
)
def test_a_compiler_that_was_stopped_has_said_nothing(script, end):
    real = compiler._candidates("cc")[0].command
    script(f'case "$*" in *march*) {end};; esac; exec {real} "$@"')
    chain = toolchain()
    assert chain is not None
    assert "-march=native" not in chain.flags
    key = disk_cache.key("toolchain", *[c.identity for c in compiler._candidates(chain.command)])
    assert disk_cache.load("native", key) is None


@needs_compiler
def test_what_was_refused_only_once_is_not_kept(script, tmp_path):
    real = compiler._candidates("cc")[0].command
    script(
        f'if [ ! -e {tmp_path}/once ]; then : > {tmp_path}/once; echo no space left >&2; exit 1; fi; exec {real} "$@"'
    )
    chain = toolchain()
    assert chain is not None
    key = disk_cache.key("toolchain", *[c.identity for c in compiler._candidates(chain.command)])
    assert disk_cache.load("native", key) is None


@needs_compiler
def test_what_a_compiler_refuses_is_kept(script):
    real = compiler._candidates("cc")[0].command
    runs = script(f'case "$*" in *march*) echo no such flag >&2; exit 1;; esac; exec {real} "$@"')
    first = toolchain()
    assert first is not None
    asked = runs.read_text()
    compiler._found.clear()
    assert toolchain() is first
    assert runs.read_text() == asked


def test_signals_to_this_process_and_its_group_do_not_reach_the_compiler(tmp_path):
    text = f"import os; open({str(tmp_path / 'group')!r}, 'w').write(str(os.getpgrp()))"
    assert compiler._run([sys.executable, "-S", "-c", text], 60, tmp_path)[0] == 0
    assert int((tmp_path / "group").read_text()) != os.getpgrp()


def test_a_compiler_whose_build_is_interrupted_ends(monkeypatch, tmp_path):
    started = []
    communicate = subprocess.Popen.communicate

    def interrupted(self, *args, **options):
        if not started:
            started.append(self)
            raise KeyboardInterrupt
        return communicate(self, *args, **options)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiler._run([sys.executable, *SLEEP], 1000, tmp_path)
    assert started[0].returncode is not None
    assert not compiler._running


def test_a_compiler_leaves_nothing(script, monkeypatch, tmp_path):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(compiler.tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    runs = script(": > $TMPDIR/left; exit 1")
    assert toolchain() is None
    assert runs.exists()
    assert not list((tmp_path / "temporary").iterdir())


def test_a_compiler_that_hangs_is_asked_once_and_numpy_goes_on(script, monkeypatch):
    monkeypatch.setattr(compiler, "_MAX_SECONDS", 0.05)
    monkeypatch.setattr(compiler, "_BYTES_A_SECOND", 1e9)
    runs = script(HANGS)
    with pytest.warns(CompilerWarning, match="was not done after 0 s"):
        kernel = cosine_of("native")
    assert kernel.backend == "numpy"
    assert "not done after" in str(kernel.explain())
    assert cosine_of("native").backend == "numpy"
    assert len(runs.read_text().splitlines()) <= 1


@needs_compiler
def test_a_compiler_that_hangs_at_a_kernel_builds_no_other(script, monkeypatch):
    real = compiler._candidates("cc")[0].command
    runs = script(f'case "$*" in *kernel.c*) {HANGS};; esac; exec {real} "$@"')
    assert toolchain() is not None
    runs.write_text("")
    monkeypatch.setattr(compiler, "_MAX_SECONDS", 0.05)
    monkeypatch.setattr(compiler, "_BYTES_A_SECOND", 1e9)
    with pytest.warns(CompilerWarning, match="was not done after"):
        assert cosine_of("native").backend == "numpy"
    assert cosine_of("native").backend == "numpy"
    assert len(runs.read_text().splitlines()) <= 1


@pytest.mark.parametrize("backend", ["native", "auto"])
@pytest.mark.parametrize("command", ["/bin/false", "/bin/true", "/no/such/compiler"])
def test_a_compiler_that_does_not_work_is_told_of_once(monkeypatch, command, backend):
    monkeypatch.setenv("SYMGRAD_CC", command)
    g = symgrad.grad(lambda x: np.sum(np.sin(x)), backend=backend)
    if backend == "auto":
        g(np.ones(3))
        g.kernel(np.ones(3)).ready(60)
    with pytest.warns(CompilerWarning, match=command):
        g(np.ones(3))
    g(np.ones(3))
    assert "numpy" in g.kernel(np.ones(3)).backend
    assert command in str(g.kernel(np.ones(3)).explain())
    assert cosine_of("native").backend == "numpy"


@needs_compiler
def test_a_library_that_is_none_of_ours_is_built_again(monkeypatch, tmp_path):
    chain, kept = toolchain(), []
    assert chain is not None
    build, store = compiler.Toolchain.build, disk_cache.store
    monkeypatch.setattr(disk_cache, "store", lambda *entry: (kept.append(entry), store(*entry))[1])
    assert cosine_of("native").backend == "native"
    (entry,) = kept
    build(chain, "int another(void) { return 0; }", tmp_path / "other.so")
    store("native", entry[1], (tmp_path / "other.so").read_bytes())
    compiler._libraries.clear()
    built = []
    monkeypatch.setattr(compiler.Toolchain, "build", lambda self, *a: (built.append(1), build(self, *a))[1])
    assert cosine_of("native").backend == "native"
    assert built == [1]


@needs_compiler
def test_a_compiler_that_makes_something_else_is_no_error(monkeypatch):
    assert toolchain() is not None
    build = compiler.Toolchain.build
    monkeypatch.setattr(compiler.Toolchain, "build", lambda self, source, target: build(self, "int x;", target))
    kernel = cosine_of("native")
    assert kernel.backend == "numpy"
    assert "cannot be loaded" in str(kernel.explain())
    monkeypatch.setattr(compiler.Toolchain, "build", lambda self, source, target: None)
    assert cosine_of("native").backend == "numpy"


@needs_compiler
def test_without_a_folder_for_the_compiler_numpy_goes_on(monkeypatch):
    assert toolchain() is not None
    monkeypatch.setattr(compiler.tempfile, "TemporaryDirectory", lambda **_: (_ for _ in ()).throw(OSError("full")))
    kernel = cosine_of("native")
    assert kernel.backend == "numpy"
    assert "full" in str(kernel.explain())


def test_a_child_process_waits_for_no_lock_of_its_parent_and_ends_none_of_its_compilers(monkeypatch):
    with compiler._lock:
        monkeypatch.setattr(compiler, "_lock", compiler._lock)
        monkeypatch.setattr(compiler, "_running", {"the parent's"})
        compiler._forget()
        monkeypatch.setenv("SYMGRAD_CC", "")
        assert toolchain() is None
    assert not compiler._running


def test_nobody_waits_who_does_not_ask(monkeypatch):
    with compiler._lock:  # as long as a compiler hangs that another thread has asked
        assert toolchain(asks=False) is None
        kernel = cosine_of("auto")
    assert kernel.backend == "numpy"
