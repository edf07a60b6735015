"""The statements of a routine in Fortran."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import UnsupportedOperation
from ..loops.language import (
    STATUSES,
    Alias,
    Allocate,
    Apply,
    Array,
    Assign,
    Call,
    Cast,
    Counted,
    Element,
    Expression,
    Fill,
    Free,
    If,
    Let,
    Literal,
    Loop,
    Name,
    Note,
    Require,
    Routine,
    Search,
    Size,
    Slab,
    Statement,
    Update,
    Variable,
)
from ..printed import ATOM, Expressions, Places, Text, folded
from . import spelling
from .layout import indented
from .procedures import is_written, suffix
from .spelling import BOOL

_I64 = np.dtype(np.int64)
#: elements up to which an array of fixed sizes is no allocated one, and of all of these together
_MOST_FIXED, _MOST_ON_STACK = 512, 8192
#: axes that an array of Fortran 2008 may have
_MOST_AXES = 15
_NEGATED = {"greater": "less_equal", "less_equal": "greater", "less": "greater_equal", "greater_equal": "less"}
_NEGATED |= {"equal": "not_equal", "not_equal": "equal"}
_CALLED = re.compile(r"\b(\w+)\(")


class Body(Expressions):
    """Writes the statements; ``procedures`` are those that they call, with the dtype that each is for."""

    def __init__(self, routine: Routine) -> None:
        self.places = Places(routine, spelling.dim, spelling.whole)
        self.procedures: dict[tuple[str, np.dtype], None] = {}
        self.names: dict[str, np.dtype] = {}
        self.arrays: dict[str, Array] = {}
        self.fixed: dict[str, Array] = {}
        self._on_stack = 0
        self.counters: dict[str, None] = {}
        self.lines = self._block(routine.body)

    def procedure(self, name: str, dtype: np.dtype) -> str:
        """The name of a procedure for arguments of a dtype."""
        self.procedures[name, dtype] = None
        return name + suffix(dtype)

    # expressions

    def applied(self, e: Apply, operands: list[Text]) -> Text:
        value = folded(e)
        if value is not None:
            return spelling.number(value, e.dtype)
        pattern, dtype = spelling.pattern(e), e.operands[0].dtype
        called = _CALLED.search(pattern.source)
        if called is not None and is_written(called[1], dtype):
            own = self.procedure(called[1], dtype)
            pattern = replace(pattern, source=pattern.source.replace(called[0], f"{own}("))
        return pattern.filled(operands)

    def cast(self, e: Cast, operand: Text) -> Text:
        given, wanted = e.operand.dtype, e.dtype
        if wanted == BOOL:
            compared = Apply("not_equal", (e.operand, Literal(given.type(0).item(), given)), BOOL)
            return self.applied(compared, [operand, spelling.number(0, given)])
        if given == BOOL:
            one, zero = (spelling.number(v, wanted).source for v in (1, 0))
            return Text(f"merge({one}, {zero}, {operand.source})")
        return Text(f"{'real' if wanted.kind == 'f' else 'int'}({operand.source}, {spelling.kind(wanted)})")

    def search(self, e: Search, value: Text) -> Text:
        own = self.procedure("searchsorted", e.knots.dtype)
        found = f"{own}({e.knots.name}, {value.source}, {'.true.' if e.side == 'right' else '.false.'})"
        return Text(found if e.dtype == _I64 else f"int({found}, {spelling.kind(e.dtype)})")

    def element(self, e: Element) -> Text:
        if not e.place:
            return Text(e.array.name)
        return Text(f"{e.array.name}({', '.join(self.places.place(i).source for i in e.place)})")

    def leaf(self, e: Expression) -> Text:
        if isinstance(e, Literal):
            return spelling.number(e.value, e.dtype)
        if isinstance(e, Name):
            return Text(e.name)
        assert isinstance(e, Size | Counted)
        if isinstance(e, Size) and isinstance(e.dim, int):
            return spelling.number(e.dim, e.dtype)
        made = self.places.dim(e.dim) if isinstance(e, Size) else self.places.counted(e.index)
        if e.dtype == _I64:
            return made
        return Text(f"{'real' if e.dtype.kind == 'f' else 'int'}({made.source}, {spelling.kind(e.dtype)})")

    def _slab(self, slab: Slab) -> str:
        if not slab.lead:
            return slab.array.name
        lead = [self.places.place(i).source for i in slab.lead]
        return f"{slab.array.name}({', '.join([*lead, *[':'] * len(slab.shape)])})"

    # statements

    def _block(self, statements: Sequence[Statement]) -> list[str]:
        return [line for s in statements for line in self._statement(s)]

    def _statement(self, s: Statement) -> list[str]:
        return getattr(self, f"_{type(s).__name__.lower()}")(s)

    def _note(self, s: Note) -> list[str]:
        return [f"! {s.text}"]

    def _let(self, s: Let | Variable) -> list[str]:
        self.names[s.name] = s.value.dtype
        return [f"{s.name} = {self.source(s.value)}"]

    _variable = _let

    def _assign(self, s: Assign) -> list[str]:
        return [f"{self.source(s.target)} = {self.source(s.value)}"]

    def _update(self, s: Update) -> list[str]:
        return [f"{self.source(s.target)} = {self.source(Apply(s.operation, (s.target, s.value), s.target.dtype))}"]

    def _loop(self, s: Loop) -> list[str]:
        self.counters[s.counter] = None
        last = self.places.dim(s.extent).source
        span = f"{last}, 1, -1" if s.reverse else f"1, {last}"
        return [f"do {s.counter} = {span}", *indented(self._block(s.body)), "end do"]

    def _if(self, s: If) -> list[str]:
        return [f"if ({self.source(s.condition)}) then", *indented(self._block(s.body)), "end if"]

    def _require(self, s: Require) -> list[str]:
        return [f"if ({self._negation(s.condition)}) then", *indented(_ending(s.status)), "end if"]

    def _negation(self, e: Expression) -> str:
        if isinstance(e, Apply) and e.operands[0].dtype.kind == "i" and e.operation in _NEGATED:
            return self.source(Apply(_NEGATED[e.operation], e.operands, BOOL))
        return f".not. {self.source(e, ATOM)}"

    def _allocate(self, s: Allocate) -> list[str]:
        name, shape = s.array.name, checked_axes(s.array).shape
        if all(isinstance(d, int) for d in shape):
            elements = math.prod(shape)
            if elements <= min(_MOST_FIXED, _MOST_ON_STACK - self._on_stack):
                self._on_stack += elements
                self.fixed[name] = s.array
                return []
        self.arrays[name] = s.array
        extents = ", ".join(self.places.dim(d).source for d in shape)
        made = f"{name}({extents})" if extents else name
        return [f"allocate({made}, stat=failed)", "if (failed /= 0) then", *indented(_ending("memory")), "end if"]

    def _free(self, s: Free) -> list[str]:
        return [] if s.array.name in self.fixed else [f"deallocate({s.array.name})"]

    def _fill(self, s: Fill) -> list[str]:
        return [f"{s.array.name} = {self.source(s.value)}"]

    def _alias(self, s: Alias) -> list[str]:
        """The elements in the order of rows, which is not that of memory here: a copy."""
        source = s.source.name
        if len(s.source.shape) > 1:
            source = f"reshape({source}, {self._reversed_shape(s.source)})"
        rank = len(s.array.shape)
        made = f"reshape({source}, {self._extents(s.array.shape)}{_backwards(rank)})"
        return [*self._allocate(Allocate(s.array)), f"{s.array.name} = {made}"]

    def _reversed_shape(self, array: Array) -> str:
        return f"{self._extents(array.shape[::-1])}{_backwards(len(array.shape))}"

    def _extents(self, dims: Sequence[Any]) -> str:
        """Sizes as an array, all of one kind: those by name are int64."""
        kind = "" if all(isinstance(d, int) for d in dims) else "integer(int64) :: "
        return f"[{kind}{', '.join(self.places.dim(d).source for d in dims)}]"

    def _call(self, s: Call) -> list[str]:
        name = s.function
        if name == "solve":
            name = "solve_vector" if len(s.operands[1].shape) == 1 else "solve_columns"
        own = self.procedure(name, s.operands[0].array.dtype)
        target = self._slab(s.target) if isinstance(s.target, Slab) else self.source(s.target)
        given = ", ".join(self._slab(o) for o in s.operands)
        return [f"call {own}({given}, {target}, info)", "if (info /= 0) return"]


def checked_axes(array: Array) -> Array:
    """An array of as many axes as Fortran allows."""
    if len(array.shape) > _MOST_AXES:
        raise UnsupportedOperation(
            f"an array of {len(array.shape)} axes is more than the {_MOST_AXES} of Fortran; export it as python or c."
        )
    return array


def _ending(status: str) -> list[str]:
    return [f"info = status_{status}", "return"]


def _backwards(rank: int) -> str:
    return f", order=[{', '.join(map(str, range(rank, 0, -1)))}]" if rank > 1 else ""


def statuses(source: str) -> dict[str, int]:
    """The statuses that a source names, and their numbers, which are the same in every export."""
    found = set(re.findall(r"\bstatus_(\w+)", source))
    return {name: k for k, name in enumerate(STATUSES, 1) if name in found}
