"""jacobian, jacfwd, jacrev, hessian: derivatives by every entry, seeded with δ, never looped."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..differentiation.jacobian import jacobian_terms
from ..differentiation.reverse import pull_back
from ..differentiation.structure.terms import dense
from ..errors import ArgumentError
from ..primitives.contraction import ones
from ..program.node import Node
from ..tracing.tracer import Tracer
from ..tracing.tree import LEAF, unflatten
from .derived import DerivedFunction, finished_as
from .positions import (
    check_arguments,
    checked_flag,
    checked_function,
    checked_positions,
    mark_argument,
    output_nodes,
    split_aux,
)

_MODES = ("auto", "forward", "reverse")


def jacobian_blocks(outputs: list[Node], wrt: list[Node], mode: str) -> list[list[Node]]:
    """``∂output/∂input`` of shape out + in for each pair, by one δ-seeded sweep an output or an input."""
    if mode == "auto":
        size = lambda nodes: sum(math.prod(d if isinstance(d, int) else 1000 for d in n.shape) for n in nodes)  # noqa: E731
        mode = "forward" if size(wrt) <= size(outputs) else "reverse"
    table = jacobian_terms(outputs, wrt, mode)
    return [
        [finished_as(dense(table[i][j], o.shape + w.shape), o.shape + w.shape, w.dtype) for j, w in enumerate(wrt)]
        for i, o in enumerate(outputs)
    ]


class JacobianFunction(DerivedFunction):
    """The Jacobian of a function; made by ``jacobian``, ``jacfwd`` and ``jacrev``."""

    verb = "jacobian"

    def __init__(self, fn: Callable, grad_position: Any, has_aux: bool, mode: str, backend: str) -> None:
        if mode not in _MODES:
            raise ArgumentError(f"mode={mode!r} is unknown; choose one of {', '.join(map(repr, _MODES))}.")
        positions = checked_positions(grad_position)
        if positions is None:
            raise ArgumentError("grad_position must name at least one argument.")
        self.positions = positions
        self.bare = not isinstance(grad_position, (tuple, list)) or len(positions) == 1
        self.has_aux = checked_flag("has_aux", has_aux)
        self.mode = mode
        super().__init__(checked_function(fn), backend)

    def _check(self, args, kwargs):
        check_arguments(args, self.positions, self.__name__)

    def _marked(self, args: tuple, fresh: bool) -> tuple[list[Any], list[list[Node]], list[Any]]:
        values = list(args)
        nodes, structures = [], []
        for p in self.positions:
            values[p], own, structure = mark_argument(values[p], fresh)
            nodes.append(own)
            structures.append(structure)
        return values, nodes, structures

    def _rows(self, blocks: list[list[Node]], nodes: list[list[Node]], structures: list[Any]) -> list[Any]:
        """Each row of blocks in the structure of the inputs."""
        rows = []
        for row in blocks:
            entries = iter(row)
            by_input = [
                unflatten(s, [Tracer(next(entries)) for _ in own]) for s, own in zip(structures, nodes, strict=True)
            ]
            rows.append(by_input[0] if self.bare else tuple(by_input))
        return rows

    def _derive(self, args, kwargs, fresh):
        values, nodes, structures = self._marked(args, fresh)
        main, aux = split_aux(self.fn(*values, **kwargs), self.has_aux, self.__name__)
        outputs, out_structure = output_nodes(main, self.__name__)
        blocks = jacobian_blocks(outputs, [n for own in nodes for n in own], self.mode)
        rows = self._rows(blocks, nodes, structures)
        result = rows[0] if out_structure == LEAF else unflatten(out_structure, rows)
        return (result, aux) if self.has_aux else result


class HessianFunction(JacobianFunction):
    """The Hessian of the summed output, forward over reverse; made by ``hessian``."""

    verb = "hessian"

    def _derive(self, args, kwargs, fresh):
        values, nodes, structures = self._marked(args, fresh)
        main, aux = split_aux(self.fn(*values, **kwargs), self.has_aux, self.__name__)
        outputs, _ = output_nodes(main, self.__name__)
        flat = [n for own in nodes for n in own]
        seeds = [ones(o.shape) if o.dtype.kind == "f" else None for o in outputs]
        gradients = [
            finished_as(g, n.shape, n.dtype) for g, n in zip(pull_back(outputs, seeds, flat), flat, strict=True)
        ]
        rows = self._rows(jacobian_blocks(gradients, flat, "forward"), nodes, structures)
        each = iter(rows)
        by_input = [unflatten(s, [next(each) for _ in own]) for s, own in zip(structures, nodes, strict=True)]
        result = by_input[0] if self.bare else tuple(by_input)
        return (result, aux) if self.has_aux else result


def jacobian(
    fn: Callable,
    grad_position: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    mode: str = "auto",
    backend: str = "auto",
) -> JacobianFunction:
    """All of ``∂out/∂in``, of shape out + in; nested ``[out][in]``, bare where there is one.

    ``mode`` is ``forward``, ``reverse``, or ``auto`` (forward where the inputs have no more elements than
    the outputs). With ``has_aux`` the result is ``(J, aux)``.

    >>> import numpy as np
    >>> jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return JacobianFunction(fn, grad_position, has_aux, mode, backend)


def jacfwd(
    fn: Callable, grad_position: int | tuple[int, ...] = 0, has_aux: bool = False, *, backend: str = "auto"
) -> JacobianFunction:
    """``jacobian`` by forward mode.

    >>> import numpy as np
    >>> jacfwd(np.sum)(np.ones(2))
    array([1., 1.])
    """
    return JacobianFunction(fn, grad_position, has_aux, "forward", backend)


def jacrev(
    fn: Callable, grad_position: int | tuple[int, ...] = 0, has_aux: bool = False, *, backend: str = "auto"
) -> JacobianFunction:
    """``jacobian`` by reverse mode.

    >>> import numpy as np
    >>> jacrev(np.sum)(np.ones(2))
    array([1., 1.])
    """
    return JacobianFunction(fn, grad_position, has_aux, "reverse", backend)


def hessian(
    fn: Callable, grad_position: int | tuple[int, ...] = 0, has_aux: bool = False, *, backend: str = "auto"
) -> HessianFunction:
    """The second derivatives of the summed output, of shape in + in; nested ``[in][in]`` for several.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return HessianFunction(fn, grad_position, has_aux, "forward", backend)
