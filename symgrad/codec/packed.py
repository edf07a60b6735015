"""Nodes as bytes and back, each in terms of the nodes before it: the records of nodes, and a stream of numbers.

What is written says exactly which nodes are meant, so it serves as a name of them. It is read as documents are, so a
wrong byte gives an error and never another node. Nodes of one kind share their record, so it is short and quick to
read. What has no exact record (the user's own rules, named dims, objects) is not written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from ..primitives.identity import CUSTOM, MARK
from ..primitives.primitive import CONSTANT, DIM, INPUT, LITERAL, CapturedArray, constant, literal, made_constant
from ..primitives.scan import SCAN
from ..program.dims import is_concrete, is_named
from ..program.node import Node, active_graph, emit
from .forms import Whole
from .limits import MAX_OPERANDS
from .loops import Numbered, loops_of
from .programs import Kind, Reading, RecordForm, written_kind, written_record

#: bytes of arrays that are written down among derived nodes
_MAX_CONTENT = 2**20
_RECORD = RecordForm(Whole(0, MAX_OPERANDS), {})


class Damaged(Exception):
    """Bytes that do not say which nodes are meant."""


def name_of(nodes: Sequence[Node], number: dict[Node, int]) -> bytes:
    """What tells these nodes from all others; ``number`` is given theirs, in order.

    Inputs and captured arrays go by their number, the latter with their values where derivatives look at them:
    integers, which are places, and scalars.
    """
    records, stream = _written(nodes, number, _about)
    return json.dumps(records).encode() + b"\n" + stream


def encoded(
    found: Sequence[Node], made: Sequence[Node], results: Sequence[Node | None], number: dict[Node, int]
) -> bytes:
    """``results``: of the nodes of ``number``, of others that were ``found`` in the graph, and of those ``made``.

    An UnsupportedOperation where they cannot be written down exactly.
    """
    if any(n.primitive is CONSTANT and n.params[0].key is None for n in found):
        raise UnsupportedOperation("a captured array has no number")
    if any(n.primitive is SCAN for n in found):
        raise UnsupportedOperation("a loop is told from no other by what it computes")
    records, stream = _written((*found, *made), number, _content)
    at = [None if r is None else number[r] for r in results]
    return json.dumps({"records": records, "found": len(found), "results": at}).encode() + b"\n" + stream


def decoded(content: bytes, nodes: Sequence[Node]) -> list[Node | None]:
    """The results that ``encoded`` wrote, in the active graph; ``nodes`` are those that had a number.

    Damaged where it holds anything else, or what was found in the graph is not in this one.
    """
    try:
        head, _, stream = content.partition(b"\n")
        fields = json.loads(head)
        known = Reading(active_graph())
        known.loops += loops_of(nodes)
        kinds = [_Kind(record, known) for record in fields["records"]]
        every = _read(np.frombuffer(stream, "<u4").tolist(), kinds, list(nodes), _index(fields["found"]))
        return [None if at is None else every[_index(at)] for at in fields["results"]]
    except Exception as error:
        raise Damaged(f"{type(error).__name__}: {error}") from error


# --- writing ------------------------------------------------------------------------------------------------------


def _written(
    nodes: Iterable[Node], number: dict[Node, int], record_of: Callable[[Node, Numbered], Any]
) -> tuple[list[Any], bytes]:
    """The records of the nodes, and the stream of each node's record and its operands' numbers."""
    known: dict[tuple, int] = {}
    loops = Numbered(number)
    records: list[Any] = []
    stream: list[int] = []
    for node in nodes:
        operands = node.operands
        key = (node.primitive, len(operands), node.params, node.shape, node.dtype, node.weak)
        record = known.get(key)
        if record is None:
            if node.primitive is DIM or not is_concrete(node.shape):
                raise UnsupportedOperation("a named dim")
            record = known[key] = len(records)
            records.append(record_of(node, loops))
        stream.append(record)
        stream += [number[o] for o in operands]
        number[node] = len(number)
    return records, np.array(stream, "<u4").tobytes()


def _about(node: Node, loops: Numbered) -> dict[str, Any]:
    """Of what is given: a leaf, or a mark, is told apart by its number alone where nothing else matters."""
    if node.primitive not in (INPUT, CONSTANT):
        return _exact(node, loops)
    made = {"op": node.primitive.name, **written_kind(node)}
    if node.primitive is CONSTANT and (node.dtype.kind != "f" or not node.shape):
        made["content"] = hashlib.sha256(node.params[0].value.tobytes()).hexdigest()
    return made


def _exact(node: Node, loops: Numbered) -> dict[str, Any]:
    """The record of a node that it tells from all others of the same operands."""
    if node.primitive is CUSTOM:
        raise UnsupportedOperation("a rule of the user's")
    if node.primitive is LITERAL and node.params[0] != node.params[0]:  # NaNs differ in bits that their text has not
        raise UnsupportedOperation("a literal that is no number")
    for body in node.primitive.bodies(node.params):
        for inner in body.nodes:
            if inner.primitive is not INPUT:
                _content(inner, Numbered())
    return written_record(node, len(node.operands), {}, loops)


def _content(node: Node, loops: Numbered) -> dict[str, Any]:
    """Of what derivatives made, to be made again; a constant with its key."""
    captured = node.params[0] if node.primitive is CONSTANT else None
    if node.primitive is MARK or (captured is not None and captured.value.nbytes > _MAX_CONTENT):
        raise UnsupportedOperation("a mark, which is like no other, or a large array")
    return _exact(node, loops) | ({"key": _plain(captured.key)} if captured is not None and captured.key else {})


def _plain(key: Any) -> Any:
    if type(key) is tuple:
        return [_plain(k) for k in key]
    if type(key) not in (str, int, bool, float):
        raise UnsupportedOperation(f"a key with a {type(key).__name__}")
    return key


# --- reading ------------------------------------------------------------------------------------------------------


class _Kind(Kind):
    """A kind whose nodes are made, or found where they are in the graph."""

    __slots__ = ("arity", "key", "primitive")

    def __init__(self, record: dict[str, Any], known: Reading) -> None:
        self.key = _tuples(record.pop("key", None))
        super().__init__(_RECORD.read(record, known), known)
        operation, self.arity = self.operation, record.get("operands", 0)
        self.primitive = operation and operation.primitive
        if self.primitive in (MARK, CUSTOM) or is_named(self.own):
            raise ValueError(f"{record['op']} is never written")
        if self.key is not None and not isinstance(self.own, CapturedArray):
            raise ValueError(f"{record['op']} has no key")
        if operation is not None and not operation.least <= self.arity <= operation.most:
            raise ValueError(f"{record['op']} of {self.arity} operands")

    def node_of(self, operands: tuple[Node, ...], is_found: bool) -> Node:
        """The node of this kind that is in the graph already, or a leaf that comes into it."""
        table, own = active_graph().table, self.own
        if self.primitive is not None:
            return table[self.primitive, operands, self.params]
        if not isinstance(own, CapturedArray):
            return table[LITERAL, (), (own, repr(own), type(own))] if is_found else literal(own)
        if self.key is None:
            if is_found:
                raise ValueError("an array of the graph's without a name")
            return constant(own)
        node = table[self.key] if is_found else made_constant(self.key, lambda: own.value)
        if node.primitive is not CONSTANT or node.params[0].value.tobytes() != own.value.tobytes():
            raise ValueError(f"{self.key} is another array here")
        return node


def _read(stream: list[int], kinds: Sequence[_Kind], nodes: list[Node], found: int) -> list[Node]:
    """``nodes`` and those of the stream, of which as many as ``found`` are in the graph already."""
    at, last = 0, len(stream)
    while at < last:
        kind = kinds[stream[at]]
        end = at + 1 + kind.arity
        operands = tuple([nodes[i] for i in stream[at + 1 : end]])
        if end > last:
            raise ValueError("the stream ends within a node")
        if found <= 0 and kind.primitive is not None:  # almost all
            node = emit(kind.primitive, operands, kind.params)
        else:
            node = kind.node_of(operands, found > 0)
        kind.check(node)
        nodes.append(node)
        found -= 1
        at = end
    return nodes


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _index(at: Any) -> int:
    if type(at) is not int or at < 0:
        raise ValueError(f"{at!r} is no number of a node")
    return at
