"""Kernels for named dims: right for every size, and as fast as those for one."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import symgrad
from symgrad.errors import ResultTooLarge
from symgrad.kernels import kernel as kernels
from symgrad.kernels import memory, numpy_backend
from symgrad.kernels.block_backend import BLOCKS_FROM
from symgrad.kernels.kernel import BACKENDS, SizedKernel, lower

FUNCTIONS = {
    "fused": (lambda x, y: np.exp(-x * y) * np.sin(x) + np.log(1 + x * x) * np.tanh(y), ("n", "n")),
    "rows": (lambda X, y: np.sum(np.tanh(X * y) + np.exp(X), axis=1), ("n d", "d")),
    "product": (lambda X, y: np.tanh(X @ y) @ X, ("n d", "d")),
    "reduced": (lambda X, y: X.T @ (X @ y) * y - np.mean(X), ("n d", "d")),
    "sliced": (lambda x, y: np.sin(x[1:]) * np.cos(y[:-1]) - x[0], ("n", "n")),
}
SIZES = ((1, 1), (2, 3), (3, 2), (60, 50), (700, 60), (70, 1000), (1, 40000), (40000, 1))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_backend_is_right_for_every_size_in_any_order(name, backend):
    f, texts = FUNCTIONS[name]
    kernel = lower(symgrad.trace(f, *texts), backend)
    assert isinstance(kernel, SizedKernel)
    rng = np.random.default_rng(0)
    for n, d in (*SIZES, *reversed(SIZES)):
        args = [rng.uniform(-1, 1, [{"n": n, "d": d}[w] for w in t.split()]) for t in texts]
        before = [a.copy() for a in args]
        (got,) = kernel(*args)
        np.testing.assert_allclose(got, f(*args), rtol=1e-11, atol=1e-12)
        assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))
        assert not any(np.shares_memory(got, a) for a in args)


def test_small_buffers_are_reused_rightly(monkeypatch):
    monkeypatch.setattr(numpy_backend, "SMALL", 1)
    for name in FUNCTIONS:
        test_every_backend_is_right_for_every_size_in_any_order(name, "numpy")


def test_the_kernel_is_that_of_the_sizes(monkeypatch):
    monkeypatch.setitem(BACKENDS, "auto", dataclasses.replace(BACKENDS["auto"], compile=None))
    gradient = symgrad.grad(symgrad.named(lambda x: np.sum(np.exp(np.sin(x) * x)), x="n"))
    for n in (8, 2 * BLOCKS_FROM, 9, BLOCKS_FROM):
        gradient(np.linspace(0, 1, n))
        assert ("Blocks(" in gradient.kernel().source) == (n >= BLOCKS_FROM)


def test_the_source_before_a_call_is_one_for_sizes_in_the_middle():
    kernel = symgrad.grad(lambda x: np.sum(np.sin(x))).kernel("n")
    assert kernel.backend == "numpy"
    assert ".shape[0]" in kernel.source


@pytest.mark.parametrize(
    ("f", "texts", "shapes"),
    [
        (lambda w, X, y: np.sum(np.log(1 + np.exp(-y * (X @ w)))), ("d", "n d", "n"), ((50,), (1000, 50), (1000,))),
        (lambda x, y: np.sum(np.exp(-x * y) * np.sin(x)), ("n", "n"), ((100_000,), (100_000,))),
        (lambda x, A: x @ (A @ x), ("n", "n n"), ((300,), (300, 300))),
    ],
)
def test_the_source_is_that_for_concrete_sizes(f, texts, shapes):
    """So it costs the same: the sizes alone are written otherwise."""
    args = [np.full(s, 0.1) for s in shapes]
    labels = "wXy" if len(texts) == 3 else "xA"
    named = symgrad.named(
        eval(f"lambda {', '.join(labels)}: f({', '.join(labels)})", {"f": f}), **dict(zip(labels, texts, strict=True))
    )
    for make in (symgrad.value_and_grad, symgrad.hessian) if args[0].size < 1000 else (symgrad.value_and_grad,):
        lines = []
        for derived in (make(named), make(f)):
            derived(*args)
            source = derived.kernel().source
            lines.append([re.sub(r"v\d+", "v", line) for line in source.splitlines() if ".shape[" not in line])
        assert len(lines[0]) == len(lines[1])
        assert [line.split("(")[0] for line in lines[0]] == [line.split("(")[0] for line in lines[1]]


def test_sizes_of_one_class_share_a_kernel(monkeypatch):
    written = []
    auto = BACKENDS["auto"]
    write = lambda program, sizes: written.append(sizes) or auto.write(program, sizes)  # noqa: E731
    monkeypatch.setitem(BACKENDS, "auto", dataclasses.replace(auto, write=write))
    kernel = lower(symgrad.trace(lambda x: np.sin(x) * x, "n"))
    for n in (9, 15, 8, 10, 9, 127, 3, 2, 3000, 4000, 50_000, 60_000):
        np.testing.assert_array_equal(kernel(np.arange(float(n)))[0], np.sin(np.arange(float(n))) * np.arange(float(n)))
    assert len(written) == 4


def test_results_beyond_the_memory_are_refused_at_the_call(monkeypatch):
    made = symgrad.jacobian(symgrad.named(lambda x: np.sin(x), x="n"))
    monkeypatch.setattr(kernels, "memory_limit", lambda: 8.0 * 1000)
    monkeypatch.setattr(memory, "memory_limit", lambda: 8.0 * 1000)
    assert made(np.ones(30)).shape == (30, 30)
    with pytest.raises(ResultTooLarge, match="of shape 32 × 32"):
        made(np.ones(32))
    assert made(np.ones(31)).shape == (31, 31)


@pytest.mark.parametrize("backend", BACKENDS)
def test_slices_backwards_end_where_they_should_for_every_size(backend):
    def turned(x):
        return np.concatenate([x, np.cumsum(x)[::-1]])

    kernel = symgrad.jacobian(turned, backend=backend).kernel("n")
    for n in (0, 1, 2, 5):
        (got,) = kernel(np.arange(float(n)))
        np.testing.assert_array_equal(got, np.concatenate([np.eye(n), np.tri(n)[::-1]]))
