"""One element of what an operation gives, in terms of elements of its operands: a rule an operation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..primitives.identity import IDENTITIES
from ..primitives.selection import full
from ..primitives.windows import even_steps, steps_of
from ..program.dims import is_concrete, normal
from ..program.node import Node
from . import fourier
from .bound import Applied, ExtremumOver, SearchOver
from .cases import cases, over
from .linalg import FORMS as LINEAR_ALGEBRA
from .linalg import all_of
from .positions import reshaped, same, solved, turned, unflattened
from .rotations import Rotation, rotations
from .symbols import as_number, gated

if TYPE_CHECKING:
    from .index_form import IndexForm


def broadcast_index(index: tuple, node: Node, operand: Node) -> tuple:
    own = index[len(index) - len(operand.shape) :]
    wide = node.shape[len(node.shape) - len(operand.shape) :]
    return tuple(sympy.Integer(0) if d == 1 and e != 1 else i for i, d, e in zip(own, operand.shape, wide, strict=True))


def _einsum(form: IndexForm, node: Node, index: tuple) -> Any:
    labels, out, sizes, _ = node.params
    place: dict[int, Any] = {}
    factors = []
    for label, i in zip(out, index, strict=True):
        if label in place:
            factors.append(sympy.KroneckerDelta(place[label], i))
        place.setdefault(label, i)
    ranges = []
    for label in dict.fromkeys(i for ls in labels for i in ls):
        if label not in place:
            if sizes[label] == 1:
                place[label] = sympy.Integer(0)
            else:
                place[label] = form.indices.fresh(sizes[label])
                ranges.append((place[label], sizes[label]))
    for operand, ls in zip(node.operands, labels, strict=True):
        factors.append(as_number(form.at(operand, tuple(place[i] for i in ls))))
    return form.summed(sympy.Mul(*factors), ranges[::-1])


def _gate(form: IndexForm, node: Node, index: tuple) -> Any:
    m, t = (form.at(o, broadcast_index(index, node, o)) for o in node.operands)
    return gated(m, t)


def _slice(form: IndexForm, node: Node, index: tuple) -> Any:
    rest = iter(index)
    inner = [e[0] + e[2] * next(rest) if isinstance(e, tuple) else sympy.sympify(e) for e in node.params[0]]
    return form.at(node.operands[0], tuple(inner))


def _reshape(form: IndexForm, node: Node, index: tuple) -> Any:
    (x,) = node.operands
    wide = [i for i, d in zip(index, node.shape, strict=True) if d != 1]
    if [d for d in x.shape if d != 1] == [d for d in node.shape if d != 1]:
        rest = iter(wide)
        return form.at(x, tuple(sympy.Integer(0) if d == 1 else next(rest) for d in x.shape))
    return form.at(x, reshaped(index, node.shape, x.shape, form.indices.sizes))


def _turned(form: IndexForm, turn: Rotation, shape: tuple, index: tuple) -> Any:
    axis = turn.axis
    place = turned(index[axis], turn.shift, shape[axis], form.indices.sizes)
    return form.at(turn.source, (*index[:axis], place, *index[axis + 1 :]))


def _assemble(form: IndexForm, node: Node, index: tuple) -> Any:
    _, specs = node.params
    turns, others = rotations(list(zip(node.operands, specs, strict=True)), node.shape)
    total: Any = sum([as_number(_turned(form, turn, node.shape, index)) for turn in turns], start=sympy.Integer(0))
    by_zone = _by_zone(form, others, node.shape, index)
    if by_zone is not None:
        return total + by_zone
    for piece, spec in others:
        inner, tests = [], []
        for i, e, d in zip(index, spec, node.shape, strict=True):
            if not isinstance(e, tuple):
                tests.append(sympy.Eq(i, e))
            elif e != (0, d, 1):
                start, length, step = e
                inner.append((i - start) / step)
                tests += _inside(i, start, length, step, d)
            else:
                inner.append(i)
        element = as_number(form.at(piece, tuple(inner)))
        total += cases((element, sympy.And(*tests)), (0, True)) if tests else element
    return total


def _by_zone(form: IndexForm, pieces: list[tuple[Node, Any]], shape: tuple, index: tuple) -> Any:
    """The sum of pieces of one axis as cases, from its start to its end; None where each is told better on its own."""
    partial = {k for _, spec in pieces for k, (e, d) in enumerate(zip(spec, shape, strict=True)) if e != (0, d, 1)}
    if len(pieces) < 2 or len(partial) != 1:
        return None
    (axis,) = partial
    runs = [spec[axis] for _, spec in pieces]
    if any(not isinstance(e, tuple) or e[2] != 1 or not is_concrete((*e, shape[axis])) for e in runs):
        return None
    ends = sorted({0, shape[axis], *(e[0] for e in runs), *(e[0] + e[1] for e in runs)})
    if len(ends) - 1 > 2 * len(pieces):
        return None
    i = index[axis]
    zones: list[Any] = []
    for first, end in itertools.pairwise(ends):
        place = i if end - first > 1 else sympy.Integer(first)
        value: Any = sympy.Integer(0)
        for (piece, _), (start, length, _) in zip(pieces, runs, strict=True):
            if start <= first < start + length:
                value += as_number(form.at(piece, (*index[:axis], place - start, *index[axis + 1 :])))
        zones.append((value, True if end == shape[axis] else i < end))
    return cases(*zones)


def _inside(i: Any, start: Any, length: Any, step: Any, size: Any) -> list[Any]:
    """What an index of an axis of ``size`` is where a slice of it is."""
    if length == 1:
        return [sympy.Eq(i, start)]
    tests = [(i - start) / step >= 0, (i - start) / step < length]
    if step == 1 and start + length == size:
        return tests[:1]  # no index is further
    return tests if abs(step) == 1 else [*tests, sympy.Eq(sympy.Mod(i - start, step), 0)]


def _concatenate(form: IndexForm, node: Node, index: tuple) -> Any:
    (axis,) = node.params
    pieces, start = [], 0
    for part in node.operands:
        spec = (*full(part.shape[:axis]), (start, part.shape[axis], 1), *full(part.shape[axis + 1 :]))
        pieces.append((part, spec))
        start = normal(start + part.shape[axis])
    turns, others = rotations(pieces, node.shape)
    if turns and not others:
        return _turned(form, turns[0], node.shape, index)
    branches, start = [], 0
    for k, part in enumerate(node.operands):
        inner = (*index[:axis], index[axis] - start, *index[axis + 1 :])
        start = start + part.shape[axis]
        last = k == len(node.operands) - 1
        branches.append((as_number(form.at(part, inner)), True if last else index[axis] < start))
    return cases(*branches)


def _gather(form: IndexForm, node: Node, index: tuple) -> Any:
    x, chosen = node.operands
    (axis,) = node.params
    before, own, after = index[:axis], index[axis : axis + chosen.ndim], index[axis + chosen.ndim :]
    dims = _merged(x, axis) if chosen.primitive.name == "constant" else ()
    if dims:
        return form.at(x.operands[0], (*before, *_unraveled(form, chosen, own, dims), *after))
    return form.at(x, (*before, _chosen(form, chosen, own, x.shape[axis]), *after))


def _merged(x: Node, axis: int) -> tuple[int, ...]:
    """The axes that a reshape has made that one of; none where it has not."""
    if x.primitive.name != "reshape" or not is_concrete(x.operands[0].shape):
        return ()
    shape = x.operands[0].shape
    end = axis + len(shape) - len(x.shape) + 1
    return shape[axis:end] if x.shape == (*shape[:axis], math.prod(shape[axis:end]), *shape[end:]) else ()


def _unraveled(form: IndexForm, chosen: Node, index: tuple, dims: tuple[int, ...]) -> list[Any]:
    """The place on each of the axes ``dims`` that a constant array names, which counts through them all."""
    value = np.asarray(chosen.params[0].value)
    if not value.size or value.min() < 0 or value.max() >= math.prod(dims):
        return list(unflattened(form.at(chosen, index), dims, form.indices.sizes))
    found: list[Any] = []
    for k, places in enumerate(np.unravel_index(value, dims)):
        read = evenly(places, index)
        if read is not None:
            found.append(read)
            continue
        whole, stride = form.at(chosen, index), math.prod(dims[k + 1 :])
        quotient = sympy.floor(whole / stride) if stride > 1 else whole
        found.append(sympy.Mod(quotient, dims[k]) if k else quotient)
    return found


def is_spaced(value: np.ndarray) -> bool:
    """True for an array of whole numbers that are evenly spaced along each axis: an index says them."""
    return evenly(value, (0,) * value.ndim) is not None


def evenly(value: np.ndarray, index: tuple) -> Any:
    """An element of whole numbers that are evenly spaced along each axis; None of others."""
    steps = steps_of(value) if value.size and value.dtype.kind in "iu" else None
    if steps is None:
        return None
    return sympy.Add(int(value.flat[0]), *[step * i for step, i in zip(steps, index, strict=True)])


def _scatter(form: IndexForm, node: Node, index: tuple) -> Any:
    y, chosen = node.operands
    axis, _ = node.params
    inner = tuple(map(form.indices.fresh, chosen.shape))
    sizes = form.indices.sizes
    places = sympy.sympify(_chosen(form, chosen, inner, node.shape[axis]))
    given, ranges, left = solved(same(index[axis], places, sizes), inner, sizes)
    at = form.at(y, (*index[:axis], *[given.get(k, k) for k in inner], *index[axis + 1 :]))
    equal = [(place, sum_of.xreplace(given)) for place, sum_of in left]
    element = sympy.sympify(as_number(at)).xreplace({b: a for a, b in equal if not b.is_Symbol and not b.is_number})
    bound = {k for k, _, _ in ranges}
    free = [(k, d) for k, d in zip(inner, chosen.shape, strict=True) if k not in given and k not in bound]
    total = form.summed(sympy.Mul(*[sympy.KroneckerDelta(a, b) for a, b in equal], element), free)
    for limits in ranges:
        total = over(sympy.Sum, total, limits)
    return total


def _chosen(form: IndexForm, chosen: Node, index: tuple, length: Any) -> Any:
    """The place that an array of indices names: ``2 i + k`` where its entries are evenly spaced."""
    if even_steps(chosen, length) is None:
        return form.at(chosen, index)
    return evenly(chosen.params[0].value, index)


def _over_axes(form: IndexForm, node: Node, index: tuple) -> tuple[Any, list[tuple]]:
    (x,) = node.operands
    rest = iter(index)
    inner, ranges = [], []
    for axis, d in enumerate(x.shape):
        if axis in node.params[0]:
            inner.append(form.indices.fresh(d))
            ranges.append((inner[-1], d))
        else:
            inner.append(next(rest))
    return form.at(x, tuple(inner)), ranges


def _extremum(form: IndexForm, node: Node, index: tuple) -> Any:
    element, ranges = _over_axes(form, node, index)
    for k, size in ranges[::-1]:
        element = ExtremumOver(sympy.Symbol(node.primitive.name), as_number(element), k, size)
    return element


def _product(form: IndexForm, node: Node, index: tuple) -> Any:
    element, ranges = _over_axes(form, node, index)
    for k, size in ranges[::-1]:
        element = over(sympy.Product, element, (k, 0, size - 1))
    return element


def _accumulation(form: IndexForm, node: Node, index: tuple) -> Any:
    axis, backwards = node.params
    k = form.indices.fresh(node.shape[axis])
    element = form.at(node.operands[0], (*index[:axis], k, *index[axis + 1 :]))
    first, last = (index[axis], node.shape[axis] - 1) if backwards else (0, index[axis])
    if node.primitive.name == "cumsum" and k not in sympy.sympify(element).free_symbols:
        return element * (last - first + 1)
    return over(sympy.Sum if node.primitive.name == "cumsum" else sympy.Product, element, (k, first, last))


def _convolve(form: IndexForm, node: Node, index: tuple) -> Any:
    a, v = node.operands
    (i,), k = index, form.indices.fresh(a.shape[0])
    element = as_number(form.at(a, (k,))) * as_number(form.at(v, (i - k,)))
    return over(sympy.Sum, element, (k, sympy.Max(0, i - v.shape[0] + 1), sympy.Min(i, a.shape[0] - 1)))


def _search(form: IndexForm, node: Node, index: tuple) -> Any:
    (x,), (axis,) = node.operands, node.params
    k = form.indices.fresh(x.shape[axis])
    keeps = node.ndim == x.ndim
    before, place, after = index[:axis], index[axis : axis + keeps], index[axis + keeps :]
    element = as_number(form.at(x, (*before, k, *after)))
    return SearchOver(sympy.Symbol(node.primitive.name), element, k, x.shape[axis], *place)


def _search_sorted(form: IndexForm, node: Node, index: tuple) -> Any:
    knots, values = node.operands
    k = form.indices.fresh(knots.shape[0])
    name = sympy.Symbol(f"searchsorted_{node.params[0]}")
    element, value = as_number(form.at(knots, (k,))), as_number(form.at(values, index))
    return SearchOver(name, element, k, knots.shape[0], value)


def external(form: IndexForm, node: Node, index: tuple) -> Any:
    """An element of what a function gives, of the example that the leading indices name."""
    call, _, _, levels = node.params
    operands = []
    for k, o in enumerate(node.operands):
        lead = tuple([i for i, (flags, _) in zip(index, levels, strict=False) if flags[k]])
        operands.append(all_of(form, o, lead))
    return Applied(sympy.Symbol(call.name), sympy.Tuple(*index[len(levels) :]), *operands)


def _same(form: IndexForm, node: Node, index: tuple) -> Any:
    return form.at(node.operands[0], index)


RULES: dict[str, Callable[[IndexForm, Node, tuple], Any]] = {
    "einsum": _einsum,
    "gate": _gate,
    "cast": _same,
    **dict.fromkeys(IDENTITIES, _same),
    "slice": _slice,
    "reshape": _reshape,
    "assemble": _assemble,
    "concatenate": _concatenate,
    "gather": _gather,
    "scatter": _scatter,
    "max": _extremum,
    "min": _extremum,
    "prod": _product,
    "cumsum": _accumulation,
    "cumprod": _accumulation,
    "convolve": _convolve,
    **dict.fromkeys(("fft", "rfft", "irfft"), fourier.element),
    "argmax": _search,
    "argmin": _search,
    "argsort": _search,
    "searchsorted": _search_sorted,
    **LINEAR_ALGEBRA,
}
