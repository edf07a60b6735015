"""Derivatives of derivatives where a size is zero: at coincident points, ``cos ‖x‖`` is as smooth as ``cos`` is even.

The slope of a size ``r`` is a unit vector, and 0 where ``r`` is. What it multiplies, ``c·x/r``, is there 0 too, but not
what that becomes: where ``c`` vanishes with ``r``, as in all that is smooth, ``c·x/r`` is ``x·dc/dr`` to first order
(L'Hôpital), and its slope ``dc/dr``. So this is added before a further sweep, at that point alone. It is linear in
``c``, whose own value there, that of a true kink, counts 0 in second derivatives as in first ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from itertools import islice

from ..primitives.contraction import GATE, gate
from ..primitives.elementwise import Elementwise
from ..primitives.functions import add, cos, exp, isfinite, multiply, negative, sign, sin, square, subtract
from ..primitives.identity import stop_gradient
from ..primitives.kinks import Kink, at_kink, kinks_of
from ..primitives.primitive import literal
from ..program.interpret import with_others
from ..program.node import Node
from .edges import ActiveEdges, active_edges, edges_of
from .tangents import pushed, tangent_of

#: sizes that are varied one at a time; of more, all together, which is the same for what is smooth at each of them
_ALONE = 8


def across_kinks(
    outputs: Sequence[Node], wrt: Collection[Node], edges: ActiveEdges
) -> tuple[Sequence[Node], ActiveEdges]:
    """``outputs`` with what their derivatives by ``wrt`` lack where sizes are zero, and their active edges.

    ``edges`` are those of ``outputs`` as they are. What is added is 0 wherever the derivatives so far are right, and
    alters no value that is asked for.
    """
    kinks = _kinks(edges)
    if not kinks:
        return outputs, edges
    groups = [[k] for k in kinks] if len(kinks) <= _ALONE else [kinks]
    whole = [_sum([o, *(_limit(o, group) for group in groups)]) for o in outputs]
    return whole, active_edges(whole, wrt)


def of_squares(derivatives: Sequence[Node | None], wrt: Collection[Node]) -> list[Node | None]:
    """Second derivatives, and third ones along a curve, made in one sweep, with what they are where sizes are zero."""
    outputs = [d for d in derivatives if d is not None]
    whole, edges = across_kinks(outputs, wrt, active_edges(outputs, wrt))
    kinks = [kink for f in _factors(edges, outputs) for kink in islice(kinks_of(f), 1) if not kink.numerator.is_literal]
    found = iter([_sum([w, *(_of_square(o, k) for k in kinks)]) for w, o in zip(whole, outputs, strict=True)])
    return [None if d is None else next(found) for d in derivatives]


def _kinks(edges: ActiveEdges) -> list[Kink]:
    """Those whose slopes are factors in a program, and whose sizes move."""
    return [kink for f in _factors(edges) for kink in kinks_of(f) if kink.size in edges]


def _factors(edges: ActiveEdges, outputs: Sequence[Node] = ()) -> list[Node]:
    """What may be the slope of a size, on the paths or beside them; or in ``outputs`` to which none leads."""
    found: dict[Node, None] = {}
    pending = [*outputs, *(o for node in edges for o in node.operands)]
    while pending:
        node = pending.pop()
        if node not in found:
            found[node] = None
            if node not in edges:
                pending += node.operands
    return [n for n in found if n.primitive in (sign, GATE)]


def _sum(parts: Iterable[Node | None]) -> Node:
    return reduce(add, [p for p in parts if p is not None])


def _limit(output: Node, kinks: Sequence[Kink]) -> Node | None:
    """What ``output``, so far as it is linear in the slopes of sizes, becomes with these sizes, where they are zero."""
    slopes = {k.factor: at_kink(k.size, k.numerator) for k in kinks}
    edges = active_edges([output], [*slopes, *slopes.values()])
    if any(limit in edges for limit in slopes.values()):  # it was added before an earlier sweep
        return None
    (linear,) = pushed(active_edges([output], slopes), [output], slopes, 0)
    if linear is None:
        return None
    # the sizes as constants: what is even in them has no third derivative there, and of others it may be infinite
    held = {k.size: stop_gradient(k.size) for k in kinks}
    linear = with_others(linear, held, {*slopes, *slopes.values()})
    flow = {own: at_kink(size, 1.0) for size, own in held.items()}
    for node in active_edges([linear], flow):
        tangent = flow.get(node) or tangent_of(node, edges_of(node), flow)
        if tangent is not None:
            may_be_infinite = isinstance(node.primitive, Elementwise) and node.primitive not in _FINITE
            flow[node] = gate(isfinite(tangent), tangent) if may_be_infinite else tangent
    return flow.get(linear)


#: functions of which the slope is finite where they are; of others, as r² log r, a second derivative may be infinite
_FINITE = (add, subtract, multiply, negative, square, exp, sin, cos, at_kink)


def _of_square(output: Node, kink: Kink) -> Node | None:
    """What multiplies the square of a slope, where the size is zero: of sizes by what they are of, it is 1 beside 0.

    Of complex numbers it is that in the mean of two directions.
    """
    ways = (1.0, 1j) if kink.factor.is_complex else (1.0,)
    squares: list[Node] = []
    for way in ways:
        parts: list[Node | None] = [output]
        move = {kink.factor: at_kink(kink.size, literal(way))}
        for _ in range(2):
            parts = [None] if parts[0] is None else pushed(active_edges([parts[0]], move), [parts[0]], move, 0)
        squares += [multiply(0.5 / len(ways), p) for p in parts if p is not None]
    return _sum(squares) if squares else None
