"""Loops, called with their functions as MindSpore calls them: Scan, ForiLoop and WhileLoop."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, ShapeError
from ..tracing.trace import as_followed
from ..tracing.tree import flatten, nesting, tree_map
from ..transforms.loops import fori_loop, scan, while_loop
from .operator import Operator

__all__ = ["ForiLoop", "Scan", "WhileLoop"]


class Scan(Operator):
    """``Scan()(loop_func, init, xs, length=None, unroll=True)``: a function over the items of a list, with a carry.

    ``carry, y = loop_func(carry, x)`` for each ``x`` of ``xs``, a tuple or a list; None stands for ``length`` times
    None. It gives the last carry and the list of all ``y``. A carry keeps its structure and shapes. ``unroll=False``:
    inside of what is differentiated the loop is one operation, as ``sg.scan``, whose items are alike.

    Raises ArgumentTypeError for arguments of other kinds, and ArgumentError where ``loop_func`` gives no pair, or
    another carry than it takes.

    >>> from symgrad import ops
    >>> def cumsum(res, el):
    ...     res = res + el
    ...     return res, res
    >>> ops.Scan()(cumsum, 0, [1, 2, 3, 4])
    (10, [1, 3, 6, 10])
    """

    inputs = ("loop_func", "init", "xs", "length", "unroll")
    needed = 3

    def __call__(self, loop_func: Callable, init: Any, xs: Any, length: Any = None, unroll: bool = True) -> Any:
        _check_function("Scan", "loop_func", loop_func)
        _check_flag("Scan", unroll)
        items = _items(xs, length)
        step = _keeping("Scan", init, lambda carry, x: _pair(as_followed(loop_func)(carry, x)))
        if not unroll and len(items):
            stacked = None if xs is None else _stacked(items)
            carry, ys = scan(step, init, stacked, len(items))
            return carry, [tree_map(lambda v, t=t: None if v is None else v[t], ys) for t in range(len(items))]
        carry, kept = init, []
        for x in items:
            carry, y = step(carry, x)
            kept.append(y)
        return carry, kept


class ForiLoop(Operator):
    """``ForiLoop()(lower, upper, loop_func, init_val, unroll=True)``: a loop over a range.

    ``init_val = loop_func(i, init_val)`` for each ``i`` in ``range(lower, upper)``, and the last value. It keeps its
    structure and shapes. ``unroll=False``: inside of what is differentiated the loop is one operation, as
    ``sg.fori_loop``.

    Raises ArgumentTypeError for arguments of other kinds, and ArgumentError where ``loop_func`` gives another value
    than it takes.

    >>> from symgrad import ops
    >>> ops.ForiLoop()(0, 4, lambda index, res: index + res, 0)
    6
    """

    inputs = ("lower", "upper", "loop_func", "init_val", "unroll")
    needed = 4

    def __call__(self, lower: Any, upper: Any, loop_func: Callable, init_val: Any, unroll: bool = True) -> Any:
        _check_function("ForiLoop", "loop_func", loop_func)
        _check_flag("ForiLoop", unroll)
        first, last = _bound("lower", lower), _bound("upper", upper)
        step = _keeping("ForiLoop", init_val, lambda value, i: (as_followed(loop_func)(i, value), None))
        if not unroll:
            return fori_loop(first, last, lambda i, value: step(value, i)[0], init_val)
        for i in range(first, last):
            init_val, _ = step(init_val, i)
        return init_val


class WhileLoop(Operator):
    """``WhileLoop()(cond_func, loop_func, init_val)``: a loop as long as a condition holds, one operation.

    ``init_val = loop_func(init_val)`` while ``cond_func(init_val)``, and the last value, as ``sg.while_loop``. It keeps
    its structure and shapes.

    Raises ArgumentTypeError for what is no function, and ArgumentError where ``loop_func`` gives another value than it
    takes.

    >>> from symgrad import ops
    >>> ops.WhileLoop()(lambda x: x < 100, lambda x: x + 1, 10)
    100
    """

    inputs = ("cond_func", "loop_func", "init_val")
    needed = 3

    def __call__(self, cond_func: Callable, loop_func: Callable, init_val: Any) -> Any:
        _check_function("WhileLoop", "cond_func", cond_func)
        _check_function("WhileLoop", "loop_func", loop_func)
        step = _keeping("WhileLoop", init_val, lambda value, _: (as_followed(loop_func)(value), None))
        return while_loop(cond_func, lambda value: step(value, None)[0], init_val)


# checks


def _check_function(caller: str, name: str, value: Any) -> None:
    if not callable(value):
        raise ArgumentTypeError.here(f"{caller}: {name} is a function, not a {type(value).__name__}.")


def _check_flag(caller: str, unroll: Any) -> None:
    if not isinstance(unroll, bool):
        raise ArgumentTypeError.here(f"{caller}: unroll is True or False, not {unroll!r}.")


def _bound(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or np.ndim(value):
        raise ArgumentTypeError.here(
            f"ForiLoop: {name} is an int, or a Tensor of one int, not a {type(value).__name__}."
        )
    return operator.index(value)


def _items(xs: Any, length: Any) -> Sequence[Any]:
    """The items that a Scan goes over."""
    if not (xs is None or isinstance(xs, (tuple, list))):
        raise ArgumentTypeError.here(
            f"Scan: xs is a tuple, a list or None, not a {type(xs).__name__}; give list(xs), or take sg.scan, "
            "which goes along the first axis of an array."
        )
    if length is not None and (isinstance(length, bool) or not hasattr(length, "__index__")):
        raise ArgumentTypeError.here(f"Scan: length is an int or None, not a {type(length).__name__}.")
    count = None if length is None else operator.index(length)
    if xs is not None:
        if count is not None and count != len(xs):
            raise ArgumentError.here(f"Scan: length is {count} and xs holds {len(xs)} items.")
        return xs
    if count is None:
        raise ArgumentError.here("Scan: give xs, or the length where there are none.")
    return [None] * count


def _pair(result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentError.here("Scan: loop_func gives a tuple of two, the next carry and what is kept.")
    return result


def _keeping(caller: str, init: Any, step: Callable[[Any, Any], tuple[Any, Any]]) -> Callable:
    """``step``, which must give a carry of the structure and the shapes of ``init``."""
    leaves, structure = flatten(init)
    shapes = list(map(np.shape, leaves))

    def kept(carry: Any, x: Any) -> tuple[Any, Any]:
        after, y = step(carry, x)
        own, nested = flatten(after)
        if nesting(nested) != nesting(structure) or list(map(np.shape, own)) != shapes:
            raise ArgumentError.here(
                f"{caller}: loop_func gave a value of another structure or shape than it takes, "
                f"{list(map(np.shape, own))} for {shapes}; it must keep them."
            )
        return after, y

    return kept


def _stacked(items: Sequence[Any]) -> Any:
    """Items that are alike as one, whose arrays hold those of all along a first axis."""
    taken = [flatten(item) for item in items]
    structure = taken[0][1]
    if any(nesting(own) != nesting(structure) for _, own in taken):
        raise ShapeError.here("Scan: with unroll=False the items of xs have one structure and shape.")
    columns = iter([np.stack(column) for column in zip(*[leaves for leaves, _ in taken], strict=True)])
    return tree_map(lambda _: next(columns), items[0])
