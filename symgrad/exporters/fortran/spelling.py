"""Types, numbers and lines of Fortran."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...errors import UnsupportedOperation

#: dtype -> its type, and its kind in iso_c_binding
KINDS: dict[str, tuple[str, str]] = {
    "bool": ("logical", "c_bool"),
    "float32": ("real", "c_float"),
    "float64": ("real", "c_double"),
    **{f"int{bits}": ("integer", f"c_int{bits}_t") for bits in (8, 16, 32, 64)},
}
#: characters of a line, of which Fortran 2008 allows 132
_WIDTH = 120
#: what is not broken: a word, a text in quotes
_WORD = re.compile(r"(?:'[^']*'|[^ '])+ *")


def kind_of(dtype: np.dtype) -> str:
    """The kind of a dtype."""
    if dtype.name not in KINDS:
        raise UnsupportedOperation(
            f"Fortran has no {dtype.name}; cast it in the function, integers to int64, others to float32 or float64."
        )
    return KINDS[dtype.name][1]


def type_of(dtype: np.dtype) -> str:
    """The type of a dtype.

    >>> type_of(np.dtype(np.float32)), type_of(np.dtype(bool))
    ('real(c_float)', 'logical(c_bool)')
    """
    return f"{KINDS[dtype.name][0]}({kind_of(dtype)})"


def number(value: Any, dtype: np.dtype) -> str:
    """A number, exactly; what has no digits of its own by its bits.

    >>> number(0.1, np.dtype(np.float32)), number(True, np.dtype(bool)), number(np.inf, np.dtype(np.float32))
    ('0.1_c_float', '.true._c_bool', 'transfer(2139095040_c_int32_t, 0.0_c_float)')
    """
    own = kind_of(dtype)
    if dtype.kind == "b":
        return f".{'true' if value else 'false'}._{own}"
    if dtype.kind == "i":
        return f"{value}_{own}" if value > np.iinfo(dtype).min else f"(-{np.iinfo(dtype).max}_{own} - 1_{own})"
    x = dtype.type(value)
    if x == 0 or (np.isfinite(x) and abs(x) >= np.finfo(dtype).tiny):
        return f"{x!s}_{own}"
    bits = np.dtype(f"int{8 * dtype.itemsize}")
    return f"transfer({number(x.view(bits).item(), bits)}, 0.0_{own})"


def filled(name: str, values: np.ndarray) -> list[str]:
    """Statements that give the elements of a vector their values.

    >>> filled("x", np.array([1, 2])), filled("x", np.zeros(3, np.float32)), filled("x", np.zeros(0))
    (['x(1:2) = [1_c_int64_t, 2_c_int64_t]'], ['x = 0.0_c_float'], [])
    """
    numbers = [number(v.item(), values.dtype) for v in values]
    if len(set(numbers)) == 1:
        return [f"{name} = {numbers[0]}"]
    rows, first = [], 0
    while first < len(numbers):
        last, width = first, 0
        while last < len(numbers) and (width := width + len(numbers[last]) + 2) < _WIDTH - 40:
            last += 1
        rows.append(f"{name}({first + 1}:{last}) = [{', '.join(numbers[first:last])}]")
        first = last
    return rows


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
