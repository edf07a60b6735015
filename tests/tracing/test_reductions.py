"""Running products, zeros among them; the dtypes that whole numbers are added and multiplied up in."""

import itertools
from functools import partial
from operator import methodcaller

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError
from symgrad.testing import check_grads

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("zeros", [[1], [0, 3], []])
def test_running_products_over_zeros(zeros):
    x = RNG.uniform(0.5, 2.0, 5)
    x[zeros] = 0.0
    check_grads(np.cumprod, [x])


DERIVED = {
    "reverse": sg.grad,
    "forward": lambda fn: sg.grad(fn, mode="forward"),
    "second order": lambda fn: sg.grad(lambda x: np.sum(sg.grad(fn)(x) ** 2)),
}


@pytest.mark.parametrize("derived", DERIVED.values(), ids=DERIVED)
def test_long_running_products_are_few_operations(derived):
    """Halving has as many levels as the length has digits: eight times the length is three levels more."""
    made = derived(lambda x: np.sum(np.cumprod(x) ** 2))
    counts = [len(made.program(np.ones(n)).bindings) for n in (32, 256, 2048)]
    assert counts[2] - counts[1] <= 1.2 * (counts[1] - counts[0])


def test_the_gradient_of_a_long_running_product():
    x = RNG.uniform(0.99, 1.01, 5000)
    x[3000] = 0.0
    after = np.concatenate([np.cumprod(x[3001:][::-1])[::-1], [1.0]])
    got = sg.grad(lambda x: np.cumprod(x)[-1])(x)
    assert np.count_nonzero(got) == 1
    np.testing.assert_allclose(got[3000], np.prod(x[:3000]) * after[0], rtol=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2,), (7,), (3, 4), (4, 1, 3), (2, 0)])
def test_running_products_are_those_of_numpy_to_the_bit(shape):
    x = RNG.normal(size=shape)
    for axis in (None, *range(-x.ndim, x.ndim)):
        for fn in (partial(np.cumprod, axis=axis), methodcaller("cumprod", axis)):
            got = sg.symbolic(fn, backend="numpy")(x)
            np.testing.assert_array_equal(got, np.cumprod(x, axis), strict=True)
        if x.size:
            check_grads(partial(np.cumprod, axis=axis), [x])


def test_the_ufunc_method_is_the_running_product():
    x = RNG.normal(size=(3, 4))
    np.testing.assert_array_equal(sg.symbolic(np.multiply.accumulate)(x), np.multiply.accumulate(x))


@pytest.mark.parametrize("backend", ["numpy", "numexpr", "native"])
def test_running_products_over_what_is_not_finite(backend):
    x = np.array([2.0, 0.0, np.inf, -1.0, np.nan, 1.0])
    with np.errstate(all="ignore"):
        for values in (x, x[:1], np.array([1e300, 1e300, 1e-300]), np.array([1e30, 1e30, 1e-30], np.float32)):
            np.testing.assert_array_equal(sg.symbolic(np.cumprod, backend=backend)(values), np.cumprod(values))


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("wanted", [None, np.int16, np.float32])
@pytest.mark.parametrize("function", [np.sum, np.prod, np.cumsum, np.cumprod])
def test_accumulated_dtypes_are_those_of_numpy(function, wanted, dtype, backend):
    x = np.array([200, 3, 100, 1]).astype(dtype)
    made = sg.symbolic(lambda x: function(x, dtype=wanted), backend=backend)
    want = np.asarray(function(x, dtype=wanted))
    got = np.asarray(made(x))
    assert made.program(x).outputs[0].dtype == got.dtype == want.dtype
    assert np.array_equal(got, want)


@pytest.mark.parametrize("dtype", [int, np.uint8, bool, np.float32, np.float64])
@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
def test_means_in_a_dtype_are_those_of_numpy(kind, axis, dtype):
    x = np.array([[1.5, 2.7], [3.9, 7.2]]).astype(kind)
    for function in (np.mean, np.var) if np.dtype(dtype).kind == "f" else (np.mean,):
        got = sg.symbolic(lambda x, f=function: f(x, axis, dtype=dtype), backend="numpy")(x)
        want = function(x, axis, dtype=dtype)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("initial", [0.7, 3, np.float64(0.3), np.float32(2.6), np.int64(4)])
@pytest.mark.parametrize("axis", [None, 0])
def test_what_a_sum_begins_with_takes_the_dtype_of_the_sum(axis, initial, dtype):
    x = np.array([[2, 3], [1, 0]]).astype(dtype)
    got = sg.symbolic(lambda x: np.sum(x, axis, initial=initial), backend="numpy")(x)
    want = np.sum(x, axis, initial=initial)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_a_sum_begins_with_one_number():
    with pytest.raises(ShapeError, match="one number"):
        sg.symbolic(lambda x: np.sum(x, initial=np.ones(2)))(np.ones(3))


REDUCED = ("sum", "prod", "mean", "var", "std", "any", "all", "max", "min")
MASKS = (None, True, np.False_, np.array([True, False, True]), np.array([[True], [False]]), RNG.random((2, 3)) < 0.5)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_counts_and_what_stands_before_the_first(name):
    """None is false to NumPy, and True is a number to begin with."""
    x = RNG.normal(size=(2, 3))
    given = [{}, *[{"initial": i} for i in (True, 0, 0.5)]] if name in ("sum", "prod", "max", "min") else [{}]
    for where, axis, kwargs in itertools.product(MASKS, (None, 0, -1, (0, 1)), given):
        kwargs = {"where": where, "axis": axis, **kwargs}
        for reduce in (getattr(np, name), methodcaller(name, **kwargs)):
            call = partial(reduce, **kwargs) if reduce is getattr(np, name) else reduce
            try:
                want = call(x)
            except TypeError:  # a mean that nothing counts for
                assert where is None
                continue
            except ValueError:
                with pytest.raises(ValueError, match="initial"):
                    sg.symbolic(call)(x)
                continue
            got = sg.symbolic(call)(x)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", [n for n in REDUCED if n not in ("any", "all")])
def test_what_does_not_count_has_no_gradient(name):
    x = RNG.normal(size=(2, 3))
    where = np.array([[True, False, True], [True, True, True]])
    kwargs = {"where": where, **({"initial": 0.5} if name in ("max", "min", "prod") else {})}
    check_grads(lambda x: getattr(np, name)(x, axis=1, **kwargs), [x])
    assert sg.grad(lambda x: getattr(np, name)(x, axis=1, **kwargs))(x)[0, 1] == 0.0
