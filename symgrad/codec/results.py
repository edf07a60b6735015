"""How the arrays of a result are nested: tuples, lists, dicts and named tuples, with plain values among them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ..errors import UnsupportedOperation
from ..tracing.tree import LEAF
from .arrays import SCALAR
from .forms import Form, Listed, Real, Row, Tagged, Text, Whole, Wrong, described
from .limits import LONGEST_TEXT, MOST_BITS, MOST_LEAVES


class _Plain(Form):
    """A text, a whole number, a truth value or null; where it has another type ``says`` is the error."""

    _text = Text(LONGEST_TEXT)

    def __init__(self, says: str) -> None:
        self._says = says

    def write(self, value):
        if value is not None and type(value) not in (bool, int, str):
            raise UnsupportedOperation(self._says.format(type(value).__name__))
        if type(value) is int and value.bit_length() > MOST_BITS:
            raise UnsupportedOperation(f"the JSON form has whole numbers of {MOST_BITS} bits; return it as a float.")
        if type(value) is str and len(value) > LONGEST_TEXT:
            raise UnsupportedOperation(
                f"the JSON form has texts of at most {LONGEST_TEXT} characters; return a shorter one."
            )
        return value

    def read(self, value, known=None):
        if type(value) is int:
            return SCALAR.read(value)
        return value if value is None or type(value) is bool else self._text.read(value)

    def schema(self, defs):
        return {"type": ["null", "boolean", "integer", "string"]}


class _Field(Text):
    """What a named tuple, or a field of one, is called."""

    def fits(self, value):
        return value.isidentifier() and not value.startswith("_")


_VALUE = _Plain(
    "the function returns a {} beside its arrays, which the JSON form has no place for; return arrays, numbers, texts, "
    "True, False and None."
)
_KEY = _Plain(
    "the function returns a dict with a key of type {}, which the JSON form has no place for; use texts or whole "
    "numbers as keys."
)
_FIELD = _Field(200, says="{} cannot be the name of a field")


class _Distinct(Form):
    """A list of pairs, from number ``first`` on, none of which begins as another does."""

    def __init__(self, form: Form, first: int, says: str) -> None:
        self._form, self._first, self._says = form, first, says

    def write(self, value):
        return self._form.write(value)

    def read(self, value, known=None):
        made = self._form.read(value, known)
        keys = [key for key, _ in made[self._first :]]
        if len(set(keys)) < len(keys):
            raise Wrong(self._says)
        return made

    def schema(self, defs):
        return self._form.schema(defs)


_FORMS: dict[str, Form] = {"output": Whole(0, MOST_LEAVES), "value": _VALUE, "float": Real()}
_NESTED = Tagged(_FORMS).named("result")
_FORMS |= {
    "tuple": Listed(_NESTED, MOST_LEAVES),
    "list": Listed(_NESTED, MOST_LEAVES),
    "dict": _Distinct(Listed(Row(_KEY, _NESTED), MOST_LEAVES), 0, "a key stands twice"),
    "named": _Distinct(Row(_FIELD, rest=Row(_FIELD, _NESTED), most=1 + MOST_LEAVES), 1, "a field stands twice"),
}


class _Result(Form):
    """The pair of a structure, as ``symgrad.tracing.tree`` has it, and its leaves: ``(is an output, which or what)``.

    >>> RESULT.write((("tuple", ("*", "*")), [(True, 0), (False, "aux")]))
    {'tuple': [{'output': 0}, {'value': 'aux'}]}
    """

    def write(self, value):
        structure, slots = value
        return _NESTED.write(_tagged(structure, iter(slots)))

    def read(self, value, known=None):
        slots: list[tuple[bool, Any]] = []
        structure = _structure(_NESTED.read(value), slots)
        if len(slots) > MOST_LEAVES:
            raise Wrong(f"a result of more than {MOST_LEAVES} leaves")
        return structure, slots

    def schema(self, defs):
        return described(_NESTED, defs)


RESULT = _Result()


def _tagged(structure: Any, slots: Iterator[tuple[bool, Any]]) -> tuple[str, Any]:
    if structure == LEAF:
        is_array, value = next(slots)
        return ("output" if is_array else "float" if type(value) is float else "value"), value
    kind = structure[0]
    if kind == "dict":
        return kind, [(key, _tagged(s, slots)) for key, s in zip(structure[1], structure[2], strict=True)]
    if kind == "named":
        own = structure[1]
        return kind, [own.__name__, *[(f, _tagged(s, slots)) for f, s in zip(own._fields, structure[2], strict=True)]]
    return kind, [_tagged(s, slots) for s in structure[1]]


def _structure(tagged: tuple[str, Any], slots: list[tuple[bool, Any]]) -> Any:
    kind, inner = tagged
    if kind in ("output", "value", "float"):
        slots.append((kind == "output", inner))
        return LEAF
    if kind in ("tuple", "list"):
        return kind, tuple([_structure(item, slots) for item in inner])
    pairs = inner if kind == "dict" else inner[1:]
    keys = tuple([key for key, _ in pairs])
    return kind, keys if kind == "dict" else record(inner[0], keys), tuple([_structure(v, slots) for _, v in pairs])


@lru_cache(maxsize=256)
def record(name: str, fields: tuple[str, ...]) -> type:
    """A named tuple, as ``collections.namedtuple`` makes one from source; the same for the same names.

    >>> record("Pair", ("left", "right"))(1, 2).right
    2
    """

    def new(cls: type, *values: Any) -> Any:
        return tuple.__new__(cls, values)

    def spelled(self: Any) -> str:
        return f"{name}({', '.join(f'{f}={v!r}' for f, v in zip(fields, self, strict=True))})"

    members: dict[str, Any] = {"__slots__": (), "_fields": fields, "__new__": new, "__repr__": spelled}
    members |= {f: property(itemgetter(k)) for k, f in enumerate(fields)}
    return type(name, (tuple,), members)
