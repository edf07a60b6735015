"""Levels of the two scales: they keep order and sign, and only 0 is 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from symgrad_notebook.explorer.scale import TOP, scale_of

FINITE = hnp.arrays(float, st.integers(1, 30), elements=st.floats(allow_nan=False, allow_infinity=False))


@pytest.mark.parametrize("is_log", [False, True])
@given(values=FINITE)
def test_levels_keep_order_and_sign(is_log, values):
    levels = scale_of(values, is_log).levels(values).astype(int)
    np.testing.assert_array_equal(np.sign(levels), np.sign(values))
    assert np.abs(levels).max() == (TOP if np.any(values) else 0)
    for_sizes = np.abs(levels)[np.argsort(np.abs(values), kind="stable")]
    assert (np.diff(for_sizes) >= 0).all()


def test_a_logarithmic_scale_has_equal_steps_a_decade():
    values = 10.0 ** np.arange(-3, 4)
    steps = np.diff(scale_of(values, is_log=True).levels(values).astype(int))
    assert set(steps) == {21}


def test_a_logarithmic_scale_spans_what_a_float_tells_apart():
    scale = scale_of(np.array([1.0, 1e-300]), is_log=True)
    assert scale.smallest == 1e-16
    assert scale.levels(np.array([1e-300, 1e-16, 1e-8])).tolist() == [1, 1, 64]


@pytest.mark.parametrize("is_log", [False, True])
def test_no_values_and_zeros_alone(is_log):
    assert scale_of(np.zeros(0), is_log).ticks == [(0.0, "0")]
    assert scale_of(np.zeros(3), is_log).levels(np.zeros(3)).tolist() == [0, 0, 0]


def test_the_legend_of_a_single_magnitude():
    assert scale_of(np.array([3.0, -3.0]), is_log=True).ticks == [(-1.0, "-3"), (0.0, "0"), (1.0, "3")]
