"""Indices that hypothesis draws, with the shape that they fit."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def example(shape):
    return np.linspace(-1.0, 2.0, int(np.prod(shape))).reshape(shape)


@st.composite
def basic(draw):
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True))


@st.composite
def mixed(draw):
    """Integer arrays, ints, slices, new axes and masks, in any order."""
    shape = draw(SHAPES)
    wanted = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=1, max_side=3))
    index = []
    for d in shape[: draw(st.integers(1, len(shape)))]:
        kind = draw(st.sampled_from(["array", "array", "list", "slice", "int", "newaxis"]))
        if kind == "newaxis":
            index.append(None)
            kind = "slice"
        if kind == "slice":
            index.append(draw(st.slices(d)))
        elif kind == "int":
            index.append(draw(st.integers(-d, d - 1)))
        else:
            array = draw(hnp.arrays(np.int64, wanted, elements=st.integers(-d, d - 1)))
            index.append(array.tolist() if kind == "list" and array.ndim else array)
    return shape, tuple(index)
