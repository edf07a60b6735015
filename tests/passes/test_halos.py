"""Shifted operations on blocks: each reads what its neighbours have, and the parts are the whole."""

import functools

import numpy as np
import pytest
from blockwise import blockwise
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.passes.block_axes import INNER, axis_of, part_of
from symgrad.passes.splitting import split
from symgrad.program.dims import named_dim

N, M = named_dim("n"), named_dim("m")


def heat(u):
    for _ in range(3):
        u = u + 0.2 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)) + 0.1 * np.sin(u)
    return np.sum(u**2)


def written(u):
    v = np.zeros_like(u)
    v[1:-1] = u[2:] + u[:-2]
    return np.sum(v**2 * u)


def clamped(u):
    padded = np.concatenate([u[:1], u, u[-1:]])
    return np.sum((padded[2:] - padded[:-2]) ** 2 * np.exp(u))


def picked(u):
    rows = np.stack([u, np.sin(u), u**2], 1)
    labels = (u > 0).astype(int) + (u > 1)
    return rows[np.arange(len(u)), labels]


LINES = {
    "differences": lambda u: np.sum(np.exp(u[1:] - u[:-1])),
    "second differences": lambda u: np.mean(np.diff(u, n=2) ** 2 * u[1:-1]),
    "periodic": lambda u: np.sum((np.roll(u, 1) - 2 * u + np.roll(u, -1)) ** 2 * u),
    "far": lambda u: np.sum(np.roll(u, 3) * np.roll(u, -2) * u),
    "padded": lambda u: np.sum(np.pad(u, (1, 2))[3:] ** 2 * u[0]),
    "central": lambda u: np.sum(np.gradient(u) ** 3),
    "mean of central": lambda u: np.mean(np.gradient(u)) + np.var(np.gradient(u)),
    "trapezoid": lambda u: np.trapezoid(np.tanh(u) ** 2),
    "ends": lambda u: u[2] * u[-3] + u[0] ** 3 * np.sum(u[:2] * u[-2:]),
    "largest": lambda u: np.max(np.diff(u)) + np.sum(u[1:] ** 2),
    "spread": lambda u: np.var(np.diff(u)) * np.std(u[3:]),
    "steps": heat,
    "written": written,
    "clamped": clamped,
    "counted from a neighbour": lambda u: np.sum(np.diff(u * np.cos(np.arange(len(u)))) ** 2),
    "convolved": lambda u: np.sum(np.convolve(u**2, [1.0, -0.5, 0.25], "same") ** 2 * u),
    "sums of neighbours": lambda u: np.sum(np.diff(np.cumsum(np.sin(u))) * np.cumsum(u)[:-1] ** 2),
    "sums from the end": lambda u: np.sum(np.cumsum(u[::-1])[::-1][1:] * np.cumsum(np.diff(u)[::-1])[::-1] * u[1:]),
    "sums of far rows": lambda u: np.sum(np.cumsum(u**2)[2:] * np.roll(np.cumsum(u), 2)[2:]),
    "rows in one": lambda u: np.sum(np.stack([u, u**2], 1).ravel()[2:] * np.stack([u[1:], u[:-1]], 1).ravel()),
    "picked": lambda u: np.sum(picked(u) * u),
    "picked neighbours": lambda u: np.sum(np.diff(picked(u)) * picked(np.diff(u)) ** 2),
    "steps of a loop": lambda u: np.sum(sg.fori_loop(0, 3, lambda _, v: v + 0.1 * np.sin(np.roll(v, 1) - v), u) ** 2),
}


@functools.cache
def derived(function, count):
    return sg.value_and_grad(function, tuple(range(count)))


@functools.cache
def in_stages(function, shapes, dims):
    return split(derived(function, len(shapes)).program(*shapes), dims)


def check(function, arrays, lengths, shape):
    made = in_stages(function, (shape,) * len(arrays), tuple(lengths))
    joined = {d: join(own, made.least().get(d, 1)) for d, own in lengths.items()}
    value, gradients = derived(function, len(arrays))(*arrays)
    for got, want in zip(blockwise(made, arrays, joined), (value, *gradients), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


def join(lengths, least):
    return (
        lengths if len(lengths) < 2 or min(lengths) >= least else join((lengths[0] + lengths[1], *lengths[2:]), least)
    )


@pytest.mark.parametrize("name", LINES)
@settings(max_examples=12)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_a_line_in_blocks_is_the_whole(name, lengths):
    lengths = (*lengths, 5)
    u = np.random.default_rng(len(lengths)).standard_normal(sum(lengths))
    check(LINES[name], [u], {N: lengths}, "n")


def poisson(u, f):
    around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
    return np.mean((around - 4 * u + u**3 - f) ** 2)


def inside(u, f):
    residual = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] - f[1:-1, 1:-1]
    return np.sum(np.log1p(residual**2)) + np.sum(u[0] ** 2) + np.sum(u[:, -1] ** 3)


PLANES = {
    "poisson": poisson,
    "inside": inside,
    "roughness": lambda u, f: np.sum((u[1:] - u[:-1]) ** 2) + np.sum((f[:, 1:] - u[:, :-1]) ** 4),
    "sums": lambda u, f: np.sum(np.cumsum(u, 0) * f) + np.sum(np.cumsum(np.cumsum(u[:, ::-1], 1)[:, ::-1] * f, 0) ** 2),
    "sums of neighbours": lambda u, f: np.sum(np.diff(np.cumsum(u, 1), axis=0) * np.cumsum(f[1:], 0)),
    "corners": lambda u, f: u[0, 0] * f[-1, -1] + np.sum(u[1, :-1] * f[-2, 1:]),
}


@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize("lengths", [((9,), (8,)), ((4, 5), (8,)), ((3, 3, 4), (4, 5)), ((5, 4), (3, 3, 5))], ids=str)
def test_a_plane_in_blocks_is_the_whole(name, lengths):
    rows, columns = lengths
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((sum(rows), sum(columns))) for _ in range(2)]
    check(PLANES[name], arrays, {N: rows, M: columns}, "n m")


def test_second_order():
    u, v = np.random.default_rng(2).standard_normal((2, 17))
    product = sg.named(lambda u, v: np.sum(sg.grad(clamped)(u) * v), u="n", v="n")
    check(product, [u, v], {N: (6, 6, 5)}, "n")


def test_a_pass_over_differences_reads_one_element_of_a_neighbour():
    (stage,) = split(sg.symbolic(LINES["differences"]).program("n"), [N]).stages
    inner = stage.on_blocks[(INNER,)]
    assert inner.reaches == (((0, 1),),)


def test_what_is_at_the_ends_runs_on_the_blocks_there_alone():
    first, *_ = split(sg.symbolic(lambda u: np.sum(u * u[0])).program("n"), [N]).stages
    running = [edges[0] for edges, made in first.on_blocks.items() if made is not None]
    assert running
    assert all(edges.is_first for edges in running)


def test_the_part_of_another_block_changes_no_sign_of_zero():
    u = np.array([-0.0, 1.0, 2.0, 3.0, 4.0])
    program = sg.symbolic(lambda u: (u[0], np.sum(u[1:] * u[:-1]))).program("n")
    first, _ = blockwise(split(program, [N]), [u], {N: (2, 3)})
    assert np.signbit(first)


def test_axes_and_parts():
    over = frozenset([N])
    assert axis_of(M, over) is None
    assert axis_of(4, over) is None
    for strange in (2 * N + 1, N / 2, N**2):
        with pytest.raises(ValueError, match="n"):
            axis_of(strange, over)
    axis = axis_of(N, over)
    for other in ((0, N, 2), (N - 1, N, -1), (M, N, 1), (0, M, 1)):
        assert part_of(other, axis) is None
