"""An outcome as HTML with LaTeX for the widget, and as MIME bundles that stay when the notebook is saved."""

from __future__ import annotations

import html
from collections.abc import Sequence

from symgrad.closed_form.formulas import Formulas
from symgrad.closed_form.latex import MAX_CHARACTERS

from ..structure import escaped, visible
from .marks import Row
from .outcome import Outcome

_WORDS = {"appeared": "appeared", "vanished": "vanished"}
#: lines of a let-bound form that stand open
_MAX_OPEN = 12


def formula_html(outcome: Outcome) -> str:
    """The formulas, a line each, with marks and words; long ones are cut, many folded."""
    rows, left_out = _fitting(outcome.rows)
    lines = [_row_html(row) for row in rows]
    if len(lines) > _MAX_OPEN:
        rest = "".join(lines[:-_MAX_OPEN])
        lines = [
            f"<details><summary>let-bound form: {len(lines) - _MAX_OPEN} lines before these</summary>{rest}</details>",
            *lines[-_MAX_OPEN:],
        ]
    if left_out:
        lines.append(f"<div class='sg-note'>{left_out} more, too long to typeset; the code below gives .latex()</div>")
    return f"<div class='sg-formulas'>{''.join(lines)}</div>{_legend(rows)}"


def _fitting(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """The rows that front ends typeset without freezing, and how many are left out."""
    shown: list[Row] = []
    length = 0
    for row in rows:
        length += len(row.latex) + len(row.label)
        if length > MAX_CHARACTERS and shown:
            continue
        shown.append(row if length <= MAX_CHARACTERS else Row(row.status, row.label, r"\ldots", row.text))
    return shown, len(rows) - len(shown)


def _row_html(row: Row) -> str:
    word = _WORDS.get(row.status, "")
    chip = f"<span class='sg-chip'>{word}</span>" if word else ""
    return f"<div class='sg-formula sg-{row.status}'>{chip}<span>${_math(row)}$</span></div>"


def _math(row: Row) -> str:
    return html.escape(r"\displaystyle " + _equation(row))


def _equation(row: Row) -> str:
    return f"{row.label} = {row.latex}" if row.label else row.latex


def _legend(rows: Sequence[Row]) -> str:
    come = [term for row in rows for term in row.appeared]
    gone = [term for row in rows for term in row.vanished]
    parts = []
    if come:
        parts.append("<span class='sg-boxed'>boxed</span> appeared: " + _count(len(come), "term"))
    if gone:
        parts.append("<s>crossed out</s> vanished: " + _count(len(gone), "term"))
    return f"<div class='sg-note'>{' · '.join(parts)}</div>" if parts else ""


def _count(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")


def result_html(outcome: Outcome) -> str:
    """The return tree, what the gradient is taken of, and the values."""
    rows = "".join(
        f"<tr><th scope='row'><code>{escaped(v.name)}</code></th><td><code>{escaped(str(v.shape))}</code></td>"
        f"<td><pre>{escaped(v.numbers)}</pre></td></tr>"
        for v in outcome.values
    )
    shown = "".join(
        f"<div class='sg-shown'><span class='sg-word'>{escaped(name)}</span><pre>{escaped(text)}</pre></div>"
        for name, text in outcome.shown
    )
    return (
        f"<div class='sg-tree'><span class='sg-word'>returns</span> <code>{escaped(outcome.tree)}</code></div>"
        f"<div class='sg-note'>{escaped(outcome.caption)} · {_count(outcome.operations, 'operation')}</div>"
        f"<table class='sg-values'><thead><tr><th scope='col'></th><th scope='col'>shape</th><th scope='col'>value</th>"
        f"</tr></thead><tbody>{rows}</tbody></table>{notes_html(outcome.notes)}{shown}"
    )


def notes_html(notes: Sequence[str]) -> str:
    """Remarks, a line each; as code, which front ends do not typeset: a ``$`` of the user's stays one."""
    return "".join(f"<div class='sg-note'><code>{escaped(note)}</code></div>" for note in notes)


def static_bundles(outcome: Outcome) -> list[dict[str, str]]:
    """The outcome as outputs without widgets: formulas as LaTeX with marks, then code, shapes and values."""
    rows, _ = _fitting(outcome.rows)
    lines = [rf"{row.label} &= {row.latex} {_word_latex(row)}" for row in rows]
    latex = r"\begin{aligned} " + r" \\[1ex] ".join(lines) + r" \end{aligned}"
    values = "\n".join(f"{v.name} {v.shape}: {v.numbers}" for v in outcome.values)
    values = "\n".join([values, *(text for _, text in outcome.shown)])
    code = f"<pre style='white-space:pre-wrap'>{escaped(outcome.code)}</pre>"
    return [
        {"text/latex": rf"$\displaystyle {latex}$", "text/plain": visible(_text_rows(outcome))},
        {
            "text/html": f"{code}{result_html(outcome)}",
            "text/plain": visible(f"{outcome.code}\nreturns {outcome.tree}\n{outcome.caption}\n{values}"),
        },
    ]


def opened(bundles: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """``static_bundles`` as they stand below a panel that is alive, marked for its style sheet."""
    if not bundles:  # nothing could be shown
        return []
    formula, rest = bundles
    return [formula, rest | {"text/html": f"<div class='sg-panel-opened'>{rest['text/html']}</div>"}]


def _word_latex(row: Row) -> str:
    return rf"\qquad \text{{({_WORDS[row.status]})}}" if row.status in _WORDS else ""


def _text_rows(outcome: Outcome) -> str:
    if any(not f.text for f in outcome.formulas):
        return "\n".join(Formulas(outcome.program, "let-bound", []).text_rows([]))
    lines = []
    for row in outcome.rows:
        words = [_WORDS[row.status]] if row.status in _WORDS else []
        words += [f"appeared: {', '.join(row.appeared)}"] if row.appeared else []
        words += [f"vanished: {', '.join(row.vanished)}"] if row.vanished else []
        lines.append(row.text + (f"   ({'; '.join(words)})" if words else ""))
    return "\n".join(lines)
