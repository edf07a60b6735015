"""Tapes: what runs from a list gives the bits that its source gives, and long programs get to their first result so."""

import numpy as np
import pytest
from work import calls

import symgrad as sg
from symgrad.kernels import tape
from symgrad.kernels.tape import TapeKernel, tape_of

W = np.random.default_rng(0).normal(size=(3, 3))
ALIKE = "results alike"
FUNCTIONS = {
    "products": lambda x, y: np.sum(np.tanh(W @ x + y) * x),
    "three factors": lambda x, y: np.einsum("i,ij,j->", x, W, y) * x,
    "numbers": lambda x, y: -1.0 * np.sin(x) + 2 * y - 0.5,
    "numbers of no axes": lambda x, y: np.sum(x) ** 2 + np.sum(y) ** 1.5 / np.sum(x),
    "an operand twice": lambda x, y: (x + x) @ (x + x) + np.outer(y, y),
    "choices": lambda x, y: np.where(x > y, x, -y) * np.maximum(x, 0.1),
    "elements": lambda x, y: x[0] * x[2] + np.sum(y[::-1] * x) + y[1:] @ x[:2],
    "places": lambda x, y: np.cumsum(x)[np.array([2, 0, 0])] * np.sort(y),
    "stacked": lambda x, y: np.stack([x, y, x * y]) @ W,
    "turned": lambda x, y: (W * x).T @ (W * y).T,
    "linear algebra": lambda x, y: np.linalg.solve(W + 3 * np.eye(3), x * y) + np.linalg.det(W * x),
    ALIKE: lambda x, y: (x, x[1:], x * y, x * y, (x * y).T, 2.5, W[0]),
}


@pytest.fixture
def at_once(monkeypatch):
    """Every program is long, and its source soon pays."""
    monkeypatch.setattr(tape, "_LONG", 0)
    monkeypatch.setattr(tape, "_CALLS", 3)


def bits(results):
    """All that makes a result what it is."""
    return [
        (type(r), r.dtype, r.shape, r.strides, r.tobytes()) for r in (results if type(results) is tuple else (results,))
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("derive", "function"),
    [(d, name) for name in FUNCTIONS for d in (sg.symbolic, sg.grad, sg.jacrev) if name != ALIKE or d is sg.symbolic],
)
def test_tapes_give_the_bits_of_their_sources(at_once, derive, function, dtype):
    made = derive(FUNCTIONS[function], backend="numpy")
    x, y = np.array([0.3, 1.1, 2.0], dtype), np.array([0.7, -0.2, 0.4], dtype)
    kernel = made.kernel(x, y)
    first, *later = [bits(kernel(x, y)) for _ in range(4)]
    assert all(own == first for own in later)
    if isinstance(kernel, TapeKernel):
        assert bits(kernel._written(x, y)) == first
    x[0], y[0] = 9.0, 9.0
    assert bits(kernel(x, y)) != first  # results are the caller's own


@pytest.mark.parametrize("x", [0.7, np.float32(0.7), np.array(0.7)])
def test_numbers(at_once, x):
    made = sg.value_and_grad(lambda x: np.sin(x) ** 2 / (x + 1) - 1.0 * x**-1, backend="numpy")
    kernel = made.kernel(x)
    assert isinstance(kernel, TapeKernel)
    assert bits(kernel(x)) == bits(kernel._written(x))


def test_what_uses_memory_twice_is_compiled(at_once):
    kernel = sg.grad(lambda x: np.sum(np.exp(np.sin(x))), backend="numpy").kernel(np.ones(10_000))
    assert not isinstance(kernel, TapeKernel)
    assert "out=" in kernel.source


def test_a_long_program_is_written_where_its_source_is_asked_for():
    def chain(x):
        for k in range(200):  # no steps that repeat (Thue and Morse), so none are a loop
            x = (np.sin, np.cos)[k.bit_count() % 2](x) * 0.9 + 0.1 * x
        return np.sum(x)

    gradient = sg.grad(chain, backend="numpy")
    kernel = gradient.kernel(np.ones(3))
    assert isinstance(kernel, TapeKernel)
    assert kernel.source.count("np.sin") + kernel.source.count("np.cos") >= 199
    assert len(kernel.explain().steps) == len(kernel.program.bindings)
    assert 3 * calls(lambda: tape_of(kernel.program)) < calls(lambda: kernel._write())
