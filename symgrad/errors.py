"""Everything that symgrad refuses, one class a mistake.

Each message says what was wrong, where (the user's own line, where there is one) and what to do
instead. The classes also derive from the built-in exception that NumPy or MindSpore raises in the
same place, so ``except ValueError`` keeps working.

>>> import symgrad
>>> try:
...     symgrad.grad(lambda x: x, grad_position=-1)
... except ValueError as error:
...     print(type(error).__name__)
ArgumentError
"""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Self

import numpy

#: folders of symgrad's own code; ``symgrad_notebook`` adds its own
OWN_FOLDERS = [os.path.dirname(os.path.abspath(__file__)) + os.sep]
_NUMPY = os.path.dirname(os.path.abspath(numpy.__file__)) + os.sep
_PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = tuple(f"{os.sep}{part}{os.sep}" for part in ("site-packages", "dist-packages"))


#: set where tracebacks keep the frames of symgrad's own code: ``set_context(full_traceback=True)``
full_tracebacks = threading.Event()

#: characters of a word that is shown, and of a message
MAX_WORD, MAX_MESSAGE = 400, 10_000


def shortened(text: str) -> str:
    """``text`` with the middle of what is endless left out, and nothing in it that a terminal obeys or refuses.

    >>> len(shortened("n" * 100_000))
    400
    >>> print(shortened("a" + chr(0)))
    a\\x00
    """
    text = _WORD.sub(lambda found: _without_middle(found[0], MAX_WORD), text)
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], _without_middle(text, MAX_MESSAGE))


def _without_middle(text: str, most: int) -> str:
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


_WORD = re.compile(rf"\S{{{MAX_WORD},}}")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class SymgradError(Exception):
    """Base of every error that symgrad raises on purpose."""

    def __init__(self, *args: object) -> None:
        super().__init__(*[shortened(a) if isinstance(a, str) else a for a in args])

    @classmethod
    def here(cls, message: str, where: tuple[str, int] | None = None) -> Self:
        """The error with ``message`` and the user's own line: the one that runs, or ``where``.

        >>> print(ShapeError.here("no"))  # doctest: +ELLIPSIS
        no
          at ...
        """
        return cls(at_user_line(message, where))

    @property
    def _render_traceback_(self) -> Callable[[], list[str]]:
        """What IPython asks an error for that shows itself: the message, and the user's own lines, marked."""
        if full_tracebacks.is_set():
            raise AttributeError("the whole traceback is shown")
        return lambda: in_a_notebook(self)


class ArgumentError(SymgradError, ValueError):
    """An argument has a value that cannot be served: a position, a flag, a sens shape."""


class ArgumentTypeError(SymgradError, TypeError):
    """An argument is of the wrong kind, or one is missing."""


class ShapeError(SymgradError, ValueError):
    """Shapes that do not fit together, said with both shapes."""


class IndexingError(SymgradError, IndexError):
    """An index that the array does not have, or that is none."""


class MissingAttribute(SymgradError, AttributeError):
    """A traced array was asked for something that arrays do not have."""


class AxisError(ShapeError, numpy.exceptions.AxisError):
    """An axis that an array does not have; NumPy's own, with the user's line."""

    def __init__(self, axis: int, ndim: int) -> None:
        super().__init__(axis, ndim)
        self.message = at_user_line(f"axis {axis} is out of bounds for array of dimension {ndim}")

    def __str__(self) -> str:
        return self.message


class DtypeError(SymgradError, TypeError):
    """A dtype that cannot be differentiated, such as integers."""


#: the end of a message that follows from the contract
CONTRACT = "See docs/contract.md."


class TracingError(SymgradError, TypeError):
    """The function does something with a traced value that would lose its derivative."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        refusals.latest = self


class _Refusals(threading.local):
    """What was refused last in this thread; the code that is traced may have caught it."""

    latest: TracingError | None = None


refusals = _Refusals()


class _Astray:
    """How many traced values were used where no trace runs, in all threads."""

    count = 0


astray = _Astray()


def without_trace() -> TracingError:
    """The error of a traced value that is used where no trace runs. In a thread that a function starts it is lost."""
    astray.count += 1
    return TracingError.here(
        "a traced value was used after its trace had ended, or in another thread; return it from the function."
    )


@contextlib.contextmanager
def apart_from_refusals() -> Iterator[None]:
    """Inside, what is refused is no business of the function that is traced outside."""
    outer, refusals.latest = refusals.latest, None
    try:
        yield
    finally:
        refusals.latest = outer


class UnknownSize(ShapeError, TracingError):
    """The size of a named dim is needed as a number while a function is traced, and it stands for every size."""


class UnsupportedOperation(TracingError):
    """A NumPy function that symgrad has no rule for."""


class UnsupportedArguments(UnsupportedOperation):
    """Arguments that the rule of a NumPy function does not take; NumPy's own code may."""


class MissingDerivative(UnsupportedOperation):
    """A derivative that a function of one's own does not declare."""


class UnusedWeightWarning(UserWarning):
    """A gradient is zero because the function never computed with the weight it is taken by."""


class TracedAgain(UserWarning):
    """A function is traced at nearly every call: something changes that every trace holds fixed."""


class DependsByComparing(UserWarning):
    """A derivative is zero because the function only compares the argument that it is taken by."""


class CompilerWarning(UserWarning):
    """The C compiler that kernels should be built with does not work; they run on NumPy."""


class StaleView(TracingError):
    """A view of a traced array was used after the array it looks into was written to."""


class CellError(SymgradError, AttributeError):
    """A Cell that lacks what every Cell has: its ``construct``, or the set-up by ``super().__init__()``."""


class ProgramError(SymgradError):
    """A Program that breaks its own rules; found by the verifier, a defect in symgrad."""


class KernelError(SymgradError):
    """A written kernel that would read memory after it was handed on; found before it runs, a defect in symgrad."""


class BackendError(SymgradError, ValueError):
    """A backend that is unknown or cannot run here."""


class NonFiniteError(SymgradError, FloatingPointError):
    """A result that holds NaN or an infinity, under ``debug``: said with the operation where it begins."""


class ClosedFormTooLarge(SymgradError, ValueError):
    """A closed form whose predicted size is above the budget."""


class MissingPart(SymgradError, ImportError):
    """A part of symgrad that needs a package which is not installed."""


class LoadError(SymgradError, ValueError):
    """A document that is not a Program in the JSON form, said with the place in it."""


class MissingFile(LoadError, FileNotFoundError):
    """There is no file of this name to load."""

    __new__ = OSError.__new__  # what copies exceptions asks a class for it, and ValueError's is no OSError's


class UnreadableFile(LoadError, OSError):
    """A file that cannot be read: a folder, or one that the user may not open."""

    __new__ = OSError.__new__


class ResultTooLarge(SymgradError, MemoryError):
    """A dense result that would not fit into memory."""

    __new__ = Exception.__new__


def is_symgrads(filename: str) -> bool:
    """True for code of symgrad."""
    return filename.startswith(tuple(OWN_FOLDERS))


def is_own(filename: str) -> bool:
    """True for code of symgrad and NumPy, which no user has written."""
    return is_symgrads(filename) or filename.startswith((_NUMPY, "<__array_function__"))


def is_library(filename: str) -> bool:
    """True for code of symgrad, NumPy, an installed package or Python itself."""
    return is_own(filename) or filename.startswith((_PYTHON, "<frozen ")) or any(p in filename for p in _INSTALLED)


def is_asked_by_library() -> bool:
    """Whether code of a library, and not the user's own, has called what runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_symgrads(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and is_library(frame.f_code.co_filename)


def user_frame(inside: FrameType | None = None) -> FrameType | None:
    """The innermost frame of the user's own code; of an installed package only where there is no other.

    It is looked for from ``inside`` outwards; from what runs where that is None.
    """
    frame = sys._getframe(1) if inside is None else inside
    found = None
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_library(name):
            return frame
        if found is None and not is_own(name):
            found = frame
        frame = frame.f_back
    return found


def at_user_line(message: str, where: tuple[str, int] | None = None) -> str:
    """``message`` followed by the user's own line, where one is found: the one that runs, or ``where``.

    >>> print(at_user_line("no"))  # doctest: +ELLIPSIS
    no
      at ...
    """
    if where is None:
        frame = user_frame()
        if frame is None:
            return message
        where = frame.f_code.co_filename, frame.f_lineno
    text = source_line(*where)
    return f"{message}\n  at {place(*where)}" + (f"\n    {text}" if text else "")


def place(file: str, line: int) -> str:
    """A place as the user knows it: in a notebook the cell, which IPython knows by the name of its code."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    cell = shell.compile.format_code_name(file) if shell is not None else None
    return f"{file}:{line}" if cell is None else f"{' '.join(map(str, cell))}, line {line}"


def source_line(file: str, number: int) -> str:
    """The text of a line without its indentation; empty where there is none."""
    return "".join(source_lines(file)[number - 1 : number]).strip()


def source_lines(file: str) -> list[str]:
    """The lines of a file that code came from; none where it cannot be read."""
    try:
        return linecache.getlines(file)
    except ValueError:  # code that was made by hand may have any text for the name of its file
        return []


@contextlib.contextmanager
def mistakes(what: str) -> Iterator[None]:
    """Inside, and in a function that it decorates, errors that wrong arguments lead to are raised as ``typed``."""
    try:
        yield
    except Exception as error:
        instead = typed(error, what)
        if instead is None:
            raise
        raise instead from (None if instead is error.__cause__ else error)


#: what Python and NumPy raise at a mistake -> the error that says so
_MISTAKES: tuple[tuple[type[Exception], type[SymgradError]], ...] = (
    (TypeError, ArgumentTypeError),
    (IndexError, IndexingError),
    (ValueError, ArgumentError),
    (ArithmeticError, ArgumentError),
    (AttributeError, UnsupportedOperation),
    (LookupError, UnsupportedOperation),
    (NotImplementedError, UnsupportedOperation),
    (AssertionError, UnsupportedOperation),
    (SystemError, UnsupportedOperation),
)


def typed(error: Exception, what: str = "", where: tuple[str, int] | None = None) -> SymgradError | None:
    """The error in place of one that a wrong argument has led to inside of symgrad; None where it is of another kind.

    ``what`` was called, at the user's line ``where``.

    >>> type(typed(IndexError("index 3 is out of bounds"))).__name__
    'IndexingError'
    """
    if isinstance(error, (SymgradError, numpy.linalg.LinAlgError, Warning)):
        return None
    if isinstance(error.__cause__, SymgradError):  # NumPy wraps what a traced value says on its way into a plain array
        return error.__cause__
    kind = next((own for builtin, own in _MISTAKES if isinstance(error, builtin)), None)
    if kind is None:
        return None
    text = str(error)
    if kind is UnsupportedOperation:
        text = f"this cannot be computed with these arguments ({type(error).__name__}: {text})"
    text = f"{what}: {text}" if what else text
    return kind(text if "\n  at " in text else at_user_line(text, where))


def in_a_notebook(error: BaseException) -> list[str]:
    """The lines that show an error: its type and message, and each line of the user's that led to it, marked."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_library(f.filename)]
    lines = [line for f in frames for line in marked_line(f)]
    message, _, where = str(error).partition("\n  at ")
    if frames and where.split("\n")[0] == place(frames[-1].filename, frames[-1].lineno or 0):
        where = ""  # the same line, which is marked
    said = [f"{type(error).__name__}: {message}", *lines, *([f"  at {where}"] if where else [])]
    return [text for line in said for text in line.split("\n")]


def marked_line(frame: traceback.FrameSummary) -> list[str]:
    """A line of the user's: its place, its text, and carets below what ran in it."""
    text = "".join(source_lines(frame.filename)[(frame.lineno or 0) - 1 : frame.lineno])
    start, end = (len(text.encode()[:column].decode(errors="ignore")) for column in (frame.colno, frame.end_colno))
    width = end - start if frame.end_lineno == frame.lineno else len(text.rstrip()) - start
    return marked(place(frame.filename, frame.lineno or 0), text, start, width)


def marked(where: str, line: str, start: int, width: int) -> list[str]:
    """A line at a place, with so many carets below it from the column ``start`` on."""
    text = line.rstrip()
    indent = len(text) - len(text.lstrip())
    return [f"  {where}:", f"    {text[indent:]}", "    " + " " * (start - indent) + "^" * max(width, 1)]
