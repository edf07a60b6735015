"""Programs in stages over blocks: each stage is run on each block here, by NumPy alone, and the parts put together."""

import numpy as np
import pytest
import scipy.special
from blockwise import blockwise

import symgrad as sg
from symgrad.passes.splitting import NotSplit, split
from symgrad.program.dims import named_dim

N, M = named_dim("n"), named_dim("m")


def stages(derived, *shapes, dims=(N,)):
    return split(derived.program(*shapes), dims).stages


def test_a_sum_over_the_data_is_one_pass():
    def loss(w, X, y):
        return np.mean(np.log(1 + np.exp(-y * (X @ w))))

    (stage,) = stages(sg.grad(loss), "d", "n d", "n")
    assert stage.dims == (N,)
    assert stage.combines == (np.add,)
    assert stage.totals == (N,)


def test_value_and_gradient_read_the_data_once():
    passes = stages(sg.value_and_grad(lambda w, X: np.mean(np.tanh(X @ w))), "d", "n d")
    assert [s.dims for s in passes] == [(N,), ()]


def test_an_extremum_is_found_before_what_it_is_subtracted_from_is_summed():
    def logsumexp(w, X):
        z = X @ w
        m = np.max(z)
        return m + np.log(np.sum(np.exp(z - m)))

    (first, *rest) = stages(sg.symbolic(logsumexp), "d", "n d")
    assert first.combines == (np.maximum,)
    assert [s.combines for s in rest if s.dims] == [(np.add,)]


def test_other_intermediate_arrays_are_computed_anew():
    def standardised(w, X):
        z = X @ w
        return np.sum(np.tanh((z - np.mean(z)) / np.std(z)))

    for stage in stages(sg.grad(standardised), "d", "n d"):
        for read in stage.reads:
            assert read.is_leaf or N not in read.shape


def test_what_an_extremum_is_compared_with_is_handed_on():
    """Another kernel may compute it with another last bit, and no element would be the largest."""
    passes = stages(sg.grad(lambda w, X: np.max(np.exp(X @ w))), "d", "n d")
    (compared,) = [n for s in passes for n in s.gives if n.primitive.name == "exp"]
    readers = [s for s in passes if any(n.primitive.name in ("max", "equal") for n in s.program.nodes)]
    assert len(readers) >= 2
    assert all(compared in s.reads for s in readers)


def test_two_dims_are_a_grid_of_blocks():
    def misfit(U, V, R):
        return np.sum((R - U @ V.T) ** 2)

    (stage,) = stages(sg.grad(misfit, (0, 1)), "n k", "m k", "n m", dims=(N, M))
    assert stage.dims == (M, N)
    assert stage.combines == (np.add, np.add)


def test_two_labels_of_one_dim_are_not_the_same_block():
    """``x · Σ y`` is one contraction of a label that stays and one that is summed, both of n elements."""
    passes = stages(sg.grad(lambda x, y: np.sum(x * y) * np.sum(y), 1), "n", "n")
    assert {c for s in passes for c in s.combines if s.dims} == {np.add, None}


def test_rows_that_an_index_names_are_read_from_a_whole_and_added_to_it():
    table, index = np.ones((5, 2)), np.array([0, 3, 3])

    def loss(table, y):
        return np.sum((table[index] @ np.ones(2) - 1) ** 2) + np.sum(y)

    assert all(s.dims == () or s.combines for s in stages(sg.grad(loss, (0, 1)), "5 2", "n"))
    assert np.allclose(sg.grad(loss)(table, np.ones(4)), [[2, 2], [0, 0], [0, 0], [4, 4], [0, 0]])


REFUSED = {
    "sort": (lambda x: np.sum(np.sort(x) * x), "each element reads those before it, or all"),
    "flip": (lambda x: np.sum(x[::-1] * x), "it takes a part"),
    "joined": (lambda x: np.sum(np.outer([1.0, 2.0], x).ravel() ** 2), "it joins an axis that is split with others"),
    "outer": (lambda x: np.sum(np.tanh(x[:, None] * x)), "all pairs of blocks"),
    "doubled": (lambda x: np.sum(np.concatenate([x, x]) ** 2), "it puts pieces together"),
    "of another length": (lambda x: np.sum(np.concatenate([x, x[1:]]) ** 2), "follows no block"),
    "pairs": (lambda x: np.sum(np.reshape(x, (-1, 1)) @ np.ones((1, 2))), None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_several_blocks_is_refused_by_name(name):
    function, why = REFUSED[name]
    program = sg.symbolic(function).program("n")
    if why is None:
        assert split(program, [N]).stages
        return
    with pytest.raises(NotSplit, match=why) as caught:
        split(program, [N])
    assert caught.value.node in program.nodes or caught.value.node.primitive.name in str(caught.value)


FUNCTIONS = {
    "logistic": lambda w, X: np.mean(np.log(1 + np.exp(-(X @ w)))),
    "norm": lambda w, X: np.linalg.norm(np.sin(X @ w)),
    "variance": lambda w, X: np.var(X @ w) / np.std(np.tanh(X @ w)),
    "product of rows": lambda w, X: np.sum(np.prod(1 + 0.1 * X * w, axis=1)),
    "extrema": lambda w, X: np.max(X @ w) - np.min(X @ w) + np.sum(np.max(X * w, axis=1)),
    "gram": lambda w, X: np.linalg.slogdet(X.T @ X + np.outer(w, w))[1],
    "least squares": lambda w, X: np.sum(np.linalg.solve(X.T @ X, X.T @ np.cos(X @ w))),
    "softmax of rows": lambda w, X: np.sum(scipy.special.softmax(X * w, axis=1)[:, 0] ** 2),
    "ravel of rows": lambda w, X: np.sum(np.reshape(X, (-1, 1, 3)) * w),
    "where": lambda w, X: np.sum(np.where(X @ w > 0, (X @ w) ** 2, 0.0)) / X.shape[0],
    "whole": lambda w, X: np.sum(w**2),
    "centered": lambda w, X: np.sum((X - np.mean(X, axis=0)) ** 2 @ w),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("lengths", [(7,), (3, 4), (1, 5, 1)], ids=str)
def test_parts_put_together_are_the_whole(name, lengths):
    rng = np.random.default_rng(3)
    w, X = rng.uniform(0.5, 1.5, 3), rng.standard_normal((7, 3))
    derived = sg.value_and_grad(FUNCTIONS[name], (0, 1))
    value, (by_w, by_x) = derived(w, X)
    got = blockwise(split(derived.program("3", "n 3"), [N]), [w, X], {N: lengths})
    for found, want in zip(got, (value, by_w, by_x), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)
