"""Derivatives that the formats python, numexpr, jax and torch are tried on: random ones, benchmarks, hostile names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import structure
import workloads
from hypothesis import strategies as st

import symgrad as sg
from symgrad import Parameter, nn

_UNARY: list[Callable] = [
    np.sin,
    lambda a: np.exp(-(a**2)),
    lambda a: np.sqrt(1.0 + a * a),
    lambda a: np.log(1 + np.exp(a)),
    lambda a: np.where(a > 0.1, a * 2, np.sin(a)),
    lambda a: a.reshape(-1)[::-1].reshape(a.shape),
    lambda a: np.roll(a, 1) * a,
    lambda a: a - a.mean(axis=-1, keepdims=True) if a.ndim else a * 2,
    lambda a: np.cumsum(a[..., ::-1], axis=0) / 2 if a.ndim else -a,
    lambda a: np.cumprod(a, axis=-1) if a.ndim else a,
    lambda a: np.concatenate([a[1:], a[:1] * 2]) if a.ndim else a + 1,
    lambda a: np.einsum("...i,...i->...i", a, a) * 0.5 if a.ndim else np.square(a),
    lambda a: np.sort(a, axis=0) * np.max(a) if a.ndim else np.abs(a),
    lambda a: np.take(a, [0, -1, 0], axis=0)[: len(a)] + a if a.ndim and len(a) < 3 else a * 3,
    lambda a: np.prod(a + 2, axis=-1, keepdims=True) * a if a.ndim else a,
    lambda a: np.clip(a, -0.5, 0.5) + np.sign(a) * np.round(a),
]
_BINARY: list[Callable] = [
    np.add,
    np.multiply,
    np.maximum,
    np.logaddexp,
    lambda a, b: np.arctan2(a, 1.5 + b * b),
    lambda a, b: a / (1.5 + b**2),
    lambda a, b: np.where(a < b, a * b, b),
    lambda a, b: a * np.sum(b) + b * np.min(b),
    lambda a, b: a * np.vdot(b, b) * 0.1,
    lambda a, b: np.remainder(a, 1.5) - b,
]
_SHAPES = [(), (3,), (1, 3), (2, 1), (2, 3), (2, 2, 1)]


@st.composite
def programs(draw: Any) -> tuple[list[tuple], np.dtype, list, int]:
    """Shapes and dtype of inputs, steps ``(operation, operands)`` over all values made so far, and a seed."""
    shapes = draw(st.lists(st.sampled_from(_SHAPES), min_size=1, max_size=3))
    steps = []
    for k in range(draw(st.integers(2, 7))):
        at = st.integers(0, len(shapes) + k - 1)
        if draw(st.booleans()):
            steps.append((draw(st.sampled_from(_UNARY)), (draw(at),)))
        else:
            steps.append((draw(st.sampled_from(_BINARY)), (draw(at), draw(at))))
    dtype = draw(st.sampled_from([np.float64, np.float64, np.float32]))
    return shapes, np.dtype(dtype), steps, draw(st.integers(0, 2**16))


def random_gradient(program: tuple) -> tuple[Any, tuple]:
    """The gradient of a random program, and arrays for it."""
    shapes, dtype, steps, seed = program

    def run(*xs):
        values = list(xs)
        for operation, at in steps:
            values.append(np.tanh(operation(*(values[k] for k in at))))
        return np.sum(values[-1]) + np.sum(values[-2])

    random = np.random.default_rng(seed)
    args = tuple(np.asarray(random.uniform(-1.5, 1.5, s)).astype(dtype) for s in shapes)
    return sg.value_and_grad(run, tuple(range(len(shapes)))), args


_WORKLOADS = {**workloads.WORKLOADS, **structure.WORKLOADS}
BENCH = [name for name, work in _WORKLOADS.items() if not work.sparse]


def bench(name: str) -> tuple[Any, tuple]:
    """The derivative of a benchmark at small sizes."""
    work = _WORKLOADS[name]
    wrt = work.wrt if len(work.wrt) > 1 or work.verb == "value_and_grad" else work.wrt[0]
    return getattr(sg, work.verb)(partial(work.fn, np), wrt), work.args(**work.small)


HOSTILE = ["</script>", "x\n    import os", "class", "λ", "v0", "np", 'a"""b', "", "1x", "*/", "\\input{/etc/passwd}"]
HOSTILE += ["'); drop", "x²", "_shape_of", "torch", "jnp", "device", "sin", "a.b", "long" * 60, "self", "float", "\\"]


def hostile(name: str) -> tuple[Any, tuple]:
    """A network with a weight, and a function, of this name, and others that it could collide with."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = Parameter(np.ones(2), name=name)
            self.other = Parameter(np.full(2, 2.0), name="a_b" if name == "a.b" else f"{name} ")

        def construct(self, x):
            return x * self.z + self.other

    Net.__name__ = name or "Net"
    net = Net()
    return sg.grad(net, 0, net.trainable_params()), (np.array([2.0, 3.0]),)


def long_program(length: int = 10_000) -> tuple[Any, tuple]:
    """A program of about so many bindings."""

    def chain(x):
        for k in range(length // 2):
            x = np.sin(x) + 0.001 * k if k % 3 else x * 0.5
        return x

    return sg.symbolic(chain), (np.array([0.3, 0.7]),)
