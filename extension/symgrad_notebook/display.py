"""What a gradient looks like in a notebook: formulas as LaTeX, shapes as a small table, text for the rest."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from IPython.display import display

import symgrad
from symgrad.closed_form.latex import aligned
from symgrad.tracing.tree import unflatten
from symgrad.transforms.derived import DerivedFunction


def show(gradient: DerivedFunction, *args: Any, name: str | None = None, note: str = "") -> None:
    """Display the function, its gradient and the shapes of both, for these example arguments.

    Formulas are ``text/latex``, shapes ``text/html``, each with ``text/plain`` beside it; both are static
    and stay when the notebook is saved.
    """
    for bundle in bundles(gradient, args, name or gradient.__name__, note):
        display(bundle, raw=True)


def bundles(gradient: DerivedFunction, args: Sequence[Any], name: str, note: str) -> list[dict[str, str]]:
    """The MIME bundles that ``show`` displays."""
    function = symgrad.symbolic(gradient.fn)
    values = args[: len(args) - 1] if getattr(gradient, "takes_sens", False) else args
    latex = aligned([*function.latex_rows(*values), *gradient.latex_rows(*args)])
    program = gradient.program(*args)
    plain = f"{function.program(*values)}\n\n{program}"
    return [
        {"text/latex": rf"$\displaystyle {latex}$", "text/plain": plain},
        _table(gradient, function, values, args, name, note),
    ]


def _table(
    gradient: DerivedFunction,
    function: DerivedFunction,
    values: Sequence[Any],
    args: Sequence[Any],
    name: str,
    note: str,
) -> dict[str, str]:
    f_name = getattr(gradient.fn, "__name__", type(gradient.fn).__name__)
    sens = getattr(gradient, "takes_sens", False)
    counts = [sum(d.program(*a).operation_counts().values()) for d, a in ((function, values), (gradient, args))]
    rows = [
        (f_name, shape_tree(function, values), f"{counts[0]} operations"),
        (name, shape_tree(gradient, args), f"{counts[1]} operations"),
    ]
    caption = "∂⟨sens, out⟩" if sens else "∂(Σ out)"
    lines = [f"{left}: {shape}   {count}" for left, shape, count in rows]
    plain = "\n".join([*lines, f"{caption}, on {gradient.kernel(*args).backend}", *([note] if note else [])])
    cells = "".join(
        f"<tr><td style='text-align:left'><code>{html.escape(left)}</code></td>"
        f"<td style='text-align:left'><code>{html.escape(shape)}</code></td>"
        f"<td style='text-align:left'>{html.escape(count)}</td></tr>"
        for left, shape, count in rows
    )
    foot = html.escape(f"{caption} · kernel on {gradient.kernel(*args).backend}" + (f" · {note}" if note else ""))
    return {"text/html": f"<table>{cells}</table><small>{foot}</small>", "text/plain": plain}


def shape_tree(function: Callable, args: Sequence[Any]) -> str:
    """The shapes of a function's results in their structure, from its trace; nothing is run.

    >>> import numpy as np, symgrad
    >>> shape_tree(symgrad.grad(lambda x, y: np.sum(x) * y, (0, 1)), (np.ones((2, 3)), 1.0))
    '((2, 3), ())'
    """
    structure, shapes = function.result_shapes(*args)  # type: ignore[attr-defined]
    return _spell(unflatten(structure, [_Shape(s) for s in shapes]))


class _Shape:
    def __init__(self, shape: tuple | None) -> None:
        self.text = "static" if shape is None else str(tuple(shape))


def _spell(value: Any) -> str:
    if isinstance(value, _Shape):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_spell(v)}" for k, v in value.items()) + "}"
    inner = ", ".join(map(_spell, value))
    if isinstance(value, list):
        return f"[{inner}]"
    return f"({inner},)" if len(value) == 1 else f"({inner})"
