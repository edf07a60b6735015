"""Assignment to parts: what NumPy takes is traced, and its derivatives are right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indices import basic, example, mixed

import symgrad


@given(basic(), st.booleans())
@settings(max_examples=50)
def test_assignment_to_basic_indices(check_rule, case, scalar):
    shape, index = case
    window = np.zeros(shape)[index].shape

    def assign(x, v):
        y = x * 2.0
        y[index] = v
        return y * x

    check_rule(assign, [example(shape), np.asarray(0.7) if scalar else example(window) + 3.0], order=1)


@given(mixed())
@settings(max_examples=50)
def test_assignment_and_increment_at_integer_indices(check_rule, case):
    shape, index = case
    window = np.zeros(shape)[index].shape

    def assign(x, v):
        y = x * 2.0
        y[index] = v
        y[index] += x[index] * 0.5
        return y * x

    check_rule(assign, [example(shape), example(window) + 3.0], order=1)


@pytest.mark.parametrize("index", [0, slice(0, 2), [0, 1]], ids=str)
def test_a_value_that_does_not_fit_is_refused_as_in_numpy(index):
    def assign(v):
        y = v * 1.0
        y[index] = np.arange(5.0) + v[0]
        return y

    with pytest.raises(ValueError, match=r"shape|setting an array element"):
        assign(np.arange(3.0))
    with pytest.raises(ValueError, match="shape"):
        symgrad.grad(assign)(np.arange(3.0))


def test_assignment_with_new_axes(check_rule):
    def assign(x):
        y = x * 1.0
        y[:, None] = x[:, None] ** 2
        y[None, 1] = [3.0]
        return y

    check_rule(assign, [example((4,))])


def filled(make):
    def function(x):
        y = make(x)
        for k in range(len(x)):
            y[k] = np.sin(x[k]) * k
        return np.sum(y**2)

    return function


@pytest.mark.parametrize("make", [np.zeros_like, np.empty_like, lambda x: np.zeros(len(x))])
def test_an_array_that_is_filled_element_by_element_is_one_operation_each(make):
    """However it was made, no element costs an array of its own."""
    x = np.linspace(0.1, 1.0, 12)
    program = symgrad.symbolic(filled(make)).program(x)
    assert not any(n.primitive.name == "where" for n in program.nodes)
    np.testing.assert_allclose(symgrad.symbolic(filled(make))(x), filled(make)(x), rtol=1e-15)
