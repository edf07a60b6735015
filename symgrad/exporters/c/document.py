"""The files of the format ``c``: what stands around the body of the function."""

from __future__ import annotations

import re
import textwrap

from ...emit.c.library import Library
from ...emit.c.printing import Body
from ...emit.c.spelling import TYPES, VECTORISED, declarations, type_of
from ...emit.loops import STATUSES
from ...emit.loops.language import Array, Name
from ...errors import ArgumentError, UnsupportedOperation
from .. import header
from ..sources import Sources
from ..subject import Subject
from . import check
from .names import Names, names_of

_INCLUDES = ("math.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h")
_FLAGS = "-std=c99 -O2"
_FAST = "-O3 -march=native -fopenmp-simd -fno-math-errno -fno-builtin-sin -fno-builtin-cos"


def source(subject: Subject) -> str | Sources:
    """The derivative as a C function of its arrays, and a ``main`` that compares it with the kernel's values.

    One text that holds both, the ``main`` behind a macro; for a document of its own (one that has a path) three
    files: the function, its header and its check. Named dims come first, then the inputs, then a pointer for each
    output. The function gives a status.
    """
    names = names_of(subject)
    function = _defined(names)
    macro = f"{names.function.upper()}_CHECK"
    if not subject.document:
        build = f"cc {_FLAGS} -D{macro} {names.function}.c -lm -o {names.function} && ./{names.function}"
        parts = [
            _comment(subject, build),
            _includes("stdio.h", calls=function),
            _declarations(subject, names),
            function,
        ]
        parts += [f"#ifdef {macro}\n", check.main(subject, names), "#endif"]
        return "\n\n".join(parts) + "\n"
    stem = _checked_stem(subject.stem)
    build = f"cc {_FLAGS} {stem}.c {stem}_check.c -lm -o {stem}_check && ./{stem}_check"
    head = _comment(subject, build)
    return Sources(
        {
            f"{stem}.c": "\n\n".join([head, f'#include "{stem}.h"\n\n{_includes(calls=function)}', function]) + "\n",
            f"{stem}.h": "\n\n".join([head, _guarded(names.guard, _declarations(subject, names))]) + "\n",
            f"{stem}_check.c": "\n\n".join(
                [head, f'#include "{stem}.h"\n\n{_includes("stdio.h")}', check.main(subject, names)]
            )
            + "\n",
        }
    )


def unchecked_source(subject: Subject, names: Names) -> str:
    """The function in one text without a ``main``, for a format that calls it from another language."""
    function = _defined(names)
    return "\n\n".join([_comment(subject), _includes(calls=function), _declarations(subject, names), function]) + "\n"


def _defined(names: Names) -> str:
    """The function, what it calls before it."""
    for array in (*names.routine.inputs, *names.routine.outputs):
        if array.dtype.name not in TYPES:
            raise UnsupportedOperation(f"C has no type for {array.dtype}; cast {array.name} to float64 or float32.")
    library = Library(names.statuses)
    body = Body(names.routine, library, names.statuses)
    function = "\n".join([_signature(names, True), "{", *body.lines, "}"])
    return "\n\n".join([*library.texts.values(), function])


def _checked_stem(stem: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", stem):
        raise ArgumentError(f"a C file called {stem!a} cannot be included; name it with letters, digits, _ . + -.")
    return stem


def _comment(subject: Subject, build: str = "") -> str:
    rows = [*header.lines(subject), *([f"build and check: {build}"] if build else [])]
    rows.append(f"for speed: {_FAST}, and -DLIBMVEC with glibc")
    return "\n".join(["/*", *[f" * {row}".rstrip() for row in rows], " */"])


def _includes(*more: str, calls: str = "") -> str:
    """The headers; for text that ``calls`` functions of math.h, what lets loops over them run as vectors."""
    rows = [f"#include <{name}>" for name in sorted([*_INCLUDES, *more])]
    if "#pragma omp" in calls:
        rows += ["", "#if defined __GNUC__", '#pragma GCC diagnostic ignored "-Wunknown-pragmas"', "#endif"]
        words = set(re.findall(r"\b\w+(?=\()", calls))
        found = [name for name in VECTORISED if name in words or f"{name}f" in words]
        if found:
            rows += ["#if defined LIBMVEC /* glibc's vectors */", declarations(found), "#endif"]
    return "\n".join(rows)


def _guarded(guard: str, text: str) -> str:
    return (
        f"#ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
        f'#ifdef __cplusplus\nextern "C" {{\n#endif\n\n{text}\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif'
    )


def _declarations(subject: Subject, names: Names) -> str:
    """The statuses, and the function with what is known of its arguments."""
    routine = names.routine
    rows = ["/* what the function gives: 0 where all is well, else what hinders it; then the outputs mean nothing */"]
    possible = routine.statuses()
    rows.append("enum {")
    rows.append(f"    {names.statuses['ok']} = 0{',' if possible else ''}")
    for status in possible:
        comma = "," if status != possible[-1] else ""
        rows.append(f"    {names.statuses[status]} = {names.numbers[status]}{comma} /* {STATUSES[status]} */")
    rows.append("};")
    rows += ["", "/*", f" * {subject.title[0].upper()}{subject.title[1:]}."]
    if routine.dims:
        rows.append(f" * {', '.join(routine.dims.values())}: sizes")
    for given in (*routine.inputs, *routine.outputs):
        rows += [f" * {row}" for row in _described(given, names)]
    rows += [" * Arrays lie in C order, the last index runs fastest; no output may overlap an input.", " */"]
    rows.append(_signature(names, False) + ";")
    return "\n".join(rows)


def _described(given: Name | Array, names: Names) -> list[str]:
    from ...emit.c.spelling import Spelling

    role = "output" if isinstance(given, Array) and given.role == "output" else "input"
    if isinstance(given, Name):
        return [f"{given.name}: {role}, a number"]
    spell = Spelling(names.routine.dims, set(), lambda name, dtype: name)
    shape = ", ".join(spell.dim(d).strip("()") for d in given.shape)
    return textwrap.wrap(f"{given.name}: {role}, {f'array of shape ({shape})' if given.shape else 'one number'}", 100)


def _signature(names: Names, restrict: bool) -> str:
    routine = names.routine
    sign = "restrict " if restrict else ""
    parts = [f"size_t {name}" for name in routine.dims.values()]
    for given in routine.inputs:
        kind = type_of(given.dtype)
        parts.append(f"const {kind} *{sign}{given.name}" if isinstance(given, Array) else f"{kind} {given.name}")
    parts += [f"{type_of(out.dtype)} *{sign}{out.name}" for out in routine.outputs]
    head = f"int {names.function}("
    text = head + ", ".join(parts or ["void"]) + ")"
    return text if len(text) <= 110 else head + "\n    " + ",\n    ".join(parts) + ")"
