"""The statements of a routine in Julia."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

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
    Index,
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
from ..loops.reading import parts, read_by
from ..printed import OR, Expressions, Places, Text, folded
from . import spelling
from .spelling import type_name

_I64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
#: status -> what is thrown
_THROWN = {"index": "BoundsError", "size": "DimensionMismatch"}


class Body(Expressions):
    """Writes the statements."""

    def __init__(self, routine: Routine) -> None:
        self.places = Places(routine, spelling.dim, str)
        self._counters = {s.counter for s in routine.statements() if isinstance(s, Loop)}
        self._depth = 0
        self.lines = self._block(routine.body)

    # expressions

    def applied(self, e: Apply, operands: list[Text]) -> Text:
        value = folded(e)
        return spelling.number(value, e.dtype) if value is not None else spelling.pattern(e).filled(operands)

    def cast(self, e: Cast, operand: Text) -> Text:
        given, wanted = e.operand.dtype, e.dtype
        if wanted == _BOOL:
            compared = Apply("not_equal", (e.operand, Literal(given.type(0).item(), given)), _BOOL)
            return self.applied(compared, [operand, spelling.number(0, given)])
        name = type_name(wanted)
        if given.kind == "f" and wanted.kind in "iu":
            return Text(f"unsafe_trunc({name}, {operand.source})")
        if given.kind in "iu" and wanted.kind in "iu":
            return Text(f"rem({operand.source}, {name})")
        return Text(f"{name}({operand.source})")

    def search(self, e: Search, value: Text) -> Text:
        return Text(f"count_before({e.knots.name}, {value.source}, {'true' if e.side == 'right' else 'false'})")

    def element(self, e: Element) -> Text:
        if not e.place:
            return Text(e.array.name)
        return Text(f"{e.array.name}[{', '.join(self.places.place(i).source for i in e.place)}]")

    def leaf(self, e: Expression) -> Text:
        if isinstance(e, Literal):
            return spelling.number(e.value, e.dtype)
        if isinstance(e, Name):
            return Text(e.name)
        assert isinstance(e, Size | Counted)
        if isinstance(e, Size) and isinstance(e.dim, int):
            return spelling.number(e.dim, e.dtype)
        made = self.places.dim(e.dim) if isinstance(e, Size) else self.places.counted(e.index)
        return made if e.dtype == _I64 else Text(f"{type_name(e.dtype)}({made.source})")

    def _slab(self, slab: Slab, whole: bool = False) -> str:
        """A part of an array; of all of it, where it is written to, the elements."""
        if not slab.lead and not whole:
            return slab.array.name
        lead = [self.places.place(i).source for i in slab.lead]
        return f"{slab.array.name}[{', '.join([*lead, *[':'] * len(slab.shape)])}]"

    # statements

    def _block(self, statements: Sequence[Statement]) -> list[str]:
        lines: list[str] = []
        for k, s in enumerate(statements):
            before = statements[k - 1] if k else None
            if isinstance(s, Fill) and isinstance(before, Allocate) and before.array is s.array:
                lines[-1] = self._filled(s)
            else:
                lines += getattr(self, f"_{type(s).__name__.lower()}")(s)
        return lines

    def _note(self, s: Note) -> list[str]:
        return [f"# {s.text}"]

    def _let(self, s: Let | Variable) -> list[str]:
        return [f"{s.name} = {self.source(s.value)}"]

    _variable = _let

    def _assign(self, s: Assign) -> list[str]:
        return [f"{self.source(s.target)} = {self.source(s.value)}"]

    def _update(self, s: Update) -> list[str]:
        return [f"{self.source(s.target)} = {self.source(Apply(s.operation, (s.target, s.value), s.target.dtype))}"]

    def _loop(self, s: Loop) -> list[str]:
        last = self.places.dim(s.extent).source
        span = f"{last}:-1:1" if s.reverse else f"1:{last}"
        # sizes were compared at the door, so that only indices which are data could be out of bounds
        marked = "@inbounds " if self._depth == 0 and not self._looks_up(s) else ""
        self._depth += 1
        body = self._block(s.body)
        self._depth -= 1
        return [f"{marked}for {s.counter} in {span}", *indented(body), "end"]

    def _looks_up(self, loop: Loop) -> bool:
        """True where an index is an element of an array."""
        nest = Routine({}, (), (), (), [loop])
        read = [e for s in nest.statements() for top in read_by(s) for e in parts(top)]
        places: list[Index] = [i for e in read if isinstance(e, Element) for i in e.place]
        return any(name not in self._counters for i in places for name, _ in i.terms)

    def _if(self, s: If) -> list[str]:
        return [f"if {self.source(s.condition)}", *indented(self._block(s.body)), "end"]

    def _require(self, s: Require) -> list[str]:
        thrown = _THROWN.get(s.status, "ArgumentError")
        said = f'"{STATUSES[s.status]}"'
        call = f"ArgumentError({said})" if thrown == "BoundsError" else f"{thrown}({said})"
        return [f"{self.source(s.condition, OR + 1)} || throw({call})"]

    def _allocate(self, s: Allocate) -> list[str]:
        return [allocated(s.array, self.places)]

    def _filled(self, s: Fill) -> str:
        extents = ", ".join(self.places.dim(d).source for d in s.array.shape)
        if s.value.value == 0 and not np.signbit(s.value.value):
            return f"{s.array.name} = zeros({type_name(s.array.dtype)}, {extents})"
        return f"{s.array.name} = fill({self.source(s.value)}, {extents})"

    def _free(self, s: Free) -> list[str]:
        return []

    def _fill(self, s: Fill) -> list[str]:
        value = self.source(s.value)
        return [f"fill!({s.array.name}, {value})" if s.array.shape else f"{s.array.name} = {value}"]

    def _alias(self, s: Alias) -> list[str]:
        dims = "".join(f", {self.places.dim(d).source}" for d in s.array.shape)
        return [f"{s.array.name} = in_rows({s.source.name}{dims})"]

    def _call(self, s: Call) -> list[str]:
        target = self._slab(s.target, whole=True) if isinstance(s.target, Slab) else self.source(s.target)
        return [f"{target} = {spelling.CALLS[s.function].format(*[self._slab(o) for o in s.operands])}"]


def allocated(array: Array, places: Places) -> str:
    """A statement that makes an array of anything."""
    dims = "".join(f", {places.dim(d).source}" for d in array.shape)
    return f"{array.name} = Array{{{type_name(array.dtype)}}}(undef{dims})"


def indented(lines: Iterable[str]) -> list[str]:
    """Lines further in."""
    return [f"    {line}" if line else line for line in lines]


def called(source: str, names: Iterable[str]) -> list[str]:
    """Which of the functions a source calls."""
    words = set(re.findall(r"(?<!\w)@?\w+(?=\()|@\w+", source))
    return [name for name in names if name in words]
