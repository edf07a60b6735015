"""The program that compares the function with what the kernel computed.

Its arrays are vectors of the elements in C order: Fortran passes them on as they lie, whatever axes are declared.
"""

from __future__ import annotations

import math
import re

import numpy as np

from ...emit.loops.language import Array
from ..c.names import Names
from ..check import GOLDEN, Check, Given, Wanted
from ..subject import Subject
from .spelling import filled, indented, kind_of, number, type_of

_COMPARE = """
! How far elements are from the wanted ones, relative to the largest of these or 1.
subroutine compare(got, want)
  real(c_double), intent(in) :: got(:), want(:)
  real(c_double) :: off(size(want))
  off = abs(got - want) / max(1.0_c_double, maxval(abs(want), mask=ieee_is_finite(want)))
  where (ieee_is_nan(off)) off = huge(off)
  where ((got >= want .and. got <= want) .or. (ieee_is_nan(got) .and. ieee_is_nan(want))) off = 0
  worst = max(worst, maxval(off))
end subroutine compare
"""
_DRAWN = f"""
! Element k, counted from 1, of an argument that is too large to be written out: spread evenly over the unit interval.
function drawn(k) result(u)
  integer, intent(in) :: k
  real(c_double) :: u
  u = mod(k*{GOLDEN!r}_c_double, 1.0_c_double)
end function drawn
"""


def program(subject: Subject, names: Names, function: str) -> list[str]:
    """The lines of the program."""
    check = subject.check
    if check is None:
        said = re.sub(r"[^ -~]|'", "_", f"{function}: no check ({subject.unchecked})")
        pieces = [f"  '{said[k : k + 80]}'" for k in range(0, len(said), 80)]
        rows = ["print '(a)', &", *[f"{p} // &" for p in pieces[:-1]], pieces[-1]]
        return [f"program {function}_check", *indented(["implicit none", *rows]), f"end program {function}_check"]
    inputs = names.routine.inputs
    drawn = any(g.values is None for g in check.given)
    return [
        f"! Compares {function} with what the kernel of symgrad computed when this was written.",
        f"program {function}_check",
        "  use, intrinsic :: iso_c_binding",
        "  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan",
        f"  use {function}_module, only: computed => {function}",
        "  implicit none",
        *indented(_declarations(check, drawn)),
        "",
        *indented([row for k, g in enumerate(check.given, 1) for row in _given(f"given_{k}", g)]),
        *indented(_called(check, [isinstance(a, Array) for a in inputs], list(map(str, names.dims)), function)),
        "  worst = 0",
        *indented([row for k, w in enumerate(check.wanted, 1) for row in _compared(k, w)]),
        *indented(_verdict(check, function)),
        "",
        "contains",
        *indented([*_COMPARE.split("\n"), *(_DRAWN.split("\n") if drawn else [])]),
        f"end program {function}_check",
    ]


def _declarations(check: Check, drawn: bool) -> list[str]:
    rows = [f"{type_of(g.dtype)} :: given_{k}({math.prod(g.shape)})" for k, g in enumerate(check.given, 1)]
    for k, w in enumerate(check.wanted, 1):
        rows.append(f"{type_of(w.dtype)} :: got_{k}({math.prod(w.shape)})")
        rows.append(f"real(c_double) :: want_{k}({w.values.size})")
    rows += ["real(c_double) :: worst", "integer(c_int) :: status", "character(len=40) :: found"]
    return [*rows, "integer :: k"] if drawn else rows


def _given(name: str, given: Given) -> list[str]:
    """The statements that make an argument."""
    if given.values is not None:
        return filled(name, given.values.reshape(-1))
    low, span, own = float(given.low), float(given.high) - float(given.low), kind_of(given.dtype)
    if given.dtype.kind == "b":
        element = f"logical(drawn(k) >= 0.5_c_double, {own})"
    elif given.dtype.kind == "f":
        element = f"real({low!r}_c_double + {span!r}_c_double*drawn(k), {own})"
    else:
        element = f"int({low!r}_c_double + aint({span + 1!r}_c_double*drawn(k)), {own})"
    return [f"do k = 1, {math.prod(given.shape)}", f"  {name}(k) = {element}", "end do"]


def _called(check: Check, arrays: list[bool], dims: list[str], function: str) -> list[str]:
    sizes = [f"{check.sizes[d]}_c_size_t" for d in dims]
    given = [f"given_{k}" if array else f"given_{k}(1)" for k, array in enumerate(arrays, 1)]
    got = [f"got_{k}" if w.shape else f"got_{k}(1)" for k, w in enumerate(check.wanted, 1)]
    return [
        f"status = computed({', '.join([*sizes, *given, *got])})",
        "if (status /= 0) then",
        f"  print '(a, i0, a)', '{function}: FAIL (status ', status, ')'",
        "  stop 1",
        "end if",
    ]


def _compared(k: int, wanted: Wanted) -> list[str]:
    got = f"got_{k}(::{wanted.step})" if wanted.step > 1 else f"got_{k}"
    value = f"merge(1.0_c_double, 0.0_c_double, {got})" if wanted.dtype.kind == "b" else f"real({got}, c_double)"
    return [*filled(f"want_{k}", wanted.values.astype(np.float64)), f"call compare({value}, want_{k})"]


def _verdict(check: Check, function: str) -> list[str]:
    found = f"(largest difference ' // trim(adjustl(found)) // ', allowed {check.tolerance:.0e})'"
    return [
        "write (found, '(es8.1e2)') worst",
        f"if (worst <= {number(check.tolerance, np.dtype(float))}) then",
        f"  print '(a)', '{function}: pass {found}",
        "else",
        f"  print '(a)', '{function}: FAIL {found}",
        "  stop 1",
        "end if",
    ]
