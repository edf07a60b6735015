"""Libraries: which code is nobody's own, and which of its functions give something else at every call.

Libraries are trusted not to change: neither their functions nor their modules are guarded. What they know of the
world outside (clocks, files, the entropy of the machine) is listed here.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
import types
from collections.abc import Iterable
from typing import Any

from ..errors import is_own

_STANDARD = tuple({os.path.join(sysconfig.get_path(p), "") for p in ("stdlib", "platstdlib")})
_INSTALLED = {"site-packages", "dist-packages"}
#: bases of a class that call no method of it that is not named where it is used, but those with names in __…__
_PLAIN_BASES = frozenset(
    ("builtins", "abc", "typing", "enum", "collections", "numbers", "contextlib", "types", "numpy", "random", "symgrad")
)
_ALL = None
_PATHS = frozenset(
    (
        *("exists", "isfile", "isdir", "islink", "lexists", "ismount", "samefile", "getsize", "getmtime", "getatime"),
        *("getctime", "abspath", "realpath", "relpath", "expanduser"),
    )
)
_GENERATORS = frozenset(("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64", "RandomState", "SeedSequence"))
#: functions and classes by their module, whose results are not the same at every call
_CHANGING: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(("time", "secrets", "socket", "_socket", "subprocess", "urllib.request", "http.client"), _ALL),
    **dict.fromkeys(("sqlite3", "_sqlite3", "tempfile", "glob", "shelve", "dbm", "select", "getpass"), _ALL),
    **dict.fromkeys(("posix", "nt", "scipy.stats._qmc"), _ALL),
    **dict.fromkeys(("genericpath", "posixpath", "ntpath"), _PATHS),
    "os": frozenset(("walk", "fwalk", "popen", "open", "fdopen")),
    "builtins": frozenset(("input",)),
    "io": frozenset(("open", "open_code")),
    "_io": frozenset(("open", "open_code", "FileIO")),
    "uuid": frozenset(("uuid1", "uuid4", "getnode")),
    "random": frozenset(("Random", "SystemRandom")),
    "_random": _ALL,
    "numpy": frozenset(("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "geterr", "get_printoptions")),
    "numpy.random": _GENERATORS | {"default_rng"},
    **dict.fromkeys((f"numpy.random.{m}" for m in ("mtrand", "bit_generator", "_pcg64", "_mt19937")), _GENERATORS),
    **dict.fromkeys((f"numpy.random.{m}" for m in ("_philox", "_sfc64")), _GENERATORS),
    **dict.fromkeys(("threading", "_thread"), frozenset(("get_ident", "get_native_id", "current_thread"))),
    **dict.fromkeys(("contextvars", "_contextvars"), frozenset(("copy_context",))),
    **dict.fromkeys(("decimal", "_decimal"), frozenset(("getcontext", "localcontext"))),
    "inspect": frozenset(("stack", "currentframe", "trace")),
    "sys": frozenset(("_getframe", "getrefcount")),
}
#: those of them that draw random numbers
_RANDOM = re.compile(r"(random|secrets|numpy\.random|scipy\.stats\._qmc)\.|uuid\.uuid|os\.(urandom|getrandom)$")
_SOLVERS = ("scipy.integrate", "scipy.optimize")
#: what users call the modules that functions of Python say they are of
_CALLED = {
    "builtins": "",
    **dict.fromkeys(("posix", "nt"), "os."),
    **dict.fromkeys(("genericpath", "posixpath", "ntpath"), "os.path."),
}
_SAME = frozenset(("sleep", "struct_time", "mktime", "fspath", "strerror", "cpu_count"))
_PANDAS = "pandas.io."
#: methods of the classes of a module of which the same is true
_CHANGING_METHODS = {
    "datetime": frozenset(("now", "today", "utcnow")),
    "pathlib": frozenset(
        (
            *("read_text", "read_bytes", "open", "exists", "stat", "lstat", "iterdir", "glob", "rglob", "is_file"),
            *("is_dir", "cwd", "home", "resolve", "absolute", "samefile", "owner", "expanduser"),
        )
    ),
}
#: of these modules every function counts where one is taken by a name that is computed
_ASKED = frozenset(("time", "os", "random", "numpy.random", "secrets", "uuid", "datetime", "io", "posix"))


def is_library(module: Any) -> bool:
    """Whether a module of this name, as functions and classes give it, is none of the user's own."""
    if not isinstance(module, str):  # classes of C may have something else there
        return module is not None
    if module in ("", "__main__"):
        return False
    top = module.partition(".")[0]
    for name in (module, top):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            return is_library_file(file)
    return top in sys.builtin_module_names or top in sys.stdlib_module_names


def is_of_library(module: types.ModuleType) -> bool:
    """Whether this module is none of the user's own."""
    file = getattr(module, "__file__", None)
    return is_library_file(file) if file else is_library(module.__name__)


@functools.lru_cache(maxsize=4096)
def is_library_file(file: str) -> bool:
    """Whether code of this file is none of the user's own."""
    return is_own(file) or file.startswith((*_STANDARD, "<frozen ")) or not _INSTALLED.isdisjoint(file.split(os.sep))


def is_foreign(cls: type) -> bool:
    """Whether instances of this class of a library are more than numbers, arrays and containers."""
    return _top(cls) not in _PLAIN_BASES and is_library(cls.__module__)


def is_plain_base(cls: type) -> bool:
    """Whether a library's class leaves it to the user which methods of a derived class are called."""
    return _top(cls) in _PLAIN_BASES


def changing(value: Any) -> str | None:
    """What a function or class of a library is called whose results change; None for others."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    if module.startswith(_PANDAS) and name.startswith("read_"):
        return f"{module}.{name}"
    names = _CHANGING.get(module, frozenset())
    changes = name not in _SAME if names is None else name in names
    return _CALLED.get(module, f"{module.removeprefix('_')}.") + name if changes else None


def changing_methods(classes: Iterable[type]) -> dict[str, str]:
    """The methods of these classes whose results change, with what each is called."""
    found = {name: c for c in classes for name in _CHANGING_METHODS.get(_top(c), ())}
    return {name: f"{c.__name__}.{name}" for name, c in found.items()}


def is_random(what: str) -> bool:
    """Whether what is called so, of what changes, gives random numbers."""
    return _RANDOM.match(what) is not None


def solvers() -> frozenset[str]:
    """The names of functions of libraries that call the user's as often as its values make them."""
    return _names_in(tuple([m for m in _SOLVERS if m in sys.modules]))


@functools.cache
def _names_in(modules: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for m in modules for name in sys.modules[m].__all__)


def is_asked(module: str) -> bool:
    """Whether a computed name may well stand for what changes in this module."""
    return module in _ASKED


def _top(cls: type) -> str:
    return str(cls.__module__).partition(".")[0]
