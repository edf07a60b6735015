"""vmap: a function of one example as a function of many, by lifting its program.

The function runs once, on stand-ins for one example. What it built is then rebuilt for all of them
(``primitives.batching``): no loop over the examples, no copies, and what comes out are nodes like any others, so
derivatives, kernels and closed forms follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, ShapeError
from ..named_dims import argument_names, declaration_of
from ..primitives.batching import Batching
from ..primitives.casting import CAST
from ..primitives.contraction import transpose
from ..primitives.primitive import CapturedArray, constant, literal_value
from ..program.dims import Dim
from ..program.forks import cached_property
from ..program.node import Node, emit
from ..tracebacks import briefly
from ..tracing.sizes import Size
from ..tracing.trace import as_node, running
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, replaced, unflatten, with_values
from .derived import DerivedFunction, P
from .mapped_axes import checked_axes, of_arguments, spread
from .mapped_declaration import MappedDeclaration
from .positions import checked_function, is_data, is_setting


class MappedFunction(DerivedFunction[P]):
    """A function of many examples; made by ``vmap``."""

    verb = "vmap"
    _letter = ""  # that of the function

    def __init__(self, fn: Callable, in_axes: Any, out_axes: Any, backend: str) -> None:
        self.in_axes = in_axes
        self.out_axes = out_axes
        super().__init__(fn, backend)

    @cached_property
    def declaration(self) -> MappedDeclaration | None:
        """The shapes that its arguments declare."""
        own = declaration_of(self.fn)
        return None if own is None else MappedDeclaration(self.fn, own, self.in_axes)

    def _derive(self, args: tuple, kwargs: dict[str, Any], fresh: bool) -> Any:
        names = [*argument_names(self.fn, len(args)), *kwargs]
        leaves, structure = flatten((args, kwargs))
        axes = of_arguments(self.in_axes, args, kwargs, names, self.__name__)
        mapped = {
            k: (_mapped(leaf, axis, label, self.__name__), axis, label)
            for k, (leaf, (axis, label)) in enumerate(zip(leaves, axes, strict=True))
            if axis is not None and leaf is not None
        }
        over = Batching(_common_size(list(mapped.values()), self.__name__))
        for k, leaf in enumerate(leaves):
            if k in mapped:
                node, axis, label = mapped[k]
                leaves[k] = Tracer(over.example(_moved(node, axis % node.ndim, 0), label))
            elif isinstance(leaf, Tracer):  # a write into it is for one example
                leaves[k] = Tracer(leaf._symgrad_node)
        own, named = replaced((args, kwargs), structure, leaves)
        before = running().value
        output = self._value(own, named)
        made = self._collected(output, self.out_axes, over)
        of_one = running().value
        if of_one is not None and of_one is not before:  # the function's value for all examples, where it is asked for
            running().value = lambda: made if self.fn is running().subject else self._collected(of_one(), 0, over)
        return made

    def _collected(self, output: Any, out_axes: Any, over: Batching) -> Any:
        """The output for all examples."""
        leaves, structure = flatten(output)
        axes = spread(out_axes, output, "the output", "out_axes", self.__name__)
        places, _ = with_values(
            structure,
            range(len(leaves)),
            lambda k: not is_data(leaves[k]),
            lambda k: is_setting(leaves[k]) and not (isinstance(leaves[k], bool) or callable(leaves[k])),
        )
        for k in places:  # settings of objects are the same for all
            axis, label = axes[k]
            leaves[k] = _of_all(leaves[k], axis, label, over, self.__name__)
        return unflatten(structure, leaves)


def _mapped(leaf: Any, axis: int, label: str, caller: str) -> Node:
    """The node of an argument that is mapped along ``axis``."""
    if not isinstance(leaf, (np.ndarray, np.generic)):
        raise ArgumentTypeError.here(
            f"{caller}: {label} is of type {leaf.__class__.__name__}, which has no axis to map over. Pass an "
            "array, or give it None in in_axes (keyword arguments are always mapped; bind others by "
            "functools.partial)."
        )
    node = as_node(leaf)
    if not -node.ndim <= axis < node.ndim:
        raise ShapeError.here(
            f"{caller}: {label} has shape {node.shape}, and is to be mapped along axis {axis}. Give it an axis for "
            "the examples, or None in in_axes where it is the same for all."
        )
    return node


def _common_size(mapped: list[tuple[Node, int, str]], caller: str) -> Dim:
    """How many examples there are."""
    if not mapped:
        raise ArgumentError.here(f"{caller}: no array is mapped; give one of them an axis in in_axes.")
    sizes = [node.shape[axis] for node, axis, _ in mapped]
    if any(d != sizes[0] for d in sizes):
        listed = ", ".join(f"{label} has {d} along axis {k}" for d, (_, k, label) in zip(sizes, mapped, strict=True))
        raise ShapeError.here(
            f"{caller}: the mapped axes must have the same size, and {listed}. Give None in in_axes for what is "
            "the same for all examples."
        )
    return sizes[0]


def _of_all(leaf: Any, axis: int | None, label: str, over: Batching, caller: str) -> Any:
    """One output for all examples."""
    if leaf is None:
        return None
    if not isinstance(leaf, (np.ndarray, np.generic, bool, int, float, Size)):
        raise ArgumentTypeError.here(
            f"{caller}: {label} is of type {type(leaf).__name__}; return arrays, numbers or None."
        )
    node = _strong(as_node(leaf))
    every = over.lifted(node)
    if axis is None:
        if every is not None:
            raise ArgumentError.here(
                f"{caller}: {label} differs between the examples; give it an axis in out_axes, not None."
            )
        return Tracer(node)
    if not -node.ndim - 1 <= axis <= node.ndim:
        raise ShapeError.here(
            f"{caller}: {label} has shape {node.shape} for one example; out_axes={axis} is beyond it."
        )
    return Tracer(_moved(over.repeated(node) if every is None else every, 0, axis % (node.ndim + 1)))


def _strong(node: Node) -> Node:
    """A number as an array of its dtype."""
    if node.is_literal:
        return constant(CapturedArray(np.asarray(literal_value(node))))
    return emit(CAST, (node,), (node.dtype,)) if node.weak else node


def _moved(x: Node, source: int, target: int) -> Node:
    """``x`` with one axis moved."""
    if source == target:
        return x
    order = [k for k in range(x.ndim) if k != source]
    order.insert(target, source)
    return transpose(x, order)


@briefly
def vmap(fn: Callable[P, Any], in_axes: Any = 0, out_axes: Any = 0, *, backend: str = "auto") -> MappedFunction[P]:
    """``fn``, written for one example, as a function of many that stand along an axis of its arguments.

    ``in_axes`` is the axis of the examples: one int for all arguments, or a tuple of one each, ``None`` for an
    argument that is the same for all examples and is passed whole. For an argument that is a tuple, a list or a dict
    of arrays it may be nested alike. Keyword arguments are mapped along axis 0. ``out_axes`` is where the examples
    stand in the output, one int or nested as the output is; None for an output that is the same for all.

    It composes with every derivative both ways and with itself: ``vmap(grad(f))`` gives a gradient for each
    example, ``grad`` of a function that calls ``vmap(f)`` one gradient of all. Parameters are not mapped; random
    numbers are drawn once for all examples. A branch on values that are mapped is a TracingError, axes of different
    sizes are a ShapeError.

    >>> import numpy as np
    >>> from symgrad import grad
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> double = vmap(lambda x: 2 * x @ A)
    >>> double(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    array([[ 2.,  4.],
           [ 6.,  8.],
           [ 8., 12.]])
    >>> loss = lambda w, x, y: (x @ w - y) ** 2
    >>> vmap(grad(loss), in_axes=(None, 0, 0))(np.ones(2), A, np.zeros(2))
    array([[ 6., 12.],
           [42., 56.]])
    """
    return MappedFunction(
        checked_function(fn), checked_axes(in_axes, "in_axes"), checked_axes(out_axes, "out_axes"), backend
    )
