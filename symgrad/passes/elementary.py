"""Functions of floats in functions that more targets have.

``# expit(x) -> 1 / (1 + exp(-x))``. No formula loses digits by cancellation; infinities and NaN come out as SciPy's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ..primitives import functions as f
from ..primitives.casting import cast
from ..primitives.contraction import gate
from ..primitives.elementwise import ELEMENTWISE, Elementwise
from ..primitives.primitive import INPUT
from ..program.node import Graph, Node
from ..program.program import Program
from .loops import with_bodies
from .rewrite import rewrite

_ROOT_HALF, _LN2 = math.sqrt(0.5), math.log(2.0)
_F64 = np.dtype(np.float64)
_SMALLEST = float(np.finfo(_F64).tiny)
#: how far from 1/2 the logarithms of x and 1 - x are taken together
_NEAR = 0.2


def _in_double(formula: Callable[..., Node]) -> Callable[..., Node]:
    """The formula in float64, whatever it is given: rounded once, at the end."""
    return lambda *operands: formula(*[cast(o, _F64) for o in operands])


def _logit(x: Node) -> Node:
    s = f.multiply(2, f.subtract(x, 0.5))  # near 1/2 the quotient loses digits
    near = f.subtract(f.log1p(s), f.log1p(f.negative(s)))
    return f.where(f.less(f.absolute(s), 2 * _NEAR), near, f.log(f.divide(x, f.subtract(1, x))))


def _xlogy(x: Node, y: Node) -> Node:
    return f.where(f.logical_and(f.equal(x, 0), f.logical_not(f.isnan(y))), 0, f.multiply(x, f.log(y)))


def _ndtr(x: Node) -> Node:
    return f.multiply(0.5, ELEMENTWISE["erfc"](f.multiply(-_ROOT_HALF, x)))


def _log_ndtr(x: Node) -> Node:
    z = f.multiply(_ROOT_HALF, x)
    left = f.subtract(f.log(f.multiply(0.5, ELEMENTWISE["erfcx"](f.negative(z)))), f.multiply(0.5, f.square(x)))
    return f.where(f.less(x, -1), left, f.log1p(f.multiply(-0.5, ELEMENTWISE["erfc"](z))))


def _logaddexp(a: Node, b: Node) -> Node:
    grown = f.add(f.maximum(a, b), f.log1p(f.exp(f.negative(f.absolute(f.subtract(a, b))))))
    return f.where(f.equal(a, b), f.add(a, _LN2), grown)


def _logaddexp2(a: Node, b: Node) -> Node:
    grown = f.add(f.maximum(a, b), f.multiply(1 / _LN2, f.log1p(f.exp2(f.negative(f.absolute(f.subtract(a, b)))))))
    return f.where(f.equal(a, b), f.add(a, 1), grown)


def _heaviside(a: Node, b: Node) -> Node:
    return f.where(f.equal(a, 0), b, f.where(f.less(a, 0), 0, f.where(f.greater(a, 0), 1, a)))


def _remainder(a: Node, b: Node) -> Node:
    rest = f.fmod(a, b)
    signed = f.where(f.logical_xor(f.less(rest, 0), f.less(b, 0)), f.add(rest, b), rest)
    return f.where(f.not_equal(rest, 0), signed, f.copysign(0.0, b))


def _floor_divide(a: Node, b: Node) -> Node:
    """Step by step as NumPy takes it."""
    rest, quotient = f.fmod(a, b), f.divide(a, b)
    apart = f.logical_and(f.not_equal(rest, 0), f.logical_xor(f.less(rest, 0), f.less(b, 0)))
    steps = f.divide(f.subtract(a, rest), b)
    steps = f.where(apart, f.subtract(steps, 1), steps)
    down = f.floor(steps)
    down = f.where(f.greater(f.subtract(steps, down), 0.5), f.add(down, 1), down)
    down = f.where(f.equal(steps, 0), f.copysign(0.0, quotient), down)
    return f.where(f.equal(b, 0), quotient, down)


def _entr(x: Node) -> Node:
    beyond = f.where(f.less(x, 0), -math.inf, f.where(f.equal(x, 0), 0, x))
    return f.where(f.greater(x, 0), f.negative(f.multiply(x, f.log(x))), beyond)


def _relative(x: Node, y: Node, more: Any, at_zero: Any) -> Node:
    """``x log(x/y) + more``, of numbers that are not negative; of others infinity."""
    ratio = f.divide(x, y)
    is_near = f.logical_and(f.greater(ratio, 0.5), f.less(ratio, 2))
    is_far = f.logical_or(f.less(ratio, _SMALLEST), f.equal(ratio, math.inf))
    apart = f.where(is_far, f.subtract(f.log(x), f.log(y)), f.log(ratio))
    logarithm = f.where(is_near, f.log1p(f.divide(f.subtract(x, y), y)), apart)
    inside = f.logical_and(f.greater(x, 0), f.greater(y, 0))
    at_rim = f.where(f.logical_and(f.equal(x, 0), f.greater_equal(y, 0)), at_zero, math.inf)
    made = f.where(inside, f.add(f.multiply(x, logarithm), more), at_rim)
    return f.where(f.logical_or(f.isnan(x), f.isnan(y)), math.nan, made)


def _rel_entr(x: Node, y: Node) -> Node:
    return _relative(x, y, 0, 0)


def _kl_div(x: Node, y: Node) -> Node:
    return _relative(x, y, f.subtract(y, x), y)


def _log_expit(x: Node) -> Node:
    rest = f.log1p(f.exp(f.negative(f.absolute(x))))
    return f.where(f.less(x, 0), f.subtract(x, rest), f.negative(rest))


def _xlog1py(x: Node, y: Node) -> Node:
    return f.where(f.logical_and(f.equal(x, 0), f.logical_not(f.isnan(y))), 0, f.multiply(x, f.log1p(y)))


def _huber(delta: Node, r: Node) -> Node:
    size = f.absolute(r)
    line = f.multiply(delta, f.subtract(size, f.multiply(0.5, delta)))
    made = f.where(f.less_equal(size, delta), f.multiply(0.5, f.square(r)), line)
    return f.where(f.less(delta, 0), math.inf, made)


def _cosm1(x: Node) -> Node:
    return f.subtract(0, f.multiply(2, f.square(f.sin(f.multiply(0.5, x)))))


def _exprel(x: Node) -> Node:
    made = f.where(f.equal(x, math.inf), x, f.divide(f.expm1(x), x))
    return f.where(f.less(f.absolute(x), 1e-16), 1, made)


def _squared_sech(x: Node, _: Node) -> Node:
    e = f.exp(f.multiply(-2, f.absolute(x)))
    return f.divide(f.multiply(4, e), f.square(f.add(1, e)))


def _squared_sech_of_tanh(x: Node, t: Node) -> Node:
    """The same of a tanh that is there anyway: ``1 + |t|`` is ``2 / (1 + e)``, so the division is done."""
    e = f.exp(f.multiply(-2, f.absolute(x)))
    return f.multiply(e, f.square(f.add(1, f.absolute(t))))


def _tanh(x: Node) -> Node:
    """With the exponential that its slope takes, and near 0 by Lambert's continued fraction, to rounding."""
    size = f.absolute(x)
    e = f.exp(f.multiply(-2, size))
    z = f.square(x)
    top = f.add(135135, f.multiply(z, f.add(17325, f.multiply(z, f.add(378, z)))))
    bottom = f.add(135135, f.multiply(z, f.add(62370, f.multiply(z, f.add(3150, f.multiply(28, z))))))
    is_near = f.less(size, 0.35)
    above = f.where(is_near, f.multiply(size, top), f.subtract(1, e))
    return f.copysign(f.divide(above, f.where(is_near, bottom, f.add(1, e))), x)


def _times(factor: float) -> Callable[[Node], Node]:
    return lambda x: f.multiply(factor, x)


#: function -> what it is, of operands in the dtype that it computes in
FORMULAS: dict[str, Callable[..., Node]] = {
    "at_kink": lambda size, value: gate(f.equal(size, 0), value),
    "cosm1": _in_double(_cosm1),
    "entr": _in_double(_entr),
    "expit": f.sigmoid,
    "exprel": _in_double(_exprel),
    "fabs": f.absolute,
    "float_power": f.power,
    "floor_divide": _floor_divide,
    "heaviside": _heaviside,
    "huber": _in_double(_huber),
    "kl_div": _in_double(_kl_div),
    "log_expit": _in_double(_log_expit),
    "log_ndtr": _in_double(_log_ndtr),
    "logaddexp": _logaddexp,
    "logaddexp2": _logaddexp2,
    "logit": _in_double(_logit),
    "ndtr": _in_double(_ndtr),
    "norm_sqrt": f.sqrt,
    "rel_entr": _in_double(_rel_entr),
    "remainder": _remainder,
    "squared_sech": _squared_sech,
    "special_expm1": _in_double(f.expm1),
    "special_log1p": _in_double(f.log1p),
    "xlog1py": _in_double(_xlog1py),
    "xlogy": _xlogy,
    **dict.fromkeys(("deg2rad", "radians"), _times(math.pi / 180)),
    **dict.fromkeys(("rad2deg", "degrees"), _times(180 / math.pi)),
}


#: the same beside its slope, where neither is known
_SLOPED: dict[str, Callable[..., Node]] = {"tanh": _tanh}
#: what NumPy and SciPy have
OF_NUMPY = frozenset((*(FORMULAS.keys() - {"at_kink", "squared_sech"}), *_SLOPED))


def in_elementary(program: Program, known: Collection[str]) -> Program:
    """``program`` without functions of floats that have a formula here and are not ``known`` to a target.

    New nodes are of a Graph of their own, since kernels are planned beside the thread that derives in the program's.
    """
    if not any(_lacks(n, known) for n in program.every_node):
        return program
    graph = Graph()
    graph.sizes = program.graph.sizes
    own = Program(program.inputs, program.outputs, program.names, graph)
    own = with_bodies(own, lambda body: in_elementary(body, known))
    graph.table |= {(n.primitive, n.operands, n.params): n for n in own.nodes if n.primitive is not INPUT}  # as shared
    lacking = {n for n in own.nodes if _lacks(n, known)}
    slopes = [n for n in lacking if n.primitive is f.squared_sech]
    sloped = {n.operands[:1] for n in slopes if "tanh" not in known}
    lacking |= {n for n in own.nodes if n.primitive is f.tanh and n.operands in sloped}
    reads = Counter(n.operands[1] for n in slopes)
    beside = {n for n in slopes if _is_tanh(*n.operands) and own.uses[n.operands[1]] > reads[n.operands[1]]}
    return rewrite(own, lambda node, original: _formula(node, original in beside) if original in lacking else None)


def _is_tanh(x: Node, t: Node) -> bool:
    return t.primitive is f.tanh and t.operands[0] is x


def _lacks(node: Node, known: Collection[str]) -> bool:
    operation = node.primitive
    if operation.name not in FORMULAS or operation.name in known or not isinstance(operation, Elementwise):
        return False
    return operation.loop_dtypes(node.operands)[0].kind == "f"


def _formula(node: Node, is_beside_tanh: bool) -> Node:
    assert isinstance(node.primitive, Elementwise)
    loops = node.primitive.loop_dtypes(node.operands)
    operands = [o if o.weak and o.dtype.kind == "f" else cast(o, d) for o, d in zip(node.operands, loops, strict=False)]
    name = node.primitive.name
    formula = _squared_sech_of_tanh if is_beside_tanh else FORMULAS.get(name) or _SLOPED[name]
    return cast(formula(*operands), node.dtype)
