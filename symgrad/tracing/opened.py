"""What a traced function looks at outside of the process: the files, folders, connections and processes that it opens.

Python tells an audit hook of each, whichever library opens it; a trace that has opened any serves one call.
"""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

from ..errors import is_library, is_symgrads
from .library_calls import HOOKS
from .trace import current

#: event -> what it is called
_EVENTS = {
    "open": "a file",
    "os.listdir": "a folder",
    "os.scandir": "a folder",
    "socket.connect": "a connection",
    "subprocess.Popen": "a process",
    "os.posix_spawn": "a process",
    "os.system": "a process",
}
_IMPORTING = ("importlib.", "_frozen_importlib", "zipimport")


@functools.cache
def watch_what_is_opened() -> None:
    """Have it noted in each trace from now on. A hook cannot be taken away; where no trace runs it does nothing."""
    sys.addaudithook(_opened)


def _opened(event: str, args: tuple[Any, ...]) -> None:
    what = _EVENTS.get(event)
    if what is None:
        return
    trace = current()
    if trace is not None and _is_users(sys._getframe(1)):
        trace.looked_outside.add(what)


def _is_users(frame: FrameType | None) -> bool:
    """Whether what the frames open is the function's doing: none of symgrad's, and no module that is imported.

    That is said by the innermost frame that is not a library's.
    """
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.startswith(_IMPORTING):
            return False
        if is_symgrads(frame.f_code.co_filename):
            return name in HOOKS
        if not is_library(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
