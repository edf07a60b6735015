"""Solutions of equations, with their derivative by the implicit function theorem.

``F(x, a) = 0`` says how ``x`` moves with ``a``, whatever has found it: ``dx = -(∂F/∂x)⁻¹ (∂F/∂a) da``. The rule is
traced at the solution, so it has derivatives itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..custom_functions import custom
from ..differentiation.forward import forward_sweep
from ..errors import DtypeError, ShapeError
from ..primitives.identity import mark
from ..program.dims import is_concrete
from ..tracing.external_calls import known_values
from ..tracing.given_arrays import array
from ..tracing.trace import as_node, running
from ..tracing.tracer import Tracer
from .closed import Closed, is_known, remembered


class Equation(NamedTuple):
    """``F`` and ``∂F/∂x`` on plain arrays, as SciPy calls them."""

    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]


def solution(
    name: str,
    equation: Callable[[Any], Any],
    like: Any,
    find: Callable[..., Any],
    begin: Sequence[Any],
    each: bool = False,
) -> Any:
    """An ``x`` as ``like`` with ``equation(x) = 0``: what ``find(Equation, *begin)`` gives, on plain arrays.

    ``each``: an element of the equation reads its own element of ``x`` alone. ``name`` is that of SciPy's function.
    """
    x = unknown(like, name)
    closed, shape, first = Closed(equation, [x], ["x"]), x.shape, len(begin)
    dims, dtype = as_node(x).shape, x.dtype
    if closed.shape != dims:
        raise ShapeError.here(f"{name}: the equations have the shape {closed.shape}, and the unknowns {shape}.")

    def found(*values: Any) -> np.ndarray:
        own_shape = dims if is_concrete(dims) else values[-1].shape

        def on(kernel: Callable[..., Any]) -> Callable[[Any], Any]:
            return lambda x: kernel(np.asarray(x, dtype).reshape(own_shape), *values[first:last])

        made = find(Equation(on(closed.kernel()), on(closed.kernel(closed.derivative(each)))), *values[:first])
        return np.array(made, dtype).reshape(own_shape)

    def moved(primals: tuple, tangents: tuple, out: Any) -> Any:
        """The tangent of the solution along those of what the equation reads."""
        read = [mark(as_node(v)) for v in primals[first:last]]
        flows = {n: as_node(t) for n, t in zip(read, tangents[first:last], strict=True) if t is not None}
        arguments = [out, *map(Tracer, read)]
        (along,) = forward_sweep([as_node(closed(*arguments))], flows)
        if along is None:
            return np.zeros_like(out)
        slope = closed.slope(*arguments, each=each)
        if each or not shape:
            return -Tracer(along) / slope
        right = -np.ravel(Tracer(along))
        return np.reshape(np.linalg.solve(np.reshape(slope, (right.size, right.size)).T, right), shape)

    operands = [*begin, *closed.operands]
    last = len(operands)
    read = [as_node(v).dtype for v in operands if as_node(v).differentiable]
    if not is_concrete(dims) or not read or np.result_type(*read) != dtype:
        operands.append(x)  # of which a call learns the sizes and the dtype
    if all(map(is_known, operands)):
        values = known_values(running(), list(map(as_node, operands)))
        return found(*values)[()] if values is not None else found(*operands)
    return custom(remembered(found), jvp=moved, name=name.rpartition(".")[2], shape=lambda *_: shape)(*operands)


def unknown(like: Any, name: str) -> Any:
    """The unknowns where a solver begins, as floats."""
    x = array(like)
    if x.dtype.kind == "c":
        raise DtypeError.here(f"{name} of complex unknowns has no derivative rule in symgrad; solve for their parts.")
    return x if x.dtype.kind == "f" else x.astype(np.float64)
