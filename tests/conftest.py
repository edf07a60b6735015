"""For all tests: programs are verified before and after their passes, and the collector leaves alone what stays.

What wants more than Python and what pip installs says so, ``@pytest.mark.needs("dot")``: it is skipped where that is
missing. ``pytest -m needs`` runs what says so, and nothing else, where all of it must be there.
"""

from __future__ import annotations

import builtins
import functools
import gc
import importlib.util
import os
import shutil

import hypothesis
import lab
import pytest

from symgrad import errors, set_context, testing
from symgrad.kernels import kernel
from symgrad.kernels.native.compiler import toolchain
from symgrad.program.verify import verify

hypothesis.settings.register_profile("symgrad", deadline=None)  # of a busy machine nothing is learnt
hypothesis.settings.load_profile("symgrad")
errors.full_tracebacks.set()  # a test that fails shows where in symgrad

#: what is more than a program on the PATH, and how it is found
_FOUND = {
    "native": ("C compiler that builds kernels", toolchain),
    "chromium": ("Chromium", lab.browser_path),
    "torch": ("torch", lambda: importlib.util.find_spec("torch")),
    "cupy": ("cupy", lambda: importlib.util.find_spec("cupy")),
    "site": ("built site (SYMGRAD_SITE says where)", lambda: os.environ.get("SYMGRAD_SITE")),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Whatever is tried on each backend needs the compiler for one of them."""
    for item in items:
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if any(isinstance(value, str) and value == "native" for value in given):
            item.add_marker(pytest.mark.needs("native"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for name in (name for mark in item.iter_markers("needs") for name in mark.args):
        called, found = _FOUND.get(name, (name, lambda name=name: shutil.which(name)))
        if not found():
            asked_for = item.config.option.markexpr == "needs"
            (pytest.fail if asked_for else pytest.skip)(f"there is no {called}")


@pytest.fixture(scope="session")
def check_arrays():
    """``symgrad.testing.check_rule`` with every backend but the compiled one."""
    return functools.partial(testing.check_rule, backends=[b for b in kernel.BACKENDS if b != "native"])


@pytest.fixture(scope="session", params=["arrays", "native"])
def check_rule(request, check_arrays):
    """``check_arrays``, and then what ``symgrad.testing.check_rule`` checks of the compiled backend."""

    def check_compiled(fn, args, kwargs=None, *, held=(), order=2):
        testing.check_backends(testing.Call(fn, args, kwargs, held), order=order, backends=["native"])

    return check_compiled if request.param == "native" else check_arrays


@pytest.fixture(scope="session")
def _shell(tmp_path_factory):
    from IPython.core.interactiveshell import InteractiveShell  # slow to import

    directory = tmp_path_factory.mktemp("ipython")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(directory))
        patch.setenv("HOME", str(directory))
        shell = InteractiveShell.instance(ipython_dir=str(directory))
        shell.history_manager.enabled = False
        yield shell
        shell.history_manager.end_session()
        InteractiveShell.clear_instance()


@pytest.fixture
def shell(_shell, monkeypatch):
    """An IPython whose namespace holds what the test puts there."""
    monkeypatch.delattr(builtins, "_", raising=False)  # which doctests leave, and IPython takes for another shell's
    _shell.reset(new_session=False)
    _shell.user_ns["__spec__"] = None  # of the module __main__, which multiprocessing asks for it
    # what takes long on a busy machine says so in a line of its own, which no test here is about
    _shell.run_cell("import numpy as np\n%load_ext symgrad\n%symgrad progress=0")
    yield _shell
    _shell.run_line_magic("unload_ext", "symgrad")


@pytest.fixture(autouse=True, scope="module")
def _what_stays():
    """What earlier modules left (imports, sympy's caches) is not walked over at every full collection.

    IPython asks for one whenever its namespace is emptied, which took a second each late in a run.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _verified_passes(monkeypatch):
    passes = kernel.optimized
    monkeypatch.setattr(kernel, "optimized", lambda program: verify(passes(verify(program))))


@pytest.fixture
def brief():
    """Tracebacks as a user has them."""
    set_context(full_traceback=False)
    yield
    set_context(full_traceback=True)
