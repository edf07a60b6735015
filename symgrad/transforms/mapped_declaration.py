"""The shapes that a mapped function declares: those of one example, with the axis of the examples put in."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..named_dims import Declaration, Declared, argument_names
from ..program.dims import declared_shape
from ..tracing.tree import flatten, unflatten
from .mapped_axes import Axis, by_argument, spread


class MappedDeclaration(Declaration):
    """What ``vmap(fn)`` declares where ``fn`` declares ``own``; the examples have a name of their own, ``batch``.

    Arrays that are mapped and that ``fn`` does not declare have the sizes that they come with, but for the examples.
    """

    def __init__(self, fn: Callable, own: Declaration, in_axes: Any) -> None:
        self._fn = fn
        self._own = own
        self._in_axes = in_axes
        self._caller = f"vmap({getattr(fn, '__name__', type(fn).__name__)})"
        taken = own.words()
        names = ("batch" + (str(k) if k else "") for k in itertools.count())
        self._word = next(name for name in names if name not in taken)

    def words(self) -> set[str]:
        return self._own.words() | {self._word}

    def shapes(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        by_place, by_name = self._own.shapes(args, kwargs)
        names = argument_names(self._fn, len(args))
        axes = by_argument(self._in_axes, args, self._caller)
        made = [self._tree(*given) for given in zip(args, by_place, axes, names, strict=True)]
        return made, {name: self._tree(value, by_name[name], 0, name) for name, value in kwargs.items()}

    def _tree(self, value: Any, tree: Any, axes: Any, name: str) -> Any:
        leaves, structure = flatten(value)
        declared = [None] * len(leaves) if tree is None else flatten(tree)[0]
        if len(declared) != len(leaves):
            return tree  # which says itself that the argument has another structure
        places = spread(axes, value, name, "in_axes", self._caller)
        made = [self._leaf(*given) for given in zip(leaves, declared, places, strict=True)]
        return unflatten(structure, made) if any(d is not None for d in made) else None

    def _leaf(self, leaf: Any, declared: Declared | None, place: Axis) -> Declared | None:
        axis, label = place
        if axis is None:
            return declared
        if declared is not None:
            words, label = declared.text.split(), declared.label
            words.insert(axis % (len(words) + 1), self._word)
        elif issubclass(type(leaf), np.ndarray) and -leaf.ndim <= axis < leaf.ndim:
            words = [str(d) for d in leaf.shape]
            words[axis] = self._word
        else:
            return None
        text = " ".join(words)
        return Declared(label, text, declared_shape(text))

    def complete(self, caller: str) -> tuple[tuple, dict[str, Any]]:
        args, kwargs = self._own.complete(caller)
        axes = by_argument(self._in_axes, args, self._caller)
        names = argument_names(self._fn, len(args))
        made = tuple([self._tree(*given) for given in zip(args, args, axes, names, strict=True)])
        return made, {name: self._tree(tree, tree, 0, name) for name, tree in kwargs.items()}
