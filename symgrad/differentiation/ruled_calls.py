"""Calls with declared rules: what the rules are given, and what they give back, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentTypeError, ShapeError
from ..primitives.external import joined, split, zeros_like
from ..program.node import Node
from ..tracing.trace import as_node, is_traced
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, nesting, unflatten


@dataclass(frozen=True)
class Rules:
    """What is declared of a function, and what errors call it; one of both rules is enough.

    ``pull(args, outputs, cotangents)`` gives a tuple with one gradient for each of ``args``, nested as it is, or None
    for zero. ``push(args, outputs, tangents)`` gives the tangents of the outputs; those of what is no float are None.
    """

    pull_name: str = ""
    pull: Callable[[tuple[Any, ...], Any, Any], Any] | None = None
    push_name: str = ""
    push: Callable[[tuple[Any, ...], Any, tuple[Any, ...]], Any] | None = None
    #: what errors call the cotangents
    cotangents: str = "dout"
    #: whose rules they are
    owner: Any = None


def float_sources(leaves: Sequence[Any]) -> dict[int, Node]:
    """The leaves that derivatives are taken by, by their place."""
    nodes = {k: as_node(v) for k, v in enumerate(leaves) if is_traced(v)}
    return {k: n for k, n in nodes.items() if n.differentiable}


def is_float(leaf: Any) -> bool:
    """True for floats, traced or not: what may have a tangent."""
    if is_traced(leaf):
        return as_node(leaf).differentiable
    return isinstance(leaf, (float, np.floating)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")


def handles(leaves: Sequence[Any], structure: Any) -> Any:
    """The values under handles of their own, which no later write rebinds."""
    return unflatten(structure, [Tracer(as_node(v)) if is_traced(v) else v for v in leaves])


class One(NamedTuple):
    """The output that a node is, by its place among the leaves of all."""

    place: int

    def cotangents(self, leaves: Sequence[Any], ct: Node) -> list[Any]:
        """Those of all leaves where ``ct`` is that of the node, and the others have none."""
        return [Tracer(ct) if k == self.place else np.zeros_like(v) for k, v in enumerate(leaves)]

    def tangent(self, leaves: Sequence[Node | None]) -> Node | None:
        """That of the node, of those of all leaves."""
        return leaves[self.place]


class Row(NamedTuple):
    """All outputs, of which a node is the row; ``places`` are theirs among the leaves."""

    places: tuple[int, ...]
    values: tuple[Node, ...]

    def cotangents(self, leaves: Sequence[Any], ct: Node) -> list[Any]:
        """Those of all leaves where ``ct`` is that of the row."""
        made: list[Any] = [None] * len(leaves)
        kinds = [v.dtype if v.differentiable else ct.dtype for v in self.values]
        for place, part in zip(self.places, split(ct, [v.shape for v in self.values], kinds), strict=True):
            made[place] = Tracer(part)
        return made

    def tangent(self, leaves: Sequence[Node | None]) -> Node | None:
        """That of the row, of those of all leaves."""
        found = [leaves[place] for place in self.places]
        if all(t is None for t in found):
            return None
        whole = [zeros_like(v) if t is None else t for t, v in zip(found, self.values, strict=True)]
        return joined(whole, [v.dtype for v in self.values])


class RuledCall:
    """One call with rules: what these are given and what they give back."""

    def __init__(self, rules: Rules, args: tuple[Any, ...], positions: Sequence[int]) -> None:
        """``positions`` are those of the sources among the leaves of ``args``."""
        self.rules = rules
        self.args = args
        self.positions = positions
        self.outputs: Any = None
        self._pulled: dict[tuple[Any, Node], list[Node | None]] = {}

    def pulled(self, part: One | Row, ct: Node) -> list[Node | None]:
        """The cotangent of each source where ``ct`` is that of a part of the outputs."""
        assert self.rules.pull is not None
        known = self._pulled.get((part, ct))
        if known is None:
            leaves, structure = flatten(self.outputs)
            returned = self.rules.pull(self.args, self.outputs, unflatten(structure, part.cotangents(leaves, ct)))
            found = picked(returned, self.args, self.positions, self.rules.pull_name)
            known = self._pulled[part, ct] = [self._gradient(*f) for f in found]
        return known

    def _gradient(self, position: int, arg: Any, gradient: Any) -> Node | None:
        if gradient is None:
            return None
        node, shape = as_node(gradient), as_node(arg).shape
        if node.shape != shape:
            raise ShapeError(
                f"{self.rules.pull_name}: the gradient of input {position} has shape {node.shape} and the input has "
                f"shape {shape}; they must be the same."
            )
        return node

    def pushed(self, part: One | Row, tangents: Sequence[Node]) -> Node | None:
        """The tangent of a part of the outputs where those of the sources are ``tangents``."""
        assert self.rules.push is not None
        leaves, structure = flatten(self.args)
        given: list[Any] = list(map(_no_tangent, leaves))
        for k, t in zip(self.positions, tangents, strict=True):
            given[k] = Tracer(t)
        returned = self.rules.push(self.args, self.outputs, unflatten(structure, given))
        return part.tangent(self._tangents(returned))

    def _tangents(self, returned: Any) -> list[Node | None]:
        name = self.rules.push_name
        wanted, structure = flatten(self.outputs)
        given, own = flatten(returned)
        if returned is None:
            given = [None] * len(wanted)
        elif nesting(own) != nesting(structure):
            raise ArgumentTypeError(
                f"{name} must return the tangent of the result, nested as the result is: {len(wanted)} arrays; it "
                f"returned {len(given)}. The result itself is not among them."
            )
        return [
            None if t is None or not is_traced(v) else self._tangent(name, t, v)
            for t, v in zip(given, wanted, strict=True)
        ]

    def _tangent(self, name: str, tangent: Any, output: Any) -> Node | None:
        node, value = as_node(tangent), as_node(output)
        if node.shape != value.shape:
            raise ShapeError(
                f"{name}: the tangent has shape {node.shape} and the result has shape {value.shape}; they must be the "
                "same."
            )
        return node if value.differentiable else None


def picked(returned: Any, args: tuple[Any, ...], positions: Sequence[int], name: str) -> list[tuple[int, Any, Any]]:
    """The gradients of the sources among what a pullback gave: the input, the leaf of ``args`` and the gradient.

    ``positions`` are those of the sources among the leaves, ``name`` is what errors call the pullback.
    """
    if not isinstance(returned, (tuple, list)) or len(returned) != len(args):
        got = f"{len(returned)} of them" if isinstance(returned, (tuple, list)) else f"a {type(returned).__name__}"
        raise ArgumentTypeError(
            f"{name} must return a tuple with one gradient for each of the {len(args)} inputs "
            f"(None where it is zero); it returned {got}."
        )
    flat: list[tuple[int, Any, Any]] = []
    for k, (arg, gradient) in enumerate(zip(args, returned, strict=True)):
        wanted, structure = flatten(arg)
        given, own = flatten(gradient)
        if gradient is None:
            given = [None] * len(wanted)
        elif nesting(own) != nesting(structure):
            raise ArgumentTypeError(
                f"{name}: the gradient of input {k} must be nested as the input is; it holds {len(given)} "
                f"arrays for {len(wanted)}."
            )
        flat += [(k, w, g) for w, g in zip(wanted, given, strict=True)]
    return [flat[p] for p in positions]


def _no_tangent(leaf: Any) -> Any:
    """The tangent of a leaf that no derivative is taken by: zeros, and None for what is no float."""
    if is_traced(leaf):
        node = as_node(leaf)
        return Tracer(zeros_like(node)) if node.differentiable else None
    return np.zeros_like(leaf)[()] if is_float(leaf) else None
