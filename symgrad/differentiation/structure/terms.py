"""Terms: a derivative as a sum of values that stand at known places.

A term is the tensor ``T[n…, s…] = Σ_k value[k] · [n = at(k)] · [s = seed(k)]``: ``at`` says where it stands
in the node that the derivative flows through, ``seed`` where in what it is the derivative of (or by).
The seed itself is ``value = 1`` with one label an axis. Rules move ``at`` and multiply ``value``; what is
zero by structure is never stored, multiplied or added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...primitives.casting import cast
from ...primitives.contraction import EINSUM, contract, gate
from ...primitives.functions import add
from ...primitives.primitive import Captured, constant, dim_value, literal
from ...primitives.selection import SCATTER, assemble, full, gather
from ...primitives.shaping import reshape
from ...program.dims import Dim, Shape, normal
from ...program.node import Node, active_graph, emit
from ..reverse import accumulate
from .index_maps import (
    Affine,
    Label,
    Lookup,
    Map,
    Unsolved,
    as_index,
    at_maps,
    digit,
    flat_map,
    index_array,
    is_static,
    merged_labels,
    nonnegative,
    plain,
    plain_label,
    positions,
    solution,
    substituted,
)

Labels = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """``value``, whose axes are ``labels``, at ``at`` in the node and at ``seed`` in the seed.

    ``forward`` says which axes of values come first: those that come first in the Jacobian.
    """

    value: Node
    labels: Labels
    at: tuple[Map, ...]
    seed: tuple[Map, ...]
    forward: bool

    def having(
        self,
        value: Node | None = None,
        labels: Labels | None = None,
        at: tuple[Map, ...] | None = None,
        seed: tuple[Map, ...] | None = None,
    ) -> Term:
        """The term with another value, other labels or other places; ``dataclasses.replace`` takes far longer."""
        return Term(
            self.value if value is None else value,
            self.labels if labels is None else labels,
            self.at if at is None else at,
            self.seed if seed is None else seed,
            self.forward,
        )

    @property
    def counters(self) -> Labels:
        """Every label, in the order that values have them."""
        maps = (*self.at, *self.seed) if self.forward else (*self.seed, *self.at)
        return tuple(dict.fromkeys([k for m in maps for k in m.labels]))

    @property
    def transposed(self) -> Term:
        """The same entries, ``at`` and ``seed`` exchanged."""
        return Term(self.value, self.labels, self.seed, self.at, not self.forward)

    @property
    def is_static(self) -> bool:
        """True where all places are known now."""
        return all(map(is_static, (*self.at, *self.seed)))

    def moved(self, at: Sequence[Map]) -> Term:
        """The term at other places of another node; labels that no map holds any more are summed."""
        moved = self.having(at=tuple(at))
        return moved if set(moved.counters) >= set(self.counters) else scaled(self, [], at)


def seed_term(shape: Shape, forward: bool) -> Term:
    """δ: one, where the place in the node is the place in the seed."""
    maps = tuple([plain(Label(d)) for d in shape])
    return Term(literal(1.0), (), maps, maps, forward)


def dense_term(value: Node, batch: int, forward: bool) -> Term:
    """The term of an array whose ``batch`` leading axes are the seed's; δ that it was built with is found again."""
    counters = tuple([Label(d) for d in value.shape])
    maps = tuple(map(plain, counters))
    return peeled(Term(value, counters, maps[batch:], maps[:batch], forward))


def product(factors: Sequence[tuple[Node, Labels]], out: Labels) -> Node:
    """The contraction of factors whose axes are labels; a label of ``out`` that none of them has is a broadcast."""
    number: dict[Label, int] = {}
    for _, labels in factors:
        for k in labels:
            number.setdefault(k, len(number))
    for k in out:
        number.setdefault(k, len(number))
    own = [tuple([number[k] for k in labels]) for _, labels in factors]
    return contract([x for x, _ in factors], own, tuple([number[k] for k in out]), [k.size for k in number])


def peeled(term: Term) -> Term:
    """``term`` with the identities and broadcasts that its value was built with as places."""
    value = term.value
    if value.primitive is not EINSUM or value.params[3]:
        return term
    labels, out, sizes, _ = value.params
    present = {i for own in labels for i in own}
    if len(set(out)) == len(out) and present.issuperset(out):
        return term
    first: dict[int, Label] = {}
    same: list[tuple[Label, Label]] = []
    for i, k in zip(out, term.labels, strict=True):
        if i in first:
            same.append((k, first[i]))
        first.setdefault(i, k)
    kept = [i for i in first if i in present]
    inner = contract(value.operands, labels, tuple(kept), sizes)
    made = term.having(value=inner, labels=tuple([first[i] for i in kept]))
    for k, other in same:
        made = made.having(
            at=tuple([substituted(m, k, plain(other)) for m in made.at]),
            seed=tuple([substituted(m, k, plain(other)) for m in made.seed]),
        )
    return made


def scaled(term: Term, factors: Sequence[tuple[Node, Labels]], at: Sequence[Map]) -> Term:
    """``term`` times factors over its labels, moved to ``at``; labels that no map holds afterwards are summed.

    A label of the term that is lost without a factor or the value having it counts its size.
    """
    moved = term.having(at=tuple(at))
    held = moved.counters
    own = [(term.value, term.labels), *factors]
    known = {k for _, labels in own for k in labels}
    out = tuple([k for k in held if k in known])
    counts = [(dim_value(k.size), ()) for k in term.counters if k not in held and k not in known]
    return peeled(moved.having(value=product([*own, *counts], out), labels=out))


def gated(term: Term, factor: Node, labels: Labels, strong: bool) -> Term:
    """``term`` times a factor, in which zeros win: the factor's where ``strong``, else the term's own."""
    known = {*term.labels, *labels}
    out = tuple([k for k in term.counters if k in known])
    mine, other = aligned(term.value, term.labels, out), aligned(factor, labels, out)
    if mine.is_literal:  # the zeros are those of the factor alone
        mine = scalar(mine.params[0], factor.dtype if factor.dtype.kind == "f" else np.dtype(np.float64))
    made = gate(other, mine) if strong else gate(mine, other)
    return term.having(value=made, labels=out)


def scalar(value: float, dtype: np.dtype) -> Node:
    """A number of a dtype as an array; equal ones are one node."""
    table = active_graph().table
    key = ("scalar", value, dtype)
    if key not in table:
        table[key] = constant(Captured(np.asarray(value, dtype)))
    return table[key]


def aligned(x: Node, labels: Labels, order: Labels) -> Node:
    """``x`` with its axes in ``order``, unit axes where it has none, ready to broadcast."""
    if labels == order[len(order) - len(labels) :]:
        return x
    units = [Label(1) for _ in order]
    out = [k if k in labels else units[n] for n, k in enumerate(order)]
    while out and out[0] not in labels:
        out.pop(0)
    return product([(x, labels)], tuple(out))


def placed_in(term: Term, m: Map, spec: tuple[Dim, Dim, Dim]) -> tuple[Term, Map] | None:
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


def looked_for(term: Term, m: Map, wanted: np.ndarray) -> tuple[Term, list[Map]] | None:
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


def relabelled(term: Term, by: dict[Label, Map]) -> Term:
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


def equated(term: Term, a: Map, b: Map, dim: Dim) -> tuple[Term, Map] | None:
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


def split_map(term: Term, flat: Map, dims: Shape) -> tuple[Term, list[Map]]:
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
    steps: list[list] = [[] for _ in dims]
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


def collected(terms: Sequence[Term]) -> list[Term]:
    """``terms`` with those that stand at the same places added up."""
    if len(terms) < 2:
        return [t for t in terms if not is_zero(t.value)]
    groups: dict[tuple, Term] = {}
    for t in terms:
        if is_zero(t.value):
            continue
        counters = t.counters
        key = _places(t, counters)
        known = groups.get(key)
        if known is None:
            groups[key] = t
            continue
        own = dict(zip(counters, known.counters, strict=True))
        labels = tuple([own[k] for k in t.labels])
        groups[key] = _sum(known, t.value, labels)
    return list(groups.values())


def is_zero(value: Node) -> bool:
    """True for the number 0."""
    return value.is_literal and value.params[0] == 0


def _places(t: Term, counters: Labels) -> tuple:
    number = {k: n for n, k in enumerate(counters)}

    def key(m: Map) -> tuple:
        if isinstance(m, Affine):
            return (m.start, tuple(sorted((number[k], s) for k, s in m.steps)))
        return (m.index, tuple([number[k] for k in m.labels]))

    return tuple(map(key, t.at)), tuple(map(key, t.seed)), tuple([k.size for k in counters])


def _sum(term: Term, value: Node, labels: Labels) -> Term:
    known = {*term.labels, *labels}
    out = tuple([k for k in term.counters if k in known])
    made = add(aligned(term.value, term.labels, out), aligned(value, labels, out))
    return term.having(value=made, labels=out)


def dense(terms: Sequence[Term], shape: Shape) -> Node | None:
    """The terms as one array of ``shape``, whose axes are those of ``seed`` and then of ``at``; None without terms."""
    parts = [_dense(t, (*t.seed, *t.at), shape) for t in terms]
    return accumulate(parts) if parts else None


def _dense(term: Term, maps: Sequence[Map], shape: Shape) -> Node:
    value, own = (term.value, term.labels)
    out: list[Map] = list(maps)
    scattered = _scattered_axes(out, shape)
    if scattered:
        return _scatter(term, out, shape, scattered)
    wide: list[Dim] = []
    labels: list[Label] = []
    spec: list = []
    for m, d in zip(out, shape, strict=True):
        assert isinstance(m, Affine)
        if len(m.steps) <= 1:
            wide.append(d)
            spec.append((m.start, m.steps[0][0].size, m.steps[0][1]) if m.steps else m.start)
            labels += m.labels
        else:  # several labels that fill the axis
            merged = merged_labels(m, d) or []
            wide += [k.size for k in merged]
            spec += [(0, k.size, 1) for k in merged]
            labels += merged
    inner = product([(value, own)], tuple(labels))
    placed = inner if tuple(spec) == full(tuple(wide)) else assemble([inner], tuple(wide), [tuple(spec)])
    return reshape(placed, shape)


def _scattered_axes(maps: Sequence[Map], shape: Shape) -> list[int]:
    """The axes that need a scatter: lookups, and what shares labels with them."""
    odd = [
        a
        for a, (m, d) in enumerate(zip(maps, shape, strict=True))
        if isinstance(m, Lookup) or (len(m.steps) > 1 and merged_labels(m, d) is None)
    ]
    shared = {k for a in odd for k in maps[a].labels}
    return [a for a, m in enumerate(maps) if a in odd or shared.intersection(m.labels)]


def _scatter(term: Term, maps: list[Map], shape: Shape, scattered: list[int]) -> Node:
    """The scattered axes flattened into one that is added into by index, the others before it."""
    rest = [a for a in range(len(maps)) if a not in scattered]
    dims = tuple([shape[a] for a in scattered])
    flat = flat_map([_within(maps[a], shape[a]) for a in scattered], dims)
    labels = tuple(dict.fromkeys([k for a in scattered for k in maps[a].labels]))
    counters = tuple(dict.fromkeys([k for a in rest for k in maps[a].labels] + list(labels)))
    # the rest is placed densely behind the labels of the scatter
    at, seed = tuple([maps[a] for a in rest]), tuple(map(plain, labels))
    others = Term(term.value, term.labels, at, seed, forward=False)
    assert set(counters) >= set(term.labels)
    lead = tuple([k.size for k in labels])
    block = _dense(others, (*others.seed, *others.at), (*lead, *[shape[a] for a in rest]))
    folded = emit(SCATTER, (block, as_index(flat, labels)), (0, math.prod(dims)))
    wide = reshape(folded, (*dims, *[shape[a] for a in rest]))
    order = [*scattered, *rest]
    axes = tuple([order.index(a) for a in range(len(maps))])
    return contract([wide], [tuple(range(wide.ndim))], axes, wide.shape)


def _within(m: Map, dim: Dim) -> Map:
    """``m``, whose index a kernel checks against ``dim``: outside, it would name another place when flattened."""
    if is_static(m) or isinstance(m, Affine) or not isinstance(dim, int):
        return m
    return Lookup(gather(index_array(np.arange(dim)), m.index, 0), m.labels)


def node_flow(term: Term, shape: Shape, seed_shape: Shape, dtype: np.dtype) -> Node:
    """The term as an array with the seed's axes leading, for rules that know no structure."""
    if term.value.is_literal:  # as an array of the dtype, so that no cast hides the identity
        term = term.having(value=scalar(term.value.params[0], dtype))
    return cast(_dense(term, (*term.seed, *term.at), (*seed_shape, *shape)), dtype)
