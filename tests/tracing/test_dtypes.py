"""Every traced function on every pair of dtypes: value, dtype and shape are NumPy's, or NumPy refuses it too."""

import itertools

import numpy as np
import pytest
from registered import distinct

import symgrad as sg
from symgrad.errors import DtypeError, TracingError
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.dispatch import UFUNCS
from symgrad.tracing.tree import flatten

DTYPES = [np.dtype(c) for c in "?biQefd"]
PAIRS = list(itertools.product([np.dtype(c) for c in "?bQfd"], repeat=2))
SCALARS = [True, 2, 2.5]
#: NumPy leaves the order of equal elements open, also in an argpartition
GIVEN = {np.argsort: {"kind": "stable"}}


def drawn(rng, shape, dtype, interval):
    """Values of the dtype, in the interval or a multiple of it, no two of them equal where there is room."""
    low, high = interval
    size = int(np.prod(shape))
    values = rng.permutation(np.linspace(low, high, size + 2)[1:-1]).reshape(shape)
    if dtype.kind == "b":
        return np.asarray((values > (low + high) / 2) | (low > 0))
    if dtype.kind in "iu":
        values = np.rint(values * size)
    return np.asarray(values + size * max(0, -low) if dtype.kind == "u" else values).astype(dtype)


def outcome(function, args):
    """What a function gives, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except (TypeError, ValueError, ArithmeticError, TracingError) as error:
        return error


def same(got, want):
    if type(got) is not type(want) or not isinstance(want, (np.ndarray, np.generic)):
        return got == want
    alike = (
        got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want, equal_nan=got.dtype != bool)
    )
    return alike and (got.dtype.kind != "f" or np.array_equal(np.signbit(got[got == 0]), np.signbit(want[want == 0])))


def check(function, args):
    want, got = outcome(function, args), outcome(sg.symbolic(function, backend="numpy"), args)
    said = [getattr(a, "dtype", type(a)) for a in flatten(args)[0]]
    if isinstance(got, TracingError) and "would cut" in str(got):
        return
    if isinstance(want, Exception):
        assert isinstance(got, Exception), (said, got, want)
        return
    assert not isinstance(got, Exception), (said, got)
    (mine, structure), (theirs, expected) = flatten(got), flatten(want)
    assert structure == expected
    assert all(map(same, mine, theirs)), (said, got, want)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_ufuncs(ufunc):
    rng = np.random.default_rng(3)
    intervals = DOMAINS[UFUNCS[ufunc].name]
    for dtypes in PAIRS if len(intervals) == 2 else itertools.product(DTYPES, repeat=len(intervals)):
        check(ufunc, [drawn(rng, (3,), d, interval) for d, interval in zip(dtypes, intervals, strict=True)])
    if len(intervals) == 2:
        for dtype, number in itertools.product(DTYPES, SCALARS):
            check(lambda x, n=number: ufunc(x, n), [drawn(rng, (3,), dtype, intervals[0])])
            check(lambda x, n=number: ufunc(n, x), [drawn(rng, (3,), dtype, intervals[1])])


@pytest.mark.parametrize("exponent", [-1, 0, 1, 2, 3, 0.5, 2.0, -1.0])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_powers(exponent, shape):
    for dtype in DTYPES:
        check(lambda x: x**exponent, [drawn(np.random.default_rng(3), shape, dtype, (0.5, 3.0))])
        check(lambda x: exponent**x, [drawn(np.random.default_rng(3), shape, dtype, (0.5, 3.0))])


#: those that give any of several orders, warn of truth values, or look whole numbers up in a table
OTHERWISE = {np.argpartition, np.linalg.lstsq, np.histogram, np.histogram_bin_edges, np.isin, np.setdiff1d}


@pytest.mark.parametrize("dtypes", ["ff", "fd", "df", "fq", "qf"])
def test_least_squares(dtypes):
    a, b = (np.arange(1, 1 + n).astype(t) ** 2 for n, t in zip((6, 3), dtypes, strict=True))
    known = np.linalg.lstsq(a.reshape(3, 2), b)
    made = sg.symbolic(lambda a, b: np.linalg.lstsq(a, b))(a.reshape(3, 2), b)
    for value, expected in zip(made, known, strict=True):
        assert value.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", [f for f in distinct(CASES) if f not in OTHERWISE], ids=lambda f: f.__name__)
def test_functions(function):
    rng = np.random.default_rng(3)
    for case in CASES[function]:
        held = {k: a.value for k, a in enumerate(case.args) if isinstance(a, Given)}
        free = [a for a in case.args if not isinstance(a, Given)]
        several = len(flatten(free)[0]) > 1 or len(free) > 1

        def call(*arrays, case=case, held=held):
            rest = iter(arrays)
            args = [held[k] if k in held else next(rest) for k in range(len(case.args))]
            return case.of_drawn(function)(*args, **case.kwargs, **GIVEN.get(function, {}))

        for dtypes in PAIRS if several else zip(DTYPES):
            turn = itertools.cycle(dtypes)

            def make(spec, turn=turn, case=case):
                if isinstance(spec, list):
                    return [make(s) for s in spec]
                return spec.value if isinstance(spec, Given) else drawn(rng, spec, next(turn), case.domain)

            check(call, [make(a) for a in free])


@pytest.mark.parametrize("backend", ["numpy", "numexpr", "native"])
@pytest.mark.parametrize(
    "operate", [lambda t: t % 1.0, lambda t: t // 1.0, lambda t: divmod(t, 1.0)[1], lambda t: 2 * t]
)
def test_numbers_of_python_give_way_on_every_backend(backend, operate):
    x = np.ones(3, np.float32)
    derived = sg.value_and_grad(lambda x, t: x * operate(t), backend=backend)
    value, gradient = derived(x, 0.3)
    assert value.dtype == gradient.dtype == (x * operate(0.3)).dtype == np.float32


_OF_DTYPE = {
    "matmul": lambda k: np.matmul(k, k, dtype=np.float64),
    "vecdot": lambda k: np.vecdot(k, k, dtype=np.int32),
    "einsum": lambda k: np.einsum("i,i", k, k, dtype=np.float64),
    "einsum of one": lambda k: np.einsum("i", k, dtype=np.float64) * k,
    "stack": lambda k: np.stack([k, k], dtype=np.float64)[0] * k,
    "vstack": lambda k: np.vstack([k, k], dtype=np.int16)[1] * k,
    "hstack": lambda k: np.hstack([k, 1], dtype=np.float32)[:3] * k,
    "add.reduceat": lambda k: np.add.reduceat(k, [0, 1, 2], dtype=np.uint8),
    "multiply.outer": lambda k: np.multiply.outer(k, k, dtype=np.float64)[0],
    "maximum.reduce": lambda k: np.maximum.reduce(k, dtype=np.float64) * k,
    "divmod": lambda k: np.divmod(k, 7, dtype=np.int64)[0] * k,
    "modf": lambda k: np.modf(k / 3, dtype=np.float64)[0],
    "greater": lambda k: np.greater(k, 150, dtype=bool),
}


@pytest.mark.parametrize("name", _OF_DTYPE)
def test_dtype_says_in_what_numpy_computes(name):
    x, narrow = np.array([1.0, 2.0, 3.0]), np.array([200, 100, 3], np.uint8)
    value = sg.value_and_grad(lambda x, k: np.sum(x * _OF_DTYPE[name](k)))(x, narrow)[0]
    np.testing.assert_allclose(value, np.sum(x * _OF_DTYPE[name](narrow)), rtol=1e-14)


def test_a_dtype_that_no_loop_has_is_refused_with_the_line():
    with pytest.raises(TypeError, match=r"np\.sqrt\(dtype=int64\)[\s\S]*np\.sqrt\(x"):
        sg.grad(lambda x: np.sum(np.sqrt(x, dtype=np.int64)))(np.ones(3))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.stack([x, x], dtype=np.int8)[0],
        lambda x: np.concatenate([x, x], dtype=int, casting="safe")[:3],
        lambda x: np.hstack([x, x], dtype=np.float32, casting="no")[:3],
        lambda x: np.einsum("i,i->i", x, x, dtype=np.float32),
    ],
)
def test_a_cast_that_numpy_refuses_is_refused(fn):
    x = np.ones(3)
    with pytest.raises(TypeError, match="ast"):
        fn(x)
    with pytest.raises(DtypeError, match=r"dtype=\w+ of an array of float64[\s\S]*at .*test_dtypes"):
        sg.grad(lambda x: np.sum(x + fn(x)))(x)


def test_a_cast_that_is_asked_for_is_made():
    x = np.array([1.0, 2.0, 3.0])
    made = sg.grad(lambda x: np.sum(np.einsum("i,i->i", x, x, dtype=np.float32, casting="same_kind")))(x)
    np.testing.assert_allclose(made, 2 * x)
