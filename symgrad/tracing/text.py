"""The text of traced values: guarded, unless it is printed; a number that is read back out of it is refused."""

from __future__ import annotations

import ast
import builtins
import functools
import io
import linecache
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..errors import CONTRACT, user_frame
from ..program.node import Node
from .dispatch import refuse
from .sources import source_tree
from .trace import Trace

#: functions that make text of what they are given, and do nothing else
_MAKING = frozenset(("str", "repr", "format"))
_JOINING = frozenset(("format", "join"))
#: what may read it and is never followed, as it looks at who calls it
_LOOKING = frozenset(("eval", "exec"))
#: methods of mappings that look something up by a text
_LOOKING_UP = frozenset(("get", "pop", "setdefault", "__getitem__"))
#: digits from which on two numbers have the same ones by no chance
_FEW_DIGITS = 4
#: what shows a text, by the name it has in code
_SHOWING: dict[str, Callable] = {"print": print, "warn": warnings.warn}


def is_only_shown() -> bool:
    """Whether the text that is made now is shown by ``print`` or ``warnings.warn``; True where no user's code runs.

    It is read from the source: the expression is among the arguments of such a call, and no other call is given it.
    """
    frame = user_frame()
    if frame is None:
        return True
    lines = tuple(linecache.getlines(frame.f_code.co_filename))
    name = _shown_by(frame.f_code, frame.f_lasti, lines)
    return name is not None and _named(frame, name) is _SHOWING[name.rpartition(".")[2]]


def value_of_text(trace: Trace, node: Node) -> np.ndarray:
    """The value in this run that a text is of, guarded where the text is more than shown."""
    if is_only_shown():
        return np.asarray(trace.value_of(node))
    trace.keys.add(node)
    return np.asarray(trace.guard(node))


def note_text(trace: Trace, node: Node, text: str) -> None:
    """Note the text of a float with a slope, for what reads it back has none."""
    if not trace.has_slope(node) or is_only_shown():
        return
    frame = user_frame()
    is_hidden = frame is not None and not _LOOKING.isdisjoint(frame.f_code.co_names)
    if trace.follow is None or is_hidden:  # who reads it is not seen
        said = "the text of a traced value is made here, and a number that is read back out of it would have no slope"
        refuse(f"{said}. {CONTRACT}")
    trace.texts.append(text)


def note_numbers(trace: Trace, node: Node, text: str) -> None:
    """Note each number in a text that is made of a float and others."""
    for number in re.findall(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?", text):
        note_text(trace, node, number)


def refuse_read_back(trace: Trace, function: Callable, given: Any, made: Any) -> None:
    """Refuse what ``function`` has made, where it is a number that it has read out of a text of a traced one."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", str(function))
    if isinstance(owner, Mapping) and name in _LOOKING_UP:
        return
    is_real = _is_real(made)
    if not (is_real or function is int):  # others give how many there are, and where
        return
    found = [text for value in given for text in _texts_in(value)]
    holds = _holds if is_real else _shares_digits
    is_read = any(holds(text, number) for text in found for number in trace.texts)
    values = list(_plain_reals(made))
    if is_read or (values and any(_is_one_of(values, number) for number in trace.texts)):
        refuse(
            f"{name} reads a number back out of the text of a traced value, and its derivative would be lost; use the "
            f"value itself. {CONTRACT}"
        )


def _is_real(made: Any) -> bool:
    """Whether it is a number that is not whole, or holds some."""
    if isinstance(made, (list, tuple, dict)):
        return any(map(_is_real, made.values() if isinstance(made, dict) else made))
    if isinstance(getattr(made, "dtype", None), np.dtype):
        return made.dtype.kind in "fc"
    return isinstance(made, (float, complex, Decimal, Fraction))


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (bytes, bytearray)):
        yield value.decode("latin-1")
    elif isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(part)
    elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "SU":
        yield from map(str, np.ravel(value).astype(str).tolist())
    elif isinstance(value, (io.StringIO, io.BytesIO)):
        yield from _texts_in(value.getvalue())


def _holds(text: str, number: str) -> bool:
    """Whether a text holds a number, and not as a part of another one, or many of its digits."""
    stands = re.search(rf"(?<![\w.]){re.escape(number)}(?![\w.])", text) is not None
    return stands or _shares_digits(text, number)


def _shares_digits(text: str, number: str) -> bool:
    """Whether so many digits of a number stand in a text that it was made of it."""
    own = _digits(number)
    if len(own) < _FEW_DIGITS:
        return False
    numbers = map(_digits, re.findall(r"\d+\.\d+", text))
    parts = [*re.findall(rf"\d{{{_FEW_DIGITS},}}", text), *(n for n in numbers if len(n) >= _FEW_DIGITS)]
    return own in "".join(filter(str.isdigit, text)) or any(part in own for part in parts)


def _plain_reals(made: Any) -> Iterator[Any]:
    """The numbers that are not traced in what a function has made."""
    if isinstance(made, (list, tuple, dict)):
        for part in made.values() if isinstance(made, dict) else made:
            yield from _plain_reals(part)
    elif issubclass(type(made), (float, Decimal, Fraction)):
        yield made


def _is_one_of(values: list[Any], number: str) -> bool:
    """Whether one is the number of many digits that a text says: it was read out of it, wherever that stood."""
    if len(_digits(number)) < _FEW_DIGITS:
        return False
    try:
        return float(number) in map(float, values)
    except ValueError:  # a text of several numbers
        return False


def _digits(number: str) -> str:
    """The digits of a number, but zeros at its ends."""
    return "".join(filter(str.isdigit, number.lower().partition("e")[0])).strip("0")


@functools.lru_cache(maxsize=4096)
def _shown_by(code: CodeType, instruction: int, lines: tuple[str, ...]) -> str | None:
    """The name, with a dot, of the function that shows what an instruction makes; None where it may go elsewhere."""
    first, last, start, stop = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    if first is None or last is None or start is None or stop is None:
        return None
    place = (first, start), (last, stop)
    calls = [c for c in _calls(code.co_filename, lines) if _range(c)[0] <= place[0] and place[1] <= _range(c)[1]]
    while calls:
        call = calls.pop()
        name = _dotted(call.func)
        if name.rpartition(".")[2] in _SHOWING:
            return None if any(k.arg == "file" for k in call.keywords) else name
        is_joining = isinstance(call.func, ast.Attribute) and call.func.attr in _JOINING
        if name not in _MAKING and not is_joining:
            return None
    return None


@functools.lru_cache(maxsize=256)
def _calls(filename: str, lines: tuple[str, ...]) -> list[ast.Call]:
    """The calls in a file, each after those that it stands in."""
    tree = source_tree(filename, lines)
    found = [node for node in ([] if tree is None else ast.walk(tree)) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda call: (_range(call)[0], [-n for n in _range(call)[1]]))


def _range(node: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _dotted(node: ast.expr) -> str:
    """``print`` or ``warnings.warn`` as it is written; nothing for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _named(frame: FrameType, name: str) -> Any:
    """What a name of a function's leads to, through a module."""
    first, _, rest = name.partition(".")
    for space in (frame.f_locals, frame.f_globals, vars(builtins)):
        if first in space:
            return getattr(space[first], rest, None) if rest else space[first]
    return None
