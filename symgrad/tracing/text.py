"""Whether the text of a traced value decides anything, or is only shown: printed, logged, said in an error."""

from __future__ import annotations

import dis
import functools
from types import CodeType

import numpy as np

from ..errors import user_frame
from ..program.node import Node
from .trace import Trace

_INSIDE = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
#: instructions that throw away what was made before them, that decide by it, and that go on with it
_ENDS = ("POP_TOP", "RAISE_VARARGS")
_DECIDES = ("COMPARE", "CONTAINS", "IS_OP", "BINARY_SUBSCR", "MATCH")
_KEEPS = ("STORE", "RETURN", "POP_JUMP", "JUMP_IF", "YIELD")


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
