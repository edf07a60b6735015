"""What a formula says of real numbers: none is an infinity or NaN, and ``erf(x/√2)`` is told by the normal ``Φ(x)``.

A library that computes a distribution asks first whether its argument is in reach, and code that has no Φ writes it
with the error function. Both hide what the formula is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import sympy

from ..passes.cholesky_factors import of_whole_matrices
from ..passes.constants import fold_constants, without_known_truths
from ..passes.rewrite import rewrite
from ..primitives import functions as f
from ..primitives.casting import CAST, flow_as
from ..primitives.contraction import EINSUM, GATE, contract, expand, gate
from ..primitives.elementwise import ELEMENTWISE, Elementwise
from ..primitives.external import zeros_of
from ..primitives.identity import MARK, STOP
from ..primitives.primitive import CONSTANT, literal, literal_value
from ..primitives.reduction import MAX, MIN
from ..primitives.selection import GATHER
from ..primitives.shaping import moves_elements
from ..program.interpret import rebuilt
from ..program.node import Node, ancestors, emit_again
from ..program.program import Program
from ..tracing.sorted_places import is_order
from .symbols import number

_ROOT_TWO = math.sqrt(2)
#: nodes beyond which cases are not looked for in cases
_MAX_NODES = 150
_TESTS = (f.isnan, f.isfinite)


def of_real_numbers(program: Program) -> Program:
    """``program`` as it is for real numbers; ``program`` itself where it has no infinity, no test for one and no √2.

    >>> import numpy as np, symgrad
    >>> from scipy.special import erf
    >>> print(of_real_numbers(symgrad.trace(lambda x: erf(x / np.sqrt(2)), 1.0)))
    program(x: float64[]) {
      v0 = ndtr(x)
      v1 = multiply(2, v0)
      v2 = subtract(v1, 1)
    } -> v2
    >>> print(of_real_numbers(symgrad.trace(lambda x: np.where(x > -np.inf, x * x, 0), np.ones(()))))
    program(x: float64[]) {
      v0 = multiply(x, x)
    } -> v0
    """
    program = of_whole_matrices(without_known_truths(program))
    if not any(_number(n) in _BOUNDS or _over_root_two(n) or n.primitive in _TESTS for n in program.nodes):
        return program
    known: dict[Node, bool] = {}

    def truth(node: Node) -> bool | None:
        if node not in known and node.dtype.kind == "b" and node.primitive is CONSTANT and node.params[0].value.size:
            values = node.params[0].value
            return bool(values.flat[0]) if (values == values.flat[0]).all() else None
        return known.get(node)

    def rule(node: Node, original: Node) -> Node | None:
        rules = _TRUTHS if node.dtype.kind == "b" else _VALUES if node.dtype.kind == "f" else _CHOICES
        found = rules.get(node.primitive.name)
        made = _product(node) if node.primitive is EINSUM else found and found(truth, *node.operands)
        if isinstance(made, bool):
            known[node] = made
            return None
        if made is None:
            return None
        return flow_as(made if made.shape == node.shape else expand(made, node.shape), node.dtype)

    made = rewrite(fold_constants(program, (f.logical_not,)), rule)  # ¬mask, in the user's name
    return made if len(made.nodes) > _MAX_NODES else _without_cases_twice(made)


def _without_cases_twice(program: Program) -> Program:
    """``# where(m, f(where(m, a, b)), c) -> where(m, f(a), c)``: libraries keep from ``f`` what it is not made for.

    Each element of ``f`` is made of that of its operand; a sum would hold elements where ``m`` is false too. What
    others read as well stays: it is told anyway.
    """
    readers: dict[Node, set[Node]] = {}
    for n in program.nodes:
        for o in n.operands:
            readers.setdefault(o, set()).add(n)

    def rule(node: Node, original: Node) -> Node | None:
        if node.operands[0].dtype.kind != "b":
            return None
        own = _region(original)
        above = {n for n in own if _is_case(n, original.operands[0])}
        for n in ancestors([original.operands[1]]):
            if n in own and not above.isdisjoint(n.operands):
                above.add(n)
        if any(not readers[n] <= own | {original} for n in above):
            return None
        m, inside, *others = node.operands
        region = _region(node)
        image: dict[Node, Node] = {}
        for n in ancestors([inside]):
            if n in region and not n.is_leaf:
                operands = [image.get(o, o) for o in n.operands]
                image[n] = operands[1] if _is_case(n, m) else rebuilt(n, operands)
        made = image.get(inside, inside)
        return None if made is inside else emit_again(node, (m, made, *others))

    return rewrite(program, rule, (GATE, f.where))


def _is_case(node: Node, m: Node) -> bool:
    """Whether a node is its second operand where ``m`` is true."""
    if node.primitive not in (GATE, f.where) or node.operands[0] is not m:
        return False
    return node.shape == node.operands[1].shape and node.dtype == node.operands[1].dtype


def _region(case: Node) -> set[Node]:
    """What the second operand of ``case`` is made of element by element."""
    m, inside, *_ = case.operands
    region, pending = {inside}, [inside]
    while pending:
        n = pending.pop()
        own = [o for k, o in enumerate(n.operands) if o.shape == m.shape and _is_elementwise(n, k)]
        pending += [o for o in own if o not in region]
        region.update(own)
    return region


def _is_elementwise(node: Node, place: int) -> bool:
    """Whether each element is made of that of an operand at the same place."""
    if node.primitive is EINSUM:
        labels, out, _, _ = node.params
        return len(labels) == len(node.operands) and labels[place] == out and len(set(out)) == len(out)
    return isinstance(node.primitive, Elementwise) or node.primitive in (GATE, CAST, MARK)


def _number(node: Node) -> float | None:
    """The number that a leaf without axes is, but for a truth value."""
    if node.dtype.kind == "b":
        return None
    if node.is_literal:
        return literal_value(node)
    return node.params[0].value.item() if node.primitive is CONSTANT and not node.shape else None


def _is_number(node: Node, wanted: float) -> bool:
    number = _number(node)
    return isinstance(number, (int, float)) and math.isclose(number, wanted, rel_tol=1e-15)


Truth = Callable[[Node], "bool | None"]


def _bounded(below: bool) -> Callable[[Truth, Node, Node], bool | None]:
    """A comparison that is ``below`` where −∞ stands on its right, and ``not below`` where ∞ does."""

    def rule(truth: Truth, a: Node, b: Node) -> bool | None:
        right, left = _BOUNDS.get(_number(b)), _BOUNDS.get(_number(a))
        side = right if left is None else None if right is not None else not left
        return None if side is None else side is below

    return rule


def _unbounded(unlike: bool) -> Callable[[Truth, Node, Node], bool | None]:
    """Whether the largest or least of several differs (``unlike``) from an infinity, or equals it."""

    def rule(truth: Truth, a: Node, b: Node) -> bool | None:
        if _number(a) in _BOUNDS and _number(b) not in _BOUNDS:
            a, b = b, a
        return unlike if _number(b) in _BOUNDS and _is_extreme(a) else None

    return rule


def _of_extremes(finite: bool) -> Callable[[Truth, Node], bool | None]:
    """A test of the largest or least of several, which is ``finite``, a number.

    Libraries ask this for what they compute. What a user asks of an argument itself is what the function is for.
    """
    return lambda truth, a: finite if _is_extreme(a) else None


def _is_extreme(node: Node) -> bool:
    """Whether it is the largest, the least, or in the order of a sorted array; moved, or held."""
    while True:
        is_sorted = node.primitive is GATHER and is_order(node.operands[1])
        if is_sorted or node.primitive in (MAX, MIN, f.maximum, f.minimum):
            return True
        if not (node.primitive is STOP or moves_elements(node)):
            return False
        node = node.operands[0]


#: whether a number on the right is −∞, where it is an infinity
_BOUNDS: dict[float | None, bool] = {-math.inf: True, math.inf: False}


def _both(truth: Truth, a: Node, b: Node) -> Node | bool | None:
    first, second = truth(a), truth(b)
    if first is False or second is False:
        return False
    return b if first else a if second else None


def _either(truth: Truth, a: Node, b: Node) -> Node | bool | None:
    first, second = truth(a), truth(b)
    if first or second:
        return True
    return b if first is False else a if second is False else None


def _not(truth: Truth, a: Node) -> bool | None:
    known = truth(a)
    return None if known is None else not known


def _where(truth: Truth, condition: Node, a: Node, b: Node) -> Node | None:
    known = truth(condition)
    return None if known is None else a if known else b


def _gate(truth: Truth, m: Node, t: Node) -> Node | None:
    if m.primitive is f.logical_or:  # of a product in which zeros of both factors win those of one are read
        test, finite = m.operands
        if finite.primitive is f.isfinite and test.primitive is f.not_equal:
            factor = test.operands[0]
            is_gate = t.primitive is GATE and t.operands[1] is factor
            return gate(factor, t.operands[0]) if is_gate else None if factor.masked else t
    known = truth(m)
    if known is None and not m.masked and m.shape == t.shape and m.dtype == t.dtype:
        labels = tuple(range(t.ndim))
        made = contract([m, t], [labels, labels], labels, t.shape)
        return (_product(made) if made.primitive is EINSUM else None) or made
    return None if known is None else t if known else zeros_of(t.shape, t.dtype)


def _over_root_two(node: Node) -> Node | None:
    """``x``, of which ``node`` is ``x/√2``."""
    for primitive, factor in ((f.divide, _ROOT_TWO), (f.multiply, 1 / _ROOT_TWO)):
        if node.primitive is primitive:
            a, b = node.operands
            if _is_number(b, factor):
                return a
            if primitive is f.multiply and _is_number(a, factor):
                return b
    return None


def _erf(truth: Truth, a: Node) -> Node | None:
    x = _over_root_two(a)
    return None if x is None else f.subtract(f.multiply(literal(2), ELEMENTWISE["ndtr"](x)), literal(1))


def _square(truth: Truth, a: Node) -> Node | None:
    x = _over_root_two(a)
    return None if x is None else f.multiply(literal(0.5), f.square(x))


def _product(node: Node) -> Node | None:
    """A contraction with the numbers among its factors, and those in them, as one."""
    if node.dtype != np.float64:
        return None
    labels, out, sizes, _ = node.params
    numbers, operands, own = [], [], []
    for operand, ls in zip(node.operands, labels, strict=True):
        number, x = _scaled(operand)
        numbers += [] if number is None else [number]
        if x is not None:
            operands.append(x)
            own.append(ls)
    if len(numbers) < 2 and operands == list(node.operands[len(numbers) :]):
        return None
    return contract([literal(_exact(*numbers)), *operands], [(), *own], out, sizes)


def _scaled(node: Node) -> tuple[float | None, Node | None]:
    """A number and what it is multiplied by, of which ``node`` is the product; None for what is not there."""
    number, x = _number(node), _over_root_two(node)
    if isinstance(number, float):
        return number, None
    if x is not None:
        return 1 / _ROOT_TWO, x
    if node.primitive is f.multiply and isinstance(number := _number(node.operands[0]), (int, float)):
        return float(number), node.operands[1]
    return None, node


def _exact(*numbers: float) -> float:
    """The product of numbers that were rounded, such as √2, rounded once."""
    return float(sympy.prod(map(number, numbers)))


def _times(factor: float, x: Node) -> Node | None:
    """``factor · x`` as one product, where ``x`` is one with a number."""
    own, rest = _scaled(x)
    if own is None or rest is None:
        return None
    product = _exact(own, factor)
    return rest if product == 1 else f.multiply(literal(product), rest)


def _negative(truth: Truth, a: Node) -> Node | None:
    return _times(-1, a)


def _multiply(truth: Truth, a: Node, b: Node) -> Node | None:
    factor = _number(a)
    return _times(factor, b) if isinstance(factor, (int, float)) else None


def _divide(truth: Truth, a: Node, b: Node) -> Node | None:
    factor = _number(b)
    if factor == 1:
        return a
    return _times(1 / factor, a) if isinstance(factor, (int, float)) and factor else None


def _subtract(truth: Truth, a: Node, b: Node) -> Node | None:
    return a if _number(b) == 0 else None


def _add(truth: Truth, a: Node, b: Node) -> Node | None:
    """``# n + (x - n) -> x``, and what never holds counts nothing."""
    for term, rest in ((a, b), (b, a)):
        if truth(term) is False:
            return rest
        if rest.primitive is f.subtract and _number(term) is not None:
            x, less = rest.operands
            return x if _number(term) == _number(less) else None
    return None


Rules = dict[str, Callable[..., "Node | bool | None"]]
#: by what a node is: a truth value, any other, and a real number, of which alone numbers may be put together
_TRUTHS: Rules = {
    "greater": _bounded(True),
    "greater_equal": _bounded(True),
    "less": _bounded(False),
    "less_equal": _bounded(False),
    "not_equal": _unbounded(True),
    "equal": _unbounded(False),
    "isfinite": _of_extremes(True),
    "isnan": _of_extremes(False),
    "logical_and": _both,
    "bitwise_and": _both,
    "logical_or": _either,
    "bitwise_or": _either,
    "logical_not": _not,
    "invert": _not,
}
_CHOICES: Rules = {"where": _where, "gate": _gate}
_VALUES: Rules = _CHOICES | {
    "erf": _erf,
    "square": _square,
    "negative": _negative,
    "multiply": _multiply,
    "divide": _divide,
    "subtract": _subtract,
    "add": _add,
}
