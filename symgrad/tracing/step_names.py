"""What a step of a loop calls its values: names of arguments, of what it unpacks them to, and of local variables."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .bytecode.places import unpacked
from .calls import followed_code
from .local_names import code_of
from .trace import current
from .tree import LEAF, keys_of, leaf_labels


def argument_labels(fn: Callable, position: int, structure: Any, otherwise: str) -> list[str]:
    """What the leaves of an argument of ``fn`` are called: ``h`` in ``def step(h, x)``, ``m`` after ``m, P = c``.

    By the keys, names and places that lead to them, behind ``otherwise``, where nothing else is known.
    """
    code = code_of(fn)
    own = [] if code is None else list(code.co_varnames[: code.co_argcount])
    place = position + (getattr(fn, "__self__", None) is not None)
    if code is None or place >= len(own):
        return leaf_labels(otherwise, structure)
    if structure == LEAF:
        return [own[place]]
    parts = list(zip(keys_of(structure), structure[-1], strict=True))
    bound = unpacked(code, own[place])
    if len(bound) != len(parts):
        bound = [key if str(key).isidentifier() else f"{otherwise}_{key}" for key, _ in parts]
    return [label for name, (_, s) in zip(bound, parts, strict=True) for label in leaf_labels(name, s)]


@contextlib.contextmanager
def local_variables(fn: Callable | None) -> Iterator[dict[str, Any]]:
    """Afterwards the dict holds the local variables that a call of ``fn`` has ended with; none where it is None.

    They are names to show, no more: where a profiler runs, which would have to be stopped for them, there are none.
    """
    found: dict[str, Any] = {}
    code, trace = None if fn is None else code_of(fn), current()
    if code is None or sys.getprofile() is not None:
        yield found
        return
    watched = followed_code(code) if trace is not None and trace.follow is not None else code

    def seen(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is watched:
            found.clear()
            found.update(frame.f_locals)

    sys.setprofile(seen)
    try:
        yield found
    finally:
        sys.setprofile(None)
