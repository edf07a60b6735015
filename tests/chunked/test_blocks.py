"""Blocks tile an array: every element is in one of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from symgrad.chunked.blocks import Blocks
from symgrad.program.dims import named_dim

N, M = named_dim("n"), named_dim("m")
LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@given(LENGTHS, LENGTHS)
def test_every_element_is_in_one_block(rows, columns):
    blocks = Blocks({N: rows, M: columns})
    seen = np.zeros((sum(rows), 2, sum(columns)), int)
    for block in blocks.over((M, N)):
        seen[blocks.slices((N, None, M), block)] += 1
    assert np.all(seen == 1)
    assert blocks.count((M, N)) == len(rows) * len(columns)


def test_one_block_where_nothing_is_split():
    blocks = Blocks({N: (2, 2)})
    assert list(blocks.over(())) == [{}]
    assert blocks.count(()) == 1
