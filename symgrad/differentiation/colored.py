"""A sparse Jacobian through a few products: the way where terms were lost into arrays and the pattern is known."""

from __future__ import annotations

import math

import numpy as np

from ..primitives.primitive import CapturedArray, constant
from ..primitives.selection import gather
from ..primitives.shaping import reshape
from ..program.dims import Shape
from ..program.node import Node
from .forward import forward_sweep
from .reverse import reverse_sweep
from .structure.coloring import column_colors, star_colors, star_places
from .structure.dependency import Read, dependency
from .structure.index_maps import Affine, Label, Lookup, Map, index_array
from .structure.structured_tangents import StructuredTangent


def colored_term(output: Node, source: Node, read: Read, symmetric: bool, entries: int) -> StructuredTangent | None:
    """The Jacobian as one list of entries; None where that would not be fewer than ``entries``.

    One product a color: with the Jacobian where columns take fewer colors, with its transpose where rows do;
    star-colored where it is ``symmetric``.
    """
    pattern = dependency(output, source, read)
    if 2 * pattern.nnz >= entries:
        return None
    rows, columns = pattern.tocoo().coords
    if symmetric:
        colors = star_colors(pattern)
        rows, columns, place, color = star_places(pattern, colors)
        compressed = _pushed(output, source, colors)
    else:
        colors, others = column_colors(pattern), column_colors(pattern.T.tocsr())
        if colors.max(initial=0) <= others.max(initial=0):
            place, color, compressed = rows, colors[columns], _pushed(output, source, colors)
        else:
            place, color, compressed = columns, others[rows], _pulled(output, source, others)
    if compressed is None:
        return None
    lanes = compressed.shape[0]
    width = math.prod(compressed.shape[1:])
    values = gather(reshape(compressed, (lanes * width,)), index_array(color * width + place), 0)
    label = Label(len(rows))
    return StructuredTangent(
        values, (label,), _looked_up(columns, source.shape, label), _looked_up(rows, output.shape, label), False
    )


def _seeds(colors: np.ndarray, shape: Shape, dtype: np.dtype) -> Node:
    """One row a color: ones where the elements of that color are."""
    lanes = int(colors.max(initial=0)) + 1
    seeds = np.zeros((lanes, len(colors)), dtype)
    seeds[colors, np.arange(len(colors))] = 1
    return constant(CapturedArray(seeds.reshape((lanes, *shape))))


def _pushed(output: Node, source: Node, colors: np.ndarray) -> Node | None:
    return forward_sweep([output], {source: _seeds(colors, source.shape, source.dtype)}, 1)[0]


def _pulled(output: Node, source: Node, colors: np.ndarray) -> Node | None:
    return reverse_sweep([output], [_seeds(colors, output.shape, output.dtype)], [source], 1)[0]


def _looked_up(flat: np.ndarray, shape: Shape, label: Label) -> tuple[Map, ...]:
    digits = np.unravel_index(flat, shape) if shape else ()
    return tuple(
        [Lookup(index_array(d), (label,)) if n != 1 else Affine(0) for d, n in zip(digits, shape, strict=True)]
    )
