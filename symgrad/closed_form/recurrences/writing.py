"""Equations as text and as LaTeX: matrix notation where there is one, small vectors entry by entry."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import sympy

from ...errors import ClosedFormTooLarge, UnsupportedOperation
from ...program.dims import Dim, is_concrete
from ...program.node import Node
from ...program.program import Program
from ..deadline import TimeIsUp, within_calls
from ..derivation.formula import Formula, formula, in_matrices, named_program
from ..derivation.lines import inputs_of
from ..derivation.naming import Names
from ..entries import entry_forms, entry_names
from ..matrix.translation import short_number
from ..plain_text import plain_text
from ..typeset import element, typeset
from .equations import Range
from .naming import entry_of, lowered
from .unfolding import Unfolding

#: entries of a vector that are written one by one, and those of what they are made of
_MAX_ENTRIES, _MAX_SOURCES = 4, 24
#: operations that they may have together
_MAX_OPERATIONS = 120
#: how much shorter a number in factors is, if it is written so, and the calls that this may take
_SHORTER, _MAX_CALLS = 0.7, 300_000
#: elements that matrix notation takes out of a vector, and those that it puts into one
_NAME = re.compile(r"\w+[\w₀-₉ₐ-ₜ₊₋]*")
_PICKED = re.compile(r"\[\d|(?<![A-Za-z])(?:e|unit)[₀-₉]")


class Written(NamedTuple):
    """The right-hand side of an equation; of a vector that is written entry by entry one for each of them."""

    parts: list[Formula]
    by_entry: bool = False


def written(node: Node, unfolding: Unfolding) -> Written:
    """A value in terms of those that have names."""
    inputs = inputs_of(node)
    program = Program(inputs, [node], ["value"] * len(inputs), unfolding.graph)
    found = in_matrices(program, unfolding.names, parts=False)
    if not any(n.shape for n in (*inputs, node)):
        made = _number(program, unfolding)
        if made is not None and (found is None or len(made.text) < _SHORTER * len(found.text)):
            return Written([made])
    if found is not None and not _PICKED.search(found.text):
        return Written([found])
    entries = _entries(program, unfolding)
    if entries is not None:
        return Written(entries, bool(node.shape))
    if found is not None:
        return Written([found])
    return Written([formula(program, unfolding.names)])


def _number(program: Program, unfolding: Unfolding) -> Formula | None:
    """A number made of numbers, in factors; None where that takes long."""
    shown = _with_numbers(program, unfolding)
    try:
        with within_calls(_MAX_CALLS):
            (made,) = entry_forms(shown, _MAX_OPERATIONS)
            called = dict(zip((name for (name,) in entry_names(shown)), shown.names, strict=True))
            symbols = {sympy.Symbol(a, real=True): sympy.Symbol(b, real=True) for a, b in called.items()}
            factors = sympy.factor(made.item().xreplace(symbols))
    except (ClosedFormTooLarge, UnsupportedOperation, TimeIsUp, TypeError, sympy.PolynomialError):
        return None
    return Formula(plain_text(factors, ()), typeset(factors))


def _with_numbers(program: Program, unfolding: Unfolding) -> Program:
    """The program in the names of its inputs, constants as the numbers that they are."""
    names = Names()
    names.update({n: unfolding.names[n] for n in program.inputs})
    return named_program(program, names, lambda _: True)


def length_of(node: Node, unfolding: Unfolding) -> int:
    """The characters that a value is written with."""
    return sum(len(part.text) for part in written(node, unfolding).parts)


def is_whole(node: Node, unfolding: Unfolding) -> bool:
    """True where a value can be written with nothing left out."""
    return not any("…" in part.text for part in written(node, unfolding).parts)


def _entries(program: Program, unfolding: Unfolding) -> list[Formula] | None:
    """A small vector, or a number, in the entries of small vectors."""
    (node,) = program.outputs
    nodes = (*program.inputs, node)
    if node.ndim > 1 or not is_concrete(tuple([d for n in nodes for d in n.shape])):
        return None
    if math.prod(node.shape) > _MAX_ENTRIES or sum(math.prod(n.shape) for n in program.inputs) > _MAX_SOURCES:
        return None
    shown = _with_numbers(program, unfolding)
    try:
        (made,) = entry_forms(shown, _MAX_OPERATIONS)
    except (ClosedFormTooLarge, UnsupportedOperation, TypeError):
        return None
    called = {}
    for n, own, symbols in zip(program.inputs, shown.names, entry_names(shown), strict=False):
        for k, name in enumerate(symbols):
            called[sympy.Symbol(name, real=True)] = sympy.Symbol(
                entry_of(own, k, unfolding.names.values()) if n.shape else own, real=True
            )
    flowing = [
        called[sympy.Symbol(name, real=True)]
        for n, symbols in zip(program.inputs, entry_names(shown), strict=False)
        for name in symbols
        if n in unfolding.back
    ]
    return [_formula(_in_fractions(e.xreplace(called)), flowing) for e in made.ravel()]


def _in_fractions(entry: sympy.Expr) -> Any:
    """An entry with the simple fractions that its numbers round to, as matrix notation has them."""
    return entry.xreplace({f: short_number(float(f)) for f in entry.atoms(sympy.Float)})


def _formula(entry: sympy.Expr, flowing: Sequence[sympy.Symbol]) -> Formula:
    """An entry; what is linear in what flows back as the factors of that."""
    made = sympy.collect(sympy.expand(entry), flowing, sympy.factor_terms) if flowing else entry
    return Formula(plain_text(made, ()), typeset(made))


def in_brackets(found: Written) -> Formula:
    """A value in one piece."""
    if not found.by_entry:
        return found.parts[0]
    rows = r" \\ ".join(part.latex for part in found.parts)
    text = f"[{', '.join(part.text for part in found.parts)}]"
    return Formula(text, rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}")


def summed(steps: Range, part: Formula) -> Formula:
    """The sum of a formula over steps."""
    text, latex = part.text, part.latex
    if not _is_product(text):
        text, latex = f"({text})", rf"\left({latex}\right)"
    minus = text.startswith("−") and latex.startswith("-")
    text, latex = (text[1:], latex[1:]) if minus else (text, latex)
    over = rf"\sum_{{{steps.letter}=0}}^{{{_less_one(steps.length)}}}"
    made = Formula(f"Σ{lowered(steps.letter)} {text}", f"{over} {latex}", part.index)
    return made._replace(text=f"−{made.text}", latex=f"-{made.latex}") if minus else made


def added(parts: Sequence[Formula]) -> Formula:
    """The sum of formulas; where one of them is an element, those of whole arrays are taken at its index."""
    parts = [p for p in parts if p.text != "0"] or parts[:1]
    index = next((p.index for p in parts if p.index), ())
    parts = [p if p.index or not index else _at(p, index) for p in parts]
    text, latex = parts[0].text, parts[0].latex
    for part in parts[1:]:
        minus = part.text.startswith("−") and part.latex.startswith("-")
        text += f" − {part.text[1:]}" if minus else f" + {part.text}"
        latex += f" - {part.latex[1:]}" if minus else f" + {part.latex}"
    return Formula(text, latex, index)


def _at(part: Formula, index: tuple[str, ...]) -> Formula:
    """An element of an array, which has a name or is in brackets then."""
    is_name = part.text.isidentifier() or _NAME.fullmatch(part.text) is not None
    text, latex = (part.text, part.latex) if is_name else (f"({part.text})", rf"\left({part.latex}\right)")
    return Formula(f"{text}[{', '.join(index)}]", element(latex, index), index)


def _is_product(text: str) -> bool:
    """True where no sum stands outside of brackets."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([{‖") - (c in ")]}")
        if depth == 0 and k and c in "+−-" and text[k - 1] == " ":
            return False
    return True


def _less_one(length: Dim) -> str:
    return str(length - 1)


def of_steps(steps: Range) -> Formula:
    """Which steps a line holds for."""
    letter, length = steps.letter, steps.length
    if isinstance(length, int) and length < 3:
        every = list(map(str, range(length)))
        said = f"{letter} = {', '.join(every[::-1] if steps.reverse else every)}"
        return Formula(said, said)
    first, last = ("0", _less_one(steps.length)) if not steps.reverse else (_less_one(steps.length), "0")
    return Formula(f"{letter} = {first}, …, {last}", rf"{letter} = {first}, \ldots, {last}")
