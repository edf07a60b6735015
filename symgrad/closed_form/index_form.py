"""The index form: one element of an output, at indices ``i, j, …``, as a formula that holds for all of them.

Arrays are ``sympy.Indexed``, contractions are ``Sum``, δ is ``KroneckerDelta``; indices count from 0. The
form does not grow with the arrays and holds for named dims too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy

from ..primitives.elementwise import SLOTS, Elementwise
from ..primitives.external import External
from ..primitives.index_arrays import counted_index
from ..primitives.windows import even_steps, steps_of
from ..program.dims import is_concrete
from ..program.node import Node
from ..program.program import Program
from . import fourier
from .bound import Applied, ExtremumOver, SearchOver
from .cases import cases, over, too_many_cases
from .linalg import FORMS as LINEAR_ALGEBRA
from .positions import divided, joined, reshaped, unflattened
from .symbols import Indices, as_number, binding_names, gated, instantiate, is_condition, number, safe_names, symbol


def _constants(program: Program) -> list[Node]:
    return [n for n in program.nodes if n.primitive.name == "constant"]


def constant_names(program: Program) -> dict[str, np.ndarray]:
    """The arrays that the function captured, by the names that the index form gives them."""
    return {name: np.asarray(n.params[0].value) for n, name in _constant_labels(program).items()}


def _constant_labels(program: Program) -> dict[Node, str]:
    """What captured arrays are called, beside the inputs."""
    nodes = _constants(program)
    names = safe_names([*program.names, *(f"c_{k}" for k in range(len(nodes)))])
    return dict(zip(nodes, names[len(program.names) :], strict=True))


class IndexForm:
    """Writes nodes of one program at given indices; ``leaf`` may name further nodes instead of opening them."""

    def __init__(self, program: Program, leaf: Callable[[Node], str | None] = lambda _: None) -> None:
        names = safe_names(program.names)
        self._names = dict(zip(program.inputs, names, strict=True))
        self._names |= _constant_labels(program)
        self._leaf = leaf
        self.indices = Indices(program)
        self._memo: dict[Any, Any] = {}

    def element(self, node: Node, index: Sequence[int]) -> sympy.Basic:
        """The element of ``node`` at whole numbers."""
        self.indices.rewind(0)
        self._memo = {}
        return self._right(self.at(node, tuple(map(sympy.Integer, index)), opened=True), ())

    def output(self, node: Node) -> tuple[tuple[sympy.Symbol, ...], sympy.Basic]:
        """Fresh free indices and the element of ``node`` there."""
        self.indices.rewind(0)
        self._memo = {}
        free = tuple(map(self.indices.fresh, node.shape))
        return free, self._right(self.at(node, free, opened=True), free)

    def _right(self, value: Any, free: tuple[sympy.Symbol, ...]) -> sympy.Basic:
        """The formula as a number, of which every index but the free ones is bound."""
        element = sympy.sympify(as_number(value))
        # sympy moves cases out of nested sums, over the sums that bind their indices; such a form is not right
        if any(s in self.indices.sizes and s not in free for s in element.free_symbols):
            raise too_many_cases()
        return element

    def at(self, node: Node, index: tuple, opened: bool = False) -> Any:
        """The element of ``node`` at ``index``; depth is bounded by the size budget."""
        key = (node, index)
        if key not in self._memo:
            name = None if opened else self._leaf(node)
            self._memo[key] = self._named(name, node, index) if name else self._open(node, index)
        return self._memo[key]

    def _named(self, name: str, node: Node, index: tuple) -> Any:
        base = named_array(name, node.shape, node.dtype)
        return base[index] if node.shape else base

    def _open(self, node: Node, index: tuple) -> Any:
        name = node.primitive.name
        if name == "input":
            return self._named(self._names[node], node, index)
        if name == "literal":
            return number(node.params[0])
        if name == "dim":
            return node.params[0]
        if name == "constant":
            value = node.params[0].value
            uniform = value.size and (value == value.flat[0]).all()
            return number(value.flat[0]) if uniform else self._named(self._names[node], node, index)
        wrapped = counted_index(node)
        if wrapped is not None:  # the index is within its axis, or nothing is computed
            return sympy.Mod(self.at(wrapped[0], _broadcast_index(index, node, wrapped[0])), wrapped[1])
        if isinstance(node.primitive, Elementwise):
            values = [self.at(o, _broadcast_index(index, node, o)) for o in node.operands]
            read = self._of_integers(node, values)
            return instantiate(node.primitive.expr, SLOTS, values) if read is None else read
        return _external(self, node, index) if isinstance(node.primitive, External) else _FORMS[name](self, node, index)

    def _of_integers(self, node: Node, values: list[Any]) -> Any:
        """An operation of positions that says which indices these are made of; None for any other."""
        if node.dtype.kind not in "iu" or any(map(is_condition, values)):
            return None
        if node.primitive.name in ("floor_divide", "remainder"):
            parts = divided(values[0], values[1], self.indices.sizes)
            return None if parts is None else parts[node.primitive.name == "remainder"]
        return joined(values[0] + values[1]) if node.primitive.name == "add" else None

    def summed(self, body: Any, ranges: list[tuple]) -> Any:
        """``Σ body`` over ranges, those that the body does not depend on as factors."""
        for k, size in ranges:
            body = sympy.sympify(body)
            if not body.has(k):
                body = body * size
                continue
            if any(_has_cases_of_its_own(s) for s in body.atoms(sympy.Sum)):
                raise too_many_cases()  # at once: sympy takes minutes to move many of them
            body = over(sympy.Sum, body, (k, 0, size - 1))
        return body


def _has_cases_of_its_own(total: Any) -> bool:
    """True for a sum of cases that its index decides."""
    return any(
        not test.free_symbols.isdisjoint(total.variables)
        for cases in total.function.atoms(sympy.Piecewise)
        for _, test in cases.args
    )


def _broadcast_index(index: tuple, node: Node, operand: Node) -> tuple:
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
    m, t = (form.at(o, _broadcast_index(index, node, o)) for o in node.operands)
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


def _assemble(form: IndexForm, node: Node, index: tuple) -> Any:
    _, specs = node.params
    total: Any = sympy.Integer(0)
    for piece, spec in zip(node.operands, specs, strict=True):
        inner, tests = [], []
        for i, e, d in zip(index, spec, node.shape, strict=True):
            if not isinstance(e, tuple):
                tests.append(sympy.Eq(i, e))
            elif e != (0, d, 1):
                start, length, step = e
                inner.append((i - start) / step)
                tests += [(i - start) / step >= 0, (i - start) / step < length]
                if abs(step) != 1:
                    tests.append(sympy.Eq(sympy.Mod(i - start, step), 0))
            else:
                inner.append(i)
        element = as_number(form.at(piece, tuple(inner)))
        total += cases((element, sympy.And(*tests)), (0, True)) if tests else element
    return total


def _concatenate(form: IndexForm, node: Node, index: tuple) -> Any:
    (axis,) = node.params
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
        steps, stride = steps_of(places), math.prod(dims[k + 1 :])
        if steps is None:
            whole = form.at(chosen, index)
            quotient = sympy.floor(whole / stride) if stride > 1 else whole
            found.append(sympy.Mod(quotient, dims[k]) if k else quotient)
        else:
            found.append(int(places.flat[0]) + sum(step * i for step, i in zip(steps, index, strict=True)))
    return list(map(sympy.sympify, found))


def _scatter(form: IndexForm, node: Node, index: tuple) -> Any:
    y, chosen = node.operands
    axis, _ = node.params
    inner = tuple(map(form.indices.fresh, chosen.shape))
    element = form.at(y, (*index[:axis], *inner, *index[axis + 1 :]))
    body = sympy.KroneckerDelta(index[axis], _chosen(form, chosen, inner, node.shape[axis])) * as_number(element)
    return form.summed(body, list(zip(inner, chosen.shape, strict=True)))


def _chosen(form: IndexForm, chosen: Node, index: tuple, length: Any) -> Any:
    """The place that an array of indices names: ``2 i + k`` where its entries are evenly spaced."""
    steps = even_steps(chosen, length)
    if steps is None:
        return form.at(chosen, index)
    first = int(chosen.params[0].value.flat[0])
    return sympy.Integer(first) + sum(step * i for step, i in zip(steps, index, strict=True))


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


def _external(form: IndexForm, node: Node, index: tuple) -> Any:
    """An element of what a function gives, of the example that the leading indices name."""
    call, _, _, levels = node.params
    operands = []
    for k, o in enumerate(node.operands):
        lead = tuple([i for i, (flags, _) in zip(index, levels, strict=False) if flags[k]])
        bound = [(form.indices.fresh(d), d) for d in o.shape[len(lead) :]]
        element = as_number(form.at(o, (*lead, *(i for i, _ in bound))))
        operands.append(sympy.Tuple(element, *[sympy.Tuple(*b) for b in bound]) if bound else element)
    return Applied(sympy.Symbol(call.name), sympy.Tuple(*index[len(levels) :]), *operands)


def _same(form: IndexForm, node: Node, index: tuple) -> Any:
    return form.at(node.operands[0], index)


_FORMS: dict[str, Callable[[IndexForm, Node, tuple], Any]] = {
    "einsum": _einsum,
    "gate": _gate,
    "cast": _same,
    "mark": _same,
    "stop_gradient": _same,
    "custom": _same,
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


def named_array(name: str, shape: Sequence, dtype: np.dtype) -> Any:
    """The symbol of an array, which is called with indices, or of a number."""
    if not shape:
        return symbol(name, dtype)
    return sympy.IndexedBase(name) if dtype.kind == "c" else sympy.IndexedBase(name, real=True)


def bound_forms(program: Program, most: int | None = None) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """The first ``most`` bindings as pairs of what is bound, ``v_0[i]``, and its formula; then as ``index_forms``.

    The formulas are in terms of the bindings.
    """
    names = binding_names(program)
    form = IndexForm(program, names.get)

    def bound(node: Node, free: Sequence) -> Any:
        base = named_array(names[node], node.shape, node.dtype)
        return base[tuple(free)] if node.shape else base

    bindings = [(bound(node, free), element) for node in [*names][:most] for free, element in [form.output(node)]]
    outputs = [(free, bound(o, free) if o in names else e) for o in program.outputs for free, e in [form.output(o)]]
    return bindings, outputs


def index_forms(program: Program) -> list[tuple[Sequence[sympy.Symbol], sympy.Basic]]:
    """Free indices and formula of each output; the caller has checked the size."""
    form = IndexForm(program)
    return [form.output(o) for o in program.outputs]
