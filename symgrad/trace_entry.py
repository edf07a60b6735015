"""A trace cache entry: one trace of a function with its kernel; what guards it, what it needs and what it gives."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import islice
from operator import itemgetter
from typing import Any, Protocol

import numpy as np

from .errors import TracingError
from .kernels.kernel import Kernel, lower, optimized
from .kernels.memory import require_memory
from .named_dims import Placeholder
from .passes.as_read import as_read
from .passes.cofactors import written_out
from .passes.rare import without_rare
from .primitives import functions as f
from .primitives.scan import SCAN
from .program.collector import collector_paused
from .program.dims import is_concrete
from .program.forks import cached_property
from .program.node import Node
from .program.program import Program
from .tensor import Parameter, Tensor
from .tracing.host_scalars import Host
from .tracing.plain_arrays import LABELS
from .tracing.provenance import ProvenanceTable
from .tracing.python_numbers import held_like
from .tracing.shared_memory import SharedMemory
from .tracing.sizes import Size
from .tracing.trace import Purpose, Trace, as_node
from .tracing.trace_guards import TraceGuards
from .tracing.tracer import Tracer
from .tracing.tree import LEAF, flatten, leaf_labels, replaced, unflatten

_log = logging.getLogger("symgrad")

#: operations from which on branches run on the entry's own backend
_LONG = 64


class Assembled(Protocol):
    """A result that is put together from several arrays of a kernel, such as a sparse block."""

    nodes: list[Node]
    index_nodes: list[Node]

    def assemble(self, values: Sequence[Any]) -> Any:
        """The result from the values of ``nodes``."""
        ...

    def pattern(self, values: Sequence[Any]) -> Any:
        """The places of its entries from the values of ``index_nodes``."""
        ...


class Arguments:
    """The arguments of a trace: its inputs, what these are called, and what of each argument is none.

    ``names`` are those of the arrays of each argument, no two alike, ``keywords`` those passed by name, the last ones.
    """

    def __init__(self, trace: Trace, labels: Sequence[str], keywords: tuple[str, ...], host: Host | None) -> None:
        """``labels`` are those of the arguments by position, ``host`` is what Python computes of ints."""
        self._taken = {*labels, *keywords}
        self.inputs: list[Node] = []
        self.names: list[list[str]] = []
        self.keywords = keywords
        self.taken_as: list[tuple[str, Any, tuple[tuple[bool, Any], ...]]] = []
        self.host = host
        self.trace = trace
        self._known: dict[int, tuple[Any, Any]] = {}  # what stands for lists, dicts and objects of the arguments

    def traced(self, label: str, value: Any) -> Any:
        """The argument as the function sees it while it is traced."""
        leaves, structure = flatten(value)
        given = tuple([(True, None) if is_input(v) else (False, v) for v in leaves])
        self.taken_as.append((label, structure, given))
        self.names.append([])
        labels = [own if own == label else self._free(own) for own in leaf_labels(label, structure)]
        return replaced(value, structure, map(self._leaf, labels, leaves), self._known)

    def _free(self, label: str) -> str:
        """What an array in an argument is called, where another argument, or another array, may have that name."""
        count = itertools.count(2)
        own = label
        while own in self._taken:
            own = f"{label}_{next(count)}"
        self._taken.add(own)
        return own

    def _leaf(self, label: str, value: Any) -> Any:
        if not is_input(value):
            return self.host.argument(value, label) if self.host is not None and type(value) is int else value
        if type(value) is Placeholder:
            node = self.trace.new_named_input(label, value.shape, value.dtype, value.weak)
        else:
            node = self.trace.new_input(label, value, weak=type(value) in (float, complex))
        self.inputs.append(node)
        self.names[-1].append(label)
        return held_like(Tracer(node), value)


def is_input(value: Any) -> bool:
    """Whether this leaf of an argument is an input of the trace, not a part of the signature."""
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value) is not np.ndarray or value.dtype.kind not in LABELS
    return type(value) in (float, complex, Placeholder)


class Result:
    """What a function gave on traced values: a Program of its arrays, and the structure that they are returned in.

    ``slots`` say of each leaf whether it is an array: then its number among the outputs, else the leaf itself.
    """

    def __init__(self, outputs: Any, arguments: Arguments, inputs: Sequence[Node], labels: Sequence[str]) -> None:
        leaves, self.structure = flatten(outputs)
        self.slots: list[tuple[bool, Any]] = []
        self.assembled: dict[int, tuple[Assembled, slice]] = {}
        nodes: list[Node] = []
        for k, leaf in enumerate(leaves):
            if isinstance(leaf, (Tracer, np.ndarray, np.generic, Parameter, Size)):
                self.slots.append((True, len(nodes)))
                nodes.append(as_node(leaf))
            else:
                self.slots.append((False, leaf))
                if hasattr(leaf, "assemble"):
                    self.assembled[k] = (leaf, slice(len(nodes), len(nodes) + len(leaf.nodes)))
                    nodes += leaf.nodes
        self.argument_names = arguments.names
        self.keywords = arguments.keywords
        #: the names that the function's code gives to values; none where the trace is not recorded
        self.local_names: Mapping[Node, str] = arguments.trace.called
        self.program = Program(inputs, nodes, labels, arguments.trace.graph)
        #: its formulas, by what was asked of them
        self.told: dict[Any, Any] = {}

    @cached_property
    def readable(self) -> Program:
        """The program after the passes, as it is shown."""
        return as_read(written_out(self.program), optimized)

    @cached_property
    def exported(self) -> Program:
        """The program after the passes, as it is computed elsewhere."""
        return optimized(written_out(without_rare(self.program)[0]))

    def readable_with(self, nodes: Sequence[Node]) -> tuple[Program, Sequence[Node]]:
        """``readable``, and what ``nodes`` of the program are after the passes."""
        wide = as_read(written_out(self.program.with_outputs([*self.program.outputs, *nodes])), optimized)
        count = len(self.program.outputs)
        return wide.with_outputs(wide.outputs[:count]), wide.outputs[count:]

    @property
    def shapes(self) -> list[tuple | None]:
        """The shape of each leaf, None for one that is no array."""
        return [self.program.outputs[v].shape if is_array else None for is_array, v in self.slots]

    @property
    def array_shapes(self) -> list[tuple]:
        """The shapes of the arrays, in order."""
        return [tuple(shape) for shape in self.shapes if shape is not None]

    def filled(self, values: Sequence[Any]) -> Any:
        """What the function returns where these stand for the outputs of the program."""
        return unflatten(self.structure, [values[v] if is_array else v for is_array, v in self.slots])

    def arrays_of(self, values: Sequence[Any]) -> list[Any]:
        """Those of the outputs of the program that are arrays of the result."""
        return [values[v] for is_array, v in self.slots if is_array]


class TraceEntry(Result):
    """One trace, lowered: what it needs, what guards it, what it gives."""

    def __init__(self, arguments: Arguments, guards: TraceGuards, outputs: Any, backend: str) -> None:
        self.trace = trace = arguments.trace
        self.parameters = [p for p, _ in trace.parameters.values()]
        written = [k for k, n in enumerate(arguments.inputs) if n in trace.written]
        reached = [*guards.named_arrays(), *trace.captured()] if written or guards.asks_identity else []
        self._shared = SharedMemory(written, reached, guards.asks_identity)
        #: those that lie in memory as the trace takes it to be
        self._by_rows = [k for k, n in enumerate(arguments.inputs) if trace.lying.get(n)]
        self._takes_leaves = not self.parameters and not self._shared.matters
        self.host = host = arguments.host
        computed, called = ([], []) if host is None else (host.nodes, host.labels)
        inputs = [*arguments.inputs, *computed, *(n for _, n in trace.parameters.values())]
        labels = [*(n for own in arguments.names for n in own), *called, *(p.name for p in self.parameters)]
        super().__init__(outputs, arguments, inputs, labels)
        self._arguments = arguments
        self._value: Result | None = None
        self.taken_as = arguments.taken_as
        self._traced = len(trace.graph.table)
        known = set(inputs)
        if any(n.primitive.name == "input" and n not in known for n in self.program.nodes):
            raise TracingError(
                "the function used a traced value that an earlier trace had left in a list, a global or an attribute; "
                "return it from the function and pass it on instead."
            )
        read = set(self.program.nodes)
        self.weights_read = {key for key, (_, n) in trace.parameters.items() if n in read}
        self.backend = backend
        self.branches = self.program.with_outputs([n for n, _ in trace.branches])
        self.taken = [v for _, v in trace.branches]
        self.size_facts = trace.sizes
        self.unchanged = guards.unchanged
        self.unconditional = not (self.taken or self.parameters or self._by_rows)
        self.wraps = bool(self.parameters)
        self._kernel: Kernel | None = None
        self._branch_kernel: Kernel | None = None
        self._expects: list[Any] = []
        self._pattern_kernel: Kernel | None = None
        self._shaped = _shaper(self.structure) if len(self.program.outputs) == len(self.slots) else self.filled
        self._expected = [(p.shape, p.dtype) for p in self.parameters]

    @property
    def value(self) -> Result:
        """What the function gave that this is a derivative of; the entry itself where it is of none."""
        if self.trace.value is None:
            return self
        if self._value is None:
            with self.trace:
                inputs, names = self.program.inputs, self.program.names
                self._value = Result(self.trace.value(), self._arguments, inputs, names)
        return self._value

    @cached_property
    def with_value(self) -> Program:
        """The function and its derivative as one program, as they are shown."""
        both = self.program.with_outputs([*self.value.program.outputs, *self.program.outputs])
        return as_read(written_out(both), optimized)

    def operations(self) -> frozenset[str]:
        """The operations of the trace: those of the function too that its derivative does not read."""
        # what passes and formulas make later comes after them
        return frozenset(n.primitive.name for n in islice(self.program.graph.table.values(), self._traced))

    @contextlib.contextmanager
    def reopened(self, arrays: Sequence[Any] = ()) -> Iterator[None]:
        """Inside, the trace goes on where it has ended, with these arrays as the values of its inputs, if any."""
        with self.trace:
            given = zip(self.program.inputs, arrays, strict=False)
            self.trace.values = {n: value for n, value in given if is_concrete(n.shape)}
            try:
                yield
            finally:
                self.trace.let_go()

    @property
    def is_recorded(self) -> bool:
        """Whether the trace knows the lines that its nodes come from, and the local names of the function."""
        return self.trace.graph.is_recorded

    def is_for(self, purpose: Purpose) -> bool:
        """Whether the trace is as one made for ``purpose``; what has no loops is the same for reading and for lines."""
        own = self.trace.purpose
        if not self.trace.has_loops:
            return purpose is Purpose.RUN or own is not Purpose.RUN
        return purpose is own or (purpose is Purpose.RUN and own is Purpose.LINES)

    @property
    def ledger(self) -> ProvenanceTable:
        """Where the nodes of a recorded trace come from."""
        ledger = self.program.graph.table
        assert isinstance(ledger, ProvenanceTable)
        return ledger

    @property
    def kernel(self) -> Kernel:
        """The compiled program, made at the first run."""
        if self._kernel is None:
            with collector_paused():
                require_memory(self.program)
                self._kernel = lower(self.program, self.backend)
            if _log.isEnabledFor(logging.DEBUG):  # asking what a kernel runs on may make one that no call needs
                _log.debug("%d operations run on %s", len(self.program.bindings), self._kernel.backend)
        return self._kernel

    def serves(self, leaves: Sequence[Any], sizes: Mapping[Any, int] | None = None) -> bool:
        """True where what the guards see, the sizes that were asked about and the branches are those of the trace."""
        if self.size_facts.facts and self.size_facts.broken(sizes or {}):
            return False
        return self.unchanged() and (self.unconditional or self.holds_for(leaves))

    def serves_shapes(self) -> bool:
        """True where what the guards see is as in the trace, and no values are needed to say more."""
        return not (self.taken or self._by_rows) and self.unchanged() and self.holds_for(())

    def holds_for(self, leaves: Sequence[Any]) -> bool:
        """True where the parameters have the shapes and dtypes of the trace, and these inputs take its branches."""
        for p, (shape, dtype) in zip(self.parameters, self._expected, strict=True):
            if p.shape != shape or p.dtype != dtype:
                return False
        if not all(np.asarray(leaves[k]).flags.c_contiguous for k in self._by_rows):
            return False
        if not self.taken:
            return True
        if self._branch_kernel is None:
            self._branch_kernel, self._expects = self._which_way()
        values = self._branch_kernel(*self.arguments(leaves))
        return all(map(_same_value, values, self._expects))

    def _which_way(self) -> tuple[Kernel, list[Any]]:
        """What computes which way a call goes, and what comes out of it where that is the way of the trace.

        Truth values that take long are one, on the entry's own backend.
        """
        nodes = self.branches.nodes
        is_long = len(nodes) >= _LONG or any(n.primitive is SCAN for n in nodes)
        if not is_long or any(o.dtype.kind != "b" or o.shape for o in self.branches.outputs):
            return lower(self.branches, "numpy"), self.taken
        with self.branches.graph:
            ways = [n if v else f.logical_not(n) for n, v in zip(self.branches.outputs, self.taken, strict=True)]
            one = self.branches.with_outputs([reduce(f.logical_and, ways)])
        return lower(one, self.backend), [np.True_]

    def arguments(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """The arrays that the kernel takes: those of a call, and the parameters.

        An error where arrays of a call share what the trace has apart.
        """
        if self._shared.matters:
            self._shared.check(leaves, self.program.names)
        return [*leaves, *map(np.asarray, self.parameters)] if self.parameters else leaves

    def run(self, leaves: Sequence[Any], wraps: bool = False) -> Any:
        """The outputs for these inputs, in the function's own structure."""
        call = (self._kernel or self.kernel).call
        results = call(*(leaves if self._takes_leaves else self.arguments(leaves)))
        if self.assembled:
            return self.together(lambda block, own: block.assemble(results[own]), results)
        if (wraps or self.wraps) and all(isinstance(r, (np.ndarray, np.generic)) for r in results):
            results = tuple([np.asarray(r).view(Tensor) for r in results])
        return self._shaped(results)

    def patterns(self, arrays: Sequence[Any]) -> Any:
        """The sparsity of each assembled block, in the function's own structure; no value is computed."""
        blocks = [block for block, _ in self.assembled.values()]
        if self._pattern_kernel is None:
            self._pattern_kernel = lower(self.program.with_outputs([n for b in blocks for n in b.index_nodes]), "numpy")
        results = iter(self._pattern_kernel(*arrays))
        return self.together(lambda block, _: block.pattern([next(results) for _ in block.index_nodes]), None)

    def together(self, finish: Callable, results: Sequence[Any] | None) -> Any:
        """The assembled blocks, beside them the arrays of ``results``, where there are any."""
        made = []
        for k, (is_array, leaf) in enumerate(self.slots):
            if k in self.assembled:
                made.append(finish(*self.assembled[k]))
            else:
                made.append((None if results is None else results[leaf]) if is_array else leaf)
        return unflatten(self.structure, made)


def _same_value(now: Any, then: Any) -> bool:
    """Whether a value that was branched on is what it was, zeros with their signs; a shape belongs to the signature."""
    if then.dtype.kind not in "fc":
        return np.array_equal(now, then)
    return np.array_equal(now, then, equal_nan=True) and all(map(_same_signs, _parts(now), _parts(then)))


def _parts(value: Any) -> tuple[Any, Any]:
    return np.real(value), np.imag(value)


def _same_signs(now: Any, then: Any) -> bool:
    return bool(np.all((np.signbit(now) == np.signbit(then)) | (now != 0)))


def _shaper(structure: Any) -> Callable[[Sequence[Any]], Any]:
    """What puts arrays together as ``structure``, in one step for everyday results."""
    if structure == LEAF:
        return itemgetter(0)
    kind, children = structure[0], structure[1]
    if kind == "tuple" and all(s == LEAF for s in children):
        return tuple
    if kind == "tuple" and children[0] == LEAF and len(children) == 2:
        inner = children[1]
        if inner[0] == "tuple" and all(s == LEAF for s in inner[1]):
            return _first_and_rest
    return partial(unflatten, structure)


def _first_and_rest(results: Sequence[Any]) -> tuple:
    """A value and a tuple of gradients."""
    return results[0], tuple(results[1:])
