"""trace: the Program of a function, from example arrays or from named dims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..compiled import CompiledFunction
from ..named_dims import declaration_of, declared_arguments, is_shapes
from ..program.program import Program
from ..tracing.ufunc_methods import SCAN
from .positions import checked_function


def _scan(*operands: Any) -> tuple[Any, Any]:
    from .loops import scan

    return scan(*operands)


SCAN.append(_scan)


def trace(fn: Callable, *args: Any, **kwargs: Any) -> Program:
    """The Program that ``fn`` computes, without running it on anything else.

    Arguments are example arrays (or nested tuples, lists and dicts of them); or all of them shapes as
    text, ``"n d"``, whose words are named dims or sizes: then the Program holds for every size, in
    float64, and a branch on values is an error. A function that declares its shapes needs no arguments.

    >>> print(trace(lambda X, w: X @ w, "n d", w="d"))
    program(X: float64[n,d], w: float64[d]) {
      v0 = einsum[ij,j->i](X, w)  # float64[n]
    } -> v0
    """
    checked_function(fn)
    declaration = declaration_of(fn)
    compiled = CompiledFunction(fn, fn, cache=False, shapes=None if declaration is None else declaration.shapes)
    if is_shapes(args, kwargs):
        return compiled.entry_of_shapes(*declared_arguments(fn, args, kwargs)).program
    if not args and not kwargs and declaration is not None:
        return compiled.entry_of_shapes(*declaration.complete("trace")).program
    return compiled.entry(*args, **kwargs).program
