"""A whole document: the Program with its names, its facts, how its results are nested, and its check."""

from __future__ import annotations

from typing import Any

from .arrays import DTYPE
from .forms import Either, Form, Listed, Made, Mapped, Members, OneOf, Real, Schema, Text, Whole, Wrong
from .limits import MAX_AXES, MAX_CHECKED, MAX_ELEMENTS, MAX_INPUTS, MAX_NAMES, MAX_OUTPUTS
from .names import HASH, LABEL, LINE, NAME, TITLE, WORD
from .programs import PROGRAM, ArrayForm
from .results import RESULT

FORMAT = "symgrad program"
#: raised where a document of before is no longer read
FORMAT_VERSION = 1


_REAL = Real()
#: a number, or null where differences were not taken
_RESIDUAL = Made(
    Form({"oneOf": [{"type": "null"}, *_REAL.schema({})["oneOf"]]}),
    lambda value, known: None if value is None else _REAL.read(value),
    lambda value: None if value is None else _REAL.write(value),
)


def _tolerance(value: float, known: Any) -> float:
    if not 0 <= value <= 1:
        raise Wrong("should be from 0 to 1")
    return value


_ARRAY: dict[str, Form] = {"shape": Listed(Whole(0, MAX_ELEMENTS), MAX_AXES), "dtype": DTYPE}
_DRAWN = Members({**_ARRAY, "low": _REAL, "high": _REAL})
_GIVEN = Either("low", _DRAWN, ArrayForm(_ARRAY)).named("given")
_WANTED = ArrayForm({**_ARRAY, "step": Whole(1, MAX_ELEMENTS)}).named("wanted")
CHECK = Members(
    {
        "given": Listed(_GIVEN, MAX_INPUTS),
        "wanted": Listed(_WANTED, MAX_OUTPUTS),
        "sizes": Mapped(Text(), Whole(1, MAX_CHECKED), MAX_NAMES),
        "tolerance": Made(_REAL, _tolerance),
        "residual": _RESIDUAL,
        "differences": LINE,
    }
)
UNCHECKED = Members({"none": LINE})

#: what a document begins and ends with
HEAD = Members(
    {
        "format": OneOf(FORMAT),
        "version": Whole(FORMAT_VERSION, FORMAT_VERSION),
        "symgrad": Text(100),
        "name": NAME,
        "title": TITLE,
        "header": Listed(LINE, 10_000),
        "facts": Members({"function": TITLE, "source": HASH, "flags": LINE, "operations": Listed(WORD, 1_000)}),
    }
)
TAIL = Members(
    {"labels": Listed(LABEL, MAX_OUTPUTS), "result": RESULT, "check": Either("none", UNCHECKED, CHECK)},
)
DOCUMENT = Members({**HEAD.forms, **PROGRAM, **TAIL.forms})


def schema() -> Schema:
    """JSON Schema, draft 2020-12, of all documents; ``program.schema.json`` holds it.

    >>> schema()["properties"]["version"]
    {'type': 'integer', 'minimum': 1, 'maximum': 1}
    """
    defs: Schema = {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:symgrad:program:{FORMAT_VERSION}",
        "title": "A program exported by symgrad",
        "description": "docs/program_schema.md says what the members mean, and what else must hold between them.",
        **DOCUMENT.schema(defs),
        "$defs": defs,
    }
