"""Blocks tile an array: every element is in one of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from symgrad.chunked.blocks import Blocks
from symgrad.passes.block_axes import Axis, Edges
from symgrad.program.dims import named_dim

N, M = named_dim("n"), named_dim("m")
LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@given(LENGTHS, LENGTHS)
def test_every_element_is_in_one_block(rows, columns):
    blocks = Blocks({N: rows, M: columns})
    seen = np.zeros((sum(rows), 2, sum(columns)), int)
    for block in blocks.over((M, N)):
        seen[blocks.slices((Axis(N, 0), None, Axis(M, 0)), block)] += 1
    assert np.all(seen == 1)
    assert blocks.count((M, N)) == len(rows) * len(columns)


def test_one_block_where_nothing_is_split():
    blocks = Blocks({N: (2, 2)})
    assert list(blocks.over(())) == [{}]
    assert blocks.count(()) == 1


@given(LENGTHS, st.integers(-2, 3))
def test_the_last_block_has_what_an_axis_has_more_or_less(rows, more):
    rows[-1] += 2
    blocks, axis = Blocks({N: rows}), Axis(N, more)
    seen = np.zeros(sum(rows) + more, int)
    for block in blocks.over((N,)):
        seen[blocks.slices((axis,), block)] += 1
    assert np.all(seen == 1)
    assert sum(blocks.lengths_of(axis)) == len(seen)


def test_a_block_with_its_neighbours():
    blocks = Blocks({N: (3, 4, 5)})
    inner = {N: 1}
    assert blocks.slices((Axis(N, 0),), inner, [(-1, 2)]) == (slice(2, 9),)
    assert blocks.edges((N,), inner) == (Edges(False, False),)
    assert [blocks.edges((N,), {N: k})[0] for k in (0, 2)] == [Edges(True, False), Edges(False, True)]


@given(LENGTHS, st.integers(1, 12))
def test_short_blocks_are_joined(rows, least):
    (joined,) = Blocks({N: rows}).at_least({N: least}).lengths.values()
    assert sum(joined) == sum(rows)
    assert len(joined) == 1 or min(joined) >= least
    assert set(np.cumsum(joined)) <= set(np.cumsum(rows))
