"""Elementwise work: interned scalar operations over sympy.

An operation is one scalar function over slot symbols ``a, b, c, d`` with the NumPy ufunc that computes it.
Its partial derivatives are taken by sympy once an operation, compiled to a recipe of other operations,
and cached; a node then costs microseconds. Where the formula that sympy would give is not what
floating point needs (0·log 0, ties, overflow) the partial is declared instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from ..program.dims import Shape, broadcast
from ..program.node import Node, emit
from .casting import cast, flow_as
from .contraction import EINSUM, OF_BOTH, aligned, broadcast_product, contract, gate, is_identity, pad_rank
from .primitive import LITERAL, Params, Primitive, literal, literal_value

if TYPE_CHECKING:
    from .batching import Batching

SLOTS = sympy.symbols("a b c d", real=True)
#: what an addition costs, and what of NumPy is said to cost no more; what a function from elsewhere costs
SIMPLE, _DEAR = (0.4, 0.2), (30.0, 12.0)

#: the signs that most languages have for operations of two operands
SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
COMPARISONS = {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!="}
#: operations that give truth values
TRUTHS = frozenset(
    (*COMPARISONS, "logical_and", "logical_or", "logical_xor", "logical_not", "isfinite", "isnan", "isinf", "signbit")
)
ON_BITS = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}

#: name -> Elementwise, every elementwise function there is
ELEMENTWISE: dict[str, Elementwise] = {}
#: sympy function class -> Elementwise, for compiling partials
_BY_FUNCTION: dict[Any, Elementwise] = {}

Partial = Callable[..., "Node | None"]
_broadcast = functools.lru_cache(maxsize=1 << 12)(broadcast)


class Elementwise(Primitive):
    """One scalar function applied elementwise, with broadcasting.

    ``expr`` is its formula over SLOTS, ``ufunc`` what NumPy computes, ``partials`` the declared
    partial derivatives (a callable on nodes or None for zero each), or absent: sympy's.
    ``operator`` marks Python's own operators, which keep Python scalars weak. A function from outside of symgrad has an
    ``expansion`` too, where its formula is known: the formula on nodes, in operations of symgrad's own. Exports write
    that, and so do kernels where it ``is_formula``: where the ufunc is nothing but the formula. ``costs`` are the
    nanoseconds an element on a common machine, by NumPy and in compiled loops.

    Of complex numbers ``partials`` are the complex derivative; of functions that give real numbers twice that by
    ``z``, of which the real part counts. ``over_reals`` are the derivatives by ``z`` and by its conjugate of one that
    has neither (Wirtinger). Cotangents pair with tangents by ``Re Σ ct·t``, without a conjugate, so that every linear
    map is transposed as over the reals; ``transforms`` conjugate what goes in and what comes out.
    """

    def __init__(
        self,
        name: str,
        ufunc: Any,
        expr: Any,
        partials: tuple[Partial | None, ...] | None = None,
        operator: bool = False,
        arity: int = 0,
        expansion: Callable[..., Node] | None = None,
        is_formula: bool = False,
        costs: tuple[float, float] | None = None,
    ) -> None:
        self.name = name
        self.ufunc = ufunc
        self.expr = expr
        self.operator = operator
        self.arity = arity or ufunc.nin
        self.expansion = expansion
        self.is_formula = is_formula
        self.costs = costs or (SIMPLE if getattr(np, getattr(ufunc, "__name__", ""), None) is ufunc else _DEAR)
        self._partials: list[Partial | None] | None = None if partials is None else list(partials)
        self._loops: dict[tuple[tuple[np.dtype, bool], ...], tuple[np.dtype, ...]] = {}
        self.stable: Callable[[Node], Sequence[tuple[Node, Partial]] | None] | None = None
        self.over_reals: tuple[Partial | None, Partial | None] | None = None

    def __call__(self, *operands: Node | float | int | bool) -> Node:
        nodes = tuple([o if isinstance(o, Node) else literal(o) for o in operands])
        for o in nodes:
            if o.primitive is not LITERAL:
                return emit(self, nodes)
        folded = self._fold(nodes)
        return emit(self, nodes) if folded is None else folded

    def _fold(self, nodes: tuple[Node, ...]) -> Node | None:
        with np.errstate(all="ignore"):
            value = np.asarray(self.ufunc(*[literal_value(o) for o in nodes]))
        return literal(value.item()) if value.dtype.kind in "fibc" else None

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        shape = operands[0].shape
        weak = self.operator
        for o in operands:
            if o.shape != shape:  # most of all a number is
                shape = shape or o.shape if not (shape and o.shape) else _broadcast(*[p.shape for p in operands])
            weak = weak and o.weak
        return shape, self.loop_dtypes(operands)[-1], weak

    def loop_dtypes(self, operands: Sequence[Node]) -> tuple[np.dtype, ...]:
        """The dtypes that NumPy computes in: those that the operands are cast to, then that of the result."""
        key = tuple([(o.dtype, o.weak) for o in operands])
        loop = self._loops.get(key)
        if loop is None:
            loop = self._loops[key] = self._resolve(operands)
        return loop

    def _resolve(self, operands: Sequence[Node]) -> tuple[np.dtype, ...]:
        strong = any(not o.weak for o in operands)
        kinds = [_PYTHON[o.dtype.kind] if o.weak and strong else o.dtype for o in operands]
        if hasattr(self.ufunc, "resolve_dtypes"):
            return self.ufunc.resolve_dtypes((*kinds, *[None] * self.ufunc.nout))[: self.arity + 1]
        with np.errstate(all="ignore"):
            made = np.asarray(self.ufunc(*[k(1) if isinstance(k, type) else np.ones(1, k) for k in kinds])).dtype
        return (operands[0].dtype, *[made] * self.arity)  # as np.where has it, whose first operand is a choice

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        for o in operands:
            if o.masked:  # a zero of one term is no zero of the sum
                return self.name in _PRODUCTS or (self.name in _SUMS and all(o.masked for o in operands))
        return False

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        if not node.differentiable:
            return ()
        if self.over_reals is not None and node.operands[0].is_complex:
            return [(o, self.over_reals) for o in node.operands]
        if self.stable is not None:
            found = self.stable(node)
            if found is not None:
                return found
        partials = self.partials
        return [(o, partials[k]) for k, o in enumerate(node.operands) if o.differentiable and partials[k]]

    @property
    def partials(self) -> list[Partial | None]:
        """The partial derivative by each operand, a callable on the operands' nodes."""
        if self._partials is None:
            self._partials = [compile_recipe(sympy.diff(self.expr, SLOTS[k]), self.arity) for k in range(self.arity)]
        return self._partials

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        if type(key) is tuple:
            own, other = self._over_reals(node, key, tangent, conjugated(tangent), batch)
            return _sum(own, other)
        factor = partial_factor(node, key)
        return None if factor is None else _times(factor, tangent, batch, node.shape, node.shape, node.dtype)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        if type(key) is tuple:
            own, other = self._over_reals(node, key, ct, ct, batch)
            return _sum(own, other and conjugated(other))
        factor = partial_factor(node, key)
        if factor is None:
            return None
        return _times(factor, ct, batch, node.shape, source.shape, source.dtype)

    def _over_reals(
        self, node: Node, key: tuple[Partial | None, ...], first: Node, second: Node, batch: int
    ) -> list[Node | None]:
        """``first`` times the derivative by ``z``, ``second`` times that by its conjugate; None for zeros."""
        factors = [None if partial is None else partial_factor(node, partial) for partial in key]
        return [
            None if factor is None else _times(factor, flow, batch, node.shape, node.shape, node.dtype)
            for factor, flow in zip(factors, (first, second), strict=True)
        ]

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return self(*aligned(operands, batched, node.ndim))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return self.ufunc(*values)


def conjugated(x: Node) -> Node:
    """The complex conjugate; real numbers as they are, and no conjugate of a conjugate.

    ``# conj(conj(a)·b) -> a·b`` of real ``b``
    """
    if not x.is_complex:
        return x
    if x.primitive.name == "conjugate":
        return x.operands[0]
    if x.primitive is EINSUM and all(not o.is_complex or o.primitive.name == "conjugate" for o in x.operands):
        return contract([conjugated(o) for o in x.operands], *x.params[:3])
    return ELEMENTWISE["conjugate"](x)


def _sum(first: Node | None, second: Node | None) -> Node | None:
    return ELEMENTWISE["add"](first, second) if first and second else first or second


def partial_factor(node: Node, key: Partial) -> Node | None:
    """The partial derivative of an elementwise node that ``key`` stands for; None where it is zero."""
    return key(*_at_precision(node))


def _at_precision(node: Node) -> tuple[Node, ...]:
    """The operands, those of lower precision cast: a partial by one may be a function of the others alone.

    What is taken as an integer, such as a degree, stays one.
    """
    dtype = node.dtype
    for o in node.operands:
        if o.dtype != dtype and not o.weak:
            break
    else:
        return node.operands
    assert isinstance(node.primitive, Elementwise)
    loop = node.primitive.loop_dtypes(node.operands)
    return tuple(
        [
            o
            if o.weak or o.dtype.kind == "b" or d.kind in "iu" or (o.is_complex and dtype.kind != "c")
            else cast(o, dtype)
            for o, d in zip(node.operands, loop, strict=False)
        ]
    )


_PYTHON: dict[str, Any] = {"b": np.dtype(bool), "i": int, "u": int, "f": float, "c": complex}
_SUMS, _PRODUCTS = {"add", "subtract"}, {"negative", "multiply"}


def _times(factor: Node, flow: Node, batch: int, shape: Shape, out_shape: Shape, dtype: np.dtype) -> Node:
    """``factor ⊙ flow``, where zeros that are structure win against infinities.

    ``flow`` has ``batch`` leading axes; the result is summed to ``out_shape`` behind them.
    """
    if flow.masked and is_float_gate(factor):
        flow = gate_of_both(pad_rank(flow, batch, len(shape)), factor)
        factor = literal(1)
    elif factor.dtype.kind == "b" or (factor.masked and not is_identity(flow)):
        flow = gate(factor, pad_rank(flow, batch, len(shape)))
        factor = literal(1)
    elif flow.masked and not factor.is_literal:
        flow = gate(pad_rank(flow, batch, len(shape)), factor)
        factor = literal(1)
    result = broadcast_product(factor, flow, batch, shape, out_shape)
    return flow_as(result, dtype)


def is_float_gate(x: Node) -> bool:
    """True for a product in which zeros of an array win, which may be infinite elsewhere."""
    return x.primitive.name == "gate" and x.operands[0].dtype.kind != "b"


def gate_of_both(flow: Node, factor: Node) -> Node:
    """Their product, in which zeros of either win against what is infinite alone.

    The product of finite ones has derivatives where a factor is zero.
    """
    kept = ELEMENTWISE["logical_or"](ELEMENTWISE["not_equal"](factor, 0), ELEMENTWISE["isfinite"](flow))
    return gate(kept, gate(flow, factor))


OF_BOTH.append(gate_of_both)


def compile_recipe(expr: sympy.Basic, arity: int) -> Partial | None:
    """A callable that builds ``expr`` over SLOTS out of operations; None for zero."""
    if expr == 0:
        return None
    steps: list[Callable[[list[Node]], Node]] = []
    index: dict[sympy.Basic, int] = {SLOTS[k]: k for k in range(arity)}

    def place(e: sympy.Basic, step: Callable[[list[Node]], Node]) -> int:
        steps.append(step)
        index[e] = arity + len(steps) - 1
        return index[e]

    def build(e: Any) -> int:  # recursion is over one operation's formula, never over a program
        if e in index:
            return index[e]
        if e.is_number:
            value = int(e) if e.is_Integer else float(e)
            return place(e, lambda v: literal(value))
        if isinstance(e, sympy.Pow):
            return _build_power(e)
        if isinstance(e, (sympy.Add, sympy.Mul)):
            head, tail = e.as_two_terms()
            if isinstance(e, sympy.Add) and tail.could_extract_minus_sign():
                return call(e, "subtract", head, -tail)
            if isinstance(e, sympy.Add) and head.could_extract_minus_sign():
                return call(e, "subtract", tail, -head)
            if isinstance(e, sympy.Mul):
                if head == -1:
                    return call(e, "negative", tail)
                top, bottom = e.as_numer_denom()
                if bottom != 1:
                    return call(e, "divide", top, bottom)
            return call(e, "add" if isinstance(e, sympy.Add) else "multiply", head, tail)
        operation = elementwise_of(e.func)
        if operation is None:
            raise KeyError(f"no operation computes {e.func}; declare one in primitives/functions.py")
        return call(e, operation.name, *e.args)

    def _build_power(e: sympy.Pow) -> int:
        base, exponent = e.args
        names: dict[sympy.Basic | int, str] = {2: "square", sympy.Rational(1, 2): "sqrt"}
        named = names.get(exponent)
        if named:
            return call(e, named, base)
        if exponent.could_extract_minus_sign():
            return call(e, "divide", sympy.Integer(1), base**-exponent)
        if base == sympy.E:
            return call(e, "exp", exponent)
        return call(e, "power", base, exponent)

    def call(e: sympy.Basic, name: str, *args: sympy.Basic) -> int:
        at = [build(x) for x in args]
        operation = ELEMENTWISE[name]
        return place(e, lambda v: operation(*[v[i] for i in at]))

    last = build(expr)

    def recipe(*operands: Node) -> Node:
        values = list(operands)
        for step in steps:
            values.append(step(values))
        return values[last]

    return recipe


def register_function(function: Any, operation: Elementwise) -> None:
    """Let partials that contain the sympy ``function`` be computed by ``operation``."""
    _BY_FUNCTION[function] = operation


def elementwise_of(function: Any) -> Elementwise | None:
    """The operation that computes the sympy ``function``."""
    return _BY_FUNCTION.get(function)
