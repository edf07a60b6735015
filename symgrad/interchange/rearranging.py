"""The parameters of what moves, joins and reduces elements, in a document."""

from __future__ import annotations

from typing import Any

from ..program.dims import Dim, Shape
from ..program.node import Node
from .dims import Dims, written_dim
from .field import Field
from .limits import LARGEST_SIZE, MOST_AXES, MOST_OPERANDS
from .requirements import Requirements, shape_text

Operands = tuple[Node, ...]


def read_dims(field: Field, dims: Dims) -> Shape:
    """A shape."""
    return tuple([dims.size(item) for item in field.items(MOST_AXES)])


def _within(field: Field, axis: int, rank: int) -> int:
    if axis >= rank:
        field.fail(f"axis {axis}, and there are {rank} axes")
    return axis


def _axis(field: Field, rank: int) -> int:
    return _within(field, field.whole(0, MOST_AXES), rank)


# one axis, several axes


def written_axis(params: tuple) -> dict[str, Any]:
    """An axis, counted from 0."""
    return {"axis": params[0]}


def read_axis(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """An axis of the operand."""
    return (_axis(field.members(("axis",))["axis"], operands[0].ndim),)


def read_filled_axis(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """An axis of the operand along which there is something."""
    (axis,) = read_axis(field, operands, dims, require)
    require.nonnegative(field, operands[0].shape[axis] - 1, "nothing stands along this axis")
    return (axis,)


def written_axes(params: tuple) -> dict[str, Any]:
    """Axes that go."""
    return {"axes": list(params[0])}


def read_axes(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """Distinct axes of the operand."""
    own = field.members(("axes",))["axes"]
    axes = tuple([_axis(item, operands[0].ndim) for item in own.items(MOST_AXES)])
    if len(set(axes)) < len(axes):
        own.fail("an axis stands twice")
    return (axes,)


def read_filled_axes(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """Axes along which there is something, or nothing is asked for."""
    (axes,) = read_axes(field, operands, dims, require)
    shape = operands[0].shape
    if 0 not in [d for k, d in enumerate(shape) if k not in axes]:
        for k in axes:
            require.nonnegative(field, shape[k] - 1, f"nothing stands along axis {k}")
    return (axes,)


def written_running(params: tuple) -> dict[str, Any]:
    """An axis, and whether sums or products run from its end."""
    return {"axis": params[0], "reverse": params[1]}


def read_running(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``cumsum`` and ``cumprod``."""
    members = field.members(("axis", "reverse"))
    return _axis(members["axis"], operands[0].ndim), members["reverse"].truth()


# shapes and slices


def written_shape(params: tuple) -> dict[str, Any]:
    """The new shape."""
    return {"shape": [written_dim(d) for d in params[0]]}


def read_shape(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """A shape of as many elements."""
    own = field.members(("shape",))["shape"]
    shape, before = read_dims(own, dims), operands[0].shape
    message = f"{shape_text(before)} cannot be given the shape {shape_text(shape)}"
    require.equal(own, require.size(own, shape), require.size(own, before), message)
    return (shape,)


def _written_spec(spec: tuple) -> list[Any]:
    made: list[Any] = []
    for e in spec:
        if isinstance(e, tuple):
            start, length, step = e
            made.append({"start": written_dim(start), "length": written_dim(length), "step": int(step)})
        else:
            made.append({"at": written_dim(e)})
    return made


def _read_spec(field: Field, shape: Shape, dims: Dims, require: Requirements) -> tuple:
    """A slice of an array of this shape, which lies within it."""
    items = field.items(MOST_AXES)
    if len(items) != len(shape):
        field.fail(f"entries for {len(items)} axes, and the array has the shape {shape_text(shape)}")
    return tuple([_read_entry(item, d, dims, require) for item, d in zip(items, shape, strict=True)])


def _read_entry(field: Field, size: Dim, dims: Dims, require: Requirements) -> Any:
    outside = f"is outside of an axis of size {size}"
    if field.has("at"):
        at = dims.whole(field.members(("at",))["at"])
        _place(field, at, size, require, f"{at} {outside}")
        return at
    members = field.members(("start", "length", "step"))
    start, length = dims.whole(members["start"]), dims.size(members["length"])
    step = members["step"].whole(-LARGEST_SIZE, LARGEST_SIZE)
    if step == 0:
        members["step"].fail("a step cannot be 0")
    if length == 0:
        if not isinstance(start, int):
            members["start"].fail("should be a number where the length is 0")
        return start, length, step
    require.nonnegative(members["length"], length, f"a length of {length}")
    last = start + (length - 1) * step
    low, high = (start, last) if step > 0 else (last, start)
    require.nonnegative(field, low, f"a slice from {low} {outside}")
    require.nonnegative(field, size - 1 - high, f"a slice to {high} {outside}")
    return start, length, step


def _place(field: Field, at: Dim, size: Dim, require: Requirements, message: str) -> None:
    require.nonnegative(field, at, message)
    require.nonnegative(field, size - 1 - at, message)


def written_slice(params: tuple) -> dict[str, Any]:
    """One entry an axis: ``{"at": k}`` takes one element, ``{"start", "length", "step"}`` several."""
    return {"slice": _written_spec(params[0])}


def read_slice(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``slice``."""
    return (_read_spec(field.members(("slice",))["slice"], operands[0].shape, dims, require),)


def written_pieces(params: tuple) -> dict[str, Any]:
    """The shape of the whole, and the slice of it where each operand is added."""
    shape, specs = params
    return {"shape": [written_dim(d) for d in shape], "slices": [_written_spec(s) for s in specs]}


def read_pieces(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``assemble``."""
    members = field.members(("shape", "slices"))
    shape = read_dims(members["shape"], dims)
    items = members["slices"].items(MOST_OPERANDS)
    if len(items) != len(operands):
        members["slices"].fail(f"{len(items)} slices for {len(operands)} operands")
    specs = []
    for item, x in zip(items, operands, strict=True):
        spec = _read_spec(item, shape, dims, require)
        require.alike(item, tuple([e[1] for e in spec if isinstance(e, tuple)]), x.shape, "a slice and its operand")
        specs.append(spec)
    return shape, tuple(specs)


# by index, one after another


def _index(field: Field, index: Node) -> None:
    if index.dtype.kind not in "iu":
        field.fail(f"the second operand should hold whole numbers, and is of {index.dtype}")


def read_gather(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``gather``."""
    _index(field, operands[1])
    return read_axis(field, operands, dims, require)


def written_scatter(params: tuple) -> dict[str, Any]:
    """The axis along which entries are added by index, and its size."""
    return {"axis": params[0], "size": written_dim(params[1])}


def read_scatter(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``scatter``."""
    members = field.members(("axis", "size"))
    y, index = operands
    _index(field, index)
    axis = members["axis"].whole(0, MOST_AXES)
    if axis + index.ndim > y.ndim:
        field.fail(f"axis {axis} and an index of {index.ndim} axes do not fit an operand of {y.ndim} axes")
    own = y.shape[axis : axis + index.ndim]
    require.alike(field, own, index.shape, "the index and the axes that it stands for")
    return axis, dims.size(members["size"])


def read_parts(field: Field, operands: Operands, dims: Dims, require: Requirements) -> tuple:
    """The parameters of ``concatenate``."""
    (axis,) = read_axis(field, operands, dims, require)
    first = operands[0].shape
    require.sum(field, [x.shape[axis] for x in operands if axis < x.ndim])
    for x in operands[1:]:
        if x.ndim != len(first):
            field.fail(f"arrays of {len(first)} and of {x.ndim} axes cannot stand one after another")
        own = (*x.shape[:axis], first[axis], *x.shape[axis + 1 :])
        require.alike(field, own, first, f"but for axis {axis} the parts")
    return (axis,)
