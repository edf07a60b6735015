"""The C of a region: regions of one form, whatever their sizes, share one function.

The text names arrays ``a0, a1, …``, which begin where the region's first element is, and takes large sizes and strides
as arguments; a call runs the outermost loop from ``lo`` to ``hi``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from ...emit.c.library import Library
from ...emit.c.printing import Statements
from ...emit.c.spelling import Spelling, type_of
from ...emit.loops.flat import accesses, flat_index, merged, steps_of
from ...emit.loops.language import Array, Assign, Element, Index, Literal, Loop, Statement
from ...emit.loops.lowering import counters_without
from ...emit.loops.nests import Nest, Values, is_started, kept_loops, start_of
from ...emit.loops.regions import Item, Point, Read, Reduction, Region, own_read
from ...program.dims import Dim
from ...program.node import Node
from .points import work_of
from .schedule import Schedule

#: additions from which a region is dealt out to threads
DEALT_FROM = 400_000.0
#: sizes and strides up to this are written into the text, larger ones are arguments
_MAX_WRITTEN = 32


class Access(NamedTuple):
    """Where a pointer begins in the memory of a node, in elements."""

    base: Node
    offset: int


#: what a step of a kernel is called with
STEP = "static void step@(char **p, const int64_t *d, int64_t lo, int64_t hi)"


@dataclass(frozen=True)
class Written:
    """A C function whose number is written ``@``: its text, the functions that it calls, and the sizes that it takes.

    ``outer`` is the extent of its outermost loop.
    ``parted`` are the accesses that are reduced over the outermost loop, with their operations, and whether they add
    to what is there.
    """

    text: str
    library: tuple[tuple[str, str], ...]
    sizes: tuple[int, ...]
    outer: int
    parted: tuple[tuple[int, str, bool], ...]


def is_dealt(work: float) -> bool:
    """True for a loop that costs enough additions to be dealt out to threads."""
    return work >= DEALT_FROM


class Form:
    """A region as it lies in memory: ``accessed`` are its pointers, ``deals`` whether threads share it."""

    def __init__(self, region: Region, schedule: Schedule) -> None:
        self._schedule = schedule
        self.is_array = schedule.is_array
        self.deals = schedule.deals and is_dealt(work_of(region))
        indices = [flat_index(r) for r in accesses(region, schedule.is_array)]
        self.region, self.into = merged(region, indices)
        self.levels = [self.region.extents[k] for k in self.region.order]
        self.accessed: list[Access] = []
        #: dtypes and strides, by loops, of the pointers
        self.kinds: list[tuple[np.dtype, tuple[int, ...]]] = []
        self._numbers: dict[tuple, int] = {}
        self._points = {item.node: k for k, item in enumerate(region.items) if isinstance(item, Point)}
        items = tuple([self._item(item) for item in region.items])
        self.key = (tuple(self.levels), self.deals, tuple(self.kinds), items)

    def written(self) -> Written:
        """The C of the region, which is made once a form."""
        found = _written.get(self.key)
        if found is None:
            if len(_written) >= _MAX_KEPT:
                _written.clear()
            found = _written[self.key] = _Text(self).written()
        return found

    def number(self, read: Read) -> int:
        """The number of the pointer to what is read."""
        root = read.root
        offset, strides = steps_of(read, self.region.order)
        base, start = self._schedule.base_of(root)
        access = Access(base, start + offset)
        key = (access, strides)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.accessed)
            self.accessed.append(access)
            self.kinds.append((read.root.dtype, strides))
        return number

    def bytes(self) -> float:
        """The bytes that the pointers walk over."""
        return float(
            sum(
                math.prod(d for d, s in zip(self.levels, strides, strict=True) if s) * dtype.itemsize
                for dtype, strides in self.kinds
            )
        )

    def _item(self, item: Item) -> tuple:
        """All that the text of an item depends on."""
        node = item.node
        reads = tuple([self._read(r) for r in item.reads])
        if isinstance(item, Point):
            operands = tuple([(o.dtype, o.weak, repr(o.params[0]) if o.is_literal else "") for o in node.operands])
            stored = self.number(own_read(node)) if self._schedule.is_array(node) else -1
            return (node.primitive, node.dtype, operands, reads, stored)
        operation = item.operation if isinstance(item, Reduction) else "put"
        return (operation, node.dtype, reads, self.number(Read(node, item.place)), item.adds)

    def _read(self, read: Read) -> Any:
        root = read.root
        if root.is_literal:
            return (repr(root.params[0]), root.dtype)
        return f"v{self._points[root]}" if root in self._points else self.number(read)


#: what was written, by form
_written: dict[tuple, Written] = {}
_MAX_KEPT = 4096
_HI = sympy.Symbol("hi", integer=True)
_SIZES = [sympy.Symbol(f"d{k}", integer=True) for k in range(64)]


@dataclass
class _Values(Values):
    """Elements by the pointers of a form."""

    rows = True

    text: Any = None

    def element(self, read: Read, names: Any) -> Element:
        return self.text.element(read)


class _Text:
    """Writes one form."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self._sizes: dict[int, sympy.Symbol] = {}
        self._counters = counters_without(len(form.levels))
        self._pointers = [Array(f"a{k}", (1,), dtype, "local") for k, (dtype, _) in enumerate(form.kinds)]

    def written(self) -> Written:
        form, region = self.form, self.form.region
        count = itertools.count()
        values = _Values(lambda: f"v{next(count)}", text=self)
        for item in region.items:
            values.numbers |= {r.root: Literal(r.root.params[0], r.root.dtype) for r in item.reads if r.root.is_literal}
        parted = [k for k in region.items if isinstance(k, Reduction) and self._is_parted(k)]
        afresh = parted if form.deals else []
        items = [replace(k, adds=False) if k in afresh and isinstance(k, Reduction) else k for k in region.items]
        shared = bool(form.levels) and (form.deals or form.levels[0] > _MAX_WRITTEN)
        extents: dict[int, Dim] = {k: self._size(region.extents[k]) for k in region.order[shared:]}
        extents |= dict.fromkeys(region.order[:shared], _HI)  # of which a call runs a part
        written = replace(region, extents=extents, items=items)
        body: list[Statement] = []
        for item in items:
            if isinstance(item, Reduction) and not item.adds and is_started(item, region, form.into, True):
                body += self._start(item, extents)
        body += Nest(written, values, self._counters, form.is_array, form.into).statements
        library = Library({})
        spell = Spelling({s: s.name for s in (_HI, *self._sizes.values())}, set(self._counters), library.use)
        statements = Statements(spell, library)
        statements.counted = "int64_t"
        if shared:
            statements.bounds[self._counters[0]] = ("lo", "hi")
        for s in body:
            statements.write(s, 1)
        sizes = [s.name for s in self._sizes.values()]
        given = [f"{type_of(dtype)} *restrict a{k}" for k, (dtype, _) in enumerate(form.kinds)]
        given += [f"int64_t {name}" for name in (*sizes, "lo", "hi")]
        passed = [*(f"(void *)p[{k}]" for k in range(len(form.kinds))), *(f"d[{k}]" for k in range(len(sizes)))]
        head = f"static __attribute__((noinline)) void loops@({', '.join(given)})"  # where ``restrict`` has its meaning
        call = f"{STEP} {{ loops@({', '.join([*passed, 'lo', 'hi'])}); }}"
        return Written(
            "\n".join([head, "{", *statements.lines, "}", call]),
            tuple(library.texts.items()),
            tuple(self._sizes),
            form.levels[0] if form.levels else 1,
            tuple([(form.number(Read(r.node, r.place)), r.operation, r.adds) for r in parted]),
        )

    def element(self, read: Read) -> Element:
        """What is read, by the counters."""
        number = self.form.number(read)
        strides = self.form.kinds[number][1]
        terms = [(c, self._size(s)) for c, s in zip(self._counters, strides, strict=True) if s]
        return Element(self._pointers[number], (Index(0, tuple(terms)),))

    def _size(self, value: Dim) -> Dim:
        if abs(value) <= _MAX_WRITTEN:
            return value
        if value not in self._sizes:
            self._sizes[value] = _size_symbol(len(self._sizes))
        return self._sizes[value]

    def _is_parted(self, item: Reduction) -> bool:
        """True for a reduction over the outermost loop."""
        order = self.form.region.order
        return bool(order) and order[0] not in kept_loops(item, self.form.into)

    def _start(self, item: Reduction, extents: Mapping[int, Dim]) -> Iterator[Statement]:
        """Loops that set a result to what its reduction begins with."""
        kept, order = kept_loops(item, self.form.into), self.form.region.order
        made: Statement = Assign(self.element(Read(item.node, item.place)), start_of(item.operation, item.node.dtype))
        for level in range(len(order) - 1, -1, -1):
            if order[level] in kept:
                made = Loop(self._counters[level], extents[order[level]], [made])
        yield made


def _size_symbol(k: int) -> sympy.Symbol:
    return _SIZES[k] if k < len(_SIZES) else sympy.Symbol(f"d{k}", integer=True)
