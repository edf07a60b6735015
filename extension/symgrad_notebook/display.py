"""What a derivative looks like in a notebook: formulas as LaTeX, shapes as a small table, text for the rest."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from IPython.display import DisplayHandle, display

import symgrad
from symgrad.closed_form.breaking import broken
from symgrad.closed_form.budget import BUDGET
from symgrad.closed_form.choice import formulas
from symgrad.closed_form.formulas import Formulas
from symgrad.closed_form.latex import MAX_CHARACTERS, aligned
from symgrad.errors import ResultTooLarge, SymgradError
from symgrad.named_dims import argument_names
from symgrad.signature import called_name
from symgrad.trace_entry import TraceEntry
from symgrad.transforms.conditions import branches_told
from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.gradient import GradientFunction
from symgrad.transforms.jacobian import JacobianFunction
from symgrad.transforms.shown import formulas_beside, shown_entry
from symgrad.transforms.steps import steps_of
from symgrad.watching import progress, said

from .structure import caption, escaped, operation_count, result_names, shape_tree, signature, visible

#: lines of a program that are shown at once
_FEW_LINES = 12
#: lines of a program that the chain rule is told of in place of a formula, and steps of that which are shown at once
_MANY_LINES, _MANY_STEPS = 150, 40


def show(
    derived: DerivedFunction,
    *args: Any,
    name: str | None = None,
    note: str = "",
    budget: int = BUDGET,
    fold: int = MAX_CHARACTERS,
    **kwargs: Any,
) -> None:
    """Display the function, its derivative and the shapes of both, for these example arguments.

    ``name`` is what the derivative is called, ``note`` a line below; ``kwargs`` go with the arguments (``sens=`` among
    them). A formula of more than ``budget`` operations, or more than ``fold`` characters of LaTeX, is let-bound.
    Formulas are ``text/latex``, shapes ``text/html``, each with ``text/plain`` beside it; all are static and stay when
    the notebook is saved. Nothing but the trace is run.
    """
    for bundle in bundles(derived, args, kwargs, name or derived.__name__, note, budget, fold):
        display(bundle, raw=True)


def bundles(
    derived: DerivedFunction,
    args: tuple,
    kwargs: dict[str, Any],
    name: str,
    note: str,
    budget: int = BUDGET,
    fold: int = MAX_CHARACTERS,
) -> list[dict[str, str]]:
    """The MIME bundles that ``show`` displays."""
    takes_sens = getattr(derived, "takes_sens", False)
    values, own = own_arguments(derived, args, kwargs)
    readable = derived._readable()
    entry = shown_entry(derived, args, kwargs)
    function = symgrad.symbolic(derived.underlying)
    named = [
        (function, entry.value, result_names(function, entry.value, values)),
        (readable, entry, result_names(readable, entry, args)),
    ]
    shown = formulas_beside(entry, [e for _, e, _ in named], budget, fold)
    latex = [f.latex_rows(d.labels(e)) for f, (d, e, _) in zip(shown, named, strict=True)]
    texts = [_text(f, d, names) for f, (d, _, names) in zip(shown, named, strict=True)]
    both = formulas(entry.with_value, budget, fold) if all(f.kind == "recurrence" for f in shown) else None
    if both is not None and both.kind == "recurrence":  # the loops of the function are those of the derivative too
        labels = [label for d, e, _ in named for label in d.labels(e)]
        above = [_formula(both.latex_rows(labels), "\n".join(both.text_rows([n for *_, own in named for n in own])))]
    elif (told := _derivation(shown, derived, args, kwargs)) is not None:
        above = [told]
    elif any(f.kind == "let-bound" for f in shown):  # each numbers its own bindings, so they stand apart
        parts = zip(shown, latex, texts, (called_name(function.fn), name), strict=True)
        above = [_opened(_formula(rows, text), f, called) for f, rows, text, called in parts]
    else:
        rows = dict.fromkeys([*latex[0], *latex[1]])  # what a name stands for is said once
        above = [_formula(list(rows), "\n".join(dict.fromkeys("\n".join(texts).split("\n"))))]
    along = ["v"] if getattr(derived, "takes_v", False) else []
    of_function = values[: len(values) - len(along)]
    names = argument_names(derived.fn, len(of_function))
    called_with = [*names, *along, *own, *(["sens"] if takes_sens else [])]
    called = called_name(function.fn) + signature(function, of_function, own), f"{name}({', '.join(called_with)})"
    lines = [
        (who, shape_tree(e, names), operation_count(e.readable))
        for who, (_, e, names) in zip(called, named, strict=True)
    ]
    foot = [
        caption(derived, entry.value.array_shapes),
        f"the formulas hold where {' and '.join(branches_told(entry)[0])}" if entry.taken else "",
        "vec reads a matrix row by row" if any(map(_has_vec, shown)) else "",
        *_way(derived, entry),
        note,
    ]
    return [*above, _table(lines, [text for text in foot if text])]


def own_arguments(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments of the user's function among those of a derivative: all but ``sens``."""
    if not getattr(derived, "takes_sens", False):
        return args, kwargs
    values = args if "sens" in kwargs else args[:-1]
    return values, {k: v for k, v in kwargs.items() if k != "sens"}


def reported(after: float) -> contextlib.AbstractContextManager[None]:
    """Inside, a line says what symgrad is doing once it has taken ``after`` seconds; never where that is 0.

    Once all is done it is empty: what took how long is not saved with the notebook.
    """
    shown: list[DisplayHandle] = []

    def report(stage: str, seconds: float) -> None:
        text = "" if stage == "done" else said(stage, seconds)
        line = {"text/plain": text, "text/html": text and f"<small>{text}</small>"}
        if shown:
            shown[0].update(line, raw=True)
        else:
            shown.append(DisplayHandle())
            shown[0].display(line, raw=True)

    return progress(report, after=after) if after > 0 else contextlib.nullcontext()


def _has_vec(shown: Formulas) -> bool:
    return shown.kind == "matrix" and any(e.op == "vec" for form in shown.forms for e in form.expression.walk())


def _way(derived: DerivedFunction, entry: TraceEntry) -> list[str]:
    """How it was derived and what it runs on."""
    said = []
    if isinstance(derived, GradientFunction):
        said.append(f"{'forward' if derived.mode == 'forward' else 'reverse'} mode")
    elif isinstance(derived, JacobianFunction):
        with entry.reopened():
            said.append(entry.trace.derivation.choice.reason.rstrip("."))
        if derived.sparse:
            return [*said, "as scipy.sparse: what has no entry is never computed"]
    try:
        said.append(f"runs on {entry.kernel.backend}")
    except ResultTooLarge as error:
        said.append(str(error))
    return said


def _formula(rows: Sequence[str], text: str) -> dict[str, str]:
    return {"text/latex": rf"$\displaystyle {aligned(broken(rows))}$", "text/plain": visible(text)}


def _derivation(
    shown: Sequence[Formulas], derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]
) -> dict[str, str] | None:
    """The chain rule line by line, in the user's names, in place of a derivative too long for a formula."""
    count = len(shown[-1].program.bindings)
    if shown[-1].kind != "let-bound" or not _FEW_LINES < count <= _MANY_LINES or not (args or kwargs):
        return None
    try:
        steps = steps_of(derived, args, kwargs, together=False)
    except SymgradError:  # some derivatives have none
        return None
    table = steps._repr_html_()
    if len(steps) > _MANY_STEPS:
        said = f"{escaped(steps.title)}: the chain rule in {len(steps)} lines"
        table = f"<details><summary>{said}</summary>{table}</details>"
    return {"text/html": table, "text/plain": visible(str(steps))}


def _opened(formula: dict[str, str], shown: Formulas, name: str) -> dict[str, str]:
    """A formula as it is; the lines of a long program behind one that says so."""
    count = len(shown.program.bindings)
    if shown.kind != "let-bound" or count <= _FEW_LINES:
        return formula
    said = f"{escaped(name)} in {count} lines: a formula would be too long to read"
    return {**formula, "text/html": f"<details><summary>{said}</summary>{escaped(formula['text/latex'])}</details>"}


def _text(shown: Formulas, derived: DerivedFunction, names: Sequence[str]) -> str:
    rows = shown.text_rows(names)
    return "\n".join([f"{derived.__name__}:", *rows] if shown.kind == "let-bound" else rows)


def _table(lines: Sequence[tuple[str, str, int]], foot: Sequence[str]) -> dict[str, str]:
    left = "style='text-align:left'"
    head = "".join(f"<th {left}>{title}</th>" for title in ("", "result", "operations"))
    body = "".join(
        f"<tr><td {left}><code>{escaped(who)}</code></td><td {left}><code>{escaped(shape)}</code></td>"
        f"<td {left}>{count}</td></tr>"
        for who, shape, count in lines
    )
    small = f"<small>{escaped(' · '.join(foot))}</small>"
    plain = [f"{who} → {shape}, operations: {count}" for who, shape, count in lines]
    return {
        "text/html": f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{small}",
        "text/plain": visible("\n".join([*plain, *foot])),
    }
