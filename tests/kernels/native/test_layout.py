"""Views against what NumPy does with strides."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from symgrad.kernels.native.layout import contiguous, reshaped_strides
from symgrad.kernels.native.memory import Block


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_reshapes_move_nothing_or_are_refused(shape, data):
    x = np.arange(np.prod(shape) * 2.0).reshape(*shape, 2)[..., 0]
    x = x.transpose(data.draw(st.permutations(range(x.ndim))))
    new = data.draw(st.sampled_from([(x.size,), x.shape, (1, *x.shape), (x.size, 1), *splits(x.size)]))
    strides = reshaped_strides(x.shape, tuple(s // 8 for s in x.strides), new)
    moved = x.reshape(new)
    if strides is None:
        assert not np.shares_memory(moved, x)
        return
    view = np.lib.stride_tricks.as_strided(x, new, [8 * s for s in strides])
    np.testing.assert_array_equal(view, moved)


def splits(size):
    return [(d, size // d) for d in range(2, size) if size % d == 0]


def test_strides_of_a_contiguous_array():
    for shape in ((), (3,), (2, 3, 4)):
        assert contiguous(shape) == tuple(s // 8 for s in np.zeros(shape).strides)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 6)), min_size=1, max_size=40))
def test_values_that_live_at_once_do_not_overlap(values):
    block, living = Block(), []
    for count, kept in values:
        start = block.take(count)
        for other, length in living:
            assert start + count <= other or other + length <= start
        assert start % 64 == 0
        assert start + count <= block.size
        living.append((start, count))
        while len(living) > kept:
            block.give(*living.pop(0))
