"""Nodes as bytes and back, each in terms of the nodes before it.

What is written says exactly which nodes are meant, so it serves as a name of them, and it is read through the
constructors that made them, so a wrong byte gives an error and never another node. What has no exact spelling
(the user's own rules, named dims, objects) is Unspelled.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..primitives.elementwise import Template
from ..primitives.identity import MARK, Mark
from ..primitives.primitive import CONSTANT, INPUT, LITERAL, Captured, Leaf, Primitive, constant, literal
from ..program.node import Node, active_graph, emit

#: bytes of arrays that are written down among derived nodes
_MOST_CONTENT = 2**20
_SCALARS = {"bool": {"True": True, "False": False}.__getitem__, "int": int, "float": float}


class Unspelled(Exception):
    """Nodes that cannot be written down exactly."""


class Damaged(Exception):
    """Bytes that do not say which nodes are meant."""


def name_of(nodes: Sequence[Node], number: dict[Node, int]) -> bytes:
    """What tells these nodes from all others; ``number`` is given theirs, in order.

    Inputs and captured arrays go by their number, the latter with their values where derivatives look at them:
    integers, which are places, and scalars.
    """
    kinds, stream = _written(nodes, number, _surroundings)
    return json.dumps(kinds).encode() + b"\n" + stream


def encoded(
    found: Sequence[Node], made: Sequence[Node], results: Sequence[Node | None], number: dict[Node, int]
) -> bytes:
    """``results``: of the nodes of ``number``, of others that were ``found`` in the graph, and of those ``made``."""
    keys = _own_keys({n for n in (*found, *made) if n.primitive is CONSTANT})
    if any(n.primitive is CONSTANT and n not in keys for n in found):
        raise Unspelled("a captured array that has no number")
    kinds, stream = _written((*found, *made), number, lambda node: _content(node, keys))
    at = [None if r is None else number[r] for r in results]
    return json.dumps({"kinds": kinds, "found": len(found), "results": at}).encode() + b"\n" + stream


def decoded(content: bytes, nodes: Sequence[Node]) -> list[Node | None]:
    """The results that ``encoded`` wrote, in the active graph; ``nodes`` are those that had a number.

    Damaged where it holds anything else, or what was found in the graph is not in this one.
    """
    try:
        head, _, stream = content.partition(b"\n")
        fields = json.loads(head)
        kinds = [_Kind(*kind) for kind in fields["kinds"]]
        every = _read(np.frombuffer(stream, "<u4").tolist(), kinds, list(nodes), _index(fields["found"]))
        return [None if at is None else every[_index(at)] for at in fields["results"]]
    except Exception as error:
        raise Damaged(f"{type(error).__name__}: {error}") from error


# --- writing ------------------------------------------------------------------------------------------------------


def _written(
    nodes: Iterable[Node], number: dict[Node, int], leaf: Callable[[Node], list[Any]]
) -> tuple[list[Any], bytes]:
    """The kinds of the nodes, and the stream of each node's kind and its operands' numbers."""
    known: dict[tuple, int] = {}
    kinds: list[Any] = []
    stream: list[int] = []
    for node in nodes:
        operands = node.operands
        key = (node.primitive, len(operands), node.params, node.shape, node.dtype, node.weak, node.masked)
        kind = known.get(key)
        if kind is None:
            kind = known[key] = len(kinds)
            name, params = leaf(node) if isinstance(node.primitive, (Leaf, Mark)) else _operation(node)
            dtype = _dtype_text(node.dtype)
            kinds.append([name, len(operands), params, spelled(node.shape), dtype, node.weak, node.masked])
        stream.append(kind)
        stream += [number[o] for o in operands]
        number[node] = len(number)
    return kinds, np.array(stream, "<u4").tobytes()


def _operation(node: Node) -> list[Any]:
    return [_spelled_primitive(node.primitive), spelled(node.params)]


def _surroundings(node: Node) -> list[Any]:
    """A leaf, or a mark, of what is given: told apart by its number alone where nothing else matters."""
    if node.primitive is CONSTANT:
        value = node.params[0].value
        is_read = value.dtype.kind != "f" or not value.shape
        return ["constant", hashlib.sha256(value.tobytes()).hexdigest() if is_read else None]
    if node.primitive is INPUT or node.primitive is MARK:
        return [node.primitive.name, None]
    return _literal(node)


def _content(node: Node, keys: Mapping[Node, Any]) -> list[Any]:
    """A leaf that derivatives made, to be made again."""
    if node.primitive is not CONSTANT:
        return _literal(node)
    value = node.params[0].value
    if value.nbytes > _MOST_CONTENT:
        raise Unspelled(f"an array of {value.nbytes} bytes")
    return ["constant", [base64.b64encode(value.tobytes()).decode(), spelled(keys.get(node))]]


def _literal(node: Node) -> list[Any]:
    if node.primitive is not LITERAL:
        return _operation(node)  # refused where it is not a stop
    value, text, kind = node.params
    if value != value:  # NaNs differ in bits that their text has not
        raise Unspelled("a literal that is no number")
    return ["literal", [kind.__name__, text]]


def _own_keys(constants: set[Node]) -> dict[Node, Any]:
    """The keys under which the graph knows constants, other than as arrays of their own."""
    if not constants:
        return {}
    entries = active_graph().table.items()
    return {node: key for key, node in entries if node in constants and key != (CONSTANT, (), node.params)}


def spelled(value: Any) -> Any:
    """A parameter as JSON.

    >>> spelled((1, "view", 0.5))
    [1, 'view', {'float': '0x1.0000000000000p-1'}]
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is tuple:
        return [spelled(v) for v in value]
    if kind is float:
        return {"float": value.hex()}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.dtype):
        return {"dtype": _dtype_text(value)}
    if value is CONSTANT:
        return {"leaf": "constant"}
    raise Unspelled(f"a parameter of type {kind.__name__}")


def _dtype_text(dtype: np.dtype) -> str:
    if dtype.kind not in "biuf":
        raise Unspelled(f"dtype {dtype}")
    return dtype.str


def _spelled_primitive(primitive: Primitive) -> str:
    if primitive is MARK or own_operation(primitive.name) is not primitive:
        raise Unspelled(f"{primitive.name}, which is not an operation of symgrad's")
    return primitive.name


# --- reading ------------------------------------------------------------------------------------------------------


class _Kind:
    """What nodes of one kind have in common."""

    __slots__ = ("arity", "dtype", "make", "masked", "params", "primitive", "shape", "weak")

    def __init__(self, name: str, arity: int, params: Any, shape: Any, dtype: str, weak: bool, masked: bool) -> None:
        self.arity = _checked(arity, int)
        self.shape = _checked(read(shape), tuple)
        self.dtype = _dtype(dtype)
        self.weak, self.masked = _checked(weak, bool), _checked(masked, bool)
        self.primitive: Primitive | None = None
        self.params: tuple = ()
        self.make: Callable[[bool], Node]
        if name == "literal":
            self.make = self._literal(*params)
        elif name == "constant":
            self.make = self._constant(*params)
        else:
            self.primitive, self.params = own_operation(name), _checked(read(params), tuple)
            if self.primitive is None or self.primitive is MARK:
                raise ValueError(f"there is no operation {name}")
            if isinstance(self.primitive, Template) and self.primitive.arity != self.arity:
                raise ValueError(f"{name} has {self.primitive.arity} operands")
        if self.primitive is None and self.arity:
            raise ValueError("a leaf has no operands")

    def _literal(self, kind: str, text: str) -> Callable[[bool], Node]:
        value = _SCALARS[kind](text)
        if repr(value) != text:
            raise ValueError(f"{text!r} is not how {value!r} is written")
        params = (value, text, type(value))

        def make(is_found: bool) -> Node:
            return active_graph().table[LITERAL, (), params] if is_found else literal(value)

        return make

    def _constant(self, content: str, key: Any) -> Callable[[bool], Node]:
        array = np.frombuffer(base64.b64decode(content, validate=True), self.dtype).reshape(self.shape).copy()
        own = read(key)

        def make(is_found: bool) -> Node:
            table = active_graph().table
            if own is None:
                if is_found:
                    raise ValueError("an array of the graph's without a name")
                return constant(Captured(array))
            if own not in table and not is_found:
                table[own] = constant(Captured(array))
            node = table[own]
            if node.primitive is not CONSTANT or node.params[0].value.tobytes() != array.tobytes():
                raise ValueError(f"{own} is another array here")
            return node

        return make


def _read(stream: list[int], kinds: Sequence[_Kind], nodes: list[Node], found: int) -> list[Node]:
    """``nodes`` and those of the stream, of which as many as ``found`` are in the graph already."""
    table = active_graph().table
    at, last = 0, len(stream)
    while at < last:
        kind = kinds[stream[at]]
        end = at + 1 + kind.arity
        operands = tuple([nodes[i] for i in stream[at + 1 : end]])
        if end > last:
            raise ValueError("the stream ends within a node")
        if kind.primitive is None:
            node = kind.make(found > 0)
        elif found > 0:
            node = table[kind.primitive, operands, kind.params]
        else:
            node = emit(kind.primitive, operands, kind.params)
        if node.shape != kind.shape or node.dtype != kind.dtype or (node.weak, node.masked) != (kind.weak, kind.masked):
            raise ValueError(f"{node} is not of its kind")
        nodes.append(node)
        found -= 1
        at = end
    return nodes


def read(value: Any) -> Any:
    """The parameter that ``spelled`` wrote.

    >>> read(spelled((1, "view", 0.5)))
    (1, 'view', 0.5)
    """
    if isinstance(value, list):
        return tuple([read(v) for v in value])
    if isinstance(value, dict):
        ((kind, text),) = value.items()
        return _READERS[kind](text)
    return value


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{value!r} should be of type {kind.__name__}")
    return value


def _index(at: Any) -> int:
    if _checked(at, int) < 0:
        raise ValueError("a number below 0")
    return at


def _dtype(text: str) -> np.dtype:
    dtype = np.dtype(_checked(text, str))
    if dtype.str != text or dtype.kind not in "biuf":
        raise ValueError(f"dtype {text!r}")
    return dtype


_READERS: dict[str, Callable[[str], Any]] = {
    "float": float.fromhex,
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "dtype": _dtype,
    "leaf": {"constant": CONSTANT}.__getitem__,
}


# --- primitives ---------------------------------------------------------------------------------------------------

_ROOMS = f"{__name__.split('.')[0]}.primitives."
_named: dict[str, Primitive] = {}


def own_operation(name: str) -> Primitive | None:
    """symgrad's own operation of this name. Any other may be another one in the next process."""
    if name not in _named:  # special functions are imported late
        rooms = [m for path, m in list(sys.modules.items()) if path.startswith(_ROOMS)]
        own = [v for room in rooms for v in list(vars(room).values()) if isinstance(v, Primitive)]
        _named.update({p.name: p for p in own if not isinstance(p, Leaf)})
    return _named.get(name)
