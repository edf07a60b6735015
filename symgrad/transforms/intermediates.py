"""Named intermediates: the local variables of a function, listed, and held constant without touching its source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..compiled import CompiledFunction
from ..errors import ArgumentError
from ..pickling import Importable
from ..primitives.identity import MARK, stop_gradient
from ..program.node import Node
from ..trace_entry import TraceEntry
from ..tracing.local_names import bound_names, watching
from ..tracing.provenance import SourceLine
from ..tracing.trace import as_followed, current
from ..tracing.tracer import Tracer
from .positions import checked_function


def intermediates(fn: Callable, *args: Any, **kwargs: Any) -> dict[str, SourceLine]:
    """The local variables of ``fn`` (of a Cell's construct) that hold traced floats, with the line that binds each.

    They come in the order in which they are first bound. Other names of an argument, or of a variable that is listed
    already, are left out, as are variables of the functions that ``fn`` calls.

    >>> def f(x):
    ...     half = x / 2
    ...     square = half * half
    ...     return square + half
    >>> {name: line.number for name, line in intermediates(f, 1.0).items()}
    {'half': 2, 'square': 3}
    """
    entry, _ = CompiledFunction(checked_function(fn), fn, cache=False).recorded(*args, **kwargs)
    return intermediates_of(entry)


def intermediates_of(entry: TraceEntry) -> dict[str, SourceLine]:
    """The intermediates of the function that a recorded trace is of, or that it holds a derivative of."""
    found: dict[str, SourceLine] = {}
    met: set[int] = set()
    for bound in entry.trace.bindings:
        if id(bound.value) not in met and bound.node.differentiable and not _is_argument(bound.node):
            met.add(id(bound.value))
            found.setdefault(bound.name, bound.line)
    return found


def _is_argument(node: Node) -> bool:
    while node.primitive is MARK:
        (node,) = node.operands
    return node.is_leaf


def stopping(fn: Callable, names: Iterable[str]) -> Callable:
    """``fn`` with the local variables ``names`` held constant by every derivative, wherever they are bound.

    The same as ``h = stop_gradient(h)`` after each assignment of ``h`` in the source of ``fn``. Raises ArgumentError
    for a name that ``fn`` does not bind.

    >>> from symgrad import grad
    >>> def f(x):
    ...     h = x * x
    ...     return h * x
    >>> grad(stopping(f, ["h"]))(3.0), grad(f)(3.0)
    (np.float64(9.0), np.float64(27.0))
    """
    return _Stopping(checked_function(fn), tuple(names))


class _Stopping(Importable):
    """A function whose locals become constants while it is traced; otherwise it is ``fn``."""

    def __init__(self, fn: Callable, names: tuple[str, ...]) -> None:
        if isinstance(fn, _Stopping):
            fn, names = fn.fn, tuple(dict.fromkeys((*fn.names, *names)))
        known = bound_names(fn)
        for name in names:
            if name not in known:
                listed = ", ".join(known) or "none"
                raise ArgumentError(f"the function binds no local variable {name!r}; it has {listed}.")
        self.fn = fn
        self.names = names
        self.__wrapped__ = fn
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def _guarded(self) -> dict[str, Any]:
        return {"fn": self.fn, "names": self.names}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return self.fn(*args, **kwargs)
        with watching(self.fn, self._held):
            return as_followed(self.fn)(*args, **kwargs)

    def _held(self, name: str, line: SourceLine, value: Tracer) -> Tracer | None:
        # another handle for the name alone: other names of the value, and equal expressions, stay as they are
        return Tracer(stop_gradient(value._symgrad_node)) if name in self.names else None
