"""What the parameters and the operands of an operation ask of one another, beyond the shape that the operation infers.

Each is a function of the parameters, the operands and what is known of sizes,
and raises a Wrong where they do not fit.
"""

from __future__ import annotations

from typing import Any

from ..primitives.decompositions import has_turns
from ..program.dims import Dim, Shape
from ..program.node import Node
from .forms import Wrong
from .limits import MAX_TERMS
from .sizes import Sizes, multiplied, shape_text, terms

Operands = tuple[Node, ...]


def axis(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The axis is one of the first operand's."""
    if params[0] >= operands[0].ndim:
        raise Wrong(f"axis {params[0]}, and there are {operands[0].ndim} axes", "axis")


def axis_from_end(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The axis, counted from the end, is one of the operand's."""
    if -params[0] > operands[0].ndim:
        raise Wrong(f"axis {params[0]}, and there are {operands[0].ndim} axes", "axis")
    sizes.require_nonnegative(operands[0].shape[params[0]] - 1, "needs something along the axis")


def real_sequence(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Real numbers, as many along the axis as a number says."""
    axis_from_end(params, operands, sizes)
    if operands[0].is_complex or not isinstance(operands[0].shape[params[0]], int):
        raise Wrong("needs real numbers along an axis of known size")


def half_sequence(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Half as many numbers along the axis as the result has."""
    axis_from_end(params, operands, sizes)
    if operands[0].shape[params[0]] != params[1] // 2 + 1:
        raise Wrong("needs half of the sequence", "count")


def filled_axis(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Along the axis there is something."""
    axis(params, operands, sizes)
    sizes.require_nonnegative(operands[0].shape[params[0]] - 1, "nothing stands along this axis")


def axes(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The axes are the operand's."""
    for k, own in enumerate(params[0]):
        if own >= operands[0].ndim:
            raise Wrong(f"axis {own}, and there are {operands[0].ndim} axes", "axes", k)


def filled_axes(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Along the axes there is something, or nothing is asked for."""
    axes(params, operands, sizes)
    shape = operands[0].shape
    if 0 not in [d for k, d in enumerate(shape) if k not in params[0]]:
        for k in params[0]:
            sizes.require_nonnegative(shape[k] - 1, f"nothing stands along axis {k}")


def reshape(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The new shape has as many elements."""
    (shape,), before = params, operands[0].shape
    message = f"{shape_text(before)} cannot be given the shape {shape_text(shape)}"
    try:
        sizes.require_equal(multiplied(shape), multiplied(before), message)
    except Wrong as wrong:
        raise wrong.within("shape") from None


def slice(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The slice lies within the operand."""
    _slice(params[0], operands[0].shape, sizes, "slice")


def assemble(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Each operand is of the shape of its slice, which lies within the whole."""
    shape, slices = params
    if len(slices) != len(operands):
        raise Wrong(f"{len(slices)} slices for {len(operands)} operands", "slices")
    for k, (spec, x) in enumerate(zip(slices, operands, strict=True)):
        _slice(spec, shape, sizes, "slices", k)
        own = tuple([e[1] for e in spec if isinstance(e, tuple)])
        sizes.require_alike(own, x.shape, "a slice and its operand", "slices", k)


def _slice(spec: tuple, shape: Shape, sizes: Sizes, *place: str | int) -> None:
    if len(spec) != len(shape):
        raise Wrong(f"entries for {len(spec)} axes, and the array has the shape {shape_text(shape)}", *place)
    for k, (entry, size) in enumerate(zip(spec, shape, strict=True)):
        try:
            _entry(entry, size, sizes)
        except Wrong as wrong:
            for key in (k, *reversed(place)):
                wrong.within(key)
            raise


def _entry(entry: Any, size: Dim, sizes: Sizes) -> None:
    """One axis of a slice; it is within an axis of ``size``."""
    outside = f"is outside of an axis of size {size}"
    if not isinstance(entry, tuple):
        sizes.require_nonnegative(entry, f"{entry} {outside}")
        sizes.require_nonnegative(size - 1 - entry, f"{entry} {outside}")
        return
    start, length, step = entry
    if step == 0:
        raise Wrong("a step cannot be 0", "step")
    if length == 0:
        if not isinstance(start, int):
            raise Wrong("should be a number where the length is 0", "start")
        return
    sizes.require_nonnegative(length, f"a length of {length}", "length")
    last = start + (length - 1) * step
    low, high = (start, last) if step > 0 else (last, start)
    sizes.require_nonnegative(low, f"a slice from {low} {outside}")
    sizes.require_nonnegative(size - 1 - high, f"a slice to {high} {outside}")


def gather(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Whole numbers pick along an axis."""
    _index(operands[1])
    axis(params, operands, sizes)


def scatter(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The axes of whole numbers stand in the first operand, from the axis on."""
    y, index = operands
    _index(index)
    first = params[0]
    if first + index.ndim > y.ndim:
        raise Wrong(f"axis {first} and an index of {index.ndim} axes do not fit an operand of {y.ndim} axes")
    own = y.shape[first : first + index.ndim]
    sizes.require_alike(own, index.shape, "the index and the axes that it stands for")


def _index(index: Node) -> None:
    if index.dtype.kind not in "iu":
        raise Wrong(f"the second operand should hold whole numbers, and is of {index.dtype}")


def concatenate(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The parts are alike but for the axis."""
    axis(params, operands, sizes)
    (k,), first = params, operands[0].shape
    if sum(map(terms, {x.shape[k] for x in operands if k < x.ndim})) > MAX_TERMS:
        raise Wrong(f"the sum of these sizes has more than {MAX_TERMS} terms")
    for x in operands[1:]:
        if x.ndim != len(first):
            raise Wrong(f"arrays of {len(first)} and of {x.ndim} axes cannot stand one after another")
        own = (*x.shape[:k], first[k], *x.shape[k + 1 :])
        sizes.require_alike(own, first, f"but for axis {k} the parts")


def square(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """A stack of square matrices."""
    x = operands[0]
    message = f"needs square matrices, and the operand has the shape {shape_text(x.shape)}"
    if x.ndim < 2:
        raise Wrong(message)
    sizes.require_equal(x.shape[-1], x.shape[-2], message)
    if x.dtype == "float16":
        raise Wrong("linear algebra has no float16")


def matrices(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """A stack of matrices, square, of known size, or with as many rows as known columns at least."""
    x = operands[0]
    message = f"needs matrices of known size, and the operand has the shape {shape_text(x.shape)}"
    if x.ndim < 2:
        raise Wrong(message)
    rows, columns = x.shape[-2:]
    if not isinstance(columns, int):
        sizes.require_equal(columns, rows, message)
    elif not isinstance(rows, int):
        sizes.require_nonnegative(rows - columns, message)
    if x.dtype == "float16":
        raise Wrong("linear algebra has no float16")


def least_squares(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Two matrices of as many rows."""
    a, b = operands
    if a.ndim != 2 or b.ndim != 2 or "float16" in (a.dtype, b.dtype):
        raise Wrong(
            f"needs two matrices, and the operands have the shapes {shape_text(a.shape)}, {shape_text(b.shape)}"
        )
    sizes.require_equal(a.shape[0], b.shape[0], "the matrices should have as many rows")


def sylvester(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Two stacks of square matrices, and one of right sides that they multiply from the left and from the right."""
    a, b, q = operands
    for k, own in ((-2, a), (-1, b)):
        square(params, (own,), sizes)
        message = f"{shape_text(own.shape)} does not multiply the right side, of shape {shape_text(q.shape)}"
        if q.ndim != own.ndim:
            raise Wrong(message)
        sizes.require_equal(q.shape[k], own.shape[-1], message)


def cofactors(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """A stack of square matrices, their determinants, and directions, alike, whose stacks end as that does."""
    square(params, operands, sizes)
    a, determinant, *directions = operands
    if directions and params[0] > 1:
        raise Wrong("has directions beside an order of 1 alone", "order")
    sizes.require_alike(determinant.shape, a.shape[:-2], "the determinants and the matrices")
    for x in directions:
        if x.ndim < a.ndim or x.dtype == "float16":
            raise Wrong(f"directions of {shape_text(x.shape)}, {x.dtype}, and the matrices are {shape_text(a.shape)}")
        sizes.require_alike(x.shape[x.ndim - a.ndim :], a.shape, "a direction and the matrices")
        sizes.require_alike(x.shape, directions[0].shape, "the directions")


def solve(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """A stack of square matrices, and vectors or matrices stacked alike."""
    square(params, operands, sizes)
    x, b = operands
    if not x.ndim - 1 <= b.ndim <= x.ndim or b.dtype == "float16":
        raise Wrong(f"cannot solve shape {shape_text(x.shape)} for shape {shape_text(b.shape)} of {b.dtype}")
    sizes.require_alike(b.shape[: x.ndim - 1], x.shape[:-1], "but for columns the operands")


def vectors(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Vectors that are not empty."""
    for x in operands:
        if x.ndim != 1:
            raise Wrong(f"needs vectors, and an operand has the shape {shape_text(x.shape)}")
        sizes.require_nonnegative(x.shape[0] - 1, "needs vectors that are not empty")


def knots(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """The first operand has one axis."""
    if operands[0].ndim != 1:
        raise Wrong(f"needs knots along one axis, and they have the shape {shape_text(operands[0].shape)}")


def apart(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """A decomposition whose vectors turn into each other, and the matrices that it is of."""
    own, a = operands
    if not has_turns(own.primitive):
        raise Wrong(f"needs eigenvalues or singular values, and has {own.primitive.name}")
    sizes.require_alike(a.shape, own.operands[0].shape, "the matrices and those that were decomposed")
    if a.dtype != own.operands[0].dtype:
        raise Wrong(f"matrices of {a.dtype}, and those that were decomposed are of {own.operands[0].dtype}")


def truths(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """Truth values."""
    if operands[0].dtype != "bool":
        raise Wrong(f"needs truth values, and has {operands[0].dtype}")


def unknown(params: tuple, operands: Operands, sizes: Sizes) -> None:
    """A value, another number, and truth values, alike."""
    value, x, mask = operands
    truths(params, (mask,), sizes)
    for own in (x, mask):
        sizes.require_alike(own.shape, value.shape, "the value and the others")
