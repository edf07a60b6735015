"""Whether the text of a traced value decides anything, or is only shown: printed, logged, said in an error."""

from __future__ import annotations

import dis
import functools
from types import CodeType, FrameType

from ..errors import is_library, user_frame

_INSIDE = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
#: instructions that throw away what was made before them, that decide by it, and that go on with it
_ENDS = ("POP_TOP", "RAISE_VARARGS")
_DECIDES = ("COMPARE", "CONTAINS", "IS_OP", "BINARY_SUBSCR", "MATCH")
_KEEPS = ("STORE", "RETURN", "POP_JUMP", "JUMP_IF", "YIELD")


def is_only_shown() -> bool:
    """Whether the user's statement that runs throws away what it makes of the text; True where no user's code runs."""
    frame = user_frame()
    while frame is not None and frame.f_code.co_name in _INSIDE:
        frame = _above(frame)
    return frame is None or _is_thrown_away(frame.f_code, frame.f_lasti)


def _above(frame: FrameType) -> FrameType | None:
    """The frame of the user that a comprehension runs in."""
    above = frame.f_back
    while above is not None and is_library(above.f_code.co_filename):
        above = above.f_back
    return above


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
