"""DerivedFunction: what every transformation returns; it runs, and it shows itself.

Called with arrays it traces once, derives, compiles and runs; called inside a trace (a function being
differentiated, a Cell) it builds its derivative into that trace, so any order is composition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiled import CompiledFunction, Entry, is_tracing
from ..context import is_graph_mode
from ..kernels.kernel import Kernel, optimized
from ..primitives.contraction import contract
from ..primitives.elementwise import cast
from ..primitives.primitive import Captured, constant, literal
from ..program.node import Node, emit
from ..program.program import Program


class DerivedFunction:
    """Base of the derivatives; subclasses say what they derive in ``_derive``."""

    def __init__(self, fn: Callable, backend: str) -> None:
        self.fn = fn
        self.backend = backend
        self.__name__ = f"{self.verb}({getattr(fn, '__name__', type(fn).__name__)})"
        self.__doc__ = getattr(fn, "__doc__", None)
        self._compiled = CompiledFunction(self._derive_fresh, fn, backend)

    verb = "derived"

    def _derive(self, args: tuple, kwargs: dict[str, Any], fresh: bool) -> Any:
        """The derivative on traced values; ``fresh`` where the arguments are inputs of the trace."""
        raise NotImplementedError

    def _check(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Refuse bad arguments before anything is traced."""

    def _derive_fresh(self, *args: Any, **kwargs: Any) -> Any:
        return self._derive(args, kwargs, fresh=True)

    def _guarded(self) -> dict[str, Any]:
        return {"fn": self.fn}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._check(args, kwargs)
        if is_tracing(args):
            return self._derive(args, kwargs, fresh=False)
        if not is_graph_mode():
            return CompiledFunction(self._derive_fresh, self.fn, self.backend, cache=False)(*args, **kwargs)
        return self._compiled(*args, **kwargs)

    def _entry(self, args: tuple, kwargs: dict[str, Any]) -> Entry:
        latest = self._compiled.latest
        if args or kwargs or latest is None:
            self._check(args, kwargs)
            return self._compiled.entry(*args, **kwargs)
        return latest

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The derived Program for these arguments, let-bound."""
        return optimized(self._entry(args, kwargs).program)

    def kernel(self, *args: Any, **kwargs: Any) -> Kernel:
        """The kernel that serves these arguments; see its ``source`` and ``backend``."""
        return self._entry(args, kwargs).kernel

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def finished(node: Node | None, like: Node) -> Node:
    """A derivative as a result: of ``like``'s shape and dtype, zeros where it is None."""
    return finished_as(node, like.shape, like.dtype)


def finished_as(node: Node | None, shape: tuple, dtype: np.dtype) -> Node:
    """A derivative as a result of this shape and dtype."""
    if node is None:
        node = literal(0.0)
    if node.shape != shape:
        labels = tuple(range(len(shape)))
        node = contract([node], [()], labels, shape)
    if node.is_literal:
        return constant(Captured(np.asarray(node.params[0], dtype)))
    if node.weak:
        from ..primitives.elementwise import CAST

        return emit(CAST, (node,), (np.dtype(dtype),))
    return cast(node, dtype)
