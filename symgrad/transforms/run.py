"""Run: a function on traced values, with what it is differentiated by and along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..passes import rolling
from ..passes.repetition import Unlike
from ..primitives.contraction import ones
from ..program.node import Node
from ..tracing.trace import Purpose, running
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, unflatten
from .compared_inputs import warn_of_comparing
from .positions import mark_argument, output_nodes, split_aux

if TYPE_CHECKING:
    from .derived import DerivedFunction


@dataclass(frozen=True)
class Inputs:
    """The nodes of each argument that is differentiated by, and its structure."""

    nodes: list[list[Node]]
    structures: list[Any]

    @property
    def flat(self) -> list[Node]:
        return [n for own in self.nodes for n in own]

    def nested(self, leaves: Sequence[Any]) -> list[Any]:
        """One leaf a node, in the structure of each argument."""
        rest = iter(leaves)
        return [unflatten(s, [next(rest) for _ in own]) for s, own in zip(self.structures, self.nodes, strict=True)]


@dataclass(frozen=True)
class Run:
    """What a function gave, and what a derivative differentiates: ``outputs`` by ``wrt``.

    ``structure`` is that of the outputs, ``aux`` what comes beside them. ``seeds`` are the cotangents of the outputs in
    reverse mode (None for one that may be anything), ``tangents`` those of ``wrt`` in forward mode; ``modes`` are those
    that the steps are shown in. ``twice``: the gradient is differentiated again, along ``tangents``. ``summed``: the
    gradient is that of the sum of all outputs.
    """

    output: Any
    outputs: list[Node]
    structure: Any
    aux: tuple
    inputs: Inputs
    weights: list[Node]
    seeds: Sequence[Node | None]
    tangents: Sequence[Node] = ()
    modes: Sequence[str] = ("reverse", "forward")
    twice: bool = False
    summed: bool = False

    @property
    def wrt(self) -> list[Node]:
        """The nodes of the arguments, then those of the weights."""
        return self.inputs.flat + self.weights


def run_of(
    derived: DerivedFunction,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    positions: Sequence[int],
    fresh: bool,
    weights: Mapping[int, Node] | None = None,
) -> Run:
    """The function of ``derived`` on traced values, to be differentiated by the arguments at ``positions``.

    ``fresh`` where they are inputs of the trace. ``weights`` are what parameters are read as, by their ids.
    """
    values = list(args)
    inputs = Inputs([], [])
    for p in positions:
        values[p], nodes, structure = mark_argument(values[p], fresh)
        inputs.nodes.append(nodes)
        inputs.structures.append(structure)
    standing_in = dict(weights or {})
    trace = running()
    trace.differentiate_by(standing_in.values(), fresh)
    with trace.standing_in(standing_in):
        since = -1 if fresh else max([n.serial for n in inputs.flat + list(standing_in.values())], default=-1)
        already = trace.left_out.allow()
        output = derived._value(values, kwargs)
    output = _rolled(output, since, lambda nodes: derived._rolls(nodes, inputs.flat), already)
    if trace.subject is derived.fn:
        trace.value = lambda: output
    trace.derived_by.update(inputs.flat)
    main, aux = split_aux(output, derived.has_aux, derived.__name__)
    outputs, structure = output_nodes(main, derived.__name__)
    if fresh and trace.branches and derived.underlying is derived.fn:
        names = derived._argument_names(len(args), kwargs)
        called = [names[p] if p < len(names) else f"argument {p}" for p in positions]
        compared = list(zip(called, inputs.nodes, strict=True))
        warn_of_comparing(derived.__name__, trace, compared, outputs)
    return Run(output, outputs, structure, aux, inputs, list(standing_in.values()), [None] * len(outputs))


def _rolled(output: Any, since: int, is_wanted: Callable[[Sequence[Node]], bool], already: int) -> Any:
    """What a function gave, its loops as operations; nodes up to the serial number ``since`` are not its own.

    In a trace that is made to know the user's lines each node keeps its own. Steps that were left out, but those that
    were ``already``, are put back.
    """
    trace = running()
    leaves, structure = flatten(output)
    traced = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Tracer)]
    nodes = [leaves[k]._symgrad_node for k in traced]
    left_out = trace.left_out.taken(already, nodes)
    if not is_wanted(nodes):
        if left_out:
            trace.left_out.make_again(whole=True)
        return output
    if trace.purpose is Purpose.LINES:
        trace.has_loops |= rolling.repeats(nodes, trace.derived_by, since, rolling.READ)
        return output
    least = rolling.RUN if trace.purpose is Purpose.RUN else rolling.READ
    try:
        made = rolling.rolled(nodes, trace.derived_by, since, trace.loops, least, trace.called_in_steps, left_out)
    except Unlike:
        trace.left_out.make_again(whole=True)
    if made == nodes:
        return output
    trace.has_loops = True
    for k, node in zip(traced, made, strict=True):
        leaves[k] = Tracer(node)
    return unflatten(structure, leaves)


def seeds_of_sum(outputs: Sequence[Node]) -> list[Node | None]:
    """The cotangents of outputs whose sum is differentiated."""
    return [ones(o.shape) if o.differentiable else None for o in outputs]
