"""Orthogonal polynomials and hypergeometric functions, by their argument."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from .declaring import POSITIVE, A, B, C, D, Value, declare, fn, gated

WHOLE, UNIT = (1, 5), (-0.9, 0.9)
SHAPE, POINT = (0.3, 2.0), (-0.8, 0.8)


def _of_degree(rule: Callable[..., Value]) -> Callable[..., Value]:
    """``rule`` for degrees above 0: the derivative of a constant is 0, whatever is below it."""

    def slope(n: Value, *others: Value) -> Value:
        return gated(fn.not_equal(n, 0), rule(n, *others))

    return slope


def _declare(name: str, formula: object, rule: Callable[..., Value], domain: list[tuple[float, float]]) -> None:
    """A polynomial, which is derived by its last argument alone."""
    declare(name, formula, [*[None] * (len(domain) - 1), _of_degree(rule)], domain)


_declare(
    "eval_legendre",
    sympy.legendre(A, B),
    lambda n, x: 0.5 * (n + 1) * fn.eval_jacobi(n - 1, 1.0, 1.0, x),
    [WHOLE, UNIT],
)
_declare("eval_chebyt", sympy.chebyshevt(A, B), lambda n, x: n * fn.eval_chebyu(n - 1, x), [WHOLE, UNIT])
_declare("eval_chebyu", sympy.chebyshevu(A, B), lambda n, x: 2 * fn.eval_gegenbauer(n - 1, 2.0, x), [WHOLE, UNIT])
_declare("eval_chebyc", None, lambda n, x: n * fn.eval_chebys(n - 1, x), [WHOLE, UNIT])
_declare("eval_chebys", None, lambda n, x: fn.eval_gegenbauer(n - 1, 2.0, 0.5 * x), [WHOLE, UNIT])
_declare(
    "eval_sh_legendre",
    sympy.legendre(A, 2 * B - 1),
    lambda n, x: (n + 1) * fn.eval_jacobi(n - 1, 1.0, 1.0, 2 * x - 1),
    [WHOLE, (0.1, 0.9)],
)
_declare(
    "eval_sh_chebyt",
    sympy.chebyshevt(A, 2 * B - 1),
    lambda n, x: 2 * n * fn.eval_sh_chebyu(n - 1, x),
    [WHOLE, (0.1, 0.9)],
)
_declare(
    "eval_sh_chebyu",
    sympy.chebyshevu(A, 2 * B - 1),
    lambda n, x: 4 * fn.eval_gegenbauer(n - 1, 2.0, 2 * x - 1),
    [WHOLE, (0.1, 0.9)],
)
_declare(
    "eval_hermite", sympy.hermite(A, B), lambda n, x: 2 * n * fn.eval_hermite(fn.maximum(n - 1, 0), x), [WHOLE, UNIT]
)
_declare("eval_hermitenorm", None, lambda n, x: n * fn.eval_hermitenorm(fn.maximum(n - 1, 0), x), [WHOLE, UNIT])
_declare("eval_laguerre", sympy.laguerre(A, B), lambda n, x: -fn.eval_genlaguerre(n - 1, 1.0, x), [WHOLE, POSITIVE])
_declare(
    "eval_genlaguerre",
    sympy.assoc_laguerre(A, B, C),
    lambda n, a, x: -fn.eval_genlaguerre(n - 1, a + 1, x),
    [WHOLE, SHAPE, POSITIVE],
)
_declare(
    "eval_gegenbauer",
    sympy.gegenbauer(A, B, C),
    lambda n, a, x: 2 * a * fn.eval_gegenbauer(n - 1, a + 1, x),
    [WHOLE, SHAPE, UNIT],
)
_declare(
    "eval_jacobi",
    sympy.jacobi(A, B, C, D),
    lambda n, a, b, x: 0.5 * (n + a + b + 1) * fn.eval_jacobi(n - 1, a + 1, b + 1, x),
    [WHOLE, SHAPE, SHAPE, UNIT],
)
_declare(
    "eval_sh_jacobi",
    None,
    lambda n, p, q, x: n * fn.eval_sh_jacobi(n - 1, p + 2, q + 1, x),
    [WHOLE, (2.1, 4.0), (0.5, 2.0), (0.1, 0.9)],
)


def _legendre_slope(m: Value, v: Value, x: Value) -> Value:
    return (v * x * fn.lpmv(m, v, x) - (v + m) * fn.lpmv(m, v - 1, x)) / (x * x - 1)


declare("lpmv", sympy.assoc_legendre(B, A, C), [None, None, _legendre_slope], [(0, 2), (2, 5), UNIT])
declare("hyp0f1", sympy.hyper((), (A,), B), [None, lambda v, z: fn.hyp0f1(v + 1, z) / v], [POSITIVE, (-3.0, 3.0)])
declare(
    "hyp1f1",
    sympy.hyper((A,), (B,), C),
    [None, None, lambda a, b, z: a / b * fn.hyp1f1(a + 1, b + 1, z)],
    [POSITIVE, POSITIVE, (-3.0, 3.0)],
)
declare(
    "hyp2f1",
    sympy.hyper((A, B), (C,), D),
    [None, None, None, lambda a, b, c, z: a * b / c * fn.hyp2f1(a + 1, b + 1, c + 1, z)],
    [SHAPE, SHAPE, SHAPE, POINT],
)
declare(
    "hyperu",
    None,
    [None, None, lambda a, b, x: -a * fn.hyperu(a + 1, b + 1, x)],
    [SHAPE, SHAPE, POSITIVE],
)
