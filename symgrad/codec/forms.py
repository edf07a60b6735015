"""Forms: what may stand in one place of a document, said once; writing, reading, checking and the schema follow.

A form writes a value as plain JSON, reads it again, or says what is wrong and where, and describes itself in JSON
Schema. What was read before and is needed to go on, ``known``, is handed down as it is.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
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

    def within(self, *place: str | int) -> Wrong:
        """The same, of what stands at ``place``."""
        self.place += reversed(place)
        return self

    def __str__(self) -> str:
        path = ""
        for key in reversed(self.place):
            if type(key) is str and _KEY.fullmatch(key):
                path += f".{key}" if path else key
            else:
                path += f"[{key if type(key) is int else shown(key)}]"
        return f"{path or 'the document'}: {self.message}"


class Form:
    """Anything, of which a schema can say ``says``. ``name`` is what it calls a form that it describes once."""

    name = ""

    def __init__(self, says: Schema | None = None) -> None:
        self._says = says or {}

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
        return self._says


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
        raise wrong.error(str(wrong.within(*place))) from None


def described(form: Form, defs: Schema) -> Schema:
    """The form in JSON Schema, by its name where it has one."""
    if not form.name:
        return form.schema(defs)
    if form.name not in defs:
        defs[form.name] = {}  # it may stand within itself
        defs[form.name] = form.schema(defs)
    return {"$ref": f"#/$defs/{form.name}"}


class Made(Form):
    """What is made of a value of another form when it is read, and what is written in its place."""

    def __init__(
        self,
        form: Form,
        read: Callable[[Any, Any], Any] = lambda value, known: value,
        write: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self._form, self._read, self._write = form, read, write

    def write(self, value):
        return self._form.write(self._write(value))

    def read(self, value, known=None):
        return self._read(self._form.read(value, known), known)

    def schema(self, defs):
        return described(self._form, defs)


# --- single values --------------------------------------------------------------------------------------------------


class Whole(Form):
    """A whole number from ``low`` to ``high``."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__({"type": "integer", "minimum": low, "maximum": high})
        self._low, self._high = low, high

    def write(self, value):
        return int(value)

    def read(self, value, known=None):
        if type(value) is not int:
            raise Wrong(f"{shown(value)} should be a whole number")
        if not self._low <= value <= self._high:
            raise Wrong(f"{shown(value)} should be from {self._low} to {self._high}")
        return value


class Truth(Form):
    """true or false."""

    def __init__(self) -> None:
        super().__init__({"type": "boolean"})

    def read(self, value, known=None):
        if type(value) is not bool:
            raise Wrong(f"{shown(value)} should be true or false")
        return value


class Real(Form):
    """A number that a float is exactly, or ``"nan"``, ``"inf"``, ``"-inf"``: the shortest decimal that reads as it."""

    def __init__(self) -> None:
        super().__init__({"oneOf": [{"type": "number"}, {"enum": list(_NUMBERS)}]})

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


class Text(Form):
    """A text that can be written as UTF-8, of at most so many characters, that ``fits`` or is of a ``pattern``.

    ``says`` is what it should be, for people, with ``{}`` for what it is; ``clean`` makes one of any text.
    """

    def __init__(
        self,
        most: int = LONGEST_NAME,
        says: str = "",
        fits: Callable[[str], Any] = lambda text: True,
        pattern: str = "",
        clean: Callable[[str], str] = lambda text: text,
    ) -> None:
        super().__init__({"type": "string", "maxLength": most} | ({"pattern": f"^{pattern}$"} if pattern else {}))
        self.most, self._says_so = most, says
        self.fits = re.compile(pattern).fullmatch if pattern else fits
        self._clean = clean

    def write(self, value):
        return self._clean(value)

    def read(self, value, known=None):
        if type(value) is not str:
            raise Wrong(f"{shown(value)} should be a text")
        if len(value) > self.most:
            raise Wrong(f"a text of {len(value)} characters, where there may be {self.most}")
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise Wrong("a text with half a surrogate pair")
        if not self.fits(value):
            raise Wrong(self._says_so.format(shown(value)))
        return value


class OneOf(Form):
    """One of these texts."""

    def __init__(self, *choices: str) -> None:
        super().__init__({"enum": list(choices)})
        self._choices = choices

    def read(self, value, known=None):
        if type(value) is not str or value not in self._choices:
            raise Wrong(f"{shown(value)} should be one of {', '.join(self._choices)}")
        return value


# --- values within others -------------------------------------------------------------------------------------------


def _each(keys: Sequence[str | int], forms: Iterable[Form], values: Iterable[Any], known: Any) -> list[Any]:
    """The values read, each in its form; what is wrong with one is so under its key."""
    made: list[Any] = []
    try:
        for form, value in zip(forms, values):
            made.append(form.read(value, known))
    except Wrong as wrong:
        raise wrong.within(keys[len(made)]) from None
    return made


class Listed(Form):
    """A list of ``least`` to ``most`` items, as a tuple: the first of them in the forms ``first``, the rest in one."""

    def __init__(self, rest: Form, most: int, least: int = 0, first: tuple[Form, ...] = ()) -> None:
        self._rest, self._most, self._first = rest, most, first
        self._least = max(least, len(first))

    def write(self, value):
        if self._first:
            return [form.write(item) for form, item in zip(chain(self._first, repeat(self._rest)), value)]
        write = self._rest.write
        return [write(item) for item in value]

    def read(self, value, known=None):
        if type(value) is not list:
            raise Wrong(f"{shown(value)} should be a list")
        if not self._least <= len(value) <= self._most:
            raise Wrong(f"{len(value)} items, where there may be {self._least} to {self._most}")
        return tuple(_each(range(len(value)), chain(self._first, repeat(self._rest)), value, known))

    def schema(self, defs):
        made = {"type": "array", "maxItems": self._most} | ({"minItems": self._least} if self._least else {})
        if self._first:
            made["prefixItems"] = [described(form, defs) for form in self._first]
        return made | ({"items": described(self._rest, defs)} if self._most > len(self._first) else {})


def pair(first: Form, second: Form) -> Listed:
    """A list of two."""
    return Listed(second, 2, 2, (first,))


class Members(Form):
    """An object with these members, and perhaps some of ``optional``: a dict of what was read, in this order.

    An optional member that is None or false is not written.
    """

    def __init__(self, required: Mapping[str, Form], optional: Mapping[str, Form] | None = None) -> None:
        self.required, self.optional = required, optional or {}
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
        for key in value:
            if key not in self.forms:
                raise Wrong(f"{shown(key)} is unknown here")
        keys = [key for key in self.forms if key in value]
        return dict(zip(keys, _each(keys, [self.forms[key] for key in keys], [value[key] for key in keys], known)))

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
        self._key, self._form, self._most = key, form, most

    def write(self, value):
        return {key: self._form.write(v) for key, v in value.items()}

    def read(self, value, known=None):
        if type(value) is not dict or len(value) > self._most:
            raise Wrong(f"{shown(value)} should be an object of at most {self._most} members")
        keys = _each([*value], repeat(self._key), value, known)
        return dict(zip(keys, _each(keys, repeat(self._form), value.values(), known)))

    def schema(self, defs):
        names, values = described(self._key, defs), described(self._form, defs)
        return {"type": "object", "propertyNames": names, "additionalProperties": values, "maxProperties": self._most}


class Tagged(Form):
    """An object with one member, which says by its name what it is: the pair of the name and what was read."""

    def __init__(self, forms: Mapping[str, Form]) -> None:
        self._forms = forms

    def write(self, value):
        kind, inner = value
        return {kind: self._forms[kind].write(inner)}

    def read(self, value, known=None):
        *most, last = self._forms
        wanted = f"should be {{}} {', '.join(most)} and {last}"
        if type(value) is not dict or len(value) != 1:
            raise Wrong(wanted.format("an object with one of"))
        ((kind, inner),) = value.items()
        if kind not in self._forms:
            raise Wrong(f"{shown(kind)} {wanted.format('one of')}")
        return kind, _each([kind], [self._forms[kind]], [inner], known)[0]

    def schema(self, defs):
        return {"oneOf": [Members({kind: form}).schema(defs) for kind, form in self._forms.items()]}


class Later(Form):
    """A form that stands within itself: ``form`` is said once what it is made of is there."""

    form: Form

    def write(self, value):
        return self.form.write(value)

    def read(self, value, known=None):
        return self.form.read(value, known)

    def schema(self, defs):
        return self.form.schema(defs)


class Either(Form):
    """``first`` where an object, or the dict that is written, has the member ``key``, and ``second`` elsewhere."""

    def __init__(self, key: str, first: Form, second: Form) -> None:
        self._key, self._first, self._second = key, first, second

    def _of(self, value: Any) -> Form:
        return self._first if type(value) is dict and self._key in value else self._second

    def write(self, value):
        return self._of(value).write(value)

    def read(self, value, known=None):
        return self._of(value).read(value, known)

    def schema(self, defs):
        return {"oneOf": [described(self._first, defs), described(self._second, defs)]}


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
