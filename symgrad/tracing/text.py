"""The text of traced values: whether it decides anything or is only shown, and what is read back out of it."""

from __future__ import annotations

import ast
import dis
import functools
import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import CodeType
from typing import Any, NoReturn

import numpy as np

from ..errors import user_frame
from ..program.node import Node
from .dispatch import refuse
from .trace import Trace, current

_INSIDE = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
#: instructions that throw away what was made before them, that decide by it, and that go on with it
_ENDS = ("POP_TOP", "RAISE_VARARGS")
_DECIDES = ("COMPARE", "CONTAINS", "IS_OP", "BINARY_SUBSCR", "MATCH")
_KEEPS = ("STORE", "RETURN", "POP_JUMP", "JUMP_IF", "YIELD")
#: functions that make numbers of text, and do not ask it for ``__float__``
_READING = (Decimal, Fraction, complex, ast.literal_eval, json.loads)
#: one more, which is never followed, as it looks at who calls it
_LOOKING = "eval"
_THEIR_NAMES = frozenset((_LOOKING, *(function.__name__ for function in _READING)))
#: letters of a number that are hardly found in another text by chance
_TELLING = 6


class Text(str):
    """All digits of a traced float: what reads it back has the traced number, and after the trace a plain one."""

    __slots__ = ("number",)
    number: Any

    def __float__(self) -> float:
        return float(self.number if self.is_traced() else str(self))

    def is_traced(self) -> bool:
        """Whether the number is traced still, in this thread."""
        return self.number is not None and current() is not None

    def __reduce__(self) -> Any:
        return str, (str(self),)


def is_only_shown() -> bool:
    """Whether the user's statement that runs throws away what it makes of the text; True where no user's code runs."""
    frame = user_frame()
    while frame is not None and frame.f_code.co_name in _INSIDE:
        frame = frame.f_back and user_frame(frame.f_back)
    return frame is None or _is_thrown_away(frame.f_code, frame.f_lasti)


def value_of_text(trace: Trace, node: Node) -> np.ndarray:
    """The value in this run that a text is of, guarded where the text decides anything."""
    if is_only_shown():
        return np.asarray(trace.value_of(node))
    trace.keys.add(node)
    return np.asarray(trace.guard(node))


def readable_back(trace: Trace, number: Any, text: str) -> str:
    """The text of a number, which is the traced number where it is read back."""
    if is_only_shown() or not trace.has_slope(number._symgrad_node):
        return text
    frame = user_frame()
    called = () if frame is None else _THEIR_NAMES.intersection(frame.f_code.co_names)
    if _LOOKING in called or (called and trace.follow is None):
        _refuse_reading(" or ".join(sorted(called)))
    made = Text(text)
    made.number = number
    trace.texts.append(made)
    return made


def as_read(trace: Trace, function: Callable, text: str) -> Any:
    """What ``function`` is given for this text: the number that it is of, or itself; refused where that is lost."""
    number = text.number if type(text) is Text and text.is_traced() else None
    if function is float or function is np.float64:
        return text if number is None else number
    is_reading = any(function is reading for reading in _READING)
    if is_reading and (number is not None or any(len(t) >= _TELLING and t in text for t in trace.texts)):
        _refuse_reading(function.__name__)
    return text


def _refuse_reading(what: str) -> NoReturn:
    refuse(
        f"{what} reads a number back out of the text of a traced value, and its derivative would be lost; use the "
        "value itself."
    )


@functools.lru_cache(maxsize=1024)
def _is_thrown_away(code: CodeType, begin: int) -> bool:
    is_printed = False
    for instruction in dis.get_instructions(code):
        is_end = instruction.opname in _ENDS
        is_kept = instruction.opname.startswith(_KEEPS)
        if instruction.offset <= begin:  # ``print(f"{x}") or x`` goes on with what print gives
            is_printed = instruction.argval == "print" or (is_printed and not (is_end or is_kept))
        elif is_end or is_kept:
            return is_end or is_printed
        elif instruction.opname.startswith(_DECIDES):
            return False
    return False
