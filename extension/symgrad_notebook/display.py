"""What a gradient looks like in a notebook: formulas as LaTeX, shapes as a small table, text for the rest."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import sympy
from IPython.display import display

import symgrad
from symgrad.closed_form.latex import MOST_CHARACTERS, MOST_LINES, aligned
from symgrad.closed_form.symbols import Indices
from symgrad.compiled import CompiledFunction, argument_names
from symgrad.errors import ClosedFormTooLarge
from symgrad.program.program import Program
from symgrad.tracing.tree import flatten
from symgrad.transforms.derived import DerivedFunction

from .structure import array_shapes, result_names, shape_tree, signature, visible


def show(gradient: DerivedFunction, *args: Any, name: str | None = None, note: str = "", **kwargs: Any) -> None:
    """Display the function, its gradient and the shapes of both, for these example arguments.

    ``name`` is what the gradient is called, ``note`` a line below; ``kwargs`` go with the arguments
    (``sens=`` among them). Formulas are ``text/latex``, shapes ``text/html``, each with ``text/plain``
    beside it; all are static and stay when the notebook is saved.
    """
    for bundle in bundles(gradient, args, kwargs, name or gradient.__name__, note):
        display(bundle, raw=True)


def bundles(
    gradient: DerivedFunction, args: tuple, kwargs: dict[str, Any], name: str, note: str
) -> list[dict[str, str]]:
    """The MIME bundles that ``show`` displays."""
    takes_sens = getattr(gradient, "takes_sens", False)
    values = args[:-1] if takes_sens and "sens" not in kwargs else args
    own = {k: v for k, v in kwargs.items() if not takes_sens or k != "sens"}
    function = symgrad.symbolic(gradient.fn)
    pair = [(function, values, own), (gradient, args, kwargs)]
    rows = [derived.latex_rows(*a, **k) for derived, a, k in pair]
    texts = [_formula_text(derived, a, k) for derived, a, k in pair]
    if any(map(_is_let_bound, rows)):  # each numbers its own bindings, so they stand apart
        formulas = [_formula(r, t) for r, t in zip(rows, texts, strict=True)]
    else:
        formulas = [_formula([*rows[0], *rows[1]], "\n".join(texts))]
    called_with = [*argument_names(gradient.fn, len(values)), *own, *(["sens"] if takes_sens else [])]
    lines = [
        (
            _called(gradient.fn) + signature(function, values, own),
            shape_tree(function, values, own),
            _operations(function, values, own),
        ),
        (f"{name}({', '.join(called_with)})", shape_tree(gradient, args, kwargs), _operations(gradient, args, kwargs)),
    ]
    shapes = array_shapes(function, values, own)
    branches = CompiledFunction(gradient.fn, gradient.fn, cache=False).entry(*values, **own).taken
    foot = [
        _caption(shapes, takes_sens),
        "the function branches on values: the formulas hold while it goes the way of these" if branches else "",
        f"runs on {gradient.kernel(*args, **kwargs).backend}",
        note,
    ]
    return [*formulas, _table(lines, [text for text in foot if text])]


def _called(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "f" if name == "<lambda>" else name


def _operations(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> int:
    return sum(derived.program(*args, **kwargs).operation_counts().values())


def _caption(shapes: Sequence[tuple], takes_sens: bool) -> str:
    """Which number the gradient is taken of, where that is not the output itself."""
    if takes_sens:
        return "gradient of ⟨sens, out⟩, the outputs weighed by sens"
    if len(shapes) == 1 and not shapes[0]:
        return ""
    return "gradient of Σ out, the sum of all outputs"


def _formula(rows: Sequence[str], text: str) -> dict[str, str]:
    return {"text/latex": rf"$\displaystyle {aligned(rows)}$", "text/plain": visible(text)}


def _is_let_bound(rows: Sequence[str]) -> bool:
    return rows[0].startswith("v_{")


def _formula_text(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> str:
    """A line ``name = formula`` for each array of the result; the Program where that would be too large."""
    program = derived.program(*args, **kwargs)
    try:
        leaves, _ = flatten(derived.closed_form(*args, **kwargs))
    except ClosedFormTooLarge:
        return _program_text(derived, program)
    shapes = array_shapes(derived, args, kwargs)
    formulas = [v for v in leaves if isinstance(v, sympy.Basic)]
    lines = []
    for name, shape, formula in zip(result_names(derived, args, shapes), shapes, formulas, strict=True):
        indices = Indices(program)
        by_element = shape and not isinstance(formula, sympy.NDimArray)
        free = f"[{', '.join(str(indices.fresh()) for _ in shape)}]" if by_element else ""
        lines.append(f"{name}{free} = {formula}")
    text = "\n".join(lines)
    return text if len(text) <= MOST_CHARACTERS else _program_text(derived, program)


def _program_text(derived: DerivedFunction, program: Program) -> str:
    """The let-bound form, long ones cut: it is saved with the notebook."""
    lines = [f"{derived.__name__}:", *str(program).splitlines()]
    left_out = len(lines) - MOST_LINES
    if left_out > 0:
        lines[MOST_LINES - 1 : -1] = [f"  … {left_out} more lines; .program() has them all"]
    return "\n".join(lines)


def _table(lines: Sequence[tuple[str, str, int]], foot: Sequence[str]) -> dict[str, str]:
    left = "style='text-align:left'"
    head = "".join(f"<th {left}>{title}</th>" for title in ("", "result", "operations"))
    body = "".join(
        f"<tr><td {left}><code>{_escaped(who)}</code></td><td {left}><code>{_escaped(shape)}</code></td>"
        f"<td {left}>{count}</td></tr>"
        for who, shape, count in lines
    )
    small = f"<small>{_escaped(' · '.join(foot))}</small>"
    plain = [f"{who} → {shape}, operations: {count}" for who, shape, count in lines]
    return {
        "text/html": f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{small}",
        "text/plain": visible("\n".join([*plain, *foot])),
    }


def _escaped(text: str) -> str:
    return html.escape(visible(text))
