"""Windows: what a gather by evenly spaced indices reads is a view of memory; kernels compute with it as such.

A convolution is a contraction with windows: ``y[n,o,i] = Σ w[o,c,k] x[n,c,s·i + d·k]``. Its derivative by ``w`` is
another one, that by ``x`` adds products up where the windows lie. Neither builds an array of all windows: they are
copied block by block, in an order that BLAS takes (im2col; Chellapilla, Puri and Simard, High performance convolutional
neural networks for document processing, 2006). ``passes/windows.py`` finds them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..program.dims import Shape
from ..program.node import Node
from .contraction import Labels
from .primitive import Params, Primitive

#: elements of the windows that are copied at a time: few enough to stay near the processor
_BLOCK = 1 << 20

MatMul = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Windows(NamedTuple):
    """A view of an array: where it begins on each axis, and for each axis of its own ``(source axis, length, step)``.

    The length is None where the axis is that of the array as it is.
    """

    starts: tuple[int, ...]
    axes: tuple[tuple[int, int | None, int], ...]

    @classmethod
    def whole(cls, rank: int) -> Windows:
        """All of an array."""
        return cls((0,) * rank, tuple([(axis, None, 1) for axis in range(rank)]))

    @classmethod
    def gathered(cls, rank: int, axis: int, length: int, index: np.ndarray) -> Windows | None:
        """What ``index`` takes of an axis of that length; None where its entries are not evenly spaced, upwards."""
        steps = _evenly(index, length)
        if steps is None:
            return None
        starts, axes = cls.whole(rank)
        own = [(axis, n, step) for n, step in zip(index.shape, steps, strict=True)]
        first = int(index.flat[0])
        return cls((*starts[:axis], first, *starts[axis + 1 :]), (*axes[:axis], *own, *axes[axis + 1 :]))

    def then(self, inner: Windows) -> Windows:
        """The view ``inner`` of this view."""
        starts = list(self.starts)
        for start, (source, _, step) in zip(inner.starts, self.axes, strict=True):
            starts[source] += start * step
        axes = []
        for k, n, step in inner.axes:
            source, own, first = self.axes[k]
            axes.append((source, own if n is None else n, first * step))
        return Windows(tuple(starts), tuple(axes))

    def shape_of(self, shape: Shape) -> Shape:
        """The shape of the view of an array of ``shape``."""
        return tuple([shape[source] if n is None else n for source, n, _ in self.axes])

    def of(self, x: np.ndarray) -> np.ndarray:
        """The view."""
        x = x[tuple([slice(start, None) for start in self.starts])]
        steps = [x.strides[source] * step for source, _, step in self.axes]
        return np.lib.stride_tricks.as_strided(x, self.shape_of(x.shape), steps, writeable=False)

    def add(self, target: np.ndarray, values: np.ndarray) -> None:
        """Add ``values``, of the shape of the view, to ``target`` where the view reads it."""
        if not values.size:
            return
        kept = self._apart(values.shape)
        steps = [target.strides[source] * step for k, (source, _, step) in enumerate(self.axes) if k in kept]
        turns = [(0,) if k in kept else range(n) for k, n in enumerate(values.shape)]
        for place in itertools.product(*turns):
            first = list(self.starts)
            for k, (source, _, step) in enumerate(self.axes):
                first[source] += place[k] * step
            part = values[tuple([slice(None) if k in kept else i for k, i in enumerate(place)])]
            begun = target[tuple([slice(start, None) for start in first])]
            read = np.lib.stride_tricks.as_strided(begun, part.shape, steps)
            read += part

    def _apart(self, shape: Shape) -> set[int]:
        """Axes along which the view reads no element twice, the longest first; the others are few."""
        kept: dict[int, list[tuple[int, int]]] = {}  # of each source axis the steps, and how many of them
        found = set()
        for k in sorted(range(len(shape)), key=lambda k: -shape[k]):
            source, _, step = self.axes[k]
            steps = sorted([*kept.get(source, []), (step, shape[k])])
            reaches = itertools.accumulate([(n - 1) * step for step, n in steps])
            if all(reach < step for reach, (step, _) in zip(reaches, steps[1:], strict=False)):
                kept[source] = steps
                found.add(k)
        return found

    @property
    def innermost(self) -> int:
        """The axis along which the view is copied fastest: the longest of the last source axis."""
        last = max(source for source, _, _ in self.axes)
        return max(
            [k for k, axis in enumerate(self.axes) if axis[0] == last], key=lambda k: self.axes[k][1] or math.inf
        )

    @property
    def leads(self) -> bool:
        """True where the first axis is that of the array, so that the view can be cut there."""
        return self.axes[0] == (0, None, 1) and self.starts[0] == 0


def even_steps(index: Node, length: Any) -> tuple[int, ...] | None:
    """The step along each axis of a constant array of evenly spaced places on an axis of ``length``; else None."""
    if index.primitive.name != "constant" or not isinstance(length, int):
        return None
    return _evenly(index.params[0].value, length)


def _evenly(index: np.ndarray, length: int) -> tuple[int, ...] | None:
    """The step along each axis of evenly spaced places on an axis of ``length``, all above 0; else None."""
    steps = steps_of(index) if index.ndim and index.size and index.dtype.kind in "iu" else None
    if steps is None:
        return None
    steps = tuple([step if n > 1 else 1 for step, n in zip(steps, index.shape, strict=True)])
    return steps if min(steps) > 0 and index.flat[0] >= 0 and index.flat[-1] < length else None


def steps_of(index: np.ndarray) -> tuple[int, ...] | None:
    """How the whole numbers in ``index`` grow along each axis; None where that is not the same everywhere."""
    first = int(index.flat[0])
    last = index.ndim - 1
    places = [tuple([int(j == k) for j in range(index.ndim)]) for k in range(index.ndim)]
    steps = tuple([int(index[at]) - first if n > 1 else 0 for at, n in zip(places, index.shape, strict=True)])
    ranges = [np.arange(n).reshape((-1,) + (1,) * (last - k)) for k, n in enumerate(index.shape)]
    even = sum([step * r for step, r in zip(steps, ranges, strict=True)], start=np.array(first))
    return steps if np.array_equal(index, np.broadcast_to(even, index.shape)) else None


class Viewed(Primitive):
    """What kernels alone compute, by ``function``; ``params = (view, labels …, shape)``.

    Derivatives and vmap know the gathers, scatters and contractions in place of which it stands.
    """

    def __init__(self, function: Callable[..., np.ndarray], adds_up: bool) -> None:
        """``adds_up``: the result is what the view reads, and has to know its sizes."""
        self.name = function.__name__
        self.function = function
        self.adds_up = adds_up

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return params[-1], operands[0].dtype, False

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return ()

    def arguments(self, params: Params) -> tuple[Any, ...]:
        """What the function is called with after the arrays."""
        view, *labels, shape = params
        as_is = {source for source, n, _ in view.axes if n is None}
        sizes = tuple([None if k in as_is else d for k, d in enumerate(shape)])
        return (tuple(view), *labels, *((sizes,) if self.adds_up else ()))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return self.function(*values, *self.arguments(params))


def _zeros(view: Windows, sizes: Sequence[int], extents: Sequence[int | None], dtype: np.dtype) -> np.ndarray:
    """Zeros that ``view`` reads: of the sizes of the view where ``extents`` does not say."""
    own = {source: sizes[k] for k, (source, n, _) in enumerate(view.axes) if n is None}
    return np.zeros([own[k] if d is None else d for k, d in enumerate(extents)], dtype)


def overlap_add(y: np.ndarray, view: Any, extents: Sequence[int | None]) -> np.ndarray:
    """Zeros with ``y`` added where ``view`` reads them.

    >>> overlap_add(np.ones((3, 2)), ((0,), ((0, 3, 1), (0, 2, 1))), (4,))
    array([1., 2., 2., 1.])
    """
    view = Windows(*view)
    result = _zeros(view, y.shape, extents, y.dtype)
    view.add(result, y)
    return result


def windowed_product(
    x: np.ndarray, other: np.ndarray, view: Any, own: Labels, others: Labels, out: Labels, matmul: MatMul = np.matmul
) -> np.ndarray:
    """``np.einsum`` of ``view`` of ``x``, labelled ``own``, with ``other``.

    >>> windowed_product(np.arange(4.0), np.array([1.0, -1.0]), ((0,), ((0, 3, 1), (0, 2, 1))), (0, 1), (1,), (0,))
    array([-1., -1., -1.])
    """
    view = Windows(*view)
    windows = view.of(x)
    last, lead = own[view.innermost], own[0]
    sizes = dict(zip((*own, *others), (*windows.shape, *other.shape), strict=True))
    result = np.zeros([sizes[i] for i in out], np.result_type(x, other))
    if not view.leads:
        return _product(windows, own, other, others, out, last, matmul)
    for part in _blocks(windows.shape):
        made = _product(windows[part], own, _cut(other, others, lead, part), others, out, last, matmul)
        into = _cut(result, out, lead, part)
        if lead in out:
            into[...] = made
        else:
            into += made
    return result


def overlapped_product(
    a: np.ndarray,
    b: np.ndarray,
    view: Any,
    own: Labels,
    others: Labels,
    out: Labels,
    extents: Sequence[int | None],
    matmul: MatMul = np.matmul,
) -> np.ndarray:
    """``np.einsum`` of ``a`` and ``b``, added up where ``view`` reads zeros.

    >>> view = ((0,), ((0, 3, 1), (0, 2, 1)))
    >>> overlapped_product(np.ones(3), np.array([1.0, 2.0]), view, (0,), (1,), (0, 1), (4,))
    array([1., 3., 3., 2.])
    """
    view = Windows(*view)
    sizes = dict(zip((*own, *others), (*a.shape, *b.shape), strict=True))
    whole = tuple([sizes[i] for i in out])
    result = _zeros(view, whole, extents, np.result_type(a, b))
    last, lead = out[view.innermost], out[0]
    for part in _blocks(whole) if view.leads else [slice(None)]:
        made = _product(_cut(a, own, lead, part), own, _cut(b, others, lead, part), others, out, last, matmul)
        view.add(result[part], made)
    return result


def _blocks(shape: Shape) -> list[slice]:
    """Parts of the first axis of an array of windows."""
    step = max(1, _BLOCK // max(math.prod(shape[1:]), 1))
    return [slice(k, min(k + step, shape[0])) for k in range(0, shape[0], step)]


def _cut(x: np.ndarray, labels: Labels, lead: int, part: slice) -> np.ndarray:
    """``x`` where a label is in a part."""
    return x[tuple([part if i == lead else slice(None) for i in labels])] if lead in labels else x


def _product(
    a: np.ndarray, own: Labels, b: np.ndarray, others: Labels, out: Labels, last: int, matmul: MatMul
) -> np.ndarray:
    """``np.einsum`` by products of matrices, with the label ``last`` innermost where an operand is copied for them."""
    sizes = dict(zip((*own, *others), (*a.shape, *b.shape), strict=True))
    both = [i for i in own if i in others and i in out]
    summed = [i for i in own if i in others and i not in out]
    rows = [i for i in own if i not in others]
    columns = [i for i in others if i not in own]
    if last in rows:
        a, own, rows, b, others, columns = b, others, columns, a, own, rows
    left = _matrices(a, own, sizes, both, rows, summed)
    right = _matrices(b, others, sizes, both, columns, summed) if last in summed else None
    right = _matrices(b, others, sizes, both, summed, columns) if right is None else right.mT
    order = [*both, *rows, *columns]
    return matmul(left, right).reshape([sizes[i] for i in order]).transpose([order.index(i) for i in out])


def _matrices(x: np.ndarray, labels: Labels, sizes: Mapping[int, int], *groups: Sequence[int]) -> np.ndarray:
    """``x`` as a stack of matrices: each group of labels as one axis."""
    moved = x.transpose([labels.index(i) for group in groups for i in group])
    return moved.reshape([math.prod([sizes[i] for i in group]) for group in groups])


OVERLAP_ADD = Viewed(overlap_add, True)
WINDOWED_PRODUCT = Viewed(windowed_product, False)
OVERLAPPED_PRODUCT = Viewed(overlapped_product, True)
