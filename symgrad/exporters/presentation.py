"""What documents say of a derivative: its formulas, inputs, conditions and check, for LaTeX, Markdown and MathML."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..closed_form.breaking import LINE, broken
from ..closed_form.budget import fits
from ..closed_form.choice import formulas_in
from ..closed_form.formulas import Formulas
from ..closed_form.index_form import IndexForm, constant_names
from ..closed_form.latex import let_bound_rows, statement_latex
from ..closed_form.letters import name_latex
from ..closed_form.symbols import safe_names
from ..closed_form.typeset import initial
from ..errors import ClosedFormTooLarge
from ..passes.unrolling import has_loops
from . import header
from .subject import Subject

#: what signs of formulas mean, where they are in use
_SIGNS = {
    r"\odot": r"$\odot$ multiplies element by element, and $x^{\odot 2}$ squares every element",
    r"\oslash": r"$\oslash$ divides element by element",
    r"\otimes": r"$\otimes$ is the Kronecker product",
    r"\mathbf{1}": r"$\mathbf{1}$ is a vector of ones",
    r"\sigma": r"$\sigma(t) = 1/(1 + e^{-t})$",
    r"\Phi": r"$\Phi$ is the distribution function of the standard normal distribution",
    r"\delta_": r"$\delta_{i j}$ is 1 where the indices are equal, 0 elsewhere",
    r"\psi": r"$\psi$ is the digamma function",
    r"\operatorname{vec}": r"vec reads a matrix row by row",
    r"\operatorname{chol}": r"chol is the lower Cholesky factor",
    r"\operatorname{pinv}": r"pinv is the pseudo-inverse",
    r"\operatorname{argsort}": r"argsort gives the places of the elements in ascending order",
    r"\oplus": r"$\oplus$ is true where one of two statements is",
}
_KINDS = {
    "entries": "Elements of an array are numbered row by row, from 1.",
    "index": "Formulas give the element at any indices, which count from 0.",
    "matrix": "Formulas are in matrix notation; functions of arrays apply to every element.",
    "recurrence": "A value of a step has its number as an index, counted from 0; what flows back is called $\\lambda$, "
    "or by another Greek letter. Functions of arrays apply to every element.",
    "let-bound": "Every line names a value that later lines use; indices count from 0.",
}
#: values of the check that a document shows of one array, and arrays whose values it shows
MAX_VALUES, MAX_ARRAYS = 4, 24


class Section(NamedTuple):
    """A part of a document.

    ``said`` and ``items`` (of a list) are sentences whose formulas stand between dollar signs, ``rows`` are formulas
    under one another, ``below`` is what is said below them, ``table`` has pairs of a formula and words.
    """

    title: str
    said: Sequence[str] = ()
    items: Sequence[str] = ()
    rows: Sequence[str] = ()
    below: Sequence[str] = ()
    table: Sequence[tuple[str, str]] = ()


def sections(subject: Subject, found: Formulas, made: list[str]) -> list[Section]:
    """What a document says of a derivative whose formulas are the rows ``made``; what has nothing to say is missing."""
    told, table = checked(subject)
    conventions = header.conventions(subject)
    stated = conditions(subject)
    left = len(subject.conditions) - len(stated)
    branches = ["The formulas are those of the branches that the example arguments took. They hold where"]
    more = f"{left} conditions on values are met that are too long to be written out; exported code checks them."
    found_sections = [
        Section("Inputs", items=[f"${name}$: {said}" for name, said in inputs(subject)]),
        Section("Formulas", notation(found, made), rows=made, below=() if made else ["The result holds no arrays."]),
        Section("Branches", branches if subject.conditions else (), (), [f"&{s}" for s in stated], [more] * (left > 0)),
        Section("Conventions", [_CONVENTIONS] * bool(conventions), conventions),
        Section("Check", [told], table=table),
    ]
    return [section for section in found_sections if any(section[1:])]


_CONVENTIONS = "Where the function has no derivative, or more than one:"


def presented(subject: Subject) -> Formulas:
    """The formulas in the form that was asked for."""
    return subject.formulas if subject.form == "auto" else formulas_in(subject.program, subject.form)


def rows(subject: Subject, found: Formulas, line: float = LINE) -> list[str]:
    """The rows ``label &= formula`` in LaTeX, long ones broken into several."""
    if found.kind == "let-bound":
        made = let_bound_rows(found.program, subject.labels, len(found.program.bindings))
    else:
        made = found.latex_rows(subject.labels)
    return broken(made, line)


def notation(found: Formulas, made: list[str]) -> list[str]:
    """Sentences on how to read the formulas, in text with inline LaTeX."""
    text = " ".join(made)
    own = {initial(name_latex(name)) for name in safe_names(found.program.names)}  # these are the inputs then
    said = [meaning for sign, meaning in _SIGNS.items() if sign in text and initial(sign) not in own]
    if (r"\left[" in text and r"\begin{matrix}" not in text) or "> 0]" in text:
        said.append("$[c]$ is 1 where the statement $c$ holds, 0 elsewhere")
    if "> 0]" in text:
        said.append(r"$[c > 0]$ is $\frac{1}{2}$ where $c = 0$ is a tie")
    return [_KINDS[found.kind], *[f"{s[0].upper() if s[0] != '$' else '$'}{s[1:]}." for s in said]]


def inputs(subject: Subject) -> Iterator[tuple[str, str]]:
    """The name of each input in LaTeX, and what it is in words; then the arrays that the function reads."""
    program = subject.program
    for name, node in zip(safe_names(program.names), program.inputs, strict=True):
        python = {"f": "a Python float", "c": "a complex number of Python"}.get(node.dtype.kind)
        kind = python if node.weak and python else node.dtype.name
        yield name_latex(name), _shaped(kind, node.shape)
    for name, value in constant_names(program).items():
        held = _shaped(value.dtype.name, value.shape)
        yield name_latex(name), f"{held}, which the function reads: {values(value)}"


def _shaped(kind: str, shape: tuple) -> str:
    """The kind and the shape of an array in words.

    >>> _shaped("float64", (3,)), _shaped("float64", ())
    ('float64 vector of length 3', 'float64 number')
    """
    dims = [str(d).replace("**", "^").replace("*", " ") for d in shape]
    if len(dims) == 1:
        return f"{kind} vector of length {dims[0]}"
    if dims:
        return f"{kind} {'matrix' if len(dims) == 2 else 'array'} of shape {' by '.join(dims)}"
    return kind if kind.startswith("a ") else f"{kind} number"


def conditions(subject: Subject) -> list[str]:
    """The conditions under which the formulas hold, as statements in LaTeX.

    Those that are too long to write out are missing.
    """
    program = subject.program.with_outputs(subject.conditions)
    if has_loops(program) or not fits(program, False):
        return []
    form, made = IndexForm(program), []
    for node in subject.conditions:
        with contextlib.suppress(ClosedFormTooLarge):
            made.append(statement_latex(form.output(node)[1], safe_names(program.names)))
    return made


def values(array: np.ndarray) -> str:
    """The first elements of an array, row by row.

    >>> values(np.array([1.0, 2.5])), values(np.arange(6))
    ('1, 2.5', '0, 1, 2, 3, ...')
    """
    shown = [_number(v) for v in np.ravel(array)[:MAX_VALUES]]
    return ", ".join(shown) + (", ..." if array.size > MAX_VALUES else "") if shown else "empty"


def _number(value) -> str:
    if isinstance(value, np.floating):
        return f"{float(value):.9g}" if math.isfinite(value) else str(float(value))
    return str(value.item())


def checked(subject: Subject) -> tuple[str, list[tuple[str, str]]]:
    """A sentence on the check, and a table of its arrays: a name in LaTeX and the first elements."""
    check = subject.check
    if check is None:
        return f"There is no check: {subject.unchecked}.", []
    at = ", ".join(f"{name} = {size}" for name, size in check.sizes.items())
    said = (
        f"At the arguments below{f', where {at},' if at else ''} the kernel of symgrad gave the results below; any "
        f"other computation should agree to {check.tolerance:.0e} of the largest element or of 1. "
        f"Finite differences: {check.differences}."
    )
    table = []
    names = map(name_latex, safe_names(subject.program.names))
    for name, given in zip(names, check.given, strict=True):
        table.append((name, values(given.array())))
    for label, wanted in zip(subject.labels, check.wanted, strict=True):
        more = ", ..." if wanted.step > 1 and wanted.values.size <= MAX_VALUES else ""
        table.append((label, values(wanted.values if wanted.step == 1 else wanted.values[:MAX_VALUES]) + more))
    return said, table[:MAX_ARRAYS]
