"""The exported C function for Fortran 2008: a module with its interface, and a program that checks it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import sympy

from ...emit.loops.language import STATUSES, Array, Name
from ...errors import UnsupportedOperation
from ...program.dims import Dim, dim_source
from .. import header
from ..c.document import unchecked_source
from ..c.names import RESERVED, Names, names_of
from ..naming import target_names
from ..sources import Sources
from ..subject import Subject
from .checking import program
from .spelling import KINDS, indented, kind_of, type_of, wrapped

#: names are made longer by _module, _check and statuses, and Fortran 2008 allows 63 characters
_LONGEST = 50
#: axes that an array of Fortran 2008 may have
_MAX_AXES = 15
#: functions of Fortran that C has not; a module that has another one of that name hides them
_INTRINSIC = """
    achar aimag aint all allocated anint any associated btest char cmplx command conjg count cshift dble dim digits
    dot_product dprod eoshift epsilon erfc_scaled findloc fraction huge iachar iall iand iany ichar ieor index int ior
    kind lbound len log_gamma logical maskl maskr matmul max maxloc maxval merge min minloc minval mod modulo nearest
    nint norm2 not null pack parity precision present product radix range rank real repeat reshape scale scan shape
    shiftl shiftr sign size sngl spacing spread sum tiny transfer transpose trim ubound unpack verify
"""
_RESERVED = RESERVED.union(_INTRINSIC.split(), [kind for _, kind in KINDS.values()], ["c_size_t"])
_FLAGS = "-std=c99 -O2"


def source(subject: Subject) -> Sources:
    """The module, the C function that it is the interface of, and the check.

    >>> import symgrad
    >>> files = symgrad.grad(lambda x: x**3).export("fortran", 2.0)
    >>> list(files)
    ['grad_f.f90', 'grad_f.c', 'grad_f_check.f90']
    >>> print(*[line.strip() for line in files["grad_f.f90"].splitlines() if "grad_f(" in line])
    function grad_f(x, df_dx) bind(c, name="grad_f") result(status)
    """
    names = names_of(subject)
    for array in (*names.routine.inputs, *names.routine.outputs):
        _refuse(array)
    (function,) = _named([names.function])
    made = {
        f"{subject.stem}.f90": [*_header(subject, function), *_module(subject, names, function)],
        f"{subject.stem}_check.f90": program(subject, names, function),
    }
    module, check = ("\n".join(wrapped(lines)) + "\n" for lines in made.values())
    module_name, check_name = made
    return Sources({module_name: module, f"{subject.stem}.c": unchecked_source(subject, names), check_name: check})


def _named(names: Sequence[str], *taken: str) -> list[str]:
    """Names of C as Fortran has them, to whom the case of letters is nothing."""
    return target_names(names, {*_RESERVED, *taken}, caseless=True, longest=_LONGEST)


def _refuse(array: Name | Array) -> None:
    kind_of(array.dtype)
    if isinstance(array, Array) and len(array.shape) > _MAX_AXES:
        raise UnsupportedOperation(
            f"an array of {len(array.shape)} axes is more than the {_MAX_AXES} of Fortran; export it as python or c."
        )


def _header(subject: Subject, function: str) -> list[str]:
    rows = header.lines(subject)
    if re.fullmatch(r"[\w-]{1,50}", subject.stem, re.ASCII):
        stem, check = subject.stem, f"{function}_check"
        rows.append(f"build: cc {_FLAGS} -c {stem}.c")
        rows.append(f"check: gfortran {stem}.f90 {stem}_check.f90")
        rows.append(f"    {stem}.o -lm -o {check} && ./{check}")
    return [*[f"! {row}".rstrip() for row in rows], ""]


def _module(subject: Subject, names: Names, function: str) -> list[str]:
    routine = names.routine
    arguments = [*routine.dims.values(), *[a.name for a in (*routine.inputs, *routine.outputs)]]
    spelled = dict(zip(arguments, _named(arguments, function), strict=True))
    dims = {symbol: spelled[name] for symbol, name in routine.dims.items()}
    declared = [f"integer(c_size_t), value :: {name}" for name in dims.values()]
    for array in (*routine.inputs, *routine.outputs):
        declared.append(_declared(array, spelled[array.name], dims))
    kinds = sorted({"c_int", *re.findall(r"\bc_\w+(?=\))", "\n".join(declared))})
    statuses = {"ok": "all is well"} | {s: STATUSES[s] for s in routine.statuses()}
    given = ", ".join(spelled.values())
    return [
        f"module {function}_module",
        *indented([f"use, intrinsic :: iso_c_binding, only: {', '.join(kinds)}", "implicit none", "private"]),
        f"  public :: {', '.join([function, *[f'{function}_{status}' for status in statuses]])}",
        "",
        "  ! what the function gives; where that is not 0, the outputs mean nothing",
        *[
            row
            for status, said in statuses.items()
            for row in [
                f"  ! {said}",
                f"  integer(c_int), parameter :: {function}_{status} = {names.numbers[status]}",
            ]
        ],
        "",
        "  interface",
        *indented(_about(subject, names, spelled), 4),
        f'    function {function}({given}) bind(c, name="{names.function}") result(status)',
        *indented([f"import :: {', '.join(kinds)}", *declared, "integer(c_int) :: status"], 6),
        f"    end function {function}",
        "  end interface",
        "",
        f"end module {function}_module",
    ]


def _declared(array: Name | Array, name: str, dims: dict[sympy.Symbol, str]) -> str:
    """An argument: numbers are passed by value, arrays with their axes reversed, for the last one runs fastest in C."""
    own = type_of(array.dtype)
    if isinstance(array, Name):
        return f"{own}, value :: {name}"
    extents = f"({_extents(array.shape[::-1], dims)})" if array.shape else ""
    return f"{own}, intent({'out' if array.role == 'output' else 'in'}) :: {name}{extents}"


def _extents(shape: Sequence[Dim], dims: dict[sympy.Symbol, str]) -> str:
    """Sizes; what is divided is whole, as in C."""
    return ", ".join(dim_source(d, dims).replace("//", "/") for d in shape)


def _about(subject: Subject, names: Names, spelled: dict[str, str]) -> list[str]:
    """What the function computes, and what its arguments are."""
    routine = names.routine
    dims = {symbol: spelled[name] for symbol, name in routine.dims.items()}
    title = re.sub(r"[^ -~]", "_", subject.title)
    rows = [f"{title[0].upper()}{title[1:]}."]
    if dims:
        rows.append(f"{', '.join(dims.values())}: sizes")
    for array in (*routine.inputs, *routine.outputs):
        role = "output" if isinstance(array, Array) and array.role == "output" else "input"
        shape = array.shape if isinstance(array, Array) else ()
        what = f"array, in C of the shape ({_extents(shape, dims)})" if shape else "number"
        rows.append(f"{spelled[array.name]}: {role}, {what}")
    rows.append("Arrays lie in C order: their axes are declared in reverse, x(j, i) is x[i][j] there.")
    rows.append("No output may overlap an input.")
    return [f"! {line}" for row in rows for line in textwrap.wrap(row, 96, subsequent_indent="    ")]
