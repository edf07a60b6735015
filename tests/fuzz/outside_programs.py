"""What a function can see beside its arguments, and how that changes, as source."""

from __future__ import annotations

import contextlib
import random
import sys
import types
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import symgrad as sg
from symgrad.errors import SymgradError, TracedAgain

_OWN = "class {0}:\n    pass\n{0} = {0}()\n"


@dataclass(frozen=True)
class Seen:
    """A value that a function sees: how it is made, how it is read, and what changes it; {0} is a name of its own."""

    made: str
    read: str
    changes: tuple[str, ...]


SEEN: dict[str, Seen] = {
    "global": Seen(
        "{0} = 1.5",
        "{0}",
        (
            "{0} = 2.5",
            "{0} = 3",
            "{0} = np.float64(4.5)",
            "{0} = np.array(5.5)",
        ),
    ),
    "global array": Seen(
        "{0} = np.arange(3.0)",
        "np.sum({0} * np.arange(1, 4))",
        (
            "{0}[1] = 7.0",
            "{0} = {0} * 2",
            "{0} += 1",
            "{0}[:] = {0}[::-1].copy()",
            "{0}.fill(3.0)",
            "np.put({0}, [0], 9.0)",
        ),
    ),
    "view of an array": Seen(
        "{0}b = np.arange(4.0)\n{0} = {0}b[1:]",
        "{0}[0]",
        (
            "{0}b[1] = 7.0",
            "{0}[0] = 8.0",
        ),
    ),
    "array of ints": Seen("{0} = np.array([0, 1])", "float({0}[1] + 1)", ("{0}[1] = 4",)),
    "list": Seen(
        "{0} = [1.0, 2.0]",
        "sum({0})",
        ("{0}.append(3.0)", "{0}[0] = 9.0", "del {0}[0]", "{0}.extend([1.0])", "{0}.clear()"),
    ),
    "list of lists": Seen(
        "{0} = [[1.0], [2.0]]",
        "{0}[1][0]",
        ("{0}[1][0] = 5.0", "{0}[1] = [7.0]", "{0}.reverse()"),
    ),
    "length": Seen("{0} = [1.0, 2.0]", "len({0})", ("{0}.append(3.0)",)),
    "dict": Seen(
        "{0} = dict(k=1.0)",
        "{0}['k']",
        (
            "{0}['k'] = 2.0",
            "{0}.update(k=5.0)",
            "{0} = dict(k=8.0)",
        ),
    ),
    "dict that lacks": Seen("{0} = dict()", "{0}.get('k', 1.0)", ("{0}['k'] = 2.0",)),
    "keys": Seen("{0} = dict(k=1.0)", "len([k for k in {0}])", ("{0}['j'] = 2.0",)),
    "membership": Seen("{0} = set()", "(2.0 if 'k' in {0} else 1.0)", ("{0}.add('k')",)),
    "tuple of arrays": Seen("{0} = (np.ones(2),)", "{0}[0][1]", ("{0}[0][1] = 4.0",)),
    "attribute": Seen(
        _OWN + "{0}.k = 1.0",
        "{0}.k",
        ("{0}.k = 2.0", "{0}.__dict__['k'] = 5.0", "setattr({0}, 'k', 6.0)", "vars({0}).update(k=7.0)"),
    ),
    "nested attribute": Seen(
        _OWN + "{0}.a = types.SimpleNamespace(b=types.SimpleNamespace(k=1.0))",
        "{0}.a.b.k",
        ("{0}.a.b.k = 2.0", "{0}.a.b = types.SimpleNamespace(k=4.0)"),
    ),
    "attribute of the class": Seen(
        "class {0}:\n    k = 1.0",
        "{0}().k",
        (
            "{0}.k = 2.0",
            "setattr({0}, 'k', 3.0)",
        ),
    ),
    "attribute of a base": Seen(
        "class {0}b:\n    k = 1.0\nclass {0}({0}b):\n    pass",
        "{0}.k",
        ("{0}b.k = 2.0", "{0}.k = 4.0"),
    ),
    "shadowed attribute": Seen("class {0}c:\n    k = 1.0\n{0} = {0}c()", "{0}.k", ("{0}.k = 2.0",)),
    "attribute that may lack": Seen(_OWN, "getattr({0}, 'k', 1.0)", ("{0}.k = 2.0",)),
    "hasattr": Seen(_OWN, "(2.0 if hasattr({0}, 'k') else 1.0)", ("{0}.k = 2.0",)),
    "slots": Seen("class {0}c:\n    __slots__ = ('k',)\n{0} = {0}c()\n{0}.k = 1.0", "{0}.k", ("{0}.k = 2.0",)),
    "inherited slots": Seen(
        "class {0}b:\n    __slots__ = ('k',)\nclass {0}c({0}b):\n    __slots__ = ()\n{0} = {0}c()\n{0}.k = 1.0",
        "{0}.k",
        ("{0}.k = 2.0",),
    ),
    "property": Seen(
        "class {0}c:\n    p = property(lambda self: self.k * 2)\n{0} = {0}c()\n{0}.k = 1.0",
        "{0}.p",
        ("{0}.k = 2.0", "{0}c.p = property(lambda self: 7.0)"),
    ),
    "dataclass": Seen(
        "@dataclasses.dataclass\nclass {0}c:\n    k: float = 1.0\n{0} = {0}c()",
        "{0}.k",
        ("{0}.k = 2.0",),
    ),
    "method": Seen(
        "class {0}c:\n    def m(self):\n        return self.k\n{0} = {0}c()\n{0}.k = 1.0",
        "{0}.m()",
        ("{0}.k = 2.0", "{0}c.m = lambda self: 9.0", "{0}.m = lambda: 8.0"),
    ),
    "bound method": Seen(
        "class {0}c:\n    k = 1.0\n    def m(self):\n        return self.k\n{0} = {0}c().m",
        "{0}()",
        ("{0}.__self__.k = 2.0",),
    ),
    "class method": Seen(
        "class {0}:\n    k = 1.0\n    @classmethod\n    def m(cls):\n        return cls.k",
        "{0}.m()",
        ("{0}.k = 2.0",),
    ),
    "call": Seen(
        "class {0}c:\n    def __call__(self):\n        return self.k\n{0} = {0}c()\n{0}.k = 1.0",
        "{0}()",
        ("{0}.k = 2.0",),
    ),
    "init": Seen(
        "{0}g = 1.0\nclass {0}:\n    def __init__(self):\n        self.k = {0}g",
        "{0}().k",
        ("{0}g = 2.0",),
    ),
    "post init": Seen(
        "{0}g = 1.0\n@dataclasses.dataclass\nclass {0}:\n    j: float = 0.0\n    def __post_init__(self):\n"
        "        self.k = {0}g",
        "{0}().k",
        ("{0}g = 2.0",),
    ),
    "getattr": Seen(
        "{0}g = 1.0\nclass {0}c:\n    def __getattr__(self, name):\n        return {0}g\n{0} = {0}c()",
        "{0}.k",
        ("{0}g = 2.0",),
    ),
    "getitem": Seen(
        "{0}g = 1.0\nclass {0}c:\n    def __getitem__(self, k):\n        return {0}g\n{0} = {0}c()",
        "{0}[0]",
        ("{0}g = 2.0",),
    ),
    "enter": Seen(
        "{0}g = 1.0\nclass {0}c:\n    def __enter__(self):\n        return {0}g\n"
        "    def __exit__(self, *_):\n        pass\ndef {0}():\n    with {0}c() as k:\n        return k",
        "{0}()",
        ("{0}g = 2.0",),
    ),
    "iter": Seen(
        "{0}g = 1.0\nclass {0}c:\n    def __iter__(self):\n        yield {0}g\n{0} = {0}c()",
        "sum({0})",
        ("{0}g = 2.0",),
    ),
    "len": Seen(
        "{0}g = 1\nclass {0}c:\n    def __len__(self):\n        return {0}g\n{0} = {0}c()",
        "len({0})",
        ("{0}g = 2",),
    ),
    "closure": Seen(
        "def {0}m():\n    k = 1.0\n    def read():\n        return k\n    def put(v):\n        nonlocal k\n"
        "        k = v\n    return read, put\n{0}, {0}p = {0}m()",
        "{0}()",
        ("{0}p(4.0)", "{0}.__closure__[0].cell_contents = 5.0"),
    ),
    "list in a closure": Seen(
        "def {0}m():\n    k = [1.0]\n    return lambda: k[0], k\n{0}, {0}p = {0}m()",
        "{0}()",
        ("{0}p[0] = 4.0",),
    ),
    "default": Seen("def {0}(k=1.0):\n    return k", "{0}()", ("{0}.__defaults__ = (3.0,)",)),
    "list as default": Seen("def {0}(k=[1.0]):\n    return k[0]", "{0}()", ("{0}.__defaults__[0][0] = 3.0",)),
    "keyword default": Seen(
        "def {0}(*, k=1.0):\n    return k",
        "{0}()",
        ("{0}.__kwdefaults__ = dict(k=3.0)", "{0}.__kwdefaults__['k'] = 4.0"),
    ),
    "function": Seen(
        "def {0}():\n    return 1.0",
        "{0}()",
        ("def {0}():\n    return 2.0", "{0}.__code__ = (lambda: 3.0).__code__"),
    ),
    "attribute of a function": Seen("def {0}():\n    return {0}.k\n{0}.k = 1.0", "{0}()", ("{0}.k = 2.0",)),
    "global of a function": Seen("{0}g = 1.0\ndef {0}():\n    return {0}g", "{0}()", ("{0}g = 2.0",)),
    "global of a function's function": Seen(
        "{0}g = 1.0\ndef {0}f():\n    return {0}g\ndef {0}():\n    return {0}f() + 1",
        "{0}()",
        ("{0}g = 2.0",),
    ),
    "partial": Seen(
        "{0} = functools.partial(lambda k: k[0], [1.0])",
        "{0}()",
        ("{0}.args[0][0] = 2.0", "{0} = functools.partial(lambda k: k, 4.0)"),
    ),
    "lambda in a dict": Seen("{0} = dict(f=lambda: 1.0)", "{0}['f']()", ("{0}['f'] = lambda: 2.0",)),
    "decorated": Seen(
        "{0}g = 1.0\ndef {0}d(f):\n    @functools.wraps(f)\n    def g():\n        return f() * {0}g\n"
        "    return g\n@{0}d\ndef {0}():\n    return 2.0",
        "{0}()",
        ("{0}g = 2.0",),
    ),
    "module": Seen("{0} = types.ModuleType('{0}')\n{0}.k = 1.0", "{0}.k", ("{0}.k = 2.0",)),
    "import inside": Seen(
        "sys.modules['{0}'] = types.ModuleType('{0}')\nsys.modules['{0}'].k = 1.0\ndef {0}():\n"
        "    import {0} as m\n    return m.k",
        "{0}()",
        ("sys.modules['{0}'].k = 2.0",),
    ),
    "from import inside": Seen(
        "sys.modules['{0}'] = types.ModuleType('{0}')\nsys.modules['{0}'].k = 1.0\ndef {0}():\n"
        "    from {0} import k\n    return k",
        "{0}()",
        ("sys.modules['{0}'].k = 2.0",),
    ),
    "computed name": Seen(
        _OWN + "{0}.k = 1.0\n{0}n = 'k'",
        "getattr({0}, {0}n)",
        ("{0}.k = 2.0", "{0}.j = 5.0\n{0}n = 'j'"),
    ),
    "globals()": Seen("{0} = 1.0", "globals()['{0}']", ("{0} = 2.0",)),
    "environment": Seen("os.environ['{0}'] = '1.0'", "float(os.environ['{0}'])", ("os.environ['{0}'] = '2.0'",)),
    "context variable": Seen("{0} = contextvars.ContextVar('{0}', default=1.0)", "{0}.get()", ("{0}.set(2.0)",)),
    "thread-local": Seen("{0} = threading.local()\n{0}.k = 1.0", "{0}.k", ("{0}.k = 2.0",)),
    "bytearray": Seen("{0} = bytearray(b'a')", "float({0}[0])", ("{0}[0] = 70",)),
    "array of array": Seen("{0} = array.array('d', [1.0])", "{0}[0]", ("{0}[0] = 2.0",)),
    "object array": Seen("{0} = np.array([1.0, None], object)", "{0}[0]", ("{0}[0] = 2.0",)),
    "mapping proxy": Seen("{0}d = dict(k=1.0)\n{0} = types.MappingProxyType({0}d)", "{0}['k']", ("{0}d['k'] = 2.0",)),
    "iterator": Seen("{0} = itertools.count(1)", "float(next({0}))", ("pass",)),
    "deque": Seen("{0} = collections.deque([1.0])", "{0}[0]", ("{0}.appendleft(2.0)",)),
    "chain map": Seen("{0}d = dict(k=1.0)\n{0} = collections.ChainMap({0}d)", "{0}['k']", ("{0}d['k'] = 2.0",)),
    "counter": Seen("{0} = collections.Counter('a')", "{0}['a']", ("{0}['a'] = 3",)),
    "enum": Seen("class {0}(enum.Enum):\n    K = 1.0", "{0}.K.value", ("{0}.K._value_ = 2.0",)),
    "named tuple": Seen(
        "{0} = collections.namedtuple('{0}', 'k')(np.ones(2))",
        "{0}.k[0]",
        ("{0}.k[0] = 2.0", "{0} = {0}._replace(k=np.full(2, 3.0))"),
    ),
    "subclass of dict": Seen("class {0}c(dict):\n    pass\n{0} = {0}c(k=1.0)", "{0}['k']", ("{0}['k'] = 2.0",)),
    "list of objects": Seen(
        "{0} = [types.SimpleNamespace(k=1.0)]",
        "sum(o.k for o in {0})",
        ("{0}[0].k = 2.0", "{0}.append(types.SimpleNamespace(k=3.0))"),
    ),
    "branch": Seen("{0} = True", "(1.0 if {0} else 2.0)", ("{0} = False",)),
    "text": Seen("{0} = 'sin'", "getattr(np, {0})(1.0)", ("{0} = 'cos'",)),
    "random state": Seen("{0} = np.random.RandomState(1)", "{0}.random()", ("pass",)),
    "generator": Seen("{0} = np.random.default_rng(1)", "{0}.random()", ("pass",)),
}
_MODULES = "array, collections, contextvars, dataclasses, enum, functools, itertools, os, sys, threading, types"


class Surroundings:
    """A module with a function ``f`` that sees some of SEEN."""

    def __init__(self, kinds: Sequence[str], name: str) -> None:
        self.module = types.ModuleType(name)
        lines, reads = [f"import {_MODULES}", "import numpy as np"], []
        for k, kind in enumerate(kinds):
            own = f"{name}_{k}"
            lines.append(SEEN[kind].made.format(own))
            reads.append(f"{k + 2} * ({SEEN[kind].read.format(own)})")
        lines.append(f"def f(x):\n    return np.sum(np.sin(x) * ({' + '.join(reads)}))")
        sys.modules[name] = self.module
        exec(compile("\n".join(lines), f"<{name}>", "exec"), self.module.__dict__)

    def change(self, change: tuple[int, str]) -> None:
        """Change something, where earlier changes leave what can be changed so."""
        at, text = change
        with contextlib.suppress(LookupError, TypeError):
            exec(text.format(f"{self.module.__name__}_{at}"), self.module.__dict__)


def stale(kinds: Sequence[str], changes: Sequence[tuple[int, str]]) -> str:
    """What a gradient function says of an old state of what it sees, or nothing; a warning is an answer too.

    Two modules alike are changed alike; in one NumPy calls the function, in the other a derivative that is kept.
    """
    plain, traced = (Surroundings(kinds, f"seen_{side}") for side in ("plain", "traced"))
    kept = sg.value_and_grad(traced.module.f, backend="numpy")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", TracedAgain)  # what is traced again is right
        for change in (None, *changes):
            if change is not None:
                plain.change(change)
                traced.change(change)
            for _ in range(2):
                want = plain.module.f(_X)
                try:
                    value, gradient = kept(_X)
                except SymgradError:
                    return ""
                if warned:
                    return ""
                if not np.isclose(value, want, rtol=1e-12):
                    return f"after {change and change[1].format('it')!r} the value is {value}, NumPy's {want}"
                slopes = np.cos(_X) * (want / np.sum(np.sin(_X)))  # the function is linear in the sines
                if not np.allclose(gradient, slopes, rtol=1e-12):
                    return f"after {change and change[1].format('it')!r} the gradient is {gradient}, right is {slopes}"
    return ""


_X = np.array([0.3, 0.7])


def drawn_changes(r: random.Random, kinds: Sequence[str], count: int) -> list[tuple[int, str]]:
    """So many changes, each of one of ``kinds``."""
    places = [r.randrange(len(kinds)) for _ in range(count)]
    return [(at, r.choice(SEEN[kinds[at]].changes)) for at in places]
