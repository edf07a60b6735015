"""A Program that was read, built anew where it is called: in a trace of its own, or in that of another function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from ..codec.sizes import shape_text
from ..errors import ArgumentError, DtypeError, ShapeError
from ..passes.sizes import resized_loop
from ..primitives.casting import cast
from ..primitives.identity import MARK, mark
from ..primitives.loop import Loop
from ..primitives.primitive import CONSTANT, DIM, LITERAL, constant, dim_value, literal
from ..program.dims import Dim, is_named, normal
from ..program.interpret import walk
from ..program.node import Node, emit
from ..program.program import Program
from ..tracing.trace import Trace
from .document import Document

Sizes = Mapping[sympy.Symbol, Dim]


def emitted(document: Document, inputs: Sequence[Node], trace: Trace, own: bool) -> list[Node]:
    """The outputs of the document's Program for ``inputs``, in the trace that runs.

    What the Program was exported for is required: shapes, dtypes, facts on sizes (which become facts of the trace) and
    the branches that were taken (which become guards of the trace). ``own`` where the trace is of this Program alone,
    for sizes that have been checked.
    """
    program = document.read.program
    sizes = bound_sizes(program, [given.shape for given in inputs])
    if own:
        trace.sizes.facts.update(program.graph.sizes.facts)
    else:
        _require_sizes(document, sizes, trace)
    image: dict[Node, Node] = {}
    for node, given, label in zip(program.inputs, inputs, program.names, strict=True):
        image[node] = _fitting(node, given, label)
    whole = program.with_outputs((*program.outputs, *document.read.conditions))
    walk(whole.nodes, image, lambda node, operands: _again(node, tuple(operands), sizes))
    for condition in document.read.conditions:
        if not trace.guard(image[condition]):
            raise ArgumentError.here(
                f"{document.name}: these arguments take another branch of {document.facts.function} than those "
                "that it was exported for; export it for such arguments too."
            )
    return [image[n] for n in program.outputs]


def _again(node: Node, operands: tuple[Node, ...], sizes: Sizes) -> Node:
    """``node`` of these operands."""
    primitive = node.primitive
    if primitive is CONSTANT:
        return constant(node.params[0])
    if primitive is LITERAL:
        return literal(node.params[0])
    if primitive is DIM:
        return dim_value(sized(node.params[0], sizes))
    made = mark(operands[0]) if primitive is MARK else emit(primitive, operands, sized(node.params, sizes))
    if made.dtype != node.dtype:
        raise DtypeError.here(f"a Python float was exported where this is {made.dtype}; pass a Python float.")
    return made


def sized(param: Any, sizes: Sizes) -> Any:
    """A parameter in terms of the sizes of this call."""
    if isinstance(param, tuple):
        return tuple([sized(p, sizes) for p in param])
    if isinstance(param, Loop):
        return param if all(sizes[d] is d for d in sizes) else resized_loop(param, lambda dim: sized(dim, sizes))
    if not is_named(param) or all(sizes[d] is d for d in param.free_symbols):
        return param
    return normal(param.xreplace({d: sympy.sympify(sizes[d]) for d in param.free_symbols}))


def _fitting(node: Node, given: Node, label: str) -> Node:
    """The given value where it is of the dtype of an input."""
    if given.dtype != node.dtype and not given.weak:
        raise DtypeError.here(
            f"{label} is of {given.dtype} and was exported for {node.dtype}; pass it as {node.dtype}."
        )
    return given if node.weak or not given.weak else cast(given, node.dtype)


def _require_sizes(document: Document, sizes: Sizes, trace: Trace) -> None:
    """The facts on sizes that the Program takes for granted, and that no named dim is 0, hold here or are guarded."""
    asked = (*document.read.program.graph.sizes.facts, *document.read.required)
    if all(isinstance(d, int) for d in sizes.values()):
        check_sizes(document, sizes)
        return
    for d in sizes.values():
        if is_named(d):
            _guard(document, normal(d - 1), "nonnegative", trace)
    for dim, sign in asked:
        _guard(document, sized(dim, sizes), sign, trace)


def _guard(document: Document, dim: Dim, sign: str, trace: Trace) -> None:
    if sign == "not zero":
        held = trace.sizes.known(dim, "zero") is not True
        if held and is_named(dim):
            trace.sizes.facts[dim, sign] = None
    else:
        held = trace.assumes(dim, sign)
    if not held:
        raise ShapeError.here(f"{document.name} holds for other sizes: {dim} is {sign} there.")


def check_sizes(document: Document, sizes: Mapping[sympy.Symbol, Any]) -> None:
    """A ShapeError where the Program is not for these sizes, which are numbers."""
    empty = [str(d) for d, n in sizes.items() if n < 1]
    broken = f"{empty[0]} ≥ 1" if empty else document.read.broken(sizes)
    if broken:
        raise ShapeError.here(
            f"{document.name} holds for sizes with {broken}, and {_listed(sizes)}; export it for these sizes too."
        )


def bound_sizes(program: Program, shapes: Sequence[Sequence[Any]]) -> dict[sympy.Symbol, Any]:
    """What the named dims are where the inputs have these shapes; a ShapeError where they cannot have them."""
    sizes: dict[sympy.Symbol, Any] = {}
    for node, shape in zip(program.inputs, shapes, strict=True):
        if len(shape) == node.ndim:
            for d, size in zip(node.shape, shape, strict=True):
                if isinstance(d, sympy.Symbol):
                    sizes.setdefault(d, size)
    given = list(zip(program.inputs, shapes, program.names, strict=True))
    wrong = [g for g in given if len(g[1]) != g[0].ndim] or [
        g for g in given if sized(g[0].shape, sizes) != tuple(g[1])
    ]
    for node, shape, label in wrong:
        where = f", where {_listed(sizes)}" if sizes else ""
        message = f"{label} has the shape {shape_text(shape)} and should have {shape_text(node.shape)}{where}."
        raise ShapeError.here(message)
    return sizes


def _listed(sizes: Sizes) -> str:
    return ", ".join(f"{d} = {n}" for d, n in sizes.items())
