"""CompiledFunction: a function traced once a signature, its kernel cached, its guards checked at every call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from .errors import TracingError, at_user_line
from .kernels.kernel import Kernel, check_backend, lower
from .kernels.memory import require_memory
from .named_dims import Declared, Placeholder, argument_names
from .program.node import Node
from .program.program import Program
from .signature import Call
from .tensor import Parameter, Tensor
from .tracing.guards import Surroundings
from .tracing.sizes import Size
from .tracing.trace import Trace, as_node, current
from .tracing.tracer import Tracer
from .tracing.tree import LEAF, flatten, tree_map, unflatten

_MOST_ENTRIES = 16  # traces kept a signature: one each for the branches and surroundings met


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

    def __init__(self, trace: Trace, inputs: list[Node], names: list[list[str]], outputs: Any, backend: str) -> None:
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
        labels = [n for own in names for n in own] + [p.name for p in self.parameters]
        self.program = Program(inputs + parameter_nodes, nodes, labels, trace.graph)
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
        self.surroundings: Surroundings | None = None
        self.wraps = bool(self.parameters)
        self._kernel: Kernel | None = None
        self._branch_kernel: Kernel | None = None
        self._pattern_kernel: Kernel | None = None
        self._bare = self.structure == LEAF and bool(nodes)
        self._expected = [(p.shape, p.dtype) for p in self.parameters]

    @property
    def kernel(self) -> Kernel:
        """The compiled program, made at the first run."""
        if self._kernel is None:
            require_memory(self.program)
            self._kernel = lower(self.program, self.backend)
        return self._kernel

    def serves(self, call: Call) -> bool:
        """True where the surroundings, the sizes that were asked about and the branches are those of the trace."""
        if self.size_facts.facts and self.size_facts.broken(call.sizes or {}):
            return False
        if not self._is_current():
            return False
        if not self.taken:
            return True
        if self._branch_kernel is None:
            self._branch_kernel = lower(self.branches, "numpy")
        values = self._branch_kernel(*self.arguments(call.leaves))
        return all(np.array_equal(v, t) for v, t in zip(values, self.taken, strict=True))

    def serves_shapes(self) -> bool:
        """True where the surroundings are those of the trace, and no values are needed to say more."""
        return not self.taken and self._is_current()

    def _is_current(self) -> bool:
        if self.surroundings is not None and not self.surroundings.unchanged():
            return False
        for p, (shape, dtype) in zip(self.parameters, self._expected, strict=True):
            if p.shape != shape or p.dtype != dtype:
                return False
        return True

    def arguments(self, leaves: list[Any]) -> list[Any]:
        """The arrays that the kernel takes: those of a call, and the parameters."""
        return leaves + [np.asarray(p) for p in self.parameters] if self.parameters else leaves

    def run(self, leaves: list[Any], wraps: bool) -> Any:
        """The outputs for these inputs, in the function's own structure."""
        results = self.kernel(*self.arguments(leaves))
        if self.assembled:
            return self._together(lambda block, own: block.assemble(results[own]), results)
        if wraps or self.wraps:
            results = [np.asarray(r).view(Tensor) for r in results]
        if self._bare:
            return results[0]
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


#: the trees of ``Declared`` of positional and of keyword arguments, None for an argument that declares nothing
Shapes = tuple[Sequence[Any], Mapping[str, Any]]


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
    ) -> None:
        check_backend(backend)
        self.shapes = shapes
        self.concrete = concrete
        self.body = body
        self.watched = watched
        self.backend = backend
        self.cache = cache
        self.latest: Entry | None = None
        self._entries: dict[Any, list[Entry]] = {}
        self._bound: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = self._call(args, kwargs)
        return self._serving(call).run(call.leaves, call.wraps)

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

    def served(self, *args: Any, **kwargs: Any) -> tuple[Entry, list[Any]]:
        """The trace that serves these arguments, and the arrays among them in order."""
        call = self._call(args, kwargs)
        return self._serving(call), call.leaves

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

    def _serving(self, call: Call) -> Entry:
        for entry in self._entries.get(call.key, ()):
            if entry.serves(call):
                break
        else:
            entry = self._new_entry(*call.stand_ins(), call.key, Trace(call.sizes))
        self.latest = entry
        return entry

    def _new_entry(self, args: Sequence[Any], kwargs: Mapping[str, Any], key: Any, trace: Trace) -> Entry:
        surroundings = Surroundings(self.watched)
        with trace:
            inputs: list[Node] = []
            names: list[list[str]] = []

            def lift(value: Any, label: str) -> Any:
                names.append([])
                return _lift(value, trace, inputs, names[-1], label)

            traced = [lift(v, label) for v, label in zip(args, argument_names(self.watched, len(args)), strict=True)]
            named = {k: lift(v, k) for k, v in kwargs.items()}
            try:
                outputs = self.body(*traced, **named)
            except ValueError as error:  # NumPy wraps what a traced value says on its way into a plain array
                if isinstance(error.__cause__, TracingError):
                    raise error.__cause__ from None
                raise
            entry = Entry(trace, inputs, names, outputs, self.backend)
        surroundings.watch_weights(entry.weights_read)
        entry.surroundings = surroundings
        if self.cache and not surroundings.drew_random_numbers():
            kept = self._entries.setdefault(key, [])
            kept.insert(0, entry)
            del kept[_MOST_ENTRIES:]
        return entry


def _lift(value: Any, trace: Trace, inputs: list[Node], names: list[str], label: str) -> Any:
    """The argument as the function sees it while it is traced."""
    if isinstance(value, (tuple, list, dict)):
        parts, structure = flatten(value)
        labels = [f"{label}_{k}" for k in range(len(parts))]
        return unflatten(structure, [_lift(v, trace, inputs, names, n) for v, n in zip(parts, labels, strict=True)])
    if type(value) is Placeholder:
        node = trace.new_named_input(label, value.shape, value.dtype, value.weak)
        inputs.append(node)
        names.append(label)
        return Tracer(node)
    if type(value) is float or isinstance(value, (np.ndarray, np.generic)):
        node = trace.new_input(label, value, weak=type(value) is float)
        inputs.append(node)
        names.append(label)
        return Tracer(node)
    return value


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
