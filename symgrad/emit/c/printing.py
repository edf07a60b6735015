"""The statements of a Routine as C."""

from __future__ import annotations

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
    Note,
    Require,
    Routine,
    Slab,
    Statement,
    Update,
    Variable,
)
from .library import Library
from .spelling import Spelling, literal, type_of

#: arrays whose memory is kept on the stack
_MOST_ON_STACK = 256
_SIGNS = {"add": "+=", "multiply": "*="}


class Body:
    """The body of the C function. ``lines`` are what stands between its braces."""

    def __init__(self, routine: Routine, library: Library, statuses: Mapping[str, str]) -> None:
        self._library = library
        self._statuses = statuses
        counters = {s.counter for s in routine.statements() if isinstance(s, Loop)}
        self.spell = Spelling(routine.dims, counters, library.use)
        self._fails = bool(routine.statuses())
        self.lines: list[str] = []
        #: array -> where its memory is kept to be freed, and the places that are free again
        self._slots: dict[str, int] = {}
        self._vacant: list[int] = []
        self._count = 0
        self._declare(routine)
        declared = len(self.lines)
        body = list(routine.body)
        while body and isinstance(body[-1], Free):  # all are freed at the end
            body.pop()
        for statement in body:
            self._write(statement, 1)
        if self._count:
            self.lines.insert(declared, self._table())
        self._finish()

    def _table(self) -> str:
        """Where all memory is kept that is to be freed; a long table is no guest of the stack."""
        if self._count <= _MOST_ON_STACK:
            return f"    void *held[{self._count}] = {{NULL}};"
        fail = f"    if (!held)\n        return {self._statuses['memory']};"
        return f"    void **held = calloc({self._count}, sizeof *held);\n{fail}"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _declare(self, routine: Routine) -> None:
        read = routine.names_read()
        for array, value in routine.constants:
            if array.name in read:
                self._constant(array, value)
        if self._fails:
            self._line(1, f"int status = {self._statuses['ok']};")
        given = [
            *routine.dims.values(),
            *[a.name for a in routine.inputs],
            *[o.name for o in routine.outputs if 0 in o.shape],
        ]
        for name in given:
            if name not in read:
                self._line(1, f"(void){name};")

    def _constant(self, array: Array, value: np.ndarray) -> None:
        numbers = [literal(v, array.dtype) for v in value.ravel()] or ["0"]
        rows = filled(numbers, "        ")
        head = f"static const {type_of(array.dtype)} {array.name}[{len(numbers)}] = {{ /* {self.shape(array.shape)} */"
        self._line(1, head)
        self.lines += rows
        self._line(1, "};")

    def shape(self, shape: Sequence[Dim]) -> str:
        """A shape for a comment."""
        return "(" + ", ".join(self.spell.dim(d).replace("*", "x").strip("()") for d in shape) + ")"

    def _finish(self) -> None:
        if not self._fails:
            self._line(1, f"return {self._statuses['ok']};")
            return
        self.lines.append("done:")
        if self._count:
            self._line(1, f"for (size_t i = 0; i < {self._count}; i++)")
            self._line(2, "free(held[i]);")
        if self._count > _MOST_ON_STACK:
            self._line(1, "free(held);")
        self._line(1, "return status;")
        if self._count:
            self.lines.append("no_memory:")
            self._line(1, f"status = {self._statuses['memory']};")
            self._line(1, "goto done;")

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

    def _write(self, s: Statement, depth: int) -> None:
        """One statement; what it nests are loops, no deeper than the ranks of arrays."""
        spell = self.spell
        if isinstance(s, Let):
            self._line(depth, f"const {type_of(s.value.dtype)} {s.name} = {spell(s.value)};")
        elif isinstance(s, Variable):
            self._line(depth, f"{type_of(s.value.dtype)} {s.name} = {spell(s.value)};")
        elif isinstance(s, Assign):
            self._line(depth, f"{spell(s.target)} = {spell(s.value)};")
        elif isinstance(s, Update):
            self._update(s, depth)
        elif isinstance(s, Loop):
            size = spell.dim(s.extent)
            if s.reverse:
                self._line(depth, f"for (size_t {s.counter} = {size}; {s.counter}-- > 0;) {{")
            else:
                self._line(depth, f"for (size_t {s.counter} = 0; {s.counter} < {size}; {s.counter}++) {{")
            for inner in s.body:
                self._write(inner, depth + 1)
            self._line(depth, "}")
        elif isinstance(s, If):
            self._line(depth, f"if ({spell(s.condition)}) {{")
            for inner in s.body:
                self._write(inner, depth + 1)
            self._line(depth, "}")
        elif isinstance(s, Require):
            self._fail(f"!({spell(s.condition)})", s.status, depth)
        elif isinstance(s, Note):
            self._line(depth, f"/* {s.text} */")
        else:
            self._on_arrays(s, depth)

    def _fail(self, condition: str, status: str, depth: int) -> None:
        self._line(depth, f"if ({condition}) {{")
        self._line(depth + 1, f"status = {self._statuses[status]};")
        self._line(depth + 1, "goto done;")
        self._line(depth, "}")

    def _update(self, s: Update, depth: int) -> None:
        target, kind = self.spell(s.target), s.target.dtype
        if kind.kind == "f" and s.operation in _SIGNS:
            self._line(depth, f"{target} {_SIGNS[s.operation]} {self.spell(s.value)};")
            return
        function = self._library.use(s.operation, kind)
        self._line(depth, f"{target} = {function}({target}, {self.spell(s.value)});")

    def _on_arrays(self, s: Statement, depth: int) -> None:
        if isinstance(s, Allocate):
            make = self._library.use_memory("array_of")
            name, shape, kind = s.array.name, s.array.shape, type_of(s.array.dtype)
            if not self._vacant:
                self._vacant.append(self._count)
                self._count += 1
            slot = self._slots[name] = self._vacant.pop()
            size = f"{self.count(shape)}, sizeof *{name}"
            self._line(depth, f"{kind} *{name} = held[{slot}] = {make}({size}); /* {self.shape(shape)} */")
            self._line(depth, f"if (!{name})")
            self._line(depth + 1, "goto no_memory;")
        elif isinstance(s, Free):
            slot = self._slots.pop(s.array.name, None)
            if slot is not None:  # an alias has no memory of its own
                self._line(depth, f"free({s.array.name}), held[{slot}] = NULL;")
                self._vacant.append(slot)
        elif isinstance(s, Fill):
            count = " * ".join(self.spell.dim(d) for d in s.array.shape) or "1"
            self._line(depth, f"for (size_t i = 0; i < {count}; i++)")
            self._line(depth + 1, f"{s.array.name}[i] = {self.spell(s.value)};")
        elif isinstance(s, Alias):
            shape = self.shape(s.array.shape)
            kind = type_of(s.array.dtype)
            self._line(depth, f"const {kind} *const {s.array.name} = {s.source.name}; /* {shape} */")
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
        self._line(depth, f"status = {function}({given});")
        self._line(depth, f"if (status != {self._statuses['ok']})")
        self._line(depth + 1, "goto done;")

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
