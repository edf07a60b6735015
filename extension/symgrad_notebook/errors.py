"""Errors of the magics: one short message, with the user's own line marked."""

from __future__ import annotations

import contextlib
import linecache
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from symgrad.errors import SymgradError, marked, marked_line, place
from symgrad.tracing.trace import abandon

from .structure import visible

#: characters of a message in a widget
_LONGEST_LINE = 240


class GradCellError(SymgradError):
    """An error of a ``%%grad`` cell, shown as its message alone; the cell still fails."""

    @property
    def _render_traceback_(self):
        return lambda: visible(str(self)).splitlines()


class Interrupted(GradCellError, KeyboardInterrupt):
    """The cell was interrupted; nothing was bound, and everything that was there before still is."""


@contextlib.contextmanager
def shortening(shell: Any, keep: Callable[[BaseException], None]) -> Iterator[None]:
    """Inside, an error becomes its short form, with which the cell fails; ``keep`` is given the error itself."""
    try:
        yield
    except GradCellError:
        raise
    except KeyboardInterrupt as error:
        keep(error)
        abandon()
        raise Interrupted("interrupted: no derivative was bound, and what was there before still is.") from None
    except Exception as error:
        keep(error)
        is_syntax = isinstance(error, SyntaxError)
        raise (syntax_error(error) if is_syntax else shortened(error, shell)) from None


def one_line(error: BaseException) -> str:
    """An error as one short line, for a widget.

    >>> one_line(ValueError("no\\n  at line 3"))
    'ValueError: no'
    """
    text = " ".join(str(error).split("\n  at ")[0].split()) or "no message"
    text = f"{type(error).__name__}: {text}"
    return visible(text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…")


def whole_traceback(error: BaseException | None) -> str:
    """The traceback that a short message stands for."""
    if error is None:
        return "no error of %%grad or %grad; of others sg.set_context(full_traceback=True) shows all that follow"
    return visible("".join(traceback.format_exception(error)).rstrip())


def shortened(error: Exception, shell: Any) -> GradCellError:
    """``error`` as its type, its message, and the innermost line of the notebook that led to it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if shell.compile.format_code_name(f.filename)]
    marked = marked_line(frames[-1]) if frames else []
    # the core appends the place; the line of the notebook, marked, says it better where it is known
    text, _, place = str(error).partition("\n  at ")
    if not marked and place.startswith("Cell "):
        marked = [f"  {line.strip()}" if k == 0 else line for k, line in enumerate(place.splitlines())]
    return GradCellError("\n".join([f"{type(error).__name__}: {text}", *marked]))


def syntax_error(error: SyntaxError) -> GradCellError:
    """A cell that does not parse, marked where Python stopped."""
    line, column, end = error.lineno or 0, error.offset or 1, error.end_offset or 0
    width = end - column if error.end_lineno == error.lineno else 1
    file = error.filename or ""
    text = linecache.getline(file, line)
    return GradCellError("\n".join([f"SyntaxError: {error.msg}", *marked(place(file, line), text, column - 1, width)]))
