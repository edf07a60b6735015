"""Views: values that are other values' elements in other places, so that no code is needed for them.

A slice, a transpose, a broadcast, a diagonal that is taken, a reshape that splits axes: each reads its source at
indices that are linear in its own. A chain of them is one ``View`` of what it begins with.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...primitives.identity import IDENTITIES
from ...primitives.windows import even_steps
from ...program.dims import Dim, Shape, normal
from ...program.node import Node
from .language import Index


class View(NamedTuple):
    """``root[places]``; an Index of a view has axes of the viewing node for names."""

    root: Node
    places: tuple[Index, ...]


def whole(node: Node) -> View:
    """A value as a view of itself."""
    return View(node, own_places(node.shape))


@functools.lru_cache(maxsize=4096)
def own_places(shape: Shape) -> tuple[Index, ...]:
    """An array at its own axes; those of one element are at 0."""
    return tuple([Index() if d == 1 else Index(0, ((k, 1),)) for k, d in enumerate(shape)])


def moved(places: Sequence[Index], image: Sequence[Index] | dict[Any, Index]) -> tuple[Index, ...]:
    """Places with each of their names replaced by an Index."""
    return tuple([_moved(place, image) for place in places])


def _moved(place: Index, image: Any) -> Index:
    if len(place.terms) == 1 and place.offset == 0 and place.terms[0][1] == 1:
        return image[place.terms[0][0]]
    offset: Dim = place.offset
    terms: dict[Any, Dim] = {}
    for name, coefficient in place.terms:
        by = image[name]
        offset = offset + coefficient * by.offset
        for inner, step in by.terms:
            terms[inner] = terms.get(inner, 0) + coefficient * step
    return Index(normal(offset), tuple([(name, normal(step)) for name, step in terms.items()]))


def view_of(node: Node, sources: dict[Node, View]) -> View | None:
    """The node as a view of what its operand is a view of; None where it is none."""
    if not node.operands:
        return None
    source = sources[node.operands[0]]
    name = node.primitive.name
    if name in IDENTITIES or (name == "cast" and node.dtype == node.operands[0].dtype):
        return source
    image: list[Index] | None = None
    if name == "slice":
        image = _sliced(node)
    elif name == "einsum":
        image = relabelled(node)
    elif name == "reshape":
        image = _split(node.operands[0].shape, node.shape)
    elif name == "gather":
        image = _gathered(node)
    return None if image is None else View(source.root, moved(source.places, image))


def _sliced(node: Node) -> list[Index]:
    image = []
    axis = 0
    for entry, d in zip(node.params[0], node.operands[0].shape, strict=True):
        if isinstance(entry, tuple):
            start, length, step = entry
            image.append(Index(start) if length == 1 else Index(start, ((axis, step),)))
            axis += 1
        else:
            image.append(Index(entry + d if isinstance(entry, int) and entry < 0 else entry))
    return image


def _gathered(node: Node) -> list[Index] | None:
    """Where a gather by evenly spaced indices reads each axis; None for any other."""
    x, index = node.operands
    (axis,) = node.params
    place = even_place(index, x.shape[axis], axis)
    if place is None:
        return None
    others = [Index() if d == 1 else Index(0, ((k + (index.ndim - 1) * (k > axis), 1),)) for k, d in enumerate(x.shape)]
    return [*others[:axis], place, *others[axis + 1 :]]


def even_place(index: Node, length: Dim, axis: int) -> Index | None:
    """The place that a constant array of evenly spaced indices names, whose axes are those from ``axis`` on."""
    steps = even_steps(index, length)
    if steps is None:
        return None
    own = [(axis + k, step) for k, (step, d) in enumerate(zip(steps, index.shape, strict=True)) if d != 1]
    return Index(int(index.params[0].value.flat[0]), tuple(own))


def relabelled(node: Node) -> list[Index] | None:
    """Where an einsum of one operand reads it, without a sum, a factor or a diagonal of the result."""
    labels, out, sizes, _ = node.params
    if len(labels) != 1 or len(set(out)) < len(out) or node.dtype != node.operands[0].dtype:
        return None
    image = []
    for label in labels[0]:
        if sizes[label] == 1:
            image.append(Index())
        elif label in out:
            image.append(Index(0, ((out.index(label), 1),)))
        else:
            return None
    return image


def _split(old: Shape, new: Shape) -> list[Index] | None:
    """Where a reshape reads each old axis, if each is made of whole new ones; None otherwise."""
    image: list[Index] = []
    axis = 0
    for d in old:
        if d == 1:
            image.append(Index())
            continue
        extents: list[tuple[int, Dim]] = []
        product: Dim = 1
        while product != d or (axis < len(new) and new[axis] == 1):
            if axis == len(new):
                return None
            if new[axis] != 1:
                extents.append((axis, new[axis]))
                product = normal(product * new[axis])
            axis += 1
            if isinstance(product, int) and isinstance(d, int) and (product == 0 or product > d):
                return None
        terms: list[tuple[int, Dim]] = []
        step: Dim = 1
        for k, extent in reversed(extents):
            terms.insert(0, (k, step))
            step = normal(step * extent)
        image.append(Index(0, tuple(terms)))
    return image if all(d == 1 for d in new[axis:]) else None
