"""DerivedFunction: what every transformation returns; it runs, and it shows itself.

Called with arrays it traces once, derives, compiles and runs; called inside a trace (a function being
differentiated, a Cell) it builds its derivative into that trace, so any order is composition.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec

import numpy as np

from ..compiled import CompiledFunction, Shapes, is_tracing
from ..context import is_graph_mode, runs_kept_traces
from ..errors import apart_from_refusals, shortened
from ..kernels.array_libraries import LIBRARIES
from ..kernels.base import Kernel
from ..named_dims import Declaration, argument_names, declaration_of, declared_arguments, declared_like, is_shapes
from ..pickling import Importable
from ..primitives.casting import CAST, flow_as
from ..primitives.contraction import contract
from ..primitives.primitive import CapturedArray, constant, literal
from ..program.forks import cached_property
from ..program.node import Node, emit
from ..program.program import Program
from ..signature import check_names
from ..trace_entry import Result, TraceEntry
from ..tracebacks import brief, briefly
from ..tracing.provenance import Provenance
from ..tracing.trace import Purpose, called, current, running
from ..tracing.tree import flatten, tree_map, unflatten
from .positions import in_order, split_aux
from .run import Run
from .view import View

#: the arguments of a function, which are those of its derivatives
P = ParamSpec("P")


class DerivedFunction(Importable, Generic[P]):
    """Base of the derivatives; subclasses say what they differentiate in ``_run``, and how in ``_result``.

    A pickle, and a copy, holds what was asked for: the function and the flags. All that follows from them (cached
    properties) is made again where it is called.
    """

    def __init__(self, fn: Callable[P, Any], backend: str) -> None:
        self.fn: Callable[..., Any] = fn
        self.backend = backend
        self.__name__ = shortened(f"{self.verb}({getattr(fn, '__name__', type(fn).__name__)})")
        self.__doc__ = getattr(fn, "__doc__", None)
        self.__wrapped__ = fn  # whose arguments it takes, by the same names
        _ = self._known  # what is declared and the backend are checked here

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if not isinstance(getattr(type(self), k, None), cached_property)}

    @cached_property
    def declaration(self) -> Declaration | None:
        """The shapes that its arguments declare."""
        return declaration_of(self.fn)

    @cached_property
    def _compiled(self) -> CompiledFunction:
        return self._new_compiled()

    @cached_property
    def _compiled_by_library(self) -> dict[str, CompiledFunction]:
        """What traces for arrays of other libraries, by the names of these."""
        return {}

    @cached_property
    def _by_library(self) -> dict[Any, TraceEntry]:
        """The traces that serve arrays of other libraries, by the classes, shapes and dtypes of these."""
        return {}

    @cached_property
    def _known(self) -> Callable[[tuple], TraceEntry | None]:
        return self._compiled.known

    @cached_property
    def _primal(self) -> CompiledFunction:
        """The function itself, where the shapes of its outputs are asked for."""
        assert self.declaration is not None
        return CompiledFunction(self.fn, self.fn, shapes=self.declaration.shapes)

    @cached_property
    def _by_blocks(self) -> dict[Any, CompiledFunction]:
        """What compiles it for arrays of Dask, by the axes that are in blocks."""
        return {}

    if TYPE_CHECKING:
        from .chunked import in_chunks
        from .conditions import conditions
        from .equality import equals
        from .exporting import export
        from .in_notebook import annotate, panel, picture
        from .plotting import plot
        from .shown import agreement, closed_form, entry, formulas, latex, latex_rows, steps
    else:
        in_chunks = View(".chunked")
        conditions = View(".conditions")
        equals = View(".equality")
        export = View(".exporting")
        annotate, panel, picture = View(".in_notebook"), View(".in_notebook"), View(".in_notebook")
        plot = View(".plotting")
        agreement, closed_form, entry, formulas = View(".shown"), View(".shown"), View(".shown"), View(".shown")
        latex, latex_rows, steps = View(".shown"), View(".shown"), View(".shown")

    verb = "derived"
    #: what its results are called in LaTeX
    _letter = r"\mathrm{out}"
    #: whether only the first output is differentiated
    has_aux = False
    #: a sparse result has places, which need sizes: then named dims are checked, and traced as they are in the call
    sparse = False

    def _rolls(self, outputs: Sequence[Node], wrt: Sequence[Node]) -> bool:
        """Whether loops among ``outputs`` become operations where this is derived by ``wrt``."""
        return True

    def _run(self, args: tuple, kwargs: dict[str, Any], fresh: bool) -> Run:
        """The function on traced values, with what it is differentiated by and along."""
        raise NotImplementedError

    def _result(self, run: Run) -> Any:
        """The derivative of what the function gave."""
        raise NotImplementedError

    def _derive(self, args: tuple, kwargs: dict[str, Any], fresh: bool) -> Any:
        """The derivative on traced values; ``fresh`` where the arguments are inputs of the trace."""
        run = self._run(args, kwargs, fresh)
        result = self._result(run)
        if fresh:
            running().run = run
        return result

    def _value(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the function itself gives on traced values."""
        output = called(self.fn, args, kwargs)
        if running().subject is self.fn:
            running().value = lambda: output
        return output

    def _check(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Refuse bad arguments before anything is traced."""

    def _new_compiled(self, cache: bool = True, backend: str = "") -> CompiledFunction:
        shapes = None if self.declaration is None else self._shapes
        names = self._argument_names
        return CompiledFunction(self._derive_fresh, self.fn, backend or self.backend, cache, shapes, self.sparse, names)

    @property
    def underlying(self) -> Callable:
        """The user's function, however often it is derived."""
        fn = self.fn
        while isinstance(fn, DerivedFunction):
            fn = fn.fn
        return fn

    def _argument_names(self, count: int, kwargs: Mapping[str, Any]) -> Sequence[str]:
        """What so many positional arguments are called, beside arguments by name."""
        return argument_names(self.fn, count)

    def _shapes(self, args: tuple, kwargs: dict[str, Any]) -> Shapes:
        """The shapes that these arguments declare, which is asked where the function declares some."""
        assert self.declaration is not None
        return self.declaration.shapes(args, kwargs)

    def _named_arguments(self, args: tuple) -> tuple[Sequence[Any], Sequence[Any]]:
        """The arguments of the function itself, and what they declare."""
        assert self.declaration is not None
        return args, self.declaration.shapes(args, {})[0]

    def _output_shapes(self, label: str, like: Any, args: tuple, kwargs: dict[str, Any], has_aux: bool) -> Any:
        """What ``like`` declares if its arrays have the shapes of the function's outputs for these arguments."""
        entry = self._primal.entry(*args, **kwargs)
        output = entry.filled(entry.program.outputs)
        nodes, _ = flatten(split_aux(output, has_aux, self.__name__)[0])
        leaves, structure = flatten(like)
        if len(leaves) != len(nodes) or not all(isinstance(n, Node) for n in nodes):
            return tree_map(lambda _: None, like)
        return unflatten(structure, [declared_like(label, n.shape) for n in nodes])

    def _derive_fresh(self, *args: Any, **kwargs: Any) -> Any:
        running().subject = self.underlying
        return self._derive(args, kwargs, fresh=True)

    def _guarded(self) -> dict[str, Any]:
        return {"fn": self.fn}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            if not kwargs and current() is None and runs_kept_traces():
                entry = self._known(args)
                if entry is not None:
                    return entry.run(args)
            return self._called(args, kwargs)
        except Exception as error:
            brief(error)
            raise

    def _in_order(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments, those that it is taken by without their names, as the rules know them."""
        positions = getattr(self, "positions", None)
        has_vector = getattr(self, "takes_sens", False) and "sens" not in kwargs
        return (args, kwargs) if has_vector else in_order(self.fn, positions or (), args, kwargs)

    def _called(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._in_order(args, kwargs)
        if "dask.array" in sys.modules:
            from .chunked import holds_dask, of_dask

            if holds_dask(args, kwargs):
                return of_dask(self, args, kwargs)
        if self.backend in LIBRARIES or any(name in sys.modules for name in LIBRARIES):
            from .of_libraries import kept_for, library_for, of_library

            entry = None if kwargs else kept_for(self, args)
            if entry is not None:
                return entry.run(args)
            library = library_for(self, args, kwargs)
            if library is not None:
                return of_library(self, library, args, kwargs)
        self._check(args, kwargs)
        if is_tracing(args):
            if self.declaration is not None:
                check_names(*self._named_arguments(args))
            with apart_from_refusals():
                return self._derive(args, kwargs, fresh=False)
        if not is_graph_mode():
            return self._new_compiled(cache=False)(*args, **kwargs)
        return self._compiled(*args, **kwargs)

    def _entry(self, args: tuple, kwargs: dict[str, Any]) -> TraceEntry:
        latest = self._compiled.latest
        if not args and not kwargs and latest is not None:
            return latest
        args, kwargs = self._in_order(args, kwargs)
        shapes = self._shapes_of(args, kwargs)
        if shapes is not None:
            return self._entry_of_shapes(*shapes)
        args, kwargs = _of_numpy(args, kwargs)
        self._check(args, kwargs)
        return self._compiled.entry(*args, **kwargs)

    def _served(self, args: tuple, kwargs: dict[str, Any]) -> tuple[TraceEntry, Sequence[Any]]:
        """The trace for these arrays, and what its kernel takes of them."""
        args, kwargs = _of_numpy(*self._in_order(args, kwargs))
        self._check(args, kwargs)
        entry, leaves = self._compiled.served(*args, **kwargs)
        return entry, entry.arguments(leaves)

    def _recorded(
        self, args: tuple, kwargs: dict[str, Any], purpose: Purpose = Purpose.LINES
    ) -> tuple[TraceEntry, Sequence[Any] | None]:
        """As ``_served``, of what shows this one; the trace knows the user's lines and local names.

        There are no arrays where shapes are given as text, or none are given and the function declares them.
        """
        readable = self._readable()
        args, kwargs = readable._in_order(args, kwargs)
        shapes = readable._shapes_of(args, kwargs)
        if shapes is not None:
            return readable._entry_of_shapes(*shapes, purpose), None
        args, kwargs = _of_numpy(args, kwargs)
        readable._check(args, kwargs)
        compiled = readable._compiled
        entry, leaves = (compiled.read if purpose is Purpose.FORMULAS else compiled.recorded)(*args, **kwargs)
        return entry, entry.arguments(leaves)

    def _shapes_of(self, args: tuple, kwargs: dict[str, Any]) -> Shapes | None:
        """The trees of ``Declared`` of arguments that are shapes as text, or that are left out; None for arrays."""
        if is_shapes(args, kwargs):
            return declared_arguments(self.fn, args, kwargs)
        if args or kwargs or self.declaration is None:
            return None
        return self.declaration.complete(self.__name__)

    def _entry_of_shapes(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], purpose: Purpose = Purpose.RUN
    ) -> TraceEntry:
        checked = tree_map(lambda _: np.zeros(()), (tuple(args), kwargs))
        self._check(*checked)
        return self._compiled.entry_of_shapes(args, kwargs, purpose)

    @briefly
    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The derived Program for these arguments, let-bound.

        In place of example arrays it takes shapes as text, as ``kernel``, ``closed_form``, ``latex`` and ``entry`` do:
        names stand for every size. A function that declares its shapes needs no arguments.

        >>> import numpy as np, symgrad
        >>> print(symgrad.grad(lambda x, A: np.sum((A @ x) ** 2)).program("n", "m n"))
        program(x: float64[n], A: float64[m,n]) {
          v0 = einsum[ij,j->i](A, x)  # float64[m]
          v1 = einsum[,ij,i->j](2.0, A, v0)  # float64[n]
        } -> v1
        """
        return self._entry(args, kwargs).readable

    @briefly
    def provenance(self, *args: Any, **kwargs: Any) -> Provenance:
        """The derived Program before the passes, and which of the user's lines each of its nodes came from.

        The function is traced for it where its trace is not recorded yet. Nodes that passes make are known too.
        """
        entry, _ = self._recorded(args, kwargs)
        return Provenance(entry.program, entry.ledger)

    @briefly
    def kernel(self, *args: Any, **kwargs: Any) -> Kernel:
        """The kernel that serves these arguments; see its ``source`` and ``backend``."""
        return self._entry(args, kwargs).kernel

    @property
    def flags(self) -> dict[str, Any]:
        """What the derivative was asked for with."""
        return {}

    def _readable(self) -> DerivedFunction:
        """The function whose forms show this one."""
        return self

    @briefly
    def result_shapes(self, *args: Any, **kwargs: Any) -> tuple[Any, list[tuple | None]]:
        """The structure of the result, and the shape of each leaf (None for one that is not an array)."""
        entry = self._readable()._entry(args, kwargs)
        return entry.structure, entry.shapes

    def labels(self, entry: Result) -> list[str]:
        """LaTeX names of the outputs."""
        return numbered(self._letter or self.letter(entry), len(entry.program.outputs))

    def letter(self, entry: Result) -> str:
        """What the user's function is called in formulas, in LaTeX."""
        from ..closed_form.latex import function_letter  # slow to import

        return function_letter(entry.program, entry.local_names.values())

    @property
    def _has_formulas(self) -> bool:
        """Whether there is something to show without arguments: the latest call."""
        return self._readable()._compiled.latest is not None

    def _repr_latex_(self) -> str | None:
        """The closed form of the latest call; nothing before the first."""
        if not self._has_formulas:
            return None
        from ..closed_form.breaking import broken  # slow to import
        from ..closed_form.latex import aligned

        return rf"$\displaystyle {aligned(broken(self.latex_rows()))}$"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if self._has_formulas:
            bundle = {"text/plain": f"{self!r}\n{self.formulas()}", "text/latex": self._repr_latex_() or ""}
        return bundle

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def numbered(letter: str, count: int) -> list[str]:
    """Names of so many arrays in LaTeX."""
    return [letter] if count == 1 else [f"{letter}_{{{k}}}" for k in range(count)]


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
        return constant(CapturedArray(np.asarray(node.params[0], dtype)))
    if node.weak:
        return emit(CAST, (node,), (np.dtype(dtype),))
    return flow_as(node, dtype)


def _of_numpy(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Arguments with arrays of other libraries as NumPy's, where any of these libraries is there."""
    if sys.modules.keys().isdisjoint((*LIBRARIES, "dask")):
        return args, kwargs
    from .of_libraries import as_numpy

    return as_numpy(args, kwargs)
