"""Which axis of each argument and output the examples stand along, as ``in_axes`` and ``out_axes`` say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.containers import container
from ..tracing.tree import flatten, is_nested, parts_of
from .positions import is_data

#: the axis of a leaf, None for one that is not mapped, and what errors call the leaf
Axis = tuple[int | None, str]


def checked_axes(axes: Any, name: str) -> Any:
    """``axes`` where it is made of ints and None."""
    leaves, _ = flatten(axes)
    for axis in leaves:
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, (int, np.integer))):
            raise ArgumentTypeError(f"{name} must be an int, None, or a tuple, list or dict of these, got {axis!r}.")
    if name == "in_axes" and not isinstance(axes, (tuple, list, int, np.integer, type(None))):
        raise ArgumentTypeError(f"in_axes must be an int, or a tuple with one entry for each argument, got {axes!r}.")
    return axes


def of_arguments(in_axes: Any, args: tuple, kwargs: dict[str, Any], names: Sequence[str], caller: str) -> list[Axis]:
    """The axis of each leaf of the arguments, in order."""
    found: list[Axis] = []
    for prefix, value, name in zip(by_argument(in_axes, args, caller), args, names, strict=False):
        found += spread(prefix, value, name, "in_axes", caller)
    for name, value in kwargs.items():
        found += spread(0, value, name, "in_axes", caller)
    return found


def by_argument(in_axes: Any, args: Sequence[Any], caller: str) -> Sequence[Any]:
    """What ``in_axes`` says of each positional argument."""
    if not isinstance(in_axes, (tuple, list)):
        return [in_axes] * len(args)
    if len(in_axes) != len(args):
        raise ArgumentError(
            f"{caller}: in_axes has {len(in_axes)} entries and the function was called with {len(args)} positional "
            f"argument{'s' if len(args) != 1 else ''}; give one entry for each."
        )
    return in_axes


def spread(prefix: Any, value: Any, label: str, name: str, caller: str) -> list[Axis]:
    """The axis of each leaf of ``value`` where ``prefix`` says it of the leaf or of a tree that it is in."""
    if not is_nested(value) and not is_nested(prefix):
        return [(prefix, label)]
    parts = parts_of(value) if is_nested(value) else {}
    inner = parts_of(prefix) if is_nested(prefix) else dict.fromkeys(parts, prefix)
    sequences = isinstance(prefix, (tuple, list)), isinstance(value, (tuple, list))
    if not is_nested(value) or inner.keys() != parts.keys() or (is_nested(prefix) and len(set(sequences)) > 1):
        raise ArgumentError(
            f"{caller}: {name} gives {prefix!r} for {label}, which is nested in another way; give one int, or a tree "
            "like it."
        )
    own = container(type(value))
    if own is not None and own.fixed and not (is_nested(prefix) or prefix is None):
        raise ArgumentError(
            f"{caller}: {label} is a {type(value).__name__}, which has no axis of examples; give it None in {name}."
        )
    found: list[Axis] = []
    for key, part in parts.items():
        if isinstance(value, (list, dict)) or (isinstance(value, tuple) and not hasattr(value, "_fields")):
            found += spread(inner[key], part, f"{label}[{key!r}]", name, caller)
        else:  # a field that is no data is the same for all examples
            own = inner[key] if is_nested(part) or is_data(part) else None
            found += spread(own, part, f"{label}.{key}", name, caller)
    return found
