"""Formulas: the outputs of a Program in the form that reads best, as LaTeX and as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from ..errors import ArgumentError
from ..program.forks import cached_property
from ..program.program import Program
from .contents import in_latex, in_words
from .entries import entry_names
from .labels import label_text
from .latex import (
    MAX_LINES,
    aligned,
    at,
    expression_latex,
    inputs_by_latex,
    is_composed,
    let_bound_rows,
    symbol_latex,
)
from .legibility import reading_cost
from .plain_text import plain_text
from .symbols import captured_names, safe_names
from .typeset import lettered, typeset

#: characters of text that a line of formulas may have
_WIDEST = 72
#: what a formula of this cost is read more easily by on a line of its own
_LONG, _APART = 10, 4
#: labels that stand before one formula
_MOST_ALIKE = 3
#: a subscript at the end of a label, which can have no second one
_SUBSCRIPT = re.compile(r"_(\{[^{}]*\}|\w)$")


@dataclass(frozen=True, repr=False)
class Formulas:
    """The outputs as formulas of one ``kind``: ``entries``, ``matrix``, ``index``; ``let-bound`` where these are long.

    Of a program with loops they are ``recurrence``, a form for all of them. Printed they are text, in a notebook LaTeX.

    >>> import numpy as np, symgrad
    >>> found = symgrad.grad(lambda w, X: np.sum((X @ w) ** 2)).formulas(np.ones(20), np.ones((50, 20)))
    >>> print(found)
    ∂f/∂w = 2XᵀXw
    >>> found.kind, found.text_rows(["g"])
    ('matrix', ['g = 2XᵀXw'])
    """

    program: Program
    kind: str
    forms: list[Any]
    #: what names of the user's stand for in these formulas, each by one formula, in the names above it
    where: tuple[tuple[str, Formulas], ...] = ()
    #: what the outputs are called, in LaTeX
    labels: tuple[str, ...] = ()
    #: where the formulas hold, as text and as LaTeX
    holds: tuple[Sequence[str], Sequence[str]] = ((), ())

    def labelled(self, labels: Sequence[str], holds: tuple[Sequence[str], Sequence[str]] = ((), ())) -> Formulas:
        """The same formulas of outputs that are called so, in LaTeX, and where they hold."""
        return replace(self, labels=tuple(labels), holds=holds)

    def __repr__(self) -> str:
        called = inputs_by_latex(self.program)
        rows = self.text_rows([label_text(label, called) for label in self.labels])
        return "\n".join([*rows, *(f"  {'and' if k else 'if'} {text}" for k, text in enumerate(self.holds[0]))])

    def shown_rows(self) -> list[str]:
        """The rows in LaTeX, and those that say where they hold."""
        said = [rf"&\quad\text{{{'and' if k else 'if'} }} {latex}" for k, latex in enumerate(self.holds[1])]
        return [*self.latex_rows(self.labels), *said]

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {aligned(self.shown_rows())}$"

    def latex_rows(self, labels: Sequence[str]) -> list[str]:
        """A row ``label &= formula`` for each output; ``labels`` are LaTeX. Let-bound ones begin with the bindings.

        Numbers that have the same formula, such as ``∂²f/∂x∂y`` and ``∂²f/∂y∂x``, are one row ``label = label &= …``.

        Rows of what names stand for come last. ArgumentError where there are not as many labels as outputs.
        """
        self._check_count(labels)
        said = [f"{symbol_latex(name)} &= {in_latex(value)}" for name, value in self._unnamed]
        said += [line.replace(" = ", " &= ", 1) for line in self._shared_latex]
        where = [r for name, f in self.where for r in f.latex_rows([symbol_latex(name)])]
        return [*self._own_rows(labels), *said, *where]

    def _own_rows(self, labels: Sequence[str]) -> list[str]:
        if self.kind == "let-bound":
            return let_bound_rows(self.program, labels)
        if self.kind == "recurrence":  # an argument x0 in which x begins is x_0 already: no line says that it is
            rows = [row.partition(" &= ") for row in self.forms[0].latex_rows(labels)]
            return ["".join(row) for row in rows if row[0] != row[2]]
        together = self._together(labels if self.kind != "index" else self._latex_labels(labels))
        if self.kind == "entries":
            pairs = [(label, self.forms[k], self._own_latex[k]) for label, k in together]
            return [row for label, form, whole in pairs for row in _entry_rows(label, form, whole, self._names)]
        return [f"{label} &= {self._read_latex[k]}" for label, k in together]

    def _together(self, labels: Sequence[str]) -> list[tuple[str, int]]:
        """The labels with the numbers of their formulas; those of numbers with the same one as ``a = b``."""
        alike: dict[Any, list[int]] = {}
        for k, (output, latex) in enumerate(zip(self.program.outputs, self._own_latex, strict=True)):
            alike.setdefault(k if output.shape else latex, []).append(k)
        rows = [own[k : k + _MOST_ALIKE] for own in alike.values() for k in range(0, len(own), _MOST_ALIKE)]
        return [(" = ".join(labels[k] for k in own), own[0]) for own in sorted(rows)]

    def text_rows(self, names: Sequence[str], apart: bool = False) -> list[str]:
        """A line ``name = formula`` for each output; for let-bound ones the lines of the Program, long ones cut.

        As in ``latex_rows``, numbers that have the same formula are one line, unless each stands ``apart``.

        ArgumentError where there are not as many names as outputs.
        """
        self._check_count(names)
        rows = self._own_text(names, apart)
        said = [f"{name} = {in_words(value)}" for name, value in self._unnamed]
        said += [line for f in self.forms for line in f.where] if self.kind == "matrix" else []
        said += [line for name, f in self.where for row in f.text_rows([name]) for line in row.split("\n")]
        if said := list(dict.fromkeys(said)):
            rows[-1] = "\n".join([rows[-1], *[f"  where {line.removeprefix('  where ')}" for line in said]])
        return rows

    def _check_count(self, names: Sequence[str]) -> None:
        if self.kind != "let-bound" and (isinstance(names, str) or len(names) != len(self.program.outputs)):
            raise ArgumentError(f"give {len(self.program.outputs)} names, one for each result, not {names!r}.")

    def _own_text(self, names: Sequence[str], apart: bool) -> list[str]:
        if self.kind == "let-bound":
            return _program_rows(self.program)
        if self.kind == "recurrence":
            return self.forms[0].text_rows(names)
        together = [(name, k) for k, name in enumerate(names)] if apart else self._together(names)
        if self.kind == "index":
            made = []
            for name, k in together:
                free, element = self.forms[k]
                place = f"[{', '.join(map(str, free))}]" if free else ""
                made.append(f"{name}{place} = {plain_text(lettered(element, self._names), self._names)}")
            return made
        if self.kind == "matrix":
            return [f"{name} = {self.forms[k].text}" for name, k in together]
        each = np.vectorize(lambda e: lettered(e, self._names), otypes=[object])
        entries = [each(form) for form in self.forms]
        texts = [plain_text(a if e.size else [], self._names) for e, a in zip(entries, as_arrays(entries), strict=True)]
        return [f"{name} = {texts[k]}" for name, k in together]

    @cached_property
    def latex(self) -> list[str]:
        """The formula of each output, without a name, and what names stand for; the lines of recurrences."""
        said = [f"{symbol_latex(name)} = {in_latex(value)}" for name, value in self._unnamed]
        said += [f"{symbol_latex(name)} = {latex}" for name, f in self.where for latex in f.latex]
        *others, last = self._own_latex or [""]
        return [*others, r",\quad ".join([last, *said])] if said else self._own_latex

    @cached_property
    def _own_latex(self) -> list[str]:
        if self.kind == "recurrence":
            return self.forms[0].latex_rows([f"r_{{{k}}}" for k in range(len(self.program.outputs))])
        if self.kind == "matrix":
            return [form.latex_line for form in self.forms]
        if self.kind == "index":
            return [typeset(element, self._names) for _, element in self.forms]
        return [expression_latex(e, self._names) for e in self.forms]

    @property
    def _shared_latex(self) -> list[str]:
        """What matrix forms that stand under one another leave unsaid, once for all; a form alone says it itself."""
        shared = self.forms if self.kind == "matrix" and len(self.forms) > 1 else []
        return list(dict.fromkeys(line for form in shared for line in form.latex_where))

    @cached_property
    def _read_latex(self) -> list[str]:
        """The formulas as they stand under one another, and what they share."""
        shared = self._shared_latex
        return [*[form.latex for form in self.forms], *shared] if shared else self._own_latex

    @cached_property
    def _unnamed(self) -> list[tuple[str, np.ndarray]]:
        """The arrays that the formulas read, for which the code has no name; a matrix form says its own."""
        if self.kind not in ("index", "entries"):
            return []
        told = [e for form in self.forms for e in ([form[1]] if self.kind == "index" else np.ravel(form))]
        read = {str(base) for e in told for base in e.atoms(sympy.IndexedBase)}
        held = captured_names(self.program).items()
        return [(name, n.params[0].value) for n, name in held if name in read and not n.params[0].label]

    @cached_property
    def _names(self) -> list[str]:
        """What the inputs are called in the formulas."""
        names = safe_names(self.program.names)
        return names if self.kind != "entries" else [e for entries in entry_names(self.program) for e in entries]

    @property
    def characters(self) -> int:
        """Characters of LaTeX in all formulas."""
        return sum(map(len, self._read_latex)) + sum(f.characters for _, f in self.where)

    @cached_property
    def reading_cost(self) -> float:
        """What all formulas cost to read; at free indices the label has these too.

        What a name stands for costs less where it is long, for it is read apart.
        """
        named = [f.reading_cost for _, f in self.where]
        return self.own_cost + sum(c - _APART if c >= _LONG else c + 2 for c in named)

    @cached_property
    def own_cost(self) -> float:
        """``reading_cost`` where it is said elsewhere what names stand for.

        What several formulas share is read once, and found again from each: it costs between once and each time.
        """
        free = sum(len(index) + 1 for index, _ in self.forms) if self.kind == "index" else 0
        once = reading_cost(self._read_latex)
        each = once if self._read_latex is self._own_latex else reading_cost(self._own_latex)
        return (once + each) / 2 + free

    def _latex_labels(self, labels: Sequence[str]) -> list[str]:
        if self.kind != "index":
            return list(labels)
        return [at(label, free) for label, (free, _) in zip(labels, self.forms, strict=True)]


def as_arrays(arrays: Sequence[np.ndarray]) -> list[Any]:
    """Arrays of expressions as sympy's; those of no axes as the expressions."""
    return [sympy.Array(e) if e.ndim else e.item() for e in arrays]


def _entry_rows(label: str, form: Any, whole: str, names: Collection[str]) -> list[str]:
    """An array in brackets; entry by entry, under one another, where it would be wider than a page: those not 0."""
    rows = form.reshape(1, -1) if form.ndim == 1 else form
    if form.ndim not in (1, 2) or sum(max((len(str(e)) for e in c), default=0) for c in rows.T) <= _WIDEST:
        return [f"{label} &= {whole}"]
    name = rf"\left({label}\right)" if is_composed(label) or _SUBSCRIPT.search(label) else label
    entries = [(",".join(map(str, place)), form[place]) for place in np.ndindex(form.shape) if form[place] != 0]
    made = [f"{name}_{{{place}}} &= {typeset(e, names)}" for place, e in entries]
    return (
        made
        if len(made) == form.size
        else [*made, rf"{name}_{{i{',j' * (form.ndim - 1)}}} &= 0 \quad \text{{elsewhere}}"]
    )


def _program_rows(program: Program) -> list[str]:
    """The lines of the Program, long ones cut: they are saved with the notebook."""
    lines = str(program).splitlines()
    left_out = len(lines) - MAX_LINES
    if left_out > 0:
        lines[MAX_LINES - 1 : -1] = [f"  … {left_out} more lines; .program() has them all"]
    return lines
