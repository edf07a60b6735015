"""A derivation read step by step computes what the kernel computes, for every operation and random functions."""

import numpy as np
import pytest
from derivations import compare
from every_operation import calls
from hypothesis import given, settings
from hypothesis import strategies as st

from symgrad.tracing.declare import Given
from symgrad.tracing.tree import flatten


def left_out(call):
    """Steps are those of one broadcast and of one case; there are none where nothing is derived."""
    return call.nth > 0 or call.is_composed or not call.derived


@pytest.mark.parametrize("call", calls(["elementwise", "function"], left_out), ids=str)
def test_every_operation(call):
    args = [a.value if isinstance(a, Given) else a for a in call.args]
    positions = tuple([k for k, a in enumerate(call.args) if isinstance(a, np.ndarray) and a.dtype.kind == "f"])

    def total(*xs):
        leaves = flatten(call.function(*xs, **call.kwargs))[0]
        return sum(np.sum(v * 1.5) for v in leaves if getattr(v, "dtype", np.dtype(int)).kind == "f")

    if positions:
        compare(total, args, positions)


UNARY = [
    np.sin,
    np.tanh,
    lambda a: np.exp(-(a**2)),
    lambda a: np.log(1 + np.exp(a)),
    lambda a: 1 / (2 + np.cos(a)),
    lambda a: np.where(a > 0.1, a * 2, np.sin(a)),
    lambda a: a - a.mean(),
    lambda a: np.concatenate([a[1:], a[:1] * 2]),
    lambda a: np.cumsum(a) / 2,
    lambda a: a[::-1] * a,
]
BINARY = [np.add, np.subtract, np.multiply, np.maximum, lambda a, b: a / (1.5 + b**2), lambda a, b: a * np.sum(b)]


@given(st.data())
@settings(max_examples=8)
def test_random_programs(data):
    count = data.draw(st.integers(2, 9))
    plan = []
    for k in range(count):
        unary = data.draw(st.booleans())
        table = UNARY if unary else BINARY
        operands = data.draw(st.lists(st.integers(0, k + 1), min_size=1 if unary else 2, max_size=1 if unary else 2))
        plan.append((table[data.draw(st.integers(0, len(table) - 1))], operands))

    def f(x, y):
        values = [x, y]
        for operation, operands in plan:
            values.append(operation(*[values[k] for k in operands]))
        return np.sum(values[-1] * values[-2])

    args = (np.array([0.3, -1.2, 0.7]), np.array([1.1, 0.2, -0.4]))
    compare(f, args, (0, 1))
