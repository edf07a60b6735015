"""One entry to read: its closed form, and the lines of the user's code that it comes from."""

from __future__ import annotations

import inspect
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy

from symgrad.closed_form.breaking import broken
from symgrad.closed_form.latex import MAX_CHARACTERS, aligned, expression_latex
from symgrad.compiled import argument_names
from symgrad.errors import ClosedFormTooLarge
from symgrad.tracing.local_names import code_of
from symgrad.tracing.provenance import SourceLine
from symgrad.transforms.contributions import Contributions
from symgrad.transforms.jacobian import JacobianFunction

from ..errors import one_line
from ..structure import visible
from .blocks import Block

#: characters of a formula that are shown as text
_LONGEST_TEXT = 2000
#: lines of a function that are shown whole; of a longer one those around what contributes
_LONGEST_FUNCTION = 60
_AROUND = 2
#: points that a row of a formula may have
_WIDEST = 290.0


def closed_form(
    derivative: JacobianFunction, block: Block, place: tuple[int, int], args: tuple, kwargs: dict[str, Any]
) -> dict[str, str]:
    """The formula of an entry: ``latex`` (empty where it would be too long to typeset), ``text`` and a ``note``."""
    index = block.index(*place)
    try:
        formula = derivative.entry(index, *args, output=block.number, **kwargs)
    except ClosedFormTooLarge as error:
        return {"latex": "", "text": "", "note": f"{one_line(error)} .program(…) takes the same arguments."}
    except Exception as error:
        return {"latex": "", "text": "", "note": one_line(error)}
    latex, text, note = wrapped(formula), visible(str(formula)), _numbering(formula, derivative, args)
    if len(text) > _LONGEST_TEXT:
        which = f", output={block.number}" if block.number else ""
        text, note = text[:_LONGEST_TEXT] + " …", f"a long formula: .entry({index}, …{which}) gives all of it"
    return {"latex": latex if len(latex) <= MAX_CHARACTERS else "", "text": text, "note": note}


def wrapped(formula: Any) -> str:
    """LaTeX of a sympy expression; a long sum is broken between its terms, for a column that is not wide.

    >>> x, y = sympy.symbols("x y")
    >>> wrapped(x + y), wrapped(sympy.Add(*sympy.symbols("a:z"))).count(r"\\\\")
    ('x + y', 1)
    """
    first, *others = broken([f"&= {expression_latex(formula)}"], _WIDEST)
    rows = [first.replace("&= ", "& ", 1), *others]
    return aligned(rows) if others else expression_latex(formula)


def _numbering(formula: sympy.Basic, derivative: JacobianFunction, args: tuple) -> str:
    """How the numbers in the names of entries count, where they are of an array of several axes."""
    for name, value in zip(argument_names(derivative.fn, len(args)), args, strict=True):
        count = np.size(value) if np.ndim(value) > 1 else 1
        numbered = re.compile(re.escape(name) + r"\d+")
        if count > 1 and any(numbered.fullmatch(str(s)) for s in formula.free_symbols):
            place = ", ".join(map(str, np.unravel_index(1, np.shape(value))))
            return f"in formulas entries are counted row by row: {name}1 is {name}[{place}]"
    return ""


def spelled(value: float, digits: int) -> str:
    """A value to so many digits.

    >>> spelled(-1 / 3, 4), spelled(float("-inf"), 4), spelled(float("nan"), 4)
    ('-0.3333', '-∞', 'NaN')
    """
    return f"{value:.{digits}g}".replace("inf", "∞").replace("nan", "NaN")


def contributions(
    derivative: JacobianFunction, block: Block, place: tuple[int, int], args: tuple, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The source of the function with what flows through each line, and the paths as numbers of these lines."""
    try:
        found = derivative.contributions(block.index(*place), *args, output=block.number, **kwargs)
    except Exception as error:
        return {"files": [], "paths": [], "note": one_line(error)}
    return as_listing(derivative.fn, found)


def as_listing(fn: Callable, found: Contributions) -> dict[str, Any]:
    """``files`` (``name``, and ``lines`` with ``id``, ``number``, ``text`` and, where it contributes, its share), and
    ``paths``, each a list of ids from the input to the output.
    """
    shares = {share.line: share for share in found.lines}
    named = [*shares, *(line for path in found.paths for line in path)]
    largest = max((share.size for share in found.lines), default=0.0)
    ids: dict[SourceLine, int] = {}
    files = []
    for file, listed in _listed(fn, named):
        lines = []
        for line, text in listed:
            ids[line] = len(ids)
            row: dict[str, Any] = {"id": ids[line], "number": line.number, "text": visible(text)}
            share = shares.get(line)
            if share is not None:
                row["flow"] = spelled(share.flow, 4)
                row["size"] = spelled(share.size, 4)
                row["sign"] = (share.flow > 0) - (share.flow < 0)
                # not finite where the entry is not: then all count alike
                row["width"] = share.size / largest if 0 < share.size / largest <= 1 else 1.0
                row["labels"] = [visible(name) for name in share.labels]
            lines.append(row)
        files.append({"name": _file_name(file), "lines": lines})
    return {"files": files, "paths": [[ids[line] for line in path] for path in found.paths], "note": ""}


def _listed(fn: Callable, named: Sequence[SourceLine]) -> list[tuple[str, list[tuple[SourceLine, str]]]]:
    """By file the lines to show with their text: those of the function itself first, then what it called."""
    own = _source(fn)
    if len(own) > _LONGEST_FUNCTION:
        near = {SourceLine(s.file, s.number + k) for s in named for k in range(-_AROUND, _AROUND + 1)}
        own = {line: text for line, text in own.items() if line in near}
    by_file: dict[str, dict[SourceLine, str]] = {}
    for line, text in own.items():
        by_file.setdefault(line.file, {})[line] = text
    for line in sorted(set(named)):
        by_file.setdefault(line.file, {}).setdefault(line, line.text)
    return [(file, sorted(lines.items())) for file, lines in by_file.items()]


def _source(fn: Callable) -> dict[SourceLine, str]:
    """The lines of the function, without the indentation they have in common; empty where they are not to be had."""
    code = code_of(fn)
    if code is None:
        return {}
    try:
        lines, start = inspect.getsourcelines(code)
    except (OSError, TypeError):
        return {}
    text = textwrap.dedent("".join(lines)).splitlines()
    return {SourceLine(code.co_filename, start + k): line for k, line in enumerate(text)}


def _file_name(file: str) -> str:
    """A file as the user knows it: ``Cell In[3]``, or its name."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    label = shell.compile.format_code_name(file) if shell is not None else None
    return visible(" ".join(map(str, label)) if label else os.path.basename(file))
