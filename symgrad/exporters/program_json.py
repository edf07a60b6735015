"""JSON: the Program itself, for ``symgrad.load`` and for other programs; ``docs/program_schema.md`` describes it.

What is written is the program before the passes, which every derivation and every kernel begins with: loaded again it
computes the same bits, and it is differentiated as the function was.
"""

from __future__ import annotations

import json
from typing import Any

from ..codec.document import FORMAT, FORMAT_VERSION, HEAD, TAIL
from ..codec.limits import MAX_BYTES
from ..codec.names import plain_labels
from ..codec.programs import written_program
from ..errors import UnsupportedOperation
from ..version import VERSION
from . import header
from .check import Given
from .subject import Subject


def document(subject: Subject) -> str:
    """The document: an object with one line for each input, node and output."""
    facts = subject.facts
    head = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "symgrad": VERSION,
        "name": subject.name,
        "title": subject.title,
        "header": header.lines(subject, origins=False),  # what is loaded takes its inputs as arguments
        "facts": {
            "function": facts.function,
            "source": facts.source_hash,
            "flags": facts.flags,
            "operations": sorted(facts.primitives),
        },
    }
    tail = {
        "labels": plain_labels(subject.labels),
        "result": (subject.structure, subject.slots),
        "check": _check(subject),
    }
    text = _lines(HEAD.write(head) | written_program(subject.traced, len(subject.conditions)) | TAIL.write(tail)) + "\n"
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise UnsupportedOperation(
            f"the document would have more than {MAX_BYTES} bytes, which symgrad.load does not read: the function "
            "reads large arrays from outside. Make them arguments of the function."
        )
    return text


def _check(subject: Subject) -> dict[str, Any]:
    check = subject.check
    if check is None:
        return {"none": subject.unchecked}
    return vars(check) | {"given": [_given(g) for g in check.given], "wanted": [vars(w) for w in check.wanted]}


def _given(given: Given) -> dict[str, Any]:
    kind = {"shape": given.shape, "dtype": given.dtype}
    if given.values is None:
        return kind | {"low": float(given.low), "high": float(given.high)}
    return kind | {"values": given.values}


def _lines(made: dict[str, Any], indent: str = "") -> str:
    """The object with a line for each member, and for each item of a list of objects or lines."""
    rows = [f"{indent}  {_json(key)}: {_listed(key, value, indent + '  ')}" for key, value in made.items()]
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


def _listed(key: str, value: Any, indent: str) -> str:
    if key == "check":
        return _lines(value, indent)
    if isinstance(value, list) and value and isinstance(value[0], (dict, str)):
        return "[\n" + ",\n".join(f"{indent}  {_json(item)}" for item in value) + f"\n{indent}]"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
