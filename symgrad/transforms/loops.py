"""Loops as operations: scan, fori_loop, while_loop and cond.

A loop is traced once, whatever its length; its derivatives are loops, derived once (``differentiation.loops``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..differentiation.bodies import loop_of
from ..errors import ArgumentError, ArgumentTypeError, ShapeError, at_user_line
from ..primitives.casting import cast
from ..primitives.loop import STEP
from ..primitives.scan import results_of
from ..program.node import Node
from ..tracing.trace import array_node, as_node, called, current
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, leaf_labels, unflatten


def scan(
    step: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    checkpoint: int | str | None = None,
) -> tuple[Any, Any]:
    """The last carry and all ``y`` of ``carry, y = step(carry, x)``, for each ``x`` along the first axis of ``xs``.

    ``carry``, ``xs`` and ``y`` are arrays or nested tuples, lists and dicts of them; ``xs`` may be None where
    ``length`` is given. A carry keeps its structure, shapes and dtypes from step to step. ``reverse``: the last element
    comes first, and each ``y`` stands where its ``x`` does. ``checkpoint``: what the reverse sweep keeps of the steps;
    None keeps what it reads, ``"sqrt"`` or an int the carries of so many steps, from which the others are computed
    again. Outside of a trace the steps run one after the other.

    Raises ShapeError where a carry changes its shape, ArgumentTypeError where it changes its structure or dtype, and
    ArgumentError for arrays of different lengths.

    >>> import numpy as np
    >>> scan(lambda c, x: (c + x, c * x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 2., 9.]))
    """
    count = _length(xs, length)
    if current() is None:
        return _run(step, carry, xs, count, reverse)
    return _scan(step, carry, xs, count, reverse, checkpoint, "scan")


def fori_loop(lower: int, upper: int, body: Callable[[int, Any], Any], carry: Any) -> Any:
    """``for i in range(lower, upper): carry = body(i, carry)``, and the last carry; as ``scan`` takes it.

    >>> fori_loop(1, 4, lambda i, c: c * i, 1.0)
    6.0
    """
    first, last = operator.index(lower), operator.index(upper)
    if current() is None:
        for i in range(first, last):
            carry = body(i, carry)
        return carry
    counters = np.arange(first, max(first, last))
    return _scan(lambda c, i: (body(i, c), None), carry, counters, len(counters), False, None, "fori_loop")[0]


def _scan(
    step: Callable, carry: Any, xs: Any, count: Any, reverse: bool, checkpoint: Any, caller: str
) -> tuple[Any, Any]:
    """A loop in the running trace."""
    begun, structure = flatten(carry)
    starts = [array_node(v) for v in begun]
    leaves, shape_of_xs = flatten(xs) if xs is not None else ([], None)
    arrays = [as_node(v) for v in leaves]
    labels = leaf_labels("carry", structure)
    names = [*labels, *(leaf_labels("x", shape_of_xs) if leaves else [])]
    while True:
        given = [_given(name, n.shape, n.dtype) for name, n in zip(names, starts, strict=False)]
        items = [_given(name, n.shape[1:], n.dtype) for name, n in zip(names[len(starts) :], arrays, strict=True)]
        own = unflatten(structure, [Tracer(n) for n in given])
        x = None if xs is None else unflatten(shape_of_xs, [Tracer(n) for n in items])
        result = called(step, (own, x), {})
        if not isinstance(result, tuple) or len(result) != 2:
            raise ArgumentTypeError(at_user_line(f"{caller}: a step gives the next carry and what it keeps, as a pair"))
        after, next_structure = flatten(result[0])
        if next_structure != structure:
            raise ArgumentTypeError(
                at_user_line(f"{caller}: a step gives a carry of another structure than it is given; keep it the same.")
            )
        nexts = [array_node(v) for v in after]
        wider = [np.result_type(n.dtype, s.dtype) for n, s in zip(nexts, starts, strict=True)]
        if wider == [s.dtype for s in starts]:
            break
        starts = [cast(s, d) for s, d in zip(starts, wider, strict=True)]  # an int that becomes a float
    for name, n, s in zip(labels, nexts, starts, strict=True):
        if n.shape != s.shape:
            raise ShapeError(
                at_user_line(
                    f"{caller}: {name} has shape {s.shape} and after a step {n.shape}; it must keep its shape."
                )
            )
    nexts = [cast(n, s.dtype) for n, s in zip(nexts, starts, strict=True)]
    kept, kept_structure = flatten(result[1])
    outputs = [*nexts, *(array_node(v) for v in kept if v is not None)]
    loop, constants = loop_of(given, items, outputs, names, count, reverse)
    results = [Tracer(n) for n in results_of(loop, [*starts, *arrays, *constants])]
    rest = iter(results[len(starts) :])
    of_steps = [None if v is None else next(rest) for v in kept]
    return unflatten(structure, results[: len(starts)]), unflatten(kept_structure, of_steps)


def _given(name: str, shape: Sequence[Any], dtype: np.dtype) -> Node:
    return Node(STEP, (), (name,), tuple(shape), dtype)


def _length(xs: Any, length: Any) -> Any:
    """The steps of a loop."""
    leaves, _ = flatten(xs) if xs is not None else ([], None)
    sizes = [np.shape(v)[0] for v in leaves if np.ndim(v)]
    if len(sizes) < len(leaves):
        raise ShapeError(at_user_line("scan: every array of xs needs a first axis, along which the steps go."))
    if length is not None:
        sizes.insert(0, length)
    if not sizes:
        raise ArgumentError(at_user_line("scan: give xs, or the length where there are none."))
    if any(n != sizes[0] for n in sizes):
        raise ArgumentError(at_user_line(f"scan: the arrays of xs and length must agree, and they are {sizes}."))
    return sizes[0]


def _run(step: Callable, carry: Any, xs: Any, count: int, reverse: bool) -> tuple[Any, Any]:
    """The steps as they are."""
    leaves, structure = flatten(xs) if xs is not None else ([], None)
    kept: list[Any] = []
    order = range(count - 1, -1, -1) if reverse else range(count)
    for t in order:
        x = None if xs is None else unflatten(structure, [np.asarray(v)[t] for v in leaves])
        carry, y = step(carry, x)
        kept.append(y)
    if reverse:
        kept.reverse()
    if not kept:
        return carry, None
    columns = [flatten(y)[0] for y in kept]
    _, own = flatten(kept[0])
    return carry, unflatten(own, [np.stack(c) for c in zip(*columns, strict=True)])
