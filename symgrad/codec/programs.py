"""A Program as the members of a document, and read again: inputs, nodes, outputs, conditions and facts on sizes.

Values are numbered, the inputs from 0, then the nodes, operands first. What is said of a node is its *record*: its
operation, its parameters, its shape and its dtype. Every particular of it is checked when it is read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..errors import LoadError, SymgradError, UnsupportedOperation
from ..primitives.loop import Loop
from ..primitives.primitive import (
    CONSTANT,
    DIM,
    INPUT,
    LITERAL,
    CapturedArray,
    constant,
    dim_value,
    input_node,
    literal,
    literal_value,
)
from ..primitives.scan import SCAN
from ..program.dims import is_concrete, is_named
from ..program.facts import HOLDS
from ..program.node import Graph, Node, emit
from ..program.program import Program
from ..program.verify import verify
from .arrays import DTYPE, ELEMENTS, LITERAL_VALUE, read_elements, read_scalar, written_elements
from .forms import (
    Form,
    Listed,
    Made,
    Members,
    OneOf,
    Text,
    Truth,
    Whole,
    Wrong,
    described,
    read_document,
    shown,
)
from .limits import LONGEST_NAME, MAX_INPUTS, MAX_NODES, MAX_OPERANDS, MAX_OUTPUTS
from .loops import BODY, Numbered
from .operations import OPERATION, Operation, operation_of, parameters_schema
from .sizes import PLACE, SHAPE, Fact, Sizes, first_broken, shape_text

#: the members of every node, of one that may be a Python scalar, and what a node of a document begins with
_KIND: dict[str, Form] = {"shape": SHAPE, "dtype": DTYPE}
_WEAK: dict[str, Form] = {"weak": Truth()}
#: what an input of the body of a loop may be too: a tangent or cotangent that holds zeros which must win
_MASKED: dict[str, Form] = {"masked": Truth()}


class Reading(Sizes):
    """What is known of a Program while it is read: its graph, the values so far, and sizes."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.values: list[Node] = []
        self.loops: list[Loop] = []

    @contextlib.contextmanager
    def within(self) -> Iterator[Graph]:
        """Inside, what is read is the body of a loop, in a graph of its own."""
        outer = self.graph, self.values, self.loops
        self.graph, self.values, self.loops = Graph(), [], []
        self.graph.sizes = outer[0].sizes
        try:
            with self.graph:
                yield self.graph
        finally:
            self.graph, self.values, self.loops = outer


# --- what is said of a node -----------------------------------------------------------------------------------------


def written_kind(node: Node) -> dict[str, Any]:
    """What every value is said to be."""
    kind = {"shape": SHAPE.write(node.shape), "dtype": DTYPE.write(node.dtype)}
    return kind | {"weak": True} if node.weak else kind


def written_record(node: Node, operands: Any, first: Mapping[str, Any], loops: Numbered) -> dict[str, Any]:
    """The record of a node: what it begins with, its operation, its operands, and the rest."""
    primitive = node.primitive
    kind = written_kind(node)
    if primitive is CONSTANT:
        return {**first, "op": "constant", **kind, **written_elements(np.asarray(node.params[0].value))}
    if primitive is LITERAL:
        return {**first, "op": "literal", "value": LITERAL_VALUE.write(literal_value(node)), **kind}
    if primitive is DIM:
        return {**first, "op": "dim", "size": PLACE.write(node.params[0]), **kind}
    parameters = operation_of(primitive).form.write(node.params)
    if primitive is SCAN:
        parameters |= loops.base(node.params[0])
    own = {"parameters": parameters} if parameters else {}
    return {**first, "op": primitive.name, "operands": operands, **own, **kind}


class ArrayForm(Members):
    """An array of numbers, ``values``, which stand in one of two members."""

    def __init__(self, required: Mapping[str, Form]) -> None:
        super().__init__(required, ELEMENTS)

    def write(self, value):
        return {key: form.write(value[key]) for key, form in self.required.items()} | written_elements(value["values"])

    def schema(self, defs):
        return super().schema(defs) | {"oneOf": [{"required": [name]} for name in ELEMENTS]}


class _Operation(Members):
    """An operation, whose parameters depend on it."""

    def schema(self, defs):
        return super().schema(defs) | {"allOf": parameters_schema(defs)}


class RecordForm(Form):
    """Records that begin with the members ``first``, and whose operands are said in the form of ``operands``."""

    def __init__(self, operands: Form, first: Mapping[str, Form]) -> None:
        def leaf(op: str, **own: Form) -> Form:
            return Members({**first, "op": OneOf(op), **own, **_KIND}, _WEAK).named(op)

        operation = {**first, "op": OPERATION, "operands": operands, **_KIND}
        self._operation = _Operation(operation, {"parameters": Form({"type": "object"}), **_WEAK}).named("operation")
        self._leaves: dict[str, Form] = {
            "constant": ArrayForm({**first, "op": OneOf("constant"), **_KIND}).named("constant"),
            "literal": leaf("literal", value=LITERAL_VALUE),
            "dim": leaf("dim", size=PLACE),
        }

    def read(self, value, known=None):
        """The record as it stands there."""
        op = value.get("op") if type(value) is dict else None
        leaf = self._leaves.get(op) if type(op) is str else None
        return (leaf or self._operation).read(value, known)

    def schema(self, defs):
        return {"oneOf": [described(form, defs) for form in (*self._leaves.values(), self._operation)]}


class Kind:
    """What nodes of one record have in common: all but their operands."""

    __slots__ = ("_shown", "dtype", "operation", "own", "params", "shape", "weak")

    def __init__(self, record: Mapping[str, Any], known: Reading) -> None:
        self.shape, self.dtype, self.weak = record["shape"], record["dtype"], record.get("weak", False)
        self._shown = "weak" if "weak" in record else "dtype"
        #: the operation, or None for a leaf, of which ``own`` is what it holds
        self.operation: Operation | None = None
        self.params: tuple = ()
        self.own: Any = None
        op = record["op"]
        if type(op) is str:
            self.own = self._leaf(op, record)
            return
        given = record.get("parameters", {})
        try:
            if given == {} and "parameters" in record:
                raise Wrong("without parameters this member is left out")
            self.params = op.form.read(given, known)
        except Wrong as wrong:
            raise wrong.within("parameters") from None
        self.operation = op

    def _leaf(self, op: str, record: Mapping[str, Any]) -> Any:
        if op == "constant":
            if not is_concrete(self.shape):
                raise Wrong("an array of numbers has sizes that are numbers", "shape")
            return CapturedArray(read_elements(record, self.shape, self.dtype))
        if op == "literal":
            try:
                return read_scalar(record["value"], self.dtype)
            except Wrong as wrong:
                raise wrong.within("value") from None
        if not is_named(record["size"]):
            raise Wrong("should be an expression in named dims; a number is a literal", "size")
        return record["size"]

    def node(self, operands: tuple[Node, ...], known: Reading) -> Node:
        """The node of this kind in the active graph, which is checked to be what its record says."""
        if self.operation is None:
            own = self.own
            node = (
                constant(own) if isinstance(own, CapturedArray) else dim_value(own) if is_named(own) else literal(own)
            )
        else:
            node = self._computed(self.operation, operands, known)
        self.check(node)
        return node

    def _computed(self, operation: Operation, operands: tuple[Node, ...], known: Reading) -> Node:
        name, (least, most) = operation.primitive.name, (operation.least, operation.most)
        if not least <= len(operands) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise Wrong(f"{name} has {wanted} operands, and there are {len(operands)}", "operands")
        try:
            operation.fits(self.params, operands, known)
        except Wrong as wrong:
            raise wrong.within("parameters") from None
        try:
            return emit(operation.primitive, operands, self.params)
        except Exception as error:  # NumPy and the shape rules say what does not fit in many ways
            raise Wrong(f"{name} is not defined for these operands: {shown(str(error))}") from None

    def check(self, node: Node) -> None:
        """The node is of this kind."""
        if node.shape != self.shape:
            raise Wrong(f"the shape of this node is {shape_text(node.shape)}, not {shape_text(self.shape)}", "shape")
        if node.dtype != self.dtype:
            raise Wrong(f"the dtype of this node is {node.dtype}", "dtype")
        if node.weak != self.weak:
            raise Wrong("this node is weak" if node.weak else "this node is not weak", self._shown)


# --- the whole ------------------------------------------------------------------------------------------------------


def _numbered(number: int, known: Reading) -> int:
    if number != len(known.values):
        raise Wrong(f"values are numbered in order, and this one is {len(known.values)}")
    return number


def _value(number: Any, known: Reading) -> Node:
    """The value of this number, which stands before."""
    if type(number) is not int or not 0 <= number < len(known.values):
        Whole(0, len(known.values) - 1).read(number)
    return known.values[number]


def _condition(node: Node, known: Reading) -> Node:
    if node.shape or node.dtype.kind != "b":
        raise Wrong(f"a condition is one truth value, and this is {node.dtype}{shape_text(node.shape)}")
    return node


def _input(members: dict[str, Any], known: Reading) -> Node:
    shape, dtype, weak = members["shape"], members["dtype"], members.get("weak", False)
    if weak and (shape or dtype.name != "float64"):
        raise Wrong("only a Python float is weak, of shape [] and dtype float64", "weak")
    known.values.append(input_node(members["label"], shape, dtype, weak))
    return known.values[-1]


def _node(record: dict[str, Any], known: Reading) -> Node:
    known.values.append(Kind(record, known).node(record.get("operands", ()), known))
    return known.values[-1]


def _fact(members: dict[str, Any], known: Reading) -> None:
    if not is_named(members["size"]):
        raise Wrong("a fact on sizes is of named dims", "size")
    known.graph.sizes.facts[members["size"], members["is"]] = None


def _body_input(members: dict[str, Any], known: Reading) -> Node:
    shape, dtype = members["shape"], members["dtype"]
    known.values.append(
        Node(INPUT, (), (members["label"],), shape, dtype, members.get("weak", False), members.get("masked", False))
    )
    return known.values[-1]


class _BodyForm(Members):
    """The body of a loop, a program of its own."""

    def write(self, value):
        made = _written_values(value, [n for n in value.nodes if n.primitive is not INPUT])
        for own, node in zip(made["inputs"], value.inputs, strict=True):
            own |= {"masked": True} if node.masked else {}
        return made

    def read(self, value, known=None):
        assert known is not None
        with known.within() as graph:
            members = super().read(value, known)
        return Program(members["inputs"], members["outputs"], [n.params[0] for n in members["inputs"]], graph)


_NUMBER: dict[str, Form] = {"number": Made(Whole(0, MAX_INPUTS + MAX_NODES), _numbered)}
_VALUE = Made(Form({"type": "integer", "minimum": 0}), _value)
#: the members of a document that are the Program, in the order in which they are read
PROGRAM: dict[str, Form] = {
    "inputs": Listed(Made(Members({**_NUMBER, "label": Text(), **_KIND}, _WEAK), _input), MAX_INPUTS),
    "sizes": Listed(Made(Members({"size": PLACE, "is": OneOf(*HOLDS)}), _fact), MAX_OUTPUTS),
    "nodes": Listed(Made(RecordForm(Listed(_VALUE, MAX_OPERANDS), _NUMBER), _node).named("node"), MAX_NODES),
    "outputs": Listed(_VALUE, MAX_OUTPUTS),
    "conditions": Listed(Made(_VALUE, _condition), MAX_OUTPUTS),
}
_OWN = Members({**_NUMBER, "label": Text(), **_KIND}, {**_WEAK, **_MASKED})
BODY.form = _BodyForm(
    {
        "inputs": Listed(Made(_OWN, _body_input), MAX_INPUTS),
        "nodes": PROGRAM["nodes"],
        "outputs": PROGRAM["outputs"],
    }
)


def written_program(program: Program, conditions: int = 0) -> dict[str, Any]:
    """The members of a document that are the Program, whose last outputs are so many ``conditions``.

    Raises UnsupportedOperation for what has no place in JSON.

    >>> import symgrad
    >>> written_program(symgrad.trace(lambda x: x * 2, 1.0))["nodes"][1]["operands"]
    [0, 1]
    """
    nodes = [n for n in program.nodes if n.primitive is not INPUT]
    if len(nodes) > MAX_NODES or len(program.inputs) > MAX_INPUTS:
        raise UnsupportedOperation(
            f"the JSON form has at most {MAX_INPUTS} inputs and {MAX_NODES} nodes, and this program has "
            f"{len(program.inputs)} and {len(nodes)}; export it as source, or write its loops as array operations."
        )
    made = _written_values(program, nodes)
    at = made["outputs"]
    last = len(at) - conditions
    sizes = [{"size": PLACE.write(d), "is": sign} for d, sign in program.graph.sizes.facts]
    return made | {"outputs": at[:last], "conditions": at[last:], "sizes": sizes}


def _written_values(program: Program, nodes: Sequence[Node]) -> dict[str, Any]:
    """The inputs, the other nodes and the outputs of a program, or of the body of a loop."""
    number = {n: k for k, n in enumerate((*program.inputs, *nodes))}
    loops = Numbered()
    return {
        "inputs": [
            {"number": k, "label": _label(name), **written_kind(n)}
            for k, (n, name) in enumerate(zip(program.inputs, program.names, strict=True))
        ],
        "nodes": [written_record(n, [number[o] for o in n.operands], {"number": number[n]}, loops) for n in nodes],
        "outputs": [number[n] for n in program.outputs],
    }


def _label(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")[:LONGEST_NAME]


@dataclass(frozen=True)
class Read:
    """What was read: the Program, its conditions, and what the sizes of named dims must satisfy beyond its facts."""

    program: Program
    conditions: tuple[Node, ...]
    required: tuple[Fact, ...]

    def broken(self, sizes: Mapping[sympy.Symbol, int]) -> str | None:
        """What the sizes of a call would have to satisfy and do not, as text; None where all is right."""
        return first_broken((*self.program.graph.sizes.facts, *self.required), sizes)


def read_program(form: Form, document: Any) -> tuple[Read, Any]:
    """The Program that ``written_program`` wrote, and all members of the document, which is of ``form``.

    The form has the members ``PROGRAM`` among others; a LoadError names the place of anything else.
    """
    with Graph() as graph:
        known = Reading(graph)
        members = read_document(form, document, known)
    inputs, outputs, conditions = (members[key] for key in ("inputs", "outputs", "conditions"))
    named = {d for n in inputs for d in n.shape if isinstance(d, sympy.Symbol)}
    for name, symbol in known.names.items():
        if symbol not in named:
            raise LoadError(f"inputs: no axis has the size {name!r} alone, so nobody can know how large it is")
    program = Program(inputs, outputs, [n.params[0] for n in inputs], graph)
    try:
        verify(program.with_outputs((*outputs, *conditions)))
    except SymgradError as error:
        raise LoadError(f"the document is no Program: {error}") from None
    return Read(program, conditions, tuple(known.open)), members
