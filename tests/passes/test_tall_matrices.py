"""Decompositions of matrices whose rows are in blocks, against the whole."""

import numpy as np
import pytest
from blockwise import blockwise
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.chunked.blocks import Blocks
from symgrad.errors import UnsupportedOperation
from symgrad.passes.splitting import NotSplit, split
from symgrad.passes.tall_matrices import triangle_of_both
from symgrad.program.dims import named_dim

N = named_dim("n")
RNG = np.random.default_rng(0)
WIDTH = 3


def response(a):
    return np.abs(a[:, 0]) + np.sin(a[:, 1].real)


FUNCTIONS = {
    "singular values": lambda a: np.linalg.svd(a, compute_uv=False) ** 3,
    "nuclear norm": lambda a: np.linalg.norm(a, "nuc"),
    "condition": np.linalg.cond,
    "rank": lambda a: np.linalg.matrix_rank(a, 1e-12) * np.sum(a.real),
    "right vectors": lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[2][0]) ** 2,
    "left vectors": lambda a: np.sum(np.abs(np.linalg.svd(a, full_matrices=False)[0]) ** 4, 0),
    "projection": lambda a: np.abs(np.linalg.svd(a)[0][:, :1]) ** 2,
    "triangle": lambda a: np.linalg.qr(a)[1],
    "triangle alone": lambda a: np.linalg.qr(a, mode="r"),
    "orthogonal columns": lambda a: np.linalg.qr(a)[0],
    "least squares": lambda a: np.linalg.lstsq(a, response(a), rcond=1e-12)[0],
    "least squares of two": lambda a: np.linalg.lstsq(a, np.stack([response(a), a[:, 0]], 1), rcond=1e-12)[0],
    "what is left": lambda a: np.linalg.lstsq(a, response(a), rcond=1e-12)[1],
    "rank and values": lambda a: np.linalg.lstsq(a, response(a), rcond=1e-12)[3],
    "pseudo-inverse": lambda a: np.linalg.pinv(a).T,
    "through the rows": lambda a: np.linalg.svd(a * np.exp(-a.real), compute_uv=False),
}
#: those whose result has a row for each row
PLACED = ("projection", "orthogonal columns", "pseudo-inverse")


def weighed(name):
    """A number that each element of what a function gives counts in, by its own weight."""

    def total(a):
        made = FUNCTIONS[name](a)
        return np.sum(np.cos(np.arange(made.size)).reshape(made.shape) * np.sin(made).real)

    return sg.named(total, a=f"n {WIDTH}")


def in_blocks(derived, a, lengths):
    """The outputs of a derivative block by block; blocks that are too short are joined."""
    made = split(derived.program(a), [N])
    return blockwise(made, [a], Blocks({N: lengths}).at_least(made.least()).lengths)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in PLACED])
@settings(max_examples=6)
@given(lengths=st.lists(st.integers(1, 6), max_size=4), is_complex=st.booleans())
def test_blocks_give_what_the_whole_gives(name, lengths, is_complex):
    rng = np.random.default_rng(sum(lengths))
    a = rng.normal(size=(sum(lengths) + WIDTH, WIDTH))
    a = a + 1j * rng.normal(size=a.shape) if is_complex else a
    derived = sg.value_and_grad(weighed(name))
    got = in_blocks(derived, a, (*lengths, WIDTH))
    for found, want in zip(got, derived(a), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", PLACED)
def test_rows_of_the_result_stay_in_blocks(name):
    a = RNG.normal(size=(13, WIDTH))
    derived = sg.symbolic(sg.named(FUNCTIONS[name], a=f"n {WIDTH}"))
    for lengths in ((4, 5, 4), (13,), (1, 1, 11)):
        (got,) = in_blocks(derived, a, lengths)
        np.testing.assert_allclose(got, FUNCTIONS[name](a), rtol=1e-10, atol=1e-12)


def test_the_triangle_has_the_signs_of_lapack():
    for a in (-RNG.normal(size=(9, WIDTH)), np.eye(9, WIDTH), np.diag([-1.0, 2, -3]).repeat(3, 0)[::-1]):
        (got,) = in_blocks(sg.symbolic(sg.named(lambda a: np.linalg.qr(a)[1], a=f"n {WIDTH}")), a, (2, 3, 4))
        np.testing.assert_allclose(got, np.linalg.qr(a)[1], rtol=1e-12, atol=1e-14)


def test_columns_are_orthogonal_where_the_matrix_is_nearly_singular():
    a = np.vander(np.linspace(0, 1, 40), 8)
    (q,) = in_blocks(sg.symbolic(sg.named(lambda a: np.linalg.qr(a)[0], a="n 8")), a, (11, 9, 20))
    assert np.linalg.cond(a) > 1e5
    np.testing.assert_allclose(q.T @ q, np.eye(8), atol=1e-14)
    a[:, 5] = a[:, 4] * 2
    (q,) = in_blocks(sg.symbolic(sg.named(lambda a: np.linalg.qr(a)[0], a="n 8")), a, (11, 9, 20))
    assert np.isnan(q[:, 5:]).all()
    np.testing.assert_allclose(q[:, :5].T @ q[:, :5], np.eye(5), atol=1e-13)


def test_what_depends_on_other_columns_has_singular_values_and_a_least_solution():
    a = RNG.normal(size=(12, WIDTH))
    a[:, 2] = a[:, 0] - 2 * a[:, 1]
    for f in (
        lambda a: np.linalg.svd(a, compute_uv=False),
        lambda a: np.linalg.lstsq(a, response(a), rcond=1e-10)[0],
        lambda a: np.linalg.matrix_rank(a, 1e-10),
        lambda a: np.linalg.pinv(a, 1e-10).T,
    ):
        (got,) = in_blocks(sg.symbolic(sg.named(f, a=f"n {WIDTH}")), a, (5, 2, 5))
        np.testing.assert_allclose(got, f(a), rtol=1e-10, atol=1e-12)


def test_whole_numbers_and_single_precision():
    for dtype in (np.int32, np.float32, np.complex64):
        a = (10 * RNG.normal(size=(11, WIDTH))).astype(dtype)
        for f in (
            lambda a: np.linalg.svd(a, compute_uv=False),
            lambda a: np.linalg.qr(a)[1],
            lambda a: np.linalg.lstsq(a, a[:, 0] + a[:, 1], rcond=1e-5)[0],
            lambda a: np.linalg.pinv(a).T,
        ):
            (got,) = in_blocks(sg.symbolic(sg.named(f, a=f"n {WIDTH}")), a, (4, 3, 4))
            assert got.dtype == f(a).dtype
            np.testing.assert_allclose(got, f(a), rtol=1e-4, atol=1e-4)


def test_stacks_of_matrices():
    a = RNG.normal(size=(2, 11, WIDTH))
    f = lambda a: np.sum(np.sin(np.linalg.svd(a, compute_uv=False))) + np.sum(np.cos(np.linalg.qr(a)[1]))  # noqa: E731
    derived = sg.value_and_grad(sg.named(f, a=f"2 n {WIDTH}"))
    for found, want in zip(in_blocks(derived, a, (4, 3, 4)), derived(a), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-10)


def test_columns_in_blocks_are_refused():
    square = sg.symbolic(sg.named(lambda a: np.linalg.eigvalsh(a), a="n n"))
    with pytest.raises(NotSplit, match="two axes"):
        split(square.program("n n"), [N])
    with pytest.raises(UnsupportedOperation, match="as many as columns"):
        sg.symbolic(lambda a: np.linalg.svd(a, compute_uv=False)).program("3 n")
    with pytest.raises(UnsupportedOperation, match="as many as columns"):
        sg.symbolic(sg.named(lambda a: np.linalg.svd(a, compute_uv=False), a="n 3"))(np.ones((2, 3)))


def test_two_triangles_together_are_written_where_that_is_said():
    first, second = RNG.normal(size=(2, 2, WIDTH, WIDTH))
    out = np.empty_like(first)
    assert triangle_of_both(first, second, out) is out
    np.testing.assert_array_equal(out, triangle_of_both(first, second))
    np.testing.assert_allclose(out.mT @ out, first.mT @ first + second.mT @ second)
