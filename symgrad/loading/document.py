"""A whole document: the Program with its names, its facts and its check, read from strict JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..exporters.check import Check, Given, Wanted
from ..exporters.program_json import FORMAT, FORMAT_VERSION
from ..exporters.subject import Facts
from ..interchange import names
from ..interchange.arrays import ELEMENTS, read_dtype, read_elements
from ..interchange.field import Field
from ..interchange.limits import MOST_AXES, MOST_CHECKED, MOST_ELEMENTS, MOST_NAMES
from ..interchange.reading import MEMBERS, Read, read_program
from ..interchange.results import read_result
from ..interchange.strict_json import parsed
from ..program.dims import named_dim, value_of
from ..program.node import Node

_NAMES = ("format", "version", "symgrad", "name", "title", "header", "facts", "labels", "result", "check")


@dataclass(frozen=True)
class Document:
    """What a document says, and its ``content``. ``check`` is why there is none where it is a text."""

    name: str
    title: str
    facts: Facts
    read: Read
    labels: tuple[str, ...]
    structure: Any
    slots: Sequence[tuple[bool, Any]]
    check: Check | str
    content: bytes

    def __reduce__(self) -> Any:
        return read_document, (self.content,)


def read_document(content: bytes) -> Document:
    """The document that ``content`` is; a LoadError that names the place for anything else."""
    whole = Field(parsed(content))
    if not whole.has("format") or whole.value["format"] != FORMAT:
        whole.fail(f'is no exported program: "format" should be {FORMAT!r}')
    if not whole.has("version") or type(whole.value["version"]) is not int or whole.value["version"] != FORMAT_VERSION:
        whole.fail(f'this symgrad reads version {FORMAT_VERSION} of the format; "version" says another one')
    members = whole.members((*_NAMES, *MEMBERS))
    members["symgrad"].text(100)
    for line in members["header"].items(10_000):
        names.read_line(line)
    name, title = names.read_name(members["name"]), names.read_title(members["title"])
    facts = _facts(members["facts"])
    read = read_program({key: members[key] for key in MEMBERS})
    outputs = read.program.outputs
    labels = tuple(map(names.read_label, members["labels"].items(len(outputs), len(outputs))))
    structure, slots = read_result(members["result"], len(outputs))
    return Document(name, title, facts, read, labels, structure, slots, _check(members["check"], read), content)


def _facts(field: Field) -> Facts:
    members = field.members(("function", "source", "flags", "operations"))
    return Facts(
        names.read_title(members["function"]),
        names.read_hash(members["source"]),
        names.read_line(members["flags"]),
        frozenset(map(names.read_word, members["operations"].items(1_000))),
    )


def _check(field: Field, read: Read) -> Check | str:
    if field.has("none"):
        return names.read_line(field.members(("none",))["none"])
    members = field.members(("given", "wanted", "sizes", "tolerance", "residual", "differences"))
    program = read.program
    sizes = _sizes(members["sizes"], program.inputs)
    broken = read.broken(sizes)
    if broken:
        members["sizes"].fail(f"the program holds where {broken}")
    given = _arrays(members["given"], program.inputs)
    wanted = _arrays(members["wanted"], program.outputs)
    left = MOST_CHECKED
    made: list[Given] = []
    for own, node in zip(given, program.inputs, strict=True):
        made.append(_given(own, node, sizes))
        left -= math.prod(made[-1].shape)
        if left < 0:
            own.fail(f"the inputs of the check have more than {MOST_CHECKED} elements")
    expected = [_wanted(own, node, sizes) for own, node in zip(wanted, program.outputs, strict=True)]
    tolerance, residual = members["tolerance"], members["residual"]
    if not 0 <= tolerance.real() <= 1:
        tolerance.fail("should be from 0 to 1")
    return Check(
        tuple(made),
        tuple(expected),
        {str(d): n for d, n in sizes.items()},
        tolerance.real(),
        None if residual.value is None else residual.real(),
        names.read_line(members["differences"]),
    )


def _arrays(field: Field, nodes: Sequence[Node]) -> list[Field]:
    return field.items(len(nodes), len(nodes))


def _sizes(field: Field, inputs: Sequence[Node]) -> dict[sympy.Symbol, int]:
    known = dict.fromkeys(d for n in inputs for d in n.shape if isinstance(d, sympy.Symbol))
    sizes = {named_dim(name): size.whole(1, MOST_CHECKED) for name, size in field.pairs(MOST_NAMES)}
    if sizes.keys() != known.keys():
        field.fail(f"should have a size for each of {', '.join(map(str, known)) or 'no named dims'}")
    return {d: sizes[d] for d in (named_dim(name) for name in field.value)}


def _shape(field: Field, node: Node, sizes: Mapping[sympy.Symbol, int]) -> tuple[int, ...]:
    shape = tuple([d.whole(0, MOST_ELEMENTS) for d in field.items(MOST_AXES)])
    wanted = tuple([value_of(d, sizes) for d in node.shape])
    if shape != wanted:
        field.fail(f"the shape should be {list(wanted)}")
    return shape


def _given(field: Field, node: Node, sizes: Mapping[sympy.Symbol, int]) -> Given:
    drawn = field.has("low")
    members = field.members(
        ("shape", "dtype", "low", "high") if drawn else ("shape", "dtype"), () if drawn else ELEMENTS
    )
    shape, dtype = _shape(members["shape"], node, sizes), read_dtype(members["dtype"])
    if dtype != node.dtype:
        members["dtype"].fail(f"the input is of {node.dtype}")
    if not drawn:
        return Given(shape, dtype, read_elements(field, members, shape, dtype))
    low, high = members["low"].real(), members["high"].real()
    limits = np.iinfo(np.int32) if dtype.kind in "iu" else np.finfo(np.float64)
    if not (limits.min <= low <= high <= limits.max):
        field.fail(f"numbers are drawn from between two, low and high, of {limits.min} to {limits.max}")
    return Given(shape, dtype, None, low, high)


def _wanted(field: Field, node: Node, sizes: Mapping[sympy.Symbol, int]) -> Wanted:
    members = field.members(("shape", "dtype", "step"), ELEMENTS)
    shape, dtype = _shape(members["shape"], node, sizes), read_dtype(members["dtype"])
    step = members["step"].whole(1, MOST_ELEMENTS)
    kept = -(-math.prod(shape) // step)
    return Wanted(shape, dtype, step, read_elements(field, members, (kept,), dtype))
