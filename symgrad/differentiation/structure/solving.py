"""Where the maps of a term meet a slice, an index or one another: terms whose labels run over that alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...program.dims import Dim, Shape, normal
from .index_maps import (
    Affine,
    Label,
    Lookup,
    Map,
    Unsolved,
    at_maps,
    digit,
    flat_map,
    index_array,
    is_static,
    nonnegative,
    plain,
    plain_label,
    positions,
    solution,
    substituted,
)
from .structured_tangents import Labels, StructuredTangent


def placed_in(term: StructuredTangent, m: Map, spec: tuple[Dim, Dim, Dim]) -> tuple[StructuredTangent, Map] | None:
    """``term`` where its map ``m`` falls into the slice ``(start, length, step)``, and the place in the slice.

    None where it never does; Unsolved where that is not known yet.
    """
    start, length, step = spec
    if isinstance(m, Affine) and len(m.steps) == 1:
        found = solution(m, start, length, step)
        if found is None:
            return None
        of_label, place, count = found
        ((label, stride),) = of_label.steps
        if of_label.start == 0 and stride == 1 and count == label.size:
            return term, place
        if count == 1:
            return relabelled(term, {label: Affine(of_label.start)}), Affine(place.start)
        new = Label(count)
        by = Affine(of_label.start, ((new, stride),))
        return relabelled(term, {label: by}), Affine(place.start, ((new, place.steps[0][1]),))
    if isinstance(m, Affine) and not m.steps and step in (1, -1):
        k = normal((m.start - start) * step)
        return (term, Affine(k)) if nonnegative(k) and nonnegative(length - 1 - k) else None
    if isinstance(m, Affine) and not m.steps and isinstance(m.start, int) and isinstance(start, int):
        if not all(isinstance(d, int) for d in (length, step)):
            raise Unsolved
        k, rest = divmod(m.start - start, step)
        return (term, Affine(k)) if rest == 0 and 0 <= k < length else None
    if not is_static(m) or not all(isinstance(d, int) for d in spec):
        raise Unsolved
    labels = m.labels
    ahead = positions(m, labels) - start
    inside = (ahead % step == 0) & (ahead // step >= 0) & (ahead // step < length)
    if not inside.any():
        return None
    if inside.all():
        return term, shifted_map(ahead // step, labels)
    chosen, new = chosen_labels(inside, labels)
    return relabelled(term, chosen), Lookup(index_array((ahead // step)[inside]), (new,))


def shifted_map(values: np.ndarray, labels: Labels) -> Map:
    """Static positions over a grid of labels as a map."""
    return Lookup(index_array(values), labels) if labels else Affine(int(values))


def chosen_labels(inside: np.ndarray, labels: Labels) -> tuple[dict[Label, Map], Label]:
    """The points of a grid where ``inside`` holds, as lookups of one new label for each of the old."""
    points = np.nonzero(inside)
    new = Label(len(points[0]))
    return {k: Lookup(index_array(p), (new,)) for k, p in zip(labels, points, strict=True)}, new


def looked_for(term: StructuredTangent, m: Map, wanted: np.ndarray) -> tuple[StructuredTangent, list[Map]] | None:
    """``term`` where its static map ``m`` is one of the positions ``wanted``, and the place in each axis of ``wanted``.

    None where it never is.
    """
    places = positions(m, m.labels).ravel()
    order = np.argsort(places, kind="stable")
    first, last = [np.searchsorted(places[order], wanted.ravel(), side=side) for side in ("left", "right")]
    counts = last - first
    if not counts.any():
        return None
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    points = order[np.repeat(first, counts) + within]
    if np.all(counts == 1):  # the axes stay apart
        shape, new = wanted.shape, tuple([Label(d) for d in wanted.shape])
        axes: list[Map] = list(map(plain, new))
    else:
        shape, new = points.shape, (Label(len(points)),)
        rows = np.unravel_index(np.repeat(np.arange(wanted.size), counts), wanted.shape) if wanted.ndim else ()
        axes = [Lookup(index_array(r), new) for r in rows]
    digits = np.unravel_index(points, [k.size for k in m.labels]) if m.labels else ()
    by = {k: shifted_map(d.reshape(shape), new) for k, d in zip(m.labels, digits, strict=True)}
    return relabelled(term, by), axes


def relabelled(term: StructuredTangent, by: dict[Label, Map]) -> StructuredTangent:
    """``term`` with maps of new labels in place of labels."""
    if any(k in by for k in term.labels):
        value, labels = at_maps(term.value, [by.get(k) or plain(k) for k in term.labels])
    else:
        value, labels = term.value, term.labels

    def through(m: Map) -> Map:
        for k in m.labels:
            if k in by:
                m = substituted(m, k, by[k])
        return m

    at, seed = tuple(map(through, term.at)), tuple(map(through, term.seed))
    return term.having(value=value, labels=labels, at=at, seed=seed)


def equated(term: StructuredTangent, a: Map, b: Map, dim: Dim) -> tuple[StructuredTangent, Map] | None:
    """``term`` where two maps along ``dim`` agree, and the map that both are; None where they never do."""
    if a == b:
        return term, a
    for m, other in ((a, b), (b, a)):
        label = plain_label(m)
        if label is None or label in other.labels:
            continue
        if label.size != dim:  # the other map may run past the label's end
            found = placed_in(term, other, (0, label.size, 1))
            if found is None:
                return None
            term, other = found
        return relabelled(term, {label: other}), other
    if not (is_static(a) and is_static(b)):
        raise Unsolved
    labels = tuple(dict.fromkeys((*a.labels, *b.labels)))
    where = positions(a, labels)
    inside = where == positions(b, labels)
    if not np.any(inside):
        return None
    if not labels:
        return term, a
    chosen, new = chosen_labels(inside, labels)
    return relabelled(term, chosen), Lookup(index_array(where[inside]), (new,))


def split_map(term: StructuredTangent, flat: Map, dims: Shape) -> tuple[StructuredTangent, list[Map]]:
    """The place in each axis of ``dims`` from the place in all of them, row by row."""
    strides = [math.prod(dims[k + 1 :]) for k in range(len(dims))]
    label = plain_label(flat)
    if label is not None and label.size == math.prod(dims):
        parts = tuple([Label(d) for d in dims])
        by = flat_map(list(map(plain, parts)), dims)
        return relabelled(term, {label: by}), list(map(plain, parts))
    if not all(isinstance(d, int) for d in dims) or not (isinstance(flat, Lookup) or is_static(flat)):
        raise Unsolved
    if isinstance(flat, Lookup):
        whole = math.prod(dims)
        found = [digit(flat.index, stride, d, whole) for stride, d in zip(strides, dims, strict=True)]
        return term, [Lookup(i, flat.labels) if d != 1 else Affine(0) for i, d in zip(found, dims, strict=True)]
    made = _digits(flat, dims, strides)
    if made is not None:
        return term, made
    labels = flat.labels
    where = positions(flat, labels)
    return term, [
        shifted_map(where // stride % d, labels) if d != 1 else Affine(0)
        for stride, d in zip(strides, dims, strict=True)
    ]


def _digits(flat: Affine, dims: Shape, strides: Sequence[int]) -> list[Map] | None:
    """The digits of an affine map, where no label and no start carries from one into the next."""
    steps: list[list[tuple[Label, Dim]]] = [[] for _ in dims]
    start, rest = [], flat.start
    for stride in strides:
        start.append(rest // stride)
        rest %= stride
    most = list(start)
    for label, own in flat.steps:
        axis = next((a for a, stride in enumerate(strides) if own % stride == 0 and own > 0), None)
        if axis is None:
            return None
        steps[axis].append((label, own // strides[axis]))
        most[axis] += (label.size - 1) * (own // strides[axis])
    if any(m >= d for m, d in zip(most, dims, strict=True)):
        return None
    return [Affine(s, tuple(own)) for s, own in zip(start, steps, strict=True)]
