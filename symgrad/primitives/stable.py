"""Compositions whose own chain rule is inf/inf in floating point, differentiated as one function."""

from __future__ import annotations

from collections.abc import Callable

from ..program.node import Node
from .casting import cast
from .elementwise import Partial
from .functions import (
    absolute,
    add,
    conjugated,
    cosh,
    divide,
    equal,
    exp,
    fabs,
    greater_equal,
    hypot,
    log,
    log1p,
    minus,
    multiply,
    negative,
    norm_sqrt,
    reciprocal,
    sigmoid,
    sqrt,
    square,
    subtract,
    tanh,
    where,
)
from .primitive import CONSTANT, literal, literal_value

Partials = list[tuple[Node, Partial]]


def _one_plus_exp(node: Node) -> Node | None:
    """``u`` where node is ``1 + exp(u)``."""
    if node.primitive is add:
        for one, other in (node.operands, node.operands[::-1]):
            if other.primitive is exp and _is_one(one):
                return other.operands[0]
    return None


def _sigmoid(u: Node, like: Node, sign: int = 1) -> Node:
    """``sigmoid(±u)`` at the precision of ``like``: the 1 in ``1 + exp(u)`` may have a higher one than ``u``."""
    u = _at_precision(u, like)
    return sigmoid(u if sign > 0 else minus(u))


def _at_precision(u: Node, like: Node) -> Node:
    return u if u.dtype == like.dtype else cast(u, like.dtype)


def _is_one(x: Node) -> bool:
    if x.is_literal:
        return literal_value(x) == 1
    return x.primitive is CONSTANT and not x.shape and x.params[0].value == 1


def _growth(node: Node) -> tuple[Node, Callable[..., Node]] | None:
    """``(u, f'(u)/f(u))`` of a function that overflows where this quotient is finite: exp, cosh, 1 + exp."""
    if node.primitive is exp:
        return node.operands[0], lambda *_: literal(1)
    if node.primitive is cosh:
        return node.operands[0], lambda *_: tanh(node.operands[0])
    u = _one_plus_exp(node)
    return None if u is None else (u, lambda *_: _sigmoid(u, node))


def _of_size(u: Node) -> tuple[Node, float] | None:
    """``(v, c)`` where ``u`` is ``c·|v|`` of real numbers, ``c`` a number."""
    c = 1.0
    while u.primitive in (negative, multiply):
        *numbers, rest = sorted(u.operands, key=lambda o: not o.is_literal)
        if not all(n.is_literal for n in numbers):
            return None
        c *= literal_value(numbers[0]) if numbers else -1.0
        u = rest
    return (u.operands[0], c) if u.primitive in (absolute, fabs) and not u.operands[0].is_complex else None


def _softplus(u: Node, node: Node) -> Partials:
    # log(1 + exp(u)) -> sigmoid(u);  of u = c·|v| by v: ±c·sigmoid(±c·v), smooth but for a step at 0, where it is 0
    found = _of_size(u)
    if found is None or type(found[1]) is complex:
        return [(u, lambda *_: _sigmoid(u, node))]
    v, c = found

    def slope(*_: Node) -> Node:
        at = _at_precision(v, node)
        right, left = (multiply(s * c, sigmoid(multiply(s * c, at))) for s in (1.0, -1.0))
        return add(where(greater_equal(at, 0), right, left), where(equal(at, 0), cast(literal(-c / 2), at.dtype), 0))

    return [(v, slope)]


def _stable_log(node: Node) -> Partials | None:
    # log(cosh(u)) -> tanh(u)
    u = _one_plus_exp(node.operands[0])
    if u is not None:
        return _softplus(u, node)
    found = _growth(node.operands[0])
    return None if found is None else [found]


def _stable_log1p(node: Node) -> Partials | None:
    inner = node.operands[0]
    return _softplus(inner.operands[0], node) if inner.primitive is exp else None


def _logistic_slope(u: Node, like: Node) -> Node:
    return multiply(_sigmoid(u, like), _sigmoid(u, like, -1))


def _stable_divide(node: Node) -> Partials | None:
    # c / (1 + exp(u)) -> -c·sigmoid(u)·sigmoid(-u);  exp(u) / (1 + exp(u)) -> sigmoid(u)·sigmoid(-u)
    # a / f(u) -> 1 / f(u), -a / f(u)·(f'/f)(u)
    # a / hypot(a, b) -> (b/h)²/h, -(a/h)·(b/h)/h;  c / (1 + u²) -> -2·(c/q)·(u/q)
    top, bottom = node.operands
    if bottom.primitive is hypot and top in bottom.operands:
        return _of_direction(top, bottom)
    u = _one_plus_square(bottom)
    if u is not None and top.is_literal:
        return [(u, lambda a, b: multiply(-2, multiply(divide(a, b), divide(_at_precision(u, node), b))))]
    u = _one_plus_exp(bottom)
    if u is not None:
        if top.is_literal:
            scale = negative if literal_value(top) == 1 else lambda slope: multiply(negative(top), slope)
            return [(u, lambda *_: scale(_logistic_slope(u, node)))]
        if top.primitive is exp and top.operands[0] is u:
            return [(u, lambda *_: _logistic_slope(u, node))]
    found = _growth(bottom)
    if found is None:
        return None
    u, growth = found
    by_top: Partials = [(top, lambda _, b: divide(1, b))] if top.differentiable else []
    return [*by_top, (u, lambda a, b: negative(multiply(divide(a, b), growth())))]


def _of_direction(a: Node, h: Node) -> Partials | None:
    first, second = h.operands
    b = second if a is first else first
    if a is b or not a.differentiable:
        return None
    along = (a, lambda a, h: divide(square(divide(_at_precision(b, h), h)), h))
    across = (b, lambda a, h: negative(divide(multiply(divide(a, h), divide(_at_precision(b, h), h)), h)))
    return [along, across] if b.differentiable and not b.is_literal else [along]


def _one_plus_square(node: Node) -> Node | None:
    """``u`` where node is ``1 + u²``."""
    if node.primitive is add:
        for one, other in (node.operands, node.operands[::-1]):
            is_square = other.primitive is square or (other.primitive is multiply and len({*other.operands}) == 1)
            if is_square and _is_one(one) and _square_of(other.operands[0], other) is None:
                return other.operands[0]
    return None


def _stable_reciprocal(node: Node) -> Partials | None:
    # 1 / (1 + exp(u)) -> -sigmoid(u)·sigmoid(-u);  1 / f(u) -> -1 / f(u)·(f'/f)(u)
    u = _one_plus_exp(node.operands[0])
    if u is not None:
        return [(u, lambda *_: negative(_logistic_slope(u, node)))]
    found = _growth(node.operands[0])
    return None if found is None else [(found[0], lambda a: negative(multiply(reciprocal(a), found[1]())))]


def _square_of(inner: Node, node: Node) -> Partials | None:
    # √s² -> 1, by s, hypot(a, b)² -> 2·a, 2·b: a norm has no slope at 0, and its square has
    # |z|² -> 2·z̄, of which the real part counts
    if inner.primitive in _ROOTS and inner.dtype == node.dtype:
        return [(inner.operands[0], lambda *_: literal(1))]
    if inner.primitive is hypot:
        return [(o, lambda *_, o=o: multiply(2, o)) for o in inner.operands if o.differentiable]
    z = inner.operands[0] if inner.primitive in (absolute, fabs) else inner
    return [(z, lambda *_: multiply(2, conjugated(z)))] if z.is_complex or z is not inner else None


def _stable_square(node: Node) -> Partials | None:
    return _square_of(node.operands[0], node)


def _stable_multiply(node: Node) -> Partials | None:
    # √s·√s -> 1, by s;  |x|·|x| -> 2·x
    # u·(c - u) -> c - 2·u;  (c - u)·(c + u) -> -2·u: terms that are infinite together do not meet
    first, second = node.operands
    if first is second:
        return _square_of(first, node)
    if second.primitive is subtract and second.operands[1] is first and second.operands[0].is_literal:
        c = second.operands[0]
        return [(first, lambda u, _: subtract(c, multiply(2, u)))]
    if first.primitive is subtract and second.primitive is add and first.operands == second.operands:
        c, u = first.operands
        return [(u, lambda *_: multiply(-2, u))] if c.is_literal else None
    return None


def _stable_where(node: Node) -> Partials | None:
    # where(True, a, b) -> 1, by a: what a plain truth value leaves out may be infinite
    choice, *branches = node.operands
    if not choice.is_literal:
        return None
    taken = branches[0] if literal_value(choice) else branches[1]
    return [(taken, lambda *_: literal(1))] if taken.differentiable else []


_ROOTS = (sqrt, norm_sqrt)
where.stable = _stable_where


def _of_reals(rule: Callable[[Node], Partials | None]) -> Callable[[Node], Partials | None]:
    return lambda node: None if node.is_complex else rule(node)


square.stable, multiply.stable = _of_reals(_stable_square), _of_reals(_stable_multiply)
log.stable, log1p.stable = _of_reals(_stable_log), _of_reals(_stable_log1p)
divide.stable, reciprocal.stable = _of_reals(_stable_divide), _of_reals(_stable_reciprocal)
