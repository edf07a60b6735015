"""Random programs of many operations, shapes and broadcasts against finite differences of the plain function."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from symgrad.testing import check_grads

UNARY = [
    np.sin,
    np.tanh,
    np.arctan,
    lambda a: np.exp(-(a**2)),
    lambda a: np.log1p(a**2),
    lambda a: np.sqrt(1.0 + a * a),
    lambda a: 1 / (2 + np.cos(a)),
    lambda a: a**3 * 0.1,
    lambda a: np.log(1 + np.exp(a)),
    lambda a: np.where(a > 0.1, a * 2, np.sin(a)),
    lambda a: a.reshape(-1)[::-1].reshape(a.shape),
    lambda a: np.flip(a) - a.T.T,
    lambda a: np.roll(a, 1) * a,
    lambda a: a - a.mean(axis=-1, keepdims=True) if a.ndim else a * 2,
    lambda a: np.cumsum(a, axis=0) / 2 if a.ndim else -a,
    lambda a: np.concatenate([a[1:], a[:1] * 2]) if a.ndim else a + 1,
    lambda a: np.einsum("...i,...i->...i", a, a) * 0.5 if a.ndim else np.square(a),
]
BINARY = [
    np.add,
    np.subtract,
    np.multiply,
    lambda a, b: np.arctan2(a, 1.5 + b * b),
    np.maximum,
    np.logaddexp,
    lambda a, b: a / (1.5 + b**2),
    lambda a, b: np.hypot(a, 1 + b * b),
    lambda a, b: np.where(a < b, a * b, b),
    lambda a, b: a * np.sum(b) + b * np.max(b),
    lambda a, b: a * np.vdot(b, b) * 0.1,
]
SHAPES = [(), (3,), (1, 3), (2, 1), (2, 3), (2, 2, 1)]


@st.composite
def programs(draw):
    """Input shapes, and steps ``(operation, operands)`` over all values made so far."""
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    steps = []
    for k in range(draw(st.integers(2, 8))):
        at = st.integers(0, len(shapes) + k - 1)
        if draw(st.booleans()):
            steps.append((draw(st.integers(0, len(UNARY) - 1)), (draw(at),)))
        else:
            steps.append((draw(st.integers(0, len(BINARY) - 1)), (draw(at), draw(at))))
    return shapes, steps


def run(steps, xs):
    values = list(xs)
    for operation, at in steps:
        table = UNARY if len(at) == 1 else BINARY
        values.append(np.tanh(table[operation](*(values[k] for k in at))))
    return values[-1], sum(np.sum(v) for v in values)


def inputs(shapes, seed):
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(-1.5, 1.5, s)) for s in shapes]


@given(programs(), st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_gradients_of_random_programs(program, seed):
    shapes, steps = program
    check_grads(lambda *xs: run(steps, xs), inputs(shapes, seed))


@given(programs(), st.integers(0, 2**16))
@settings(max_examples=25, deadline=None)
def test_random_programs_on_every_backend_and_layout(check_rule, program, seed):
    shapes, steps = program
    check_rule(lambda *xs: run(steps, xs)[0], inputs(shapes, seed), order=1)
