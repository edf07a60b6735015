"""What an array holds, as a formula that reads it says it."""

from __future__ import annotations

import re

import numpy as np
import sympy

from .symbols import number
from .typeset import typeset

#: entries of an array that is written out in LaTeX, and characters of each
_MAX_ENTRIES, _MAX_CHARACTERS = 16, 16
#: entries from which an array is told by its first and last
_MANY = 12


def in_words(value: np.ndarray) -> str:
    """What an array holds, as text.

    >>> in_words(np.tril(np.ones((3, 3)), -1)), in_words(np.arange(20.0))
    ('1 below the diagonal, 0 on it, 0 above it', '[0., 1., …, 18., 19.]')
    """
    return _triangles(value) or _shortened(value)


def in_latex(value: np.ndarray) -> str:
    """What an array holds, as LaTeX."""
    words = in_words(value).replace("-", "$-$").replace("…", r"$\ldots$")
    return _written_out(value) or rf"\text{{{words}}}"


def _shortened(value: np.ndarray) -> str:
    around = value.ndim - 1 if value.ndim > 2 and value.size > _MANY else 0  # else a screen full of corners
    shown = value.ravel() if around else value
    short = np.array2string(shown, precision=4, threshold=_MANY, edgeitems=2, separator=", ")
    short = "[" * around + short + "]" * around
    return re.sub(r" +(?=[],])|(?<=\[) +", "", " ".join(short.replace("...", "…").split()))


def _triangles(value: np.ndarray) -> str:
    """What stands below, on and above the diagonal, where that is one number each."""
    if value.ndim != 2 or min(value.shape) < 2:
        return ""
    rows, columns = np.indices(value.shape)
    said = []
    for where, part in (("below", rows > columns), ("on", rows == columns), ("above", rows < columns)):
        held = value[part]
        if not (held == held[0]).all():
            return ""
        entry = number(held[0] + 0)
        said.append(f"{entry} {where} {'it' if said else 'the diagonal'}")
    return ", ".join(said)


def _written_out(value: np.ndarray) -> str | None:
    """A small array in brackets; None for one that is too wide."""
    if value.ndim > 2 or not 0 < value.size <= _MAX_ENTRIES or value.dtype.kind not in "biuf":
        return None
    entries = [typeset(sympy.Integer(int(v)) if value.dtype.kind == "b" else number(v)) for v in value.ravel()]
    if max(map(len, entries)) > _MAX_CHARACTERS or not np.isfinite(value).all():
        return None
    width = value.shape[-1] if value.ndim == 2 else 1
    rows = r" \\ ".join([" & ".join(entries[k : k + width]) for k in range(0, len(entries), width)])
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
