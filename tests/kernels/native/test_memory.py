"""Places in one block of memory."""

from hypothesis import given
from hypothesis import strategies as st

from symgrad.kernels.native.memory import Memory


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 6)), min_size=1, max_size=40))
def test_values_that_live_at_once_do_not_overlap(values):
    block, living = Memory(), []
    for count, kept in values:
        start = block.take(count)
        for other, length in living:
            assert start + count <= other or other + length <= start
        assert start % 64 == 0
        assert start + count <= block.size
        living.append((start, count))
        while len(living) > kept:
            block.give(*living.pop(0))
