"""What a change of flags did to the formulas: rows with the terms that appeared and vanished marked.

A mark is more than a colour: what appeared stands in a box, what vanished is crossed out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.closed_form.typeset import typeset

from .difference import term_diff
from .formulas import Formula

#: blue and orange of the same darkness, legible on white and on black, and told apart by the colour-blind
APPEARED, VANISHED = "#2d7fd3", "#c4681c"
#: a vanished formula that is longer is named and not written out
_MAX_VANISHED = 400


@dataclass(frozen=True)
class Row:
    """A formula as it is shown. ``status`` is ``stayed``, ``appeared``, ``vanished`` or ``changed``.

    ``appeared`` and ``vanished`` hold the terms of a changed one as text.
    """

    status: str
    label: str
    latex: str
    text: str
    appeared: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()


def compared(before: Sequence[Formula] | None, after: Sequence[Formula]) -> list[Row]:
    """The formulas after a change, marked by what they were before it; None: there was nothing before.

    Those that are gone follow at the end.
    """
    if before is None:
        return [_plain(f) for f in after]
    old = {f.label: f for f in before}
    known = {f.latex for f in before}
    rows: list[Row] = []
    for f in after:
        was = old.get(f.label)
        if not f.text:  # a line of a let-bound form, which is compared as a whole
            rows.append(_plain(f) if f.latex in known else _whole(f, "appeared"))
        else:
            rows += [_whole(f, "appeared")] if was is None else _changed(was, f)
    left = {f.label for f in after}
    return rows + [_whole(f, "vanished") for f in before if f.text and f.label not in left]


def _plain(f: Formula) -> Row:
    return Row("stayed", f.label.latex, f.latex, f.text)


def _whole(f: Formula, status: str) -> Row:
    """A formula that came or went as a whole; its row says so, so its terms need no marks."""
    latex = f.latex if status == "appeared" or len(f.latex) <= _MAX_VANISHED else r"\ldots"
    return Row(status, f.label.latex, _crossed(latex) if status == "vanished" else latex, f.text)


def _changed(before: Formula, after: Formula) -> list[Row]:
    """The formula with its terms marked; where nothing of it stayed, the one and the other."""
    if before.latex == after.latex:
        return [_plain(after)]
    found = None
    if before.entries is not None and after.entries is not None and before.entries.shape == after.entries.shape:
        found = _by_entries(before.entries, after)
    elif before.parts and after.parts:
        found = _by_parts(before, after)
    return [found] if found else [_whole(after, "appeared"), _whole(before, "vanished")]


def _by_entries(before: np.ndarray, after: Formula) -> Row | None:
    assert after.entries is not None
    cells = np.empty(after.entries.shape, dtype=object)
    appeared: dict[str, None] = {}
    vanished: dict[str, None] = {}
    stayed = False
    for k in np.ndindex(cells.shape):
        found = term_diff(before[k], after.entries[k])
        stayed |= bool(found.stayed) or not found.changed
        appeared |= dict.fromkeys(map(str, found.appeared))
        vanished |= dict.fromkeys(map(str, found.vanished))
        cells[k] = typeset(after.entries[k])
        if found.changed:
            kinds = ((found.stayed, str), (found.appeared, _boxed), (found.vanished, _crossed))
            cells[k] = _sum([(typeset(t), mark) for terms, mark in kinds for t in terms])
    row = Row("changed", after.label.latex, _array(cells), after.text, tuple(appeared), tuple(vanished))
    return row if stayed or not cells.ndim or not appeared else None


def _by_parts(before: Formula, after: Formula) -> Row | None:
    old, new = [key for key, _ in before.parts], [key for key, _ in after.parts]
    terms = [(latex, str if key in old else _boxed) for key, latex in after.parts]
    gone = [latex for key, latex in before.parts if key not in new]
    come = [latex for key, latex in after.parts if key not in old]
    if len(come) == len(new):
        return None
    latex = _sum([*terms, *((latex, _crossed) for latex in gone)])
    return Row("changed", after.label.latex, latex, after.text, tuple(come), tuple(gone))


def _sum(terms: Sequence[tuple[str, Callable[[str], str]]]) -> str:
    """Terms one after another; a mark holds the sign too, so that it is the sign of what came or went."""
    text = ""
    for latex, mark in terms:
        bare = latex.lstrip()
        negative = bare.startswith("-")
        bare = bare[1:].lstrip() if negative else bare
        sign = "-" if negative else "+" if text else ""
        text += (" " if text else "") + (
            mark(f"{sign} {bare}".strip()) if mark is not str else f"{sign} {bare}".strip()
        )
    return text or "0"


def _boxed(latex: str) -> str:
    return rf"{{\color{{{APPEARED}}}\boxed{{{latex}}}}}"


def _crossed(latex: str) -> str:
    return rf"{{\color{{{VANISHED}}}\cancel{{{latex}}}}}"


def _array(cells: np.ndarray) -> str:
    """LaTeX cells as a scalar, a row, a matrix or nested blocks, as closed forms are written."""
    if cells.ndim == 0:
        return str(cells.item())
    if cells.ndim > 2:
        return r"\left[" + r",\ ".join(_array(c) for c in cells) + r"\right]"
    rows: Any = cells.reshape(-1, cells.shape[-1])
    return r"\left[\begin{matrix}" + r"\\".join(" & ".join(row) for row in rows) + r"\end{matrix}\right]"
