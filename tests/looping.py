"""Functions with loops, of every kind that a consumer of programs has to take, with arguments of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import symgrad as sg
from symgrad import cond, fori_loop, scan


class Looping(NamedTuple):
    """A function with loops; ``scalar`` where it gives a number, so that it has a gradient and a Hessian."""

    function: Callable
    arguments: tuple
    scalar: bool = True

    def derivatives(self) -> dict[str, Any]:
        """The function and what is derived of it, by name."""
        made = {"value": sg.symbolic(self.function), "jacobian": sg.jacobian(self.function, mode="forward")}
        made["jacrev"] = sg.jacobian(self.function, mode="reverse")
        return made | ({"grad": sg.grad(self.function), "hessian": sg.hessian(self.function)} if self.scalar else {})


def recurrent(W, U, x, h):
    def step(h, x):
        h = np.tanh(W @ h + U @ x)
        return h, h

    h, kept = scan(step, h, x)
    return np.sum(kept**2) + h[0]


def euler(y, k):
    return fori_loop(0, 5, lambda i, y: y + 0.1 * np.stack([y[1], -k * y[0]]), y)


def heat(u):
    return fori_loop(0, 4, lambda i, u: u + 0.2 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)) + 0.01 * np.sin(u), u)


def nested(x, a):
    def outer(c, i):
        inner = fori_loop(0, 3, lambda j, d: np.sin(d) * a + i, c)
        return inner, inner * c

    c, kept = scan(outer, x, np.arange(4.0))
    return c + np.sum(kept)


def backwards(x, xs):
    c, kept = scan(lambda c, x: (c * x + np.sin(c), c * x), x, xs, reverse=True)
    return kept * c


def never(x, xs):
    c, kept = scan(lambda c, x: (c * x, c + x), x, xs)
    return c + np.sum(kept) + np.sum(xs)


def several(given, xs):
    state = {"a": given["a"], "n": 1}

    def step(state, x):
        a = np.sin(state["a"]) * x["rate"]
        n = state["n"] + 1
        return {"a": a, "n": n}, (a, n * x["weight"][0])

    state, (kept, counted) = scan(step, state, xs)
    return np.sum(state["a"]) * state["n"] + np.sum(np.sum(kept, axis=1) * counted)


def places(u):
    return scan(lambda c, i: (c * 1.5, u[i] * c), 2.0, np.array([1, 4, 2]))[1]


def single(x):
    return fori_loop(0, 3, lambda i, c: np.float32(0.5) * np.cos(c) + c, x)


def choosing(xs):
    return scan(lambda c, x: (c + cond(x > 0, np.sqrt, lambda x: 0.0 * x, x), c * x), 0.0, xs)[0]


def checkpointed(xs):
    return scan(lambda c, x: (np.sin(c) * x, None), 1.0, xs, checkpoint=2)[0]


_RNG = np.random.default_rng(0)
LOOPING: dict[str, Looping] = {
    "recurrent": Looping(recurrent, tuple(_RNG.normal(size=s) for s in ((3, 3), (3, 2), (4, 2), (3,)))),
    "euler": Looping(euler, (np.array([1.0, 0.5]), 1.3), False),
    "heat": Looping(heat, (_RNG.normal(size=6),), False),
    "nested": Looping(nested, (0.3, 1.1)),
    "backwards": Looping(backwards, (0.7, np.array([0.5, 0.2, -0.3])), False),
    "never": Looping(never, (0.7, np.zeros(0))),
    "once": Looping(never, (0.7, np.array([1.5]))),
    "choosing": Looping(choosing, (np.array([4.0, 0.0, -1.0, 2.0]),)),
    "checkpointed": Looping(checkpointed, (np.array([0.3, 0.9, 1.2, 0.7, 0.4]),)),
    "several": Looping(
        several,
        ({"a": np.array([0.3, 0.4])}, {"rate": np.array([0.5, 2.0, 1.5]), "weight": _RNG.normal(size=(3, 1))}),
    ),
    "places": Looping(places, (_RNG.normal(size=5),), False),
    "single": Looping(single, (np.array([0.2, 0.9], np.float32),), False),
}

#: a case of each, by its name and that of what is derived
CASES = [(name, which) for name, own in LOOPING.items() for which in own.derivatives()]
