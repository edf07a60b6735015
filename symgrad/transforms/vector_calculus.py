"""divergence, curl and laplacian: derivatives of fields, by the elements of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..differentiation.cotangents import accumulate
from ..differentiation.laplacian import forward_laplacian
from ..differentiation.reverse import reverse_sweep
from ..differentiation.structure.structured_tangents import dense
from ..differentiation.structure.traces import trace_of
from ..errors import ArgumentError, DtypeError, ShapeError
from ..passes.cost import cost
from ..passes.products import absorb_products
from ..program.dims import size
from ..program.node import Node, active_graph
from ..program.program import Program
from ..tracebacks import briefly
from ..tracing.trace import as_node
from ..tracing.tracer import Tracer
from ..tracing.tree import unflatten
from .complex_numbers import block_dtype
from .derived import DerivedFunction, P, finished, finished_as, numbered
from .modes import chosen
from .positions import Positions, check_arguments, checked_function, checked_positions
from .run import Run, run_of, seeds_of_sum


class FieldDerivative(DerivedFunction[P]):
    """A derivative of a field by all elements of the arguments at ``positions``."""

    #: what stands before the function in LaTeX
    sign = ""

    def __init__(self, fn: Callable, grad_position: Any, backend: str) -> None:
        positions = checked_positions(grad_position, checked_function(fn))
        if positions is None:
            raise ArgumentError("grad_position must name at least one argument.")
        self.positions = positions
        super().__init__(checked_function(fn), backend)

    @property
    def flags(self):
        return {"grad_position": self.positions[0] if len(self.positions) == 1 else self.positions}

    def _check(self, args, kwargs):
        check_arguments(args, self.positions, self.__name__)

    def _run(self, args, kwargs, fresh):
        run = run_of(self, args, kwargs, self.positions, fresh)
        if any(w.is_complex for w in run.wrt):
            raise DtypeError(
                f"{self.__name__}: it is taken by real numbers, and an argument is complex; write f(a + 1j * b), and "
                "take it by a and b."
            )
        return run

    def labels(self, entry):
        return [self.sign + one for one in numbered(self.letter(entry), len(entry.program.outputs))]


class LaplacianFunction(FieldDerivative[P]):
    """The Laplacian of each output; made by ``laplacian``."""

    verb = "laplacian"
    sign = r"\Delta "

    def _derive(self, args, kwargs, fresh):
        run = self._run(args, kwargs, fresh)  # no run of the trace: it is no sweep that steps are told of
        found = _cheapest(run)
        return unflatten(run.structure, [Tracer(finished(n, o)) for n, o in zip(found, run.outputs, strict=True)])


def _cheapest(run: Run) -> list[Node | None]:
    """The Laplacians of the outputs: forward, or of one number the trace of its Hessian where that costs less."""
    forward = forward_laplacian(run.outputs, run.wrt)
    if len(run.outputs) != 1 or run.outputs[0].shape or forward[0] is None:
        return forward
    gradients = reverse_sweep(run.outputs, seeds_of_sum(run.outputs), run.wrt)
    pairs = [(finished(g, w), w) for g, w in zip(gradients, run.wrt, strict=True) if g is not None]
    return min((forward, [_sum_of_traces(pairs)]), key=_seconds)


def _seconds(nodes: Sequence[Node | None]) -> float:
    made = [n for n in nodes if n is not None]
    return cost(absorb_products(Program((), made, (), active_graph())).nodes).seconds


class DivergenceFunction(FieldDerivative[P]):
    """The divergence of a field; made by ``divergence``."""

    verb = "divergence"
    sign = r"\nabla\cdot "

    def _result(self, run):
        pairs = _components(run, self.__name__)
        return Tracer(finished_as(_sum_of_traces(pairs), (), block_dtype(*pairs[0])))


class CurlFunction(FieldDerivative[P]):
    """The curl of a field in the plane or in space; made by ``curl``."""

    verb = "curl"
    sign = r"\nabla\times "

    def _result(self, run):
        pairs = _components(run, self.__name__)
        count = sum(size(w.shape) for _, w in pairs)
        if count not in (2, 3):
            raise ShapeError(
                f"{self.__name__}: a curl is of fields of 2 or 3 components, and this one has {count}. In other "
                "dimensions the antisymmetric part of jacobian(f) takes its place."
            )
        table = [[_block(o, w) for _, w in pairs] for o, _ in pairs]
        partial = table if len(pairs) > 1 else table[0][0].reshape(count, count)
        turns = [(1, 2), (2, 0), (0, 1)] if count == 3 else [(0, 1)]
        made = [partial[b][a] - partial[a][b] for a, b in turns]
        return np.stack(made) if len(made) > 1 else made[0]


def _block(output: Node, source: Node) -> Tracer:
    """The Jacobian of one component of a field by one argument."""
    shape = output.shape + source.shape
    terms = chosen([output], [source], "auto").table[0][0]
    return Tracer(finished_as(dense(terms, shape), shape, block_dtype(output, source)))


def _sum_of_traces(pairs: Sequence[tuple[Node, Node]]) -> Node | None:
    """The trace of the Jacobian of a field: of each component by the argument beside it."""
    found = [trace_of(chosen([o], [w], "auto").table[0][0], w.shape) for o, w in pairs if o.differentiable]
    parts = [part for part in found if part is not None]
    return accumulate(parts) if parts else None


def _components(run: Run, caller: str) -> list[tuple[Node, Node]]:
    """Each component of a field with the argument along it, of one shape.

    A field may give the tuple of the numbers that its argument holds, or one array for numbers that are its arguments.
    """
    outputs, wrt = run.outputs, run.wrt
    if len(wrt) == 1 and len(outputs) > 1 and all(o.shape == () for o in outputs):
        outputs = [as_node(np.stack([Tracer(o) for o in outputs]))]
    elif len(outputs) == 1 and len(wrt) > 1 and outputs[0].shape == (len(wrt),):
        outputs = [as_node(Tracer(outputs[0])[k]) for k in range(len(wrt))]
    if [o.shape for o in outputs] != [w.shape for w in wrt]:
        raise ShapeError(
            f"{caller}: a field has as many components as there are coordinates, and this one gives "
            f"{_shapes(run.outputs)} for {_shapes(wrt)}. Return an array of the argument's shape; where coordinates "
            "are arguments of their own, name them all in grad_position."
        )
    return list(zip(outputs, wrt, strict=True))


def _shapes(nodes: Sequence[Node]) -> str:
    return "shape " + " and ".join(str(n.shape) for n in nodes)


@briefly
def laplacian(fn: Callable[P, Any], grad_position: Positions = 0, *, backend: str = "auto") -> LaplacianFunction[P]:
    """``Δf``: the sum of the second derivatives by every element of the arguments, of the shape of the output.

    Each element of the output has its own, as the vector Laplacian; several outputs keep their structure. Several
    positions count together: ``grad_position=(0, 1)`` gives ``∂²f/∂x² + ∂²f/∂y²``. No Hessian is built: Laplacians go
    forward beside the tangents (Li et al., Nature Machine Intelligence 6, 2024), or, where that costs less, the
    diagonal alone of a Hessian of known structure is summed. For many points write ``vmap(laplacian(f))``. Raises
    DtypeError for complex arguments.

    >>> import numpy as np
    >>> laplacian(lambda x: np.exp(-(x @ x)))(np.zeros(3))
    np.float64(-6.0)
    >>> laplacian(lambda x, y: x**2 * np.sin(y), (0, 1)).closed_form(1.0, 2.0)
    (2 - x**2)*sin(y)
    """
    return LaplacianFunction(fn, grad_position, backend)


@briefly
def divergence(fn: Callable[P, Any], grad_position: Positions = 0, *, backend: str = "auto") -> DivergenceFunction[P]:
    """``∇·F``: the trace of the Jacobian of a field, a number; only the diagonal is computed where structure is known.

    ``fn`` gives an array of its argument's shape, or a tuple of the numbers in it; where coordinates are arguments of
    their own, ``grad_position`` names them all. Raises ShapeError for another number of components and DtypeError for
    complex arguments.

    >>> import numpy as np
    >>> divergence(lambda r: r / np.linalg.norm(r))(np.array([3.0, 0.0, 4.0]))
    np.float64(0.4)
    >>> divergence(lambda x, y: (x * y, y**2), (0, 1)).closed_form(1.0, 2.0)
    3*y
    """
    return DivergenceFunction(fn, grad_position, backend)


@briefly
def curl(fn: Callable[P, Any], grad_position: Positions = 0, *, backend: str = "auto") -> CurlFunction[P]:
    """``∇×F``: an array of 3 for a field in space, a number for one in the plane (``∂F₂/∂x₁ - ∂F₁/∂x₂``).

    Fields and errors are those of ``divergence``; a field of other than 2 or 3 components is a ShapeError.

    >>> import numpy as np
    >>> curl(lambda r: np.cross([0.0, 0.0, 1.0], r))(np.array([1.0, 2.0, 3.0]))
    array([0., 0., 2.])
    >>> curl(lambda x, y: (-y, x), (0, 1))(1.0, 2.0)
    np.float64(2.0)
    """
    return CurlFunction(fn, grad_position, backend)
