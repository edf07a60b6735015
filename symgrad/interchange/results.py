"""How the arrays of a result are nested: tuples, lists, dicts and named tuples, with plain values among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ..errors import UnsupportedOperation
from ..tracing.tree import LEAF
from .arrays import written_float
from .field import Field
from .limits import LONGEST_TEXT, MOST_BITS, MOST_LEAVES

_PLAIN = (type(None), bool, int, str)


def written_result(structure: Any, slots: Sequence[tuple[bool, Any]]) -> Any:
    """The nesting: ``{"output": k}``, ``{"value": v}``, ``{"tuple": […]}``, ``{"list": […]}``, ``{"dict": [[k, …]]}``.

    >>> written_result(("tuple", ("*", "*")), [(True, 0), (False, "aux")])
    {'tuple': [{'output': 0}, {'value': 'aux'}]}
    """
    return _written(structure, iter(slots))


def _written(structure: Any, slots: Iterator[tuple[bool, Any]]) -> Any:
    if structure == LEAF:
        is_array, value = next(slots)
        return {"output": value} if is_array else _written_value(value)
    kind = structure[0]
    if kind == "dict":
        items = zip(structure[1], structure[2], strict=True)
        return {"dict": [[_written_key(key), _written(s, slots)] for key, s in items]}
    if kind == "named":
        own = structure[1]
        return {"named": [own.__name__, *[[f, _written(s, slots)] for f, s in zip(own._fields, structure[2])]]}
    return {kind: [_written(s, slots) for s in structure[1]]}


def _written_value(value: Any) -> Any:
    if type(value) is float:
        return {"float": written_float(value)}
    if type(value) in _PLAIN:
        return {"value": _plain(value)}
    raise UnsupportedOperation(
        f"the function returns a {type(value).__name__} beside its arrays, which the JSON form has no place for; "
        "return arrays, numbers, texts, True, False and None."
    )


def _written_key(key: Any) -> Any:
    if type(key) in _PLAIN:
        return _plain(key)
    raise UnsupportedOperation(
        f"the function returns a dict with a key of type {type(key).__name__}, which the JSON form has no place for; "
        "use texts or whole numbers as keys."
    )


def _plain(value: Any) -> Any:
    if type(value) is int and value.bit_length() > MOST_BITS:
        raise UnsupportedOperation(f"the JSON form has whole numbers of {MOST_BITS} bits; return it as a float.")
    if type(value) is str and len(value) > LONGEST_TEXT:
        raise UnsupportedOperation(
            f"the JSON form has texts of at most {LONGEST_TEXT} characters; return a shorter one."
        )
    return value


def read_result(field: Field, outputs: int) -> tuple[Any, list[tuple[bool, Any]]]:
    """The structure and the slots; each of so many outputs stands there once, in order."""
    slots: list[tuple[bool, Any]] = []
    structure = _read(field, slots)
    found = [value for is_array, value in slots if is_array]
    if found != list(range(outputs)):
        field.fail(f"each of the {outputs} outputs should stand here once, in order")
    return structure, slots


def _read(field: Field, slots: list[tuple[bool, Any]]) -> Any:  # recursion is bounded as nesting is
    if type(field.value) is not dict or len(field.value) != 1:
        field.fail("should be an object with one of output, value, float, tuple, list, dict and named")
    ((kind, inner),) = field.pairs(1)
    if kind in ("output", "value", "float"):
        if len(slots) >= MOST_LEAVES:
            field.fail(f"a result of more than {MOST_LEAVES} leaves")
        slots.append(_read_leaf(kind, inner))
        return LEAF
    if kind in ("tuple", "list"):
        return kind, tuple([_read(item, slots) for item in inner.items(MOST_LEAVES)])
    if kind == "dict":
        pairs = [item.items(2, 2) for item in inner.items(MOST_LEAVES)]
        keys = [_key(key) for key, _ in pairs]
        if len(set(keys)) < len(keys):
            inner.fail("a key stands twice")
        return "dict", tuple(keys), tuple([_read(value, slots) for _, value in pairs])
    if kind == "named":
        name, *rest = inner.items(1 + MOST_LEAVES, 1)
        pairs = [item.items(2, 2) for item in rest]
        fields = tuple([_identifier(own) for own, _ in pairs])
        if len(set(fields)) < len(fields):
            inner.fail("a field stands twice")
        return "named", record(_identifier(name), fields), tuple([_read(value, slots) for _, value in pairs])
    field.fail(f"{kind[:80]!r} should be one of output, value, float, tuple, list, dict and named")


def _read_leaf(kind: str, inner: Field) -> tuple[bool, Any]:
    if kind == "output":
        return True, inner.whole(0, MOST_LEAVES)
    return False, inner.real() if kind == "float" else _key(inner)


def _key(field: Field) -> Any:
    if type(field.value) is int:
        return field.whole(-(2**MOST_BITS), 2**MOST_BITS - 1)
    return field.value if field.value is None or type(field.value) is bool else field.text(LONGEST_TEXT)


def _identifier(field: Field) -> str:
    name = field.text(200)
    if not name.isidentifier() or name.startswith("_"):
        field.fail(f"{name!r} cannot be the name of a field")
    return name


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
