"""Where in code something stands: what is tried, what binds and what unpacks local names, what names something."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterable
from types import CodeType
from typing import NamedTuple


class Store(NamedTuple):
    """An instruction that binds names; ``read_again`` where it also puts the value it has bound on the stack."""

    names: tuple[str, ...]
    line: int
    read_again: bool


@functools.lru_cache(maxsize=64)
def stores(code: CodeType) -> dict[int, Store]:
    """The instructions that bind local names, by offset."""
    found = {}
    for i in dis.get_instructions(code):
        if i.opname.startswith(("STORE_FAST", "STORE_DEREF")):
            names = i.argval if isinstance(i.argval, tuple) else (i.argval,)
            both = i.opname == "STORE_FAST_STORE_FAST"
            again = not both and len(names) > 1 and names[0] == names[1]
            found[i.offset] = Store(names if both else names[:1], _line(i) or code.co_firstlineno, again)
    return found


@functools.lru_cache(maxsize=4096)
def attempts(code: CodeType) -> tuple[tuple[int, int], ...]:
    """The instructions that stand in a ``try`` or a ``with``, from one up to another."""
    shown = dis.Bytecode(code)
    handlers = {step.offset for step in shown if step.opname == "PUSH_EXC_INFO"}
    return tuple((e.start, e.end) for e in shown.exception_entries if e.target in handlers)  # type: ignore[attr-defined]


def unpacked(code: CodeType, argument: str) -> list[str]:
    """The names that the first instruction to unpack ``argument`` binds; none where it also binds others."""
    found = list(dis.get_instructions(code))
    for k, first in enumerate(found[:-1]):
        if first.argval != argument or found[k + 1].opname != "UNPACK_SEQUENCE":
            continue
        names: list[str] = []
        for i in found[k + 2 :]:
            if len(names) >= found[k + 1].argval or not i.opname.startswith(("STORE_FAST", "STORE_DEREF")):
                break
            names += i.argval if isinstance(i.argval, tuple) else (i.argval,)
        return names[: found[k + 1].argval]
    return []


def line_that_names(codes: Iterable[CodeType], name: str) -> tuple[str, int] | None:
    """The file and line that writes ``name`` first, or else speaks of it first."""
    found = [
        (not i.opname.startswith(("STORE", "DELETE")), code.co_filename, line)
        for code in codes
        for i in dis.get_instructions(code)
        if i.argval == name and (line := _line(i)) is not None
    ]
    return min(found)[1:] if found else None


def _line(instruction: dis.Instruction) -> int | None:
    return instruction.positions.lineno if instruction.positions is not None else None
