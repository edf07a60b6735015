"""The check of an export: what it is run on, and when a result passes."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.exporters.check import GOLDEN, MAX_WRITTEN, Check, Given, Wanted, check_of, difference


def agrees(got, wanted, tolerance):
    return difference(got, wanted) <= tolerance


def program_of(fn, *args):
    return sg.symbolic(fn).program(*args)


def test_small_inputs_are_those_of_the_call():
    x = np.array([1.0, 2.0])
    check = check_of(program_of(np.exp, x), 0, [x])
    assert isinstance(check, Check)
    assert np.array_equal(check.given[0].array(), x)
    assert check.wanted[0].step == 1
    assert agrees(np.exp(x), check.wanted[0], check.tolerance)


def test_large_arrays_are_drawn_between_their_extremes():
    x = np.linspace(-2.0, 3.0, 10 * MAX_WRITTEN)
    check = check_of(program_of(np.exp, x), 0, [x])
    assert isinstance(check, Check)
    assert check.given[0].values is None
    drawn = check.given[0].array()
    u = (np.arange(x.size) + 1) * GOLDEN % 1
    assert np.array_equal(drawn, -2.0 + 5.0 * u)
    assert check.wanted[0].values.size <= MAX_WRITTEN
    assert agrees(np.exp(drawn), check.wanted[0], 1e-12)
    changed = np.exp(drawn)
    changed[check.wanted[0].step] += 1e-3
    assert not agrees(changed, check.wanted[0], 1e-9)


@pytest.mark.parametrize(("dtype", "low", "high"), [(np.int64, -2, 4), (np.bool_, 0, 1), (np.float32, 0.25, 0.5)])
def test_drawn_inputs_have_their_dtype_and_range(dtype, low, high):
    drawn = Given((2, 3000), np.dtype(dtype), None, low, high).array()
    assert drawn.dtype == dtype
    assert drawn.shape == (2, 3000)
    assert drawn.min() >= low
    assert drawn.max() <= high
    assert len(np.unique(drawn)) > 1


def test_named_dims_have_the_sizes_of_the_arrays_or_small_ones():
    fn = sg.named(lambda w, X: np.sum(np.tanh(X @ w)), w="d", X="n d")
    derived = sg.grad(fn)
    known = check_of(derived.program(np.ones(2), np.ones((5, 2))), 0, [np.ones(2), np.ones((5, 2))])
    assert isinstance(known, Check)
    assert known.sizes == {"d": 2, "n": 5}
    drawn = check_of(derived.program("d", "n d"), 0, None)
    assert isinstance(drawn, Check)
    assert drawn.given[1].shape == (drawn.sizes["n"], drawn.sizes["d"])


def test_no_check_where_the_derivative_is_not_defined():
    singular = check_of(program_of(np.linalg.inv, np.zeros((2, 2))), 0, [np.zeros((2, 2))])
    assert singular == "at these arguments the derivative is not defined (LinAlgError)"
    unknown = check_of(program_of(np.arccosh, "n"), 0, None)
    assert unknown == "at drawn inputs the derivative is not finite; export it with small example arrays"


def test_nan_and_infinity_equal_themselves_alone():
    values = np.array([np.nan, np.inf, -np.inf, 1.0])
    wanted = Wanted((4,), np.dtype(float), 1, values)
    assert agrees(values, wanted, 1e-9)
    for k, other in [(0, 1.0), (1, -np.inf), (2, 0.0), (3, np.nan), (3, np.inf), (3, 1.1)]:
        changed = values.copy()
        changed[k] = other
        assert not agrees(changed, wanted, 1e-9), (k, other)
    assert not agrees(values.reshape(2, 2), wanted, 1e-9)
    assert not agrees(values[:3], wanted, 1e-9)


def test_float32_is_compared_to_its_own_precision():
    x = np.ones(3, np.float32)
    check = check_of(program_of(np.exp, x), 0, [x])
    assert isinstance(check, Check)
    assert check.tolerance == 1e-4
