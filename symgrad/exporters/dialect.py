"""Dialects of the loop form: languages that are a table of spellings and a few statements of their own.

numba and Julia are written by it. Every text knows how tightly it binds, so that parentheses stand where they are
needed and nowhere else.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from ..emit.arrays.dialect import OPERATORS
from ..emit.loops.language import (
    OPERATIONS,
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
    Part,
    Require,
    Search,
    Size,
    Slab,
    Statement,
    Update,
    Variable,
)
from ..emit.loops.reading import Routine, operands_of
from ..errors import UnsupportedOperation
from ..program.dims import Dim, is_named

_I64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
#: how tightly a text binds, from the loosest on
LOOSE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, POWER, ATOM = range(9)
#: operator -> how tightly it binds, and its operands must
_OPERATORS = {
    **dict.fromkeys(("or", "||"), (OR, OR, AND)),
    **dict.fromkeys(("and", "&&"), (AND, AND, NOT)),
    **dict.fromkeys((">", ">=", "<", "<=", "==", "!="), (COMPARISON, SUM, SUM)),
    **dict.fromkeys(("+", "-"), (SUM, SUM, PRODUCT)),
    **dict.fromkeys(("*", "/"), (PRODUCT, PRODUCT, POWER)),
    **dict.fromkeys(("**", "^"), (POWER, ATOM, ATOM)),
}
_BINARY = re.compile(r"\{0\} ?(\S+?) ?\{1\}")
_UNARY = re.compile(r"(-|!|not )\{0\}")
_CALL = re.compile(r"[\w.]+\(.*\)")
_UPDATES = {"add": "+=", "multiply": "*="}
_CHOICE = "{1} if {0} else {2}"
#: operators that all dialects have
INFIX: dict[str, str] = OPERATORS | {
    "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})",
    "invert": "(~{0})",
}


def called(pattern: Callable[[str], str]) -> dict[str, str]:
    """Every operation as a function whose name ``pattern`` makes of NumPy's.

    >>> called(lambda name: f"np.{name}")["hypot"]
    'np.hypot({0}, {1})'
    """
    places = ("{0}", "{0}, {1}", "{0}, {1}, {2}")
    return {name: f"{pattern(name)}({places[count - 1]})" for name, count in OPERATIONS.items()}


@dataclass(frozen=True)
class Text:
    """Source of an expression, and how tightly it binds."""

    source: str
    binding: int = ATOM

    def within(self, needed: int) -> str:
        """The source where something stands that binds so tightly."""
        return self.source if self.binding >= needed else f"({self.source})"


@dataclass(frozen=True)
class Pattern:
    """The source of an operation over ``{0} {1} {2}``; how tightly it binds, and each operand must."""

    source: str
    binding: int
    needed: tuple[int, ...]

    @classmethod
    @functools.cache
    def of(cls, source: str) -> Pattern:
        """The pattern that a source is.

        >>> Pattern.of("{0} - {1}").filled([Text("a"), Text("b - c", SUM)]).source
        'a - (b - c)'
        """
        binary, unary = _BINARY.fullmatch(source), _UNARY.fullmatch(source)
        if binary is not None and binary[1] in _OPERATORS:
            binding, *needed = _OPERATORS[binary[1]]
            return cls(source, binding, tuple(needed))
        if unary is not None:
            return cls(source, SUM, (PRODUCT,)) if unary[1] == "-" else cls(source, NOT, (ATOM,))
        if source == _CHOICE:
            return cls(source, LOOSE, (OR, OR, OR))
        enclosed = _CALL.fullmatch(source) is not None
        return cls(source, ATOM, ((LOOSE if enclosed else ATOM),) * 3)

    def filled(self, operands: Sequence[Text]) -> Text:
        """The operation on these operands."""
        return Text(self.source.format(*[o.within(n) for o, n in zip(operands, self.needed)]), self.binding)


class Dialect:
    """Writes the body of a routine; ``lines`` are its statements.

    A subclass says what its language is called, what its indices count from, how whole numbers are raised and divided,
    how a block ends, how it spells the operations by the kind of their first operand, and the functions of a ``Call``.
    """

    language: ClassVar[str]
    base: ClassVar[int]
    power: ClassVar[str]
    quotient: ClassVar[str]
    end: ClassVar[Sequence[str]]
    tables: ClassVar[Mapping[str, Mapping[str, str]]]
    calls: ClassVar[Mapping[str, str]]

    def __init__(self, routine: Routine) -> None:
        self._sizes = {s: sympy.Symbol(name, integer=True) for s, name in routine.dims.items()}
        self.counters = {s.counter for s in routine.statements() if isinstance(s, Loop)}
        #: how many loops stand around the statement
        self.depth = 0
        self._known: dict[tuple[Index, int], Text] = {}
        self.lines = self.block(routine.body)

    # what a language says for itself

    def keeps(self, dtype: np.dtype) -> bool:
        """Whether numbers of a dtype stay of it in arithmetic."""
        return True

    def number(self, value: Any, dtype: np.dtype) -> Text:
        """A number, exactly."""
        raise NotImplementedError

    def converted(self, operand: Text, given: np.dtype, wanted: np.dtype) -> Text:
        """A number as one of another dtype that is not bool."""
        raise NotImplementedError

    def search(self, knots: str, value: Text, right: bool) -> Text:
        """How many knots stand before a value, or not behind it."""
        raise NotImplementedError

    def loop(self, s: Loop) -> str:
        """The head of a loop."""
        raise NotImplementedError

    def condition(self, source: str) -> str:
        """The head of what is done where a condition holds."""
        raise NotImplementedError

    def require(self, s: Require) -> list[str]:
        """The statement that ends the routine where a condition does not hold."""
        raise NotImplementedError

    def allocated(self, array: Array, fill: Literal | None = None) -> str:
        """The statement that makes an array, of anything or filled."""
        raise NotImplementedError

    def refilled(self, array: str, value: str) -> str:
        """The statement that sets all elements of an array."""
        raise NotImplementedError

    def alias(self, s: Alias) -> str:
        """The statement that gives an array another shape."""
        raise NotImplementedError

    def part(self, slab: Slab) -> str:
        """A part of an array that is written into."""
        return self.slab(slab)

    # sizes and indices

    def dim(self, dim: Dim, needed: int = LOOSE) -> str:
        """A size."""
        return self._linear(Index(dim), 0).within(needed)

    def dims(self, shape: Sequence[Dim]) -> str:
        """Sizes with commas between them."""
        return ", ".join(map(self.dim, shape))

    def _linear(self, index: Index, base: int) -> Text:
        known = self._known.get((index, base))
        if known is None:
            known = self._known[index, base] = self._written(index, base)
        return known

    def _written(self, index: Index, base: int) -> Text:
        """An index that counts from ``base``: counters count from the language's, indices that are values from 0."""
        offset = index.offset + base - self.base * sum(c for name, c in index.terms if name in self.counters)
        whole: Any = sympy.sympify(offset)
        for name, c in index.terms:
            whole += c * sympy.Symbol(name, integer=True)
        top, bottom = sympy.fraction(sympy.together(sympy.expand(whole.xreplace(self._sizes))))
        source = self._formula(top)
        if bottom != 1:
            source = self.quotient.format(source, self._formula(bottom))
        return Text(source, ATOM if source.isidentifier() or source.isdecimal() else SUM)

    def _formula(self, e: sympy.Expr) -> str:
        return str(e).replace("**", self.power)

    # expressions

    def source(self, e: Expression, needed: int = LOOSE) -> str:
        """The source of an expression where something stands that binds so tightly."""
        return self.text(e).within(needed)

    def text(self, e: Expression) -> Text:
        """The source of an expression, whatever its depth."""
        made: dict[int, Text] = {}
        pending: list[tuple[Expression, bool]] = [(e, False)]
        while pending:
            part, ready = pending.pop()
            parts = operands_of(part)
            if not ready:
                pending.append((part, True))
                pending += [(p, False) for p in parts if id(p) not in made]
            elif id(part) not in made:
                made[id(part)] = self._whole(part, [made[id(p)] for p in parts])
        return made[id(e)]

    def _whole(self, e: Expression, operands: Sequence[Text]) -> Text:
        if isinstance(e, Apply):
            return self.applied(e, operands)
        if isinstance(e, Cast):
            return self._cast(e, operands[0])
        if isinstance(e, Search):
            return self.search(e.knots.name, operands[0], e.side == "right")
        if isinstance(e, Element):
            return Text(self.place(e.array, e.place))
        if isinstance(e, Name):
            return Text(e.name)
        if isinstance(e, Literal):
            return self.number(e.value, e.dtype)
        assert isinstance(e, Size | Counted)
        if isinstance(e, Size) and not is_named(e.dim):
            return self.number(e.dim, e.dtype)
        made = self._linear(Index(e.dim) if isinstance(e, Size) else e.index, 0)
        return made if e.dtype == _I64 else self.converted(made, _I64, e.dtype)

    def applied(self, e: Apply, operands: Sequence[Text]) -> Text:
        """An operation."""
        kind = e.operands[0].dtype.kind
        source = self.tables.get(kind, {}).get(e.operation)
        if source is None:
            raise UnsupportedOperation(
                f"{e.operation} of {e.operands[0].dtype} has no form in {self.language}; cast to int64 or float64 in "
                "the function, or export it as python, c or json."
            )
        return Pattern.of(source).filled(operands)

    def _cast(self, e: Cast, operand: Text) -> Text:
        given = e.operand.dtype
        if e.dtype == _BOOL:
            return Pattern.of(INFIX["not_equal"]).filled([operand, self.number(given.type(0).item(), given)])
        return self.converted(operand, given, e.dtype)

    def place(self, array: Array, place: Sequence[Index], rest: int = 0) -> str:
        """An element, or with so many more axes a part, of an array."""
        indices = [*[self._linear(i, self.base).source for i in place], *[":"] * rest]
        return f"{array.name}[{', '.join(indices)}]" if indices else array.name

    def slab(self, slab: Slab) -> str:
        """A part of an array that is read."""
        return self.place(slab.array, slab.lead, len(slab.shape) if slab.lead else 0)

    # statements

    def block(self, statements: Sequence[Statement]) -> list[str]:
        """The lines of statements."""
        lines: list[str] = []
        for k, s in enumerate(statements):
            before = statements[k - 1] if k else None
            if isinstance(s, Fill) and isinstance(before, Allocate) and before.array is s.array:
                lines[-1] = self.allocated(s.array, s.value)
            else:
                lines += self._statement(s)
        return lines

    def _statement(self, s: Statement) -> list[str]:
        if isinstance(s, Let | Variable):
            return [f"{s.name} = {self.source(s.value)}"]
        if isinstance(s, Assign):
            return [f"{self.source(s.target)} = {self.source(s.value)}"]
        if isinstance(s, Update):
            if s.operation in _UPDATES and self.keeps(s.target.dtype):
                return [f"{self.source(s.target)} {_UPDATES[s.operation]} {self.source(s.value)}"]
            value = Apply(s.operation, (s.target, s.value), s.target.dtype)
            return [f"{self.source(s.target)} = {self.source(value)}"]
        if isinstance(s, Loop):
            head = self.loop(s)
            self.depth += 1
            body = self.nested(head, s.body)
            self.depth -= 1
            return body
        if isinstance(s, If):
            return self.nested(self.condition(self.source(s.condition)), s.body)
        if isinstance(s, Require):
            return self.require(s)
        return self._on_arrays(s)

    def _on_arrays(self, s: Statement) -> list[str]:
        if isinstance(s, Allocate):
            return [self.allocated(s.array)]
        if isinstance(s, Fill):
            value = self.source(s.value)
            return [self.refilled(s.array.name, value) if s.array.shape else f"{s.array.name} = {value}"]
        if isinstance(s, Alias):
            return [self.alias(s)]
        if isinstance(s, Part):
            return [f"{s.array.name} = {self.part(s.source)}"]
        if isinstance(s, Call):
            if isinstance(s.target, Slab):
                target = self.place(s.target.array, s.target.lead, len(s.target.shape))
            else:
                target = self.source(s.target)
            return [f"{target} = {self.calls[s.function].format(*map(self.slab, s.operands))}"]
        assert isinstance(s, Free)  # what nobody reads is freed by the language
        return []

    def nested(self, head: str, body: Sequence[Statement]) -> list[str]:
        """A block of its own."""
        return [head, *indented(self.block(body)), *self.end]


def is_zero(value: Literal) -> bool:
    """True for what memory full of zeros is."""
    return value.value == 0 and not np.signbit(value.value)


def indented(lines: Iterable[str]) -> list[str]:
    """Lines further in."""
    return [f"    {line}" if line else line for line in lines]


class Functions:
    """The functions that come with a target, read from a file of its language; blank lines stand between them alone."""

    def __init__(self, source: str) -> None:
        blocks = [block.strip("\n") for block in re.split(r"\n\n+", source)]
        found = [(re.search(r"^(?:function|def) (\w+)", block, re.MULTILINE), block) for block in blocks]
        self.sources = {name[1]: block for name, block in found if name is not None}

    def called_in(self, source: str) -> list[str]:
        """The sources of those that a source calls, and of what they call, in the order of the file."""
        used: set[str] = set()
        pending = [source]
        while pending:
            for name in set(re.findall(r"\b\w++(?=\()", pending.pop())) & (self.sources.keys() - used):
                used.add(name)
                pending.append(self.sources[name])
        return [text for name, text in self.sources.items() if name in used]
