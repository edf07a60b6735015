"""The function that compares the derivative with what the kernel computed."""

from __future__ import annotations

import re

import numpy as np

from ...emit.loops import Routine
from ...emit.loops.language import Array
from ..check import Given, Wanted
from ..dialect import indented
from ..python_source import wrapped
from ..subject import Subject
from .printing import array, number, type_name


def check_function(subject: Subject, name: str, routine: Routine) -> list[str]:
    """The lines of ``self_check``, which prints what it found and gives the exit status."""
    check = subject.check
    if check is None:
        said = re.sub(r"[^ A-Za-z0-9_.,:;()=<>-]", "_", f"no check ({subject.unchecked})")
        return [
            "# Says why there is nothing to compare with.",
            "function self_check()",
            f'    println("{name}: {said}")',
            "    return 0",
            "end",
        ]
    rows = [
        f"given_{k} = {_given(g, isinstance(a, Array))}"
        for k, (g, a) in enumerate(zip(check.given, routine.inputs, strict=True), 1)
    ]
    given = ", ".join(f"given_{k}" for k in range(1, len(rows) + 1))
    got = [f"got_{k}" for k in range(1, len(check.wanted) + 1)]
    rows += [f"{', '.join(got)} = {name}({given})" if got else f"{name}({given})", "worst = 0.0"]
    for own, wanted in zip(got, check.wanted, strict=True):
        rows += _compared(own, wanted)
    return [
        "# Compares with what the kernel of symgrad computed when this was written.",
        "function self_check()",
        *indented([row for line in rows for row in wrapped(line)]),
        f'    verdict = worst <= {check.tolerance!r} ? "pass" : "FAIL"',
        f'    @printf("{name}: %s (largest difference %.1e, allowed {check.tolerance:.0e})\\n", verdict, worst)',
        f"    return worst <= {check.tolerance!r} ? 0 : 1",
        "end",
    ]


def _given(given: Given, is_array: bool) -> str:
    if not is_array:
        return number(given.array().item(), given.dtype).source
    if given.values is not None:
        return array(given.values)
    element, own = _element(given), type_name(given.dtype)
    return f"in_rows({own}[{element} for k in 1:{int(np.prod(given.shape))}], {', '.join(map(str, given.shape))})"


def _element(given: Given) -> str:
    """Element k of an argument that is drawn."""
    if given.dtype.kind == "b":
        return "drawn(k) >= 0.5"
    low, span = float(given.low), float(given.high) - float(given.low)
    if given.dtype.kind == "f":
        return f"{low!r} + {span!r}*drawn(k)"
    return f"{low!r} + floor({span + 1!r}*drawn(k))"


def _compared(got: str, wanted: Wanted) -> list[str]:
    rank = len(wanted.shape)
    flat = {0: f"[{got}]", 1: got}.get(rank, f"vec(permutedims({got}, {rank}:-1:1))")
    rows = [f"worst = max(worst, difference({flat}, {wanted.step}, {array(wanted.values.astype(np.float64))}))"]
    if rank:
        shape = ", ".join(map(str, wanted.shape)) + ("," if rank == 1 else "")
        rows.insert(0, f'size({got}) == ({shape}) || error("a result has another size")')
    return rows
