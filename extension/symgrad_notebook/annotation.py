"""The annotated source: what each line of a function costs, and what the derivative adds to that.

Results are static: HTML in which each line opens to the kernel lines it became, and the same as text.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import source_lines
from symgrad.kernels.explanation import node_step
from symgrad.kernels.spelled import spelled
from symgrad.program.node import Node
from symgrad.trace_entry import TraceEntry
from symgrad.tracing.local_names import code_of
from symgrad.transforms.derived import DerivedFunction

from .structure import escaped, visible

#: lines of kernel source that one line of the user's opens to
_MAX_KERNEL_LINES = 40
#: lines of a file that are shown around a function of a notebook cell
_LONGEST_CELL = 200


@dataclass
class LineCost:
    """What one line costs: ``own`` operations in the function, ``added`` ones in its derivative.

    ``kept`` are those of its own that the derivative computes again, ``shared`` how often an operation was asked for
    that was there already, ``work`` the scalar operations of what the derivative runs, ``kernel`` its source.
    """

    number: int
    text: str
    own: int = 0
    kept: int = 0
    added: int = 0
    shared: int = 0
    work: float = 0.0
    kernel: list[str] = field(default_factory=list)

    @property
    def swell(self) -> float | None:
        """Operations of the derivative for each of the function; None where the function has none here."""
        return self.added / self.own if self.own else None


class Annotation:
    """The source of a function with the cost of each line; ``lines`` are its rows."""

    def __init__(self, name: str, lines: list[LineCost], elsewhere: LineCost) -> None:
        self.name = name
        self.lines = lines
        self.elsewhere = elsewhere

    def __repr__(self) -> str:
        head = f"{'':>4}  {'f':>5} {'∂f':>5} {'swell':>6} {'shared':>6}  {visible(self.name)}"
        rows = [
            f"{c.number:>4}  {c.own or '':>5} {c.added or '':>5} {_swell(c):>6} {c.shared or '':>6}  {visible(c.text)}"
            for c in self.lines
        ]
        return "\n".join([head, *rows, f"{self._total()}; swell is ∂f / f"])

    def _total(self) -> str:
        rows = [*self.lines, self.elsewhere]
        own, added = sum(c.own for c in rows), sum(c.added for c in rows)
        kept, shared = sum(c.kept for c in rows), sum(c.shared for c in rows)
        outside = self.elsewhere.own + self.elsewhere.added
        return (
            f"{own} operations of the function; the derivative adds {added}, uses {kept} of the function's, and found "
            f"{shared} more ready" + (f"; {outside} operations belong to no line above" if outside else "")
        )

    def _repr_html_(self) -> str:
        most = max([c.work for c in self.lines], default=0.0) or 1.0
        cell = "style='text-align:right; vertical-align:top'"
        head = "".join(
            f"<th {cell} title='{html.escape(title, quote=True)}'>{name}</th>"
            for name, title in (
                ("", "line"),
                ("f", "operations of the function"),
                ("∂f", "operations that the derivative adds"),
                ("swell", "operations of the derivative for each of the function"),
                ("shared", "operations that were asked for and were there already"),
            )
        )
        rows = "".join(
            f"<tr><td {cell}>{c.number}</td><td {cell}>{c.own or ''}</td><td {cell}>{c.added or ''}</td>"
            f"<td {cell}>{_swell(c)}</td><td {cell}>{c.shared or ''}</td>{_source(c, c.work / most)}</tr>"
            for c in self.lines
        )
        return (
            f"<table><thead><tr>{head}<th style='text-align:left'>{escaped(self.name)}</th></tr></thead>"
            f"<tbody>{rows}</tbody></table><small>{escaped(self._total())}. "
            "Lines of a stronger color do more scalar operations; click a line for the kernel that it became.</small>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}


def annotate(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> Annotation:
    """The source of the function that ``derived`` differentiates, with the cost of each line for these arguments.

    >>> import symgrad
    >>> def f(x):
    ...     y = x * x
    ...     return y * y
    >>> [(c.own, c.added) for c in annotate(symgrad.grad(f), (3.0,), {}).lines if c.own]
    [(1, 2), (1, 1)]
    """
    function = derived.underlying
    entry, _ = derived._recorded(args, kwargs)
    ledger = entry.ledger
    costs = _source_lines(function)
    end = _span(function, code.co_firstlineno).stop if (code := code_of(function)) is not None else 0
    elsewhere = LineCost(0, "")
    where = costs.get
    file = getattr(code_of(function), "co_filename", "")

    def line(node: Node) -> LineCost:
        number = next((s.number for s in ledger.stack(node) if s.file == file), 0)
        return where(number) or elsewhere

    program = entry.readable
    for node in entry.value.readable.bindings:
        line(node).own += 1
    code = spelled(program)
    for node in program.bindings:
        cost = line(node)
        if ledger.order(node):
            cost.added += 1
        else:
            cost.kept += 1
        cost.work += node_step(node, "", "").operations
        cost.kernel += code.get(node, ())
    _count_shared(entry, file, costs)
    last = max([end - 1, *(k for k, c in costs.items() if c.own or c.added or c.kept)])
    shown = [c for k, c in costs.items() if k <= last]
    return Annotation(getattr(function, "__name__", type(function).__name__), shown, elsewhere)


def _count_shared(entry: TraceEntry, file: str, costs: dict[int, LineCost]) -> None:
    """Every request for an operation after its first counts for the line that made it."""
    for node in entry.program.bindings:
        first = True
        for (source, _), count in entry.ledger.requests(node).items():
            spared = count - 1 if first else count
            first = False
            if source.file == file and source.number in costs:
                costs[source.number].shared += spared


def _source_lines(function: Callable) -> dict[int, LineCost]:
    """The lines to show: the whole cell of a function from a notebook, else the function."""
    code = code_of(function)
    if code is None:
        return {}
    whole = source_lines(code.co_filename)
    if not whole:
        return {}
    if code.co_filename.startswith("<") or "ipykernel" in code.co_filename:
        numbers: Iterable[int] = range(1, len(whole) + 1)
        if len(whole) > _LONGEST_CELL:
            numbers = _span(function, code.co_firstlineno)
    else:
        numbers = _span(function, code.co_firstlineno)
    rows = {k: LineCost(k, whole[k - 1].rstrip("\n")) for k in numbers if k <= len(whole)}
    used = [k for k, c in rows.items() if c.text.strip()]
    return {k: c for k, c in rows.items() if used and used[0] <= k <= used[-1]}


def _span(function: Callable, first: int) -> range:
    try:
        lines, start = inspect.getsourcelines(inspect.unwrap(getattr(function, "construct", function)))
    except (OSError, TypeError):
        return range(first, first + 1)
    return range(start, start + len(lines))


def _swell(cost: LineCost) -> str:
    return "" if cost.swell is None else f"{cost.swell:.1f} ×"


def _source(cost: LineCost, share: float) -> str:
    """The source of a line, which opens to its kernel lines, on a ground that says how much it does."""
    ground = f"background:rgba(230,159,0,{0.45 * share:.2f})" if share else ""
    text = f"<code style='white-space:pre; background:none'>{escaped(cost.text) or ' '}</code>"
    style = f"text-align:left; {ground}"
    if not cost.kernel:
        return f"<td style='{style}'>{text}</td>"
    shown = cost.kernel[:_MAX_KERNEL_LINES]
    left_out = len(cost.kernel) - len(shown)
    more = [f"… {left_out} more lines"] if left_out else []
    kernel = escaped("\n".join([*shown, *more]))
    return (
        f"<td style='{style}'><details><summary>{text}</summary>"
        f"<pre style='margin:0 0 0 2em; background:none'>{kernel}</pre></details></td>"
    )
