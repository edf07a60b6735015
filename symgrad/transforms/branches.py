"""cond: a choice between two functions by one truth value, inside of loops and vmap too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiled import is_tracing
from ..errors import ArgumentTypeError, ShapeError
from ..primitives import functions as f
from ..program.node import Node
from ..tracing.trace import as_node, called, is_traced, running
from ..tracing.tracer import Tracer
from .nested import Nested
from .positions import checked_function


def cond(pred: Any, true_fn: Callable, false_fn: Callable, *operands: Any) -> Any:
    """``true_fn(*operands) if pred else false_fn(*operands)``, also where ``pred`` is known at no time.

    Where a traced ``pred`` has a value it is as a Python ``if``: one of both is traced, and the trace serves the calls
    that choose it. Inside a step of a loop, in ``vmap`` and with named dims both are computed, and of each array that
    they give the one is taken; then both give the same structure, shapes and dtypes, and the derivative of the one that
    is not taken is zero, whatever it is.

    Raises ShapeError for a ``pred`` that is no single truth value, and where the shapes of both differ, and
    ArgumentTypeError where their structures or dtypes do.

    >>> import numpy as np
    >>> from symgrad import grad, scan
    >>> def root(c, x):
    ...     return c + cond(x > 0, np.sqrt, lambda x: 0.0, x), None
    >>> grad(lambda x: scan(root, 0.0, x)[0])(np.array([4.0, 0.0, -1.0]))
    array([0.25, 0.  , 0.  ])
    """
    checked_function(true_fn)
    checked_function(false_fn)
    follows = is_traced(pred)
    if not follows and np.ndim(pred):
        raise _no_single_truth(np.shape(pred))
    if not is_tracing((pred, operands)):
        return (true_fn if pred else false_fn)(*operands)
    if not follows:
        return called(true_fn if pred else false_fn, operands, {})
    truth = as_node(pred)
    if truth.shape:
        raise _no_single_truth(truth.shape)
    if running().has_value(truth):
        return called(true_fn if Tracer(truth) else false_fn, operands, {})
    return _both(f.condition(truth), true_fn, false_fn, operands)


def _no_single_truth(shape: tuple) -> ShapeError:
    return ShapeError.here(
        f"cond: pred is one truth value, and it has shape {shape}; use np.all or np.any, or np.where for a choice "
        "element by element."
    )


def _both(truth: Node, true_fn: Callable, false_fn: Callable, operands: tuple) -> Any:
    """Of each array that both functions give the one that is chosen."""
    given = Nested.of(operands)
    first, second = (Nested.of(called(fn, given.filled(map(_own, given.arrays)), {})) for fn in (true_fn, false_fn))
    if not first.is_like(second):
        raise ArgumentTypeError.here(
            "cond: both functions are computed here, and they give different structures; return the same tuples, "
            "lists and dicts from both, and None in the same places."
        )
    pairs = zip(first.arrays, second.arrays, strict=True)
    return first.filled([Tracer(_chosen(truth, as_node(a), as_node(b))) for a, b in pairs])


def _own(value: Any) -> Any:
    """A value that a function may write into, without the other one seeing it."""
    return Tracer(as_node(value)) if is_traced(value) else np.copy(value)[()]


def _chosen(truth: Node, a: Node, b: Node) -> Node:
    if a is b:
        return a
    if a.shape != b.shape:
        raise ShapeError.here(
            f"cond: both functions are computed here, and one gives shape {a.shape} where the other gives "
            f"{b.shape}; they must be the same (np.broadcast_to, np.zeros_like)."
        )
    if a.dtype != b.dtype and not (a.weak or b.weak):
        raise ArgumentTypeError.here(
            f"cond: both functions are computed here, and one gives {a.dtype} where the other gives {b.dtype}; "
            "they must be the same (astype)."
        )
    return f.where(truth, a, b)
