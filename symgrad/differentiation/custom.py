"""Custom rules: a call whose derivative is what the user declares, in place of what its own nodes would give.

One direction is enough. A pullback is linear in the cotangents and a pushforward in the tangents, so each mode is the
transpose of the other, and a Jacobian the image of many seeds at once: a rule is traced once on stand-ins, and what is
given goes through what it built. It is traced code, so the rule has derivatives itself.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any

from ..errors import TracingError
from ..primitives.batching import Batching
from ..primitives.contraction import contract, identity
from ..primitives.external import one_of, zeros_like
from ..primitives.identity import STOP, custom, mark
from ..primitives.loop import STEP
from ..primitives.primitive import EXAMPLE, INPUT
from ..program.node import Node
from ..tracing.trace import as_node, running
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, replaced, unflatten
from .edges import edges_of
from .forward import forward_sweep
from .reverse import reverse_sweep
from .ruled_calls import One, Row, RuledCall, Rules, float_sources, handles


def call_with_rule(name: str, function: Callable[..., Any], bprop: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """``function(*args)`` in the running trace, differentiated by ``bprop(*args, out, dout)``.

    ``bprop`` gives a tuple with one gradient for each of ``args``: of its shape, or None for zero. ``name``
    is what errors call the rule. A wrong count is an ArgumentTypeError, a wrong shape a ShapeError; what
    ``function`` computes from traced values that are no arguments would lose its gradient: a TracingError.
    """
    leaves, structure = flatten(args)
    sources = float_sources(leaves)
    if not sources:
        return function(*args)
    marks = {k: mark(n) for k, n in sources.items()}
    inner = [Tracer(marks[k]) if k in marks else v for k, v in enumerate(leaves)]
    outputs, out_structure = flatten(function(*replaced(args, structure, inner)))
    values = {k: as_node(v) for k, v in enumerate(outputs) if isinstance(v, Tracer)}
    values = {k: n for k, n in values.items() if n.differentiable}
    _refuse_captured(name, list(values.values()), set(marks.values()))
    rules = Rules(pull_name=name, pull=lambda args, out, dout: bprop(*args, out, dout), owner=bprop)
    call = RuledCall(rules, handles(leaves, structure), list(sources))
    for k, value in values.items():
        outputs[k] = Tracer(custom(value, list(sources.values()), Rule(call, One(k))))
    call.outputs = handles(outputs, out_structure)
    return unflatten(out_structure, outputs)


class Rule:
    """The rules of a part of a call's outputs, as ``primitives.identity.CUSTOM`` takes them."""

    def __init__(self, call: RuledCall, part: One | Row) -> None:
        rules = call.rules
        self.name = rules.pull_name or rules.push_name
        self.pulls, self.pushes = rules.pull is not None, rules.push is not None
        self._call = call
        self._part = part
        self._stand_ins: list[Node] = []
        self._pulled: tuple[Node, list[Node | None]] | None = None
        self._pushed: tuple[list[Node], Node | None] | None = None

    @property
    def count(self) -> int:
        """How many sources there are."""
        return len(self._call.positions)

    def pull(self, ct: Node) -> list[Node | None]:
        """The cotangent of each source."""
        return self._call.pulled(self._part, ct)

    def push(self, tangents: Sequence[Node]) -> Node | None:
        """The tangent of the output where these are those of the sources."""
        return self._call.pushed(self._part, tangents)

    def lifted(self, node: Node, batched: Sequence[bool], over: Batching) -> LiftedRule:
        """The rule for all examples that ``over`` maps; ``batched`` says which sources there is one for each of."""
        return LiftedRule(self, node, batched, over)

    def vjp(self, node: Node, key: int, ct: Node, batch: int) -> Node | None:
        """The cotangent of source ``key - 1``; a pullback that is declared runs as it is."""
        return self._flow(node, key, ct, batch, False) if batch or not self.pulls else self.pull(ct)[key - 1]

    def jvp(self, node: Node, key: int, tangent: Node, batch: int) -> Node | None:
        """The tangent of the output along that of source ``key - 1``; of one source what is declared runs as it is."""
        if self.pushes and not batch and len(node.operands) == 2:
            return self.push([tangent])
        return self._flow(node, key, tangent, batch, True)

    def _flow(self, node: Node, key: int, flow: Node, batch: int, forward: bool) -> Node | None:
        if self.is_entered:
            return self._as_it_is(node, key, flow, batch, forward)
        stand_in, result, of_tangent = self.linear(node, key, forward)
        if result is None:
            return None
        with self.entered():
            if of_tangent == forward:
                (made,) = forward_sweep([result], {stand_in: flow}, batch)
            else:
                (made,) = reverse_sweep([result], [flow], [stand_in], batch)
        return None if made is None else self.free(made)

    @property
    def is_entered(self) -> bool:
        """True while a sweep goes through what a rule of the same function gave: a rule that calls the function."""
        return self._call.rules.owner in _sweeps.owners

    @contextlib.contextmanager
    def entered(self) -> Generator[None]:
        """Inside, a sweep goes through what the rule gave."""
        _sweeps.owners.append(self._call.rules.owner)
        try:
            yield
        finally:
            _sweeps.owners.pop()

    def _as_it_is(self, node: Node, key: int, flow: Node, batch: int, forward: bool) -> Node | None:
        """What the rule itself gives of each flow; against its way of each unit, since a sweep would never end."""
        if self.pushes if forward else self.pulls:
            return self._of_each(node, key, flow, batch, forward)
        start = node.operands[key] if self.pushes else node
        unit = identity(start.shape) if start.ndim else one_of(start.dtype)
        columns = self._of_each(node, key, unit, start.ndim, self.pushes)
        if columns is None:
            return None
        end = columns.shape[start.ndim :]
        lead = tuple(range(batch))
        into = tuple(range(batch, batch + start.ndim))
        out = tuple(range(batch + start.ndim, batch + start.ndim + len(end)))
        sizes = (*flow.shape[:batch], *start.shape, *end)
        return contract([columns, flow], [into + out, lead + out], lead + into, sizes)

    def _of_each(self, node: Node, key: int, flow: Node, batch: int, forward: bool) -> Node | None:
        """What the rule gives of each flow along ``batch`` leading axes."""
        if not batch:
            if not forward:
                return self.pull(flow)[key - 1]
            return self.push([flow if k == key else zeros_like(o) for k, o in enumerate(node.operands) if k])
        over = Batching(flow.shape[0])
        made = self._of_each(node, key, over.example(flow, "flow"), batch - 1, forward)
        return None if made is None else over.whole(made)

    def linear(self, node: Node, key: int, forward: bool) -> tuple[Node, Node | None, bool]:
        """A stand-in, an expression in it, and whether these are the tangents of source ``key - 1`` and of ``node``.

        Else they are the cotangents of ``node`` and of the source. The direction is the one that is asked for where it
        is declared.
        """
        if self.pushes and (forward or not self.pulls):
            tangents, pushed = self._by_tangents(node)
            return tangents[key - 1], pushed, True
        ct, pulled = self._by_cotangent(node)
        return ct, pulled[key - 1], False

    def _by_cotangent(self, node: Node) -> tuple[Node, list[Node | None]]:
        if self._pulled is None:
            ct = self._stand_in(node)
            self._pulled = ct, self.pull(ct)
        return self._pulled

    def _by_tangents(self, node: Node) -> tuple[list[Node], Node | None]:
        if self._pushed is None:
            tangents = [self._stand_in(source) for source in node.operands[1:]]
            self._pushed = tangents, self.push(tangents)
        return self._pushed

    def _stand_in(self, like: Node) -> Node:
        self._stand_ins.append(mark(zeros_like(like)))
        return self._stand_ins[-1]

    def free(self, flow: Node) -> Node:
        """``flow``, which must not hold a stand-in: the derivative of a linear map does not."""
        first = min(s.serial for s in self._stand_ins)
        pending, seen = [flow], set()
        while pending:
            node = pending.pop()
            if node in self._stand_ins:
                raise TracingError(self._not_linear)
            if node not in seen and node.serial > first:
                seen.add(node)
                pending += node.operands
        return flow

    @property
    def _not_linear(self) -> str:
        rules = self._call.rules
        if self.pulls:
            return (
                f"{rules.pull_name} is not linear in {rules.cotangents}, so Jacobians and forward mode have no meaning "
                "for it; use grad or vjp, which run it as it is."
            )
        return f"{rules.push_name} is not linear in the tangents, so it is no derivative."


class _Sweeps(threading.local):
    """Whose rules the sweeps of this thread go through."""

    def __init__(self) -> None:
        self.owners: list[Any] = []


_sweeps = _Sweeps()


class LiftedRule(Rule):
    """A rule for many examples: it runs for one, and what it gives back is lifted."""

    def __init__(self, rule: Rule, node: Node, batched: Sequence[bool], over: Batching) -> None:
        super().__init__(rule._call, rule._part)
        self.rule = rule
        self.batched = batched
        self.over = over
        self._known: dict[Node, list[Node | None]] = {}

    def pull(self, ct: Node) -> list[Node | None]:
        known = self._known.get(ct)
        if known is None:
            flows = zip(self.rule.pull(self.over.example(ct, "dout")), self.batched, strict=True)
            known = self._known[ct] = [None if p is None else self._of_all(p, own) for p, own in flows]
        return known

    def push(self, tangents: Sequence[Node]) -> Node | None:
        given = zip(tangents, self.batched, strict=True)
        pushed = self.rule.push([self.over.example(t, "tangent") if own else t for t, own in given])
        return None if pushed is None else self.over.whole(pushed)

    def _of_all(self, pulled: Node, batched: bool) -> Node:
        """The cotangent of a source: for each example its own, or the sum of them all."""
        every = self.over.whole(pulled)
        labels = tuple(range(every.ndim))
        return every if batched else contract([every], [labels], labels[1:], every.shape)


def _refuse_captured(name: str, values: list[Node], marks: set[Node]) -> None:
    """An error where ``values`` depend on traced values other than ``marks``: the rule gives those no gradient."""
    frozen = {n for p, n in running().parameters.values() if not p.requires_grad}
    pending, seen = list(values), marks | frozen
    while pending:
        node = pending.pop()
        if node in seen or node.primitive is STOP:
            continue
        seen.add(node)
        if node.primitive in (INPUT, EXAMPLE, STEP):
            raise TracingError.here(
                f"{name} gives gradients to the arguments only, and the value also depends on {node.params[0]!r}, "
                "whose gradient would be lost. Pass it as an argument, or hold it constant (stop_gradient, "
                "requires_grad=False)."
            )
        pending += [source for source, _ in edges_of(node)]
