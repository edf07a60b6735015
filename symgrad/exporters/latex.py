"""LaTeX: the formulas as a fragment, or as a document that compiles on its own, with what they hold for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..closed_form.breaking import LINE, fits, label_width
from ..closed_form.formulas import Formulas
from ..closed_form.latex import aligned
from ..closed_form.letters import name_latex
from . import header, presentation
from .subject import Subject

#: lines that a formula may be long, which is then made so much smaller
_MAX_REDUCED = 1.6
#: rows that may stand in one display, which does not continue on the next page
_MAX_ALIGNED = 25
_PREAMBLE = [
    r"\documentclass[a4paper]{article}",
    r"\usepackage{amsmath,amssymb,graphicx}",
    r"\usepackage[margin=25mm]{geometry}",
    r"\allowdisplaybreaks",
    r"\setlength{\emergencystretch}{3em}",
]
#: characters of text that are commands, and those that the font has elsewhere
_TEXT = {
    "\\": r"\textbackslash{}",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "#": r"\#",
    "%": r"\%",
    "&": r"\&",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "|": "$|$",
}


def latex(subject: Subject) -> str:
    """A fragment for a document that loads ``amsmath``: the formulas under one another; or such a document."""
    return _document(subject) if subject.document else _fragment(subject)


def text(said: str) -> str:
    r"""Words as LaTeX.

    >>> print(text("a_b < 50%"), text("\\input{x}"))
    a\_b $<$ 50\% \textbackslash{}input\{x\}
    """
    return "".join(_TEXT.get(c, c if c.isascii() and c.isprintable() else "?") for c in said)


def sentence(said: str) -> str:
    """A sentence whose formulas stand between dollar signs, as LaTeX."""
    parts = said.split("$")
    return "".join(f"${p}$" if k % 2 else text(p) for k, p in enumerate(parts))


def _comment(subject: Subject) -> list[str]:
    return [f"% {line}" for line in header.lines(subject)]


def _fragment(subject: Subject) -> str:
    made = presentation.rows(subject, presentation.presented(subject))
    if len(made) > _MAX_ALIGNED or not made:
        body = ["{\\allowdisplaybreaks", *_displayed(made), "}"]
    else:
        body = [r"\[", aligned(made), r"\]"]
    return "\n".join([*_comment(subject), *body, ""])


def _displayed(rows: Sequence[str]) -> list[str]:
    """Rows under one another, over several pages where there are many."""
    made = [*[f"{row} \\\\" for row in rows[:-1]], *rows[-1:]]
    return [r"\begin{align*}", *made, r"\end{align*}"] if made else ["The result holds no arrays."]


def _document(subject: Subject) -> str:
    found, rows = _readable(subject)
    lines = [
        *_comment(subject),
        *_PREAMBLE,
        rf"\title{{{_title(subject)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        *[line for section in presentation.sections(subject, found, rows) for line in _section(section)],
        r"\end{document}",
        "",
    ]
    return "\n".join(lines)


def _readable(subject: Subject) -> tuple[Formulas, list[str]]:
    """The formulas and their rows; let-bound where a chosen form would have to be made too small to read."""
    found = presentation.presented(subject)
    rows = presentation.rows(subject, found)
    left = LINE - label_width(rows)
    if subject.form == "auto" and not all(fits(row.partition("&")[2], _MAX_REDUCED * left) for row in rows):
        found = Formulas(subject.program, "let-bound", [])
        rows = presentation.rows(subject, found)
    return found, rows


def _title(subject: Subject) -> str:
    """The title, the function's name set as the name that it is."""
    called = subject.facts.function
    words = subject.title.removesuffix(called)
    name = rf"\texttt{{{text(called)}}}" if called.isascii() else f"${name_latex(called)}$"
    return text(words[0].upper() + words[1:]) + name


def _section(section: presentation.Section) -> list[str]:
    items = [rf"\item {sentence(item)}" for item in section.items]
    cells = [rf"$\displaystyle {name}$ & {re.sub('-', '$-$', values)} \\[1ex]" for name, values in section.table]
    tabular = ["", r"\medskip\noindent", r"\begin{tabular}{@{}ll@{}}", *cells, r"\end{tabular}"]
    return [
        rf"\section*{{{section.title}}}",
        *map(sentence, section.said),
        *([r"\begin{itemize}", *items, r"\end{itemize}"] if items else []),
        *(_displayed(_all_fitted(section.rows)) if section.rows else []),
        *map(sentence, section.below),
        *(tabular if cells else []),
    ]


def _all_fitted(rows: Sequence[str]) -> list[str]:
    """Rows that are wider than a line, because nothing in them can be broken, made smaller."""
    left = LINE - label_width(rows)
    return [_fitted(row, left) for row in rows]


def _fitted(row: str, left: float) -> str:
    label, _, rest = row.partition("&")
    sign = next(s for s in ("= ", r"\quad ", "") if rest.startswith(s))
    formula = rest.removeprefix(sign)
    if fits(formula, left):
        return row
    room = (left - 20 * (sign == r"\quad ")) / LINE
    return rf"{label}&{sign}\resizebox{{{room:.2f}\linewidth}}{{!}}{{$\displaystyle {formula}$}}"
