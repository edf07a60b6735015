"""np.linalg.svd with all vectors, as it is by default: those that are determined have derivatives, the others none."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.testing import check_grads

RNG = np.random.default_rng(0)
TALL, WIDE = RNG.normal(size=(4, 2)), RNG.normal(size=(2, 4))
STACK = RNG.normal(size=(3, 4, 2))


def values(A):
    return np.sum(np.linalg.svd(A)[1] ** 3)


def low_rank(A):
    U, s, Vt = np.linalg.svd(A)
    return np.sum(((U[:, :1] * s[:1]) @ Vt[:1]) ** 3)


def whole(A):
    U, s, Vt = np.linalg.svd(A)
    k = len(s)
    return np.sum((U[:, :k] * s) @ Vt[:k] * np.arange(8.0).reshape(A.shape)) + np.sum((Vt[:k] ** 2)[0] * U[0, 0] ** 2)


def of_a_stack(A):
    U, s, Vt = np.linalg.svd(A)
    return np.sum(((U[..., :1] * s[..., None, :1]) @ Vt[..., :1, :]) ** 3)


def single(A):
    U, _, Vt = np.linalg.svd(A)
    return (U[:, 0] ** 2 @ np.arange(len(U[:, 0]))) * np.sum(Vt[0] ** 4) + np.sum(U[:, 1::-1] ** 4)


@pytest.mark.parametrize("matrix", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("fn", [values, low_rank, whole, single])
def test_vectors_that_are_determined_have_derivatives(fn, matrix):
    np.testing.assert_allclose(sg.symbolic(fn)(matrix), fn(matrix), rtol=1e-12)
    check_grads(fn, [matrix], order=1)


def test_stacks_of_matrices():
    np.testing.assert_allclose(sg.symbolic(of_a_stack)(STACK), of_a_stack(STACK), rtol=1e-12)
    check_grads(of_a_stack, [STACK], order=1)


@pytest.mark.parametrize(
    "read",
    [
        lambda U: np.sum(U),
        lambda U: U @ np.ones(4),
        lambda U: U[:, 2],
        lambda U: U[:, -1],
        lambda U: U[:, 1:3],
        lambda U: U.T,
        lambda U: 2 * U,
        lambda U: U,
        lambda U: U[U > 0],
    ],
)
def test_what_reads_further_is_refused(read):
    with pytest.raises(UnsupportedOperation, match=r"the vectors beyond the first 2.*Take \[:, :2\]"):
        sg.jacobian(lambda A: read(np.linalg.svd(A)[0]))(TALL)


def test_rows_are_named_where_they_are_the_vectors():
    with pytest.raises(UnsupportedOperation, match=r"Take \[:2\]"):
        sg.grad(lambda A: np.sum(np.linalg.svd(A)[2]))(WIDE)


def test_it_says_its_shape():
    def shapes(A):
        U, _, Vt = np.linalg.svd(A)
        assert (U.shape, U.ndim, U.dtype, Vt.shape) == ((4, 4), 2, np.float64, (2, 2))
        assert U[:, :0].shape == (4, 0)
        return np.sum(A)

    sg.grad(shapes)(TALL)
