"""How the arrays of a result are nested: tuples, lists, dicts and named tuples, with plain values among them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ..errors import UnsupportedOperation
from ..tracing.tree import LEAF
from .arrays import SCALAR
from .forms import Form, Listed, Made, Real, Tagged, Text, Whole, Wrong, pair
from .limits import LONGEST_TEXT, MAX_BITS, MAX_LEAVES


def _plain(what: str, advice: str) -> Form:
    """A text, a whole number, a truth value or null: ``what`` the function returns, or else ``advice``."""

    def written(value: Any) -> Any:
        if value is not None and type(value) not in (bool, int, str):
            said = what.format(type(value).__name__)
            raise UnsupportedOperation(f"the function returns {said}, which the JSON form has no place for; {advice}.")
        if type(value) is int and value.bit_length() > MAX_BITS:
            raise UnsupportedOperation(f"the JSON form has whole numbers of {MAX_BITS} bits; return it as a float.")
        if type(value) is str and len(value) > LONGEST_TEXT:
            raise UnsupportedOperation(
                f"the JSON form has texts of at most {LONGEST_TEXT} characters; return a shorter one."
            )
        return value

    def made(value: Any, known: Any) -> Any:
        if type(value) is int:
            return SCALAR.read(value)
        return value if value is None or type(value) is bool else _TEXT.read(value)

    return Made(Form({"type": ["null", "boolean", "integer", "string"]}), made, written)


def _distinct(form: Form, first: int, says: str) -> Form:
    """A list of pairs, from number ``first`` on, none of which begins as another does."""

    def checked(items: tuple, known: Any) -> tuple:
        keys = [key for key, _ in items[first:]]
        if len(set(keys)) < len(keys):
            raise Wrong(says)
        return items

    return Made(form, checked)


_TEXT = Text(LONGEST_TEXT)
_VALUE = _plain("a {} beside its arrays", "return arrays, numbers, texts, True, False and None")
_KEY = _plain("a dict with a key of type {}", "use texts or whole numbers as keys")
_FIELD = Text(200, "{} cannot be the name of a field", lambda text: text.isidentifier() and not text.startswith("_"))
_KINDS: dict[str, Form] = {"output": Whole(0, MAX_LEAVES), "value": _VALUE, "float": Real()}
_NESTED = Tagged(_KINDS).named("result")
_KINDS |= {
    "tuple": Listed(_NESTED, MAX_LEAVES),
    "list": Listed(_NESTED, MAX_LEAVES),
    "dict": _distinct(Listed(pair(_KEY, _NESTED), MAX_LEAVES), 0, "a key stands twice"),
    "named": _distinct(Listed(pair(_FIELD, _NESTED), 1 + MAX_LEAVES, first=(_FIELD,)), 1, "a field stands twice"),
}


def _tagged(structure: Any, slots: Iterator[tuple[bool, Any]]) -> tuple[str, Any]:
    if structure == LEAF:
        is_array, value = next(slots)
        return ("output" if is_array else "float" if type(value) is float else "value"), value
    kind = structure[0]
    if kind == "dict":
        return kind, [(key, _tagged(s, slots)) for key, s in zip(structure[1], structure[-1], strict=True)]
    if kind == "object":
        raise UnsupportedOperation(
            f"the function returns a {structure[1].__name__}, which the JSON form has no place for; return a dict or a "
            "named tuple of its parts."
        )
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


def _read(tagged: tuple[str, Any], known: Any) -> tuple[Any, list[tuple[bool, Any]]]:
    slots: list[tuple[bool, Any]] = []
    return _structure(tagged, slots), slots


#: the pair of a structure, as ``symgrad.tracing.tree`` has it, and its leaves, ``(is an output, which or what)``
RESULT = Made(_NESTED, _read, lambda value: _tagged(value[0], iter(value[1])))


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
