"""Subject: the function that a panel is open on, its arguments, and what may be differentiated by."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.closed_form.choice import formulas, formulas_in
from symgrad.compiled import CompiledFunction
from symgrad.errors import ClosedFormTooLarge, SymgradError
from symgrad.named_dims import argument_names
from symgrad.nn import Cell
from symgrad.program.dims import is_concrete
from symgrad.program.program import Program
from symgrad.tensor import Parameter
from symgrad.trace_entry import TraceEntry
from symgrad.tracing.local_names import binding_count
from symgrad.tracing.provenance import SourceLine
from symgrad.tracing.tree import flatten, unflatten
from symgrad.transforms.intermediates import intermediates_of, stopping
from symgrad.transforms.positions import check_differentiable

#: how much longer entries may be than what reads best
_NEARLY = 1.1


@dataclass(frozen=True)
class Output:
    """An array that the function returns."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class Subject:
    """A function or Cell with example arguments, and what was learnt from its trace.

    ``parameters`` are those of the Cell, or those that a function reads; ``outputs`` counts what the function
    returns side by side, ``result`` holds its arrays in their structure; ``small``: formulas are by entries.
    """

    function: Callable
    args: tuple
    kwargs: Mapping[str, Any]
    names: tuple[str, ...]
    differentiable: tuple[bool, ...]
    parameters: tuple[Parameter, ...]
    stoppable: Mapping[str, SourceLine]
    outputs: int
    result: Any
    branches: bool
    small: bool
    backend: str = "auto"
    _held: dict[tuple[str, ...], Callable] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        function: Callable,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        parameters: Sequence[Parameter] = (),
        backend: str = "auto",
        traced: TraceEntry | None = None,
    ) -> Subject:
        """Trace ``function`` at these arguments; ``parameters`` are some to list besides those it reads.

        ``traced`` is the recorded trace of a derivative of it, where there is one.

        >>> def f(x, n):
        ...     h = x**n
        ...     return h, x
        >>> found = Subject.of(f, (2.0, 3))
        >>> found.names, found.differentiable, found.outputs, list(found.stoppable)
        (('x', 'n'), (True, False), 2, ['h'])
        """
        own = dict(kwargs or {})
        entry = traced or CompiledFunction(function, function, cache=False).recorded(*args, **own)[0]
        held = list(function.get_parameters()) if isinstance(function, Cell) else entry.parameters
        known = {id(p): p for p in (*held, *parameters)}
        result = entry.value.filled([Output(n.shape, n.dtype) for n in entry.value.program.outputs])
        return cls(
            function,
            tuple(args),
            own,
            tuple(argument_names(function, len(args))),
            tuple(map(_is_differentiable, args)),
            tuple(p for p in known.values() if p.dtype.kind == "f"),
            intermediates_of(entry),
            len(result) if isinstance(result, (tuple, list)) else 1,
            result,
            bool(entry.taken),
            _is_small(entry.value.readable),
            backend,
        )

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the arrays that the function returns."""
        return [leaf.shape for leaf in flatten(self.result)[0] if isinstance(leaf, Output)]

    def held(self, names: tuple[str, ...]) -> Callable:
        """The function with these intermediates held constant; the same object for the same names."""
        if not names:
            return self.function
        if names not in self._held:
            self._held[names] = stopping(self.function, names)
        return self._held[names]

    def is_bound_again(self, name: str) -> bool:
        """True where several places of the function bind this local."""
        return binding_count(self.function, name) > 1

    def ones(self) -> Any:
        """The sens that weighs every output by one."""
        leaves, structure = flatten(self.result)
        return unflatten(structure, [_ones(v) for v in leaves])


def _ones(output: Any) -> Any:
    return np.ones(output.shape, output.dtype) if isinstance(output, Output) and output.shape else 1.0


def _is_small(program: Program) -> bool:
    """Whether the formula of a function is by entries, or reads as well by these."""
    made = formulas(program)
    if made.kind != "matrix" or not all(is_concrete(n.shape) for n in (*program.inputs, *program.nodes)):
        return made.kind == "entries"
    with contextlib.suppress(ClosedFormTooLarge):
        return formulas_in(program, "entries").reading_cost <= _NEARLY * made.reading_cost
    return False


def _is_differentiable(value: Any) -> bool:
    with contextlib.suppress(SymgradError):
        check_differentiable(value, "argument", "panel")
        return True
    return False
