"""Custom rules: a call whose pullback is the user's ``bprop``, in place of what its own nodes would give.

The user declares one direction only. ``bprop`` is linear in ``dout``, so forward mode is its transpose
and a Jacobian its image of many seeds at once: ``bprop`` is traced once on a stand-in for ``dout``, and the
seeds go through what it built. It is traced code, so the rule has derivatives itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ShapeError, TracingError, at_user_line
from ..primitives.batching import Batching
from ..primitives.casting import cast
from ..primitives.contraction import contract, expand
from ..primitives.identity import STOP, custom, mark
from ..primitives.primitive import EXAMPLE, INPUT, literal
from ..program.node import Node
from ..tracing.trace import as_node, running
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, unflatten
from .forward import forward_sweep
from .reverse import reverse_sweep


def call_with_rule(name: str, function: Callable, bprop: Callable, args: tuple) -> Any:
    """``function(*args)`` in the running trace, differentiated by ``bprop(*args, out, dout)``.

    ``bprop`` gives a tuple with one gradient for each of ``args``: of its shape, or None for zero. ``name``
    is what errors call the rule. A wrong count is an ArgumentTypeError, a wrong shape a ShapeError; what
    ``function`` computes from traced values that are no arguments would lose its gradient: a TracingError.
    """
    leaves, structure = flatten(args)
    sources = {k: as_node(v) for k, v in enumerate(leaves) if hasattr(v, "_symgrad_node")}
    sources = {k: n for k, n in sources.items() if n.differentiable}
    if not sources:
        return function(*args)
    marks = {k: mark(n) for k, n in sources.items()}
    inner = [Tracer(marks[k]) if k in marks else v for k, v in enumerate(leaves)]
    outputs, out_structure = flatten(function(*unflatten(structure, inner)))
    values = {k: v._symgrad_node for k, v in enumerate(outputs) if isinstance(v, Tracer)}
    values = {k: n for k, n in values.items() if n.differentiable}
    _refuse_captured(name, list(values.values()), set(marks.values()))
    call = _Call(name, bprop, _handles(leaves, structure), list(sources))
    for k, value in values.items():
        outputs[k] = Tracer(custom(value, list(sources.values()), _Rule(call, k)))
    call.outputs = _handles(outputs, out_structure)
    return unflatten(out_structure, outputs)


def _handles(leaves: list[Any], structure: Any) -> Any:
    """The values under handles of their own, which no later write rebinds."""
    return unflatten(structure, [Tracer(as_node(v)) if hasattr(v, "_symgrad_node") else v for v in leaves])


class _Call:
    """One call with a rule: what ``bprop`` is given and what it gives back."""

    def __init__(self, name: str, bprop: Callable, args: tuple, positions: list[int]) -> None:
        self.name = name
        self.bprop = bprop
        self.args = args
        self.positions = positions
        self.outputs: Any = None
        self._known: dict[tuple[int, Node], list[Node | None]] = {}

    def pulled(self, output: int, ct: Node) -> list[Node | None]:
        """The cotangent of each source where ``ct`` is that of one output, and the others have none."""
        known = self._known.get((output, ct))
        if known is None:
            leaves, structure = flatten(self.outputs)
            douts = [Tracer(ct) if k == output else np.zeros_like(v) for k, v in enumerate(leaves)]
            returned = self.bprop(*self.args, self.outputs, unflatten(structure, douts))
            known = self._known[output, ct] = self._checked(returned)
        return known

    def _checked(self, returned: Any) -> list[Node | None]:
        if not isinstance(returned, (tuple, list)) or len(returned) != len(self.args):
            got = f"{len(returned)} of them" if isinstance(returned, (tuple, list)) else f"a {type(returned).__name__}"
            raise ArgumentTypeError(
                f"{self.name} must return a tuple with one gradient for each of the {len(self.args)} inputs "
                f"(None where it is zero); it returned {got}."
            )
        flat: list[tuple[int, Any, Any]] = []
        for k, (arg, gradient) in enumerate(zip(self.args, returned, strict=True)):
            wanted, structure = flatten(arg)
            given, own = flatten(gradient)
            if gradient is None:
                given = [None] * len(wanted)
            elif own != structure:
                raise ArgumentTypeError(
                    f"{self.name}: the gradient of input {k} must be nested as the input is; it holds {len(given)} "
                    f"arrays for {len(wanted)}."
                )
            flat += [(k, w, g) for w, g in zip(wanted, given, strict=True)]
        return [self._gradient(*flat[p]) for p in self.positions]

    def _gradient(self, position: int, arg: Any, gradient: Any) -> Node | None:
        if gradient is None:
            return None
        node = as_node(gradient)
        if node.shape != arg.shape:
            raise ShapeError(
                f"{self.name}: the gradient of input {position} has shape {node.shape} and the input has shape "
                f"{tuple(arg.shape)}; they must be the same."
            )
        return node


class _Rule:
    """The pullback of one output of a call, as ``primitives.identity.CUSTOM`` takes it."""

    def __init__(self, call: _Call, output: int) -> None:
        self.name = call.name
        self._call = call
        self._output = output
        self._seed: Node | None = None

    def _pulled(self, ct: Node) -> list[Node | None]:
        """The cotangent of each source."""
        return self._call.pulled(self._output, ct)

    def lifted(self, node: Node, batched: Sequence[bool], over: Batching) -> _LiftedRule:
        """The rule for all examples that ``over`` maps; ``batched`` says which sources there is one for each of."""
        return _LiftedRule(self, node, batched, over)

    def __call__(self, node: Node, ct: Node, batch: int) -> list[Node | None]:
        if not batch:
            return self._pulled(ct)
        seed, pulled = self._linear(node)
        flows = [None if p is None else forward_sweep([p], {seed: ct}, batch)[0] for p in pulled]
        return [None if f is None else self.free(f) for f in flows]

    def jvp(self, node: Node, key: int, tangent: Node, batch: int) -> Node | None:
        """The tangent of the output: the transpose of the pullback to source ``key - 1``."""
        seed, gradient = self.linear(node, key)
        flow = None if gradient is None else reverse_sweep([gradient], [tangent], [seed], batch)[0]
        return None if flow is None else self.free(flow)

    def linear(self, node: Node, key: int) -> tuple[Node, Node | None]:
        """A stand-in for the cotangent of ``node``, and that of source ``key - 1`` as an expression in it."""
        seed, pulled = self._linear(node)
        return seed, pulled[key - 1]

    def _linear(self, node: Node) -> tuple[Node, list[Node | None]]:
        if self._seed is None:
            self._seed = mark(expand(cast(literal(0.0), node.dtype), node.shape))
        return self._seed, self._pulled(self._seed)

    def free(self, flow: Node) -> Node:
        """``flow``, which must not hold the stand-in: the derivative of a linear map does not."""
        assert self._seed is not None
        pending, seen = [flow], set()
        while pending:
            node = pending.pop()
            if node is self._seed:
                raise TracingError(
                    f"{self.name} is not linear in dout, so Jacobians and forward mode have no meaning for it; "
                    "use grad or vjp, which run it as it is."
                )
            if node not in seen and node.serial > self._seed.serial:
                seen.add(node)
                pending += node.operands
        return flow


class _LiftedRule(_Rule):
    """A rule for many examples: it runs for one, and what it gives back is lifted."""

    def __init__(self, rule: _Rule, node: Node, batched: Sequence[bool], over: Batching) -> None:
        self.name = rule.name
        self._rule = rule
        self._node = node
        self._batched = batched
        self._over = over
        self._seed = None
        self._known: dict[Node, list[Node | None]] = {}

    def _pulled(self, ct: Node) -> list[Node | None]:
        known = self._known.get(ct)
        if known is None:
            one = self._over.example(ct, "dout")
            flows = zip(self._rule(self._node, one, 0), self._batched, strict=True)
            known = self._known[ct] = [None if p is None else self._of_all(p, own) for p, own in flows]
        return known

    def _of_all(self, pulled: Node, batched: bool) -> Node:
        """The cotangent of a source: for each example its own, or the sum of them all."""
        every = self._over.whole(pulled)
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
        if node.primitive in (INPUT, EXAMPLE):
            raise TracingError(
                at_user_line(
                    f"{name} gives gradients to the arguments only, and the value also depends on {node.params[0]!r}, "
                    "whose gradient would be lost. Pass it as an argument, or hold it constant (stop_gradient, "
                    "requires_grad=False)."
                )
            )
        pending += [source for source, _ in node.primitive.dependencies(node)]
