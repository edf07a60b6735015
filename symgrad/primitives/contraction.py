"""Contraction: ``einsum``, the one linear primitive, and δ as a way of writing labels.

An einsum node has one tuple of integer labels an operand, output labels, and the size of every label.
Two freedoms beyond ``np.einsum`` close it under transposition and hold every structured constant:

- an output label that no operand has is a broadcast (contraction with ones);
- a repeated output label is a diagonal (contraction with the identity δ), so the identity matrix is
  ``->ii`` without operands. Nothing is materialised: ``contract`` unifies labels and δ is gone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..program.dims import Dim, Shape, broadcast
from ..program.node import Node, emit
from .casting import cast
from .primitive import Params, Primitive, dim_value, literal, literal_value
from .spelling import diagonal_embed, letters, spelled_value, spells_lifted

if TYPE_CHECKING:
    from .batching import Batching

Labels = tuple[int, ...]

_F64 = np.dtype(np.float64)
#: operands of a scaling that another contraction still takes over: chains of scalars would grow with every product
_MAX_ABSORBED = 4
#: scalar products from which looking for a better order, and BLAS, is worth it
_ORDERED_FROM = 1 << 20


class Einsum(Primitive):
    """``params = (labels of each operand, output labels, size of each label, spelling)``.

    The spelling names the NumPy call that a primal came from, so that its value is NumPy's to the bit;
    derivatives leave it empty and the kernel chooses.
    """

    name = "einsum"
    keeps_zeros = True

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        _, out, sizes, _ = params
        return tuple([sizes[i] for i in out]), _common_dtype(operands), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return _flow_through(node, key, tangent, batch, forward=True)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return _flow_through(node, key, ct, batch, forward=False)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        labels, out, sizes, spelling = node.params
        example = len(sizes)
        own = [(example, *ls) if b else ls for ls, b in zip(labels, batched, strict=True)]
        kept = spelling if spells_lifted(spelling, node.operands, batched) else ""
        return contract(operands, own, (example, *out), (*sizes, over.size), kept)

    def evaluate(self, params: Params, *values: Any) -> Any:
        labels, out, sizes, spelling = params
        if spelling:
            return spelled_value(spelling, labels, out, values)
        unique = tuple(dict.fromkeys(out))
        args: list[Any] = []
        for v, ls in zip(values, labels, strict=True):
            units = [i not in out and sizes[i] == 1 for i in ls]  # a sum begins with 0, and 0 + -0 is no -0
            if any(units):
                v = np.asarray(v)[tuple([0 if unit else slice(None) for unit in units])]
            args += [v, [i for i, unit in zip(ls, units, strict=True) if not unit]]
        present = {i for ls in labels for i in ls}
        kept = [i for i in unique if i in present]
        pays = math.prod([sizes[i] for i in present]) >= _ORDERED_FROM
        core = np.asarray(np.einsum(*args, kept, optimize=pays) if args else 1.0)
        slot = [slice(None) if i in present else None for i in unique]
        wide = np.broadcast_to(core[tuple(slot)], tuple(sizes[i] for i in unique))
        return wide.copy() if unique == out else diagonal_embed(wide, unique, out)

    def spell(self, node: Node) -> str:
        labels, out, _, _ = node.params
        return "einsum[" + ",".join(map(letters, labels)) + "->" + letters(out) + "]"


EINSUM = Einsum()


def _flow_through(node: Node, key: int, flow: Node, batch: int, forward: bool) -> Node:
    """A flow times the other operands; zeros of the flow that are structure win."""
    labels, out, sizes, _ = node.params
    before, after = (labels[key], out) if forward else (out, labels[key])
    lead = tuple(range(len(sizes), len(sizes) + batch))
    every = sizes + flow.shape[:batch]
    others = [pair for k, pair in enumerate(zip(float_operands(node), labels, strict=True)) if k != key]
    if flow.masked:
        within = [pair for pair in others if set(pair[1]) <= set(before) and not pair[0].is_literal]
        others = [pair for pair in others if not any(pair is own for own in within)]
        if within:
            flow = gate(flow, _of_pairs(within, before, sizes))
        if set(before) <= set(after) and not all(o.is_literal for o, _ in others):
            wide = contract([flow], [lead + before], lead + after, every)
            return gate(wide, _of_pairs(others, after, sizes))
    others.insert(min(key, len(others)), (flow, lead + before))
    return _of_pairs(others, lead + after, every)


def _of_pairs(pairs: Sequence[tuple[Node, Labels]], out: Labels, sizes: Sequence[Dim]) -> Node:
    return contract([o for o, _ in pairs], [ls for _, ls in pairs], out, sizes)


class Gate(Primitive):
    """``gate(m, t)``: ``m · t`` where ``m`` is not zero and 0 where it is, whatever ``t`` holds.

    The product in which structural zeros win (0·inf is 0); bilinear, with ``m`` broadcast against the
    trailing axes of ``t`` or the reverse.
    """

    name = "gate"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        m, t = operands
        dtype = t.dtype if m.dtype.kind == "b" or m.weak else _common_dtype(operands)
        return broadcast(m.shape, t.shape), dtype, False

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        return True

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        m, t = node.operands
        tangent = pad_rank(tangent, batch, node.ndim)
        return expand_behind(_gated(m, tangent) if key == 1 else gate(tangent, t), batch, node.shape)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        m, t = node.operands
        wide = _gated(m, ct) if key == 1 else gate(ct, t)
        return broadcast_product(literal(1), wide, batch, node.shape, source.shape)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return gate(*aligned(operands, batched, node.ndim))

    def evaluate(self, params: Params, *values: Any) -> Any:
        m, t = values
        product = t if np.asarray(m).dtype == bool else np.multiply(m, t)
        return np.where(np.not_equal(m, 0), product, np.zeros((), np.result_type(product)))


GATE = Gate()


#: the product in which zeros of both win (``elementwise``)
OF_BOTH: list[Callable[[Node, Node], Node]] = []


def _gated(m: Node, flow: Node) -> Node:
    return OF_BOTH[0](flow, m) if flow.masked and m.dtype.kind != "b" else gate(m, flow)


def gate(m: Node, t: Node) -> Node:
    """``m · t`` broadcast on trailing axes, in which a zero of ``m`` wins."""
    return scale(t, m) if m.is_literal and literal_value(m) else emit(GATE, (m, t))


def pad_rank(x: Node, batch: int, rank: int) -> Node:
    """``x`` with unit axes after its ``batch`` leading ones, so that ``rank`` axes follow them."""
    missing = rank - (x.ndim - batch)
    if batch == 0 or missing <= 0:
        return x
    labels = tuple(range(x.ndim))
    units = tuple(range(x.ndim, x.ndim + missing))
    return contract([x], [labels], labels[:batch] + units + labels[batch:], x.shape + (1,) * missing)


def float_operands(node: Node) -> list[Node]:
    """The operands of an einsum beside whose flow there may be none: a sum of truth values alone is no number."""
    return [o if o.differentiable else cast(o, node.dtype) for o in node.operands]


def aligned(operands: Sequence[Node], batched: Sequence[bool], rank: int) -> list[Node]:
    """Operands that broadcast over ``rank`` axes as they did before some of them were lifted."""
    return [pad_rank(o, 1, rank) if own else o for o, own in zip(operands, batched, strict=True)]


def scale(x: Node, factor: Node) -> Node:
    """``x`` times a scalar."""
    labels = tuple(range(x.ndim))
    return contract([factor, x], [(), labels], labels, x.shape)


def broadcast_product(factor: Node, flow: Node, batch: int, shape: Shape, out_shape: Shape) -> Node:
    """``factor · flow`` over ``shape``, summed to ``out_shape``, behind ``flow``'s ``batch`` leading axes."""
    rank = len(shape)
    if not batch and flow.shape == shape == out_shape and not _absorbable(flow):  # common; nothing to search for
        whole = tuple(range(rank))
        if factor.is_literal:
            value = _number(literal_value(factor))
            return flow if value == 1 else emit(EINSUM, (literal(value), flow), (((), whole), whole, shape, ""))
        if factor.shape == shape and not _absorbable(factor):
            return emit(EINSUM, (factor, flow), ((whole, whole), whole, shape, ""))
    sizes: list[Dim] = list(flow.shape[:batch]) + list(shape)
    lead = tuple(range(batch))

    def fit(own: Shape) -> Labels:
        labels = []
        for axis, d in enumerate(own, start=rank - len(own)):
            if d == shape[axis]:
                labels.append(batch + axis)
            else:  # a unit axis that broadcasts has a label of its own
                sizes.append(1)
                labels.append(len(sizes) - 1)
        return tuple(labels)

    own = flow.shape[batch:]
    return contract([factor, flow], [fit(factor.shape), lead + fit(own)], lead + fit(out_shape), tuple(sizes))


def contract(
    operands: Sequence[Node], labels: Sequence[Labels], out: Labels, sizes: Sequence[Dim], spelling: str = ""
) -> Node:
    """The einsum of ``operands``, with every structured constant absorbed into the labels.

    ``# ones -> no operand, δ -> one label, transpose -> permuted labels, 1·x -> x, (-x)·y -> -1·x·y``
    """
    if spelling or (operands and not any(map(_absorbable, operands))):
        return _build(operands, [tuple(ls) for ls in labels], tuple(out), sizes, spelling)
    parent = list(range(len(sizes)))
    sizes = list(sizes)

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    kept: list[Node] = []
    kept_labels: list[Labels] = []
    factor: complex = 1
    # a value that is only moved stays as it was rounded: 0.1·(0.3·x) is not 0.03·x
    scales = sum(not (o.is_literal and literal_value(o) == 1) for o in operands) > 1
    pending = [(o, tuple(ls)) for o, ls in zip(operands, labels, strict=True)]
    pending.reverse()
    while pending:
        node, ls = pending.pop()
        if node.is_literal:
            factor = factor * literal_value(node)
        elif scales and node.primitive.name == "negative" and _is_float(node):
            factor = -factor
            pending.append((node.operands[0], ls))
        elif scales and node.primitive.name == "multiply" and node.operands[0].is_literal and _is_float(node):
            factor = factor * literal_value(node.operands[0])
            pending.append((node.operands[1], ls))
        elif node.primitive is EINSUM and _is_structure(node):
            (inner, inner_out, inner_sizes, _) = node.params
            scales = scales or len(inner) > 1
            image: dict[int, int] = {}
            for i, label in zip(inner_out, ls, strict=True):
                if i in image:
                    parent[find(label)] = find(image[i])
                else:
                    image[i] = label
            for i in {i for x in inner for i in x} - image.keys():  # unit labels summed away
                sizes.append(inner_sizes[i])
                parent.append(len(parent))
                image[i] = len(parent) - 1
            for o, x in reversed(list(zip(node.operands, inner, strict=True))):
                pending.append((o, tuple(image[i] for i in x)))
        else:
            kept.append(node)
            kept_labels.append(ls)
    kept_labels = [tuple(find(i) for i in ls) for ls in kept_labels]
    new_out = tuple(find(i) for i in out)
    present = {i for ls in kept_labels for i in ls} | set(new_out)
    named: list[Node] = []
    for ls in labels:  # a summed label that no operand is left to hold counts its size
        for i in map(find, ls):
            if i not in present:
                present.add(i)
                if isinstance(sizes[i], int):
                    factor = factor * sizes[i]
                else:
                    named.append(dim_value(sizes[i]))
    for node in named:
        kept.append(node)
        kept_labels.append(())
    if factor != 1 or all(k.weak for k in kept):  # a float, so that scalars alone give floats
        kept.insert(0, literal(_number(factor)))
        kept_labels.insert(0, ())
    return _build(kept, kept_labels, new_out, sizes, "")


def _number(value: Any) -> complex:
    """A scalar factor as a float, or as it is where it is complex."""
    return value if type(value) is complex else float(value)


def _build(kept: Sequence[Node], labels: list[Labels], out: Labels, sizes: Sequence[Dim], spelling: str) -> Node:
    if len(kept) == 1 and labels[0] == out and len(set(out)) == len(out):
        return kept[0]
    return emit(EINSUM, tuple(kept), (*_numbered(tuple(labels), out, tuple(sizes)), spelling))


@functools.lru_cache(maxsize=1 << 14)
def _numbered(
    labels: tuple[Labels, ...], out: Labels, sizes: tuple[Dim, ...]
) -> tuple[tuple[Labels, ...], Labels, tuple[Dim, ...]]:
    """Labels, those of the output, and sizes, numbered in the order in which labels are met."""
    order = dict.fromkeys([i for ls in (*labels, out) for i in ls])
    number = {label: k for k, label in enumerate(order)}
    return (
        tuple([tuple([number[i] for i in ls]) for ls in labels]),
        tuple([number[i] for i in out]),
        tuple([sizes[i] for i in order]),
    )


def _absorbable(node: Node) -> bool:
    """True where ``contract`` may write something else in place of ``node``, or because of it."""
    name = node.primitive.name
    if name == "einsum":
        return _is_structure(node)
    return node.weak or name == "negative" or (name == "multiply" and node.operands[0].is_literal)


def _is_float(node: Node) -> bool:
    """True where a scalar factor may leave the node without changing its dtype."""
    return node.differentiable and node.operands[-1].dtype == node.dtype and not node.weak


def _is_structure(node: Node) -> bool:
    """A transpose, broadcast, diagonal, identity or short scaling: labels and at most one array."""
    labels, out, sizes, spelling = node.params
    if (spelling and spelling != "view") or sum(map(bool, labels)) > 1:
        return False
    if len(labels) > _MAX_ABSORBED and (not out or out in labels) and len(set(out)) == len(out):
        return False
    for ls in labels:
        for i in ls:
            if i not in out and sizes[i] != 1:
                return False
    return True


def _common_dtype(operands: Sequence[Node]) -> np.dtype:
    common, has_scalars = None, False
    for o in operands:
        if o.weak:
            has_scalars = True
        elif o.dtype is not common:
            common = o.dtype if common is None else _promoted(*[o.dtype for o in operands if not o.weak])
    common = _F64 if common is None else common
    if has_scalars and common.kind != "c" and any(o.is_complex for o in operands):
        return np.result_type(common, np.complex64)
    return common


@functools.lru_cache(maxsize=1024)
def _promoted(*dtypes: np.dtype) -> np.dtype:
    return np.result_type(*dtypes)


def ones(shape: Shape) -> Node:
    """The array of ones of ``shape``, as structure."""
    labels = tuple(range(len(shape)))
    return contract([literal(1)], [()], labels, shape)


def expand(x: Node, shape: Shape) -> Node:
    """``x`` broadcast to ``shape``."""
    return broadcast_product(literal(1), x, 0, shape, shape)


def expand_behind(x: Node, batch: int, shape: Shape) -> Node:
    """``x`` broadcast to ``shape`` behind its ``batch`` leading axes."""
    return broadcast_product(literal(1), x, batch, shape, shape)


def identity(shape: Shape) -> Node:
    """δ of shape ``shape + shape``: the seed of a Jacobian."""
    labels = tuple(range(len(shape)))
    return contract([literal(1)], [()], labels + labels, shape)


def is_identity(x: Node) -> bool:
    """True for δ, or a number times it."""
    return x.primitive is EINSUM and len(set(x.params[1])) < len(x.params[1]) and not any(x.params[0])


def transpose(x: Node, axes: Sequence[int]) -> Node:
    """``np.transpose``."""
    return contract([x], [tuple(range(x.ndim))], tuple(axes), x.shape)
