"""The index form: one element of an output, at indices ``i, j, …``, as a formula that holds for all of them.

Arrays are ``sympy.Indexed``, contractions are ``Sum``, δ is ``KroneckerDelta``; indices count from 0. The
form does not grow with the arrays and holds for named dims too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from ..primitives.elementwise import SLOTS, Elementwise
from ..primitives.external import External
from ..primitives.index_arrays import counted_index
from ..program.node import Node
from ..program.program import Program
from .cases import over, too_many_cases, within_cases
from .index_rules import RULES, broadcast_index, evenly, external
from .positions import decided, divided, joined
from .symbols import (
    Indices,
    as_number,
    binding_names,
    captured_names,
    instantiate,
    is_condition,
    leaf_names,
    number,
    symbol,
)


def constant_names(program: Program) -> dict[str, np.ndarray]:
    """The arrays that the function captured, by the names that the index form gives them."""
    return {name: np.asarray(n.params[0].value) for n, name in captured_names(program).items()}


class IndexForm:
    """Writes nodes of one program at given indices; ``leaf`` may name further nodes instead of opening them."""

    def __init__(
        self, program: Program, others: Iterable[str] = (), leaf: Callable[[Node], str | None] = lambda _: None
    ) -> None:
        self._names = leaf_names(program)
        self._leaf = leaf
        self.indices = Indices(program, others)
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
        element = decided(sympy.sympify(as_number(value)), self.indices.sizes)
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
            if uniform:
                return number(value.flat[0])
            read = evenly(value, index)
            return self._named(self._names[node], node, index) if read is None else read
        wrapped = counted_index(node)
        if wrapped is not None:  # the index is within its axis, or nothing is computed
            return sympy.Mod(self.at(wrapped[0], broadcast_index(index, node, wrapped[0])), wrapped[1])
        if isinstance(node.primitive, Elementwise):
            values = [self.at(o, broadcast_index(index, node, o)) for o in node.operands]
            read = self._of_integers(node, values)
            return instantiate(node.primitive.expr, SLOTS, values) if read is None else read
        return external(self, node, index) if isinstance(node.primitive, External) else RULES[name](self, node, index)

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
            factor, summand = body.as_independent(k, as_Add=False)
            body = factor * over(sympy.Sum, summand, (k, 0, size - 1))
        return body


def _has_cases_of_its_own(total: Any) -> bool:
    """True for a sum of cases that its index decides."""
    return any(
        not test.free_symbols.isdisjoint(total.variables)
        for cases in total.function.atoms(sympy.Piecewise)
        for _, test in cases.args
    )


def named_array(name: str, shape: Sequence, dtype: np.dtype) -> Any:
    """The symbol of an array, which is called with indices, or of a number."""
    if not shape:
        return symbol(name, dtype)
    if dtype.kind == "c":
        return sympy.IndexedBase(name)
    return sympy.IndexedBase(name, integer=True) if dtype.kind in "iu" else sympy.IndexedBase(name, real=True)


def bound_forms(program: Program, most: int | None = None) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """The first ``most`` bindings as pairs of what is bound, ``v_0[i]``, and its formula; then as ``index_forms``.

    The formulas are in terms of the bindings.
    """
    names = binding_names(program)
    form = IndexForm(program, leaf=names.get)

    def bound(node: Node, free: Sequence) -> Any:
        base = named_array(names[node], node.shape, node.dtype)
        return base[tuple(free)] if node.shape else base

    bindings = [(bound(node, free), element) for node in [*names][:most] for free, element in [form.output(node)]]
    outputs = [(free, bound(o, free) if o in names else e) for o in program.outputs for free, e in [form.output(o)]]
    return bindings, outputs


def index_forms(program: Program, others: Iterable[str] = ()) -> list[tuple[Sequence[sympy.Symbol], sympy.Basic]]:
    """Free indices and formula of each output; the caller has checked the size. No index is called as ``others``."""
    form = IndexForm(program, others)
    return [(free, within_cases(element)) for free, element in map(form.output, program.outputs)]
