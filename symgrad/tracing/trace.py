"""Trace: the state of one run of a function on traced values.

A trace owns the graph, the inputs with their concrete values (where there are any), what was captured
from outside, and the guards: the branches that were taken on values. It is active only inside
``with trace:``; a failed run leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import sympy

from ..errors import CONTRACT, ShapeError, TracingError, apart_from_refusals, astray, refusals, without_trace
from ..primitives.casting import CAST, cast
from ..primitives.loop import STEP
from ..primitives.primitive import EXAMPLE, Constant, Literal, input_node, literal
from ..primitives.selection import concatenate
from ..primitives.shaping import reshape
from ..program.dims import Dim, Shape, is_concrete, is_named, value_of
from ..program.interpret import decided, evaluated, rebuilt, walk
from ..program.node import Graph, Node, ancestors, deactivate, emit, no_graph
from .captured import Constants
from .error_settings import Settings
from .left_out import LeftOut
from .plain_arrays import checked_dtype, listed_array
from .provenance import ProvenanceTable, SourceLine


class _Thread(threading.local):
    """What runs in this thread."""

    trace: Trace | None = None


_state = _Thread()


class Purpose(Enum):
    """What a trace is made for.

    One for ``FORMULAS`` knows the names in the user's code, and its loops are operations from a few steps on; one for
    ``LINES`` knows the line of each step too, which is an operation of its own.
    """

    RUN = "run"
    LINES = "lines"
    FORMULAS = "formulas"


class Binding(NamedTuple):
    """A local name of the function, the line that bound it, and the traced value, with its node at that time."""

    name: str
    line: SourceLine
    value: Any
    node: Node


class Trace:
    """One tracing run.

    ``values`` maps inputs to what they hold in this run; those with named dims hold nothing. ``sizes`` is what
    named dims are in this run, or None where nobody knows.
    """

    def __init__(
        self,
        sizes: Mapping[sympy.Symbol, int] | None = None,
        purpose: Purpose = Purpose.RUN,
        recorded_inside: CodeType | None = None,
    ) -> None:
        """``recorded_inside``: record the lines of the user that each node comes from, those that this code calls."""
        self.purpose = purpose
        self._recorded_inside = recorded_inside
        self.graph = Graph()
        if recorded_inside is not None:
            self.graph.table = ProvenanceTable(self.graph, recorded_inside)
        self.values: dict[Node, Any] = {}
        self.sizes = self.graph.sizes
        self.sizes.sizes = sizes
        self.parameters: dict[int, tuple[Any, Node]] = {}
        self.branches: list[tuple[Node, Any]] = []
        self.keys: set[Node] = set()  # those of them that something was looked up by
        self.written: set[Node] = set()  # the inputs that the function has written into
        self.lying: dict[Node, bool] = {}  # whether what was asked about lies in memory row after row
        self.subject: Any = None  # the function that the trace is of, and what says what it gave, in a derivative's
        self.value: Callable[[], Any] | None = None
        self.run: Any = None  # what a derivative differentiates, and what it derived, for what is asked about it later
        self.derivation: Any = None
        self.bindings: list[Binding] = []
        self._listed: dict[Node, str] = {}
        self.follow: Callable[[Callable], Callable] | None = None  # makes functions whose calls are followed, if any
        self.without_source: set[CodeType] = set()  # of functions whose calls could not be followed
        self.locals: Any = None  # the arrays that the function has made, where its calls are followed
        self.operands: dict[int, Any] = {}  # the DataFrames and sparse matrices that it has made, by identity
        self.sparse: dict[int, tuple[Any, ...]] = {}  # what stands for matrices of scipy, by their identity
        self.texts: list[str] = []  # those of numbers that have a slope
        self.derived_by: set[Node] = set()  # what derivatives were taken by in it, which are done
        self.loops: dict[Any, Any] = {}  # those that were found again, by their form
        self.has_loops = False  # whether any were
        self.left_out = LeftOut()
        self.looked_outside: set[str] = set()  # the files, folders, connections and processes that the function opened
        self._wrt: dict[Node, bool] = {}  # what is differentiated by, and whether what was asked about depends on it
        self._is_derivative = False
        self._slopes: dict[Node, bool] = {}  # whether a derivative may flow through what was asked about
        self.error_settings = Settings()
        self.refusal: tuple[Any, Exception] | None = None  # the last call of a library that was refused, and its step
        self.outside: dict[Node, Node] = {}  # what a checkpointed function is given, and what it stands for
        self._constants = Constants()
        self._outer: Trace | None = None

    def __enter__(self) -> Trace:
        self._outer = current()
        _state.trace = self
        self.graph.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.refusal = None  # it holds frames
        self.graph.__exit__(*exc)
        _state.trace = self._outer

    def anew(self) -> Trace:
        """A trace of the same function for the same sizes, before it has run."""
        return Trace(self.sizes.sizes, self.purpose, self._recorded_inside)

    def let_go(self) -> None:
        """Hold on to no array: the run has ended."""
        self.values = {}
        self.locals = None
        self.operands = {}
        self._constants = Constants()

    def bind(self, name: str, line: SourceLine, value: Any) -> None:
        """Note that the function binds a local name to a traced value."""
        self.bindings.append(Binding(name, line, value, value._symgrad_node))

    def bind_items(self, name: str, values: Sequence[Node]) -> None:
        """Note the traced values in a list or an array that a local name stands for."""
        self._listed.update(dict.fromkeys(values, name))

    @property
    def called(self) -> dict[Node, str]:
        """The names that the function's code gives to values first; none where the trace is to run."""
        return {binding.node: binding.name for binding in reversed(self.bindings) if not binding.node.is_leaf}

    @property
    def called_in_steps(self) -> dict[Node, str]:
        """As ``called``; what is in a list or an array, and has no name of its own, is called as that is."""
        return {node: name for node, name in (self._listed | self.called).items() if not node.is_leaf}

    def new_input(self, label: str, value: Any, weak: bool = False) -> Node:
        """An input that holds ``value`` in this run."""
        array = np.asarray(value)
        node = input_node(label, array.shape, checked_dtype(array.dtype, label), weak)
        self.values[node] = value if weak else array
        return node

    def new_named_input(self, label: str, shape: Shape, dtype: np.dtype, weak: bool = False) -> Node:
        """An input of which nothing but the shape and the dtype is known."""
        return input_node(label, shape, checked_dtype(dtype, label), weak)

    def parameter(self, parameter: Any) -> Node:
        """The input that stands for a network parameter, made at its first use."""
        found = self.parameters.get(id(parameter))
        if found is None:
            node = self.new_input(parameter.name, np.asarray(parameter))
            found = self.parameters[id(parameter)] = (parameter, node)
        return found[1]

    @contextlib.contextmanager
    def standing_in(self, nodes: dict[int, Node]) -> Iterator[None]:
        """Inside, parameters (by id) are read as these nodes: what a derivative in the trace is taken by."""
        before = {key: self.parameters[key] for key in nodes}
        self.parameters.update({key: (before[key][0], node) for key, node in nodes.items()})
        try:
            yield
        finally:
            self.parameters.update(before)

    def constant(self, array: np.ndarray) -> Node:
        """The node of a captured array."""
        return self._constants.of(array)

    def captured(self) -> list[np.ndarray]:
        """The arrays that it holds constant, and the network's parameters."""
        return [*self._constants.arrays(), *(parameter for parameter, _ in self.parameters.values())]

    def value_of(self, node: Node) -> Any:
        """What ``node`` holds in this run; computed on demand and remembered."""
        node, memo = self.from_outside(node), self.values
        if node not in memo:
            needed = ancestors([node], memo)
            if any(n.primitive is STEP for n in needed):
                raise TracingError.here(_IN_STEP)
            if any(n.primitive is EXAMPLE for n in needed):
                raise TracingError.here(
                    "the value of an array that vmap maps over is needed here, and it differs between the examples. "
                    "Use np.where for a choice between values; pass a plain array that is indexed by them as an "
                    "argument too (None in in_axes)."
                )
            if not all(map(_is_computable, needed)):
                raise TracingError.here(
                    "the value of a traced array is needed here, and an array of named dims has none while it is "
                    "traced: one trace serves every size. Use np.where for a choice between values, or drop the "
                    "named dims of this function."
                )
            self.left_out.check(needed)
            with np.errstate(all="ignore"):
                walk(needed, memo, evaluated)
        return memo[node]

    def has_value(self, node: Node) -> bool:
        """True where the value of ``node`` is known in this run."""
        node = self.from_outside(node)
        return node in self.values or all(map(_is_computable, ancestors([node], self.values)))

    def guard(self, node: Node) -> Any:
        """The concrete value, recorded: the trace serves only where it comes out the same."""
        value = np.asarray(self.value_of(node))[()]
        kept = np.array(value)[()]  # an argument may be changed in place before the next call
        self.branches.append((self.from_outside(node), kept))
        return value

    def from_outside(self, node: Node) -> Node:
        """``node``, made of values from outside of checkpointed functions, not of what these are given."""
        return walk(ancestors([node], self.outside), self.outside, rebuilt)[node] if self.outside else node

    def differentiate_by(self, nodes: Iterable[Node], fresh: bool) -> None:
        """Note that derivatives are taken by these values; ``fresh`` where they are what the whole trace is for."""
        self._wrt.update(dict.fromkeys(nodes, True))
        self._is_derivative |= fresh

    def is_differentiated(self, node: Node) -> bool:
        """Whether a derivative may flow through a value; True for all in a trace that is of no derivative."""
        own, wrt = self.from_outside(node), self._wrt
        return not self._is_derivative or decided(own, wrt, lambda n: any(wrt[o] for o in n.operands))

    def has_slope(self, node: Node) -> bool:
        """Whether a value depends smoothly on an input, as what is rounded does not."""
        known = self._slopes

        def decide(n: Node) -> bool:
            is_leaf = not n.operands and not isinstance(n.primitive, (Constant, Literal))
            return n.differentiable and (is_leaf or any(known[o] for o, _ in n.primitive.dependencies(n)))

        return decided(self.from_outside(node), known, decide)

    def keeps_value(self, node: Node) -> bool:
        """Whether code may have the value itself, guarded, because no derivative is lost."""
        return self.follow is not None and not self.is_differentiated(node)

    def assumes(self, dim: Dim, sign: str) -> bool:
        """Whether a whole expression of named dims is ``zero`` or ``nonnegative``, as it must be; guarded."""
        return self.sizes.assumed(dim, sign)

    def decides(self, dim: Dim, sign: str) -> bool:
        """Whether it is, for this run, guarded; an error where this run has no sizes."""
        known = self.sizes.known(dim, sign)
        if known is None:
            raise ShapeError.here(f"a choice depends on the size of the named dims in {dim}. {SIZES_FIX}")
        return known

    def fixed(self, dim: Dim) -> int:
        """The size that ``dim`` has in this run, guarded: the trace serves no other."""
        if not is_named(dim):
            return int(dim)
        if self.sizes.sizes is None:
            raise ShapeError.here(f"the size {dim} of named dims is needed here as a number. {SIZES_FIX}")
        size = value_of(dim, self.sizes.sizes)
        self.sizes.known(dim - size, "zero")
        return size


_IN_STEP = (
    "the value of a traced array is needed here, inside a step of scan (fori_loop, while_loop), and it differs between "
    "the steps: the step is traced once, for all of them. Use sg.cond or np.where for a choice between values; index "
    "by them as arrays (x[i], np.take), and give a loop inside a length that is known."
)
SIZES_FIX = "Give sizes in place of the names ('n 3' for 'n d'), or drop the named dims of this function."


def _is_computable(node: Node) -> bool:
    return is_concrete(node.shape) and node.primitive.name not in ("input", "dim")


@contextlib.contextmanager
def outside_of_traces() -> Iterator[None]:
    """Inside, no trace runs in this thread: for code that is run as it is while another function is traced."""
    trace = _state.trace
    if trace is None:
        yield
        return
    _state.trace = None
    with no_graph():
        try:
            yield
        finally:
            _state.trace = trace


def abandon() -> None:
    """No trace runs in this thread: for one whose end an interrupt has cut off."""
    _state.trace = None
    deactivate()


def current() -> Trace | None:
    """The trace that is running in this thread, if any."""
    return _state.trace


def running() -> Trace:
    """The trace that is running in this thread; an error where there is none."""
    trace = current()
    if trace is None:
        raise without_trace()
    return trace


def refuse_error_settings() -> None:
    """Refuse to compute where code that is followed raises or notes errors of values; other code catches none."""
    trace = current()
    if trace is not None and trace.follow is not None:
        trace.error_settings.refuse_others()


def as_followed(function: Callable) -> Callable:
    """``function``, with its calls followed where the running trace does so."""
    trace = current()
    return function if trace is None or trace.follow is None else trace.follow(function)


def called(function: Callable, args: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """What the user's ``function`` gives, its calls followed where the trace does so.

    Raises what was refused in it, though its own code has caught that: it would take another way than with arrays.
    """
    trace, before = current(), astray.count
    with apart_from_refusals(), contextlib.nullcontext() if trace is None else trace.left_out.of_function():
        output = as_followed(function)(*args, **kwargs)
        refused = refusals.latest
    if refused is not None:
        raise refused
    if astray.count > before:
        raise TracingError.here(
            "another thread has used a traced value. It is of the thread that traces, and what another makes of it is "
            f"lost: call what the thread runs. {CONTRACT}"
        )
    return output


def stands_for_number(value: Any) -> bool:
    """True for a Python number that is computed at every call; see ``host_scalars``."""
    return hasattr(type(value), "_exact")


def is_traced(value: Any) -> bool:
    """True for what stands for a value that the program computes; not for what passes its attributes on to one."""
    return hasattr(type(value), "_symgrad_node")


def as_node(value: Any) -> Node:
    """The node of a traced value, a parameter, an array or a Python scalar, in the running trace."""
    if type(value) is float or type(value) is int:
        return literal(value)
    node = getattr(value, "_symgrad_node", None) if is_traced(value) else None
    if node is not None:
        return node if type(node) is Node else node()
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        plain: Any = next(kind for kind in (bool, int, float, complex) if isinstance(value, kind))
        return literal(plain(value))  # members of an IntEnum are ints too
    if isinstance(value, np.ndarray):
        return running().constant(value)
    if isinstance(value, np.generic):
        return running().constant(np.asarray(value))
    if isinstance(value, (list, tuple)):
        return _stacked(value) if _holds_node(value) else running().constant(listed_array(value))
    raise TracingError.here(
        f"cannot compute with a value of type {type(value).__name__} and a traced one; pass it as an argument, or "
        "its numbers as a plain array, made outside of it (np.asarray(x), or what the library has for that)."
    )


def array_node(value: Any) -> Node:
    """The node of ``value`` as ``np.asarray`` makes it: a Python scalar is an array, and gives way to nothing."""
    node = as_node(value)
    if not node.weak:
        return node
    return running().constant(np.asarray(value)) if node.is_literal else emit(CAST, (node,), (node.dtype,))


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_node, value))
    return is_traced(value) and not stands_for_number(value)


def _stacked(values: Any) -> Node:
    """The array of nested lists, some of whose elements are traced."""
    nodes = [array_node(v) for v in values]
    if any(n.shape != nodes[0].shape for n in nodes):
        raise ShapeError.here(f"lists of the shapes {[n.shape for n in nodes]} make no array of one shape")
    dtype = np.result_type(*[n.dtype for n in nodes])
    return concatenate([cast(reshape(n, (1, *n.shape)), dtype) for n in nodes], 0)
