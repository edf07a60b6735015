"""Terms: a derivative as a sum of values that stand at known places.

A term is the tensor ``T[n…, s…] = Σ_k value[k] · [n = at(k)] · [s = seed(k)]``: ``at`` says where it stands
in the node that the derivative flows through, ``seed`` where in what it is the derivative of (or by).
The seed itself is ``value = 1`` with one label an axis. Rules move ``at`` and multiply ``value``; what is
zero by structure is never stored, multiplied or added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...primitives.casting import flow_as
from ...primitives.contraction import EINSUM, contract, gate
from ...primitives.functions import add
from ...primitives.primitive import dim_value, literal, made_constant
from ...primitives.selection import SCATTER, assemble, full, gather
from ...primitives.shaping import reshape
from ...program.dims import Dim, Shape
from ...program.node import Node, emit
from ..cotangents import accumulate
from .index_maps import (
    Affine,
    Label,
    Lookup,
    Map,
    as_index,
    flat_map,
    index_array,
    is_static,
    merged_labels,
    plain,
    substituted,
)

Labels = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class StructuredTangent:
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
    ) -> StructuredTangent:
        """The term with another value, other labels or other places; ``dataclasses.replace`` takes far longer."""
        return StructuredTangent(
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
    def transposed(self) -> StructuredTangent:
        """The same entries, ``at`` and ``seed`` exchanged."""
        return StructuredTangent(self.value, self.labels, self.seed, self.at, not self.forward)

    @property
    def is_static(self) -> bool:
        """True where all places are known now."""
        return all(map(is_static, (*self.at, *self.seed)))

    def moved(self, at: Sequence[Map]) -> StructuredTangent:
        """The term at other places of another node; labels that no map holds any more are summed."""
        moved = self.having(at=tuple(at))
        return moved if set(moved.counters) >= set(self.counters) else scaled(self, [], at)


def seed_term(shape: Shape, forward: bool) -> StructuredTangent:
    """δ: one, where the place in the node is the place in the seed."""
    maps = tuple([plain(Label(d)) for d in shape])
    return StructuredTangent(literal(1.0), (), maps, maps, forward)


def dense_term(value: Node, batch: int, forward: bool) -> StructuredTangent:
    """The term of an array whose ``batch`` leading axes are the seed's; δ that it was built with is found again."""
    counters = tuple([Label(d) for d in value.shape])
    maps = tuple(map(plain, counters))
    return peeled(StructuredTangent(value, counters, maps[batch:], maps[:batch], forward))


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


def peeled(term: StructuredTangent) -> StructuredTangent:
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


def scaled(term: StructuredTangent, factors: Sequence[tuple[Node, Labels]], at: Sequence[Map]) -> StructuredTangent:
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


def gated(term: StructuredTangent, factor: Node, labels: Labels, strong: bool) -> StructuredTangent:
    """``term`` times a factor, in which zeros win: the factor's where ``strong``, else the term's own."""
    if term.value.is_literal:  # the zeros are those of the factor alone
        number = term.value.params[0]
        dtype = np.result_type(factor.dtype if factor.differentiable else np.float64, number)
        term = term.having(value=scalar(number, dtype))
    return joined(term, factor, labels, (lambda mine, other: gate(other, mine)) if strong else gate)


def joined(
    term: StructuredTangent, factor: Node, labels: Labels, join: Callable[[Node, Node], Node]
) -> StructuredTangent:
    """``term`` with what ``join`` makes of its value and a factor, element by element."""
    known = {*term.labels, *labels}
    out = tuple([k for k in term.counters if k in known])
    return term.having(value=join(aligned(term.value, term.labels, out), aligned(factor, labels, out)), labels=out)


def scalar(value: complex, dtype: np.dtype) -> Node:
    """A number of a dtype as an array; equal ones are one node."""
    return made_constant(("scalar", value, dtype.str), lambda: np.asarray(value, dtype))


def aligned(x: Node, labels: Labels, order: Labels) -> Node:
    """``x`` with its axes in ``order``, unit axes where it has none, ready to broadcast."""
    if labels == order[len(order) - len(labels) :]:
        return x
    units = [Label(1) for _ in order]
    out = [k if k in labels else units[n] for n, k in enumerate(order)]
    while out and out[0] not in labels:
        out.pop(0)
    return product([(x, labels)], tuple(out))


def collected(terms: Sequence[StructuredTangent]) -> list[StructuredTangent]:
    """``terms`` with those that stand at the same places added up."""
    if len(terms) < 2:
        return [t for t in terms if not is_zero(t.value)]
    groups: dict[tuple[Any, ...], StructuredTangent] = {}
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


def _places(t: StructuredTangent, counters: Labels) -> tuple[Any, ...]:
    number = {k: n for n, k in enumerate(counters)}

    def key(m: Map) -> tuple[Any, ...]:
        if isinstance(m, Affine):
            return (m.start, tuple(sorted((number[k], s) for k, s in m.steps)))
        return (m.index, tuple([number[k] for k in m.labels]))

    return tuple(map(key, t.at)), tuple(map(key, t.seed)), tuple([k.size for k in counters])


def _sum(term: StructuredTangent, value: Node, labels: Labels) -> StructuredTangent:
    known = {*term.labels, *labels}
    out = tuple([k for k in term.counters if k in known])
    made = add(aligned(term.value, term.labels, out), aligned(value, labels, out))
    return term.having(value=made, labels=out)


def dense(terms: Sequence[StructuredTangent], shape: Shape) -> Node | None:
    """The terms as one array of ``shape``, whose axes are those of ``seed`` and then of ``at``; None without terms."""
    parts = [_dense(t, (*t.seed, *t.at), shape) for t in terms]
    return accumulate(parts) if parts else None


def _dense(term: StructuredTangent, maps: Sequence[Map], shape: Shape) -> Node:
    value, own = (term.value, term.labels)
    out: list[Map] = list(maps)
    scattered = _scattered_axes(out, shape)
    if scattered:
        return _scatter(term, out, shape, scattered)
    wide: list[Dim] = []
    labels: list[Label] = []
    spec: list[Any] = []
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


def _scatter(term: StructuredTangent, maps: list[Map], shape: Shape, scattered: list[int]) -> Node:
    """The scattered axes flattened into one that is added into by index, the others before it."""
    rest = [a for a in range(len(maps)) if a not in scattered]
    dims = tuple([shape[a] for a in scattered])
    flat = flat_map([_within(maps[a], shape[a]) for a in scattered], dims)
    labels = tuple(dict.fromkeys([k for a in scattered for k in maps[a].labels]))
    counters = tuple(dict.fromkeys([k for a in rest for k in maps[a].labels] + list(labels)))
    # the rest is placed densely behind the labels of the scatter
    at, seed = tuple([maps[a] for a in rest]), tuple(map(plain, labels))
    others = StructuredTangent(term.value, term.labels, at, seed, forward=False)
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


def node_flow(term: StructuredTangent, shape: Shape, seed_shape: Shape, dtype: np.dtype) -> Node:
    """The term as an array with the seed's axes leading, for rules that know no structure."""
    if term.value.is_literal:  # as an array of the dtype, so that no cast hides the identity
        term = term.having(value=scalar(term.value.params[0], dtype))
    return flow_as(_dense(term, (*term.seed, *term.at), (*seed_shape, *shape)), dtype)
