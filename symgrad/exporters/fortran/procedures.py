"""The procedures that come along with a subroutine, each for the dtype that it is called with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..printed import Procedures
from .spelling import BOOL, declared, kind

_FILES = ("functions.f90", "special.f90", "sorting.f90", "matrices.f90")
#: those that are written, by name; for float64, or for what the name ends with
WRITTEN = Procedures(*[(Path(__file__).parent / name).read_text() for name in _FILES])


def suffix(dtype: np.dtype) -> str:
    """What the name of a procedure ends with for arguments of a dtype; nothing for float64.

    >>> suffix(np.dtype(np.float64)), suffix(np.dtype(np.float32)), suffix(np.dtype(bool))
    ('', '_real32', '_logical')
    """
    if dtype == np.float64:
        return ""
    return "_logical" if dtype == BOOL else f"_{kind(dtype)}"


def is_written(name: str, dtype: np.dtype) -> bool:
    """True for an elementwise function of functions.f90, at this dtype."""
    if dtype.kind == "f":
        return name in WRITTEN.sources
    return dtype.kind == "i" and f"{name}_int64" in WRITTEN.sources


def sources(used: Iterable[tuple[str, np.dtype]]) -> list[str]:
    """The sources of procedures for dtypes, and of what they call, in the order of the files."""
    found: dict[tuple[int, str], str] = {}
    order = {name: k for k, name in enumerate(WRITTEN.sources)}
    pending = list(used)
    while pending:
        base, dtype = pending.pop()
        written, source = _variant(base, dtype)
        place = (order[written], base + suffix(dtype))
        if place not in found:
            found[place] = source
            pending += [(name, dtype) for name in WRITTEN.calls[written]]
    return [found[place] for place in sorted(found)]


def _variant(base: str, dtype: np.dtype) -> tuple[str, str]:
    """The written procedure that one for a dtype is made of, and its source."""
    own = base + suffix(dtype)
    if own in WRITTEN.sources:
        return own, WRITTEN.sources[own]
    if dtype.kind == "i" and f"{base}_int64" in WRITTEN.sources:
        return f"{base}_int64", WRITTEN.sources[f"{base}_int64"].replace("int64", kind(dtype))
    source = WRITTEN.sources[base]
    for name in (base, *WRITTEN.calls[base]):
        source = re.sub(rf"\b{name}(?=\(|$)", name + suffix(dtype), source, flags=re.MULTILINE)
    if dtype.kind == "f":
        return base, source.replace("real64", kind(dtype))
    return base, source.replace("real(real64)", declared(dtype))
