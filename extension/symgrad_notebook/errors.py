"""Errors of a ``%%grad`` cell: one short message, with the user's own line marked."""

from __future__ import annotations

import linecache
import traceback
from typing import Any

from symgrad.errors import SymgradError

from .structure import visible


class GradCellError(SymgradError):
    """An error of a ``%%grad`` cell, shown as its message alone; the cell still fails."""

    def _render_traceback_(self) -> list[str]:
        return visible(str(self)).splitlines()


def shortened(error: Exception, shell: Any, hint: str = "") -> GradCellError:
    """``error`` as its type, its message, and the innermost line of the notebook that led to it."""
    # the core appends the place by file name; the line of the notebook says it better
    text = str(error).split("\n  at ")[0]
    lines = [f"{type(error).__name__}: {text}", *_marked_line(error, shell)]
    return GradCellError("\n".join([*lines, hint] if hint else lines))


def syntax_error(error: SyntaxError, shell: Any) -> GradCellError:
    """A cell that does not parse, marked where Python stopped."""
    line, column, end = error.lineno or 0, error.offset or 1, error.end_offset or 0
    width = end - column if error.end_lineno == error.lineno else 1
    place = _place(error.filename or "", line, shell)
    text = linecache.getline(error.filename or "", line)
    return GradCellError("\n".join([f"SyntaxError: {error.msg}", *_marked(place, text, column - 1, width)]))


def _marked_line(error: Exception, shell: Any) -> list[str]:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if shell.compile.format_code_name(f.filename)]
    if not frames:
        return []
    frame = frames[-1]
    line = linecache.getline(frame.filename, frame.lineno or 0)
    start, end = (len(line.encode()[:column].decode(errors="ignore")) for column in (frame.colno, frame.end_colno))
    width = end - start if frame.end_lineno == frame.lineno else len(line.rstrip()) - start
    return _marked(_place(frame.filename, frame.lineno or 0, shell), line, start, width)


def _place(filename: str, line: int, shell: Any) -> str:
    label = shell.compile.format_code_name(filename)
    return f"  {' '.join(label)}, line {line}:" if label else f"  line {line}:"


def _marked(place: str, line: str, start: int, width: int) -> list[str]:
    text = line.rstrip()
    indent = len(text) - len(text.lstrip())
    return [place, f"    {text[indent:]}", "    " + " " * (start - indent) + "^" * max(width, 1)]
