"""Forms: what may stand in one place of a document, said once; writing, reading, checking and the schema follow.

A form writes a value as plain JSON, reads it again, or says what is wrong and where, and describes itself in JSON
Schema. What was read before and is needed to go on, ``known``, is handed down as it is.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import LoadError
from .limits import LONGEST_NAME

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
Schema = dict[str, Any]


class Wrong(Exception):
    """What a document must not say, with the place of it: keys and numbers, the innermost first.

    ``error`` is the class of what the user gets to see.
    """

    def __init__(self, message: str, *place: str | int, error: type[Exception] = LoadError) -> None:
        self.message = message
        self.error = error
        self.place = [*reversed(place)]

    def within(self, key: str | int) -> Wrong:
        """The same, of what stands under ``key``."""
        self.place.append(key)
        return self

    def __str__(self) -> str:
        path = ""
        for key in reversed(self.place):
            own = f"[{key if type(key) is int else shown(key)}]" if not _is_word(key) else f".{key}" if path else key
            path += str(own)
        return f"{path or 'the document'}: {self.message}"


def _is_word(key: str | int) -> bool:
    return type(key) is str and _KEY.fullmatch(key) is not None


class Form:
    """Base class. ``name`` is what the schema calls a form that it describes once."""

    name = ""

    def named(self, name: str) -> Any:
        """This form, described under a name."""
        self.name = name
        return self

    def write(self, value: Any) -> Any:
        """The value as plain JSON."""
        return value

    def read(self, value: Any, known: Any = None) -> Any:
        """The value that was written; a Wrong for what is not of this form."""
        return value

    def schema(self, defs: Schema) -> Schema:
        """What it is in JSON Schema; named forms within are put into ``defs``."""
        return {}


def read_document(form: Form, value: Any, known: Any = None, *place: str) -> Any:
    """What stands at ``place``, which is of this form; a LoadError that names the place of anything else.

    >>> read_document(Listed(Whole(0, 9), 2), [1, "x"], None, "a")
    Traceback (most recent call last):
    ...
    symgrad.errors.LoadError: a[1]: 'x' should be a whole number
    """
    try:
        return form.read(value, known)
    except Wrong as wrong:
        for key in reversed(place):
            wrong.within(key)
        raise wrong.error(str(wrong)) from None


def described(form: Form, defs: Schema) -> Schema:
    """The form in JSON Schema, by its name where it has one."""
    if not form.name:
        return form.schema(defs)
    if form.name not in defs:
        defs[form.name] = {}  # it may stand within itself
        defs[form.name] = form.schema(defs)
    return {"$ref": f"#/$defs/{form.name}"}


class Given(Form):
    """Whatever stands there: its form depends on what stands beside it. ``says`` is what a schema can say of it."""

    def __init__(self, says: Schema | None = None) -> None:
        self.says = says or {}

    def schema(self, defs):
        return self.says


class Whole(Form):
    """A whole number from ``low`` to ``high``."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def write(self, value):
        return int(value)

    def read(self, value, known=None):
        if type(value) is not int:
            raise Wrong(f"{shown(value)} should be a whole number")
        if not self.low <= value <= self.high:
            raise Wrong(f"{shown(value)} should be from {self.low} to {self.high}")
        return value

    def schema(self, defs):
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


class Truth(Form):
    """true or false."""

    def read(self, value, known=None):
        if type(value) is not bool:
            raise Wrong(f"{shown(value)} should be true or false")
        return value

    def schema(self, defs):
        return {"type": "boolean"}


class Real(Form):
    """A number that a float is exactly, or ``"nan"``, ``"inf"``, ``"-inf"``: the shortest decimal that reads as it."""

    def write(self, value):
        return value if math.isfinite(value) else str(value)

    def read(self, value, known=None):
        if type(value) is float:
            return value
        if type(value) is str and value in _NUMBERS:
            return _NUMBERS[value]
        if type(value) is int:
            with contextlib.suppress(OverflowError):
                if float(value) == value:
                    return float(value)
        raise Wrong(f'{shown(value)} should be a number that a float holds, or "nan", "inf" or "-inf"')

    def schema(self, defs):
        return {"oneOf": [{"type": "number"}, {"enum": list(_NUMBERS)}]}


class Text(Form):
    """A text that can be written as UTF-8, of at most so many characters, all of which ``pattern`` lets through.

    ``says`` is what it should be, for people, and ``{}`` in it what it is.
    """

    def __init__(self, most: int = LONGEST_NAME, pattern: str = "", says: str = "") -> None:
        self.most, self.pattern, self.says = most, pattern, says

    def read(self, value, known=None):
        if type(value) is not str:
            raise Wrong(f"{shown(value)} should be a text")
        if len(value) > self.most:
            raise Wrong(f"a text of {len(value)} characters, where there may be {self.most}")
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise Wrong("a text with half a surrogate pair")
        if not self.fits(value):
            raise Wrong(self.says.format(shown(value)))
        return value

    def fits(self, value: str) -> bool:
        """Whether the characters are those that may stand here."""
        return not self.pattern or re.fullmatch(self.pattern, value) is not None

    def schema(self, defs):
        return {"type": "string", "maxLength": self.most} | ({"pattern": f"^{self.pattern}$"} if self.pattern else {})


class OneOf(Form):
    """One of these texts."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def read(self, value, known=None):
        if type(value) is not str or value not in self.choices:
            raise Wrong(f"{shown(value)} should be one of {', '.join(self.choices)}")
        return value

    def schema(self, defs):
        return {"enum": list(self.choices)}


class Listed(Form):
    """A list of at most so many of one form, as a tuple; ``twice`` is what is wrong where two must not be the same."""

    def __init__(self, form: Form, most: int, least: int = 0, twice: str = "") -> None:
        self.form, self.most, self.least, self.twice = form, most, least, twice

    def write(self, value):
        write = self.form.write
        return [write(item) for item in value]

    def read(self, value, known=None):
        items = _listed(value, self.least, self.most)
        read, made = self.form.read, []
        try:
            for item in items:
                made.append(read(item, known))
        except Wrong as wrong:
            raise wrong.within(len(made)) from None
        if self.twice and len(set(made)) < len(made):
            raise Wrong(self.twice)
        return tuple(made)

    def schema(self, defs):
        made = {"type": "array", "items": described(self.form, defs), "maxItems": self.most}
        return made | ({"minItems": self.least} if self.least else {}) | ({"uniqueItems": True} if self.twice else {})


class Row(Form):
    """A list with a form for each of its items, and one for those after them, if any."""

    def __init__(self, *forms: Form, rest: Form | None = None, most: int = 0) -> None:
        self.forms, self.rest = forms, rest
        self.most = max(len(forms), most)

    def _of(self, at: int) -> Form:
        return self.forms[at] if at < len(self.forms) else self.rest  # type: ignore[return-value]

    def write(self, value):
        return [self._of(k).write(item) for k, item in enumerate(value)]

    def read(self, value, known=None):
        made: list[Any] = []
        items = _listed(value, len(self.forms), self.most)
        try:
            for k, item in enumerate(items):
                made.append(self._of(k).read(item, known))
        except Wrong as wrong:
            raise wrong.within(len(made)) from None
        return tuple(made)

    def schema(self, defs):
        rest = described(self.rest, defs) if self.rest else False
        own = [described(f, defs) for f in self.forms]
        return {"type": "array", "prefixItems": own, "items": rest, "minItems": len(own)}


def _listed(value: Any, least: int, most: int) -> list[Any]:
    if type(value) is not list:
        raise Wrong(f"{shown(value)} should be a list")
    if not least <= len(value) <= most:
        raise Wrong(f"{len(value)} items, where there may be {least} to {most}")
    return value


class Members(Form):
    """An object with these members, and perhaps some of ``optional``: a dict of what was read, in this order.

    An optional member that is None or false is not written.
    """

    def __init__(self, required: Mapping[str, Form], optional: Mapping[str, Form] | None = None) -> None:
        self.required = required
        self.optional = optional or {}
        self.forms = {**required, **self.optional}

    def write(self, value):
        made = {key: form.write(value[key]) for key, form in self.required.items()}
        return made | {key: form.write(value[key]) for key, form in self.optional.items() if value.get(key)}

    def read(self, value, known=None):
        if type(value) is not dict:
            raise Wrong(f"{shown(value)} should be an object")
        for key in self.required:
            if key not in value:
                raise Wrong(f"{key!r} is missing")
        forms = self.forms
        for key in value:
            if key not in forms:
                raise Wrong(f"{shown(key)} is unknown here")
        made: dict[str, Any] = {}
        key = ""
        try:
            for key, form in forms.items():
                if key in value:
                    made[key] = form.read(value[key], known)
        except Wrong as wrong:
            raise wrong.within(key) from None
        return made

    def schema(self, defs):
        return {
            "type": "object",
            "properties": {key: described(form, defs) for key, form in self.forms.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


class Mapped(Form):
    """An object of at most so many members that are called as ``key`` says, all of one form: a dict."""

    def __init__(self, key: Form, form: Form, most: int) -> None:
        self.key, self.form, self.most = key, form, most

    def write(self, value):
        return {key: self.form.write(v) for key, v in value.items()}

    def read(self, value, known=None):
        if type(value) is not dict or len(value) > self.most:
            raise Wrong(f"{shown(value)} should be an object of at most {self.most} members")
        made, key = {}, ""
        try:
            for key, v in value.items():
                made[self.key.read(key, known)] = self.form.read(v, known)
        except Wrong as wrong:
            raise wrong.within(key) from None
        return made

    def schema(self, defs):
        names, values = described(self.key, defs), described(self.form, defs)
        return {"type": "object", "propertyNames": names, "additionalProperties": values, "maxProperties": self.most}


class Tagged(Form):
    """An object with one member, which says by its name what it is: the pair of the name and what was read."""

    def __init__(self, forms: Mapping[str, Form]) -> None:
        self.forms = forms

    def write(self, value):
        kind, inner = value
        return {kind: self.forms[kind].write(inner)}

    def read(self, value, known=None):
        if type(value) is not dict or len(value) != 1:
            raise Wrong(f"should be an object with one of {spoken(self.forms)}")
        ((kind, inner),) = value.items()
        form = self.forms.get(kind)
        if form is None:
            raise Wrong(f"{shown(kind)} should be one of {spoken(self.forms)}")
        try:
            return kind, form.read(inner, known)
        except Wrong as wrong:
            raise wrong.within(kind) from None

    def schema(self, defs):
        return {"oneOf": [Members({kind: form}).schema(defs) for kind, form in self.forms.items()]}


class Either(Form):
    """``first`` where an object, or the dict that is written, has the member ``key``, and ``second`` elsewhere."""

    def __init__(self, key: str, first: Form, second: Form) -> None:
        self.key, self.first, self.second = key, first, second

    def _of(self, value: Any) -> Form:
        return self.first if type(value) is dict and self.key in value else self.second

    def write(self, value):
        return self._of(value).write(value)

    def read(self, value, known=None):
        return self._of(value).read(value, known)

    def schema(self, defs):
        return {"oneOf": [described(self.first, defs), described(self.second, defs)]}


def spoken(words: Iterable[str]) -> str:
    """Words as a sentence lists them.

    >>> spoken(["add", "mul", "pow"])
    'add, mul and pow'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}"


def shown(value: Any) -> str:
    """A value of a document, in an error: whole where it is short."""
    if type(value) is dict:
        return "an object"
    if type(value) is list:
        return "a list"
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int and value.bit_length() > 200:
        return f"a whole number of {value.bit_length()} bits"
    text = repr(value[:100]) if type(value) is str else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
