"""A region as a nest of loops: every statement in the outermost loop that knows what it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...primitives.elementwise import Elementwise
from ...program.dims import Dim, is_named, normal
from ...program.node import Node
from .language import (
    Allocate,
    Apply,
    Array,
    Assign,
    Cast,
    Element,
    Expression,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Require,
    Search,
    Size,
    Statement,
    Update,
    Variable,
)
from .regions import LOOKED_UP, Point, Put, Read, Reduction, Region, own_read
from .scalars import BOOL, F32, F64, I64, cast, constant, elementwise, gated, product
from .scalars import is_named as is_held
from .views import moved

#: elements of a row of results that registers hold, and the role of such an array
MAX_ROW, ROW = 32, "row"
#: what a reduction begins with
_START = {"add": 0, "multiply": 1}


@dataclass
class Values:
    """Where values are: numbers by name (or written out), others in arrays; ``fresh`` makes names."""

    #: whether short rows of results are held in arrays of their own, of the role ``ROW``
    rows = False

    fresh: Callable[[], str]
    numbers: dict[Node, Expression] = field(default_factory=dict)
    arrays: dict[Node, Array] = field(default_factory=dict)

    def element(self, read: Read, names: dict[Any, Index]) -> Element:
        """An element of an array, where ``names`` are indices for the names of its places."""
        return Element(self.arrays[read.root], moved(read.places, names))


def extreme(operation: str, dtype: np.dtype) -> Literal:
    """What the first element of an extremum is compared with.

    >>> extreme("maximum", np.dtype(np.float64)).value
    -inf
    """
    sign = -1 if operation == "maximum" else 1
    if dtype.kind == "f":
        return Literal(sign * float("inf"), dtype)
    if dtype == BOOL:
        return Literal(sign > 0, dtype)
    limits = np.iinfo(dtype)
    return Literal(int(limits.min if sign < 0 else limits.max), dtype)


def start_of(operation: str, dtype: np.dtype) -> Literal:
    """What a reduction of nothing is, or an extremum begins with."""
    return constant(_START[operation], dtype) if operation in _START else extreme(operation, dtype)


def update(target: Name | Element, operation: str, value: Expression) -> Statement:
    """``target`` with ``value`` taken in; truth values as NumPy has them."""
    if target.dtype != BOOL:
        return Update(target, operation, value)
    logical = "logical_or" if operation in ("add", "maximum") else "logical_and"
    return Assign(target, Apply(logical, (target, value), BOOL))


class Nest:
    """Writes one region. ``statements`` are those of its place in the routine.

    ``into`` says which loops are part of another, whose counter counts for both.
    """

    def __init__(
        self,
        region: Region,
        values: Values,
        counters: Sequence[str],
        arrays: Callable[[Node], bool],
        into: Mapping[int, int],
    ) -> None:
        self.values = values
        self._region, self._into = region, into
        self._is_array = arrays
        self._depth = len(region.order)
        self._level = {loop: level for level, loop in enumerate(region.order)}
        self._names = {loop: Index(0, ((counters[level], 1),)) for loop, level in self._level.items()}
        self._level |= {outer: self._level[inner] for outer, inner in into.items()}
        self._names |= dict.fromkeys(into, Index())
        #: statements within so many loops, before the next one and after it
        self._before: list[list[Statement]] = [[] for _ in range(self._depth + 1)]
        self._after: list[list[Statement]] = [[] for _ in range(self._depth + 1)]
        self._known: dict[Node, int] = {}
        self._loads: dict[tuple, Name] = {}
        self._read_here = {r.root for item in region.items for r in item.reads}
        stored: list[Node] = []
        for item in region.items:
            if isinstance(item, Point):
                self._point(item)
                if arrays(item.node):
                    stored.append(item.node)
            elif isinstance(item, Put):
                self._put(item)
            else:
                self._reduce(item)
        body = [*self._before[self._depth], *self._after[self._depth]]
        for level in reversed(range(self._depth)):
            loop = Loop(counters[level], region.extents[region.order[level]], body)
            body = [*self._before[level], loop, *self._after[level]]
        self.statements = body
        for node in stored:  # other loops read it from memory
            values.numbers.pop(node, None)

    # what is read

    def _read(self, read: Read, looked_up: tuple[str, int] | None = None) -> tuple[Expression, int]:
        """An element, and how many loops it takes to know it."""
        root = read.root
        number = self.values.numbers.get(root)
        if number is not None:
            return number, self._known.get(root, 0)
        names: dict[Any, Index] = dict(self._names)
        depth = 0
        if looked_up is not None:
            names[LOOKED_UP] = Index(0, ((looked_up[0], 1),))
        for place in read.places:
            for name, _ in place.terms:
                known = looked_up[1] if looked_up is not None and name == LOOKED_UP else self._level[name] + 1
                depth = max(depth, known)
        element = self.values.element(read, names)
        if self.values.rows and depth < self._depth and looked_up is None:
            return self._loaded(element, depth), depth
        return element, depth

    def _loaded(self, e: Expression, depth: int) -> Expression:
        """An element read once, whatever conditions its uses have: else compilers keep a loop from being a vector."""
        if not isinstance(e, Element):
            return e
        key = (e.array.name, e.place, depth)
        if key not in self._loads:
            self._loads[key] = Name(self.values.fresh(), e.dtype)
            self._before[depth].append(Let(self._loads[key].name, e))
        return self._loads[key]

    def _look_up(self, read: Read, dim: Dim, places: Sequence[Index]) -> tuple[str, int]:
        """The name of an index that counts from 0 and is within a dim; ``places`` are where it is used."""
        index, depth = self._read(read)
        wanted = any(name == LOOKED_UP for place in places for name, _ in place.terms)
        if not wanted and _is_within(read.root, dim):
            return "", depth
        body = self._before[depth]
        name = self.values.fresh()
        body.append(Let(name, cast(index, I64)))
        if _is_within(read.root, dim):
            return name, depth
        size, given = Size(dim, I64), Name(name, I64)
        least = Apply("greater_equal", (given, Size(normal(-dim), I64)), BOOL)
        body.append(Require(Apply("logical_and", (least, Apply("less", (given, size), BOOL)), BOOL), "index"))
        if not wanted:
            return name, depth
        counted = self.values.fresh()
        below = Apply("less", (given, constant(0, I64)), BOOL)
        body.append(Let(counted, Apply("where", (below, Apply("add", (given, size), I64), given), I64)))
        return counted, depth

    # what is done

    def _point(self, item: Point) -> None:
        node, reads = item.node, item.reads
        name = node.primitive.name
        if name == "gather":
            x = node.operands[0]
            found = self._look_up(reads[0], x.shape[node.params[0]], reads[1].places)
            value, depth = self._read(reads[1], found)
            depth = max(depth, found[1])
        elif name == "searchsorted":
            value, depth = self._read(reads[0])
            value = Search(self.values.arrays[reads[1].root], value, node.params[0], I64)
        else:
            found = [self._read(r) for r in reads]
            depth = max([d for _, d in found], default=0)
            if node.primitive.name == "einsum":
                found.sort(key=_depth)
            value = self._value(node, [e for e, _ in found], depth)
        self._keep(node, value, depth)

    def _keep(self, node: Node, value: Expression, depth: int) -> None:
        in_memory = self._is_array(node)
        if not is_held(value) and (not in_memory or node in self._read_here):
            name = self.values.fresh()
            self._before[depth].append(Let(name, value))
            value = Name(name, value.dtype)
        if in_memory:
            self._before[self._depth].append(Assign(self.values.element(own_read(node), self._names), value))
        self.values.numbers[node] = value
        self._known[node] = depth

    def _value(self, node: Node, operands: list[Expression], depth: int) -> Expression:
        name = node.primitive.name
        if self.values.rows and name in ("gate", "where"):
            operands = [self._loaded(o, depth) for o in operands]
        if name == "gate":
            return gated(operands[0], operands[1], node.dtype)
        if name == "cast":
            return cast(operands[0], node.dtype)
        if not isinstance(node.primitive, Elementwise):
            return product(operands, node.dtype)
        value = elementwise(node, operands)
        if isinstance(value, Apply) and value.operation == "power" and value.dtype.kind == "i":
            exponent = value.operands[1]
            if not isinstance(exponent, Cast) or exponent.operand.dtype != BOOL:
                least = Apply("greater_equal", (exponent, constant(0, exponent.dtype)), BOOL)
                self._before[depth].append(Require(least, "exponent"))
        return value

    def _put(self, item: Put) -> None:
        node, reads, looked_up = item.node, item.reads, None
        if node.primitive.name == "scatter" and len(reads) > 1:  # others go to places that are evenly spaced
            looked_up = self._look_up(reads[0], node.params[1], item.place)
            reads = reads[1:]
        value = product([e for e, _ in sorted([self._read(r) for r in reads], key=_depth)], node.dtype)
        names: dict[Any, Index] = dict(self._names)
        if looked_up is not None:
            names[LOOKED_UP] = Index(0, ((looked_up[0], 1),))
        target = self.values.element(Read(node, item.place), names)
        self._before[self._depth].append(update(target, "add", value) if item.adds else Assign(target, value))

    def _reduce(self, item: Reduction) -> None:
        node, operation = item.node, item.operation
        reads = sorted([self._read(r) for r in item.reads], key=_depth)
        kept = {self._level[name] for place in item.place for name, _ in place.terms}
        depth = len(kept)
        body = self._before[self._depth]
        row = row_within(item, self._region, self._into) if self.values.rows else None
        if row is not None:
            self._reduce_row(item, row, product([e for e, _ in reads], node.dtype))
            return
        if kept != set(range(depth)):  # what is kept runs inside of what is summed: the array itself is added to
            target = self.values.element(Read(node, item.place), self._names)
            body.append(update(target, operation, product([e for e, _ in reads], node.dtype)))
            return
        numbers = [e for e, d in reads if not d] if operation == "add" else []
        factors = [e for e, d in reads if d or operation != "add"]
        held = F64 if node.dtype == F32 and operation in ("add", "multiply") else node.dtype
        total = Name(self.values.fresh(), held)
        self._before[depth].append(Variable(total.name, start_of(operation, held)))
        body.append(update(total, operation, cast(product(factors, node.dtype), held)))
        result = product([*numbers, cast(total, node.dtype)], node.dtype)
        if not self._is_array(node):
            if not is_held(result):
                name = self.values.fresh()
                self._after[depth].append(Let(name, result))
                result = Name(name, node.dtype)
            self.values.numbers[node] = result
            return
        target = self.values.element(Read(node, item.place), self._names)
        self._after[depth].append(update(target, "add", result) if item.adds else Assign(target, result))

    def _reduce_row(self, item: Reduction, outer: int, value: Expression) -> None:
        """A short row of results is held while the loops between go through it."""
        node, inner = item.node, self._region.order[-1]
        width, own = self._region.extents[inner], self._names[inner]
        row = Array(self.values.fresh(), (width,), node.dtype, ROW)
        (counter, _), *_ = own.terms
        held = Element(row, (own,))
        target = self.values.element(Read(node, item.place), self._names)
        start = Assign(held, start_of(item.operation, node.dtype))
        end = update(target, "add", held) if item.adds else Assign(target, held)
        self._before[outer] += [Allocate(row), Loop(counter, width, [start])]
        self._before[self._depth].append(update(held, item.operation, value))
        self._after[outer].append(Loop(counter, width, [end]))


def _depth(found: tuple[Expression, int]) -> int:
    """Factors that fewer loops change come first, so that a compiler multiplies them outside of the others."""
    return found[1]


def row_within(item: Reduction, region: Region, into: Mapping[int, int]) -> int | None:
    """How many loops are around those in which a reduction can be held as a short row; None where it is none."""
    order, kept = list(region.order), kept_loops(item, into)
    outer = next((k for k, loop in enumerate(order) if loop not in kept), len(order))
    if outer >= len(order) - 1 or kept != {*order[:outer], order[-1]}:
        return None
    width = region.extents[order[-1]]
    return outer if isinstance(width, int) and width <= MAX_ROW else None


def is_started(item: Reduction, region: Region, into: Mapping[int, int], rows: bool) -> bool:
    """True for a reduction that goes through its result again and again, which is set to a start before."""
    kept = kept_loops(item, into)
    if kept == set(region.order[: len(kept)]):
        return False
    return not rows or row_within(item, region, into) is None


def kept_loops(item: Reduction, into: Mapping[int, int]) -> set[Any]:
    """The loops that a result of a reduction stands in."""
    return {into.get(name, name) for place in item.place for name, _ in place.terms}


def _is_within(root: Node, dim: Dim) -> bool:
    """True for indices written into the program that count from 0 and are within a dim."""
    if root.primitive.name != "constant" or is_named(dim):
        return False
    values = np.asarray(root.params[0].value)
    return bool(values.size == 0 or (values.min() >= 0 and values.max() < dim))
