"""What a derivative shows of itself: its formulas in every form, single entries, the chain rule line by line."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..closed_form.agreement import Agreement
from ..closed_form.agreement import agreement as agreement_of
from ..closed_form.budget import BUDGET, fits, require, without_loops
from ..closed_form.choice import element_forms, formulas_in, is_faster
from ..closed_form.choice import formulas as formulas_of
from ..closed_form.derivation.steps import MAX_LINES, Steps
from ..closed_form.entries import entry_at
from ..closed_form.formulas import Formulas
from ..closed_form.latex import MAX_CHARACTERS, aligned
from ..closed_form.local_names import named_formulas
from ..errors import ArgumentError, UnsupportedOperation
from ..kernels.kernel import lower
from ..passes.unrolling import has_loops, steps_in
from ..program.dims import is_concrete
from ..program.program import Program
from ..tracing.local_names import has_names
from ..tracing.trace import Purpose
from .conditions import branches_told
from .steps import steps_of

if TYPE_CHECKING:
    from ..trace_entry import Result, TraceEntry
    from .derived import DerivedFunction

#: nodes of a function whose values are called by their names in its code
_MAX_NAMED = 300
#: operations, of all steps together, of a function that is traced once more to know these names
_MAX_RECORDED = 5000
#: operations of a formula in which the steps of a loop that was found may stand one in another
_MAX_STRAIGHT = 300
_FORMS = ("auto", "entries", "index", "matrix", "recurrence")


def closed_form(derived: DerivedFunction, *args: Any, form: str = "auto", budget: int = BUDGET, **kwargs: Any) -> Any:
    """The derivative as sympy, in the structure of the result.

    ``form="entries"`` gives for each array a ``sympy.Array`` (a scalar expression for one of shape
    ``()``) in the entries ``x0, x1, …`` of the inputs, numbered row by row. ``form="index"``
    gives the element at free indices ``i, j, …`` (counting from 0), with sums as ``sympy.Sum``.
    ``auto`` takes entries for small arrays. ``form="matrix"`` gives a MatrixForm, a formula in matrix
    notation with ``text``, ``latex`` and ``evaluate``. ``form="recurrence"``, which ``auto`` takes where
    there are loops (``scan``), gives what a step computes, for all results together, with ``text`` and
    ``latex``. Raises ClosedFormTooLarge, before anything is expanded, where the form would have more than
    ``budget`` operations, or where there is none.

    >>> import numpy as np
    >>> from symgrad import grad
    >>> grad(lambda x, y: x**2 * y).closed_form(1.0, 2.0)
    2*x*y
    >>> grad(lambda x, A: x @ A @ x).closed_form(np.ones(9), np.ones((9, 9)), form="matrix")
    (A + Aᵀ)x
    """
    if checked_form(form) in ("auto", "recurrence"):
        entry = shown_entry(derived, args, kwargs)
    else:
        entry = derived._readable()._entry(args, kwargs)
    program = entry.readable
    told = None
    if form == "recurrence":
        told = formulas_in(program, form, budget)
    elif form == "auto" and has_loops(program):
        told = _of_loops(entry, program, budget)
    if told is not None and told.kind == "recurrence":
        return told.forms[0].labelled(derived.labels(entry))
    if form == "matrix":
        return entry.filled(formulas_in(program, form, budget).forms)
    if form == "entries" and not all(is_concrete(n.shape) for n in (*program.inputs, *program.nodes)):
        raise ArgumentError('form="entries" writes out every element, which needs sizes; form="index" needs none.')
    made = element_forms(program, form, budget)
    return entry.filled(made)


def checked_form(form: Any) -> str:
    """``form`` where it is one that formulas have."""
    if not isinstance(form, str) or form not in _FORMS:
        raise ArgumentError(f"form={form!r} is unknown; choose one of {', '.join(map(repr, _FORMS))}.")
    return form


def entry(
    derived: DerivedFunction,
    index: int | tuple[int, ...],
    *args: Any,
    output: int = 0,
    budget: int = BUDGET,
    **kwargs: Any,
) -> sympy.Basic:
    """One entry of the derivative as sympy, at ``index`` of the array number ``output``, counted from 0.

    Where the sums in it are short they are written out in the entries ``x0, x1, …`` of the inputs, numbered
    row by row, as in ``closed_form(form="entries")``; long ones stay sums over ``x[i, j]``. No other
    entry is built, so it may be one of a large array.

    >>> import numpy as np, symgrad
    >>> h = symgrad.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))
    >>> h.entry((0, 1), np.ones(3)), h.entry((0, 2))
    (2*x0, 0)
    """
    entry = derived._readable()._entry(args, kwargs)
    program = without_loops(entry.readable)
    arrays = entry.arrays_of(program.outputs)
    if not 0 <= output < len(arrays):
        raise ArgumentError(f"entry: output={output}, and the result has {len(arrays)} arrays.")
    node = arrays[output]
    place = checked_index(index, node.shape)
    require(program.with_outputs([node]), False, budget)
    return entry_at(program, node, place)


def checked_index(index: Any, shape: tuple) -> tuple[int, ...]:
    """``index`` as whole numbers from 0, within ``shape``."""
    place = index if isinstance(index, tuple) else (index,)
    if len(place) != len(shape) or not all(isinstance(k, (int, np.integer)) for k in place):
        raise ArgumentError(f"entry: the array has shape {shape}; name one entry by {len(shape)} whole numbers.")
    if any(isinstance(d, int) and not -d <= k < d for k, d in zip(place, shape, strict=True)):
        raise ArgumentError(f"entry: {tuple(place)} is outside the array of shape {shape}.")
    return tuple([int(k) if k >= 0 else int(k) + d for k, d in zip(place, shape, strict=True)])


def latex(derived: DerivedFunction, *args: Any, budget: int = BUDGET, **kwargs: Any) -> str:
    """The derivative as LaTeX: a formula an output, let-bound lines where that would be too large."""
    return aligned(latex_rows(derived, *args, budget=budget, **kwargs))


def latex_rows(derived: DerivedFunction, *args: Any, budget: int = BUDGET, **kwargs: Any) -> list[str]:
    """The rows ``name &= formula`` that ``latex`` aligns."""
    return formulas(derived, *args, budget=budget, **kwargs).shown_rows()


def formulas(derived: DerivedFunction, *args: Any, budget: int = BUDGET, **kwargs: Any) -> Formulas:
    """The arrays of the result as formulas in the form that reads best, which ``latex`` shows; to print, or to show.

    Values that the function's code names are called so where that is shorter, and ``where`` says what they are. Of a
    function that branches on values ``if`` says where they hold.

    >>> import numpy as np, symgrad
    >>> print(symgrad.grad(lambda w, X: np.sum((X @ w) ** 2)).formulas(np.ones(20), np.ones((50, 20))))
    ∂f/∂w = 2XᵀXw
    """
    entry = shown_entry(derived, args, kwargs)
    return formulas_in_names(entry, entry, budget).labelled(derived.labels(entry), branches_told(entry))


def shown_entry(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> TraceEntry:
    """The trace for these arguments, or the latest one; of a function that is not long one that knows its names.

    For these the function runs once more; what it prints then it has printed before.
    """
    readable = derived._readable()
    entry = readable._entry(args, kwargs)
    is_latest = not args and not kwargs and readable.declaration is None
    if is_latest or entry.is_for(Purpose.FORMULAS) or _is_long(entry) or not has_names(derived.underlying):
        return entry
    with contextlib.redirect_stdout(io.StringIO()):
        return derived._recorded(args, kwargs, Purpose.FORMULAS)[0]


def _is_long(entry: TraceEntry) -> bool:
    try:
        return steps_in(entry.program) > _MAX_RECORDED
    except UnsupportedOperation:  # as many as a name says
        return False


def formulas_beside(
    entry: TraceEntry, results: Sequence[Result], budget: int = BUDGET, characters: int = MAX_CHARACTERS
) -> list[Formulas]:
    """``formulas_in_names`` of results that stand beside each other: what one has a name for the others call so too."""
    found = [formulas_in_names(entry, result, budget, characters) for result in results]
    names = {name for f in found for name, _ in f.where}
    for k, result in enumerate(results):
        if names > {name for name, _ in found[k].where} and found[k].kind not in ("recurrence", "let-bound"):
            again = formulas_in_names(entry, result, budget, characters, names)
            found[k] = again if again.kind != "let-bound" and again.own_cost <= found[k].own_cost else found[k]
    return found


def formulas_in_names(
    entry: TraceEntry,
    result: Result,
    budget: int = BUDGET,
    characters: int = MAX_CHARACTERS,
    wanted: Collection[str] | None = None,
) -> Formulas:
    """The formulas of the trace ``entry``, or of what the function gave in it, in the names of the function's code.

    Those names are taken that make them short, or those that are ``wanted``. What was told once is kept: a cell, the
    object on its last line and ``latex`` ask for the same.
    """
    key = (entry.program, budget, characters, None if wanted is None else frozenset(wanted))
    if key not in result.told:
        result.told[key] = _in_names(entry, result, budget, characters, wanted)
    return result.told[key]


def _in_names(
    entry: TraceEntry, result: Result, budget: int, characters: int, wanted: Collection[str] | None
) -> Formulas:
    inside = set(result.program.nodes)
    if has_loops(result.program):
        return _of_loops(entry, result.readable, budget, characters)
    if len(inside) > _MAX_NAMED:
        return formulas_of(result.readable, budget, characters)
    names = {node: name for node, name in entry.local_names.items() if node in inside}
    if not names:
        return formulas_of(result.readable, budget, characters)
    program, nodes = result.readable_with(list(names))
    return named_formulas(program, dict(zip(nodes, names.values(), strict=True)), budget, characters, wanted)


def _of_loops(entry: TraceEntry, program: Program, budget: int, characters: int = MAX_CHARACTERS) -> Formulas:
    """The formulas of a program with loops: of loops that were found, and are short, those of their steps may win."""
    told = formulas_of(program, budget, characters, frozenset(entry.local_names.values()))
    if not entry.trace.has_loops or not fits(program, False, _MAX_STRAIGHT):
        return told
    straight = formulas_of(without_loops(program), budget, characters)
    return straight if straight.kind != "let-bound" and is_faster(straight, told) else told


def agreement(derived: DerivedFunction, *args: Any, **kwargs: Any) -> Agreement:
    """How closely the closed forms agree with the kernel at these arrays, each evaluated on its own.

    The matrix and the entry form are compared everywhere, the index form at a few places.

    >>> import numpy as np, symgrad
    >>> gradient = symgrad.grad(lambda w, X: np.sum((X @ w) ** 2))
    >>> gradient.agreement(np.ones(2), np.ones((3, 2)))
    matrix form:  agrees with the kernel to 0.0e+00
    entries form: agrees with the kernel to 0.0e+00
    index form:   agrees with the kernel to 0.0e+00
    """
    entry, arrays = derived._readable()._served(args, kwargs)
    read = shown_entry(derived, args, kwargs).readable
    shown = read if has_loops(read) else formulas_in(read, "auto").program  # maybe a shorter one of the same values
    return agreement_of(shown, arrays, lower(entry.readable, "numpy")(*arrays))


def steps(
    derived: DerivedFunction, *args: Any, mode: str | None = None, budget: int = MAX_LINES, **kwargs: Any
) -> Steps:
    """The chain rule as a person would write it, one step a line, for these arguments (or shapes as text).

    First the function's own lines, in the names of its local variables where it has some; then the derivative
    through each of them by the rules that symgrad differentiates with, last line first in reverse mode
    (``w̄`` is the derivative of the output by ``w``), first line first in forward mode (``ẋ`` is the change of
    ``x``); then the derivative put together. ``mode`` is that of the derivative where it is None. Of more than
    ``budget`` lines those in the middle are left out when it is shown. See ``Steps``, and ``Step.why``.

    >>> import numpy as np
    >>> from symgrad import grad
    >>> def loss(w, X):
    ...     r = X @ w
    ...     return np.sum(np.sin(r))
    >>> print(grad(loss).steps("d", "n d"))
    grad(loss), reverse mode
    <BLANKLINE>
    The function
      r = Xw                shape (n,)
      v₁ = sin(r)           shape (n,)
      f = sum(v₁)
    <BLANKLINE>
    The chain rule, from the output back; x̄ is the derivative by x
      f̄ = 1                 the output by itself
      v̄₁ = f̄𝟏               a sum: each term counts alike
      r̄ = v̄₁ ⊙ cos(r)       chain rule through sin
      w̄ = Xᵀr̄               linear in w: multiply by the transpose of the other factor
    <BLANKLINE>
    Put together
      ∂f/∂w = Xᵀ cos(Xw)
    """
    return steps_of(derived, args, kwargs, mode, budget)
