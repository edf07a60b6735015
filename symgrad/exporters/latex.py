"""LaTeX: the formulas as a fragment, or as a document that compiles on its own, with what they hold for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..closed_form.breaking import LINE, fits, label_width
from ..closed_form.formulas import Formulas
from ..closed_form.latex import aligned
from ..closed_form.letters import name_latex
from . import header, presentation
from .subject import Subject

#: lines that a formula may be long, which is then made so much smaller
_MOST_REDUCED = 1.6
#: rows that may stand in one display, which does not continue on the next page
_MOST_ALIGNED = 25
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
    if len(made) > _MOST_ALIGNED or not made:
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
        *_section("Inputs", _listed(f"${name}$: {text(said)}" for name, said in presentation.inputs(subject))),
        *_section("Formulas", [*map(sentence, presentation.notation(found, rows)), *_displayed(_all_fitted(rows))]),
        *_conditions(subject),
        *_section("Conventions", _listed(map(text, header.conventions(subject)))),
        *_check(subject),
        r"\end{document}",
        "",
    ]
    return "\n".join(lines)


def _readable(subject: Subject) -> tuple[Formulas, list[str]]:
    """The formulas and their rows; let-bound where a chosen form would have to be made too small to read."""
    found = presentation.presented(subject)
    rows = presentation.rows(subject, found)
    left = LINE - label_width(rows)
    if subject.form == "auto" and not all(fits(row.partition("&")[2], _MOST_REDUCED * left) for row in rows):
        found = Formulas(subject.program, "let-bound", [])
        rows = presentation.rows(subject, found)
    return found, rows


def _title(subject: Subject) -> str:
    """The title, the function's name set as the name that it is."""
    called = subject.facts.function
    words = subject.title.removesuffix(called)
    name = rf"\texttt{{{text(called)}}}" if called.isascii() else f"${name_latex(called)}$"
    return text(words[0].upper() + words[1:]) + name


def _section(title: str, content: Sequence[str]) -> list[str]:
    return [rf"\section*{{{title}}}", *content] if content else []


def _listed(items: Iterator[str]) -> list[str]:
    made = [rf"\item {item}" for item in items]
    return [r"\begin{itemize}", *made, r"\end{itemize}"] if made else []


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


def _conditions(subject: Subject) -> list[str]:
    if not subject.conditions:
        return []
    stated = presentation.conditions(subject)
    said = ["The formulas are those of the branches that the example arguments took. They hold where"]
    made = _displayed(_all_fitted([f"&{s}" for s in stated])) if stated else []
    if len(stated) < len(subject.conditions):
        made.append(
            f"{'and where ' if stated else ''}{len(subject.conditions) - len(stated)} further conditions on values are "
            "met, too long to be written out; exported code checks them."
        )
    return _section("Branches", [*said, *made])


def _check(subject: Subject) -> list[str]:
    said, table = presentation.checked(subject)
    made = [text(said)]
    if table:
        rows = [rf"$\displaystyle {name}$ & {re.sub('-', '$-$', values)} \\[1ex]" for name, values in table]
        made += ["", r"\medskip\noindent", r"\begin{tabular}{@{}ll@{}}", *rows, r"\end{tabular}"]
    return _section("Check", made)
