"""Functions that run as they are, one of each kind, beside which others keep their derivatives.

Each is a smooth function of a number, near 1. Traced, it is computed by code that nobody looks into; of plain numbers,
of which differences are taken, by its formula, in any precision.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

import symgrad as sg
from symgrad import nn
from symgrad.tracing.trace import current

SMALL = 0.01


def _by_formula(formula):
    """Of plain numbers the function is ``formula``."""

    def decorated(function):
        @functools.wraps(function)
        def either(t):
            return formula(t) if current() is None else function(t)

        either.solved = function
        return either

    return decorated


_wave_by_jvp = sg.custom(jvp=lambda p, v, out: v[0] * np.cos(p[0]))(lambda t: np.sin(t))
_wave_by_vjp = sg.custom(vjp=lambda p, ct: ct * np.cos(p[0]))(lambda t: np.sin(t))


@_by_formula(lambda t: 1 + SMALL * np.sin(t))
def custom_jvp(t):
    return 1 + SMALL * _wave_by_jvp(t)


@_by_formula(lambda t: 1 + SMALL * np.sin(t))
def custom_vjp(t):
    return 1 + SMALL * _wave_by_vjp(t)


@_by_formula(lambda t: 1 + 0 * t)
def stopped(t):
    return 1 + SMALL * np.exp(sg.stop_gradient(0 * t)) - SMALL


@_by_formula(lambda t: 1 + SMALL * np.random.default_rng(3).normal(size=3).max() * t)
def random_draw(t):
    return 1 + SMALL * np.max(np.random.default_rng(3).normal(size=3)) * t


@_by_formula(lambda t: 1 + SMALL * (2 * (2 + np.tanh(t)) - 1) / ((2 + np.tanh(t)) * (3 + np.tanh(t)) - 1))
def sparse_solve(t):
    # [[d + 1, 1], [1, d]]⁻¹ [1, 1] = [d - 1, d] / (d (d + 1) - 1), summed, with d = 2 + tanh(t)
    d = 2 + np.tanh(t)
    entries = np.stack([d + 1, np.ones_like(d), np.ones_like(d), d])
    matrix = scipy.sparse.coo_array((entries, ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2)).tocsc()
    return 1 + SMALL * np.sum(scipy.sparse.linalg.spsolve(matrix, np.ones(2)))


@_by_formula(lambda t: 1 + SMALL * np.log(np.expm1(2 + np.tanh(t))))
def root(t):
    # log(1 + exp(y)) = 2 + tanh(t)
    return 1 + SMALL * scipy.optimize.brentq(lambda y: np.log(1 + np.exp(y)) - 2 - np.tanh(t), -9, 9, xtol=1e-14)


@_by_formula(lambda t: 1 + SMALL * np.tanh(t) / 2)
def minimum(t):
    found = scipy.optimize.minimize(lambda z: np.sum((2 * z - np.tanh(t)) ** 2), np.zeros(1), tol=1e-12)
    return 1 + SMALL * found.x[0]


@_by_formula(lambda t: 1 + SMALL * np.log(1 + np.tanh(t) ** 2 + np.exp(-1) * np.expm1(1)))
def initial_values(t):
    # y' = exp(-y) from log(tanh(t)² + exp(-1) (e - 1)) over one unit of time: y = log(exp(y₀) + s)
    start = np.log(np.tanh(t) ** 2 + np.exp(-1) * np.expm1(1))
    made = scipy.integrate.solve_ivp(lambda s, y: 1 / np.exp(y), (0, 1), [start], rtol=1e-11, atol=1e-13)
    return 1 + SMALL * made.y[0, -1]


@_by_formula(lambda t: 1 + SMALL * (np.cosh(np.tanh(t)) - 1))
def quadrature(t):
    u = np.tanh(t)
    return 1 + SMALL * scipy.integrate.quad(lambda s: u * np.sinh(s * u), 0, 1)[0]


_NET = nn.BatchNorm1d(1, eps=0.1).set_train()
_WEIGHTS = np.array([1.0, 2.0, 5.0])


def _three(t):
    return np.stack([t, 2 * t, t * t])


@_by_formula(lambda t: 1 + SMALL * np.sum(_WEIGHTS * (_three(t) - _three(t).mean()) / np.sqrt(_three(t).var() + 0.1)))
def batch_statistics(t):
    return 1 + SMALL * np.sum(_WEIGHTS * _NET(_three(t)[:, None])[:, 0])


KINDS = {
    f.__name__: f
    for f in (
        custom_jvp,
        custom_vjp,
        stopped,
        random_draw,
        sparse_solve,
        root,
        minimum,
        initial_values,
        quadrature,
        batch_statistics,
    )
}


def every_kind(t):
    """The product of all kinds."""
    made = 1.0
    for kind in KINDS.values():
        made = made * kind(t)
    return made
