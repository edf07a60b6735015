"""A Program from the members of a document, in a graph of its own, every particular of it checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from ..errors import LoadError, MissingPart, SymgradError
from ..primitives.primitive import Captured, constant, dim_value, input_node, literal
from ..program.dims import is_concrete, is_named
from ..program.facts import HOLDS
from ..program.node import Graph, Node, emit
from ..program.program import Program
from ..program.verify import verify
from .arrays import DTYPES, ELEMENTS, read_dtype, read_elements, read_scalar
from .dims import Dims
from .field import Field, shown
from .limits import MOST_ELEMENTS, MOST_INPUTS, MOST_NODES, MOST_OPERANDS, MOST_OUTPUTS
from .operations import read_operation
from .rearranging import read_dims
from .requirements import Requirements, first_broken, shape_text

#: the members of a document that are the Program
MEMBERS = ("inputs", "nodes", "outputs", "conditions", "sizes")
_LEAVES = ("constant", "literal", "dim")


@dataclass(frozen=True)
class Read:
    """What was read: the Program, its conditions, and what the sizes of named dims must satisfy beyond its facts."""

    program: Program
    conditions: tuple[Node, ...]
    required: tuple[tuple[sympy.Expr, str], ...]

    def broken(self, sizes: Mapping[sympy.Symbol, int]) -> str | None:
        """What the sizes of a call would have to satisfy and do not, as text; None where all is right."""
        return first_broken((*self.program.graph.sizes.facts, *self.required), sizes)


def read_program(members: dict[str, Field]) -> Read:
    """The Program that ``written_program`` wrote; a LoadError that names the place for anything else."""
    return _Reader().read(members)


class _Reader:
    def __init__(self) -> None:
        self.graph = Graph()
        self.dims = Dims()
        self.require = Requirements()
        self.values: list[Node] = []

    def read(self, members: dict[str, Field]) -> Read:
        with self.graph:
            inputs, names = self._inputs(members["inputs"])
            self._facts(members["sizes"], inputs)
            for field in members["nodes"].items(MOST_NODES):
                self.values.append(self._node(field))
        outputs = [self._value(f) for f in members["outputs"].items(MOST_OUTPUTS)]
        conditions = [self._condition(f) for f in members["conditions"].items(MOST_OUTPUTS)]
        program = Program(inputs, outputs, names, self.graph)
        self._check_names(members["nodes"], inputs)
        try:
            verify(program.with_outputs((*outputs, *conditions)))
        except SymgradError as error:
            raise LoadError(f"the document is no Program: {error}") from None
        return Read(program, tuple(conditions), tuple(self.require.open))

    def _inputs(self, field: Field) -> tuple[list[Node], list[str]]:
        names = []
        for own in field.items(MOST_INPUTS):
            members = own.members(("number", "label", "shape", "dtype"), ("weak",))
            self._check_number(members["number"])
            shape, dtype = read_dims(members["shape"], self.dims), read_dtype(members["dtype"])
            weak = "weak" in members and members["weak"].truth()
            if weak and (shape or dtype != "float64"):
                members["weak"].fail("only a Python float is weak, of shape [] and dtype float64")
            self._check_elements(members["shape"], shape)
            names.append(members["label"].text())
            self.values.append(input_node(names[-1], shape, dtype, weak))
        return list(self.values), names

    def _facts(self, field: Field, inputs: list[Node]) -> None:
        for own in field.items(MOST_OUTPUTS):
            members = own.members(("size", "is"))
            dim, sign = self.dims.whole(members["size"]), members["is"].one_of(HOLDS)
            if not is_named(dim):
                members["size"].fail("a fact on sizes is of named dims")
            self.graph.sizes.facts[dim, sign] = None

    def _check_names(self, field: Field, inputs: list[Node]) -> None:
        """Every named dim can be read off an input."""
        known = {d for n in inputs for d in n.shape if isinstance(d, sympy.Symbol)}
        for name, symbol in self.dims.names.items():
            if symbol not in known:
                raise LoadError(f"inputs: no axis has the size {name!r} alone, so nobody can know how large it is")

    def _check_number(self, field: Field) -> None:
        if field.whole(0, MOST_INPUTS + MOST_NODES) != len(self.values):
            field.fail(f"values are numbered in order, and this one is {len(self.values)}")

    def _check_elements(self, field: Field, shape: tuple) -> None:
        count = 1
        for d in shape:
            count *= max(d, 1) if isinstance(d, int) else 1
        if count > MOST_ELEMENTS:
            field.fail(f"an array of shape {shape_text(shape)} has more than {MOST_ELEMENTS} elements")

    def _value(self, field: Field) -> Node:
        """The value of this number, which stands before."""
        return self.values[field.whole(0, len(self.values) - 1)]

    def _condition(self, field: Field) -> Node:
        node = self._value(field)
        if node.shape or node.dtype.kind != "b":
            field.fail(f"a condition is one truth value, and this is {node.dtype}{shape_text(node.shape)}")
        return node

    def _node(self, field: Field) -> Node:
        if field.has("op") and type(field.value["op"]) is str and field.value["op"] in _LEAVES:
            return self._leaf(field, field.value["op"])
        return self._operation(field)

    def _leaf(self, field: Field, kind: str) -> Node:
        if kind == "constant":
            members = field.members(("number", "op", "shape", "dtype"), ELEMENTS)
            shape = read_dims(members["shape"], self.dims)
            if not is_concrete(shape):
                members["shape"].fail("an array of numbers has sizes that are numbers")
            self._check_elements(members["shape"], shape)
            array = read_elements(field, members, shape, read_dtype(members["dtype"]))
            node = constant(Captured(array))
        elif kind == "literal":
            members = field.members(("number", "op", "value", "shape", "dtype"), ("weak",))
            node = literal(read_scalar(members["value"], read_dtype(members["dtype"])))
        else:
            members = field.members(("number", "op", "size", "shape", "dtype"), ("weak",))
            dim = self.dims.whole(members["size"])
            if not is_named(dim):
                members["size"].fail("should be an expression in named dims; a number is a literal")
            node = dim_value(dim)
        self._check_number(members["number"])
        self._check_kind(members, node)
        return node

    def _operation(self, field: Field) -> Node:
        members = field.members(("number", "op", "operands", "shape", "dtype"), ("parameters", "weak"))
        self._check_number(members["number"])
        operands = tuple([self._value(f) for f in members["operands"].items(MOST_OPERANDS)])
        primitive, read = read_operation(members["operands"], members["op"], operands)
        given = members.get("parameters")
        if given is not None and given.value == {}:
            given.fail("without parameters this member is left out")
        own = Field({}, f"{field.path}.parameters") if given is None else given
        try:
            params = read(own, operands, self.dims, self.require)
            node = emit(primitive, operands, params)
        except (LoadError, MissingPart):
            raise
        except Exception as error:  # NumPy and the shape rules say what does not fit in many ways
            field.fail(f"{primitive.name} is not defined for these operands: {shown(str(error))}")
        self._check_kind(members, node)
        self._check_elements(members["shape"], node.shape)
        return node

    def _check_kind(self, members: dict[str, Field], node: Node) -> None:
        """What the document says of a node is what it is."""
        said = members["shape"]
        if read_dims(said, self.dims) != node.shape:
            said.fail(f"the shape of this node is {shape_text(node.shape)}, not {shown(said.value)}")
        if members["dtype"].one_of(DTYPES) != node.dtype.name:
            members["dtype"].fail(f"the dtype of this node is {node.dtype}")
        if ("weak" in members and members["weak"].truth()) != node.weak:
            own = members.get("weak", members["dtype"])
            own.fail("this node is weak" if node.weak else "this node is not weak")
