"""Nested values: tuples, lists, dicts, and the objects that ``containers`` knows, taken apart into leaves and back.

A structure is a hashable description; ``flatten`` gives the leaves and it, ``unflatten`` the reverse. A structure is
``LEAF``, or a tuple of its kind, what the kind needs, and the structures of its parts:

    ("tuple", parts)   ("list", parts)   ("dict", keys, parts)   ("dict", keys, (class, factory), parts)
    ("named", class, parts)   ("object", class, names, parts)   ("value", what stands there)
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError
from .containers import Attribute, container

LEAF = "*"
#: types of values that hold no others
_PLAIN = frozenset((np.ndarray, float, int, bool, complex, str, bytes, type(None), np.float64, np.float32))
#: kinds whose parts have names of their own: settings may stand among the data
OBJECTS = ("object", "named")


def flatten(value: Any) -> tuple[list[Any], Any]:
    """Leaves in order and the structure.

    >>> flatten({"a": 1, "b": (2, 3)})
    ([1, 2, 3], ('dict', ('a', 'b'), ('*', ('tuple', ('*', '*')))))
    """
    leaves: list[Any] = []
    try:
        return leaves, _flatten(value, leaves)
    except RecursionError:
        raise ArgumentTypeError(
            f"a {type(value).__name__} holds itself, or is nested too deeply, so it has no end when it is taken apart; "
            "pass the arrays in it."
        ) from None


def _flatten(value: Any, leaves: list[Any]) -> Any:
    kind = type(value)
    if kind is tuple or kind is list:
        return kind.__name__, tuple([_flatten(v, leaves) for v in value])
    if kind is dict:
        return "dict", tuple(value), tuple([_flatten(v, leaves) for v in value.values()])
    known = container(kind)
    if known is not None:
        parts = known.take_apart(value)
        kind = value._stands_for if hasattr(kind, "_stands_for") else kind
        return "object", kind, tuple(parts), tuple([_flatten(v, leaves) for v in parts.values()])
    if isinstance(value, dict):
        children = tuple([_flatten(v, leaves) for v in value.values()])
        factory = value.default_factory if isinstance(value, defaultdict) else None
        return "dict", tuple(value), (kind, factory), children
    if isinstance(value, (tuple, list)):
        children = tuple([_flatten(v, leaves) for v in value])
        return ("named", kind, children) if hasattr(kind, "_fields") else (_plain(value), children)
    leaves.append(value)
    return LEAF


def _plain(value: Any) -> str:
    return "tuple" if isinstance(value, tuple) else "list"


def is_nested(value: Any) -> bool:
    """True for what ``flatten`` takes apart."""
    return isinstance(value, (tuple, list, dict)) or container(type(value)) is not None


def parts_of(value: Any) -> Mapping[Any, Any]:
    """The parts of a nested value by their keys, names or places."""
    known = container(type(value))
    if known is not None:
        return known.take_apart(value)
    return value if isinstance(value, dict) else dict(enumerate(value))


def unflatten(structure: Any, leaves: Any) -> Any:
    """The value with ``structure`` whose leaves are ``leaves``.

    >>> unflatten(('tuple', ('*', '*')), [1, 2])
    (1, 2)
    """
    return _unflatten(structure, iter(leaves))


def _unflatten(structure: Any, leaves: Iterator[Any]) -> Any:
    if structure == LEAF:
        return next(leaves)
    if structure[0] == "value":
        return structure[1]
    return _put_together(structure, [_unflatten(s, leaves) for s in structure[-1]])


def _put_together(structure: Any, parts: list[Any]) -> Any:
    kind = structure[0]
    if kind == "tuple":
        return tuple(parts)
    if kind == "list":
        return parts
    if kind == "dict":
        made = dict(zip(structure[1], parts, strict=True))
        if len(structure) == 3:
            return made
        own, factory = structure[2]
        return _dict_of(own, factory, made)
    if kind == "named":  # whatever its own __new__ checks
        return tuple.__new__(structure[1], parts)
    known = container(structure[1])
    assert known is not None
    named: dict[str, Any] = dict(zip(structure[2], parts, strict=True))
    return known.put_together(named)


def _dict_of(kind: type, factory: Any, items: dict[Any, Any]) -> Any:
    """A dict of this kind, where it is made of one; else a plain one."""
    if issubclass(kind, defaultdict):
        return kind(factory, items)
    try:
        return kind(items)
    except TypeError:
        return items


def survey(values: Collection[Any]) -> tuple[list[Any], list[Any]]:
    """The lists, dicts and objects in values, those themselves too, and the keys of their dicts that are no text.

    Both in an order that follows from how the values are nested.

    >>> one = [1]
    >>> survey([(one, {2: one})])
    ([{2: [1]}, [1], [1]], [2])
    """
    mutable: list[Any] = []
    keys: list[Any] = []
    pending = list(values)
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind in _PLAIN:
            continue
        if kind is tuple:
            pending += value
        elif kind is list:
            mutable.append(value)
            pending += value
        elif kind is dict:
            mutable.append(value)
            keys += [key for key in value if type(key) is not str]
            pending += value.values()
        elif is_nested(value):
            if not isinstance(value, tuple):
                mutable.append(value)
            parts = parts_of(value)
            if isinstance(value, dict):
                keys += [key for key in parts if type(key) not in (str, Attribute)]
            pending += parts.values()
    return mutable, keys


def replaced(value: Any, structure: Any, leaves: Any, known: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """``value`` with other leaves; an object that holds no other leaf, and no list or dict, stays itself.

    Into these a function may write, and the caller's stay as they are. What stands in it twice is one object here too:
    that of the first place, also of an earlier call with the same ``known``.

    >>> import types
    >>> settings = types.SimpleNamespace(steps=3)
    >>> leaves, structure = flatten([1.0, settings])
    >>> replaced([1.0, settings], structure, [2.0, 3])[1] is settings
    True
    """
    return _replaced(value, structure, iter(leaves), False, {} if known is None else known)


def _replaced(
    value: Any, structure: Any, leaves: Iterator[Any], inside: bool, known: dict[int, tuple[Any, Any]]
) -> Any:
    if structure == LEAF:
        return next(leaves)
    if structure[0] == "value":
        return structure[1]
    inside = inside or structure[0] in OBJECTS
    own = list(parts_of(value).values())
    parts = [_replaced(v, s, leaves, inside, known) for v, s in zip(own, structure[-1], strict=True)]
    is_itself = inside and structure[0] not in ("list", "dict") and all(map(operator.is_, own, parts))
    made = value if is_itself else _put_together(structure, parts)
    if isinstance(value, tuple):
        return made
    return known.setdefault(id(value), (value, made))[1]  # which holds it, so that no id is used again


def with_values(
    structure: Any, leaves: Sequence[Any], is_value: Callable[[Any], bool], is_setting: Callable[[Any], bool]
) -> tuple[list[Any], Any]:
    """The leaves, and a structure that holds the others.

    These are those fields of objects for which ``is_value`` is true, and what stands in tuples, lists and dicts and is
    ``is_setting``.

    >>> import types
    >>> leaves, structure = flatten([types.SimpleNamespace(x=1.0, n=2), 3, "a"])
    >>> with_values(structure, leaves, lambda leaf: leaf == 2, lambda leaf: isinstance(leaf, str))[0]
    [1.0, 3]
    """
    rest = iter(leaves)
    kept: list[Any] = []

    def walk(structure: Any, inside: bool | None, is_fixed: bool = False) -> Any:
        if structure == LEAF:
            leaf = next(rest)
            if is_fixed or (inside is not None and (is_value if inside else is_setting)(leaf)):
                return "value", leaf
            kept.append(leaf)
            return LEAF
        inside = bool(inside) or structure[0] in OBJECTS
        fixed = _fixed_parts(structure)
        parts = zip(keys_of(structure), structure[-1], strict=True)
        return *structure[:-1], tuple([walk(s, inside, is_fixed or key in fixed) for key, s in parts])

    made = walk(structure, None)
    return kept, made


def _fixed_parts(structure: Any) -> Collection[str]:
    known = container(structure[1]) if structure[0] == "object" else None
    return () if known is None else known.fixed


def nesting(structure: Any) -> Any:
    """The structure without the classes of dicts: what has to be the same where one value goes along with another."""
    if structure == LEAF or structure[0] == "value":
        return LEAF if structure == LEAF else "value"
    head = structure[:2] if structure[0] == "dict" else structure[:-1]
    return *head, tuple([nesting(s) for s in structure[-1]])


def classes_in(structure: Any) -> list[type]:
    """The classes of the objects in a structure, whose methods a function may call."""
    if structure == LEAF or structure[0] == "value":
        return []
    own = [structure[1]] if structure[0] in OBJECTS else []
    if structure[0] == "dict" and len(structure) == 4:
        own.append(structure[2][0])
    return own + [kind for s in structure[-1] for kind in classes_in(s)]


def leaf_labels(label: str, structure: Any) -> list[str]:
    """What the leaves of a value called ``label`` are called: by the keys, names and places that lead to them.

    >>> leaf_labels("p", flatten({"W": 1, "b": (2, 3)})[1]), leaf_labels("x", LEAF)
    (['p_W', 'p_b_0', 'p_b_1'], ['x'])
    """
    if structure == LEAF or structure[0] == "value":
        return [label] if structure == LEAF else []
    found = container(structure[1]) if structure[0] == "object" else None
    itself = found.itself if found else ""
    parts = [
        (label if key == itself else f"{label}_{key}", s)
        for key, s in zip(keys_of(structure), structure[-1], strict=True)
    ]
    return [name for own, s in parts for name in leaf_labels(own, s)]


def keys_of(structure: Any) -> Sequence[Any]:
    """The keys, names or places of the parts."""
    if structure[0] == "dict":
        return structure[1]
    return structure[2] if structure[0] == "object" else range(len(structure[-1]))


def tree_map(function: Callable[[Any], Any], value: Any) -> Any:
    """``value`` with ``function`` applied to each leaf."""
    leaves, structure = flatten(value)
    return unflatten(structure, [function(v) for v in leaves])
