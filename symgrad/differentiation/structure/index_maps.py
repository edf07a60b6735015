"""Index maps: where along an axis a term stands, as a function of the term's labels.

A label is a counter from 0 to its size. A map is affine in labels (a constant, a label, a slice, the
merging of axes) or a lookup in an integer array (a gather). Maps are closed under what moves elements:
composition with a slice or a reshape, and the restriction to the labels that fall into one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ...primitives.contraction import contract
from ...primitives.functions import add, floor_divide, multiply, remainder
from ...primitives.primitive import CONSTANT, dim_value, made_constant
from ...primitives.selection import gather, take_slice
from ...primitives.shaping import reshape
from ...program.dims import Dim, normal
from ...program.node import Node, active_graph

_serials = itertools.count()


class Unsolved(Exception):
    """A restriction that has no answer before values or sizes are known; the caller goes on without structure."""


class Label:
    """A counter from 0 to ``size``, compared by identity."""

    __slots__ = ("serial", "size")

    def __init__(self, size: Dim) -> None:
        self.size: Dim = size
        self.serial = next(_serials)


@dataclass(frozen=True, slots=True)
class Affine:
    """``start + Σ stride·label``."""

    start: Dim
    steps: tuple[tuple[Label, Dim], ...] = ()

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple([label for label, _ in self.steps])


@dataclass(frozen=True, slots=True)
class Lookup:
    """``index[labels]``: an integer array with one axis a label."""

    index: Node
    labels: tuple[Label, ...]


Map = Affine | Lookup


def plain(label: Label) -> Affine:
    """The label itself."""
    return Affine(0, ((label, 1),))


def plain_label(m: Map) -> Label | None:
    """The label that ``m`` is, where it is one."""
    if isinstance(m, Affine) and m.start == 0 and len(m.steps) == 1 and m.steps[0][1] == 1:
        return m.steps[0][0]
    return None


def is_static(m: Map) -> bool:
    """True where all positions are known now."""
    if isinstance(m, Lookup):
        return m.index.primitive is CONSTANT
    return isinstance(m.start, int) and all(isinstance(s, int) and isinstance(k.size, int) for k, s in m.steps)


def shifted(m: Map, start: Dim, step: Dim) -> Map:
    """``start + step·m``."""
    if isinstance(m, Affine):
        return Affine(start + step * m.start, tuple([(k, step * s) for k, s in m.steps]))
    if start == 0 and step == 1:
        return m
    if m.index.primitive is CONSTANT:
        return Lookup(index_array(start + step * m.index.params[0].value), m.labels)
    scaled = m.index if step == 1 else multiply(m.index, dim_value(step))
    return Lookup(scaled if start == 0 else add(scaled, dim_value(start)), m.labels)


def index_array(values: np.ndarray) -> Node:
    """The node of a constant integer array; equal arrays give the same node."""
    array = np.asarray(values, dtype=np.intp, order="C")
    return made_constant(("index", array.shape, array.tobytes().hex()), lambda: array)


def digit(index: Node, stride: int, size: int, whole: int) -> Node:
    """The place along one axis of ``size``, where several merge row by row into one of ``whole``."""
    if index.primitive is CONSTANT:
        return index_array(index.params[0].value // stride % size)
    made = index if stride == 1 else floor_divide(index, dim_value(stride))
    return made if stride * size == whole else remainder(made, dim_value(size))


def positions(m: Map, labels: Sequence[Label], read: Mapping[Node, np.ndarray] = MappingProxyType({})) -> np.ndarray:
    """The positions of a static map, or of one whose index is in ``read``, over the grid of ``labels``."""
    shape = tuple([k.size for k in labels])
    if isinstance(m, Lookup):
        values = read[m.index] if m.index in read else m.index.params[0].value
        order = [m.labels.index(k) for k in labels if k in m.labels]
        slots = tuple([slice(None) if k in m.labels else None for k in labels])
        return np.broadcast_to(values.transpose(order)[slots], shape)
    total = np.full((1,) * len(labels), m.start, dtype=np.intp)
    for k, stride in m.steps:
        counted = stride * np.arange(k.size, dtype=np.intp)
        total = total + counted.reshape([-1 if k is other else 1 for other in labels])
    return np.broadcast_to(total, shape)


def as_index(m: Map, labels: Sequence[Label]) -> Node:
    """The positions over the grid of ``labels`` as an integer node."""
    if is_static(m):
        return index_array(positions(m, labels))
    if isinstance(m, Affine):
        raise Unsolved
    number = {k: n for n, k in enumerate(labels)}
    own = tuple([number[k] for k in m.labels])
    return contract([m.index], [own], tuple(range(len(labels))), [k.size for k in labels])


def flat_map(maps: Sequence[Map], shape: Sequence[Dim]) -> Map:
    """The position in the flattened axes of ``shape``, row by row."""
    total: Map = Affine(0)
    stride: Dim = 1
    for m, d in zip(reversed(maps), reversed(shape), strict=True):
        total = added(total, shifted(m, 0, stride))
        stride = stride * d
    return total


def added(a: Map, b: Map) -> Map:
    """``a + b``."""
    if isinstance(a, Affine) and isinstance(b, Affine):
        strides: dict[Label, Dim] = dict(a.steps)
        for k, s in b.steps:
            strides[k] = strides.get(k, 0) + s
        steps = sorted(((k, s) for k, s in strides.items() if s != 0), key=lambda p: p[0].serial)
        return Affine(a.start + b.start, tuple(steps))
    if isinstance(a, Affine) and not a.steps:
        return shifted(b, a.start, 1)
    if isinstance(b, Affine) and not b.steps:
        return shifted(a, b.start, 1)
    labels = tuple(dict.fromkeys((*a.labels, *b.labels)))
    if is_static(a) and is_static(b):
        return Lookup(index_array(positions(a, labels) + positions(b, labels)), labels)
    return Lookup(add(as_index(a, labels), as_index(b, labels)), labels)


def substituted(m: Map, label: Label, by: Map) -> Map:
    """``m`` with ``by`` in place of ``label``."""
    if label not in m.labels:
        return m
    if isinstance(m, Affine):
        rest = Affine(m.start, tuple([(k, s) for k, s in m.steps if k is not label]))
        return added(rest, shifted(by, 0, dict(m.steps)[label]))
    return looked_up_at(m.index, [by if k is label else plain(k) for k in m.labels])


def looked_up_at(index: Node, maps: Sequence[Map]) -> Map:
    """``index`` at one map an axis, as a map; what is known now is looked up now."""
    if index.primitive is CONSTANT and all(map(is_static, maps)):
        labels = tuple(dict.fromkeys([k for m in maps for k in m.labels]))
        values = index.params[0].value[tuple([positions(m, labels) for m in maps])]
        return Lookup(index_array(values), labels) if labels else Affine(int(values))
    return Lookup(*at_maps(index, maps))


def at_maps(x: Node, maps: Sequence[Map]) -> tuple[Node, tuple[Label, ...]]:
    """``x`` at one map an axis: a node with one axis a label, and these labels."""
    spec: list[Any] = []
    kept: list[Map] = []
    for d, m in zip(x.shape, maps, strict=True):
        if isinstance(m, Affine) and not m.steps:
            spec.append(m.start)
        elif isinstance(m, Affine) and len(m.steps) == 1:
            ((label, stride),) = m.steps
            spec.append((m.start, label.size, stride))
            kept.append(plain(label))
        else:
            spec.append((0, d, 1))
            kept.append(m)
    x = take_slice(x, tuple(spec))
    x, kept = _split(x, kept)
    if any(plain_label(m) is None for m in kept):
        x, kept = _looked_up(x, kept)
    labels = [m.labels[0] for m in kept]
    unique = tuple(dict.fromkeys(labels))
    if len(unique) < len(labels):
        number = {k: n for n, k in enumerate(unique)}
        own = tuple([number[k] for k in labels])
        x = contract([x], [own], tuple(range(len(unique))), [k.size for k in unique])
    return x, unique


def _split(x: Node, maps: list[Map]) -> tuple[Node, list[Map]]:
    """Axes that merge several whole labels are reshaped into one axis a label."""
    if not any(isinstance(m, Affine) and len(m.steps) > 1 for m in maps):
        return x, maps
    shape: list[Dim] = []
    split: list[Map] = []
    for d, m in zip(x.shape, maps, strict=True):
        labels = merged_labels(m, d)
        split += [m] if labels is None else [plain(k) for k in labels]
        shape += [d] if labels is None else [k.size for k in labels]
    return reshape(x, tuple(shape)), split


def merged_labels(m: Map, dim: Dim) -> list[Label] | None:
    """The labels whose row-by-row grid the map runs through, where it covers the axis exactly."""
    if isinstance(m, Lookup) or m.start != 0:
        return None
    rest = list(m.steps)
    found: list[Label] = []
    stride: Dim = 1
    while rest:
        at = [n for n, (_, own) in enumerate(rest) if own == stride]
        if not at:
            return None
        label, _ = rest.pop(min(at, key=lambda n: rest[n][0].size != 1))
        found.append(label)
        stride = stride * label.size
    return found[::-1] if stride == dim else None


def _looked_up(x: Node, maps: list[Map]) -> tuple[Node, list[Map]]:
    """The axes with lookups gathered; those that share labels are flattened and gathered at once."""
    counts: dict[Label, int] = {}
    for m in maps:
        for k in m.labels:
            counts[k] = counts.get(k, 0) + 1
    apart = [a for a, m in enumerate(maps) if plain_label(m) is None and all(counts[k] == 1 for k in m.labels)]
    for a in reversed(apart):
        m = maps[a]
        x = gather(x, as_index(m, m.labels), a)
        maps = [*maps[:a], *map(plain, m.labels), *maps[a + 1 :]]
    looking = {k for m in maps if plain_label(m) is None for k in m.labels}
    joined = [a for a, m in enumerate(maps) if looking.intersection(m.labels)]
    if not joined:
        return x, maps
    rest = [a for a in range(x.ndim) if a not in joined]
    moved = contract([x], [tuple(range(x.ndim))], (*joined, *rest), x.shape)
    shape = moved.shape[: len(joined)]
    flat = flat_map([maps[a] for a in joined], shape)
    folded = reshape(moved, (math.prod(shape), *moved.shape[len(joined) :]))
    made = gather(folded, as_index(flat, flat.labels), 0)
    return made, [*map(plain, flat.labels), *(maps[a] for a in rest)]


def nonnegative(dim: Dim) -> bool:
    """Whether a dim is not negative, a fact of the graph from now on; Unsolved where named dims leave it open."""
    known = active_graph().sizes.usual(dim, "nonnegative")
    if known is None:
        raise Unsolved
    return known


def solution(m: Affine, start: Dim, length: Dim, step: Dim) -> tuple[Affine, Affine, Dim] | None:
    """Where a map of one label meets a slice: ``(label, place, count)`` as affine maps of a new counter.

    ``label`` is the label's and ``place`` the slice's own counter, both with a step for the one new label
    (their ``steps`` hold only its stride, under the old label); None where they never meet.
    """
    ((label, b),) = m.steps
    a, size = m.start, label.size
    if b == step or (abs(b) == 1 and b == -step):  # places go up with the label, or down
        ahead = normal(start - a)
        if step not in (1, -1):
            if not isinstance(ahead, int) or not isinstance(step, int):
                raise Unsolved
            if ahead % step:
                return None
        up = b == step
        low = ahead // step if up and step not in (1, -1) else normal(b * ahead if up else b * ahead - length + 1)
        high = normal(low + length)
        first = low if nonnegative(low) else 0
        count = normal((size if nonnegative(high - size) else high) - first)
        if count == 0 or not nonnegative(count):
            return None
        place = normal(first - low) if up else normal(high - 1 - first)
        return Affine(first, ((label, 1),)), Affine(place, ((label, 1 if up else -1),)), count
    if not all(isinstance(v, int) for v in (a, b, size, start, length, step)):
        raise Unsolved
    g = math.gcd(b, step)
    if (start - a) % g:
        return None
    stride = abs(step) // g
    k0 = ((start - a) // g) * pow(b // g, -1, stride) % stride if stride > 1 else 0
    j0, j1 = (a + b * k0 - start) // step, b * stride // step
    low, high = _range(k0, stride, size)
    places = _range(j0, j1, length)
    low, high = max(low, places[0]), min(high, places[1])
    if low > high:
        return None
    return (
        Affine(k0 + stride * low, ((label, stride),)),
        Affine(j0 + j1 * low, ((label, j1),)),
        high - low + 1,
    )


def _range(first: int, step: int, length: int) -> tuple[int, int]:
    """The counters ``t`` with ``0 ≤ first + step·t < length``, as (lowest, highest)."""
    if step > 0:
        return -(first // step), (length - 1 - first) // step
    return -((length - 1 - first) // -step), first // -step
