"""How arrays lie in memory decides what is a view: random programs do as NumPy does, or are refused."""

from __future__ import annotations

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError, TracingError

X = np.random.default_rng(0).uniform(0.5, 1.5, (3, 4))
VECTOR = np.array([0.5, -1.5, 2.0, 0.25])
BY_COLUMNS = np.asfortranarray(np.arange(12.0).reshape(3, 4))
MADE = {
    "the argument": lambda x: x,
    "a product": lambda x: x * 1.0,
    "an array of it": np.array,
    "a copy": lambda x: x.copy(),
    "transposed": lambda x: (x * 1.0).T,
    "laid out by columns": np.asfortranarray,
}
STEPS = [
    lambda v: v.T,
    lambda v: v.reshape(-1),
    np.ravel,
    np.ascontiguousarray,
    np.asfortranarray,
    np.array,
    np.copy,
    lambda v: v.copy(order="F"),
    lambda v: v[1:] if len(v) > 2 else v[:],
    lambda v: v[:, ::2] if v.ndim == 2 else v,
    lambda v: v[0] if v.ndim == 2 else v,
    lambda v: v * 2,
    lambda v: v + BY_COLUMNS if v.shape == (3, 4) else v,
    lambda v: np.where(BY_COLUMNS > 2, v, 1.0) if v.shape == (3, 4) else v,
    lambda v: np.zeros_like(v) + v[0] * 0,
    lambda v: np.concatenate([v, v]),
    lambda v: v @ v.T if v.ndim == 2 else v,
]


def filled_like(v):
    made = np.zeros_like(v)
    made[0] = v[0]
    return made


STEPS.append(filled_like)


def write(draw, v):
    kind = draw.randint(0, 3)
    if kind == 0:
        v[0] = draw.random()
    elif kind == 1:
        v *= 1.5
    elif kind == 2:
        v[...] = v + 1
    else:
        v[-1] = v[0] * 0.5


def program(seed):
    def run(x):
        draw = random.Random(seed)
        arrays = [draw.choice(list(MADE.values()))(x)]
        for _ in range(draw.randint(3, 9)):
            v = draw.choice(arrays)
            if draw.random() < 0.4:
                write(draw, v)
            else:
                arrays.append(draw.choice(STEPS)(v))
        kept = [v for v in arrays if draw.random() < 0.7] or arrays[-1:]
        return sum(np.sum(v * v) * (k + 1) for k, v in enumerate(kept))

    return run


def test_random_programs():
    done = 0
    for seed in range(400):
        f = program(seed)
        compiled = sg.value_and_grad(f)
        for order in "CFC":  # one function serves arguments that lie otherwise
            x = np.array(X, order=order)
            try:
                value, _ = compiled(x)
            except SymgradError:
                continue
            done += 1
            np.testing.assert_allclose(value, f(np.array(x, order=order)), rtol=1e-10, err_msg=f"{seed}, {order}")
    assert done > 700


def test_a_copy_of_a_transposed_array_lies_as_that():
    def f(x):
        a = np.array(x)
        part = a.reshape(-1)
        part[0] = 9.0
        return np.sum(a)

    assert sg.grad(f)(X)[0, 0] == 0.0
    for fn, at in ((lambda x: f(x.T), X), (f, np.asfortranarray(X))):
        with pytest.raises(TracingError, match="depends on the memory layout"):
            sg.grad(fn)(at)


@pytest.mark.parametrize("view", [lambda y: y.reshape(-1), np.ravel, lambda y: np.ascontiguousarray(y.T).T.reshape(-1)])
def test_a_write_into_what_may_be_a_copy_makes_it_an_array_of_its_own(view, check_rule):
    def fn(x):
        y = view(np.outer(x, x)[:2, :2])
        part, other = y[1:3], y[:2]
        y[0] = x[1]
        part *= 3.0
        y += other[0]
        part[0] = other[1] * x[0]
        return np.sum(y * y) + part[1] * np.sum(other)

    check_rule(fn, [VECTOR])


def test_a_part_of_what_may_be_a_copy_is_written_to(check_rule):
    def fn(x):
        y = np.outer(x, x).T.reshape(-1)
        part, other = y[2:5], y[3:]
        part *= x[:3]
        other[0] = 2.0
        return np.sum(y * y) * part[1]

    check_rule(fn, [VECTOR])


@pytest.mark.parametrize(
    "laid",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda a: np.asarray(a, order="C"),
        lambda a: np.array(a, copy=None, order="F"),
        lambda a: np.require(a, None, ["C"]),
    ],
)
@pytest.mark.parametrize("of", [lambda a: a, lambda a: a.T, lambda a: a[0], lambda a: a[:, 1], lambda a: a[::2]])
def test_arrays_are_laid_in_memory_as_numpy_lays_them(laid, of, check_rule):
    def fn(x):
        y = np.array([x, x * x, x + 1.0, np.sin(x)])
        made = laid(of(y))
        made[1] = 5.0
        return y * y[0] + made[1] * made[0]

    check_rule(fn, [VECTOR])
