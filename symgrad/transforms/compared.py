"""What a derivative is compared with: a function of the same arguments, or sympy expressions in their entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..closed_form.difference import element_pairs, proved_equal, same_at_all_indices
from ..closed_form.entries import entry_names
from ..closed_form.reading.walk import computed
from ..compiled import CompiledFunction
from ..errors import ArgumentError, ArgumentTypeError
from ..named_dims import declared_arguments, declared_like, is_shapes
from ..program.dims import is_concrete
from ..program.program import Program
from ..signature import Call
from ..trace_entry import TraceEntry
from ..tracing.tree import LEAF, flatten
from .rounding import rounding_of
from .sample_points import Leaf, Point

if TYPE_CHECKING:
    from .derived import DerivedFunction

_ELEMENTARY = (sympy.Basic, sympy.NDimArray, sympy.matrices.MatrixBase, int, float, list, tuple, dict, np.ndarray)


@dataclass(frozen=True)
class Examples:
    """Arguments, or trees of ``Declared`` where ``shapes``."""

    args: tuple
    kwargs: dict[str, Any]
    shapes: bool

    def leaves(self) -> tuple[list[Leaf], Any]:
        """What is drawn, and the structure of the arguments."""
        leaves, structure = flatten((tuple(self.args), dict(self.kwargs)))
        return [_shape_leaf(v) if self.shapes else _value_leaf(v) for v in leaves], structure

    def entry(self, compiled: CompiledFunction) -> TraceEntry:
        """The trace for them."""
        if self.shapes:
            return compiled.entry_of_shapes(self.args, self.kwargs)
        return compiled.entry(*self.args, **self.kwargs)


def _shape_leaf(declared: Any) -> Leaf:
    return Leaf(declared.shape, np.dtype(np.float64))


def _value_leaf(value: Any) -> Leaf:
    dtype = np.dtype(float) if type(value) is float else getattr(value, "dtype", None)
    if dtype is None or dtype.kind != "f":
        return Leaf((), np.dtype(object), value, drawn=False)
    return Leaf(np.shape(value), dtype, value)


def examples_of(derived: DerivedFunction, entry: TraceEntry, args: tuple, kwargs: dict[str, Any]) -> Examples:
    if is_shapes(args, kwargs):
        return Examples(*declared_arguments(derived.fn, args, kwargs), shapes=True)
    if args or kwargs:
        return Examples(args, kwargs, shapes=False)
    if derived.declaration is not None:
        return Examples(*derived.declaration.complete("equals"), shapes=True)
    names = entry.argument_names  # of the latest call, as far as a trace tells
    inputs = entry.program.inputs[: len(names)]
    if any(len(own) != 1 for own in names) or any(n.dtype != np.float64 for n in inputs):
        raise ArgumentError("equals: pass the arguments, near which the functions are to be compared.")
    declared = [declared_like(own[0], n.shape) for own, n in zip(names, inputs, strict=True)]
    count = len(names) - len(entry.keywords)
    return Examples(tuple(declared[:count]), dict(zip(entry.keywords, declared[count:], strict=True)), shapes=True)


class Other:
    """What a derivative is compared with: a function, or sympy expressions in the entries of the inputs."""

    def __init__(self, other: Any, entry: TraceEntry) -> None:
        self._function: Callable | None = None
        self._expressions: list[np.ndarray] = []
        self._entry = entry
        if isinstance(other, _ELEMENTARY):
            self._expressions = self._read(other, entry)
        elif callable(other):
            self._function = other
        else:
            raise ArgumentTypeError(
                f"equals: pass another derivative, a function of the same arguments or sympy expressions, got a "
                f"{type(other).__name__}."
            )
        self._traced: TraceEntry | None = None
        self._compiled: CompiledFunction | None = None

    def programs(self, examples: Examples) -> list[Program]:
        """Its program, where it is a function that can be traced."""
        if self._function is None:
            return []
        readable = getattr(self._function, "_readable", None)
        compiled = (
            CompiledFunction(self._function, self._function, "numpy", cache=False)
            if readable is None
            else readable()._compiled
        )
        try:
            self._traced = examples.entry(compiled)
        except Exception:  # whatever a function does with traced values; it is called with arrays then
            return []
        self._compiled = compiled
        return [self._traced.readable]

    def rounding(self, point: Point) -> list[np.ndarray] | None:
        """How far rounding moves each array of the result; None where that is not known."""
        return None if self._compiled is None else rounding_of(self._compiled, point.args, point.kwargs)

    def is_comparable(self, entry: TraceEntry) -> bool:
        """True where a formula of either holds for all values: it has taken no branch on them."""
        if entry.taken:
            return False
        return self._function is None or (self._traced is not None and not self._traced.taken)

    def proof(self, program: Program, seconds: float) -> bool:
        """Whether algebra shows ``program`` to compute the same."""
        if self._traced is None:
            pairs = element_pairs(program, self._expressions)
        else:
            own = self._traced.readable
            if len(own.outputs) != len(program.outputs) or len(own.inputs) != len(program.inputs):
                return False
            if same_at_all_indices(program, own, seconds / 2):
                return True
            pairs = element_pairs(program, own)
        return pairs is not None and proved_equal(pairs, seconds)

    def __call__(self, point: Point) -> Any:
        if self._function is not None:
            return self._function(*point.args, **point.kwargs)
        entry = self._entry
        arrays = entry.arguments(Call(point.args, point.kwargs).read().leaves)
        known: dict[Any, Any] = {}
        for names, array in zip(entry_names(entry.program), arrays, strict=True):
            known |= {sympy.Symbol(n, real=True): float(v) for n, v in zip(names, np.ravel(array), strict=True)}
        made = []
        for elements in self._expressions:
            with np.errstate(all="ignore"):
                values = computed(list(elements.ravel()), {s: np.float64(v) for s, v in known.items()}, lambda _: None)
            made.append(np.reshape(np.array(values, float), elements.shape))
        return entry.filled(made)

    def _read(self, other: Any, entry: TraceEntry) -> list[np.ndarray]:
        """The expressions of each array of the result, in the symbols of entries."""
        program = entry.program
        if not all(is_concrete(n.shape) for n in (*program.inputs, *program.outputs)):
            raise ArgumentError("equals: sympy expressions are of entries, so pass arrays or sizes, not named dims.")
        symbols = {n: sympy.Symbol(n, real=True) for names in entry_names(program) for n in names}
        arrays = iter([o.shape for o in program.outputs])
        made: list[np.ndarray] = []
        pending = [(entry.structure, other)]
        while pending:
            structure, given = pending.pop()
            if structure == LEAF:
                made.append(_elements(given, next(arrays), symbols))
                continue
            children = structure[-1]
            parts = list(given.values()) if isinstance(given, dict) else given
            if not isinstance(parts, (list, tuple)) or len(parts) != len(children):
                raise ArgumentError(
                    f"equals: the result is a {structure[0]} of {len(children)}; pass expressions for each."
                )
            pending += reversed(list(zip(children, parts, strict=True)))
        return made


def _elements(given: Any, shape: tuple, symbols: dict[str, Any]) -> np.ndarray:
    """Expressions for an array of this shape."""
    listed = given.tolist() if isinstance(given, (sympy.NDimArray, sympy.matrices.MatrixBase)) else given
    array = np.array(listed, dtype=object)
    if array.shape != shape and array.size == int(np.prod(shape)) and isinstance(given, sympy.matrices.MatrixBase):
        array = array.reshape(shape)
    if array.shape != shape:
        raise ArgumentError(f"equals: the result has shape {shape}, and the expressions {array.shape}.")
    made = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        e: Any = sympy.sympify(array[place])
        unknown = sorted({s.name for s in e.free_symbols if s.name not in symbols})
        if unknown:
            listed = ", ".join(list(symbols)[:12]) + (", …" if len(symbols) > 12 else "")
            raise ArgumentError(f"equals: there is no entry called {', '.join(unknown)}; the entries are {listed}.")
        made[place] = e.xreplace({s: symbols[s.name] for s in e.free_symbols})
    return made
