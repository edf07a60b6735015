"""What is read of a sorted array: NumPy's value to the bit, and the derivative by differences."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.primitives.selection import SLICE
from symgrad.testing import check_grads

RNG = np.random.default_rng(5)
#: few elements, which are sorted, and so many that only the places that are read are put in order
SHAPES = [(7,), (6,), (4, 5), (401,), (3, 320), (320, 3)]
READS = {
    "first": lambda x: np.sort(x, axis=0)[0],
    "last": lambda x: np.sort(x, axis=-1)[..., -1],
    "some": lambda x: np.sort(x, axis=0)[1:3],
    "backwards": lambda x: np.sort(x, axis=0)[::-1],
    "gaps": lambda x: np.diff(np.sort(x, axis=0), axis=0),
    "chosen": lambda x: np.sort(x, axis=None)[[0, 3, 1]],
    "of a column": lambda x: np.sort(x, axis=0)[2][..., None],
    "by partition": lambda x: np.partition(x, 1, axis=-1)[..., 1],
    "median": lambda x: np.median(x, axis=-1),
    "median of all": np.median,
    "median of rows": lambda x: np.median(x, axis=0, keepdims=True),
    "quantile": lambda x: np.quantile(x, 0.37, axis=0),
    "quantiles": lambda x: np.quantile(x, [0.1, 0.25, 0.9], axis=-1),
    "percentiles": lambda x: np.percentile(x, [5, 50, 95], method="hazen"),
    "deviation": lambda x: np.median(np.abs(x - np.median(x))),
    "order and values": lambda x: np.sort(x, axis=0)[0] * np.argsort(x, axis=0)[-1],
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", READS)
def test_reads(name, shape):
    places = RNG.permutation(np.arange(np.prod(shape)))
    fn, x = READS[name], (0.25 * places + 1e-3 * places**2 - 1.0).reshape(shape)
    for at in (x, x.astype(np.float32), np.asfortranarray(x)):
        for backend in ("numpy", "auto"):
            got, want = sg.symbolic(fn, backend=backend)(at), fn(at)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
    check_grads(lambda x: np.sum(np.sin(fn(x))), [x])


@pytest.mark.parametrize("fn", [np.median, lambda x: np.quantile(x, 0.25), lambda x: np.sort(x)[-1]])
def test_nan_comes_last(fn):
    x = RNG.normal(size=200)
    x[[3, 90]] = np.nan
    np.testing.assert_array_equal(sg.symbolic(fn)(x), fn(x))


def test_equal_elements():
    x = np.repeat([2.0, 1.0, 3.0], 100)
    gradient = sg.grad(np.median)(x)
    assert gradient.sum() == 1
    assert not gradient[x != 2].any()


def test_mapped():
    x = RNG.normal(size=(4, 101))
    np.testing.assert_array_equal(sg.vmap(np.median)(x), np.median(x, axis=1))
    np.testing.assert_array_equal(sg.vmap(sg.grad(np.median))(x), [sg.grad(np.median)(row) for row in x])


def test_a_write_into_what_is_sorted():
    def fn(x):
        ordered = np.sort(x)
        ordered[1:3] *= 2
        return ordered[2] * ordered[0] + np.sum(ordered[::2])

    x = RNG.normal(size=9)
    np.testing.assert_array_equal(sg.symbolic(fn, backend="numpy")(x), fn(x))
    check_grads(fn, [x])


def test_no_element_beside_those_read_is_gathered():
    """The gradient of the median of a million took twelve times the median."""
    for fn in (np.median, lambda x: np.sum(np.quantile(x, [0.1, 0.5], axis=0))):
        derived = sg.grad(fn, backend="numpy")
        x = RNG.normal(size=(1000,))
        derived(x)
        assert "np.argpartition" in derived.kernel(x).source
        assert all(n.operands[0].dtype.kind == "i" for n in derived.program(x).nodes if n.primitive is SLICE)


def test_what_is_read_in_full_is_sorted_in_full():
    derived = sg.symbolic(lambda x: (np.sort(x)[3], np.argsort(x)), backend="numpy")
    x = RNG.normal(size=500)
    value, order = derived(x)
    assert value == np.sort(x)[3]
    np.testing.assert_array_equal(order, np.argsort(x))


def test_formulas_say_the_place():
    x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    assert sg.symbolic(np.median).formulas(x).text_rows(["f"]) == ["f = a[argsort(a)[2]]"]
    assert sg.grad(np.median).latex(x).count("sum") == 0
    assert "0.1 " in sg.symbolic(lambda x: np.quantile(x, 0.525)).latex(x)
