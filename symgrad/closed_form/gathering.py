"""Factors of a sum taken out: ``X ⊙ a𝟏ᵀ + X ⊙ b𝟏ᵀ`` is ``X ⊙ (a + b)𝟏ᵀ``, whose sum is of vectors alone.

A Hessian of a sum over data has its matrix in each term. Where it is taken out, what is left can be shortened.
"""

from __future__ import annotations

from typing import NamedTuple

from ..kernels.kernel import optimized
from ..primitives.contraction import EINSUM, Labels, contract
from ..primitives.functions import add, negative, subtract
from ..primitives.primitive import literal
from ..program.node import Node, emit_again
from ..program.program import Program


class _Scaled(NamedTuple):
    """An array that is ``whole``, each element times that of ``scale`` at its places along ``axes``."""

    whole: Node
    scale: Node
    axes: Labels

    @property
    def product(self) -> Node:
        every = tuple(range(self.whole.ndim))
        return contract([self.whole, self.scale], [every, self.axes], every, self.whole.shape)


def gathered(program: Program) -> Program:
    """``program`` with common factors of its sums in front of them; ``program`` itself where there are none.

    >>> import numpy as np, symgrad
    >>> def rows(X, a, b):
    ...     return np.einsum("ij,i->ij", X, a) + np.einsum("ij,i->ij", X, b)
    >>> print(gathered(symgrad.trace(rows, np.ones((3, 2)), np.ones(3), np.ones(3))))
    program(X: float64[3,2], a: float64[3], b: float64[3]) {
      v0 = add(a, b)  # float64[3]
      v1 = einsum[ij,i->ij](X, v0)  # float64[3,2]
    } -> v1
    """
    new: dict[Node, Node] = {}
    scaled: dict[Node, _Scaled] = {}
    found = False
    with program.graph:
        for node in program.nodes:
            operands = tuple([new[o] for o in node.operands])
            made = _scaled(node, scaled, new)
            turned = _turned(node, operands)
            if made is not None:
                scaled[node] = made
            if made is not None and node.primitive in (add, subtract):
                found = True
                new[node] = made.product
            elif turned is not None:
                found = True
                new[node] = turned
            else:
                new[node] = node if operands == node.operands else emit_again(node, operands)
        return optimized(program.with_outputs([new[o] for o in program.outputs])) if found else program


def _turned(node: Node, operands: tuple[Node, ...]) -> Node | None:
    """A contraction of arrays whose signs are turned, ``(−X) w``, with the sign in front: ``−(X w)``; else None."""
    if node.primitive is not EINSUM or not any(o.primitive is negative for o in operands):
        return None
    labels, out, sizes, _ = node.params
    made = contract([o.operands[0] if o.primitive is negative else o for o in operands], labels, out, sizes)
    return negative(made) if sum(o.primitive is negative for o in operands) % 2 else made


def _scaled(node: Node, scaled: dict[Node, _Scaled], new: dict[Node, Node]) -> _Scaled | None:
    """``node`` as an array that some axes scale; None where it is none."""
    if node.primitive is negative:
        (inner,) = node.operands
        return _times(scaled.get(inner), [literal(-1.0)], [()])
    if node.primitive in (add, subtract):
        a, b = map(scaled.get, node.operands)
        alike = a is not None and b is not None and (a.whole, a.axes) == (b.whole, b.axes)
        if a is None or b is None or not alike or a.whole.shape != node.shape:
            return None
        return a._replace(scale=(add if node.primitive is add else subtract)(a.scale, b.scale))
    if node.primitive is not EINSUM:
        return None
    labels, out, _, _ = node.params
    full = [k for k, ls in enumerate(labels) if ls == out]
    if len(out) < 2 or len(set(out)) < len(out) or len(full) != 1 or {i for ls in labels for i in ls} != set(out):
        return None
    (k,) = full
    place = {i: axis for axis, i in enumerate(out)}
    others = [o for i, o in enumerate(node.operands) if i != k]
    axes = [tuple([place[i] for i in ls]) for i, ls in enumerate(labels) if i != k]
    whole = node.operands[k]
    begun = scaled.get(whole) or _Scaled(new[whole], literal(1.0), ())
    return _times(begun, [new[o] for o in others], axes)


def _times(begun: _Scaled | None, factors: list[Node], axes: list[Labels]) -> _Scaled | None:
    """An array that is scaled, by these factors too; None where together they have all of its axes."""
    if begun is None:
        return None
    together = tuple(sorted({i for ls in (begun.axes, *axes) for i in ls}))
    if len(together) == begun.whole.ndim:
        return None
    is_one = begun.scale.is_literal and begun.scale.params[0] == 1
    given = list(zip(factors, axes, strict=True)) + ([] if is_one else [(begun.scale, begun.axes)])
    if not given:
        return begun
    return begun._replace(
        scale=contract([f for f, _ in given], [ls for _, ls in given], together, begun.whole.shape), axes=together
    )
