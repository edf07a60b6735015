"""What languages share whose arrays are counted from 1 and stored by columns: Fortran and Julia.

Formulas of operations come from sympy's printers, once an operation, as patterns over ``{0} {1} {2}``. Every text
knows how tightly it binds, so that parentheses stand where they are needed and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..passes.constants import fold_constants
from ..primitives.elementwise import SLOTS, TEMPLATES
from ..program.dims import Dim, is_named
from ..program.program import Program
from .loops import Routine, lower, named_dims
from .loops.language import Apply, Cast, Element, Expression, Index, Literal, Loop, Search
from .naming import target_names
from .subject import Subject

#: how tightly a text binds, from the loosest on
LOOSE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, POWER, ATOM = range(9)
#: operator -> how tightly it binds, and its operands must
_OPERATORS = {
    **dict.fromkeys((".neqv.", ".eqv."), (LOOSE, COMPARISON, COMPARISON)),
    **dict.fromkeys((".or.", "||"), (OR, OR, AND)),
    **dict.fromkeys((".and.", "&&"), (AND, AND, NOT)),
    **dict.fromkeys((">", ">=", "<", "<=", "==", "/=", "!="), (COMPARISON, SUM, SUM)),
    **dict.fromkeys(("+", "-"), (SUM, SUM, PRODUCT)),
    **dict.fromkeys(("*", "/"), (PRODUCT, PRODUCT, POWER)),
    **dict.fromkeys(("**", "^"), (POWER, ATOM, ATOM)),
}
_BINARY = re.compile(r"\{0\} ?(\S+?) ?\{1\}")
_UNARY = re.compile(r"(-|!|\.not\. )\{0\}")
_CALL = re.compile(r"\w+\(.*\)")
_TRUTH = {sympy.Ne(s, 0): sympy.Symbol(s.name) for s in SLOTS} | {
    sympy.Eq(s, 0): sympy.Not(sympy.Symbol(s.name)) for s in SLOTS
}
_LOGICAL = ("where", "logical_and", "logical_or", "logical_not")


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
        enclosed = _CALL.fullmatch(source) is not None
        return cls(source, ATOM if enclosed else LOOSE, ((LOOSE if enclosed else ATOM),) * 3)

    def filled(self, operands: Sequence[Text]) -> Text:
        """The operation on these operands."""
        return Text(self.source.format(*[o.within(n) for o, n in zip(operands, self.needed)]), self.binding)


def printed(operation: str, printer: Any) -> str:
    """The formula of an operation as a sympy printer writes it, over ``{0} {1} {2}``.

    >>> from sympy.printing.fortran import FCodePrinter
    >>> printed("arctan2", FCodePrinter({"source_format": "free", "human": False}))
    'atan2({0}, {1})'
    """
    formula = TEMPLATES[operation].expr
    if operation in _LOGICAL:
        formula = formula.xreplace(_TRUTH)
    source = printer.doprint(formula)
    source = source[-1] if isinstance(source, tuple) else source
    return re.sub(r"\b[abc]\b", lambda m: f"{{{'abc'.index(m[0])}}}", re.sub(r" \.(?=[*/^])", " ", source))


class Places:
    """Indices and sizes as source; loop counters count from 1, indices that were looked up from 0."""

    def __init__(self, routine: Routine, print_dim: Callable[[sympy.Expr], str], integer: Callable[[int], str]) -> None:
        """``print_dim`` writes a named dim over the routine's arguments, ``integer`` any whole number."""
        self._arguments = {s: sympy.Symbol(name, integer=True) for s, name in routine.dims.items()}
        self._counters = {s.counter for s in routine.statements() if isinstance(s, Loop)}
        self._print_dim = print_dim
        self._integer = integer
        self._known: dict[tuple[Index | Dim, int], Text] = {}

    def dim(self, dim: Dim) -> Text:
        """A size."""
        return self._linear(Index(dim), 0)

    def place(self, index: Index) -> Text:
        """An index counted from 1."""
        return self._linear(index, 1)

    def counted(self, index: Index) -> Text:
        """An index counted from 0."""
        return self._linear(index, 0)

    def _linear(self, index: Index, base: int) -> Text:
        known = self._known.get((index, base))
        if known is None:
            known = self._known[index, base] = self._written(index, base)
        return known

    def _written(self, index: Index, base: int) -> Text:
        offset = index.offset + base - sum(c for name, c in index.terms if name in self._counters)
        if is_named(offset) or any(is_named(c) for _, c in index.terms):
            whole: Any = sympy.sympify(offset)
            for name, c in index.terms:
                whole += c * sympy.Symbol(name, integer=True)
            source = self._print_dim(sympy.expand(whole.xreplace(self._arguments)))
            return Text(source, ATOM if source.isidentifier() else SUM)
        source = ""
        for name, c in index.terms:
            if c:
                term = name if abs(c) == 1 else f"{self._integer(abs(c))}*{name}"
                sign = " - " if c < 0 else " + "
                source += sign + term if source else ("-" if c < 0 else "") + term
        if offset or not source:
            number = self._integer(abs(offset))
            source += (f" - {number}" if offset < 0 else f" + {number}") if source else self._integer(offset)
        return Text(source, ATOM if source.isidentifier() or source.isdecimal() else SUM)


class Expressions:
    """Writes expressions; a target says how it spells each kind of them."""

    def source(self, e: Expression, needed: int = LOOSE) -> str:
        """The source of an expression where something stands that binds so tightly."""
        return self.text(e).within(needed)

    def text(self, e: Expression) -> Text:
        """The source of an expression, whatever its depth."""
        made: dict[int, Text] = {}
        pending: list[tuple[Expression, bool]] = [(e, False)]
        while pending:
            part, ready = pending.pop()
            parts = _operands(part)
            if not ready:
                pending.append((part, True))
                pending += [(p, False) for p in parts if id(p) not in made]
            elif id(part) not in made:
                made[id(part)] = self._whole(part, [made[id(p)] for p in parts])
        return made[id(e)]

    def _whole(self, e: Expression, parts: list[Text]) -> Text:
        if isinstance(e, Apply):
            return self.applied(e, parts)
        if isinstance(e, Cast):
            return self.cast(e, parts[0])
        if isinstance(e, Search):
            return self.search(e, parts[0])
        if isinstance(e, Element):
            return self.element(e)
        return self.leaf(e)

    def applied(self, e: Apply, operands: list[Text]) -> Text:
        raise NotImplementedError

    def cast(self, e: Cast, operand: Text) -> Text:
        raise NotImplementedError

    def search(self, e: Search, value: Text) -> Text:
        raise NotImplementedError

    def element(self, e: Element) -> Text:
        raise NotImplementedError

    def leaf(self, e: Expression) -> Text:
        raise NotImplementedError


def _operands(e: Expression) -> tuple[Expression, ...]:
    if isinstance(e, Apply):
        return e.operands
    if isinstance(e, Cast):
        return (e.operand,)
    return (e.value,) if isinstance(e, Search) else ()


def integer_quotient(dim: sympy.Expr, print_formula: Callable[[sympy.Expr], str], quotient: str) -> str:
    """A dim as source, whose denominator divides whole numbers as ``quotient`` says.

    >>> n = sympy.Symbol("n")
    >>> integer_quotient(n * (n - 1) / 2, str, "div({0}, {1})")
    'div(n*(n - 1), 2)'
    """
    top, bottom = sympy.fraction(sympy.together(dim))
    source = print_formula(top)
    return source if bottom == 1 else quotient.format(source, print_formula(bottom))


@dataclass(frozen=True)
class Signature:
    """What the exported function and its arguments are called; ``program`` has its conditions as last outputs."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dims: dict[sympy.Symbol, str]
    program: Program

    @classmethod
    def of(cls, subject: Subject, reserved: Collection[str], longest: int, **naming: bool) -> Signature:
        """Names in a target for what ``subject`` has."""
        program = fold_constants(subject.guarded)
        dims = named_dims(program)
        labels = [*program.names, *map(_plain, subject.labels), *map(str, dims)]
        (name,) = target_names([subject.name], reserved, longest=longest, **naming)
        taken = [*reserved, name, f"{name}_module", f"{name}_check"]
        names = target_names(labels, taken, longest=longest, **naming)
        first, second = len(program.names), len(program.names) + len(subject.program.outputs)
        sizes = dict(zip(dims, names[second:], strict=True))
        return cls(name, tuple(names[:first]), tuple(names[first:second]), sizes, program)

    def routine(self) -> Routine:
        """The loops, the first axes of arrays innermost."""
        taken = [name.lower() for name in (self.name, *self.inputs, *self.outputs, *self.dims.values())]
        return lower(self.program, self.inputs, self.outputs, self.dims, row_major=False, taken=taken)


def _plain(label: str) -> str:
    r"""The letters and digits of a LaTeX name.

    >>> _plain(r"\frac{\partial^{2} f}{\partial w^{2}}"), _plain(r"\frac{\partial f}{\partial x}")
    ('d2f_dw2', 'df_dx')
    """
    label = re.sub(r"\\(?:mathit|mathrm|mathbf|operatorname|boldsymbol|frac|left|right)\b", "", label)
    label = re.sub(r"\\partial\^\{(\w+)\} *", r"d\1", label)
    label = re.sub(r"\\partial\b *", "d", label).replace("}{", "_")
    return re.sub(r"[\\{}^ ]", "", label)


def folded(e: Apply) -> Any:
    """The value of an operation on literals alone, which compilers would refuse where it is no number; None else."""
    if not all(isinstance(o, Literal) for o in e.operands) or e.operation == "where":
        return None
    values = [o.dtype.type(o.value) for o in e.operands if isinstance(o, Literal)]
    with np.errstate(all="ignore"):
        return e.dtype.type(TEMPLATES[e.operation].ufunc(*values)).item()


class Procedures:
    """The procedures that come with a target, read from files of its language; blank lines stand between them alone."""

    def __init__(self, *sources: str) -> None:
        blocks = [block.strip("\n") for source in sources for block in source.split("\n\n") if block.strip()]
        self.sources = {_procedure(block): block for block in blocks}
        code = {name: re.sub(r"(?m)^ *[!#].*$", "", block) for name, block in self.sources.items()}
        words = {name: set(re.findall(r"(\w+)\(", block)) - {name} for name, block in code.items()}
        self.calls = {name: [other for other in self.sources if other in words[name]] for name in self.sources}

    def needed(self, names: Iterable[str]) -> list[str]:
        """These and all that they call, in the order of the files."""
        found, pending = set(), list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.calls[name]
        return [name for name in self.sources if name in found]


def _procedure(block: str) -> str:
    found = re.search(r"^[\w ]*\b(?:function|subroutine) (\w+)", block, re.MULTILINE)
    assert found is not None, block
    return found[1]
