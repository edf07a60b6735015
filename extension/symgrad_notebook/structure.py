"""Arguments and results as text: names, nesting and shapes, from the trace; nothing is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.entry import Result
from symgrad.named_dims import argument_names
from symgrad.tracing.tree import flatten, unflatten
from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.gradient import GradientFunction
from symgrad.transforms.jacobian import JacobianFunction

_LONGEST_VALUE = 30
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def signature(function: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> str:
    """The arguments with their shapes, and the values of those that are no arrays.

    >>> import numpy as np, symgrad
    >>> signature(symgrad.symbolic(lambda x, n: x**n), (np.ones(3), 2), {})
    '(x: (3,), n=2)'
    """
    named = [*zip(argument_names(function.fn, len(args)), args, strict=True), *kwargs.items()]
    return f"({', '.join(_argument(name, value) for name, value in named)})"


def _argument(name: str, value: Any) -> str:
    leaves, structure = flatten(value)
    if leaves and all(isinstance(v, (float, np.ndarray, np.generic)) for v in leaves):
        return f"{name}: {_spell(unflatten(structure, [_Leaf('', np.shape(v)) for v in leaves]))}"
    text = repr(value)
    return f"{name}={text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + '…'}"


def visible(text: str) -> str:
    """``text`` with control characters and direction marks spelled out: a name must not rearrange its line.

    >>> visible("a\\u202eb")
    'a\\\\u202eb'
    """
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def result_names(derived: DerivedFunction, result: Result, args: tuple) -> list[str]:
    """What each array of a result of ``derived`` is called: ``∂f/∂x`` for gradients, ``f`` for values, else ``out``."""
    partials = []
    count = len(result.array_shapes)
    if isinstance(derived, GradientFunction):
        names = argument_names(derived.fn, len(args))
        positions = derived.inputs_of(result)
        power = "" if derived.order == 1 else str(derived.order).translate(_RAISED)
        of = "Σ∇" * (derived.nesting - derived.order) + "f"
        partials = [f"∂{power}{of}/∂{label}{power}" for p in positions for label in _paths(names[p], args[p])]
        partials += [f"∂{of}/∂{w.name}" for w in derived.weights or ()]
    elif isinstance(derived, JacobianFunction):
        return _block_names(derived, result, args, count)
    others = count - len(partials)
    word = "f" if isinstance(derived, GradientFunction) or derived.verb == "symbolic" else "out"
    if isinstance(derived, GradientFunction) and derived.has_aux and not derived.with_value:
        word = "aux"
    values = [word] if others == 1 else [f"{word}_{k}" for k in range(others)]
    with_value = isinstance(derived, GradientFunction) and derived.with_value
    return values + partials if with_value else partials + values


def _block_names(derived: JacobianFunction, result: Result, args: tuple, count: int) -> list[str]:
    """What the blocks of a Jacobian or Hessian are called, row by row, and what comes with them."""
    names = argument_names(derived.fn, len(args))
    by = [label for p in derived.positions for label in _paths(names[p], args[p])]
    if derived.verb == "hessian":
        made = [f"∂²f/∂{x}²" if x == y else f"∂²f/∂{x}∂{y}" for x in by for y in by]
    else:
        rows = derived.block_count(result.structure, len(result.slots)) // len(by)
        of = ["f"] if rows == 1 else [f"f_{k}" for k in range(rows)]
        made = [f"∂{f}/∂{x}" for f in of for x in by]
    return made + [f"aux_{k}" for k in range(count - len(made))]


def _paths(name: str, value: Any) -> list[str]:
    """The leaves of an argument as Python writes them: ``params['w']``."""
    if isinstance(value, dict):
        return [label for k, v in value.items() for label in _paths(f"{name}[{k!r}]", v)]
    if isinstance(value, (tuple, list)):
        return [label for k, v in enumerate(value) for label in _paths(f"{name}[{k}]", v)]
    return [name]


def shape_tree(result: Result, called: Sequence[str]) -> str:
    """The shapes of the arrays of a result in their structure, each gradient with what it is ``called``.

    >>> import numpy as np, symgrad
    >>> gradient = symgrad.grad(lambda x, y: np.sum(x) * y, (0, 1))
    >>> args = np.ones((2, 3)), 1.0
    >>> found = gradient._entry(args, {})
    >>> shape_tree(found, result_names(gradient, found, args))
    '(∂f/∂x: (2, 3), ∂f/∂y: ())'
    """
    names = iter(called)
    leaves = [_Leaf("", None) if s is None else _Leaf(next(names), tuple(s)) for s in result.shapes]
    return _spell(unflatten(result.structure, leaves))


class _Leaf:
    def __init__(self, name: str, shape: tuple | None) -> None:
        self.name = name if name.startswith("∂") else ""
        self.shown = "not an array" if shape is None else str(shape)


def _spell(value: Any, named: bool = True) -> str:
    """The nesting as Python writes it; inside a dict the keys are names enough."""
    if isinstance(value, _Leaf):
        return f"{value.name}: {value.shown}" if named and value.name else value.shown
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_spell(v, named=False)}" for k, v in value.items()) + "}"
    inner = ", ".join(_spell(v, named) for v in value)
    if isinstance(value, list):
        return f"[{inner}]"
    return f"({inner},)" if len(value) == 1 else f"({inner})"
