"""Indexing: whatever index NumPy takes, the traced result and its derivatives are the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp
from indices import SHAPES, basic, example, mixed

import symgrad
from symgrad.errors import ArgumentTypeError, TracingError
from symgrad.testing import check_grads


@given(basic())
@settings(max_examples=60)
def test_basic_indices(check_rule, case):
    shape, index = case
    check_rule(lambda x: x[index], [example(shape)], order=1)


@given(mixed())
@settings(max_examples=60)
def test_integer_and_mixed_indices(check_rule, case):
    shape, index = case
    check_rule(lambda x: x[index] ** 2, [example(shape)], order=1)


@given(SHAPES.flatmap(lambda s: hnp.arrays(bool, s)))
@settings(max_examples=30)
def test_masks_from_outside(check_rule, mask):
    check_rule(lambda x: x[mask] * 2.0, [example(mask.shape)], order=1)
    check_rule(lambda x: x[:, mask] * 2.0, [example((2, *mask.shape))], order=1)


@pytest.mark.parametrize(
    "index",
    [
        (Ellipsis, 1),
        (0, Ellipsis),
        (slice(None, None, -1), Ellipsis, slice(None, None, -2)),
        (slice(-1, -4, -1), None, slice(3, 0, -2)),
        (slice(None), slice(2, None, -2)),
        ([0, 1], slice(None), [1, 2]),
        (0, slice(None), [1, 2]),
        (slice(None), [[0], [1]], [1, 2]),
        (None, [0, 1], None),
        np.ix_([0, 1], [2, 0], [1]),
        (slice(None), np.array([True, False, True])),
        (0, np.array([True, False, True]), slice(None, 2)),
        np.uint8(1),
        slice(np.int64(0), np.int64(1)),
        [],
        (),
        Ellipsis,
        None,
        True,
        slice(5, 2),
    ],
    ids=str,
)
def test_unusual_indices(check_rule, index):
    check_rule(lambda x: np.sin(x[index]), [example((2, 3, 4))])


def test_rows_and_iteration(check_rule):
    check_rule(lambda x: sum(k * row @ row for k, row in enumerate(x)), [example((3, 2))])
    check_rule(lambda x: [a * b for a, b in zip(x, x[::-1])], [example((3,))])


def test_indices_that_depend_on_values():
    x = np.array([3.0, 1.0, 2.0])
    check_grads(lambda v: v[np.argmax(v)] ** 2, [x])
    check_grads(lambda v: v[np.argsort(v)] * np.array([1.0, 2.0, 3.0]), [x])
    g = symgrad.grad(lambda v: v[np.argmax(v)] ** 2)
    assert g(x).tolist() == [6.0, 0.0, 0.0]
    assert g(x[::-1]).tolist() == [0.0, 0.0, 6.0]


def test_integer_arguments_as_indices():
    g = symgrad.grad(lambda v, i: v[i] ** 2)
    x = np.array([3.0, 1.0, 2.0])
    assert g(x, np.array([0, 0, -1])).tolist() == [12.0, 0.0, 4.0]
    assert g(x, np.array([1, 1, 1])).tolist() == [0.0, 6.0, 0.0]
    assert g(x, 2).tolist() == [0.0, 0.0, 4.0]
    assert g(x, -3).tolist() == [6.0, 0.0, 0.0]


@pytest.mark.parametrize("index", [5, -4, (0, 0), [3], [[-4]], (slice(None), 0), 1.0, [0.5], "a", (..., ...)], ids=str)
def test_bad_indices_are_index_errors_as_in_numpy(index):
    x = np.arange(3.0)
    with pytest.raises(IndexError):
        x[index]
    with pytest.raises(IndexError):
        symgrad.grad(lambda v: v[index])(x)


def test_x_at_false_is_empty():
    x = np.arange(3.0)
    assert symgrad.symbolic(lambda v: v[False])(x).shape == (0, 3)
    assert symgrad.grad(lambda v: np.sum(v[v[0] > 1.0]) + v[1])(x).tolist() == [0.0, 1.0, 0.0]
    with pytest.raises(TracingError, match=r"x\[:0\]"):
        symgrad.grad(lambda v: v[..., False])(x)


def test_a_traced_mask_is_guarded():
    gradient = symgrad.grad(lambda v: v[v > 0] ** 2)
    for x in (np.arange(3.0), np.array([-1.0, 2.0, -3.0]), np.zeros(3)):
        assert gradient(x).tolist() == (2 * x * (x > 0)).tolist()


@pytest.mark.parametrize("backend", ["numpy", "native", "numexpr"])
@pytest.mark.parametrize("index", [[-4], [3], [-3], [2], [-5, 0]])
def test_index_arrays_out_of_bounds_are_refused_on_either_side(index, backend):
    rows = np.array(index)
    inside = bool(np.all((rows >= -3) & (rows < 3)))
    for function in (lambda x, i: x[i] * 2, lambda x, i: (x * np.ones((2, 3)))[1, i]):
        for derived in (symgrad.symbolic(function, backend=backend), symgrad.jacobian(function, backend=backend)):
            if inside:
                derived(np.arange(3.0), rows)
            else:
                with pytest.raises(IndexError):
                    derived(np.arange(3.0), rows)


@pytest.mark.parametrize("backend", ["numpy", "native", "numexpr", "auto"])
def test_an_index_array_without_axes_names_one_element(backend):
    x = np.array([1.0, 2.0, 3.0])
    for take in (lambda x: x[np.array(1)], lambda x: np.take(x, np.array(-2)), lambda x: np.take(x, True)):
        value, gradient = symgrad.value_and_grad(lambda x, take=take: take(x) * 3.0, backend=backend)(x)
        assert value == take(x) * 3.0
        assert gradient.tolist() == [0.0, 3.0, 0.0]
        assert symgrad.grad(take, backend=backend)(x).tolist() == [0.0, 1.0, 0.0]
        assert symgrad.jacobian(take, backend=backend)(x).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("flag", [np.bool_(True), np.bool_(False), np.array(True)], ids=repr)
def test_a_truth_value_that_picks_from_a_plain_array_is_a_mask(flag):
    table = np.arange(6.0).reshape(2, 3)

    def fn(x, flag):
        return x * table[flag]

    np.testing.assert_array_equal(symgrad.symbolic(fn)(2.0, flag), fn(2.0, flag), strict=True)
    with pytest.raises(ArgumentTypeError, match="truth value cannot be used as an index"):
        symgrad.symbolic(lambda x, flag: x * [1.0, 2.0][flag])(2.0, flag)
