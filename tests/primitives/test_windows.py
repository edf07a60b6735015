"""Views of evenly spaced elements, and products with them, against sums written out."""

import itertools

import numpy as np
import pytest

from symgrad.primitives.windows import Windows, overlap_add, overlapped_product, windowed_product

RNG = np.random.default_rng(0)


def places(count, width, stride, dilation, start=0):
    return start + stride * np.arange(count)[:, None] + dilation * np.arange(width)


def view_of(rank, axis, length, index):
    view = Windows.gathered(rank, axis, length, index)
    assert view is not None
    return view


INDICES = [places(4, 3, 1, 1), places(3, 2, 2, 3), places(2, 4, 1, 2, 1), places(5, 1, 2, 1), np.arange(1, 8, 2)]


@pytest.mark.parametrize("index", INDICES)
def test_a_view_is_what_a_gather_takes(index):
    x = RNG.normal(size=(2, 10, 3))
    view = view_of(3, 1, 10, index)
    np.testing.assert_array_equal(view.of(x), np.take(x, index, 1))
    assert view.of(x).base is not None
    values = RNG.normal(size=(2, *index.shape, 3))
    want = np.zeros((2, 10, 3))
    for place in np.ndindex(index.shape):
        want[:, index[place]] += values[(slice(None), *place)]
    np.testing.assert_allclose(overlap_add(values, view, (None, 10, None)), want)


def test_views_of_views():
    x = RNG.normal(size=(2, 9, 11))
    rows, columns = places(4, 3, 2, 1), places(3, 2, 1, 4, 2)
    view = view_of(3, 1, 9, rows).then(view_of(4, 3, 11, columns))
    np.testing.assert_array_equal(view.of(x), np.take(np.take(x, rows, 1), columns, 3))
    twice = view_of(3, 1, 9, rows).then(view_of(4, 1, 4, places(2, 2, 1, 2)))
    np.testing.assert_array_equal(twice.of(x), np.take(np.take(x, rows, 1), places(2, 2, 1, 2), 1))


@pytest.mark.parametrize(
    "index",
    [
        np.array([0, 1, 3]),
        np.array([2, 1, 0]),
        np.array([1, 1, 1]),
        np.array([-1, 0, 1]),
        np.array([8, 9, 10]),
        np.array([[0, 1], [1, 3]]),
        np.zeros((0, 2), int),
        np.array(3),
        np.array([True, False]),
    ],
)
def test_what_is_no_view(index):
    assert Windows.gathered(1, 0, 10, index) is None


@pytest.mark.parametrize("block", [1, 40, 1 << 20])
@pytest.mark.parametrize(
    ("labels", "shape"),
    [
        (((0, 1, 2, 3), (4, 1, 3), (0, 4, 2)), (5, 2, 3)),  # y[n,o,i] = Σ w[o,c,k] x[n,c,i+k]
        (((0, 1, 2, 3), (0, 4, 2), (4, 1, 3)), (3, 5, 4)),  # its derivative by w
        (((0, 1, 2, 3), (4, 1, 3), (2, 4, 0)), (5, 2, 3)),
        (((0, 1, 2, 3), (1, 4, 3), (0, 1, 4, 2)), (2, 5, 3)),  # a stack of products
    ],
)
def test_products_with_windows(monkeypatch, block, labels, shape):
    monkeypatch.setattr("symgrad.primitives.windows._BLOCK", block)
    own, others, out = labels
    x = RNG.normal(size=(3, 2, 9))
    view = view_of(3, 2, 9, places(4, 3, 2, 1))
    other = RNG.normal(size=shape)
    want = np.einsum(np.take(x, places(4, 3, 2, 1), 2), own, other, others, out)
    np.testing.assert_allclose(windowed_product(x, other, view, own, others, out), want, rtol=1e-12)


@pytest.mark.parametrize("block", [1, 1 << 20])
@pytest.mark.parametrize("swapped", [False, True])
def test_products_added_up(monkeypatch, block, swapped):
    monkeypatch.setattr("symgrad.primitives.windows._BLOCK", block)
    ct, w = RNG.normal(size=(3, 5, 4)), RNG.normal(size=(5, 2, 3))
    want = np.zeros((3, 2, 9))
    for n, o, i, c, k in itertools.product(range(3), range(5), range(4), range(2), range(3)):
        want[n, c, 2 * i + k] += ct[n, o, i] * w[o, c, k]
    view = view_of(3, 2, 9, places(4, 3, 2, 1))
    operands = [(ct, (0, 4, 2)), (w, (4, 1, 3))][:: -1 if swapped else 1]
    (a, own), (b, others) = operands
    got = overlapped_product(a, b, view, own, others, (0, 1, 2, 3), (None, None, 9))
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_no_examples():
    view = view_of(2, 1, 9, places(4, 3, 2, 1))
    assert windowed_product(np.zeros((0, 9)), np.zeros((3, 2)), view, (0, 1, 2), (2, 3), (0, 1, 3)).shape == (0, 4, 2)
    assert overlapped_product(np.zeros((0, 4)), np.zeros(3), view, (0, 1), (2,), (0, 1, 2), (None, 9)).shape == (0, 9)


@pytest.mark.parametrize("sizes", [(7, 9, 3, 2), (4, 3, 5, 2), (2, 2, 2, 2), (1, 6, 1, 3), (5, 1, 2, 4), (0, 3, 2, 2)])
@pytest.mark.parametrize("width", [10, 12])
def test_several_axes_of_one_source_are_added_up(sizes, width):
    """Windows of a picture, whose rows and columns are one axis: some axes overlap, others do not."""
    steps = (width, 1, width, 1)
    view = ((3,), tuple([(0, n, step) for n, step in zip(sizes, steps, strict=True)]))
    length = 3 + 20 * width
    values = RNG.normal(size=sizes)
    want = np.zeros(length)
    for place in np.ndindex(*sizes):
        want[3 + sum(k * step for k, step in zip(place, steps, strict=True))] += values[place]
    np.testing.assert_allclose(overlap_add(values, view, (length,)), want, rtol=1e-13, atol=1e-13)
