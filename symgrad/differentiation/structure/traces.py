"""The trace of a Jacobian of terms: its diagonal alone is looked at, where its places are known."""

from __future__ import annotations

from collections.abc import Sequence

from ...primitives.contraction import EINSUM, contract
from ...primitives.primitive import dim_value
from ...program.dims import Shape
from ...program.node import Node
from ..cotangents import accumulate
from .index_maps import Label, Unsolved
from .solving import equated
from .structured_tangents import Labels, StructuredTangent, dense, product


def trace_of(terms: Sequence[StructuredTangent], shape: Shape) -> Node | None:
    """The sum of the entries of a Jacobian of ``shape`` by ``shape`` on its diagonal; None where it is zero."""
    parts: list[Node] = []
    for term in terms:
        try:
            part = _of_term(term, shape)
        except Unsolved:
            labels = tuple(range(len(shape)))
            whole = dense([term], shape + shape)
            assert whole is not None
            part = contract([whole], [labels + labels], (), shape)
        if part is not None:
            parts.append(part)
    return accumulate(parts) if parts else None


def _of_term(term: StructuredTangent, shape: Shape) -> Node | None:
    for axis, dim in enumerate(shape):
        found = equated(term, term.at[axis], term.seed[axis], dim)
        if found is None:
            return None
        term, _ = found
    counts = [(dim_value(k.size), ()) for k in term.counters if k not in term.labels]
    return product([*_factors(term.value, term.labels), *counts], ())


def _factors(value: Node, labels: Labels) -> list[tuple[Node, Labels]]:
    """What an array is a product of, one contraction at most among it: ``tr(AB)`` is ``Σ AᵢⱼBⱼᵢ``, without ``AB``."""
    found: list[tuple[Node, Labels]] = []
    pending = [(value, labels)]
    contracted = False
    while pending:
        node, own = pending.pop()
        inner, out, sizes, spelling = node.params if node.primitive is EINSUM else ((), (), (), "")
        summed = {i for operand in inner for i in operand}.difference(out)
        if not inner or spelling or len(set(out)) < len(out) or (summed and contracted):
            found.append((node, own))
            continue
        contracted = contracted or bool(summed)
        named = dict(zip(out, own, strict=True)) | {i: Label(sizes[i]) for i in summed}
        pending += [(o, tuple([named[i] for i in axes])) for o, axes in zip(node.operands, inner, strict=True)]
    return found
