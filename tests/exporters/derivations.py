"""Functions whose derivations are read step by step, and what compares the steps with the kernel."""

from __future__ import annotations

import numpy as np

import symgrad as sg
from symgrad.closed_form.derivation.naming import Name
from symgrad.errors import TracingError
from symgrad.tracing.tree import flatten


def logistic(w, X, y):
    z = X @ w
    return np.sum(np.log(1 + np.exp(-y * z)))


def cross_entropy(W, X, Y):
    Z = X @ W
    Z = Z - np.max(Z, axis=1, keepdims=True)
    P = np.exp(Z) / np.sum(np.exp(Z), axis=1, keepdims=True)
    return -np.sum(Y * np.log(P))


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def ridge(w, X, y, lam):
    r = X @ w - y
    return 0.5 * r @ r + lam * w @ w


def gaussian(mu, S, x):
    d = x - mu
    return -0.5 * np.linalg.slogdet(S)[1] - 0.5 * d @ np.linalg.solve(S, d)


def arm(q):
    a = q[0]
    b = q[0] + q[1]
    return np.stack([np.cos(a) + 0.5 * np.cos(b), np.sin(a) + 0.5 * np.sin(b)])


def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(K.shape[1])
    A = np.exp(S - np.max(S, axis=1, keepdims=True))
    A = A / np.sum(A, axis=1, keepdims=True)
    return A @ V


def call(S, K, r, sigma, T):
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return S / (1 + np.exp(-1.7 * d1)) - K * np.exp(-r * T) / (1 + np.exp(-1.7 * d2))


def leaky(x):
    return np.sum(np.where(x > 0, x, 0.1 * x) ** 2) + np.sum(np.maximum(x, 0))


def normalised(x, g):
    m = np.mean(x, axis=1, keepdims=True)
    v = np.mean((x - m) ** 2, axis=1, keepdims=True)
    return np.sum(g * (x - m) / np.sqrt(v + 1e-5))


def loop(x, W):
    for _ in range(3):
        x = np.tanh(W @ x)
    return np.sum(x**2)


def picked(E, i):
    rows = E[i]
    return np.sum(rows**2)


def branching(x):
    return np.sum(x**2) if np.sum(x) > 0 else np.sum(-x)


RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
READ = {
    "logistic": (logistic, (0,), (RNG.normal(size=3), RNG.normal(size=(6, 3)), np.sign(RNG.normal(size=6)))),
    "cross entropy": (
        cross_entropy,
        (0,),
        (RNG.normal(size=(4, 3)), RNG.normal(size=(6, 4)), np.eye(3)[[0, 1, 2, 0, 1, 2]]),
    ),
    "rosenbrock": (rosenbrock, (0,), (RNG.normal(size=5),)),
    "ridge": (ridge, (0, 3), (RNG.normal(size=3), RNG.normal(size=(6, 3)), RNG.normal(size=6), 0.1)),
    "gaussian": (gaussian, (0, 1), (RNG.normal(size=4), A @ A.T + np.eye(4), RNG.normal(size=4))),
    "arm": (arm, (0,), (RNG.normal(size=2),)),
    "attention": (attention, (0, 1, 2), tuple(RNG.normal(size=(5, 3)) for _ in range(3))),
    "call": (call, (0, 3), (100.0, 95.0, 0.02, 0.3, 1.5)),
    "leaky": (leaky, (0,), (RNG.normal(size=6),)),
    "normalised": (normalised, (0, 1), (RNG.normal(size=(5, 4)), RNG.normal(size=4))),
    "loop": (loop, (0, 1), (RNG.normal(size=4), RNG.normal(size=(4, 4)))),
    "picked": (picked, (0,), (RNG.normal(size=(5, 3)), np.array([0, 2, -1, 2]))),
    "branching": (branching, (0,), (np.array([1.0, 2.0]),)),
    "float32": (loop, (0, 1), (RNG.normal(size=4).astype(np.float32), RNG.normal(size=(4, 4)).astype(np.float32))),
    "empty": (rosenbrock, (0,), (np.ones(1),)),
}


def bar(name):
    return name.marked("bar").text


def cotangents(steps, positions):
    """The cotangents of the arguments, computed line by line."""
    values = steps.values()
    names = [name for _, name, _ in steps._inputs]
    return [values[bar(names[p])] for p in positions]


def places(args, positions):
    """Where the arrays at these positions stand among all arrays."""
    counts = [len([v for v in flatten(a)[0] if isinstance(v, (np.ndarray, np.generic, float))]) for a in args]
    return [sum(counts[:p]) for p in positions]


def close(found, wanted):
    wanted = np.asarray(wanted)
    rough = wanted.dtype == np.float32
    np.testing.assert_allclose(
        found, wanted, rtol=1e-4 if rough else 1e-9, atol=(1e-5 if rough else 1e-11) * _largest(wanted)
    )


def _largest(x):
    finite = np.abs(np.asarray(x, float))[np.isfinite(x)]
    return max(1.0, float(finite.max(initial=0.0)))


def along(steps, names, directions):
    """The last value, along these directions of the arguments."""
    given = {Name(n).marked("dot").text: v for n, v in zip(names, directions, strict=True)}
    values = steps.values(given)
    return values[steps[-1].name.text]


def compare(function, args, positions):
    """The steps of the gradient compute what the kernel gives, and are written."""
    derived = sg.grad(function, positions)
    try:
        results = flatten(derived(*args))[0]
    except TracingError:
        return  # it has no derivative by one of them
    steps = derived.steps(*args)
    for found, wanted in zip(cotangents(steps, places(args, positions)), results, strict=True):
        close(found, wanted)
    assert str(steps)
    assert steps.latex().count(r"\begin") == steps.latex().count(r"\end")
