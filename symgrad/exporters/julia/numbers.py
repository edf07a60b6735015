"""Arrays of numbers as Julia source."""

from __future__ import annotations

import textwrap

import numpy as np

from .printing import number, type_name

_WIDTH = 110


def array(value: np.ndarray) -> str:
    """An array as source, its elements by columns.

    >>> array(np.array([[1, 2], [3, 4]])), array(np.zeros((0, 2))), array(np.full(3, 0.5, np.float32))
    ('reshape(Int64[1, 3, 2, 4], 2, 2)', 'zeros(Float64, 0, 2)', 'fill(0.5f0, 3)')
    """
    extents = ", ".join(map(str, value.shape))
    flat = value.ravel(order="F")
    if not flat.size:
        return f"zeros({type_name(value.dtype)}, {extents})"
    first = number(flat[0].item(), value.dtype).source
    listed = [number(v.item(), value.dtype).source for v in flat]
    if flat.size > 1 and all(v == first for v in listed):
        return f"fill({first}, {extents})"
    made = f"{type_name(value.dtype)}[{', '.join(listed)}]"
    return made if value.ndim == 1 else f"reshape({made}, {extents})"


def constant(name: str, value: np.ndarray) -> list[str]:
    """The lines that give an array a name."""
    return wrapped(f"{name} = {array(value)}")


def wrapped(line: str) -> list[str]:
    """A line that is broken after commas."""
    if len(line) <= _WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
