"""Declared rules of calls inside of a step: they are called with what the step is given, wherever it is copied to.

A rule knows the values that its call was traced with. Those of a step are gone once the loop stands, so in a body it
is asked anew for each node: on its operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..codec.lost_rule import LostRule
from ..errors import TracingError
from ..primitives.batching import Batching
from ..primitives.external import split
from ..primitives.identity import CUSTOM, custom
from ..program.node import Node, ancestors
from ..tracing.trace import as_node
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, unflatten
from .custom import LiftedRule, Rule
from .ruled_calls import One, Row, RuledCall, is_traced


class StepRule(Rule):
    """The rule of a call in a step; ``values`` are those that it has no gradient for, operands after the sources."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule._call, rule._part)
        self._args, self._outputs = flatten(self._call.args), flatten(self._call.outputs)
        leaves, _ = self._args
        self._places = [k for k, v in enumerate(leaves) if is_traced(v) and k not in self._call.positions]
        self.values = [as_node(leaves[k]) for k in self._places]
        part = self._part
        self._results = [(v.shape, v.dtype) for v in part.values] if isinstance(part, Row) else []
        self._known: dict[Node, tuple[Rule, Node]] = {}

    def vjp(self, node: Node, key: int, ct: Node, batch: int) -> Node | None:
        rule, own = self._on(node)
        return self._closed(rule.vjp(own, key, ct, batch), node, ct)

    def jvp(self, node: Node, key: int, tangent: Node, batch: int) -> Node | None:
        rule, own = self._on(node)
        return self._closed(rule.jvp(own, key, tangent, batch), node, tangent)

    def linear(self, node: Node, key: int, forward: bool) -> tuple[Node, Node | None, bool]:
        rule, own = self._on(node)
        stand_in, result, of_tangent = rule.linear(own, key, forward)
        return stand_in, self._closed(result, node, stand_in), of_tangent

    def lifted(self, node: Node, batched: Sequence[bool], over: Batching) -> LiftedRule:
        rule, own = self._on(node)
        return LiftedRule(rule, own, batched[: self.count], over)

    def _on(self, node: Node) -> tuple[Rule, Node]:
        """The rule for the operands of a node, and the node with its sources alone."""
        if node not in self._known:
            rule = self._of(node)
            rule._stand_ins = self._stand_ins  # by which a flow is found to be free of them
            sources = node.operands[: 1 + self.count]
            self._known[node] = rule, Node(CUSTOM, sources, node.params, node.shape, node.dtype)
        return self._known[node]

    def _of(self, node: Node) -> Rule:
        call = self._call
        (leaves, structure), (outputs, nested) = ((list(v), nest) for v, nest in (self._args, self._outputs))
        for k, operand in zip((*call.positions, *self._places), node.operands[1:], strict=True):
            leaves[k] = Tracer(operand)
        made = RuledCall(call.rules, unflatten(structure, leaves), call.positions)
        part: One | Row = self._part
        if isinstance(part, Row):
            parts = split(node, [shape for shape, _ in self._results], [dtype for _, dtype in self._results])
            part = Row(part.places, tuple(parts))
            for place, value in zip(part.places, parts, strict=True):
                outputs[place] = Tracer(value)
        else:
            outputs[part.place] = Tracer(node)
        made.outputs = unflatten(nested, outputs)
        return Rule(made, part)

    def _closed(self, made: Node | None, node: Node, flow: Node) -> Node | None:
        """What a rule gave, which depends on nothing but the operands of the node and what flows."""
        if made is not None:
            known = {n for n in ancestors([*node.operands, flow]) if n.primitive.name == "input"}
            if any(n.primitive.name == "input" and n not in known for n in ancestors([made])):
                raise TracingError(
                    f"{self.name} reads a traced value that is no argument, inside a step of a loop; pass it as one."
                )
        return made


class LiftedStepRule(StepRule):
    """The rule of a call for many examples in a step: it runs on an example of what the node is given."""

    def __init__(self, rule: LiftedRule) -> None:
        super().__init__(rule.rule)
        self.values = []
        self._places = []
        self._one = StepRule(rule.rule)
        self._batched = rule.batched
        self._size = rule.over.size

    def _of(self, node: Node) -> Rule:
        over = Batching(self._size)
        value = over.example(node.operands[0], "value")
        pairs = zip(node.operands[1:], self._batched, strict=True)
        sources = [over.example(o, "example") if own else o for o, own in pairs]
        rule, own = self._one._on(custom(value, sources, self._one))
        return LiftedRule(rule, own, self._batched, over)


def in_a_step(rule: Rule | LostRule) -> StepRule | LostRule:
    """The rule of a call that stands in a step."""
    if isinstance(rule, StepRule | LostRule):
        return rule
    return LiftedStepRule(rule) if isinstance(rule, LiftedRule) else StepRule(rule)
