"""What blocks can do in place of what they cannot, against the whole: counting, searching, contractions, loops."""

import numpy as np
import pytest
from blockwise import blockwise
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.passes.block_axes import first_of
from symgrad.passes.separable import counts, separable
from symgrad.passes.splitting import NotSplit, split
from symgrad.program.dims import named_dim

N = named_dim("n")


def rnn(w, x):
    return np.sum(sg.scan(lambda h, _: (np.tanh(w * h + x), h * x), np.zeros_like(x), None, length=4)[1])


def picked(w, x, rows):
    return np.stack([w * x, np.sin(x), -x], 1)[rows, (x > 0).astype(int) - 2 * (x > 1)]


FUNCTIONS = {
    "count": lambda w, x: np.sum(np.arange(len(x)) * x * w),
    "count from the end": lambda w, x: np.sum(np.exp(-w * (len(x) - 1 - np.arange(len(x)))) * x),
    "count of an axis that is one less": lambda w, x: np.sum(np.arange(len(x) - 1) * np.diff(x) * w),
    "grid": lambda w, x: np.sum(np.cos(w * np.linspace(0, 1, len(x))) * x),
    "grid without its end": lambda w, x: np.sum(np.linspace(w, 2, len(x), endpoint=False) * x**2),
    "argmax": lambda w, x: w * np.argmax(x) + np.sum(x),
    "argmin of columns": lambda w, x: np.sum(np.argmin(np.stack([x, -x, x**2], 1), axis=0) * w) + np.sum(x),
    "element at the largest": lambda w, x: w * (x**2)[np.argmax(x)] * np.sum(x),
    "row at the smallest": lambda w, x: np.sum(np.stack([x, w * x**2], 1)[np.argmin(x)] ** 2),
    "sums up to each": lambda w, x: np.sum(np.log(np.cumsum(np.exp(w * x))) * x),
    "sums from each": lambda w, x: np.sum(np.log(np.cumsum(np.exp(w * x)[::-1])[::-1]) * x),
    "sums of columns": lambda w, x: np.sum(np.cumsum(np.stack([x, w * x**2], 1), 0) ** 2 * w),
    "sums of sums": lambda w, x: np.sum(np.cumsum(np.cumsum(x) * w) * x),
    "rows in one": lambda w, x: np.sum(np.cumsum(np.stack([x, w * x], 1).ravel()) * np.arange(2 * len(x))),
    "picked of rows": lambda w, x: np.sum(picked(w, x, np.arange(len(x))) ** 2),
    "picked of two axes": lambda w, x: np.sum(
        np.reshape(np.stack([x, w * x, x**2, w * x**3], 1), (-1, 2, 2))[np.arange(len(x)), 1, (x > 0).astype(int)] ** 2
    ),
    "taken along": lambda w, x: np.sum(
        np.take_along_axis(np.stack([x, w * x], 1), np.stack([x > 0, x < 1], 1).astype(int), 1) ** 3
    ),
    "outer sums": lambda w, x: np.sum(np.tanh(w * x) * np.sum(x)) * np.mean(x),
    "loop that is split": rnn,
    "loop that is not": lambda w, x: np.sum(x**2) * sg.fori_loop(0, 5, lambda i, c: np.sin(c) + w, w),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=10)
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_parts_put_together_are_the_whole(name, lengths):
    w, x = 0.7, np.random.default_rng(sum(lengths)).standard_normal(sum(lengths) + 2)
    derived = sg.value_and_grad(FUNCTIONS[name], (0, 1))
    value, gradients = derived(w, x)
    got = blockwise(split(derived.program("", "n"), [N]), [w, x], {N: (*lengths, 2)})
    for found, want in zip(got, (value, *gradients), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("found", [np.argmax, np.argmin])
@pytest.mark.parametrize(
    "x",
    [[1.0, 3.0, 3.0, -1.0, -1.0], [2.0, np.nan, 5.0, np.nan, 0.0], [np.inf, -np.inf, np.inf, -np.inf, 0.0], [0.0] * 5],
    ids=["ties", "nan", "infinite", "alike"],
)
def test_the_first_one_is_found_in_any_block(found, x):
    made = split(sg.symbolic(lambda x: found(x)).program("n"), [N])
    for lengths in ((5,), (2, 3), (1, 1, 1, 1, 1)):
        (index,) = blockwise(made, [np.array(x)], {N: lengths})
        assert index == found(x)
        assert index.dtype == np.intp


def test_a_loop_stays_one_where_nothing_in_it_is_split():
    program = sg.symbolic(FUNCTIONS["loop that is not"]).program("", "n")
    assert any(n.primitive.name == "scan" for n in separable(program, frozenset({N})).nodes)


def test_counting_is_told_where_a_block_begins():
    program = separable(sg.symbolic(lambda x: np.arange(len(x)) * x).program("n"), frozenset({N}))
    assert [n for n in program.nodes if counts(n, frozenset({N}))]
    assert not [n for n in program.nodes if counts(n, frozenset())]
    assert first_of(N) in {n.params[0] for n in program.nodes if n.primitive.name == "dim"}


OTHER_INDICES = {
    "rows before": lambda x, y: np.sum(picked(2.0, x, np.arange(len(x)) - 1)) + np.sum(y),
    "rows of another length": lambda x, y: np.sum(np.stack([x, x], 1).ravel()[np.arange(len(x))] ** 2) + y[0],
    "every other": lambda x, y: np.sum(np.stack([x, x, x, x], 1).ravel()[2 * np.arange(len(x)) + 1] ** 2) + y[0],
    "rows of another axis": lambda x, y: np.sum(np.stack([x, x], 1)[np.arange(len(y)), (y > 0).astype(int)]),
    "places of one's own": lambda x, y: np.sum(np.stack([x, x], 1).ravel()[np.arange(len(x)) * 2 + (x > 0)]) + y[0],
    "of another axis": lambda x, y: x[np.argmax(y)] ** 2,
    "of a longer axis": lambda x, y: np.sum(y) * np.diff(x)[np.argmax(x)] ** 2,
    "computed": lambda x, y: np.sum(y) * x[np.argmax(x) - 1] ** 2,
}


@pytest.mark.parametrize("name", OTHER_INDICES)
def test_an_index_that_may_be_out_of_bounds_is_refused(name):
    program = sg.grad(sg.named(OTHER_INDICES[name], x="n", y="m")).program("n", "m")
    for dims in ([N], [N, named_dim("m")]):
        with pytest.raises(NotSplit, match=r"rows go to any block|reads rows of any block"):
            split(program, dims)


def test_a_loop_of_too_many_steps_is_refused():
    program = sg.symbolic(lambda x: sg.fori_loop(0, 10**6, lambda i, u: np.roll(u, 1), x)).program("n")
    with pytest.raises(UnsupportedOperation, match="run fewer steps"):
        split(program, [N])
