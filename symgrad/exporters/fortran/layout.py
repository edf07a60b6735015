"""Lines of Fortran: short enough, and arrays of numbers in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .spelling import KINDS, declared, number

#: characters of a line, of which Fortran 2008 allows 132
_WIDTH = 120
#: elements of one list of numbers: a statement may go on for 255 lines
_MOST_LISTED = 500
#: what is not broken: a word, a text in quotes
_WORD = re.compile(r"(?:'[^']*'|[^ '])+ *")


def wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Statements as lines that are short enough, broken at spaces; comments are short.

    >>> list(wrapped(["a = " + " + ".join(["something_long"] * 8)]))[1]
    '    something_long + something_long'
    """
    for line in lines:
        if len(line) <= _WIDTH or line.lstrip().startswith("!"):
            yield line
            continue
        indent = len(line) - len(line.lstrip())
        row = " " * indent
        for word in _WORD.findall(line.lstrip()):
            if len(row) + len(word.rstrip()) > _WIDTH - 2 and row.strip():
                yield row.rstrip() + " &"
                row = " " * (indent + 4)
            row += word
        yield row.rstrip()


def indented(lines: Iterable[str], by: int = 2) -> list[str]:
    """Lines further in."""
    return [" " * by + line if line else line for line in lines]


def declarations(dtype_text: str, names: Sequence[str], suffix: str = "") -> list[str]:
    """Declarations of many names of one type, a few in a statement."""
    rows = []
    for k in range(0, len(names), 12):
        rows.append(f"{dtype_text} :: {', '.join(name + suffix for name in names[k : k + 12])}")
    return rows


def constant(name: str, value: np.ndarray, attributes: str = "parameter") -> list[str]:
    """The declaration of an array that holds ``value``.

    >>> constant("c", np.array([[1, 2], [3, 4]]))
    ['integer(int64), parameter :: c(2, 2) = reshape([1_int64, 3_int64, 2_int64, 4_int64], [2, 2])']
    """
    kind = declared(value.dtype)
    extents = ", ".join(map(str, value.shape))
    head = f"{kind}, {attributes} :: {name}({extents}) = "
    flat = value.ravel(order="F")
    if not flat.size:
        zero = number(0, value.dtype).source
        return [head + zero]
    rows: list[str] = []
    listed = [number(v.item(), value.dtype).source for v in flat]
    if flat.size > 1 and len(set(listed)) == 1:
        return [head + listed[0]]
    if len(listed) > _MOST_LISTED:
        pieces = [listed[k : k + _MOST_LISTED] for k in range(0, len(listed), _MOST_LISTED)]
        listed = [f"{name}_{k}" for k in range(1, len(pieces) + 1)]
        for part, piece in zip(listed, pieces, strict=True):
            rows.append(f"{kind}, {attributes} :: {part}({len(piece)}) = [{', '.join(piece)}]")
    made = f"[{', '.join(listed)}]"
    if value.ndim > 1:
        made = f"reshape({made}, [{extents}])"
    return [*rows, head + made]


def imports(source: str) -> list[str]:
    """The intrinsic modules that a source needs."""
    kinds = sorted(k for k in KINDS.values() if re.search(rf"(?:\b|_){k}\b", source))
    asked = sorted(name for name in ("ieee_is_finite", "ieee_is_nan") if name in source)
    rows = [f"use, intrinsic :: iso_fortran_env, only: {', '.join(kinds)}"] if kinds else []
    return rows + ([f"use, intrinsic :: ieee_arithmetic, only: {', '.join(asked)}"] if asked else [])
