"""CompiledFunction: a function traced once a signature, its kernel cached, its guards checked at every call."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from operator import itemgetter
from types import CodeType
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from .errors import TracedAgain, TracingError, at_user_line, is_own, shortened
from .kernels.backend import checked_backend
from .kernels.kernel import Kernel, lower, optimized
from .kernels.memory import require_memory
from .named_dims import Declared, Placeholder, argument_names
from .program.node import Node
from .program.program import Program
from .signature import Call, VaryingInts, ints_of, key_of_arrays
from .tensor import Parameter, Tensor
from .tracing.host_scalars import Host, NotAValue
from .tracing.library_calls import refuse_untyped
from .tracing.provenance import Ledger
from .tracing.sizes import Size
from .tracing.surroundings import Surroundings
from .tracing.trace import Trace, as_node, current
from .tracing.tracer import Tracer
from .tracing.tree import LEAF, flatten, leaf_labels, tree_map, unflatten

_MANY_FUNCTIONS = 1000  # of one source that are traced before a warning
_MAX_SIGNATURES = 256  # kept of a function
_MOST_ENTRIES = 16  # traces kept a signature: one each for the branches and surroundings met
_TRACED_TOO_OFTEN = (
    "is traced again at nearly every call, for another shape or another value of an argument that is no array, and the "
    "oldest traces are forgotten. Pass numbers that change as floats or arrays, and compute with them by operators and "
    "NumPy (np.sqrt, not math.sqrt); where sizes change, declare them by names (sg.Array['n'])."
)


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


class Entry:
    """One trace, lowered: what it needs, what guards it, what it gives."""

    def __init__(
        self,
        trace: Trace,
        surroundings: Surroundings,
        inputs: list[Node],
        names: list[list[str]],
        outputs: Any,
        backend: str,
        keywords: tuple[str, ...],
        given: Sequence[tuple[str, Any]],
        host: Host | None = None,
    ) -> None:
        """``names`` are those of the arrays of each argument, ``keywords`` those passed by name, the last ones.

        ``given`` are the arguments themselves, each with what it is called; ``host`` what Python computes of ints.
        """
        leaves, self.structure = flatten(outputs)
        self.slots: list[tuple[bool, Any]] = []
        nodes: list[Node] = []
        self.assembled: dict[int, tuple[Assembled, slice]] = {}
        for k, leaf in enumerate(leaves):
            if isinstance(leaf, (Tracer, np.ndarray, np.generic, Parameter, Size)):
                self.slots.append((True, len(nodes)))
                nodes.append(as_node(leaf))
            else:
                self.slots.append((False, leaf))
                if hasattr(leaf, "assemble"):
                    self.assembled[k] = (leaf, slice(len(nodes), len(nodes) + len(leaf.nodes)))
                    nodes += leaf.nodes
        self.parameters = [p for p, _ in trace.parameters.values()]
        parameter_nodes = [n for _, n in trace.parameters.values()]
        self.argument_names = names
        self.keywords = keywords
        self.taken_as = [(label, *_without_arrays(value)) for label, value in given]
        self.host = host
        computed, called = ([], []) if host is None else (host.nodes, host.labels)
        labels = [*(n for own in names for n in own), *called, *(p.name for p in self.parameters)]
        self.program = Program([*inputs, *computed, *parameter_nodes], nodes, labels, trace.graph)
        self._traced = len(trace.graph.table)
        known = set(self.program.inputs)
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
        self.unchanged = surroundings.unchanged
        self.unconditional = not self.taken and not self.parameters
        self.wraps = bool(self.parameters)
        self._kernel: Kernel | None = None
        self._call: Callable[..., tuple] | None = None
        self._branch_kernel: Kernel | None = None
        self._pattern_kernel: Kernel | None = None
        self._shaped = _shaper(self.structure) if len(nodes) == len(leaves) else self._beside_values
        self._expected = [(p.shape, p.dtype) for p in self.parameters]

    def operations(self) -> frozenset[str]:
        """The operations of the trace: those of the function too that its derivative does not read."""
        # what passes and formulas make later comes after them
        return frozenset(n.primitive.name for n in islice(self.program.graph.table.values(), self._traced))

    @cached_property
    def readable(self) -> Program:
        """The program after the passes, as it is shown."""
        return optimized(self.program)

    @property
    def kernel(self) -> Kernel:
        """The compiled program, made at the first run."""
        if self._kernel is None:
            require_memory(self.program)
            self._kernel = lower(self.program, self.backend)
        return self._kernel

    def serves(self, leaves: Sequence[Any], sizes: Mapping[Any, int] | None = None) -> bool:
        """True where the surroundings, the sizes that were asked about and the branches are those of the trace."""
        if self.size_facts.facts and self.size_facts.broken(sizes or {}):
            return False
        return self.unchanged() and (self.unconditional or self.holds_for(leaves))

    def serves_shapes(self) -> bool:
        """True where the surroundings are those of the trace, and no values are needed to say more."""
        return not self.taken and self.unchanged() and self.holds_for(())

    def holds_for(self, leaves: Sequence[Any]) -> bool:
        """True where the parameters have the shapes and dtypes of the trace, and these inputs take its branches."""
        for p, (shape, dtype) in zip(self.parameters, self._expected, strict=True):
            if p.shape != shape or p.dtype != dtype:
                return False
        if not self.taken:
            return True
        if self._branch_kernel is None:
            self._branch_kernel = lower(self.branches, "numpy")
        values = self._branch_kernel(*self.arguments(leaves))
        return all(map(_same_value, values, self.taken))

    def arguments(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """The arrays that the kernel takes: those of a call, and the parameters."""
        return [*leaves, *map(np.asarray, self.parameters)] if self.parameters else leaves

    def run(self, leaves: Sequence[Any], wraps: bool = False) -> Any:
        """The outputs for these inputs, in the function's own structure."""
        call = self._call
        if call is None:
            call = self._call = self.kernel.call
        results = call(*self.arguments(leaves)) if self.parameters else call(*leaves)
        if self.assembled:
            return self._together(lambda block, own: block.assemble(results[own]), results)
        if wraps or self.wraps:
            results = tuple([np.asarray(r).view(Tensor) for r in results])
        return self._shaped(results)

    def _beside_values(self, results: Sequence[Any]) -> Any:
        """The outputs where some are no arrays, but values that the function returned when it was traced."""
        return unflatten(self.structure, [results[v] if is_array else v for is_array, v in self.slots])

    def patterns(self, leaves: list[Any]) -> Any:
        """The sparsity of each assembled block, in the function's own structure; no value is computed."""
        blocks = [block for block, _ in self.assembled.values()]
        if self._pattern_kernel is None:
            self._pattern_kernel = lower(self.program.with_outputs([n for b in blocks for n in b.index_nodes]), "numpy")
        results = iter(self._pattern_kernel(*self.arguments(leaves)))
        return self._together(lambda block, _: block.pattern([next(results) for _ in block.index_nodes]), None)

    def _together(self, finish: Callable, results: Sequence[Any] | None) -> Any:
        """The assembled blocks, beside them the arrays of ``results``, where there are any."""
        made = []
        for k, (is_array, leaf) in enumerate(self.slots):
            if k in self.assembled:
                made.append(finish(*self.assembled[k]))
            else:
                made.append((None if results is None else results[leaf]) if is_array else leaf)
        return unflatten(self.structure, made)


def _same_value(now: Any, then: Any) -> bool:
    """Whether a value that was branched on is what it was; a shape belongs to the signature."""
    return bool(now == then) if then.shape == () else np.array_equal(now, then)


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


#: the trees of ``Declared`` of positional and of keyword arguments, None for an argument that declares nothing
Shapes = tuple[Sequence[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Recorded:
    """A trace with the lines that its nodes come from, and the arrays of the call that it was asked for."""

    entry: Entry
    leaves: list[Any]
    key: tuple

    @property
    def ledger(self) -> Ledger:
        """Where the nodes come from."""
        ledger = self.entry.program.graph.table
        assert isinstance(ledger, Ledger)
        return ledger


class CompiledFunction:
    """``body`` run on traced arguments, once a signature; calls run the kernel.

    The signature is the structure of the arguments, the shape and dtype of every array, and the value of
    everything that is not an array or a float. ``watched`` is the user's function, whose globals and
    closures are guarded. ``shapes`` says which shapes the arguments declare: the signature holds the names in
    place of sizes, which are checked at every call. Where the result is ``concrete`` they are checked and no more.
    """

    def __init__(
        self,
        body: Callable,
        watched: Callable,
        backend: str = "auto",
        cache: bool = True,
        shapes: Callable[[tuple, dict[str, Any]], Shapes] | None = None,
        concrete: bool = False,
        names: Callable[[int, Mapping[str, Any]], Sequence[str]] | None = None,
    ) -> None:
        """``names`` says what so many positional arguments are called, beside arguments by name."""
        checked_backend(backend)
        self.names = names or (lambda count, kwargs: argument_names(watched, count))
        self.shapes = shapes
        self.concrete = concrete
        self.body = body
        self.watched = watched
        self.backend = backend
        self.cache = cache
        self.latest: Entry | None = None
        self._entries: dict[Any, list[Entry]] = {}
        self._by_arrays = self._entries if shapes is None else {}
        self._bound: dict[Any, Any] = {}
        self._ints = VaryingInts(_MAX_SIGNATURES)
        self._has_warned = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        entry = None if kwargs else self.known(args)
        if entry is not None:
            return entry.run(args)
        call = self._call(args, kwargs)
        running, leaves = self._running(call)
        return running.run(leaves, call.wraps)

    def known(self, args: tuple) -> Entry | None:
        """The trace that serves arrays and floats such as it has served; None where more has to be looked at.

        What is checked before a function is traced follows from the signature, so it need not be checked again.
        """
        key = key_of_arrays(args)
        if key is None:
            return None
        for entry in self._by_arrays.get(key, ()):
            if entry.unchanged() and (entry.unconditional or entry.holds_for(args)):
                self.latest = entry
                return entry
        return None

    def entry(self, *args: Any, **kwargs: Any) -> Entry:
        """The trace that serves these arguments."""
        return self._serving(self._call(args, kwargs))

    def entry_of_shapes(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Entry:
        """The trace for float64 arrays of which no more than trees of ``Declared`` are known."""
        key = (tuple(map(_texts, args)), tuple((name, _texts(tree)) for name, tree in kwargs.items()))
        for entry in self._entries.get(key, ()):
            if entry.serves_shapes():
                break
        else:
            made = [tree_map(_stand_in, t) for t in args], {name: tree_map(_stand_in, t) for name, t in kwargs.items()}
            entry = self._new_entry(*made, key, Trace())
        self.latest = entry
        return entry

    def sizes(self, args: tuple, kwargs: dict[str, Any]) -> Mapping[Any, int]:
        """What the named dims are in a call with these arguments."""
        return self._call(args, kwargs).sizes or {}

    def served(self, *args: Any, **kwargs: Any) -> tuple[Entry, list[Any]]:
        """The trace that serves these arguments, and the arrays among them in order."""
        call = self._call(args, kwargs)
        return self._serving(call), call.leaves

    def recorded(self, args: Sequence[Any], kwargs: Mapping[str, Any], known: Recorded | None = None) -> Recorded:
        """A trace for these arguments whose graph knows the lines that its nodes come from; ``known`` while it serves.

        It is not kept: recording takes time and memory.
        """
        call = self._call(tuple(args), dict(kwargs))
        if known is not None and known.key == call.key and known.entry.serves(call.leaves, call.sizes):
            return replace(known, leaves=call.leaves)
        trace = Trace(call.sizes, recorded_inside=CompiledFunction._new_entry.__code__)
        return Recorded(self._new_entry(*call.stand_ins(), None, trace), call.leaves, call.key)

    def patterns(self, *args: Any, **kwargs: Any) -> Any:
        """The sparsity of the sparse blocks that these arguments give."""
        call = self._call(args, kwargs)
        return self._serving(call).patterns(call.leaves)

    def _call(self, args: tuple, kwargs: dict[str, Any]) -> Call:
        call = Call(args, kwargs)
        if self.shapes is None:
            return call.read()
        named = call.read_named(*self.shapes(args, kwargs), self._bound)
        return Call(args, kwargs).read() if self.concrete else named

    def _kept(self, key: tuple, call: Call) -> tuple[Entry, Sequence[Any]] | None:
        """The trace of this signature that serves a call, and its inputs."""
        for entry in self._entries.get(key, ()):
            leaves = call.leaves if entry.host is None else entry.host.inputs(call.leaves, ints_of(call.key))
            if leaves is not None and entry.serves(leaves, call.sizes):
                self.latest = entry
                return entry, leaves
        return None

    def _serving(self, call: Call) -> Entry:
        """The trace that serves a call, in which ints are what they are."""
        found = self._kept(call.key, call)
        if found is not None:
            return found[0]
        self.latest = entry = self._new_entry(*call.stand_ins(), call.key, Trace(call.sizes))
        return entry

    def _running(self, call: Call) -> tuple[Entry, Sequence[Any]]:
        """The trace that runs, and its inputs: ints are part of the signature until they change."""
        found = self._kept(call.key, call)
        varying, key = self._ints.of(call.key) if found is None and self.cache else ((), ())
        if not varying:
            return found or (self._serving(call), call.leaves)
        found = self._kept(key, call)
        if found is not None:
            return found
        trace = Trace(call.sizes)
        host = Host(varying, trace)
        try:
            self.latest = entry = self._new_entry(*call.stand_ins(), key, trace, host)
            return entry, host.inputs(call.leaves, ints_of(call.key)) or call.leaves
        except NotAValue as needed:
            which: Collection[int] = needed.which
        except Exception:  # the function's own, or it takes nothing but an int
            which = ()
        host.close()
        entry = None if which else self._serving(call)
        self._ints.fix(call.key, which or varying)
        return self._running(call) if entry is None else (entry, call.leaves)

    def _new_entry(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], key: Any, trace: Trace, host: Host | None = None
    ) -> Entry:
        if self.cache and not self._entries:
            _note_first_trace(self.watched)
        leaves, _ = flatten((*args, *kwargs.values()))
        surroundings = Surroundings(self.watched, [v for v in leaves if not _is_input(v)])
        with trace:
            inputs: list[Node] = []
            names: list[list[str]] = []

            def lift(value: Any, label: str) -> Any:
                names.append([])
                return _lift(value, trace, inputs, names[-1], label, host)

            given = [*zip(self.names(len(args), kwargs), args, strict=True), *kwargs.items()]
            traced = [lift(v, label) for label, v in given[: len(args)]]
            named = {k: lift(v, k) for k, v in kwargs.items()}
            try:
                outputs = self.body(*traced, **named)
                if host is not None:
                    host.finish(outputs)
                entry = Entry(trace, surroundings, inputs, names, outputs, self.backend, tuple(kwargs), given, host)
            except NotAValue:
                raise
            except Exception as error:
                refuse_untyped(error, trace)
                raise
        surroundings.watch_weights(entry.weights_read)
        if self.cache and key is not None and surroundings.may_serve_again():
            self._keep(key, entry)
        return entry

    def _keep(self, key: Any, entry: Entry) -> None:
        """Remember a trace; the oldest is forgotten where there are too many."""
        kept = self._entries.setdefault(key, [])
        kept.insert(0, entry)
        forgotten = [*kept[_MOST_ENTRIES:]] if entry.host is not None else []
        del kept[_MOST_ENTRIES:]
        while len(self._entries) > _MAX_SIGNATURES:
            forgotten += self._entries.pop(next(iter(self._entries)))
        if forgotten and not self._has_warned:
            self._has_warned = True
            name = shortened(getattr(self.watched, "__name__", type(self.watched).__name__))
            warnings.warn(at_user_line(f"{name} {_TRACED_TOO_OFTEN}"), TracedAgain, stacklevel=2)


#: how many functions of the same code have been traced
_first_traces: WeakKeyDictionary[CodeType, int] = WeakKeyDictionary()


def _note_first_trace(function: Callable) -> None:
    """Warn once where the same line makes function after function, each of which is traced."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if not isinstance(code, CodeType) or is_own(code.co_filename):
        return
    count = _first_traces[code] = _first_traces.get(code, 0) + 1
    if count == _MANY_FUNCTIONS:
        warnings.warn(
            at_user_line(
                f"{count} functions of the same source ({shortened(code.co_name)}, line {code.co_firstlineno}) were "
                "traced, each anew. Make the function and its derivative once, outside of the loop, and pass what "
                "changes as an argument."
            ),
            TracedAgain,
            stacklevel=2,
        )


def _lift(value: Any, trace: Trace, inputs: list[Node], names: list[str], label: str, host: Host | None = None) -> Any:
    """The argument as the function sees it while it is traced."""
    if isinstance(value, (tuple, list, dict)):
        parts, structure = flatten(value)
        labels = leaf_labels(label, value)
        return unflatten(
            structure, [_lift(v, trace, inputs, names, n, host) for v, n in zip(parts, labels, strict=True)]
        )
    if type(value) is Placeholder:
        node = trace.new_named_input(label, value.shape, value.dtype, value.weak)
        inputs.append(node)
        names.append(label)
        return Tracer(node)
    if _is_input(value):
        node = trace.new_input(label, value, weak=type(value) is float)
        inputs.append(node)
        names.append(label)
        return Tracer(node)
    return host.argument(value, label) if host is not None and type(value) is int else value


def _is_input(value: Any) -> bool:
    """Whether this leaf of an argument is an input of the trace, not a part of the signature."""
    return type(value) in (float, Placeholder) or isinstance(value, (np.ndarray, np.generic))


def _without_arrays(value: Any) -> tuple[Any, tuple[tuple[bool, Any], ...]]:
    """The structure of an argument; of each leaf whether it is an input of the trace, and itself where it is none."""
    leaves, structure = flatten(value)
    return structure, tuple([(True, None) if _is_input(v) else (False, v) for v in leaves])


def _texts(tree: Any) -> Any:
    """A tree of ``Declared`` as part of a signature."""
    leaves, structure = flatten(tree)
    return structure, tuple([d.text for d in leaves])


def _stand_in(declared: Declared) -> Placeholder:
    return Placeholder(declared.shape, np.dtype(np.float64))


def is_tracing(args: Any) -> bool:
    """True inside a trace: then derivatives are built into it instead of being run."""
    if current() is not None:
        return True
    leaves, _ = flatten(args)
    if any(isinstance(v, Tracer) for v in leaves):
        raise TracingError(at_user_line("a traced value was used after its trace had ended."))
    return False
