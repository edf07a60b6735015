"""Strict JSON: UTF-8, no NaN, no key twice, and no more of anything than a document may hold."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from ..errors import LoadError
from .limits import MAX_BYTES, MAX_DIGITS, MAX_NESTED, MAX_SIGNS

#: texts, whose signs do not count, and what opens and closes
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def parsed(content: bytes) -> Any:
    """The value that ``content`` is; a LoadError where it is not strict JSON or is too large.

    >>> parsed(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    if len(content) > MAX_BYTES:
        raise LoadError(f"the document is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LoadError(f"the document is not UTF-8: {error}") from None
    if sum(map(text.count, ",[{")) > MAX_SIGNS:
        raise LoadError(f"the document holds more than {MAX_SIGNS} values")
    _check_nesting(text)
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_whole, parse_float=_real
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, LoadError):
            raise
        raise LoadError(f"the document is not JSON, which export('json') writes: {error}") from None


def _check_nesting(text: str) -> None:
    depth = 0
    for sign in _BRACKETS.finditer(text):
        first = text[sign.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_NESTED:
                raise LoadError(f"the document nests lists and objects more than {MAX_NESTED} deep")
        elif first != '"':
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice, _ = Counter([key for key, _ in pairs]).most_common(1)[0]
        raise LoadError(f"the document is not JSON: the key {twice[:80]!r} stands twice in an object")
    return made


def _constant(name: str) -> NoReturn:
    raise LoadError(f'the document is not JSON: {name} is no number there; write "nan", "inf" or "-inf" as text')


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise LoadError(f"the document holds a number of {len(digits)} digits")
    return int(digits)


def _real(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise LoadError(f"the document holds a number of {len(digits)} digits")
    value = float(digits)
    if math.isinf(value):
        raise LoadError(f"the document holds {digits[:40]}, which is beyond all floats")
    return value
