"""DerivedFunction: what every transformation returns; it runs, and it shows itself.

Called with arrays it traces once, derives, compiles and runs; called inside a trace (a function being
differentiated, a Cell) it builds its derivative into that trace, so any order is composition.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from ..closed_form.agreement import Agreement, agreement
from ..closed_form.budget import BUDGET, require
from ..closed_form.derivation.steps import MOST_LINES, Steps
from ..closed_form.entries import entry_at
from ..closed_form.formulas import Formulas, element_forms, formulas
from ..closed_form.latex import aligned
from ..closed_form.matrix import required_forms
from ..compiled import CompiledFunction, Shapes, is_tracing
from ..context import is_graph_mode
from ..entry import Entry
from ..errors import ArgumentError, MissingPart, UnsupportedOperation, shortened
from ..exporters import checked_format, export
from ..kernels.kernel import Kernel, lower
from ..named_dims import Declaration, argument_names, declaration_of, declared_arguments, declared_like, is_shapes
from ..pickling import Importable
from ..primitives.casting import CAST, cast
from ..primitives.contraction import contract
from ..primitives.primitive import Captured, constant, literal
from ..program.dims import is_concrete
from ..program.node import Node, emit
from ..program.program import Program
from ..signature import check_names
from ..tracing.provenance import Provenance
from ..tracing.trace import current, running
from ..tracing.tree import flatten, tree_map, unflatten
from .comparison import Equality
from .equality import equality
from .positions import split_aux
from .run import Run
from .steps import steps_of
from .subjects import subject_of


class DerivedFunction(Importable):
    """Base of the derivatives; subclasses say what they differentiate in ``_run``, and how in ``_result``.

    A pickle, and a copy, holds what was asked for: the function and the flags. All that follows from them (cached
    properties) is made again where it is called.
    """

    def __init__(self, fn: Callable, backend: str) -> None:
        self.fn = fn
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
    def _known(self) -> Callable[[tuple], Entry | None]:
        return self._compiled.known

    @cached_property
    def _primal(self) -> CompiledFunction:
        """The function itself, where the shapes of its outputs are asked for."""
        assert self.declaration is not None
        return CompiledFunction(self.fn, self.fn, shapes=self.declaration.shapes)

    verb = "derived"
    #: whether only the first output is differentiated
    has_aux = False
    #: a sparse result has places, which need sizes: then named dims are checked, and traced as they are in the call
    sparse = False

    def _run(self, args: tuple, kwargs: dict[str, Any], fresh: bool) -> Run:
        """The function on traced values, with what it is differentiated by and along."""
        raise UnsupportedOperation(
            f"{self.__name__} differentiates nothing itself, so it has no steps; ask the derivative for them."
        )

    def _result(self, run: Run) -> Any:
        """The derivative of what the function gave."""
        raise NotImplementedError

    def _derive(self, args: tuple, kwargs: dict[str, Any], fresh: bool) -> Any:
        """The derivative on traced values; ``fresh`` where the arguments are inputs of the trace."""
        return self._result(self._run(args, kwargs, fresh))

    def _value(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the function itself gives on traced values."""
        output = self.fn(*args, **kwargs)
        if running().subject is self.fn:
            running().value = (output,)
        return output

    def _check(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Refuse bad arguments before anything is traced."""

    def _new_compiled(self, cache: bool = True) -> CompiledFunction:
        shapes = None if self.declaration is None else self._shapes
        names = self._argument_names
        return CompiledFunction(self._derive_fresh, self.fn, self.backend, cache, shapes, self.sparse, names)

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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and current() is None and is_graph_mode():
            entry = self._known(args)
            if entry is not None:
                return entry.run(args)
        self._check(args, kwargs)
        if is_tracing(args):
            if self.declaration is not None:
                check_names(*self._named_arguments(args))
            return self._derive(args, kwargs, fresh=False)
        if not is_graph_mode():
            return self._new_compiled(cache=False)(*args, **kwargs)
        return self._compiled(*args, **kwargs)

    def _entry(self, args: tuple, kwargs: dict[str, Any]) -> Entry:
        latest = self._compiled.latest
        if not args and not kwargs and latest is not None:
            return latest
        if is_shapes(args, kwargs):
            return self._entry_of_shapes(*declared_arguments(self.fn, args, kwargs))
        if not args and not kwargs and self.declaration is not None:
            return self._entry_of_shapes(*self.declaration.complete(self.__name__))
        self._check(args, kwargs)
        return self._compiled.entry(*args, **kwargs)

    def _served(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Entry, Sequence[Any]]:
        """The trace for these arrays, and what its kernel takes of them."""
        self._check(args, kwargs)
        entry, leaves = self._compiled.served(*args, **kwargs)
        return entry, entry.arguments(leaves)

    def _recorded(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Entry, Sequence[Any]]:
        """As ``_served``, of what shows this one; the trace knows the lines of the user that its nodes come from."""
        readable = self._readable()
        readable._check(args, kwargs)
        entry, leaves = readable._compiled.recorded(*args, **kwargs)
        return entry, entry.arguments(leaves)

    def _entry_of_shapes(self, args: tuple, kwargs: dict[str, Any]) -> Entry:
        checked = tree_map(lambda _: np.zeros(()), (args, kwargs))
        self._check(*checked)
        return self._compiled.entry_of_shapes(args, kwargs)

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

    def provenance(self, *args: Any, **kwargs: Any) -> Provenance:
        """The derived Program before the passes, and which of the user's lines each of its nodes came from.

        The function is traced for it where its trace is not recorded yet. Nodes that passes make are known too.
        """
        entry, _ = self._recorded(args, kwargs)
        return Provenance(entry.program, entry.ledger)

    def kernel(self, *args: Any, **kwargs: Any) -> Kernel:
        """The kernel that serves these arguments; see its ``source`` and ``backend``."""
        return self._entry(args, kwargs).kernel

    def closed_form(self, *args: Any, form: str = "auto", budget: int = BUDGET, **kwargs: Any) -> Any:
        """The derivative as sympy, in the structure of the result.

        ``form="entries"`` gives for each array a ``sympy.Array`` (a scalar expression for one of shape
        ``()``) in the entries ``x1, x2, …`` of the inputs, numbered row by row from 1. ``form="index"``
        gives the element at free indices ``i, j, …`` (counting from 0), with sums as ``sympy.Sum``.
        ``auto`` takes entries for small arrays. ``form="matrix"`` gives a MatrixForm, a formula in matrix
        notation with ``text``, ``latex`` and ``evaluate``. Raises ClosedFormTooLarge, before anything is
        expanded, where the form would have more than ``budget`` operations, or where there is no matrix notation.

        >>> import numpy as np
        >>> from symgrad import grad
        >>> grad(lambda x, y: x**2 * y).closed_form(1.0, 2.0)
        2*x*y
        >>> grad(lambda x, A: x @ A @ x).closed_form(np.ones(9), np.ones((9, 9)), form="matrix")
        (A + Aᵀ)x
        """
        entry = self._readable()._entry(args, kwargs)
        program = entry.readable
        if not isinstance(form, str) or form not in _FORMS:
            raise ArgumentError(f"form={form!r} is unknown; choose one of {', '.join(map(repr, _FORMS))}.")
        if form == "matrix":
            made = required_forms(program)
            return entry.filled(made)
        if form == "entries" and not all(is_concrete(n.shape) for n in (*program.inputs, *program.nodes)):
            raise ArgumentError('form="entries" writes out every element, which needs sizes; form="index" needs none.')
        made = element_forms(program, form, budget)
        return entry.filled(made)

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
        program = entry.readable
        arrays = entry.arrays_of(program.outputs)
        if not 0 <= output < len(arrays):
            raise ArgumentError(f"entry: output={output}, and the result has {len(arrays)} arrays.")
        node = arrays[output]
        place = checked_index(index, node.shape)
        require(program.with_outputs([node]), False, budget)
        return entry_at(program, node, place)

    def steps(self, *args: Any, mode: str | None = None, budget: int = MOST_LINES, **kwargs: Any) -> Steps:
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
        The chain rule, from the output back
          f̄ = 1                 the output by itself
          v̄₁ = f̄𝟏               a sum: each term counts alike
          r̄ = v̄₁ ⊙ cos(r)       chain rule through sin
          w̄ = Xᵀr̄               linear in w: multiply by the transpose of the other factor
        <BLANKLINE>
        Put together
          ∂f/∂w = Xᵀ cos(Xw)
        """
        return steps_of(self, args, kwargs, mode, budget)

    def equals(self, other: Any, *args: Any, seconds: float = 5.0, **kwargs: Any) -> Equality:
        """Whether this derivative agrees with ``other``, for arguments like these (or shapes as text).

        ``other`` is another derivative, a function of the same arguments (a gradient by hand), or sympy expressions in
        the entries that ``closed_form`` uses, in the structure of the result. Where sympy can show within the time that
        the difference of the formulas is 0, they are ``equal``; otherwise both are computed at many points, of several
        sizes where dims are named: near the arguments, spread over the plausible domains, near kinks and at special
        values. They ``agree`` there, which is no proof, or ``differ``, with a ``counterexample``. An ``if`` reads the
        result as true or false.

        >>> import numpy as np
        >>> from symgrad import grad
        >>> grad(lambda x: np.sum(x**2)).equals(lambda x: 2 * x, "n")
        equal: the difference of the formulas simplifies to 0
        >>> grad(lambda x: np.log(1 + np.exp(x))).equals(lambda x: np.exp(x) / (1 + np.exp(x)), 0.5).equal
        True
        >>> grad(lambda x: x**3).equals(lambda x: 3 * x * abs(x), 2.0).counterexample.args[0] < 0
        True
        """
        return equality(self, other, args, kwargs, seconds)

    def agreement(self, *args: Any, **kwargs: Any) -> Agreement:
        """How closely the closed forms agree with the kernel at these arrays, each evaluated on its own.

        The matrix and the entry form are compared everywhere, the index form at a few places.

        >>> import numpy as np, symgrad
        >>> gradient = symgrad.grad(lambda w, X: np.sum((X @ w) ** 2))
        >>> gradient.agreement(np.ones(2), np.ones((3, 2)))
        matrix form:  agrees with the kernel to 0.0e+00
        entries form: agrees with the kernel to 0.0e+00
        index form:   agrees with the kernel to 0.0e+00
        """
        entry, arrays = self._readable()._served(args, kwargs)
        return agreement(entry.readable, arrays, lower(entry.readable, "numpy")(*arrays))

    def export(
        self,
        format: str,
        *args: Any,
        path: str | Path | None = None,
        form: str = "auto",
        document: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        r"""The derivative in another format, also written to ``path`` where that is given.

        ``format`` is one of ``symgrad.exporters.FORMATS``: source code (``python``, ``c``, ``fortran``, ``julia``,
        ``numba``, ``numexpr``, ``jax``, ``torch``), models and data (``onnx``, ``json``), formulas (``latex``,
        ``markdown``, ``mathml``, ``sympy``), the program (``text``, ``dot``, ``svg``). Every export says what it is of
        and, where the arguments are example arrays, carries a check: code compares itself when it is run. Arguments are
        as those of ``program``; without any the latest ones serve, and inputs for the check are drawn.

        ``form`` is the form of formulas, as in ``closed_form``; ``document`` says whether documents and sources are
        complete files of their own, as they are where there is a ``path``, or fragments. The result is a text;
        ``bytes`` for onnx, live objects for sympy, ``Sources`` where several files are written. Raises ArgumentError
        for another format, UnsupportedOperation for what a format cannot hold.

        >>> import symgrad
        >>> print(symgrad.grad(lambda x: x**3).export("latex", 2.0))
        % the gradient of f, ...
        \[
        \begin{aligned} \frac{\partial f}{\partial x} &= 3 x^{2} \end{aligned}
        \]
        <BLANKLINE>
        """
        if not isinstance(form, str) or form not in _FORMS:
            raise ArgumentError(f"form={form!r} is unknown; choose one of {', '.join(map(repr, _FORMS))}.")
        checked_format(format)
        whole = path is not None if document is None else document
        return export(subject_of(self, args, kwargs, path, form, whole), format, path)

    @property
    def flags(self) -> dict[str, Any]:
        """What the derivative was asked for with."""
        return {}

    def panel(self, *args: Any, **kwargs: Any) -> Any:
        """Switches and sliders around this derivative, in a notebook (``pip install 'symgrad[notebook]'``)."""
        return notebook_room("panel").panel(self, args, kwargs)

    def picture(self, *args: Any, **kwargs: Any) -> Any:
        """The Program as a picture, what the function computes beside what the derivative adds."""
        return notebook_room("picture").picture(self, args, kwargs)

    def annotate(self, *args: Any, **kwargs: Any) -> Any:
        """The source of the function, with what each line costs and what its derivative adds to that."""
        return notebook_room("annotation").annotate(self, args, kwargs)

    def _readable(self) -> DerivedFunction:
        """The function whose forms show this one."""
        return self

    def latex(self, *args: Any, budget: int = BUDGET, **kwargs: Any) -> str:
        """The derivative as LaTeX: a formula an output, let-bound lines where that would be too large."""
        return aligned(self.latex_rows(*args, budget=budget, **kwargs))

    def latex_rows(self, *args: Any, budget: int = BUDGET, **kwargs: Any) -> list[str]:
        """The rows ``name &= formula`` that ``latex`` aligns."""
        entry = self._readable()._entry(args, kwargs)
        return formulas(entry.readable, budget).latex_rows(self.labels(entry))

    def formulas(self, *args: Any, budget: int = BUDGET, **kwargs: Any) -> Formulas:
        """The arrays of the result as formulas in the form that reads best, which ``latex`` shows."""
        return formulas(self._readable()._entry(args, kwargs).readable, budget)

    def result_shapes(self, *args: Any, **kwargs: Any) -> tuple[Any, list[tuple | None]]:
        """The structure of the result, and the shape of each leaf (None for one that is not an array)."""
        entry = self._readable()._entry(args, kwargs)
        return entry.structure, entry.shapes

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


def notebook_room(name: str) -> Any:
    """A part of ``symgrad_notebook``, imported where it is asked for and nowhere else."""
    try:
        return importlib.import_module(f"symgrad_notebook.{name}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing in ("symgrad_notebook", "IPython", "ipywidgets", "anywidget", "traitlets"):
            raise MissingPart(f"this needs {missing}: pip install 'symgrad[notebook]'") from None
        raise


def checked_index(index: Any, shape: tuple) -> tuple[int, ...]:
    """``index`` as whole numbers from 0, within ``shape``."""
    place = index if isinstance(index, tuple) else (index,)
    if len(place) != len(shape) or not all(isinstance(k, (int, np.integer)) for k in place):
        raise ArgumentError(f"entry: the array has shape {shape}; name one entry by {len(shape)} whole numbers.")
    if any(isinstance(d, int) and not -d <= k < d for k, d in zip(place, shape, strict=True)):
        raise ArgumentError(f"entry: {tuple(place)} is outside the array of shape {shape}.")
    return tuple([int(k) if k >= 0 else int(k) + d for k, d in zip(place, shape, strict=True)])


_FORMS = ("auto", "entries", "index", "matrix")


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
        return emit(CAST, (node,), (np.dtype(dtype),))
    return cast(node, dtype)
