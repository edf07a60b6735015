"""A whole document: the Program with its names, its facts and its check, read from strict JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..codec.arrays import read_elements
from ..codec.document import DOCUMENT, FORMAT, FORMAT_VERSION
from ..codec.forms import Wrong
from ..codec.limits import MAX_CHECKED
from ..codec.programs import Read, read_program
from ..codec.strict_json import parsed
from ..errors import LoadError
from ..exporters.check import Check, Given, Wanted
from ..exporters.subject import Facts
from ..program.dims import named_dim, value_of
from ..program.node import Node


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
    whole = parsed(content)
    if type(whole) is not dict or whole.get("format") != FORMAT:
        raise LoadError(f'the document: is no exported program: "format" should be {FORMAT!r}')
    if type(whole.get("version")) is not int or whole["version"] != FORMAT_VERSION:
        raise LoadError(
            f'the document: this symgrad reads version {FORMAT_VERSION} of the format; "version" says another one'
        )
    read, members = read_program(DOCUMENT, whole)
    try:
        structure, slots = members["result"]
        _check_outputs(members["labels"], slots, len(read.program.outputs))
        check = _check(members["check"], read)
    except Wrong as wrong:
        raise LoadError(str(wrong)) from None
    own = members["facts"]
    facts = Facts(own["function"], own["source"], own["flags"], frozenset(own["operations"]))
    return Document(members["name"], members["title"], facts, read, members["labels"], structure, slots, check, content)


def _check_outputs(labels: Sequence[str], slots: Sequence[tuple[bool, Any]], outputs: int) -> None:
    if len(labels) != outputs:
        raise Wrong(f"{len(labels)} items, where there may be {outputs} to {outputs}", "labels")
    if [value for is_array, value in slots if is_array] != list(range(outputs)):
        raise Wrong(f"each of the {outputs} outputs should stand here once, in order", "result")


def _check(members: dict[str, Any], read: Read) -> Check | str:
    if "none" in members:
        return members["none"]
    program = read.program
    sizes = _sizes(members["sizes"], program.inputs)
    broken = read.broken(sizes)
    if broken:
        raise Wrong(f"the program holds where {broken}", "check", "sizes")
    made: dict[str, list[Any]] = {"given": [], "wanted": []}
    left = MAX_CHECKED
    for key, nodes in (("given", program.inputs), ("wanted", program.outputs)):
        if len(members[key]) != len(nodes):
            raise Wrong(f"{len(members[key])} items, where there may be {len(nodes)} to {len(nodes)}", "check", key)
        for k, (array, node) in enumerate(zip(members[key], nodes, strict=True)):
            try:
                _check_shape(array["shape"], node, sizes)
                made[key].append(_given(array, node) if key == "given" else _wanted(array))
                left -= math.prod(array["shape"]) if key == "given" else 0
                if left < 0:
                    raise Wrong(f"the inputs of the check have more than {MAX_CHECKED} elements")
            except Wrong as wrong:
                raise wrong.within(k).within(key).within("check") from None
    own = {key: members[key] for key in ("tolerance", "residual", "differences")}
    return Check(tuple(made["given"]), tuple(made["wanted"]), {str(d): n for d, n in sizes.items()}, **own)


def _sizes(given: Mapping[str, int], inputs: Sequence[Node]) -> dict[sympy.Symbol, int]:
    known = dict.fromkeys(d for n in inputs for d in n.shape if isinstance(d, sympy.Symbol))
    sizes = {named_dim(name): size for name, size in given.items()}
    if sizes.keys() != known.keys():
        wanted = ", ".join(map(str, known)) or "no named dims"
        raise Wrong(f"should have a size for each of {wanted}", "check", "sizes")
    return sizes


def _check_shape(shape: Sequence[int], node: Node, sizes: Mapping[sympy.Symbol, int]) -> None:
    wanted = tuple([value_of(d, sizes) for d in node.shape])
    if shape != wanted:
        raise Wrong(f"the shape should be {list(wanted)}", "shape")


def _given(array: dict[str, Any], node: Node) -> Given:
    shape, dtype = array["shape"], array["dtype"]
    if dtype != node.dtype:
        raise Wrong(f"the input is of {node.dtype}", "dtype")
    if "low" not in array:
        return Given(shape, dtype, read_elements(array, shape, dtype))
    low, high = array["low"], array["high"]
    limits = np.iinfo(np.int32) if dtype.kind in "iu" else np.finfo(np.float64)
    if not (limits.min <= low <= high <= limits.max):
        raise Wrong(f"numbers are drawn from between two, low and high, of {limits.min} to {limits.max}")
    return Given(shape, dtype, None, low, high)


def _wanted(array: dict[str, Any]) -> Wanted:
    shape, dtype, step = array["shape"], array["dtype"], array["step"]
    kept = -(-math.prod(shape) // step)
    return Wanted(shape, dtype, step, read_elements(array, (kept,), dtype))
