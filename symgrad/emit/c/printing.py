"""The statements of a Routine as C."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...program.dims import Dim, is_named
from ..loops.language import (
    Alias,
    Allocate,
    Array,
    Assign,
    Call,
    Fill,
    Free,
    If,
    Let,
    Loop,
    Part,
    Require,
    Slab,
    Statement,
    Update,
    Variable,
)
from ..loops.nests import ROW
from ..loops.reading import Routine
from .library import Library
from .spelling import Spelling, literal, type_of
from .vectors import RUN, STARTS, is_copy_of_row, narrowed, reductions_of

#: arrays whose memory is kept on the stack
_MAX_ON_STACK = 256
#: bytes of an array that stands on the stack, and of all of them
_MAX_SMALL, _ROOM = 1 << 12, 1 << 15
_SIGNS = {"add": "+=", "multiply": "*="}


class Statements:
    """Statements on numbers and elements as lines of C; ``bounds`` are those of loops that do not begin at 0."""

    #: the type of counters
    counted = "size_t"

    def __init__(self, spell: Spelling, library: Library) -> None:
        self.spell = spell
        self.lines: list[str] = []
        self.bounds: dict[str, tuple[str, str]] = {}
        self._library = library

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def write(self, s: Statement, depth: int) -> None:
        """One statement; what it nests are loops, no deeper than the ranks of arrays."""
        spell = self.spell
        if isinstance(s, Let):
            self.line(depth, f"const {type_of(s.value.dtype)} {s.name} = {spell(s.value)};")
        elif isinstance(s, Variable):
            self.line(depth, f"{type_of(s.value.dtype)} {s.name} = {spell(s.value)};")
        elif isinstance(s, Assign):
            self.line(depth, f"{spell(s.target)} = {spell(s.value)};")
        elif isinstance(s, Update):
            self._update(spell(s.target), s, depth)
        elif isinstance(s, Loop):
            self._loop(s, depth)
        elif isinstance(s, If):
            self.line(depth, f"if ({spell(s.condition)}) {{")
            for inner in s.body:
                self.write(inner, depth + 1)
            self.line(depth, "}")
        elif isinstance(s, Allocate) and s.array.role == ROW:
            self.line(depth, f"{type_of(s.array.dtype)} {s.array.name}[{spell.dim(s.array.shape[0])}];")
        else:
            raise TypeError(f"{type(s).__name__} is no statement on numbers")

    def _update(self, target: str, s: Update, depth: int) -> None:
        kind = s.target.dtype
        if kind.kind == "f" and s.operation in _SIGNS:
            self.line(depth, f"{target} {_SIGNS[s.operation]} {self.spell(s.value)};")
            return
        function = self._library.use(s.operation, kind)
        self.line(depth, f"{target} = {function}({target}, {self.spell(s.value)});")

    def _loop(self, s: Loop, depth: int) -> None:
        reductions = None if s.reverse or is_copy_of_row(s) else reductions_of(s)
        low, high = self.bounds.get(s.counter, ("0", self.spell.dim(s.extent)))
        if reductions is None:
            head = f"{s.counter} = {high}; {s.counter}-- > {low};"
            head = head if s.reverse else f"{s.counter} = {low}; {s.counter} < {high}; {s.counter}++"
            self._turns(head, s.body, depth)
            return
        short = low == "0" and high.isdigit() and int(high) <= RUN
        if reductions and not short:
            self.line(depth, f"for ({self.counted} from = {low}; from < {high}; from += {RUN}) {{")
            self.line(depth + 1, f"const {self.counted} to = {high} - from > {RUN} ? from + {RUN} : {high};")
            self._turns_at_once(s, reductions, ("from", "to"), depth + 1, False)
            self.line(depth, "}")
        else:
            self._turns_at_once(s, reductions, (low, high), depth, True)

    def _turns(self, head: str, body: Sequence[Statement], depth: int) -> None:
        self.line(depth, f"for ({self.counted} {head}) {{")
        for inner in body:
            self.write(inner, depth + 1)
        self.line(depth, "}")

    def _turns_at_once(
        self, s: Loop, reductions: Sequence[Update], bounds: tuple[str, str], depth: int, short: bool
    ) -> None:
        own = [r for r in reductions if short and r.operation in _SIGNS and r.value == narrowed(r.value)]
        parted = [r for r in reductions if r not in own]
        if short and parted:
            self.line(depth, "{")
            self._vector(s, own, parted, bounds, depth + 1)
            self.line(depth, "}")
        else:
            self._vector(s, own, parted, bounds, depth)

    def _vector(
        self, s: Loop, own: Sequence[Update], parted: Sequence[Update], bounds: tuple[str, str], depth: int
    ) -> None:
        """A loop whose turns are independent but for sums; those ``parted`` are added up in numbers of their own."""
        clauses = "".join(f" reduction({STARTS[r.operation][1]}:{self.spell(r.target)})" for r in own)
        after: list[str] = []
        inside: dict[int, list[str]] = {}
        for k, r in enumerate(parted):
            start, operator = STARTS[r.operation]
            total, part, value = self.spell(r.target), f"part{k}", narrowed(r.value)
            kind = type_of(value.dtype)
            self.line(depth, f"{kind} {part} = {start};")
            clauses += f" reduction({operator}:{part})"
            if r.operation in _SIGNS:
                sign = _SIGNS[r.operation]
                inside[id(r)] = [f"{part} {sign} {self.spell(value)};"]
                after.append(f"{total} {sign} {part};")
                continue
            nan, here, sign = f"nan{k}", f"here{k}", operator == "max"
            self.line(depth, f"int {nan} = 0;")
            clauses += f" reduction(|:{nan})"
            inside[id(r)] = [
                f"const {kind} {here} = {self.spell(value)};",
                f"{part} = {here} {'>' if sign else '<'} {part} ? {here} : {part};",
                f"{nan} |= {here} != {here};",
            ]
            function = self._library.use(r.operation, r.target.dtype)
            after.append(f"{total} = {function}({total}, {nan} ? NAN : {part});")
        self.line(depth, f"#pragma omp simd{clauses}")
        self.line(depth, f"for ({self.counted} {s.counter} = {bounds[0]}; {s.counter} < {bounds[1]}; {s.counter}++) {{")
        for inner in s.body:
            for text in inside.get(id(inner), ()):
                self.line(depth + 1, text)
            if id(inner) not in inside:
                self.write(inner, depth + 1)
        self.line(depth, "}")
        for text in after:
            self.line(depth, text)


class Body(Statements):
    """The body of the C function. ``lines`` are what stands between its braces."""

    def __init__(self, routine: Routine, library: Library, statuses: Mapping[str, str]) -> None:
        counters = {s.counter for s in routine.statements() if isinstance(s, Loop)}
        super().__init__(Spelling(routine.dims, counters, library.use), library)
        self._statuses = statuses
        #: array -> where its memory is kept to be freed, and the places that are free again
        self._slots: dict[str, int] = {}
        self._vacant: list[int] = []
        self._count = 0
        self._room = _ROOM
        self._declare(routine)
        declared = len(self.lines)
        body = list(routine.body)
        while body and isinstance(body[-1], Free):  # all are freed at the end
            body.pop()
        for statement in body:
            self.write(statement, 1)
        if self._count:
            self.lines.insert(declared, self._table())
        self._fails = any("goto" in line for line in self.lines)
        if self._fails:
            self.lines.insert(declared, f"    int status = {self._statuses['ok']};")
        self._finish()

    def _table(self) -> str:
        """Where all memory is kept that is to be freed; a long table is no guest of the stack."""
        if self._count <= _MAX_ON_STACK:
            return f"    void *held[{self._count}] = {{NULL}};"
        fail = f"    if (!held)\n        return {self._statuses['memory']};"
        return f"    void **held = calloc({self._count}, sizeof *held);\n{fail}"

    def _declare(self, routine: Routine) -> None:
        read = routine.names_read()
        for array, value in routine.constants:
            if array.name in read:
                self._constant(array, value)
        given = [
            *routine.dims.values(),
            *[a.name for a in routine.inputs],
            *[o.name for o in routine.outputs if 0 in o.shape],
        ]
        for name in given:
            if name not in read:
                self.line(1, f"(void){name};")

    def _constant(self, array: Array, value: np.ndarray) -> None:
        numbers = [literal(v, array.dtype) for v in value.ravel()] or ["0"]
        rows = filled(numbers, "        ")
        head = f"static const {type_of(array.dtype)} {array.name}[{len(numbers)}] = {{ /* {self.shape(array.shape)} */"
        self.line(1, head)
        self.lines += rows
        self.line(1, "};")

    def shape(self, shape: Sequence[Dim]) -> str:
        """A shape for a comment."""
        return "(" + ", ".join(self.spell.dim(d).replace("*", "x").strip("()") for d in shape) + ")"

    def _finish(self) -> None:
        if not self._fails:
            self.line(1, f"return {self._statuses['ok']};")
            return
        self.lines.append("done:")
        if self._count:
            self.line(1, f"for (size_t i = 0; i < {self._count}; i++)")
            self.line(2, "free(held[i]);")
        if self._count > _MAX_ON_STACK:
            self.line(1, "free(held);")
        self.line(1, "return status;")
        if self._count:
            self.lines.append("no_memory:")
            self.line(1, f"status = {self._statuses['memory']};")
            self.line(1, "goto done;")

    def count(self, shape: Sequence[Dim]) -> str:
        """The number of elements, with a check where a product of sizes might be too large for any memory."""
        named = [d for d in shape if is_named(d)]
        number = 1
        for d in shape:
            number *= 1 if is_named(d) else d
        factors = [self.spell.dim(d) for d in named]
        if number != 1 or not factors:
            factors.append(str(number))
        text = factors[0]
        for factor in factors[1:]:
            text = f"{self._library.use_memory('times')}({text}, {factor})"
        return text

    # statements

    def write(self, s: Statement, depth: int) -> None:
        if isinstance(s, Require):
            self._fail(f"!({self.spell(s.condition)})", s.status, depth)
        elif isinstance(s, Free | Fill | Alias | Part | Call) or (isinstance(s, Allocate) and s.array.role != ROW):
            self._on_arrays(s, depth)
        else:
            super().write(s, depth)

    def _fail(self, condition: str, status: str, depth: int) -> None:
        self.line(depth, f"if ({condition}) {{")
        self.line(depth + 1, f"status = {self._statuses[status]};")
        self.line(depth + 1, "goto done;")
        self.line(depth, "}")

    def _fits_on_stack(self, array: Array) -> bool:
        """True for an array that stands on the stack, which has room for a few."""
        if any(is_named(d) for d in array.shape) or 0 in array.shape:
            return False
        size = math.prod(array.shape) * array.dtype.itemsize
        small = size <= _MAX_SMALL and size <= self._room
        self._room -= size if small else 0
        return small

    def _on_arrays(self, s: Statement, depth: int) -> None:
        if isinstance(s, Allocate):
            name, shape, kind = s.array.name, s.array.shape, type_of(s.array.dtype)
            if self._fits_on_stack(s.array):
                self.line(depth, f"{kind} {name}[{math.prod(shape)}]; /* {self.shape(shape)} */")
                return
            if not self._vacant:
                self._vacant.append(self._count)
                self._count += 1
            slot = self._slots[name] = self._vacant.pop()
            make = self._library.use_memory("array_of")
            size = f"{self.count(shape)}, sizeof *{name}"
            self.line(depth, f"{kind} *{name} = held[{slot}] = {make}({size}); /* {self.shape(shape)} */")
            self.line(depth, f"if (!{name})")
            self.line(depth + 1, "goto no_memory;")
        elif isinstance(s, Free):
            slot = self._slots.pop(s.array.name, None)
            if slot is not None:  # an alias has no memory of its own
                self.line(depth, f"free({s.array.name}), held[{slot}] = NULL;")
                self._vacant.append(slot)
        elif isinstance(s, Fill):
            count = " * ".join(self.spell.dim(d) for d in s.array.shape) or "1"
            self.line(depth, f"for (size_t i = 0; i < {count}; i++)")
            self.line(depth + 1, f"{s.array.name}[i] = {self.spell(s.value)};")
        elif isinstance(s, Alias):
            shape = self.shape(s.array.shape)
            kind = type_of(s.array.dtype)
            self.line(depth, f"const {kind} *const {s.array.name} = {s.source.name}; /* {shape} */")
        elif isinstance(s, Part):
            kind = type_of(s.array.dtype)
            kind = f"const {kind}" if s.array.role == "input" else kind
            shape = self.shape(s.array.shape)
            self.line(depth, f"{kind} *const {s.array.name} = {self._place(s.source)}; /* {shape} */")
        elif isinstance(s, Call):
            self._call(s, depth)

    def _call(self, s: Call, depth: int) -> None:
        dtype = s.operands[0].array.dtype
        function = self._library.use(s.function, dtype)
        shape = s.operands[0].shape
        sizes = [self.spell.dim(shape[0])]
        if s.function == "solve":
            columns = s.operands[1].shape[1:]
            sizes.append(" * ".join(self.spell.dim(d) for d in columns) or "1")
        target = self._place(s.target) if isinstance(s.target, Slab) else f"&{self.spell(s.target)}"
        given = ", ".join([*sizes, *[self._place(o) for o in s.operands], target])
        self.line(depth, f"status = {function}({given});")
        self.line(depth, f"if (status != {self._statuses['ok']})")
        self.line(depth + 1, "goto done;")

    def _place(self, slab: Slab) -> str:
        """Where a part of an array begins."""
        array = slab.array
        zero = [*slab.lead, *[type(slab.lead[0])()] * len(slab.shape)] if slab.lead else []
        at = self.spell.flat(array.shape, zero)
        return array.name if at == "0" else f"{array.name} + {at}"


def filled(words: Sequence[str], indent: str, width: int = 100) -> list[str]:
    """Words with commas, in as few lines as they need."""
    rows, row = [], indent
    for k, word in enumerate(words):
        part = word + ("," if k + 1 < len(words) else "")
        if len(row) + len(part) > width and row.strip():
            rows.append(row.rstrip())
            row = indent
        row += part + " "
    rows.append(row.rstrip())
    return rows
