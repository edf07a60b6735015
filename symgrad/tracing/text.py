"""Whether the text of a traced value decides anything, or is only shown: printed, logged, said in an error."""

from __future__ import annotations

import dis
import functools
from types import CodeType, FrameType

from ..errors import is_library, user_frame

_INSIDE = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
#: instructions that throw away what was made before them, and such as go on with it
_ENDS = ("POP_TOP", "RAISE_VARARGS")
_USES = ("STORE", "RETURN", "COMPARE", "CONTAINS", "IS_OP", "BINARY_SUBSCR", "POP_JUMP", "JUMP_IF", "YIELD", "MATCH")


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
    for instruction in dis.get_instructions(code):
        if instruction.offset > begin:
            if instruction.opname in _ENDS:
                return True
            if instruction.opname.startswith(_USES):
                return False
    return False
