"""Shorter formulas of the same value: ``y/p − (1 − y)/(1 − p)`` times ``p(1 − p)`` is ``y − p``.

What is computed element by element is a formula in the arrays that it begins from. Each of its values is looked for
among short combinations of the others, by what they are at points drawn at random (values of equal programs are
equal; McCarthy's observational equivalence, as in bottom-up synthesis). What is found there is then compared in fifty
digits, and stands in the place of the longer one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from ..primitives import functions as f
from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE
from ..primitives.elementwise import COMPARISONS, SLOTS, Elementwise
from ..primitives.primitive import LITERAL, literal, literal_value
from ..program.dims import broadcast
from ..program.node import Node, emit, emit_again
from ..program.program import Program
from .many_digits import are_equal
from .symbols import as_number, gated, instantiate, number

#: nodes beyond which a program is left as it is, and values of which combinations are tried
MAX_NODES, MAX_ATOMS = 150, 30
#: points drawn from an interval, and those of all that a value has to be defined at
_POINTS, _DEFINED = 8, 6
_INTERVALS = ((0.2, 0.9), (0.5, 3.0), (-2.0, 2.0))
_DRAWN = _POINTS * len(_INTERVALS)
#: where kinks and ties lie, and at how many points numbers are drawn of these
_SPECIAL, _TIES = (0.0, 1.0, -1.0, 2.0, 0.5), 64
_COUNT = _DRAWN + _TIES
#: operations that jump: where is told of comparisons alone
_JUMPS = {
    *("floor", "ceil", "trunc", "rint", "sign", "heaviside", "remainder", "fmod", "floor_divide", "signbit", "copysign")
}
#: operations with two sides: where their operands are equal, where theirs is 0, and roots, of what is never negative
_SIDES, _MIRRORS = {*COMPARISONS, "maximum", "minimum", "fmax", "fmin"}, {"absolute", "fabs"}
_ROOTS, _EVEN = {"sqrt", "norm_sqrt", "power", "float_power"}, {"square", "multiply", "power", "float_power", "einsum"}
_NUMBERS = (1.0, 2.0, -1.0, -2.0, 0.5, 3.0, 4.0)
#: numbers of the program's own that are tried beside these
_MAX_OWN_NUMBERS = 4
_CLOSE, _ZERO = 1e-9, 1e-11
#: where far away a way is tried too, and at how many points around each of the program's own numbers up to some
_FAR, _AROUND, _FARTHEST = np.array([*np.geomspace(3, 300, 8), *-np.geomspace(3, 300, 8)]), 4, 1e4
#: symbols that a formula has to become shorter by
_GAIN = 2.0
_INFIX = {"add", "subtract", "multiply", "where"}
_SCRIPTS = {"exp", "square", "sqrt", "reciprocal", "divide", "negative"}


def simplified(program: Program) -> Program:
    """``program`` with shorter ways to the same values, where there are any; what is no number keeps its way."""
    nodes = program.nodes
    if len(nodes) > MAX_NODES or any(n.is_complex for n in nodes):
        return program
    with program.graph, np.errstate(all="ignore"):
        return _Search(program).shortened()


@dataclass(frozen=True, eq=False)
class _Way:
    """A way to a value: ``make`` builds it of nodes, ``formula`` is what it is, ``values`` at the points."""

    values: np.ndarray
    cost: float
    shape: tuple
    make: Callable[[], Node] = field(repr=False)
    formula: Callable[[], sympy.Basic] = field(repr=False)


class _Search:
    def __init__(self, program: Program) -> None:
        self.program = program
        self._new: dict[Node, Node] = {}
        self._values: dict[Node, np.ndarray] = {}
        self._formulas: dict[Node, Any] = {}
        self._leaves: dict[sympy.Symbol, np.ndarray] = {}
        self._far: dict[sympy.Symbol, np.ndarray] = {}
        self._cost: dict[Node, float] = {}
        self._hidden: set[Node] = set()  # values with a jump or a kink that is at none of the points
        self._choices: dict[Node, dict[Node, np.ndarray]] = {}  # which side each choice below a value takes at a point
        own = dict.fromkeys(abs(literal_value(n)) for n in program.nodes if n.is_literal and n.dtype.kind == "f")
        tried = list(own)[:_MAX_OWN_NUMBERS]
        self._numbers = list(dict.fromkeys((*_NUMBERS, *tried)))
        self._reach = np.repeat([2 * value for value in tried if value < _FARTHEST], _AROUND)
        self._rng = np.random.default_rng(0)

    def shortened(self) -> Program:
        """The program, its values one after the other by the shortest way that is found."""
        wanted = {o for n in self.program.nodes if not _is_followed(n) for o in n.operands} | set(self.program.outputs)
        for node in self.program.nodes:
            self._new[node] = self._again(node)
            self._evaluate(node)
            if node.dtype.kind == "f" and node.primitive is not LITERAL and _is_followed(node):
                self._shorten(node, node in wanted)
        outputs = [self._new[o] for o in self.program.outputs]
        return self.program if outputs == list(self.program.outputs) else self.program.with_outputs(outputs)

    def _again(self, node: Node) -> Node:
        """The node on what its operands have become; of a contraction, factors that stand side by side are one."""
        if node.primitive is EINSUM and not _is_followed(node):
            node = self._with_shorter_factors(node)
        operands = tuple([self._new[o] for o in node.operands])
        return node if operands == node.operands else emit_again(node, operands)

    def _with_shorter_factors(self, node: Node) -> Node:
        """``# einsum[ij,i,i->j](X, a, b) -> einsum[ij,i->j](X, c)`` where ``c`` is a shorter way to ``a · b``."""
        labels, out, sizes, _ = node.params
        for own in dict.fromkeys(labels):
            factors = [o for o, ls in zip(node.operands, labels, strict=True) if ls == own]
            if not own or len(factors) < 2 or len(set(own)) < len(own):
                continue
            places = tuple(range(len(own)))
            product = emit(EINSUM, tuple(factors), ((places,) * len(factors), places, factors[0].shape, ""))
            if product in self._values or product.dtype.kind != "f":
                continue
            self._new[product] = self._again(product)
            self._evaluate(product)
            if self._shorten(product, True):
                rest = [(o, ls) for o, ls in zip(node.operands, labels, strict=True) if ls != own]
                operands, others = zip(*rest, (product, own), strict=True)
                return self._with_shorter_factors(emit(EINSUM, operands, (others, out, sizes, "")))
        return node

    def _shorten(self, node: Node, is_wanted: bool) -> bool:
        """Take a shorter way to the value of ``node``, where there is one; whether it was."""
        way = None if node in self._hidden else self._shorter(node, is_wanted)
        made = way and way.make()
        if way is None or made is None or made.dtype != node.dtype:
            return False
        self._new[node], self._cost[node], self._formulas[node] = made, way.cost, way.formula()
        return True

    # what values are

    def _evaluate(self, node: Node) -> None:
        """The value of ``node`` at the points, what it is as a formula, and how long that is."""
        below = self._choices[node] = {}
        if not _is_drawn(node):
            for o in node.operands:
                below |= self._choices[o]
        sides = self._evaluated(node)
        if sides is not None:
            below[node] = sides

    def _evaluated(self, node: Node) -> np.ndarray | None:
        """``_evaluate``; which side ``node`` takes where it has sides."""
        if _is_drawn(node):
            name = sympy.Symbol(f"x{len(self._leaves)}", real=True)
            draws = [self._rng.uniform(*interval, _POINTS) for interval in _INTERVALS]
            near = np.concatenate([*draws, self._rng.choice(_SPECIAL, _TIES)])
            around = self._rng.uniform(-self._reach, self._reach)
            far = np.concatenate([self._rng.permutation(_FAR) * self._rng.uniform(0.8, 1.0, len(_FAR)), around])
            kind = node.dtype if node.dtype.kind != "f" else np.dtype(float)
            self._leaves[name] = self._values[node] = np.round(near, 3).astype(kind)
            self._far[name] = np.round(far, 3).astype(kind)
            self._formulas[node], self._cost[node] = name, 1.0
            return self._values[node] if node.dtype.kind == "b" else None
        operands = node.operands
        values, formulas = [self._values[o] for o in operands], [self._formulas[o] for o in operands]
        cost = sum(self._cost[o] for o in operands)
        primitive = node.primitive
        if primitive is LITERAL:
            value = literal_value(node)
            self._values[node] = np.full(_COUNT, value)
            self._formulas[node], self._cost[node] = number(value), 1.0
        elif isinstance(primitive, Elementwise):
            if primitive.name in _JUMPS or not _is_seen(node, values):
                self._hidden.add(node)
            self._values[node] = np.asarray(primitive.ufunc(*values))
            self._formulas[node] = instantiate(primitive.expr, SLOTS, formulas)
            self._cost[node] = cost + (2.0 if primitive.name not in _INFIX | _SCRIPTS else 1.0)
            inner = _sigmoid_of(node)
            if inner is not None:
                self._cost[node] = self._cost[inner] + 2.0
        elif primitive is CAST:
            self._values[node], self._formulas[node], self._cost[node] = values[0], formulas[0], cost
        elif primitive is GATE:
            self._values[node] = np.where(values[0] == 0, 0.0, values[0] * values[1])
            self._formulas[node], self._cost[node] = gated(*formulas), cost
        else:
            self._values[node] = np.prod(values, axis=0)
            self._formulas[node], self._cost[node] = sympy.Mul(*map(as_number, formulas)), cost
        if not self._hidden.isdisjoint(operands):
            self._hidden.add(node)
        if node.dtype.kind == "f":
            self._values[node] = self._values[node].astype(np.float64)
        return _sides(node, values)

    def _shorter(self, node: Node, is_wanted: bool) -> _Way | None:
        """A way to the value of ``node`` that is enough shorter; of two combinations only where it is wanted."""
        target = self._values[node]
        defined = np.isfinite(target)
        if np.count_nonzero(defined[:_DRAWN]) < _DEFINED:
            return None
        if not all(_are_taken(sides, defined) for sides in self._choices[node].values()):
            return None
        scale = np.max([np.abs(self._values[o][defined]) for o in node.operands], axis=0, initial=0.0)
        if np.all(np.abs(target[defined]) <= _ZERO * scale):
            target = np.zeros_like(target)
        limit = self._cost[node] - _GAIN
        ways = self._matching(node, target, defined, is_wanted, limit)
        found = min(ways, key=lambda way: way.cost, default=None)
        if found is None or found.cost > limit or not self._is_equal(node, found, defined):
            return None
        return found

    def _matching(
        self, node: Node, target: np.ndarray, defined: np.ndarray, is_wanted: bool, limit: float
    ) -> Iterator[_Way]:
        """Ways that have the values ``target``; those that cost more than ``limit`` may be left out."""
        if np.ptp(target[defined]) == 0 and target[defined][0] in (0.0, *_NUMBERS):
            value = float(target[defined][0])
            if not node.shape:
                yield self._number(value)
            return
        if not target[defined].any():
            return
        atoms = self._atoms(node)
        if min((a.cost for a in atoms), default=math.inf) > limit:
            return
        pairs = _Pairs(atoms, node.shape)
        bound = _CLOSE * np.abs(target[defined])
        same = np.all(np.abs(pairs.values[:, defined] - target[defined]) <= bound, axis=1)
        yield from map(pairs.way, np.flatnonzero(same & pairs.is_whole & (pairs.costs <= limit)).tolist())
        if is_wanted:
            yield from self._of_two(pairs, target, defined, limit)

    def _number(self, value: float) -> _Way:
        return _Way(np.full(_COUNT, value), 1.0, (), lambda: literal(value), lambda: number(value))

    def _atoms(self, node: Node) -> list[_Way]:
        """Numbers, and the shortest of the values that are known and that fit the shape of ``node``."""
        known = [n for n in self._values if _fits(n, node) and n.primitive is not LITERAL and n not in self._hidden]
        known.sort(key=lambda n: self._cost[n])
        return [
            *map(self._number, self._numbers),
            *map(self._known, known[:MAX_ATOMS]),
            *self._functions(known[:MAX_ATOMS]),
        ]

    def _known(self, n: Node) -> _Way:
        return _Way(self._values[n], self._cost[n], n.shape, lambda: self._new[n], lambda: self._formulas[n])

    def _functions(self, known: list[Node]) -> Iterator[_Way]:
        """Functions of what others of their family are of: the tangent where there is a sine."""
        names = {n.primitive.name: n.operands[0] for n in known if n.operands}
        for function, others in ((f.tan, ("sin", "cos")), (f.tanh, ("sinh", "cosh"))):
            for u in {names[o] for o in others if o in names}:
                yield _applied(function, [self._known(u)], 2.0)

    def _of_two(self, pairs: _Pairs, target: np.ndarray, defined: np.ndarray, limit: float) -> Iterator[_Way]:
        """Sums, differences, products and quotients of two of ``pairs`` that are ``target``."""
        rest = limit - 1.0 - pairs.costs  # what the other one may cost
        is_short = rest >= np.min(pairs.costs)
        place = int(np.flatnonzero(defined)[0])
        order = np.argsort(pairs.values[:, place])
        keys = pairs.values[order, place]
        for function, other in _OTHERS:
            key = other(pairs.values[:, place], target[place])
            width = _CLOSE * (np.abs(key) + np.abs(pairs.values[:, place]))
            low, high = np.searchsorted(keys, key - width), np.searchsorted(keys, key + width, "right")
            for k in np.flatnonzero((high > low) & np.isfinite(key) & is_short).tolist():
                others = order[low[k] : high[k]]
                others = others[pairs.costs[others] <= rest[k]]
                made = function.ufunc(pairs.values[k, defined], pairs.values[others][:, defined])
                same = np.all(np.abs(made - target[defined]) <= _CLOSE * np.abs(target[defined]), axis=1)
                for j in others[same].tolist():
                    if pairs.is_whole[k] or pairs.is_whole[j]:
                        yield _applied(function, [pairs.way(k), pairs.way(j)], 1.0)

    def _is_equal(self, node: Node, way: _Way, defined: np.ndarray) -> bool:
        """Whether both are equal in many digits at some of the points and at those far away."""
        names = list(self._leaves)
        near = [[self._leaves[n][k] for n in names] for k in np.flatnonzero(defined[:_DRAWN])[:_DEFINED]]
        far = [[self._far[n][k] for n in names] for k in range(len(_FAR) + len(self._reach))]
        return are_equal(names, self._formulas[node], way.formula(), near, far)


#: what two ways are combined by, what it costs, and whether both orders are tried
_COMBINED = ((f.add, 1.0, False), (f.multiply, 0.5, False), (f.subtract, 1.0, True), (f.divide, 1.0, True))
#: what one operand and the result say of the other one
_OTHERS = (
    (f.add, lambda a, t: t - a),
    (f.subtract, lambda a, t: a - t),
    (f.multiply, lambda a, t: t / a),
    (f.divide, lambda a, t: a / t),
)


class _Pairs:
    """Ways as they are, squared, negated, and combined in pairs; ``is_whole`` where they have the shape wanted."""

    def __init__(self, atoms: list[_Way], shape: tuple) -> None:
        self._atoms = atoms
        single = np.array([a.values for a in atoms])
        whole = np.array([a.shape == shape for a in atoms])
        i, j = np.triu_indices(len(atoms), 1)
        self._made: list[tuple[Elementwise | None, float, Any, Any]] = [(None, 0.0, range(len(atoms)), None)]
        cost_of = np.array([a.cost for a in atoms])
        values, is_whole, costs = [single], [whole], [cost_of]
        for function in (f.square, f.negative):
            self._made.append((function, 1.0, range(len(atoms)), None))
            values.append(function.ufunc(single))
            is_whole.append(whole)
            costs.append(cost_of + 1.0)
        for function, cost, both in _COMBINED:
            for first, second in ((i, j), (j, i)) if both else ((i, j),):
                self._made.append((function, cost, first, second))
                values.append(function.ufunc(single[first], single[second]))
                is_whole.append(whole[first] | whole[second])
                costs.append(cost_of[first] + cost_of[second] + cost)
        self._starts = np.cumsum([0, *map(len, values)])
        self.values, self.is_whole, self.costs = map(np.concatenate, (values, is_whole, costs))

    def way(self, k: int) -> _Way:
        """The ``k``-th of them."""
        kind = int(np.searchsorted(self._starts, k, "right")) - 1
        function, cost, first, second = self._made[kind]
        own = k - self._starts[kind]
        a = self._atoms[first[own]]
        if function is None:
            return a
        return _applied(function, [a] if second is None else [a, self._atoms[second[own]]], cost)


def _applied(function: Elementwise, operands: list[_Way], cost: float) -> _Way:
    return _Way(
        np.asarray(function.ufunc(*[o.values for o in operands])),
        cost + sum(o.cost for o in operands),
        broadcast(*[o.shape for o in operands]) if len(operands) > 1 else operands[0].shape,
        lambda: function(*[o.make() for o in operands]),
        lambda: instantiate(function.expr, SLOTS, [o.formula() for o in operands]),
    )


def _sides(node: Node, values: list[np.ndarray]) -> np.ndarray | None:
    """Which side an operation takes at each point, where it has sides."""
    if node.primitive.name in _SIDES:
        return np.sign(np.subtract(*map(np.asarray, values), dtype=np.float64))
    return np.sign(values[0]) if node.primitive.name in _MIRRORS else None


def _are_taken(sides: np.ndarray, defined: np.ndarray) -> bool:
    """Whether each side that is taken at any point is taken at one that counts."""
    return set(sides[np.isfinite(sides)].tolist()) <= set(sides[defined].tolist())


def _is_drawn(node: Node) -> bool:
    """Whether points give ``node`` any value: also to a comparison of what they would never make equal.

    That is what is computed, and two values that may depend on one another, as an array and its maximum.
    """
    if not _is_followed(node):
        return True
    if node.primitive.name not in COMPARISONS:
        return False
    free = [o for o in node.operands if not o.is_literal]
    return any(map(_is_followed, free)) or (len(free) > 1 and not all(o.is_leaf for o in free))


def _is_seen(node: Node, values: list[np.ndarray]) -> bool:
    """Whether the points lie on both sides of an operation that has two: some of them are between these."""
    name = node.primitive.name
    if name in _SIDES:
        ties = values[0] == values[1]
    elif name in _MIRRORS or (name in _ROOTS and node.operands[0].primitive.name in _EVEN):
        ties = values[0] == 0
    else:
        return True
    return bool(np.any(ties & np.isfinite(values[0])))


def _is_followed(node: Node) -> bool:
    """Whether it is computed element by element, of real numbers."""
    if node.primitive in (LITERAL, CAST, GATE):
        return node.dtype.kind in "fib"
    if isinstance(node.primitive, Elementwise):
        return node.dtype.kind in "fb" and bool(node.operands)
    if node.primitive is not EINSUM or not node.operands:
        return False
    labels, out, _, _ = node.params
    return all(ls == out[len(out) - len(ls) :] for ls in labels) and len(set(out)) == len(out)


def _fits(n: Node, node: Node) -> bool:
    return n is not node and n.dtype == node.dtype and n.shape in ((), node.shape)


def _sigmoid_of(node: Node) -> Node | None:
    """``u`` of ``1/(1 + exp(−u))``."""
    below = _of(node, "divide", 1.0)
    inner = below and _of(below, "add", 1.0)
    if inner is None or inner.primitive.name != "exp" or inner.operands[0].primitive.name != "negative":
        return None
    return inner.operands[0].operands[0]


def _of(node: Node, name: str, first: float) -> Node | None:
    if node.primitive.name != name or not node.operands[0].is_literal or literal_value(node.operands[0]) != first:
        return None
    return node.operands[1]
