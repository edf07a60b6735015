"""``scipy.integrate.quad`` of traced integrands and limits: a Gauss-Kronrod sum over intervals that are fixed.

The intervals are halved, as QUADPACK does it, until the estimated error is small enough at the values of this run. The
sum is differentiated, so its derivative is Leibniz' rule by quadrature. That the estimate stays small enough is a
guard: for values where it does not, other intervals are found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from .dispatch import answers_for
from .given_arrays import array
from .local_array import holds_traced
from .trace import as_followed, as_node, running
from .tracer import Tracer

#: the 21 points of Kronrod in (0, 1) and 0, their weights, and those of Gauss at every other one (QUADPACK, qk21)
_POINTS = np.array(
    [
        *(
            0.9956571630258081,
            0.9739065285171717,
            0.9301574913557082,
        ),
        *(
            0.8650633666889845,
            0.7808177265864169,
            0.6794095682990244,
        ),
        *(
            0.5627571346686047,
            0.4333953941292472,
            0.2943928627014602,
        ),
        *(0.14887433898163122, 0.0),
    ]
)
_KRONROD = np.array(
    [
        *(
            0.011694638867371874,
            0.032558162307964725,
            0.054755896574351995,
        ),
        *(0.07503967481091996, 0.0931254545836976, 0.10938715880229764),
        *(
            0.12349197626206584,
            0.13470921731147334,
            0.14277593857706009,
        ),
        *(0.14773910490133849, 0.1494455540029169),
    ]
)
_GAUSS = np.array(
    [
        *(
            0.06667134430868814,
            0.1494513491505806,
            0.21908636251598204,
        ),
        *(0.26926671930999635, 0.29552422471475287),
    ]
)
X = np.concatenate([-_POINTS, _POINTS[-2::-1]])
K = np.concatenate([_KRONROD, _KRONROD[-2::-1]])
G = np.zeros(21)
G[1:10:2], G[11:20:2] = _GAUSS, _GAUSS[::-1]


@answers_for("scipy.integrate.quad")
def _quad(
    func,
    a,
    b,
    args=(),
    full_output=0,
    epsabs=1.49e-8,
    epsrel=1.49e-8,
    limit=50,
    points=None,
    weight=None,
    wvar=None,
    wopts=None,
    maxp1=50,
    limlst=50,
    complex_func=False,
):
    if points is not None or weight is not None or full_output or complex_func:
        raise UnsupportedOperation.here(
            "scipy.integrate.quad with points, weight, full_output or complex_func has no derivative rule in "
            "symgrad. Split the integral at the points, and write the weight into the integrand."
        )
    args = args if isinstance(args, tuple) else (args,)
    followed = as_followed(func)

    def integrand(t: Any) -> Any:
        return followed(t, *args)

    low, high = (v if holds_traced(v) else float(v) for v in (a, b))
    sign = 1.0
    if not holds_traced((low, high)) and low > high:
        low, high, sign = high, low, -1.0
    total, error = _adaptive(*_on_unit(integrand, low, high), epsabs, epsrel, limit)
    return sign * total, error


def _on_unit(function: Callable, low: Any, high: Any) -> tuple[Callable, float, float]:
    """The integrand over a finite interval; an infinite one by ``t = a + (1 - s) / s``."""
    is_below, is_above = (not holds_traced(v) and np.isinf(v) for v in (low, high))
    if is_below and is_above:
        return (lambda s: (function((1 - s) / s) + function((s - 1) / s)) / s**2), 0.0, 1.0
    if is_above:
        return (lambda s: function(low + (1 - s) / s) / s**2), 0.0, 1.0
    if is_below:
        return (lambda s: function(high - (1 - s) / s) / s**2), 0.0, 1.0
    width = high - low
    return (lambda s: function(low + s * width) * width), 0.0, 1.0


def _adaptive(function: Callable, low: float, high: float, epsabs: float, epsrel: float, limit: int) -> tuple[Any, Any]:
    """The integral and its estimated error."""
    trace = running()
    parts = [(low, high, *_kronrod(function, low, high))]
    while True:
        total: Any = sum([p[2] for p in parts], 0.0)
        error: Any = sum([p[3] for p in parts], 0.0)
        enough = error <= np.maximum(epsabs, epsrel * np.abs(total))
        if not isinstance(enough, Tracer):
            enough = Tracer(trace.constant(np.asarray(enough)))
        if bool(trace.value_of(enough._symgrad_node)):
            trace.guard(enough._symgrad_node)
            return total, error
        worst = max(parts, key=lambda p: float(trace.value_of(as_node(p[3]))))
        if len(parts) >= limit or not np.isfinite(float(trace.value_of(as_node(error)))):
            raise UnsupportedOperation.here(
                "scipy.integrate.quad: the integral does not settle within its limit of intervals; its derivative "
                "would not either. Split it where the integrand is singular, or give a larger limit."
            )
        parts.remove(worst)
        middle = (worst[0] + worst[1]) / 2
        parts += [(s, e, *_kronrod(function, s, e)) for s, e in ((worst[0], middle), (middle, worst[1]))]


def _kronrod(function: Callable, low: float, high: float) -> tuple[Any, Any]:
    """The sum of 21 points over an interval, and how far it may be off, as QUADPACK estimates it."""
    half, centre = (high - low) / 2, (high + low) / 2
    values = np.stack([np.reshape(array(function(centre + half * x)), ()) for x in X])
    total = np.sum(values * K) * half
    apart = np.abs(total - np.sum(values * G) * half)
    spread = np.sum(K * np.abs(values - np.sum(values * K) / 2)) * half
    is_flat = (spread == 0) | (apart == 0)
    share = 200 * np.where(is_flat, 0.0, apart) / np.where(is_flat, 1.0, spread)
    return total, np.where(is_flat, apart, spread * np.minimum(1.0, share**1.5))
