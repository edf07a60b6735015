"""JSON: the Program itself, for ``symgrad.load`` and for other programs; ``docs/program_schema.md`` describes it.

What is written is the program before the passes, which every derivation and every kernel begins with: loaded again it
computes the same bits, and it is differentiated as the function was.
"""

from __future__ import annotations

import json
from typing import Any

from ..errors import UnsupportedOperation
from ..interchange.arrays import written_dtype, written_elements, written_float, written_shape
from ..interchange.limits import MOST_BYTES
from ..interchange.names import written_labels, written_line, written_name, written_title
from ..interchange.results import written_result
from ..interchange.writing import written_program
from ..version import VERSION
from . import header
from .check import Given, Wanted
from .subject import Subject

FORMAT = "symgrad program"
#: raised where a document of before is no longer read
FORMAT_VERSION = 1


def document(subject: Subject) -> str:
    """The document: an object with one line for each input, node and output."""
    facts = subject.facts
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "symgrad": VERSION,
        "name": written_name(subject.name),
        "title": written_title(subject.title),
        "header": header.lines(subject, origins=False),  # what is loaded takes its inputs as arguments
        "facts": {
            "function": written_title(facts.function),
            "source": facts.source_hash,
            "flags": written_line(facts.flags),
            "operations": sorted(facts.primitives),
        },
        **written_program(subject.traced, len(subject.conditions)),
        "labels": written_labels(subject.labels),
        "result": written_result(subject.structure, subject.slots),
        "check": _check(subject),
    }
    text = _lines(made) + "\n"
    if len(text.encode("utf-8")) > MOST_BYTES:
        raise UnsupportedOperation(
            f"the document would have more than {MOST_BYTES} bytes, which symgrad.load does not read: the function "
            "reads large arrays from its surroundings. Make them arguments of the function."
        )
    return text


def _check(subject: Subject) -> dict[str, Any]:
    check = subject.check
    if check is None:
        return {"none": written_line(subject.unchecked)}
    return {
        "given": [_given(g) for g in check.given],
        "wanted": [_wanted(w) for w in check.wanted],
        "sizes": dict(check.sizes),
        "tolerance": check.tolerance,
        "residual": None if check.residual is None else written_float(check.residual),
        "differences": written_line(check.differences),
    }


def _given(given: Given) -> dict[str, Any]:
    made: dict[str, Any] = {"shape": written_shape(given.shape), "dtype": written_dtype(given.dtype)}
    if given.values is None:
        return made | {"low": written_float(float(given.low)), "high": written_float(float(given.high))}
    return made | written_elements(given.values)


def _wanted(wanted: Wanted) -> dict[str, Any]:
    kind = {"shape": written_shape(wanted.shape), "dtype": written_dtype(wanted.dtype), "step": wanted.step}
    return kind | written_elements(wanted.values)


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
