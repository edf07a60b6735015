"""What a call of a custom function gives back, and what part of a function it is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .differentiation.ruled_calls import is_traced
from .errors import ArgumentTypeError, DtypeError
from .program.dims import Shape
from .program.node import Node
from .tracing.external_calls import Operand
from .tracing.plain_arrays import checked_dtype
from .tracing.sizes import shown_shape, whole
from .tracing.trace import as_node
from .tracing.tree import LEAF, flatten, unflatten

_ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True)
class Outcome:
    """What a call gives back: its structure, which of its ``count`` leaves are arrays, and their shapes and dtypes.

    ``pick`` takes these arrays out of what the function returns; None stands for zeros.
    """

    structure: Any
    count: int
    places: tuple[int, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[np.dtype, ...]
    pick: Callable[[Any], Sequence[Any]]

    def of_arrays(self, arrays: Sequence[Any]) -> Any:
        """What the function returns where these are the arrays; None in other places."""
        made: list[Any] = [None] * self.count
        for place, array in zip(self.places, arrays, strict=True):
            made[place] = array
        return unflatten(self.structure, made)


@dataclass(frozen=True)
class Part:
    """What a function is: itself, or a rule of another one; ``order`` counts the derivatives that it gives."""

    of: str
    order: int = 0
    kind: str = ""

    def undeclared(self, name: str) -> str:
        """That a derivative of ``name``, which is this part, is not declared, and how to declare it."""
        if not self.order:
            return (
                f"the derivative of {name} is not declared. Give its rule: sg.custom({name}, jvp=…), or vjp=…; one of "
                "both is enough."
            )
        ordinal = _ORDINALS[self.order] if self.order < len(_ORDINALS) else f"{self.order + 1}th"
        return (
            f"the {ordinal} derivative of {self.of} is not declared: its {self.kind}, {name}, runs as it is. Write "
            f"that rule in NumPy, or give it a rule of its own: sg.custom({name}, jvp=…), or vjp=…"
        )


def outcome_of(name: str, is_ruled: bool, made: Any, operands: Sequence[Node]) -> Outcome:
    """From what it gave."""
    leaves, structure = flatten(made)
    places = tuple([k for k, v in enumerate(leaves) if v is not None])
    for k in places:
        if not isinstance(leaves[k], (np.ndarray, np.generic, int, float)):
            raise ArgumentTypeError(
                f"{name} gave a {type(leaves[k]).__name__}; a custom function gives an array or a number, "
                "or a tuple of them."
            )
    if not places:
        raise ArgumentTypeError(f"{name} gave no array; a custom function gives one, or a tuple of them.")
    is_smooth = is_ruled and any(o.differentiable for o in operands)
    dtypes = []
    for k in places:
        value = float(leaves[k]) if is_smooth and type(leaves[k]) is int else leaves[k]  # 0 of a branch
        dtypes.append(checked_dtype(np.asarray(value).dtype, f"the result of {name}"))
    _check_real(name, dtypes, operands)
    shapes = tuple([np.shape(leaves[k]) for k in places])
    pick = functools.partial(_same_leaves, name, structure, places)
    return Outcome(structure, len(leaves), places, shapes, tuple(dtypes), pick)


def _check_real(name: str, dtypes: Sequence[np.dtype], operands: Sequence[Node]) -> None:
    if any(d.kind == "c" for d in (*dtypes, *(o.dtype for o in operands))):
        raise DtypeError.here(
            f"{name}: custom functions are of real numbers, not complex; pass and return real and imaginary parts."
        )


def _same_leaves(name: str, structure: Any, places: Sequence[int], made: Any) -> list[Any]:
    """The arrays of a result; an error where it is nested otherwise than it was."""
    leaves, own = flatten(made)
    if own != structure or any(leaves[k] is None for k in places):
        raise ArgumentTypeError(f"{name} gave {nesting(own)} where it has given {nesting(structure)}.")
    return [leaves[k] for k in places]


def outcome_of_shapes(
    name: str, shape: Callable[..., Any], structure: Any, leaves: Sequence[Any], operands: Sequence[Node]
) -> Outcome:
    """From the shapes of the arguments."""
    seen = [
        shown_shape(as_node(v).shape) if is_traced(v) else v.shape if isinstance(v, np.ndarray) else v for v in leaves
    ]
    args, kwargs = unflatten(structure, seen)
    found = shape(*args, **kwargs)
    several = bool(found) and all(isinstance(s, (tuple, list)) for s in found)
    try:
        shapes = tuple([tuple(map(whole, s)) for s in (found if several else [found])])
    except TypeError:
        raise ArgumentTypeError.here(
            f"{name}: shape= gave {found!r}; it gives a tuple of sizes, or a tuple of such."
        ) from None
    kinds = [o.dtype for o in operands if o.differentiable and not o.weak]
    dtype = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    _check_real(name, [dtype], operands)
    nested = ("tuple", (LEAF,) * len(shapes)) if several else LEAF
    places = tuple(range(len(shapes)))
    pick = functools.partial(_same_leaves, name, nested, places)
    return Outcome(nested, len(shapes), places, shapes, (dtype,) * len(shapes), pick)


def linear_leaves(args: tuple, part: Part) -> range:
    """The leaves of the arguments of a rule that it is linear in: the second one's."""
    return range(len(flatten(args[0])[0]), len(flatten(args[:2])[0])) if part.order else range(0)


def outcome_like(
    likes: Sequence[Node], structure: Any, count: int, places: tuple[int, ...], pick: Callable[[Any], Sequence[Any]]
) -> Outcome:
    return Outcome(structure, count, places, tuple([n.shape for n in likes]), tuple([n.dtype for n in likes]), pick)


def nesting(structure: Any) -> str:
    if structure == LEAF:
        return "an array"
    return f"a {structure[0]} of {len(structure[-1])}"


def static_key(leaf: Any) -> Any:
    """What tells a leaf from others, in the key of a call that holds it."""
    if isinstance(leaf, (Operand, bool, int, float, str, bytes, type(None))):
        return type(leaf), repr(leaf)
    return type(leaf), id(leaf)
