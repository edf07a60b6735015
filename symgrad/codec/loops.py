"""Loops in a document: what a ``scan`` has for parameters, its body a program within the program.

The body has ``inputs``, ``nodes`` and ``outputs`` as a document has, numbered from 0. A loop that computes all that one
before it does names that as its ``base``: loops are numbered as they come, each body having its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import UnsupportedOperation
from ..primitives.loop import Base, Loop
from ..primitives.scan import SCAN
from ..program.dims import is_named
from ..program.node import Node
from ..program.program import Program
from .arrays import DTYPE
from .forms import Form, Later, Listed, Made, Members, Truth, Whole, Wrong
from .limits import MAX_INPUTS, MAX_LOOPS_WITHIN, MAX_OPERANDS, MAX_OUTPUTS
from .sizes import PLACE, SHAPE, SIZE, Sizes, multiplied, shape_text

Operands = tuple[Node, ...]

#: the body of a loop, which ``programs`` says the form of
BODY = Later().named("body")
_BASE = Members(
    {
        "loop": Whole(0, MAX_OUTPUTS),
        "operands": Listed(Whole(0, MAX_INPUTS), MAX_INPUTS),
        "pieces": Listed(Whole(0, MAX_OUTPUTS), MAX_OUTPUTS),
    }
)
_MEMBERS: dict[str, Form] = {
    "body": BODY,
    "carries": Whole(0, MAX_INPUTS),
    "elements": Whole(0, MAX_INPUTS),
    "length": SIZE,
    "finals": Listed(Whole(0, MAX_INPUTS), MAX_INPUTS),
    "reverse": Truth(),
    "stores": Truth(),
}


class Numbered:
    """The loops of a program that is written down, by their numbers."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        """``nodes`` are those before it."""
        self._number: dict[Loop, int] = {loop: k for k, loop in enumerate(loops_of(nodes))}
        self._count = len(self._number)

    def base(self, loop: Loop) -> Mapping[str, Any]:
        """What is written of the base of a loop, which has its number from now on."""
        found = None if loop.base is None else self._number.get(loop.base.loop)
        self._number.setdefault(loop, self._count)
        self._count += 1
        if loop.base is None or found is None:
            return {}
        return {"base": _BASE.write({"loop": found, "operands": loop.base.operands, "pieces": loop.base.pieces})}


def loops_of(nodes: Iterable[Node]) -> list[Loop]:
    """The loops of nodes in order, each once."""
    return list(dict.fromkeys(n.params[0] for n in nodes if n.primitive is SCAN))


def written_loop(params: tuple) -> Any:
    (loop,) = params
    if _depth(loop.body) >= MAX_LOOPS_WITHIN:
        raise UnsupportedOperation(f"the JSON form has at most {MAX_LOOPS_WITHIN} loops within one another.")
    return {name: getattr(loop, name) for name in _MEMBERS}


def _depth(body: Program) -> int:
    return max((1 + _depth(inner) for n in body.nodes for inner in n.primitive.bodies(n.params)), default=0)


def _read(members: dict[str, Any], known: Any) -> tuple:
    body, carries, elements, finals = (members[key] for key in ("body", "carries", "elements", "finals"))
    base = members.pop("base", None)
    if carries + elements > len(body.inputs):
        raise Wrong(f"{carries} carries and {elements} elements, and the body has {len(body.inputs)} inputs")
    if carries > len(body.outputs):
        raise Wrong(f"{carries} carries, and the body has {len(body.outputs)} outputs", "carries")
    if is_named(members["length"]) and not elements:
        raise Wrong("a length with names is that of an array of which each step has an element", "length")
    if len(set(finals)) < len(finals) or any(k >= carries for k in finals):
        raise Wrong(f"should be numbers of the {carries} carries, each once", "finals")
    if not finals and len(body.outputs) == carries:
        raise Wrong("a loop of which nothing is a result")
    for k, (given, after) in enumerate(zip(body.inputs[:carries], body.outputs, strict=False)):
        if (given.shape, given.dtype) != (after.shape, after.dtype):
            raise Wrong(f"carry {k} is {_kind(given)} and after a step {_kind(after)}", "body", "outputs", k)
    made = _differentiable()(**members, base=None if base is None else _base(base, members, known))
    known.loops.append(made)
    return (made,)


def _base(base: dict[str, Any], members: dict[str, Any], known: Any) -> Base:
    if base["loop"] >= len(known.loops):
        raise Wrong("should be the number of a loop before this one", "base", "loop")
    loop = known.loops[base["loop"]]
    kept = len(members["body"].outputs) - members["carries"]
    if len(base["operands"]) != len(loop.inputs) or any(k >= len(members["body"].inputs) for k in base["operands"]):
        raise Wrong(f"should be {len(loop.inputs)} inputs of the body", "base", "operands")
    if len(base["pieces"]) != len(loop.pieces) or any(k >= len(members["finals"]) + kept for k in base["pieces"]):
        raise Wrong(f"should be {len(loop.pieces)} results", "base", "pieces")
    return Base(loop, base["operands"], base["pieces"])


def _differentiable() -> type[Loop]:
    """The class of loops that have derivatives: it stands above, and is asked for where a loop is read."""
    return importlib.import_module(f"{__name__.split('.')[0]}.differentiation.loops").DifferentiableLoop


def _kind(node: Node) -> str:
    return f"{node.dtype}{shape_text(node.shape)}"


#: the parameters of ``scan``, of ``part`` and of ``row``
LOOP = Made(Members(_MEMBERS, {"base": _BASE}), _read, written_loop)
PART_OF: dict[str, Form] = {"start": PLACE, "shape": SHAPE, "dtype": DTYPE}
ROW_OF: dict[str, Form] = {"starts": Listed(PLACE, MAX_OPERANDS), "size": SIZE, "batch": Whole(0, 64)}


def fits_loop(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The operands are what the carries begin with, arrays of all elements, and constants."""
    (loop,) = params
    if len(operands) != len(loop.inputs):
        raise Wrong(f"{len(operands)} operands, and the body has {len(loop.inputs)} inputs")
    for k, (x, own) in enumerate(zip(operands, loop.inputs, strict=True)):
        shape = (loop.length, *own.shape) if loop.is_element(k) else own.shape
        if x.dtype != own.dtype:
            raise Wrong(f"operand {k} is of {x.dtype}, and the body takes {own.dtype}")
        sizes.require_alike(x.shape, shape, f"operand {k} and what the body takes")
    for piece in loop.pieces:
        multiplied(piece.shape)


def fits_part(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The part is a result of the loop, or a stretch of a row."""
    start, shape, dtype = params
    (row,) = operands
    if row.primitive is SCAN:
        if (start, shape, dtype) not in [tuple(p) for p in row.params[0].pieces]:
            raise Wrong("this is no result of the loop")
        return
    if row.ndim != 1:
        raise Wrong(f"needs a row, and the operand has the shape {shape_text(row.shape)}")
    _stretch(start, shape, row.shape[0], sizes)


def fits_row(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Each operand has its place in the row."""
    starts, size, batch = params
    if len(starts) != len(operands):
        raise Wrong(f"{len(starts)} starts for {len(operands)} operands", "starts")
    for k, (start, x) in enumerate(zip(starts, operands, strict=True)):
        if x.ndim < batch:
            raise Wrong(f"{batch} leading axes, and operand {k} has the shape {shape_text(x.shape)}", "batch")
        sizes.require_alike(x.shape[:batch], operands[0].shape[:batch], "the leading axes of the operands")
        _stretch(start, x.shape[batch:], size, sizes)


def _stretch(start: Any, shape: tuple, size: Any, sizes: Sizes) -> None:
    message = f"{shape_text(shape)} from {start} on does not fit a row of {size}"
    sizes.require_nonnegative(start, message)
    sizes.require_nonnegative(size - start - multiplied(shape), message)
