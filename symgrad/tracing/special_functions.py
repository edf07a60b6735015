"""The functions of ``scipy.special`` that are Python's, or give several results; imported where one is called.

scipy is optional: nothing else in symgrad imports this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ..errors import ArgumentError, UnsupportedOperation
from ..primitives.elementwise import Elementwise
from ..primitives.special import OPERATIONS, SEVERAL, zeta
from .dispatch import answers
from .given_arrays import floats
from .local_array import holds_traced, unwrapped
from .log_sums import finite_largest, largest, log_sum
from .trace import as_node, running
from .tracer import Tracer


def _several(operations: tuple[Elementwise, ...]) -> Callable:
    def answer(*args: Any) -> tuple[Tracer, ...]:
        nodes = [as_node(a) for a in args]
        return tuple([Tracer(operation(*nodes)) for operation in operations])

    return answer


for _ufunc, _operations in SEVERAL.items():
    answers(_ufunc)(_several(_operations))


@answers(special.logsumexp)
def _logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """``c + log ∑ b exp(a - c)``, of which the derivative is the softmax."""
    a = floats(a)
    if b is not None:
        b = floats(b)
        a = np.where(b == 0, -np.inf, a)
    made, total = log_sum(a, axis, b, signed=return_sign)
    sign = np.sign(total)
    if not keepdims:
        made, sign = (np.squeeze(v, axis=axis) for v in (made, sign))
    return (made, sign) if return_sign else made


@answers(special.softmax)
def _softmax(x, axis=None):
    x = floats(x)
    raised = np.exp(x - largest(x, axis))
    return raised / np.sum(raised, axis=axis, keepdims=True)


@answers(special.log_softmax)
def _log_softmax(x, axis=None):
    x = floats(x)
    lowered = x - finite_largest(x, axis)
    return lowered - np.log(np.sum(np.exp(lowered), axis=axis, keepdims=True))


if hasattr(special, "softplus"):  # of newer versions

    @answers(special.softplus)
    def _softplus(x):
        return np.logaddexp(0, Tracer(as_node(x)))


def _constant(name: str, argument: str, value: Any) -> Any:
    """An argument that says which function is meant, and is none to derive by."""
    if holds_traced(value):
        raise UnsupportedOperation.here(
            f"scipy.special.{name} has no derivative rule in symgrad by {argument}: it must be a plain number here."
        )
    return unwrapped(value)


def _spherical(name: str) -> Callable:
    operation = OPERATIONS[name]
    primed: Any = operation.partials[1]

    def answer(n: Any, z: Any, derivative: bool = False) -> Tracer:
        is_whole = holds_traced(n) and n.dtype.kind in "iu"
        order = as_node(n) if is_whole else running().constant(np.asarray(_constant(name, "n", n), dtype=np.int64))
        return Tracer((primed if derivative else operation)(order, floats(z)._symgrad_node))

    return answer


for _name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    answers(getattr(special, _name))(_spherical(_name))


def _primed(name: str, sign: int, factor: int = 1) -> Callable:
    """The n-th derivative of a Bessel function, as a sum over the orders around it."""
    function = getattr(special, name)

    def answer(v: Any, z: Any, n: int = 1) -> Tracer:
        if _constant(f"{name}p", "n", n) != int(n) or n < 0:
            raise ArgumentError.here(f"scipy.special.{name}p takes a whole n ≥ 0; it got {n!r}.")
        v, z, weight = _constant(f"{name}p", "v", v), Tracer(as_node(z)), 1.0
        v = np.asarray(v) if n else v  # as SciPy does, whose results are of its precision then
        total = function(v - n, z)
        for k in range(1, n + 1):
            weight = sign * weight * (n - k + 1) / k
            total = total + weight * function(v - n + 2 * k, z)
        return factor**n * total / 2.0**n

    return answer


answers(special.jvp)(_primed("jv", -1))
answers(special.yvp)(_primed("yv", -1))
answers(special.ivp)(_primed("iv", 1))
answers(special.kvp)(_primed("kv", 1, -1))


@answers(special.polygamma)
def _polygamma(n, x):
    n, x = np.asarray(_constant("polygamma", "n", n)), floats(x)
    scale = np.where(n % 2 == 0, -1.0, 1.0) * special.gamma(n + 1.0)
    if n.ndim == 0:
        return special.psi(x).astype(float) if n == 0 else scale * _hurwitz(n + 1.0, x)
    return np.where(n == 0, special.psi(x), scale * _hurwitz(np.where(n == 0, 2.0, n + 1.0), x))


def _hurwitz(s: Any, q: Any) -> Tracer:
    return Tracer(zeta(as_node(s), as_node(q)))


@answers(special.zeta)
def _zeta(x, q=None):
    if q is None:
        raise UnsupportedOperation.here(
            "scipy.special.zeta(x) has no derivative rule in symgrad by x; zeta(x, q) has one by q. Compute it "
            "outside the differentiated function and pass it in, or say what its derivative is: symgrad.custom."
        )
    return _hurwitz(_constant("zeta", "x", x), floats(q))


@answers(getattr(special, "multigammaln"))  # noqa: B009, which the types of SciPy do not know
def _multigammaln(a, d):
    d = int(_constant("multigammaln", "d", d))
    a = floats(a)
    terms = [special.gammaln(a - 0.5 * j) for j in range(d)]
    return d * (d - 1) * 0.25 * np.log(np.pi) + np.sum(np.stack(terms), axis=0)


@answers(special.comb)
def _comb(N, k, *, exact=False, repetition=False):
    if exact:
        raise UnsupportedOperation.here("scipy.special.comb(…, exact=True) counts integers; leave exact away.")
    N, k = floats(N), floats(k)
    if repetition:
        return np.where((k == 0) & (N >= 0), 1.0, special.binom(N + k - 1, k))
    return np.where((k <= N) & (N >= 0) & (k >= 0), special.binom(N, k), 0.0)


@answers(special.perm)
def _perm(N, k, exact=False):
    if exact:
        raise UnsupportedOperation.here("scipy.special.perm(…, exact=True) counts integers; leave exact away.")
    N, k = floats(N), floats(k)
    return np.where((k <= N) & (N >= 0) & (k >= 0), special.poch(N - k + 1, k), 0.0)


@answers(special.factorial)
def _factorial(n, exact=False, extend="zero"):
    if exact:
        raise UnsupportedOperation.here("scipy.special.factorial(…, exact=True) counts integers; leave exact away.")
    n = floats(n)
    return np.where(n < 0, 0.0, special.gamma(n + 1)).astype(float)


@answers(special.lambertw)
def _lambertw(z, k=0, tol=1e-8):
    raise UnsupportedOperation.here(
        "scipy.special.lambertw gives complex numbers, and has no derivative rule in symgrad. Of a positive z "
        "write scipy.special.wrightomega(np.log(z)), which is its real branch there."
    )
