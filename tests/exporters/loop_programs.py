"""Programs that formats made of loops are tried on beside the registry: primitives, and functions drawn by a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from every_operation import Call
from exportables import Exportable, exportable, together

import symgrad as sg


def primitives() -> tuple[Exportable, ...]:
    """Every primitive that is not elementwise, once, with its derivative: where NumPy's functions take too long."""
    rng = np.random.default_rng(5)
    calls: list[Call] = []

    def add(function: Callable, args: list, kwargs: dict) -> None:
        name = getattr(function, "__name__", "")
        calls.append(Call(name, "function", len(calls), function, tuple(args), kwargs))

    square = rng.normal(size=(2, 3, 3)) + 3 * np.eye(3)
    for function in (np.linalg.inv, np.linalg.det, lambda a: list(np.linalg.slogdet(a))):
        add(function, [square], {})
    add(lambda a: np.linalg.cholesky(a @ a.T), [square[0]], {})
    add(lambda a: np.linalg.cholesky(a @ a.T, upper=True), [square[1]], {})
    add(np.linalg.solve, [square[0], rng.normal(size=(3, 2))], {})
    add(np.linalg.solve, [square[1], rng.normal(size=3)], {})
    x, v = rng.normal(size=(3, 4)), rng.normal(size=4)
    for axis in (0, 1):
        for function in (
            np.max,
            np.min,
            np.prod,
            np.cumsum,
            np.cumprod,
            np.argmax,
            np.argmin,
            np.argsort,
            np.sort,
            np.sum,
        ):
            add(function, [x], {"axis": axis})
    add(lambda a, b: np.searchsorted(np.sort(a), b), [v, x], {})
    add(lambda a, b: np.searchsorted(np.sort(a), b, side="right"), [v, x], {})
    add(np.convolve, [v, x[0]], {})
    add(lambda a, i: a[i] + a.T[:3][:, i[:1]], [x[:, :3], np.array([0, -1, 0])], {})
    add(lambda a: [np.reshape(a, (2, 6)).T, np.concatenate([a, a[::-1]], 1), np.diag(a[0])], [x], {})
    add(lambda a, b: [np.einsum("ij,jk,k->i", a, a.T @ a, b), a @ a.T, np.outer(b, b)], [x, v], {})
    add(lambda a: a.astype(np.float32) * np.float32(0.1), [x], {})
    image, weights = rng.normal(size=(2, 2, 5, 4)), rng.normal(size=(3, 2, 3, 2))
    add(lambda a, w: sg.ops.conv2d(a, w, stride=2, pad_mode="same"), [image, weights], {})
    add(lambda a, w: sg.ops.conv1d(a[:, :, 0], w[:, :, 0], dilation=2), [image, weights], {})
    add(lambda a: sg.ops.max_pool2d(a, 3, 1, 1), [image], {})
    add(lambda a: sg.ops.avg_pool2d(a, 2, 1), [image], {})
    return tuple([together(f"primitives_{k}", tuple(calls[k : k + 6])) for k in range(0, len(calls), 6)])


def random_function(seed: int) -> tuple[Callable, tuple[np.ndarray, np.ndarray]]:
    """A function of a vector and a matrix, made of a dozen operations drawn by ``seed``, and arguments for it."""
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(1, 5, 2))
    plan = [(int(rng.integers(len(_STEPS))), *rng.integers(0, 1 << 30, 3).tolist()) for _ in range(12)]

    def function(x: Any, a: Any) -> Any:
        pool = [x, a, np.outer(x, x), a.T, np.tanh(a) * 0.5]
        for which, *picks in plan:
            pool.append(_STEPS[which](pool, *picks))
        total: Any = 0.0
        for k, value in enumerate(pool):
            total = total + np.sum(np.sin(value)) * (0.1 + 0.1 * (k % 7))
        return total

    return function, (rng.uniform(-1, 1, n), rng.uniform(-1, 1, (n, m)))


def _any(pool: list, pick: int) -> Any:
    return pool[pick % len(pool)]


def _like(pool: list, x: Any, pick: int) -> Any:
    """A value of the pool that broadcasts with ``x``."""
    fitting = [p for p in pool if p.ndim == 0 or p.shape == x.shape or p.shape == x.shape[-p.ndim :]]
    return fitting[pick % len(fitting)]


def _matrix(pool: list, pick: int) -> Any:
    found = [p for p in pool if p.ndim == 2]
    return found[pick % len(found)]


def _product(pool: list, i: int, j: int, k: int) -> Any:
    left = _matrix(pool, i)
    fitting = [p for p in pool if p.ndim in (1, 2) and p.shape[0] == left.shape[1]]
    return np.tanh(left @ fitting[j % len(fitting)]) if fitting else np.tanh(left @ left.T)


def _cut(pool: list, i: int, j: int, k: int) -> Any:
    x = _matrix(pool, i)
    start = j % x.shape[0]
    return (x[start:], x[start], x[::-1], x[:, :: 1 + k % 2], x[:, -1], x[start, :1])[k % 6]


def _moved(pool: list, i: int, j: int, k: int) -> Any:
    x = _matrix(pool, i)
    moves = (np.transpose, np.ravel, lambda v: np.cumsum(v, axis=j % 2), lambda v: np.concatenate([v, v * v], j % 2))
    return (*moves, lambda v: np.reshape(v, (v.shape[1], v.shape[0])), lambda v: np.roll(v, 1, axis=0))[k % 6](x)


_STEPS: Sequence[Callable[[list, int, int, int], Any]] = (
    lambda pool, i, j, k: np.tanh(_any(pool, i)),
    lambda pool, i, j, k: np.exp(-(_any(pool, i) ** 2)),
    lambda pool, i, j, k: np.sqrt(1.0 + np.abs(_any(pool, i))),
    lambda pool, i, j, k: _any(pool, i) * _like(pool, _any(pool, i), j),
    lambda pool, i, j, k: _any(pool, i) - np.cos(_like(pool, _any(pool, i), j)),
    lambda pool, i, j, k: np.where(_any(pool, i) > 0.1, _like(pool, _any(pool, i), j), _like(pool, _any(pool, i), k)),
    lambda pool, i, j, k: np.sum(_any(pool, i)),
    lambda pool, i, j, k: np.mean(_matrix(pool, i), axis=j % 2),
    lambda pool, i, j, k: np.max(_matrix(pool, i), axis=j % 2),
    lambda pool, i, j, k: np.prod(_matrix(pool, i), axis=j % 2),
    lambda pool, i, j, k: np.trace(_matrix(pool, i) @ _matrix(pool, i).T) * np.ones(2),
    lambda pool, i, j, k: np.take(_matrix(pool, i), np.array([0, -1, 0]), axis=j % 2),
    lambda pool, i, j, k: np.sort(_matrix(pool, i), axis=j % 2),
    _product,
    _product,
    _cut,
    _cut,
    _moved,
    _moved,
)


def random_programs(seeds: Sequence[int]) -> list[Exportable]:
    """Gradients, and Hessians, of random functions."""
    made = []
    for k, seed in enumerate(seeds):
        function, args = random_function(seed)
        derived = sg.hessian(function) if k % 4 == 3 else sg.value_and_grad(function, (0, 1))
        made.append(exportable(f"random_{k}", derived, args))
    return made
