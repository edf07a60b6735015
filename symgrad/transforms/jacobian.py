"""jacobian, jacfwd, jacrev, hessian: derivatives by every entry, seeded with δ, never looped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..compiled import CompiledFunction
from ..differentiation.edges import active_edges
from ..differentiation.reverse import reverse_sweep
from ..differentiation.stored import recalled
from ..errors import ArgumentError, DtypeError, TracingError
from ..named_dims import is_shapes
from ..primitives.identity import CUSTOM, STOP
from ..primitives.order import extent
from ..program.forks import cached_property
from ..program.node import Node, ancestors
from ..tracebacks import briefly
from ..tracing.trace import running
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, unflatten
from .derived import DerivedFunction, P, finished
from .gradient import GradientFunction, partial_latex
from .linearised import Linearised, dense_blocks, sparse_cells
from .modes import MODES, Choice
from .positions import Positions, check_arguments, checked_flag, checked_function, checked_positions, named_once
from .run import Run, run_of, seeds_of_sum
from .view import View

if TYPE_CHECKING:
    pass

#: a node is differentiated in so many times the time with terms in place of one array
_BY_TERMS = 10


#: flows through a loop, which are arrays there, up to which it is an operation: written out, it keeps their structure
_MAX_FLOWS = 128


def _elements(nodes: Sequence[Node]) -> float:
    """The elements of all nodes together."""
    return sum(extent(n.shape) for n in nodes)


class JacobianFunction(DerivedFunction[P]):
    """The Jacobian of a function; made by ``jacobian``, ``jacfwd`` and ``jacrev``."""

    if TYPE_CHECKING:
        from .contributions import contributions
        from .in_notebook import explore
    else:
        contributions, explore = View(".contributions"), View(".in_notebook")

    verb = "jacobian"

    def __init__(
        self,
        fn: Callable,
        grad_position: Any,
        has_aux: bool,
        mode: str,
        backend: str,
        sparse: bool = False,
        holomorphic: bool = False,
    ) -> None:
        if not isinstance(mode, str) or mode not in MODES:
            raise ArgumentError(f"mode={mode!r} is unknown; choose one of {', '.join(map(repr, MODES))}.")
        positions = checked_positions(grad_position, checked_function(fn))
        if positions is None:
            raise ArgumentError("grad_position must name at least one argument.")
        self.positions = positions
        self.bare = not isinstance(grad_position, (tuple, list))
        self.has_aux = checked_flag("has_aux", has_aux)
        self.mode = mode
        self.sparse = checked_flag("sparse", sparse)
        self.holomorphic = checked_flag("holomorphic", holomorphic)
        super().__init__(checked_function(fn), backend)

    @property
    def flags(self):
        said: dict[str, Any] = {"grad_position": self.positions[0] if self.bare else self.positions}
        return said | {name: True for name in ("has_aux", "holomorphic") if getattr(self, name)} | {"mode": self.mode}

    def _check(self, args, kwargs):
        check_arguments(args, self.positions, self.__name__)

    def _with(self, sparse: bool) -> JacobianFunction:
        """The same derivative, sparse or dense."""
        return self if sparse == self.sparse else self._twin

    @cached_property
    def _twin(self) -> JacobianFunction:
        position = self.positions[0] if self.bare else self.positions
        return type(self)(self.fn, position, self.has_aux, self.mode, self.backend, not self.sparse, self.holomorphic)

    def _readable(self):
        return self._with(sparse=False)

    def _entry(self, args, kwargs):
        if not args and not kwargs and self._compiled.latest is None and self._shapes_of(args, kwargs) is None:
            raise ArgumentError(f"{self.__name__}: pass example arguments, whose shapes the formula is for.")
        return super()._entry(args, kwargs)

    def labels(self, entry):
        from ..closed_form.latex import input_latex, symbol_latex  # slow to import

        shown = input_latex(entry.program)
        by = [shown.get(n) or symbol_latex(n) for p in self.positions for n in entry.argument_names[p]]
        count = self.block_count(entry.structure, len(entry.slots))
        made = self._block_labels(by, count, self.letter(entry))
        return made + [rf"\mathrm{{aux}}_{{{k}}}" for k in range(len(entry.program.outputs) - len(made))]

    @property
    def order(self) -> int:
        """How often it derives by its one argument, with what it is of: 3 for ``jacobian(hessian(f))``."""
        inner = self.fn
        if len(self.positions) != 1 or not isinstance(inner, (GradientFunction, JacobianFunction)):
            return 1
        return 1 + inner.order if inner.positions == self.positions and inner.is_plain else 1

    @property
    def is_plain(self) -> bool:
        """Whether it gives derivatives alone, with nothing summed between them."""
        return not self.has_aux

    def _block_labels(self, by: Sequence[str], count: int, f: str) -> list[str]:
        """LaTeX names of the blocks, row by row, of a function ``f`` of inputs that are called ``by``."""
        rows = count // len(by)
        if count == 1:
            return [partial_latex(by[0], self.order, f)]
        of = [f] if rows == 1 else [f"{f}_{{{k}}}" for k in range(rows)]
        return [rf"\frac{{\partial {row}}}{{\partial {x}}}" for row in of for x in by]

    def block_count(self, structure: Any, leaves: int) -> int:
        """How many of the ``leaves`` of a result of this structure are blocks of the Jacobian; the others are aux."""
        if not self.has_aux:
            return leaves
        return len(flatten(unflatten(structure, range(leaves))[0])[0])

    def sparsity(self, *args: Any, **kwargs: Any) -> Any:
        """The pattern of each block for these arguments: a ``Sparsity``, nested as the result is.

        It follows from the formula alone, so it is exact for all values of the float inputs: an entry outside is
        always zero. It does depend on the integer arguments that the function indexes with. Rows count
        the elements of the output, columns those of the input, row by row. Nothing but indices is computed.

        >>> import numpy as np
        >>> print(hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2)).sparsity(np.ones(4)))
        ■■··
        ■■■·
        ·■■■
        ··■·
        """
        self._needs_examples(args, kwargs)
        entry, arrays = self._with(sparse=True)._served(args, kwargs)
        found = entry.patterns(arrays)
        return found[0] if self.has_aux else found

    def panel(self, *args: Any, **kwargs: Any) -> Any:
        """The flag panel is for gradients: an ArgumentError says what there is in its place."""
        raise ArgumentError(
            f"{self.__name__}: the panel has the flags of gradients; open grad(f).panel(…), or .explore(…) for this."
        )

    @cached_property
    def _function_alone(self) -> CompiledFunction:
        """The function alone, with what its Jacobian would be derived from."""
        return CompiledFunction(self._trace_alone, self.fn, "numpy")

    def _trace_alone(self, *args: Any, **kwargs: Any) -> Any:
        run = self._run(args, kwargs, fresh=True)
        running().derivation = Linearised(self, run)
        return tuple(map(Tracer, run.outputs))

    def _differentiated(self, run: Run) -> list[Node]:
        """What the rows of the Jacobian are the derivatives of."""
        return run.outputs

    def _needs_examples(self, args: tuple, kwargs: dict[str, Any]) -> None:
        if (not args and not kwargs) or is_shapes(args, kwargs):
            raise ArgumentError(f"{self.__name__}: pass example arrays; the answer depends on them.")

    def explain(self, *args: Any, **kwargs: Any) -> Choice:
        """What each mode would cost for these arguments, which was chosen and why; nothing is computed.

        ``forward`` sweeps from the inputs, ``reverse`` from the outputs, ``cross`` multiplies chains of local
        Jacobians in the cheapest order. Operations are scalar multiplications (or what stands for them), memory
        is the bytes written on the way.

        >>> import numpy as np
        >>> A, B = np.ones((30, 4)), np.ones((4, 50))
        >>> jacobian(lambda x: A @ np.tanh(B @ x)).explain(np.ones(50)).mode
        'reverse'
        """
        self._needs_examples(args, kwargs)
        entry, arrays = self._readable()._served(args, kwargs)
        with entry.reopened(arrays):
            return entry.trace.derivation.every_way

    def _run(self, args, kwargs, fresh):
        return run_of(self, args, kwargs, self.positions, fresh)

    def _rolls(self, outputs, wrt):
        return min(_elements(outputs), _elements(wrt)) <= _MAX_FLOWS

    def _nested(self, rows: list[Any], run: Run) -> Any:
        return unflatten(run.structure, rows)

    def _by(self, cells: Sequence[Any], run: Run) -> Any:
        """A row of cells in the structure of the arguments."""
        made = run.inputs.nested(cells)
        return made[0] if self.bare else tuple(made)

    def _derive(self, args, kwargs, fresh):
        if self.sparse and not fresh:
            raise TracingError.here(
                f"{self.__name__}: a sparse result is not traced; leave sparse=True to the outermost call."
            )
        run = self._run(args, kwargs, fresh)
        found = Linearised(self, run)
        cells = sparse_cells(found) if self.sparse else self._dense_cells(found)
        if fresh:
            running().run, running().derivation = run, found
        result = self._nested([self._by(row, run) for row in cells], run)
        return (result, run.aux) if self.has_aux else result

    def _is_symmetric(self, run: Run) -> bool:
        """True where the Jacobian is its own transpose."""
        return False

    def _dense_cells(self, found: Linearised) -> list[list[Any]]:
        """Each block as a traced array of shape out + in."""
        run, wrt = found.run, found.wrt
        through = _BY_TERMS * len(active_edges(run.outputs, wrt))
        blocks = recalled(f"{self.verb} {self.mode}", run.outputs, (), wrt, through, lambda: dense_blocks(found))
        cells = iter(Tracer(b) for b in blocks if b is not None)
        return [[next(cells) for _ in wrt] for _ in range(len(blocks) // len(wrt) if wrt else len(run.outputs))]


class HessianFunction(JacobianFunction[P]):
    """The Hessian of the summed output, the Jacobian of its gradient; made by ``hessian``."""

    verb = "hessian"

    @property
    def order(self):
        return 2

    def _run(self, args, kwargs, fresh):
        run = super()._run(args, kwargs, fresh)
        return replace(run, seeds=seeds_of_sum(run.outputs), modes=("forward",), twice=True, summed=True)

    def _rolls(self, outputs, wrt):
        return _elements(wrt) <= _MAX_FLOWS

    def _is_symmetric(self, run):
        return _is_symmetric(run.outputs)

    def _block_labels(self, by, count, f):
        def below(x: str, y: str) -> str:
            return rf"\partial {x}^{{2}}" if x == y else rf"\partial {x}\,\partial {y}"

        return [rf"\frac{{\partial^{{2}} {f}}}{{{below(x, y)}}}" for x in by for y in by]

    def _differentiated(self, run):
        if any(n.is_complex for n in (*run.outputs, *run.wrt)):
            raise DtypeError(
                f"{self.__name__}: second derivatives are of real functions by real arguments; write f(a + 1j * b), "
                "and take them by a and b. hvp takes complex ones."
            )
        pulled = reverse_sweep(run.outputs, run.seeds, run.wrt)
        return [finished(g, n) for g, n in zip(pulled, run.wrt, strict=True)]

    def _nested(self, rows, run):
        return self._by(rows, run)


def _is_symmetric(outputs: Sequence[Node]) -> bool:
    """True where second derivatives commute: a declared rule or a stop may say otherwise."""
    return not any(n.primitive in (CUSTOM, STOP) for n in ancestors(outputs))


@briefly
def jacobian(
    fn: Callable[P, Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
    wrt: Positions | None = None,
    mode: str = "auto",
    sparse: bool = False,
    backend: str = "auto",
    holomorphic: bool = False,
) -> JacobianFunction[P]:
    """All of ``∂out/∂in``, of shape out + in; nested ``[out][in]``, bare for one output, and for an int.

    It is taken by ``grad_position``, as in ``grad``; ``argnums`` and ``wrt`` say the same.
    ``mode`` is ``forward``, ``reverse``, ``cross`` (chains of local Jacobians in the cheapest order), or
    ``auto``: the cheapest by predicted cost, which ``.explain`` shows. With ``has_aux`` the result is
    ``(J, aux)``. With ``sparse`` each block is a ``scipy.sparse.csr_array`` of shape (elements of out,
    elements of in), both counted row by row, of which nothing but the entries that the formula has is
    computed; ``.sparsity`` shows the pattern. Complex outputs by real arguments have complex derivatives, real ones by
    complex arguments gradients ``∂f/∂Re + i ∂f/∂Im``; both complex need ``holomorphic=True``.

    >>> import numpy as np
    >>> jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return JacobianFunction(fn, named_once(grad_position, argnums, wrt), has_aux, mode, backend, sparse, holomorphic)


@briefly
def jacfwd(
    fn: Callable[P, Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
    wrt: Positions | None = None,
    backend: str = "auto",
) -> JacobianFunction[P]:
    """``jacobian`` by forward mode.

    >>> import numpy as np
    >>> jacfwd(np.sum)(np.ones(2))
    array([1., 1.])
    """
    return JacobianFunction(fn, named_once(grad_position, argnums, wrt), has_aux, "forward", backend)


@briefly
def jacrev(
    fn: Callable[P, Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
    wrt: Positions | None = None,
    backend: str = "auto",
) -> JacobianFunction[P]:
    """``jacobian`` by reverse mode.

    >>> import numpy as np
    >>> jacrev(np.sum)(np.ones(2))
    array([1., 1.])
    """
    return JacobianFunction(fn, named_once(grad_position, argnums, wrt), has_aux, "reverse", backend)


@briefly
def hessian(
    fn: Callable[P, Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
    wrt: Positions | None = None,
    mode: str = "auto",
    sparse: bool = False,
    backend: str = "auto",
) -> HessianFunction[P]:
    """The second derivatives of the summed output, of shape in + in; nested ``[in][in]`` for several.

    ``mode`` says how the gradient, always by reverse mode, is differentiated again; with ``sparse`` each block
    is a ``scipy.sparse.csr_array``; both as in ``jacobian``.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return HessianFunction(fn, named_once(grad_position, argnums, wrt), has_aux, mode, backend, sparse)
