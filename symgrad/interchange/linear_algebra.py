"""The parameters of linear algebra, convolution and searches in a document, and what these ask of their operands."""

from __future__ import annotations

from typing import Any

from ..program.node import Node
from .dims import Dims
from .field import Field
from .requirements import Requirements, shape_text

Operands = tuple[Node, ...]


def _square(field: Field, x: Node, require: Requirements) -> None:
    message = f"needs square matrices, and the operand has the shape {shape_text(x.shape)}"
    if x.ndim < 2:
        field.fail(message)
    require.equal(field, x.shape[-1], x.shape[-2], message)
    for operand in (x,):
        if operand.dtype.itemsize == 2 and operand.dtype.kind == "f":
            field.fail("linear algebra has no float16")


def read_square(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """No parameters; the operand is a stack of square matrices."""
    field.members(())
    _square(field, operands[0], require)
    return ()


def read_solve(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """No parameters; a stack of square matrices, and vectors or matrices stacked alike."""
    field.members(())
    x, b = operands
    _square(field, x, require)
    if not x.ndim - 1 <= b.ndim <= x.ndim or b.dtype == "float16":
        field.fail(f"cannot solve shape {shape_text(x.shape)} for shape {shape_text(b.shape)} of {b.dtype}")
    require.alike(field, b.shape[: x.ndim - 1], x.shape[:-1], "but for columns the operands")
    return ()


def written_upper(params: tuple) -> dict[str, Any]:
    """Whether the upper factor is meant."""
    return {"upper": params[0]}


def read_upper(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``cholesky``."""
    upper = field.members(("upper",))["upper"].truth()
    _square(field, operands[0], require)
    return (upper,)


def read_vectors(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """No parameters; two vectors that are not empty."""
    field.members(())
    for x in operands:
        if x.ndim != 1:
            field.fail(f"needs vectors, and an operand has the shape {shape_text(x.shape)}")
        require.nonnegative(field, x.shape[0] - 1, "needs vectors that are not empty")
    return ()


def written_side(params: tuple) -> dict[str, Any]:
    """On which side of equal knots a value belongs."""
    return {"side": params[0]}


def read_side(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``searchsorted``."""
    side = field.members(("side",))["side"].one_of(("left", "right"))
    if operands[0].ndim != 1:
        field.fail(f"needs knots along one axis, and they have the shape {shape_text(operands[0].shape)}")
    return (side,)
