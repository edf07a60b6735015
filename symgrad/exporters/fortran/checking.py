"""The program that compares the subroutine with what the kernel computed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..check import GOLDEN, Check, Given, Wanted
from ..loops.language import Array, Routine
from ..printed import Procedures, Signature
from ..subject import Subject
from . import spelling
from .layout import constant, imports, indented

_PROCEDURES = Procedures((Path(__file__).parent / "checking.f90").read_text()).sources


def program(subject: Subject, signature: Signature, routine: Routine) -> list[str]:
    """The lines of the program."""
    name = signature.name
    check = subject.check
    if check is None:
        said = re.sub(r"[^ -~]|'", "_", f"{name}: no check ({subject.unchecked})")
        return [f"program {name}_check", "  implicit none", *indented(wrapped_print(said)), f"end program {name}_check"]
    return _comparing(signature, routine, check)


def wrapped_print(text: str) -> list[str]:
    """A statement that prints a text, in pieces that fit a line."""
    pieces = [text[k : k + 80] for k in range(0, len(text), 80)]
    return ["print '(a)', &", *[f"  '{p}'{' // &' if p is not pieces[-1] else ''}" for p in pieces]]


def _comparing(signature: Signature, routine: Routine, check: Check) -> list[str]:
    name, dims = signature.name, [check.sizes[str(s)] for s in routine.dims]
    declared, before = [], []
    given_names = []
    for k, (given, argument) in enumerate(zip(check.given, routine.inputs, strict=True), 1):
        made, row = _given(f"given_{k}", given, isinstance(argument, Array))
        declared += made
        before += row
        given_names.append(f"given_{k}")
    after = []
    for k, wanted in enumerate(check.wanted, 1):
        extents = f"({', '.join(map(str, wanted.shape))})" if wanted.shape else ""
        declared.append(f"{spelling.declared(wanted.dtype)} :: got_{k}{extents}")
        declared += constant(f"want_{k}", wanted.values.astype(np.float64))
        after += _compared(f"got_{k}", f"want_{k}", wanted)
    arguments = [f"{d}_int64" for d in dims] + given_names + [f"got_{k}" for k in range(1, len(check.wanted) + 1)]
    call = f"call {name}({', '.join([*arguments, 'info'])})"
    allowed = f"{check.tolerance:.0e}"
    body = [
        *declared,
        "real(real64) :: worst",
        "integer :: info",
        "character(len=40) :: found",
        "",
        *before,
        call,
        "if (info /= 0) then",
        f"  print '(a, i0, a)', '{name}: FAIL (info is ', info, ')'",
        "  stop 1",
        "end if",
        "worst = 0",
        *after,
        "write (found, '(es8.1e2)') worst",
        f"if (worst <= {check.tolerance!r}_real64) then",
        f"  print '(a)', '{name}: pass (largest difference ' // trim(adjustl(found)) // ', allowed {allowed})'",
        "else",
        f"  print '(a)', '{name}: FAIL (largest difference ' // trim(adjustl(found)) // ', allowed {allowed})'",
        "  stop 1",
        "end if",
    ]
    procedures = ["", *_PROCEDURES["compare"].splitlines()]
    if any("drawn(" in row for row in before):
        body.insert(0, "integer :: k")
        procedures += ["", *_PROCEDURES["drawn"].replace("GOLDEN", f"{GOLDEN!r}_real64").splitlines()]
    special = spelling.special_numbers("\n".join(body))
    source = "\n".join([*body, *special, *procedures])
    return [
        f"! Compares {name} with what the kernel of symgrad computed when this was written.",
        f"program {name}_check",
        *indented([f"use {name}_module, only: {name}", *imports(source), "implicit none"]),
        *indented([*special, *body]),
        "",
        "contains",
        *indented(procedures),
        "",
        f"end program {name}_check",
    ]


def _given(name: str, given: Given, is_array: bool) -> tuple[list[str], list[str]]:
    """The declaration of an argument, and what makes it."""
    kind = spelling.declared(given.dtype)
    if not is_array:
        value = spelling.number(given.array().item(), given.dtype).source
        return [f"{kind}, parameter :: {name} = {value}"], []
    if given.values is not None:
        return constant(name, given.values), []
    count, rank = int(np.prod(given.shape)), len(given.shape)
    if given.dtype.kind == "b":
        element = "drawn(k) >= 0.5_real64"
    else:
        low, span = float(given.low), float(given.high) - float(given.low)
        if given.dtype.kind == "f":
            element = f"{low!r}_real64 + {span!r}_real64*drawn(k)"
        else:
            element = f"{low!r}_real64 + aint({span + 1!r}_real64*drawn(k))"
        element = f"{'real' if given.dtype.kind == 'f' else 'int'}({element}, {spelling.kind(given.dtype)})"
    declared = [f"{kind}, allocatable :: {name}({', '.join([':'] * rank)}), {name}_flat(:)"]
    order = f", order=[{', '.join(map(str, range(rank, 0, -1)))}]" if rank > 1 else ""
    shape = ", ".join(map(str, given.shape))
    rows = [f"allocate({name}_flat({count}))", f"do k = 1, {count}", f"  {name}_flat(k) = {element}", "end do"]
    return declared, [*rows, f"{name} = reshape({name}_flat, [{shape}]{order})"]


def _compared(got: str, want: str, wanted: Wanted) -> list[str]:
    """The comparison of one output, whose elements are taken in the order of rows."""
    rank = len(wanted.shape)
    value = got
    if rank > 1:
        back = ", ".join(map(str, reversed(wanted.shape)))
        value = f"reshape({got}, [{back}], order=[{', '.join(map(str, range(rank, 0, -1)))}])"
    if wanted.dtype.kind == "b":
        value = f"merge(1.0_real64, 0.0_real64, {value})"
    elif wanted.dtype != np.float64:
        value = f"real({value}, real64)"
    count = int(np.prod(wanted.shape))
    if rank != 1:
        value = f"reshape({value}, [{count}])" if rank else f"[{value}]"
    return [f"call compare({value}, {wanted.step}, {want})"]
