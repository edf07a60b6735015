"""The same programs in other surroundings: each module of programs, written anew and run.

``import numpy as np`` becomes ``from numpy import …``, functions become methods, closures, and code without source.
Only names are replaced, where they stand: lines and columns before them stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import math
import sys
import textwrap
from collections.abc import Callable
from types import ModuleType

from collection import Program

#: a spelling -> the module of programs in it
SPELLINGS: dict[str, Callable[[ModuleType], dict[str, Program]]] = {}


def _spelling(made: Callable[[ModuleType], dict[str, Program]]) -> Callable[[ModuleType], dict[str, Program]]:
    SPELLINGS[made.__name__] = made
    return made


@_spelling
def as_written(module: ModuleType) -> dict[str, Program]:
    return module.PROGRAMS


@_spelling
def imported_names(module: ModuleType) -> dict[str, Program]:
    """``from numpy import array, zeros`` and ``from math import sin``, where the module has no such name itself."""
    source = _source(module)
    taken = _names(source) | set(dir(builtins))
    source, of_numpy = _renamed(source, "np", taken)
    source, of_math = _renamed(source, "math", taken | {name for name, _ in of_numpy})
    lines = []
    for package, names in (("numpy", of_numpy), ("math", of_math)):
        for name, own in sorted(names):
            lines.append(f"from {package} import {name}" + (f" as {own}" if own != name else ""))
    return _run("; ".join(lines), source, module, "names")


@_spelling
def starred_math(module: ModuleType) -> dict[str, Program]:
    """``from math import *``, after which ``pow`` is another one; names of the module hide some of its functions."""
    source = _source(module)
    taken = _names(source) & set(dir(math)) - {"pow"}
    source, names = _renamed(source, "math", taken)
    hidden = "".join(f"; from math import {name} as {own}" for name, own in sorted(names) if own != name)
    return _run(f"from math import *{hidden}", source, module, "star")


@_spelling
def methods(module: ModuleType) -> dict[str, Program]:
    """The functions of the programs are methods of an object, which is what calls them."""
    source = _source(module)
    tree = ast.parse(source)
    lines = source.splitlines()
    made = ["", "", "class Model:"]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in module.PROGRAMS:
            text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            first = text.index("(") + 1
            made.append(textwrap.indent(f"{text[:first]}self, {text[first:]}", "    ") + "\n")
    found = _run("", source + "\n".join(made) + "\n", module, "methods", keep=True)
    model = found["Model"]()
    return {name: Program(getattr(model, name), p.args, p.wrt, p.also) for name, p in found["PROGRAMS"].items()}


@_spelling
def closures(module: ModuleType) -> dict[str, Program]:
    """All of the module is local to a function, NumPy too: what was global is a free variable."""
    source = "def surroundings():\n" + textwrap.indent(_source(module), "    ") + "\n\nsurroundings()\n"
    return _run("", source, module, "closures")


@_spelling
def without_source(module: ModuleType) -> dict[str, Program]:
    """What ``exec`` makes of text: no file, and no lines to show."""
    namespace: dict = {"__name__": "__main__"}
    exec(_source(module), namespace)
    return namespace["PROGRAMS"]


def _source(module: ModuleType) -> str:
    """The source, without what only modules may hold."""
    with open(module.__file__, encoding="utf-8") as file:
        return file.read().replace("from __future__ import annotations\n", "\n")


def _names(source: str) -> set[str]:
    """All names that a module binds or reads."""
    tree = ast.walk(ast.parse(source))
    return {n.id if isinstance(n, ast.Name) else n.arg for n in tree if isinstance(n, (ast.Name, ast.arg))} | {
        n.name for n in ast.walk(ast.parse(source)) if isinstance(n, (ast.FunctionDef, ast.ClassDef))
    }


def _renamed(source: str, package: str, taken: set[str]) -> tuple[str, set[tuple[str, str]]]:
    """``np.sin`` is ``sin`` everywhere, or ``np_sin`` where that is taken; the names, with their own."""
    rows = [line.encode() for line in source.split("\n")]
    found, names = [], set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == package:
            own = node.attr if node.attr not in taken else f"{package}_{node.attr}"
            names.add((node.attr, own))
            found.append((node.lineno - 1, node.col_offset, node.end_col_offset, own))
    for row, start, end, own in sorted(found, reverse=True):
        rows[row] = rows[row][:start] + own.encode() + rows[row][end:]
    return b"\n".join(rows).decode(), names


def _run(first: str, source: str, module: ModuleType, spelling: str, keep: bool = False) -> dict:
    """The programs of a module that this source makes; its lines are known by the name of a file that is none."""
    if first:  # in place of the line that brought NumPy, so that each line keeps its number
        assert "\nimport numpy as np\n" in source
        source = source.replace("\nimport numpy as np\n", f"\nimport numpy as np; {first}\n")
    name = f"<{module.__name__.rpartition('.')[2]} with {spelling}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    made = sys.modules[f"{module.__name__}_{spelling}"] = ModuleType(f"{module.__name__}_{spelling}")
    exec(compile(source, name, "exec"), vars(made))
    return vars(made) if keep else made.PROGRAMS
