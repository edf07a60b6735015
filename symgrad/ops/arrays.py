"""Operators on whole arrays: products, reductions, shaping, joining and choosing."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from .operator import operator

__all__ = [
    "AddN",
    "BatchMatMul",
    "BiasAdd",
    "BroadcastTo",
    "Cast",
    "Concat",
    "CumSum",
    "ExpandDims",
    "Flatten",
    "Gather",
    "Identity",
    "MatMul",
    "OneHot",
    "OnesLike",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Reshape",
    "Select",
    "Split",
    "Squeeze",
    "Stack",
    "Tile",
    "Transpose",
    "ZerosLike",
]


@operator
def MatMul(a, b, *, transpose_a=False, transpose_b=False):
    """The matrix product over the last two axes, each side transposed there where its option says so.

    Shapes ``(…, n, k)`` and ``(…, k, m)`` give ``(…, n, m)``; sizes that do not fit are a ShapeError.

    >>> MatMul(transpose_b=True)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    shapes = np.shape(left), np.shape(right)
    if all(len(s) > 1 for s in shapes) and shapes[0][-1] != shapes[1][-2]:
        raise ShapeError(
            f"MatMul: the left side has {shapes[0][-1]} columns and the right side {shapes[1][-2]} rows, they must "
            f"be equal; x has shape {np.shape(a)} (transpose_a={transpose_a}), y has shape {np.shape(b)} "
            f"(transpose_b={transpose_b})."
        )
    return np.matmul(left, right)


@operator
def BatchMatMul(a, b, *, transpose_a=False, transpose_b=False):
    """``MatMul`` of stacks of matrices.

    >>> BatchMatMul()(np.ones((2, 1, 3)), np.ones((2, 3, 1))).shape
    (2, 1, 1)
    """
    return MatMul(transpose_a, transpose_b)(a, b)


@operator
def BiasAdd(x, bias):
    """``x`` of shape ``(n, c, …)`` with ``bias`` of shape ``(c,)`` added along axis 1.

    >>> BiasAdd()(np.zeros((1, 2)), np.array([1.0, 2.0]))
    array([[1., 2.]])
    """
    shape, size = np.shape(x), np.shape(bias)
    if len(shape) < 2 or size != shape[1:2]:
        raise ShapeError(f"BiasAdd: x has shape {shape} and bias {size}; bias must have the length of axis 1 of x.")
    return np.add(x, np.reshape(bias, (*size, *[1] * (len(shape) - 2))))


def _axes(axis: Any) -> Any:
    return None if axis is None or (isinstance(axis, (tuple, list)) and not axis) else axis


@operator
def ReduceSum(x, axis=(), *, keep_dims=False):
    """The sum over ``axis`` (an int or several; ``()`` is all), the axes kept with length 1 by ``keep_dims``.

    >>> ReduceSum(keep_dims=True)(np.ones((2, 3)), 1)
    array([[3.],
           [3.]])
    """
    return np.sum(x, axis=_axes(axis), keepdims=keep_dims)


@operator
def ReduceMean(x, axis=(), *, keep_dims=False):
    """The mean over ``axis``; as ``ReduceSum``.

    >>> ReduceMean()(np.array([1.0, 3.0]))
    np.float64(2.0)
    """
    return np.mean(x, axis=_axes(axis), keepdims=keep_dims)


@operator
def ReduceMax(x, axis=(), *, keep_dims=False):
    """The largest over ``axis``; as ``ReduceSum``. Ties share the derivative.

    >>> ReduceMax()(np.array([1.0, 3.0]))
    np.float64(3.0)
    """
    return np.max(x, axis=_axes(axis), keepdims=keep_dims)


@operator
def ReduceMin(x, axis=(), *, keep_dims=False):
    """The smallest over ``axis``; as ``ReduceSum``. Ties share the derivative.

    >>> ReduceMin()(np.array([1.0, 3.0]))
    np.float64(1.0)
    """
    return np.min(x, axis=_axes(axis), keepdims=keep_dims)


@operator
def ReduceProd(x, axis=(), *, keep_dims=False):
    """The product over ``axis``; as ``ReduceSum``.

    >>> ReduceProd()(np.array([2.0, 3.0]))
    np.float64(6.0)
    """
    return np.prod(x, axis=_axes(axis), keepdims=keep_dims)


@operator
def CumSum(x, axis):
    """The running sum along ``axis``.

    >>> CumSum()(np.array([1.0, 2.0]), 0)
    array([1., 3.])
    """
    return np.cumsum(x, axis=axis)


@operator
def AddN(arrays):
    """The sum of a list of arrays.

    >>> AddN()([1.0, 2.0, 3.0])
    np.float64(6.0)
    """
    if not len(arrays):
        raise ArgumentError("AddN: the list of arrays is empty; give one or more.")
    return functools.reduce(np.add, arrays)


@operator
def Transpose(x, perm):
    """The axes of ``x`` in the order ``perm``.

    >>> Transpose()(np.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return np.transpose(x, perm)


@operator
def Reshape(x, shape):
    """The same elements as ``shape``; one size may be -1.

    >>> Reshape()(np.ones((2, 3)), (-1,)).shape
    (6,)
    """
    return np.reshape(x, shape)


@operator
def Flatten(x):
    """All axes but the first as one.

    >>> Flatten()(np.ones((2, 3, 4))).shape
    (2, 12)
    """
    return np.reshape(x, (np.shape(x)[0], -1))


@operator
def Squeeze(x, *, axis=()):
    """``x`` without axes of length 1: those in ``axis``, or all of them.

    >>> Squeeze(0)(np.ones((1, 3, 1))).shape
    (3, 1)
    """
    return np.squeeze(x, axis=_axes(axis))


@operator
def ExpandDims(x, axis):
    """``x`` with an axis of length 1 at ``axis``.

    >>> ExpandDims()(np.ones(3), 0).shape
    (1, 3)
    """
    return np.expand_dims(x, axis)


@operator
def Concat(arrays, *, axis=0):
    """The arrays one after another along ``axis``.

    >>> Concat(axis=1)([np.ones((2, 1)), np.zeros((2, 1))])
    array([[1., 0.],
           [1., 0.]])
    """
    return np.concatenate(arrays, axis=axis)


@operator
def Stack(arrays, *, axis=0):
    """The arrays along a new axis.

    >>> Stack()([np.ones(2), np.zeros(2)]).shape
    (2, 2)
    """
    return np.stack(arrays, axis=axis)


@operator
def Split(x, *, axis=0, output_num=1):
    """``output_num`` equal parts of ``x`` along ``axis``, as a tuple.

    >>> Split(0, 2)(np.arange(4.0))
    (array([0., 1.]), array([2., 3.]))
    """
    return tuple(np.split(x, output_num, axis=axis))


@operator
def Tile(x, multiples):
    """``x`` repeated ``multiples`` times along each axis.

    >>> Tile()(np.array([1.0, 2.0]), (2,))
    array([1., 2., 1., 2.])
    """
    return np.tile(x, multiples)


@operator
def BroadcastTo(x, *, shape):
    """``x`` broadcast to ``shape``.

    >>> BroadcastTo((2, 3))(np.ones(3)).shape
    (2, 3)
    """
    return np.broadcast_to(x, shape)


@operator
def Gather(x, indices, axis):
    """The entries of ``axis`` that the integers ``indices`` name.

    >>> Gather()(np.array([5.0, 6.0, 7.0]), np.array([2, 0]), 0)
    array([7., 5.])
    """
    return np.take(x, indices, axis=axis)


@operator
def Select(condition, x, y):
    """``x`` where the condition holds, ``y`` elsewhere; the branch not taken has derivative 0.

    >>> Select()(np.array([True, False]), np.ones(2), np.zeros(2))
    array([1., 0.])
    """
    return np.where(condition, x, y)


@operator
def OneHot(indices, depth, on_value, off_value, *, axis=-1):
    """``on_value`` where the new axis, of length ``depth``, has the index, ``off_value`` elsewhere.

    >>> OneHot()(np.array([1, 0]), 3, 1.0, 0.0)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    hit = np.equal(np.expand_dims(indices, -1), np.arange(depth))
    return np.moveaxis(np.where(hit, on_value, off_value), -1, axis)


@operator
def Cast(x, dtype):
    """``x`` as ``dtype``; from floats to integers it is cut, and has no derivative.

    >>> from symgrad import float32
    >>> Cast()(np.array([1.0]), float32)
    array([1.], dtype=float32)
    """
    return (x if hasattr(x, "astype") else np.asarray(x)).astype(dtype)


@operator
def ZerosLike(x):
    """Zeros of the shape and dtype of ``x``.

    >>> ZerosLike()(np.ones(2))
    array([0., 0.])
    """
    return np.zeros_like(x)


@operator
def OnesLike(x):
    """Ones of the shape and dtype of ``x``.

    >>> OnesLike()(np.zeros(2))
    array([1., 1.])
    """
    return np.ones_like(x)


@operator
def Identity(x):
    """``x`` itself.

    >>> Identity()(2.0)
    2.0
    """
    return x
