"""Nested arguments and results as Python source: what finds each array in them, and how the whole is written."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..errors import ArgumentError
from ..tracing.tree import LEAF
from . import plain_values
from .subject import Subject

#: a leaf: whether it is an array, and which one, or the value itself
Slot = tuple[bool, Any]
_BRACKETS = {"dict": "{}", "list": "[]", "tuple": "()", "named": "()", "object": "()"}
#: the function of a module that stands for the class of an object
OBJECT = '''
def _object(**parts):
    """An object with these attributes."""
    return types.SimpleNamespace(**parts)
'''


def walk(structure: Any, slots: Sequence[Slot], found: str) -> Iterator[tuple[str, Any, Slot | None]]:
    """Each part of what ``found`` finds, outer ones first: its own expression, its structure, its slot if it is a leaf.

    >>> [part for part, _, slot in walk(("dict", ("a",), (("list", ("*", "*")),)), [(True, 0), (True, 1)], "p") if slot]
    ["p['a'][0]", "p['a'][1]"]
    """
    leaves = iter(slots)

    def parts(structure: Any, found: str) -> Iterator[tuple[str, Any, Slot | None]]:
        if structure == LEAF:
            yield found, structure, next(leaves)
            return
        yield found, structure, None
        is_object = structure[0] == "object"
        for key, part in zip(keys_of(structure), structure[-1], strict=True):
            yield from parts(part, f"{found}.{key}" if is_object else f"{found}[{key}]")

    return parts(structure, found)


def keys_of(structure: Any) -> list[str]:
    """The keys of the parts of a container as source, ``None`` for what cannot be written; attributes of objects."""
    if structure[0] == "object":
        return list(structure[2])
    if structure[0] != "dict":
        return [str(k) for k in range(len(structure[-1]))]
    return [plain_values.spelled(key) or "None" for key in structure[1]]


def check_keys(structure: Any, found: str) -> None:
    """An ArgumentError where a dict has keys, or an object attributes, that cannot be written."""
    for name in structure[2] if structure[0] == "object" else ():
        if not _is_name(name):
            raise ArgumentError(f"the argument {plain(found)} has an attribute {name!r}, which is no name in Python.")
    for key in structure[1] if structure[0] == "dict" else ():
        if plain_values.spelled(key) is None:
            raise ArgumentError(
                f"the argument {plain(found)} is a dict with a key of type {type(key).__name__}, which cannot be "
                "written into a module; use text or whole numbers as keys."
            )


def plain(text: str) -> str:
    r"""An expression as it may stand in a comment or a docstring of any language.

    >>> plain("p['w'][0]"), plain('p["a\\n*/"]')
    ('p[w][0]', 'p[a_n_]')
    """
    bare = re.sub(r"(?<=\[)['\"]|['\"](?=\])", "", text)
    return re.sub(r"_+", "_", re.sub(r"[^ A-Za-z0-9_.,:()\[\]=+-]", "_", bare))


def written(structure: Any, slots: Sequence[Slot], leaf: Callable[[Slot], str]) -> str:
    """A nested value in one line, each slot as ``leaf`` writes it.

    >>> written(("dict", ("a",), (("tuple", ("*",)),)), [(True, 0)], lambda slot: "x")
    "{'a': (x,)}"
    """
    leaves = iter(slots)

    def text(structure: Any) -> str:
        if structure == LEAF:
            return leaf(next(leaves))
        kind, parts = structure[0], [text(part) for part in structure[-1]]
        if kind == "dict":
            parts = [f"{key}: {part}" for key, part in zip(keys_of(structure), parts, strict=True)]
        opening, closing = _BRACKETS[kind]
        if kind == "object":
            return f"_object({', '.join(f'{n}={part}' for n, part in zip(structure[2], parts, strict=True))})"
        return f"{opening}{', '.join(parts)}{',' if len(parts) == 1 and opening == '(' else ''}{closing}"

    return text(structure)


def rows(
    subject: Subject, values: Sequence[str], comments: Sequence[str], named: Mapping[type, str] = MappingProxyType({})
) -> list[str]:
    """The expression of the result in its structure, a comment beside each array where there is more than one.

    ``named`` are names of the types of named tuples; those of other types are written as tuples. Objects are made by
    ``OBJECT``, a function of the module.
    """
    if subject.structure == LEAF:
        is_array, value = subject.slots[0]
        return [values[int(value)] if is_array else plain_values.literal(value)]
    slots = iter(subject.slots)
    made: list[str] = []

    def write(structure: Any, before: str, indent: str) -> None:
        if structure == LEAF:
            is_array, value = next(slots)
            text = f"{values[value]},  # {comments[value]}" if is_array else f"{plain_values.literal(value)},"
            made.append(f"{indent}{before}{text}")
            return
        kind, parts = structure[0], structure[-1]
        (opening, closing), labels = _BRACKETS[kind], [""] * len(parts)
        if kind == "dict":
            labels = [f"{plain_values.literal(key)}: " for key in structure[1]]
        elif kind == "named" and structure[1] in named:
            opening, labels = f"{named[structure[1]]}(", [f"{name}=" for name in structure[1]._fields]
        elif kind == "object":
            check_keys(structure, "result")
            opening, labels = "_object(", [f"{name}=" for name in structure[2]]
        made.append(f"{indent}{before}{opening}")
        for label, part in zip(labels, parts, strict=True):
            write(part, label, indent + "    ")
        made.append(f"{indent}{closing},")

    write(subject.structure, "", "")
    made[-1] = made[-1].removesuffix(",")
    return made


def named_tuples(structure: Any) -> dict[type, str]:
    """The types of named tuples in a structure, each with a name for it in a module."""
    found: dict[type, str] = {}
    pending = [structure]
    while pending:
        part = pending.pop()
        if part != LEAF:
            if part[0] == "named" and all(map(_is_field, part[1]._fields)):
                found.setdefault(part[1], f"_T{len(found)}")
            pending += part[-1]
    return found


def _is_field(name: Any) -> bool:
    return _is_name(name) and not name.startswith("_")


def _is_name(name: Any) -> bool:
    return type(name) is str and name.isidentifier() and not keyword.iskeyword(name)


def has_objects(*structures: Any) -> bool:
    """Whether a module that writes these structures needs ``OBJECT``."""
    return any(s != LEAF and (s[0] == "object" or has_objects(*s[-1])) for s in structures)


def paths(subject: Subject, result: str) -> list[str]:
    """For each array of the result, the expression that finds it in the ``result``."""
    parts = walk(subject.structure, subject.slots, result)
    found = {slot[1]: part for part, _, slot in parts if slot is not None and slot[0]}
    return [found[k] for k in range(len(subject.outcomes))]


def annotation(subject: Subject, array: str, scalar: str) -> str:
    """The type of the result: ``array`` and ``scalar`` are what its arrays and numbers are."""
    slots = iter(subject.slots)

    def kind(structure: Any) -> str:
        if structure == LEAF:
            is_array, value = next(slots)
            if not is_array:
                return "None" if value is None else type(value).__name__
            outcome = subject.outcomes[value]
            if not isinstance(outcome, int):
                return "sparse.csr_array"
            return array if subject.program.outputs[outcome].shape else scalar
        kinds = [kind(part) for part in structure[-1]]
        if structure[0] == "object":
            return "types.SimpleNamespace"
        return structure[0] if structure[0] in ("dict", "list") else f"tuple[{', '.join(kinds) or '()'}]"

    return kind(subject.structure)
