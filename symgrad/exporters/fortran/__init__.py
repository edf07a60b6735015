"""A Fortran 2008 module with a subroutine that computes the derivative, and a program that checks it."""

from __future__ import annotations

import re
import textwrap

import numpy as np

from .. import header
from ..loops.language import STATUSES, Array, Assign, Call, Fill, Name, Routine, Update
from ..printed import Signature
from ..sources import Sources
from ..subject import Subject
from . import procedures as written
from . import spelling
from .body import Body, checked_axes, statuses
from .checking import program
from .layout import constant, declarations, imports, indented, wrapped
from .names import RESERVED

#: characters of a name, of which Fortran 2008 allows 63; names are made longer by _module, _check and numbers
_LONGEST = 50


def source(subject: Subject) -> str | Sources:
    """A module and its check in one text; in two files where the export is written to a path.

    >>> import symgrad
    >>> text = symgrad.grad(lambda x: x**3).export("fortran", 2.0)
    >>> print(*[line.strip() for line in text.splitlines() if "grad_f(" in line], sep="\\n")
    pure subroutine grad_f(x, df_dx, info)
    call grad_f(given_1, got_1, info)
    """
    signature = Signature.of(subject, RESERVED, _LONGEST, caseless=True)
    routine = signature.routine()
    text = "\n".join(wrapped([*_header(subject, signature), *_module(subject, signature, routine)])) + "\n"
    check = "\n".join(wrapped(program(subject, signature, routine))) + "\n"
    if not subject.document:
        return text + "\n" + check
    return Sources({f"{subject.stem}.f90": text, f"{subject.stem}_check.f90": check})


def _header(subject: Subject, signature: Signature) -> list[str]:
    files = [f"{subject.stem}.f90", *([f"{subject.stem}_check.f90"] if subject.document else [])]
    check = f"{signature.name}_check"
    built = _wrapped(f"build and check: gfortran {' '.join(files)} -o {check} && ./{check}")
    plain = re.fullmatch(r"[\w-]{1,50}", subject.stem, re.ASCII) is not None
    return [*[f"! {line}".rstrip() for line in [*header.lines(subject), *(built if plain else [])]], ""]


def _module(subject: Subject, signature: Signature, routine: Routine) -> list[str]:
    body = Body(routine)
    procedures = [row for text in written.sources(body.procedures) for row in ["", *text.split("\n")]]
    read = routine.names_read()
    constants = [row for array, value in routine.constants if array.name in read for row in _constant(array, value)]
    codes = statuses("\n".join([*body.lines, *procedures]))
    subroutine = [*_about(subject, codes), *_subroutine(signature, routine, body)]
    rows = [f"integer, parameter :: status_{name} = {code}" for name, code in codes.items()]
    rows += constants
    everything = "\n".join([*subroutine, *constants, *procedures])
    rows = [*spelling.special_numbers(everything), *rows]
    return [
        f"module {signature.name}_module",
        *indented([*imports(everything + "\n".join(rows)), "implicit none", "private", f"public :: {signature.name}"]),
        *indented(rows),
        "",
        "contains",
        *[f"  {line}" if line else "" for line in ["", *subroutine, *procedures]],
        "",
        f"end module {signature.name}_module",
    ]


def _constant(array: Array, value: np.ndarray) -> list[str]:
    return constant(checked_axes(array).name, value)


def _subroutine(signature: Signature, routine: Routine, body: Body) -> list[str]:
    dims = list(routine.dims.values())
    outputs = [a.name for a in routine.outputs]
    arguments = ", ".join([*dims, *signature.inputs, *outputs, "info"])
    places = body.places

    def declaration(argument: Name | Array, intent: str) -> list[str]:
        shape = ""
        if isinstance(argument, Array) and argument.shape:
            shape = f"({', '.join(places.dim(d).source for d in checked_axes(argument).shape)})"
        return [f"{spelling.declared(argument.dtype)}, intent({intent}) :: {argument.name}{shape}"]

    rows = declarations("integer(int64), intent(in)", dims)
    rows += [row for a in routine.inputs for row in declaration(a, "in")]
    rows += [row for a in routine.outputs for row in declaration(a, "out")]
    rows.append("integer, intent(out) :: info")
    rows += declarations("integer(int64)", list(body.counters))
    for dtype in dict.fromkeys(body.names.values()):
        rows += declarations(spelling.declared(dtype), [n for n, d in body.names.items() if d == dtype])
    kinds: dict[tuple, list[str]] = {}
    for array in body.arrays.values():
        kinds.setdefault((array.dtype, len(array.shape)), []).append(array.name)
    for (dtype, rank), names in kinds.items():
        axes = f"({', '.join([':'] * rank)})" if rank else ""
        rows += declarations(f"{spelling.declared(dtype)}, allocatable", names, axes)
    for dtype in dict.fromkeys(a.dtype for a in body.fixed.values()):
        own = [a for a in body.fixed.values() if a.dtype == dtype]
        sized = [f"{a.name}({', '.join(map(str, a.shape))})" if a.shape else a.name for a in own]
        rows += declarations(spelling.declared(dtype), sized)
    if body.arrays:
        rows.append("integer :: failed")
    rows += _unread(routine)
    return [
        f"pure subroutine {signature.name}({arguments})",
        *indented([*rows, "info = 0", *_unwritten(routine), *body.lines]),
        f"end subroutine {signature.name}",
    ]


def _unread(routine: Routine) -> list[str]:
    """Arguments that the result does not depend on, mentioned so that no compiler warns of them."""
    read = routine.names_read()
    rows = []
    for k, argument in enumerate(a for a in routine.inputs if a.name not in read):
        rows += [f"associate (unread_{k} => {argument.name})", "end associate"]
    return rows


def _unwritten(routine: Routine) -> list[str]:
    """Results without an element, mentioned for the same reason."""
    written: set[str] = set()
    for s in routine.statements():
        if isinstance(s, Assign | Update | Call):
            written.add(s.target.name if isinstance(s.target, Name) else s.target.array.name)
        elif isinstance(s, Fill):
            written.add(s.array.name)
    return [f"{a.name} = {spelling.number(0, a.dtype).source}" for a in routine.outputs if a.name not in written]


def _about(subject: Subject, codes: dict[str, int]) -> list[str]:
    """What the subroutine computes, and what its arguments are."""
    title = re.sub(r"[^ -~]", "_", subject.title)
    rows = [f"{title[0].upper()}{title[1:]}."]
    failing = [f"{k} {STATUSES[name]}" for name, k in codes.items()]
    rows += [f"info is 0 where all is well{', or:' if failing else '.'}", *failing]
    return [f"! {line}" for row in rows for line in _wrapped(row)]


def _wrapped(comment: str) -> list[str]:
    return textwrap.wrap(comment, 96, subsequent_indent="    ", break_on_hyphens=False)
