"""How the function of an exported Python module takes its arguments: nested as the derivative takes them.

Keys of dicts and fixed values reach a module through ``plain_values`` alone, and comments through ``plain``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..program.node import Node
from ..tracing.tree import LEAF, unflatten
from . import plain_values, python_source
from .nesting import check_keys, keys_of, plain, walk, written
from .subject import Argument, Subject

#: what a weight's argument is called, and the constant that holds its values
WEIGHTS, VALUES = "weights", "_WEIGHTS"

#: functions of a module that arguments go through, by name
HELPERS = {
    "_keys_of": '''
def _keys_of(name, given, keys, further=False):
    """Refuse what is no dict with these keys, and no ``further`` ones."""
    if not hasattr(given, "keys"):
        raise TypeError(f"{name} is of type {type(given).__name__}, and a dict is expected")
    for key in keys:
        if key not in given:
            raise ValueError(f"{name} has no key {key!r}")
    if not further and len(given) != len(keys):
        more = [key for key in given if key not in keys]
        raise ValueError(f"{name} has the key {more[0]!r}, which is not expected")
''',
    "_items_of": '''
def _items_of(name, given, count):
    """Refuse what is no list or tuple of so many items."""
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{name} is of type {type(given).__name__}, and a list or tuple is expected")
    if len(given) != count:
        raise ValueError(f"{name} has length {len(given)}, and {count} is expected")
''',
    "_parts_of": '''
def _parts_of(name, given, parts):
    """Refuse what lacks one of these attributes."""
    for part in parts:
        if not hasattr(given, part):
            raise TypeError(f"{name} is of type {type(given).__name__}, and has no attribute {part!r}")
''',
    "_fixed": '''
def _fixed(name, given, wanted):
    """Refuse another value than the one that this was derived with."""
    same = given == wanted
    if not isinstance(same, bool) or not same:
        raise ValueError(f"{name} is {given!r}, and this was derived with {wanted!r}")
''',
}


@dataclass(frozen=True)
class Leaf:
    """An array among the arguments: the expression that finds it, and whether it is a weight of a network."""

    node: Node
    found: str
    is_weight: bool = False


@dataclass
class Parameter:
    """A parameter of the function: its type, its default where it has one, and what the docstring says of it."""

    name: str
    kind: str
    said: list[str]
    by_name: bool = False
    default: str | None = None

    @property
    def text(self) -> str:
        """How it stands in the head of the function."""
        return f"{self.name}: {self.kind}" + ("" if self.default is None else f" = {self.default}")


@dataclass
class Taken:
    """The parameters of a function, the lines that look at the nesting of its arguments, and the arrays in these."""

    parameters: list[Parameter] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)

    @property
    def head(self) -> list[str]:
        """The parameters as they stand in the head of the function."""
        rows = [p.text for p in self.parameters]
        first = next((k for k, p in enumerate(self.parameters) if p.by_name), len(rows))
        return [*rows[:first], *(["*"] if first < len(rows) else []), *rows[first:]]


def labels(subject: Subject) -> list[str]:
    """What the parameters are called by the user, before each has a name."""
    return [a.label for a in subject.arguments] + ([WEIGHTS] if subject.weights else [])


def is_array(argument: Argument) -> bool:
    """True for an argument that is an array itself."""
    return argument.structure == LEAF and argument.slots[0][0]


def are_written(subject: Subject) -> bool:
    """Whether the weights of a network are few enough to be written into the module."""
    return len(subject.weights) > 0 and sum(v.size for v in subject.weights.values()) <= python_source.MAX_CAPTURED


def taken(
    subject: Subject, inputs: Sequence[Node], names: Sequence[str], array: str, described: Callable[[Node], str]
) -> Taken:
    """The arguments under these ``names``; ``array`` is the type of an array, ``described`` says what an input is."""
    made = Taken()
    for argument, name in zip(subject.arguments, names, strict=False):
        kind, default = _kind(argument, inputs, array), None
        if any(is_input for is_input, _ in argument.slots):
            rows = _take(made, inputs, described, argument, name)
        else:
            value = unflatten(argument.structure, [v for _, v in argument.slots])
            default = plain_values.spelled(value) or "None"
            rows = _fixed(made, name, value)
        if argument.structure != LEAF and len(rows) != 1:
            rows = [f"{name}: a {kind}", *[f"    {row}" for row in rows]]
        made.parameters.append(Parameter(name, kind, rows, argument.by_name, default))
    if subject.weights:
        made.parameters.append(_weights(made, subject, inputs, names[-1], described))
    made.parameters.sort(key=lambda p: p.by_name)
    follows = False  # a parameter without a default, before which Python takes none that has one
    for parameter in reversed([p for p in made.parameters if not p.by_name]):
        follows = follows or parameter.default is None
        parameter.default = None if follows else parameter.default
    return made


def _take(
    made: Taken, inputs: Sequence[Node], described: Callable[[Node], str], argument: Argument, name: str
) -> list[str]:
    """Take an argument apart; what is said of its parts."""
    rows: list[str] = []
    for found, structure, slot in walk(argument.structure, argument.slots, name):
        if slot is None:
            check_keys(structure, found)
            keys = keys_of(structure)
            check = f"_keys_of({plain_values.quoted(found)}, {found}, [{', '.join(keys)}])"
            if structure[0] == "object":
                check = f"_parts_of({plain_values.quoted(found)}, {found}, {plain_values.spelled(keys)})"
            elif structure[0] != "dict":
                check = f"_items_of({plain_values.quoted(found)}, {found}, {len(keys)})"
            made.lines.append(check)
        elif slot[0]:
            made.leaves.append(Leaf(inputs[slot[1]], found))
            rows.append(f"{plain(found)}: {described(inputs[slot[1]])}")
        else:
            rows += _fixed(made, found, slot[1])
    return rows


def _fixed(made: Taken, found: str, value: Any) -> list[str]:
    """Check a value that is no array, where it can be written down."""
    text = plain_values.spelled(value)
    if text is None:
        return [f"{plain(found)}: not read, what it was is part of this derivation"]
    made.lines.append(f"_fixed({plain_values.quoted(found)}, {found}, {text})")
    return [f"{plain(found)}: {plain(text)}, which this was derived with"]


def _weights(
    made: Taken, subject: Subject, inputs: Sequence[Node], name: str, described: Callable[[Node], str]
) -> Parameter:
    keys = [plain_values.literal(key) for key in subject.weights]
    made.lines.append(f'_keys_of("{name}", {name}, [{", ".join(keys)}], further=True)')
    rows = []
    for key, node in zip(keys, inputs[len(inputs) - len(keys) :], strict=True):
        made.leaves.append(Leaf(node, f"{name}[{key}]", is_weight=True))
        rows.append(f"    {plain(f'{name}[{key}]')}: {described(node)}")
    written = are_written(subject)
    said = "as they were when this was written" if written else "too many to be written here"
    rows.insert(0, f"{name}: the weights of the network by name, {said}")
    return Parameter(name, "dict", rows, default=VALUES if written else None)


def _kind(argument: Argument, inputs: Sequence[Node], array: str) -> str:
    """The type of an argument."""
    if argument.structure != LEAF:
        kind: str = argument.structure[0]
        return {"named": "tuple"}.get(kind, kind)
    is_input, value = argument.slots[0]
    if is_input:
        return "float" if inputs[value].weak else array
    return {int: "int", bool: "bool", str: "str"}.get(type(value), "object")


def origins_of(subject: Subject) -> dict[int, str]:
    """Where the inputs of the program come from that are no arguments themselves, by their numbers."""
    count = len(subject.program.inputs)
    made = {count - 1 - k: "a weight" for k in range(len(subject.weights))}
    for argument in subject.arguments:
        if not is_array(argument):
            parts = walk(argument.structure, argument.slots, argument.label)
            made |= {slot[1]: plain(found) for found, _, slot in parts if slot is not None and slot[0]}
    return made


def called(subject: Subject, names: Sequence[str], function: str, leaves: Sequence[str]) -> str:
    """A call of ``function``, whose parameters are ``names``, with ``leaves`` for the inputs of the program."""

    def leaf(slot: tuple[bool, Any]) -> str:
        is_input, value = slot
        place: int = value
        return leaves[place] if is_input else plain_values.spelled(value) or "None"

    by_place, by_name = [], []
    for argument, name in zip(subject.arguments, names, strict=False):
        text = written(argument.structure, argument.slots, leaf)
        (by_name if argument.by_name else by_place).append(f"{name}={text}" if argument.by_name else text)
    if subject.weights:
        own = leaves[len(leaves) - len(subject.weights) :]
        pairs = [f"{plain_values.literal(key)}: {value}" for key, value in zip(subject.weights, own, strict=True)]
        by_name.append(f"{names[-1]}={{{', '.join(pairs)}}}")
    return f"{function}({', '.join([*by_place, *by_name])})"


def values(weights: Mapping[str, Any]) -> list[str]:
    """The constant that holds the weights of a network."""
    rows = [f"{VALUES} = {{"]
    for key, value in weights.items():
        first, *others = python_source.wrapped(python_source.array(value))
        rows += [f"    {plain_values.literal(key)}: {first}", *[f"    {row}" for row in others]]
        rows[-1] += ","
    return [*rows, "}"]
