"""NumPy's products on traced values: all are contractions, each spelled as NumPy computes it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..primitives import functions as f
from ..primitives.contraction import contract
from ..program.dims import Shape
from ..program.node import Node
from .declare import Case, Given, implements
from .joining import cast_to
from .reductions import normalized_axis
from .sizes import listed
from .trace import array_node, as_node
from .tracer import Tracer, view

_PAIRS = [Case((3,), (3,)), Case((2, 3), (3,)), Case((3,), (3, 4)), Case((2, 3), (3, 4)), Case((2, 0), (0, 3))]
_BATCHES = [Case((5, 2, 3), (5, 3, 4)), Case((5, 2, 3), (3, 4)), Case((1, 2, 3), (5, 3, 1)), Case((3,), (5, 3, 2))]


def _fail(name: str, a: Node, b: Node) -> ShapeError:
    return ShapeError.here(f"{name}: shapes {a.shape} and {b.shape} do not fit")


@implements(np.matmul, cases=[*_PAIRS, *_BATCHES])
def _matmul(a, b):
    x, y = as_node(a), as_node(b)
    labels = _labels_of_matmul(x.shape, y.shape)
    if labels is None:
        raise _fail("matmul", x, y)
    return Tracer(contract([x, y], *labels, "matmul"))


@functools.lru_cache(maxsize=1 << 12)
def _labels_of_matmul(x: Shape, y: Shape) -> tuple[list, tuple, tuple] | None:
    """The labels of both operands and of the result, and the sizes of all; None where the shapes do not fit."""
    if not x or not y or x[-1] != y[-2 if len(y) > 1 else -1]:
        return None
    rank = max(len(x[:-2]), len(y[:-2]))
    sizes: list[Any] = [1] * rank + [0, 0, 0]
    row, inner, column = rank, rank + 1, rank + 2
    labels = []
    for shape, tail in ((x, (row, inner)[2 - min(len(x), 2) :]), (y, (inner, column)[: min(len(y), 2)])):
        lead = shape[:-2]
        own = []
        for axis, d in enumerate(lead, start=rank - len(lead)):
            if sizes[axis] != 1 and d not in (1, sizes[axis]):
                return None
            if d == 1:
                sizes.append(1)
                own.append(len(sizes) - 1)
            else:
                sizes[axis] = d
                own.append(axis)
        for label, d in zip(tail, shape[len(lead) :], strict=True):
            sizes[label] = d
        labels.append((*own, *tail))
    out = (*range(rank), *((row,) if len(x) > 1 else ()), *((column,) if len(y) > 1 else ()))
    return labels, out, tuple(sizes)


@implements(np.dot, cases=[*_PAIRS, Case((), (2, 3)), Case((2, 3), (4, 3, 2))])
def _dot(a, b):
    x, y = array_node(a), array_node(b)
    if not x.ndim or not y.ndim:
        return _contract_axes(x, y, (), (), "dot")
    axis = y.ndim - 2 if y.ndim > 1 else 0
    if x.shape[-1] != y.shape[axis]:
        raise _fail("dot", x, y)
    return _contract_axes(x, y, (x.ndim - 1,), (axis,), "dot")


def _contract_axes(x: Node, y: Node, axes_x: tuple, axes_y: tuple, spelling: str) -> Tracer:
    labels_x = tuple(range(x.ndim))
    labels_y = [x.ndim + k for k in range(y.ndim)]
    for i, j in zip(axes_x, axes_y, strict=True):
        labels_y[j] = labels_x[i]
    out = tuple(k for k in labels_x if k not in axes_x)
    out += tuple(label for k, label in enumerate(labels_y) if k not in axes_y)
    return Tracer(contract([x, y], [labels_x, tuple(labels_y)], out, x.shape + y.shape, spelling))


@implements(np.inner, cases=[Case((3,), (3,)), Case((2, 3), (4, 3)), Case((), (3,))])
def _inner(a, b):
    x, y = array_node(a), array_node(b)
    if not x.ndim or not y.ndim:
        return _contract_axes(x, y, (), (), "inner")
    if x.shape[-1] != y.shape[-1]:
        raise _fail("inner", x, y)
    return _contract_axes(x, y, (x.ndim - 1,), (y.ndim - 1,), "inner")


@implements(np.vdot, cases=[Case((3,), (3,)), Case((2, 3), (3, 2)), Case((), ())])
def _vdot(a, b):
    x, y = as_node(Tracer(array_node(a)).ravel()), as_node(Tracer(array_node(b)).ravel())
    if x.shape != y.shape:
        raise _fail("vdot", x, y)
    if x.is_complex:
        return _contract_axes(f.conjugate(x), y, (0,), (0,), "dot")
    return _contract_axes(x, y, (0,), (0,), "vdot")


def _each_axis(axes: Any, x: Node) -> tuple[int, ...]:
    return tuple(normalized_axis(k, x.ndim) for k in listed(axes))


@implements(
    np.tensordot,
    cases=[
        Case((2, 3, 4), (3, 4, 5)),
        Case((2, 3), (3, 4), axes=1),
        Case((2, 3), (4,), axes=0),
        Case((2, 3, 4), (4, 2), axes=([0, 2], [1, 0])),
    ],
)
def _tensordot(a, b, axes: Any = 2):
    x, y = array_node(a), array_node(b)
    first, second = (range(-axes, 0), range(axes)) if isinstance(axes, int) else axes
    axes_x, axes_y = _each_axis(first, x), _each_axis(second, y)
    if len(axes_x) != len(axes_y) or any(x.shape[i] != y.shape[j] for i, j in zip(axes_x, axes_y, strict=True)):
        raise _fail("tensordot", x, y)
    return _contract_axes(x, y, axes_x, axes_y, "tensordot")


@implements(
    np.einsum,
    cases=[
        Case(Given("ij,jk->ik"), (2, 3), (3, 4)),
        Case(Given("ij->ji"), (2, 3)),
        Case(Given("ii->i"), (3, 3)),
        Case(Given("ii"), (3, 3)),
        Case(Given("i,j,k->ijk"), (2,), (3,), (2,)),
        Case(Given("...ij,...jk->...ik"), (5, 2, 3), (5, 3, 4)),
        Case(Given("ij,ij->"), (2, 3), (2, 3)),
        Case(Given("ki,kj,k->ij"), (4, 2), (4, 3), (4,)),
        Case(Given("ij,ij->ij"), (2, 3), (1, 3)),
        Case((2, 3), Given([0, 1]), (3, 4), Given([1, 2]), Given([0, 2])),
    ],
)
def _einsum(*operands, optimize=False, dtype=None, casting="safe", **kwargs):
    spelling = "" if optimize is not False else "einsum"  # in what order, and by which products, is left open
    from opt_einsum.parser import parse_einsum_input

    spelled = isinstance(operands[0], str)
    arrays = operands[1:] if spelled else operands[: len(operands) - len(operands) % 2 : 2]
    nodes = list(map(array_node, arrays))
    nodes = nodes if dtype is None else [cast_to(n, np.dtype(dtype), casting) for n in nodes]
    stand_ins = [np.zeros((1,) * n.ndim) for n in nodes]
    form = [operands[0], *stand_ins] if spelled else [*operands]
    if not spelled:  # arrays and lists of axes in turn
        form[: 2 * len(nodes) : 2] = stand_ins
    try:
        inputs, output, _ = parse_einsum_input(form)
    except ValueError as error:
        raise ShapeError.here(f"einsum: {error}") from error
    terms = inputs.split(",")
    extent: dict[str, Any] = {}
    for letters, node in zip(terms, nodes, strict=True):
        if len(letters) != node.ndim:
            raise ShapeError.here(f"einsum: {letters!r} does not fit an array of shape {node.shape}")
        for letter, d in zip(letters, node.shape, strict=True):
            if extent.get(letter, 1) == 1:
                extent[letter] = d
            elif d not in (1, extent[letter]):
                raise ShapeError.here(f"einsum: axis {letter!r} has sizes {extent[letter]} and {d}")
    number = {letter: k for k, letter in enumerate(extent)}
    sizes = list(extent.values())
    labels = []
    for letters, node in zip(terms, nodes, strict=True):
        own = []
        for letter, d in zip(letters, node.shape, strict=True):
            if d == extent[letter]:
                own.append(number[letter])
            else:  # a unit axis that broadcasts has a label of its own
                sizes.append(1)
                own.append(len(sizes) - 1)
        labels.append(tuple(own))
    out = tuple(number[c] for c in output)
    if len(nodes) == 1 and set(labels[0]) <= set(out):  # nothing is summed
        return view(arrays[0], lambda base: contract([base], labels, out, sizes, spelling))
    return Tracer(contract(nodes, labels, out, sizes, spelling))
