"""Arguments and results as text: names, nesting and shapes, from the trace; nothing is run."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.closed_form.labels import label_text
from symgrad.errors import UnsupportedOperation
from symgrad.named_dims import argument_names
from symgrad.passes.unrolling import steps_in
from symgrad.program.program import Program
from symgrad.trace_entry import Result
from symgrad.tracing.tree import LEAF, flatten, parts_of, unflatten
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


def escaped(text: str) -> str:
    """``visible`` text for HTML."""
    return html.escape(visible(text))


def operation_count(program: Program) -> int:
    """The operations of a program, those of a loop at every step, or once where nobody knows how many steps there are.

    >>> import numpy as np, symgrad
    >>> operation_count(symgrad.trace(lambda x: symgrad.fori_loop(0, 10, lambda i, v: np.sin(v) + x, x), 1.0))
    23
    """
    with contextlib.suppress(UnsupportedOperation):
        return steps_in(program)
    return len(program.bindings)


def result_names(derived: DerivedFunction, result: Result, args: tuple) -> list[str]:
    """What each array of a result of ``derived`` is called: ``∂f/∂x`` for gradients, ``f`` for values, else ``out``."""
    shapes = result.array_shapes
    if isinstance(derived, JacobianFunction):
        return _block_names(derived, result, args, len(shapes))
    if not isinstance(derived, GradientFunction):
        return list(map(label_text, derived.labels(result)))
    names = argument_names(derived.fn, len(args))
    positions = derived.inputs_of(result)
    # the gradient of a gradient is that of its sum, which is the second derivative of a number alone
    order = derived.order if not any(shapes) else 1
    power = "" if order == 1 else str(order).translate(_RAISED)
    f = label_text(derived.letter(result))
    of = "Σ∇" * (derived.nesting - order) + f
    partials = [
        f"∂{power}{of}/∂{label}{power}" for p in positions for label in leaf_names(flatten(args[p])[1], names[p])
    ]
    partials += [f"∂{of}/∂{w.name}" for w in derived.weights or ()]
    value = f if derived.nesting == 1 else "Σ∇" * (derived.nesting - 2) + f"∇{f}"
    values = _counted("aux" if derived.has_aux and not derived.with_value else value, len(shapes) - len(partials))
    return values + partials if derived.with_value else partials + values


def _counted(word: str, count: int) -> list[str]:
    return [word] if count == 1 else [f"{word}_{k}" for k in range(count)]


def _block_names(derived: JacobianFunction, result: Result, args: tuple, count: int) -> list[str]:
    """What the blocks of a Jacobian or Hessian are called, row by row, and what comes with them."""
    names = argument_names(derived.fn, len(args))
    by = [label for p in derived.positions for label in leaf_names(flatten(args[p])[1], names[p])]
    letter = label_text(derived.letter(result))
    if derived.verb == "hessian":
        made = [f"∂²{letter}/∂{x}²" if x == y else f"∂²{letter}/∂{x}∂{y}" for x in by for y in by]
    else:
        rows = derived.block_count(result.structure, len(result.slots)) // len(by)
        power = str(derived.order).translate(_RAISED) if rows * len(by) == 1 and derived.order > 1 else ""
        made = [f"∂{power}{f}/∂{x}{power}" for f in _counted(letter, rows) for x in by]
    return made + [f"aux_{k}" for k in range(count - len(made))]


def leaf_names(structure: Any, name: str, leaf: Any = LEAF) -> list[str]:
    """What the leaves of a structure are called as Python writes them; ``leaf`` is the structure that counts as one.

    >>> leaf_names(flatten({"w": 1.0, "b": (2.0, 3.0)})[1], "p")
    ["p['w']", "p['b'][0]", "p['b'][1]"]
    """
    if structure == leaf:
        return [visible(name)]
    if structure[0] == "dict":
        parts = [f"[{key!r}]" for key in structure[1]]
    elif structure[0] == "named":
        parts = [f".{field}" for field in structure[1]._fields]
    elif structure[0] == "object":
        parts = [f".{name}" for name in structure[2]]
    else:
        parts = [f"[{k}]" for k in range(len(structure[-1]))]
    return [n for part, own in zip(parts, structure[-1], strict=True) for n in leaf_names(own, name + part, leaf)]


def caption(derived: DerivedFunction, shapes: Sequence[tuple]) -> str:
    """Which number the derivative is taken of, where that is not the output itself; ``shapes`` are the outputs'."""
    if getattr(derived, "takes_sens", False):
        return "∂⟨sens, out⟩: the outputs weighed by sens, and summed"
    if getattr(derived, "has_aux", False):
        return "∂out₀: of the first output alone, the others come along"
    of_sum = len(shapes) != 1 or bool(shapes[0])
    if isinstance(derived, GradientFunction):
        if derived.nesting > 1:
            return f"derived {derived.nesting} times, each time of the sum of all outputs"
        return "∂(Σ out): the gradient of the sum of all outputs" if of_sum else ""
    return "∂²(Σ out): the Hessian of the sum of all outputs" if derived.verb == "hessian" and of_sum else ""


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
    pairs = zip(result.shapes, result.slots, strict=True)
    leaves = [_Leaf("", None, value) if s is None else _Leaf(next(names), tuple(s)) for s, (_, value) in pairs]
    return _spell(unflatten(result.structure, leaves))


class _Leaf:
    def __init__(self, name: str, shape: tuple | None, value: Any = None) -> None:
        self.name = name if name.startswith("∂") else ""
        self.shown = str(shape) if shape is not None else repr(value) if type(value) in (int, str) else "not an array"


def _spell(value: Any, named: bool = True) -> str:
    """The nesting as Python writes it; inside a dict the keys are names enough."""
    if isinstance(value, _Leaf):
        return f"{value.name}: {value.shown}" if named and value.name else value.shown
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_spell(v, named=False)}" for k, v in value.items()) + "}"
    if not isinstance(value, (tuple, list)):
        inner = ", ".join(f"{name}={_spell(v, named=False)}" for name, v in parts_of(value).items())
        return f"{type(value).__name__}({inner})"
    inner = ", ".join(_spell(v, named) for v in value)
    if isinstance(value, list):
        return f"[{inner}]"
    return f"({inner},)" if len(value) == 1 else f"({inner})"
