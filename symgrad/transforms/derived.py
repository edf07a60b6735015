"""DerivedFunction: what every transformation returns; it runs, and it shows itself.

Called with arrays it traces once, derives, compiles and runs; called inside a trace (a function being
differentiated, a Cell) it builds its derivative into that trace, so any order is composition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from ..closed_form.budget import BUDGET, require
from ..closed_form.entries import entry_at, entry_forms
from ..closed_form.index_form import index_forms
from ..closed_form.latex import aligned, formula_rows, prefers_entries
from ..compiled import CompiledFunction, Entry, is_tracing
from ..context import is_graph_mode
from ..errors import ArgumentError
from ..kernels.kernel import Kernel, optimized
from ..primitives.contraction import contract
from ..primitives.elementwise import cast
from ..primitives.primitive import Captured, constant, literal
from ..program.node import Node, emit
from ..program.program import Program
from ..tracing.tree import unflatten


class DerivedFunction:
    """Base of the derivatives; subclasses say what they derive in ``_derive``."""

    def __init__(self, fn: Callable, backend: str) -> None:
        self.fn = fn
        self.backend = backend
        self.__name__ = f"{self.verb}({getattr(fn, '__name__', type(fn).__name__)})"
        self.__doc__ = getattr(fn, "__doc__", None)
        self._compiled = CompiledFunction(self._derive_fresh, fn, backend)

    verb = "derived"

    def _derive(self, args: tuple, kwargs: dict[str, Any], fresh: bool) -> Any:
        """The derivative on traced values; ``fresh`` where the arguments are inputs of the trace."""
        raise NotImplementedError

    def _check(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Refuse bad arguments before anything is traced."""

    def _derive_fresh(self, *args: Any, **kwargs: Any) -> Any:
        return self._derive(args, kwargs, fresh=True)

    def _guarded(self) -> dict[str, Any]:
        return {"fn": self.fn}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._check(args, kwargs)
        if is_tracing(args):
            return self._derive(args, kwargs, fresh=False)
        if not is_graph_mode():
            return CompiledFunction(self._derive_fresh, self.fn, self.backend, cache=False)(*args, **kwargs)
        return self._compiled(*args, **kwargs)

    def _entry(self, args: tuple, kwargs: dict[str, Any]) -> Entry:
        latest = self._compiled.latest
        if args or kwargs or latest is None:
            self._check(args, kwargs)
            return self._compiled.entry(*args, **kwargs)
        return latest

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The derived Program for these arguments, let-bound."""
        return optimized(self._entry(args, kwargs).program)

    def kernel(self, *args: Any, **kwargs: Any) -> Kernel:
        """The kernel that serves these arguments; see its ``source`` and ``backend``."""
        return self._entry(args, kwargs).kernel

    def closed_form(self, *args: Any, form: str = "auto", budget: int = BUDGET, **kwargs: Any) -> Any:
        """The derivative as sympy, in the structure of the result.

        ``form="entries"`` gives for each array a ``sympy.Array`` (a scalar expression for one of shape
        ``()``) in the entries ``x1, x2, …`` of the inputs, numbered row by row from 1. ``form="index"``
        gives the element at free indices ``i, j, …`` (counting from 0), with sums as ``sympy.Sum``.
        ``auto`` takes entries for small arrays. Raises ClosedFormTooLarge, before anything is expanded,
        where the form would have more than ``budget`` operations.

        >>> from symgrad import grad
        >>> grad(lambda x, y: x**2 * y).closed_form(1.0, 2.0)
        2*x*y
        """
        entry = self._readable()._entry(args, kwargs)
        program = optimized(entry.program)
        if form not in _FORMS:
            raise ArgumentError(f"form={form!r} is unknown; choose one of {', '.join(map(repr, _FORMS))}.")
        entries = form == "entries" or (form == "auto" and prefers_entries(program, budget))
        require(program, entries, budget)
        if entries:
            made = [sympy.Array(e) if e.ndim else e.item() for e in entry_forms(program)]
        else:
            made = [element for _, element in index_forms(program)]
        return unflatten(entry.structure, [made[v] if is_array else v for is_array, v in entry.slots])

    def entry(
        self, index: int | tuple[int, ...], *args: Any, output: int = 0, budget: int = BUDGET, **kwargs: Any
    ) -> sympy.Basic:
        """One entry of the derivative as sympy, at ``index`` of the array number ``output``, counted from 0.

        Where the sums in it are short they are written out in the entries ``x1, x2, …`` of the inputs, numbered
        from 1 row by row, as in ``closed_form(form="entries")``; long ones stay sums over ``x[i, j]``. No other
        entry is built, so it may be one of a large array.

        >>> import numpy as np, symgrad
        >>> h = symgrad.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))
        >>> h.entry((0, 1), np.ones(3)), h.entry((0, 2))
        (2*x1, 0)
        """
        entry = self._readable()._entry(args, kwargs)
        program = optimized(entry.program)
        arrays = [v for is_array, v in entry.slots if is_array]
        if not 0 <= output < len(arrays):
            raise ArgumentError(f"entry: output={output}, and the result has {len(arrays)} arrays.")
        node = program.outputs[arrays[output]]
        place = checked_index(index, node.shape)
        require(program.with_outputs([node]), False, budget)
        return entry_at(program, node, place)

    def _readable(self) -> DerivedFunction:
        """The function whose forms show this one."""
        return self

    def latex(self, *args: Any, budget: int = BUDGET, **kwargs: Any) -> str:
        """The derivative as LaTeX: a formula an output, let-bound lines where that would be too large."""
        return aligned(self.latex_rows(*args, budget=budget, **kwargs))

    def latex_rows(self, *args: Any, budget: int = BUDGET, **kwargs: Any) -> list[str]:
        """The rows ``name &= formula`` that ``latex`` aligns."""
        entry = self._readable()._entry(args, kwargs)
        return formula_rows(optimized(entry.program), self.labels(entry), budget)

    def result_shapes(self, *args: Any, **kwargs: Any) -> tuple[Any, list[tuple | None]]:
        """The structure of the result, and the shape of each leaf (None for one that is not an array)."""
        entry = self._readable()._entry(args, kwargs)
        outputs = entry.program.outputs
        return entry.structure, [outputs[v].shape if is_array else None for is_array, v in entry.slots]

    def labels(self, entry: Entry) -> list[str]:
        """LaTeX names of the outputs."""
        count = len(entry.program.outputs)
        return [r"\mathrm{out}"] if count == 1 else [rf"\mathrm{{out}}_{{{k}}}" for k in range(count)]

    def _repr_latex_(self) -> str | None:
        """The closed form of the latest call; nothing before the first."""
        if self._readable()._compiled.latest is None:
            return None
        return rf"$\displaystyle {self.latex()}$"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if self._compiled.latest is not None:
            bundle = {"text/plain": f"{self!r}\n{self.program()}", "text/latex": self._repr_latex_() or ""}
        return bundle

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def checked_index(index: Any, shape: tuple) -> tuple[int, ...]:
    """``index`` as whole numbers from 0, within ``shape``."""
    place = index if isinstance(index, tuple) else (index,)
    if len(place) != len(shape) or not all(isinstance(k, (int, np.integer)) for k in place):
        raise ArgumentError(f"entry: the array has shape {shape}; name one entry by {len(shape)} whole numbers.")
    if any(isinstance(d, int) and not -d <= k < d for k, d in zip(place, shape, strict=True)):
        raise ArgumentError(f"entry: {tuple(place)} is outside the array of shape {shape}.")
    return tuple([int(k) if k >= 0 else int(k) + d for k, d in zip(place, shape, strict=True)])


_FORMS = ("auto", "entries", "index")


def finished(node: Node | None, like: Node) -> Node:
    """A derivative as a result: of ``like``'s shape and dtype, zeros where it is None."""
    return finished_as(node, like.shape, like.dtype)


def finished_as(node: Node | None, shape: tuple, dtype: np.dtype) -> Node:
    """A derivative as a result of this shape and dtype."""
    if node is None:
        node = literal(0.0)
    if node.shape != shape:
        labels = tuple(range(len(shape)))
        node = contract([node], [()], labels, shape)
    if node.is_literal:
        return constant(Captured(np.asarray(node.params[0], dtype)))
    if node.weak:
        from ..primitives.elementwise import CAST

        return emit(CAST, (node,), (np.dtype(dtype),))
    return cast(node, dtype)
