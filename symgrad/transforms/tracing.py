"""trace: the Program of a function, from example arrays or from named dims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiled import CompiledFunction, argument_names
from ..errors import ArgumentError
from ..primitives.primitive import input_node
from ..program.dims import named_dim
from ..program.program import Program
from ..tracing.trace import Trace, as_node
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten
from .positions import checked_function


def trace(fn: Callable, *args: Any, **kwargs: Any) -> Program:
    """The Program that ``fn`` computes, without running it on anything else.

    Arguments are example arrays (or nested tuples, lists and dicts of them); or all of them shapes as
    text, ``"n d"``, whose words are named dims or sizes: then the Program holds for every size, in
    float64, and a branch on values is an error.

    >>> print(trace(lambda X, w: X @ w, "n d", "d"))
    program(X: float64[n,d], w: float64[d]) {
      v0 = einsum[ij,j->i](X, w)  # float64[n]
    } -> v0
    """
    checked_function(fn)
    texts = [isinstance(v, str) for v in (*args, *kwargs.values())]
    if texts and all(texts):
        return _trace_named(fn, args, kwargs)
    return CompiledFunction(fn, fn, cache=False).entry(*args, **kwargs).program


def _trace_named(fn: Callable, args: tuple[str, ...], kwargs: dict[str, str]) -> Program:
    run = Trace(with_values=False)
    with run:
        names = [*argument_names(fn, len(args)), *kwargs]
        shapes = [_shape(text) for text in (*args, *kwargs.values())]
        inputs = [input_node(n, s, np.dtype(np.float64)) for n, s in zip(names, shapes, strict=True)]
        traced = [Tracer(n) for n in inputs]
        outputs = fn(*traced[: len(args)], **dict(zip(kwargs, traced[len(args) :], strict=True)))
        leaves, _ = flatten(outputs)
        made = [as_node(v) for v in leaves]
        weights = list(run.parameters.values())
        return Program([*inputs, *(n for _, n in weights)], made, [*names, *(p.name for p, _ in weights)], run.graph)


def _shape(text: str) -> tuple:
    dims: list[Any] = []
    for word in text.split():
        if word.isdigit():
            dims.append(int(word))
        elif word.isidentifier():
            dims.append(named_dim(word))
        else:
            raise ArgumentError(f"the shape {text!r} holds {word!r}; write names and sizes, such as 'n d' or 'n 3'.")
    return tuple(dims)
