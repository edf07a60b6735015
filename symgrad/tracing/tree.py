"""Nested tuples, lists and dicts of arrays: taken apart and put together without recursion limits in sight.

A structure is a hashable description; ``flatten`` gives the leaves and it, ``unflatten`` the reverse. Other kinds of
lists and dicts come back as plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

LEAF = "*"


def flatten(value: Any) -> tuple[list[Any], Any]:
    """Leaves in order and the structure.

    >>> flatten({"a": 1, "b": (2, 3)})
    ([1, 2, 3], ('dict', ('a', 'b'), ('*', ('tuple', ('*', '*')))))
    """
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves)


def _flatten(value: Any, leaves: list[Any]) -> Any:
    kind = type(value)
    if kind is tuple or kind is list:
        return kind.__name__, tuple([_flatten(v, leaves) for v in value])
    if kind is dict or isinstance(value, dict):
        return "dict", tuple(value), tuple([_flatten(v, leaves) for v in value.values()])
    if isinstance(value, (tuple, list)):
        children = tuple([_flatten(v, leaves) for v in value])
        return ("named", kind, children) if hasattr(value, "_fields") else (_plain(value), children)
    leaves.append(value)
    return LEAF


def _plain(value: Any) -> str:
    return "tuple" if isinstance(value, tuple) else "list"


def unflatten(structure: Any, leaves: Any) -> Any:
    """The value with ``structure`` whose leaves are ``leaves``.

    >>> unflatten(('tuple', ('*', '*')), [1, 2])
    (1, 2)
    """
    return _unflatten(structure, iter(leaves))


def _unflatten(structure: Any, leaves: Iterator[Any]) -> Any:
    if structure == LEAF:
        return next(leaves)
    kind = structure[0]
    if kind == "dict":
        return dict(zip(structure[1], [_unflatten(s, leaves) for s in structure[2]], strict=True))
    if kind == "named":
        return structure[1](*[_unflatten(s, leaves) for s in structure[2]])
    children = [_unflatten(s, leaves) for s in structure[1]]
    return tuple(children) if kind == "tuple" else children


def leaf_labels(label: str, value: Any) -> list[str]:
    """What the leaves of a value called ``label`` are called: by the keys and places that lead to them.

    >>> leaf_labels("p", {"W": 1, "b": (2, 3)}), leaf_labels("x", 1)
    (['p_W', 'p_b_0', 'p_b_1'], ['x'])
    """
    if isinstance(value, dict):
        return [name for key, v in value.items() for name in leaf_labels(f"{label}_{key}", v)]
    if isinstance(value, (tuple, list)):
        return [name for k, v in enumerate(value) for name in leaf_labels(f"{label}_{k}", v)]
    return [label]


def tree_map(function: Callable[[Any], Any], value: Any) -> Any:
    """``value`` with ``function`` applied to each leaf."""
    leaves, structure = flatten(value)
    return unflatten(structure, [function(v) for v in leaves])
