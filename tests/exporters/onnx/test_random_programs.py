"""Random programs, and long ones, are ONNX models that give what the kernel gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_models import Exported, exported

import symgrad as sg

UNARY = [
    np.sin,
    np.arctan,
    np.expm1,
    np.cosh,
    np.sign,
    np.rint,
    lambda a: a[..., ::-1] if a.ndim else a,
    lambda a: np.cumsum(a, axis=-1) if a.ndim else -a,
    lambda a: np.cumprod(a, axis=0) if a.ndim else a,
    lambda a: np.sort(a, axis=-1) if a.ndim else a,
    lambda a: np.max(a, axis=-1, keepdims=True) if a.ndim else abs(a),
    lambda a: np.take(a, np.array([0, -1, 0]), axis=0) if a.ndim else a + 1,
    lambda a: a.reshape(-1)[1:] if a.size > 1 else a,
    lambda a: np.pad(a, 1),
    lambda a: np.einsum("...i->i...", a) if a.ndim else a,
    lambda a: np.where(a > 0.2, np.sqrt(np.abs(a)), a) % 0.7,
    lambda a: np.mean(a, axis=0) if a.ndim else a / 3,
    lambda a: np.diff(a) if a.ndim and a.shape[-1] > 1 else a,
]
BINARY = [
    np.add,
    np.multiply,
    np.maximum,
    np.arctan2,
    np.hypot,
    lambda a, b: a / (1.5 + b * b),
    lambda a, b: np.dot(np.ravel(a)[:1], np.ravel(b)[:1]) * a,
    lambda a, b: np.outer(a, b),
    lambda a, b: np.outer(a, b) @ np.ravel(b),
    lambda a, b: np.concatenate([np.ravel(a), np.ravel(b)]),
    lambda a, b: np.where(np.sum(a) < np.sum(b), a, b),
]


@st.composite
def programs(draw):
    shapes = draw(st.lists(st.sampled_from([(), (3,), (1, 3), (2, 1), (2, 3)]), min_size=1, max_size=3))
    steps = []
    for k in range(draw(st.integers(1, 8))):
        at = st.integers(0, len(shapes) + k - 1)
        table = draw(st.sampled_from([UNARY, BINARY]))
        steps.append((table, draw(st.integers(0, len(table) - 1)), draw(at), draw(at)))
    return shapes, steps


def results(steps, xs):
    values = list(xs)
    for table, k, first, second in steps:
        a, b = values[first], values[second]
        try:
            made = table[k](a) if table is UNARY else table[k](a, b)
        except ValueError:  # shapes that do not broadcast
            made = a
        values.append(np.tanh(made) if made.size < 40 else np.sum(made))
    return values


@given(programs(), st.integers(0, 2**16))
@settings(max_examples=50)
def test_random_programs(program, seed):
    shapes, steps = program
    draw = np.random.default_rng(seed)
    xs = tuple(np.asarray(draw.uniform(-1.5, 1.5, s)) for s in shapes)
    values = exported(lambda *xs: results(steps, xs)[-1], *xs)
    values.compare(*xs)
    slopes = sg.grad(lambda *xs: sum(np.sum(v) for v in results(steps, xs)), tuple(range(len(xs))))
    Exported(slopes, xs).compare(*xs, bound=1e-9)


def test_a_long_program():
    turns = np.random.default_rng(0).random(800) < 0.5  # a loop that is none

    def long(x):
        y = x
        for k, turn in enumerate(turns):
            y = (np.sin if turn else np.cos)(y) * x + y / (k + 2.0)
        return np.sum(y)

    x = np.array([0.3, 0.7])
    made = Exported(sg.value_and_grad(long), (x,))
    assert len(made.subject.program.nodes) > 10_000
    made.compare(x, bound=1e-9)
