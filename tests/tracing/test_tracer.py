"""The handle behaves as the ndarray it stands for: attributes, operators, methods, NumPy's protocols."""

import copy
import enum
import operator

import numpy as np
import pytest

import symgrad
from symgrad.errors import ArgumentTypeError, TracingError

rng = np.random.default_rng(11)
P = rng.uniform(0.3, 2.5, (3, 4))  # positive
N = rng.uniform(-2.5, 2.5, (3, 4))


def traced(fn, *args):
    """What ``fn`` sees of its arguments while it is traced."""
    seen = []

    def look(*xs):
        seen.append(fn(*xs))
        return np.sum(xs[0])

    symgrad.grad(look)(*args)
    return seen[0]


def test_the_outer_form_of_a_ufunc_takes_a_number_for_an_array():
    x = np.ones(2, np.float32)
    made = symgrad.symbolic(lambda x: np.multiply.outer(x, 2.0))(x)
    assert made.dtype == np.multiply.outer(x, 2.0).dtype


@pytest.mark.parametrize("name", ["shape", "dtype", "ndim", "size", "itemsize", "nbytes"])
@pytest.mark.parametrize("x", [N, N.astype(np.float32), np.array(1.5), np.ones((0, 2))], ids=lambda x: str(x.shape))
def test_attributes(name, x):
    assert traced(lambda v: getattr(v, name), x) == getattr(x, name)


def test_length_and_display():
    assert traced(len, N) == 3
    assert traced(repr, N) == repr(N)
    assert traced(lambda v: repr([*v, v[0] * 2, v.tolist()]), np.array([1.5, 2.0])) == (
        "[np.float64(1.5), np.float64(2.0), np.float64(3.0), [1.5, 2.0]]"
    )
    assert traced(lambda v: f"{v!r} {v}", 0.5) == "0.5 0.5"
    assert str(symgrad.trace(lambda v: print(repr(v)) or v, "n").outputs[0].shape) == "(n,)"
    assert traced(str, np.array([1.0, 2.0])) == "[1. 2.]"
    assert traced(lambda v: f"{v[0]:.3f}", np.array([1.0, 2.0])) == "1.000"


@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
@pytest.mark.parametrize(
    "other",
    [2, 2.5, True, np.float64(1.5), np.float32(1.5), np.int32(2), np.full(4, 1.5), [1.0, 2.0, 3.0, 4.0]],
    ids=repr,
)
def test_operators_with_constants_on_both_sides(check_rule, operate, other):
    check_rule(lambda x: operate(x, other), [P], order=1)
    check_rule(lambda x: operate(other, x), [P], order=1)


@pytest.mark.parametrize("operate", [operator.mod, operator.floordiv, divmod])
def test_remainders(check_rule, operate):
    check_rule(lambda x: operate(x, 0.7), [P], order=1)
    check_rule(lambda x: operate(5.0, x), [P], order=1)
    check_rule(operate, [N, P], order=1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.float16, np.float32])
def test_constants_of_other_dtypes_cost_no_precision(check_rule, dtype):
    c = np.array([1, 2, 3, 5]).astype(dtype)
    check_rule(lambda x: x * c + x / c - c / x, [P], order=1)
    check_rule(lambda x: x**c + np.arctan2(x, c) + np.hypot(c, x), [P], order=1)


def test_arguments_of_two_precisions(check_rule):
    single = P.astype(np.float32)
    check_rule(lambda x, y: x * y, [N, single])
    by_x, by_y = symgrad.grad(lambda x, y: np.sum(x / y), (0, 1))(N, single)
    assert (by_x.dtype, by_y.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(by_x, 1 / single.astype(float), rtol=1e-15)


def test_unary_operators_and_builtins(check_rule):
    check_rule(lambda x: -x + +x * abs(x), [N])
    check_rule(lambda x: sum(x) + sum(sum(x)), [N])
    check_rule(lambda x: round(x[0, 0], 1) * x, [N], order=1)
    check_rule(lambda x: copy.copy(x) * copy.deepcopy(x), [N])


def test_comparisons_and_logic(check_rule):
    check_rule(lambda x: np.where((x > 0) & (x < 1) | ~(x > -1) ^ (x == 2), x**2, 3 * x), [N])
    check_rule(lambda x: np.where(np.logical_or(x >= 0.5, np.logical_not(x <= -1)), x**2, 0), [N])
    check_rule(lambda x: (x > 0) * x + (x != 0).astype(float) * x**2, [N])
    check_rule(lambda x: (x > 0).sum() * x + (x > 0).mean() * x + np.any(x > 2) * x, [N])


def test_steps_may_become_integers(check_rule):
    table = np.array([0.0, 1.0, 4.0, 9.0, 16.0])

    def interpolated(x):
        at = np.floor(x).astype(int)
        return table[at] * (1 - x + at) + table[at + 1] * (x - at)

    check_rule(interpolated, [P])
    check_rule(lambda x: x ** int(np.rint(x[0, 0])) + table[int(np.trunc(x[1, 1]))], [P])
    check_rule(lambda x: x * x.astype(bool) + x * (x > 1).astype(np.float32), [N])


CUTS = {
    "astype": lambda u: u.astype(int),
    "of what is bounded": lambda u: np.clip(np.floor(u), 0, 3).astype(np.int32),
    "array": lambda u: np.array(u, dtype=int),
    "array of elements": lambda u: np.array([*u.ravel()], dtype=np.int16).reshape(u.shape),
    "a type of NumPy": lambda u: np.int64(u),
}


@pytest.mark.parametrize("name", CUTS)
def test_floats_are_cut_to_whole_numbers_with_slope_0(check_rule, name):
    table = np.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0])

    def looked_up(x):
        at = CUTS[name](2 * x)
        return table[at] * (1 - 2 * x + at) + table[at + 1] * (2 * x - at)

    check_rule(looked_up, [np.array([[0.3, 0.8], [1.2, 1.7]])])


def test_what_is_cut_has_the_values_of_numpy():
    x = np.array([-3.7, 2.2, 0.4])
    for f in (
        lambda x: np.linspace(x[0], x[1], 5, dtype=int),
        lambda x: np.linspace(x[0], x, 4, endpoint=False, dtype=np.int8),
        lambda x: np.arange(x[0], x[1], x[2], dtype=int),
        lambda x: np.asarray(x, np.int16),
        lambda x: np.sum(x, dtype=int),
    ):
        got, want = symgrad.symbolic(f)(x), f(x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_whole_numbers_are_written_into_an_array_of_ints():
    def counted(x):
        table = np.zeros(3, int)
        table[0] = np.round(x[0])
        table[1:] = np.maximum(np.floor(x[:2]), 0) + symgrad.stop_gradient(x[1:])
        return table * x

    x = np.array([1.7, 2.2, 0.4])
    np.testing.assert_array_equal(symgrad.symbolic(counted)(x), [2 * 1.7, 3 * 2.2, 2 * 0.4])
    np.testing.assert_array_equal(symgrad.grad(counted)(x), [2.0, 3.0, 2.0])


def test_where_with_scalars_and_numbers_as_conditions(check_rule):
    check_rule(lambda x: np.where(x > 0, 1, x), [N])
    check_rule(lambda x: np.where(x > 0, x, 0.0), [N])
    check_rule(lambda x: np.where(x, x * 2, 0), [N])
    check_rule(lambda x: np.where([1, 0, 1, 0], x, -x), [N])


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.sum() + x.sum(0).sum() + x.sum(axis=(0, 1)) + x.sum(-1, keepdims=True).sum(),
        lambda x: x.mean() * x.mean(axis=0, keepdims=True) + x.var(0, ddof=1) * x.std(),
        lambda x: x.prod(axis=1) + x.max(axis=1) * x.min(),
        lambda x: x.cumsum() + x.cumsum(axis=0).ravel(),
        lambda x: x.T @ x + x.transpose(1, 0).dot(x) + x.transpose((1, 0)) @ x + x.mT @ x,
        lambda x: x.reshape(2, -1) @ x.reshape((6, 2)) + x.reshape(2, 6, order="F").sum(),
        lambda x: x.swapaxes(0, 1).flatten() * x.ravel() + x.flat[0],
        lambda x: x[None].squeeze(0).clip(-1, 1) + x.clip(min=0.0) + x.round(1),
        lambda x: x.diagonal() * x.trace(),
        lambda x: x.repeat(2, axis=0).take([0, 2], axis=1),
        lambda x: x.astype(np.float32).astype(np.float64) if x.dtype == np.float32 else x * 1.0,
        lambda x: x[x.argmax(0), np.arange(4)] + x[x.argmin(axis=0), np.arange(4)],
        lambda x: x.real * x.copy(),
    ],
)
def test_methods(check_rule, fn):
    check_rule(fn, [N])


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.add.reduce(x) + np.multiply.reduce(x, axis=None) + np.maximum.reduce(x, axis=1).sum(),
        lambda x: np.add.reduce(x, axis=1, keepdims=True) * np.minimum.reduce(x),
        lambda x: np.add.accumulate(x, axis=1),
        lambda x: np.subtract.outer(x[0], x[1]) ** 2 + np.multiply.outer(x[0], [1.0, 2.0, 3.0, 4.0]),
        lambda x: np.add(x, 1, dtype=np.float64) if x.dtype == np.float64 else x + 1,
        lambda x: np.add(x, 1, where=True, casting="same_kind"),
        lambda x: np.matmul(x, np.ones((4, 2))) @ np.arange(2),
    ],
)
def test_ufunc_methods_and_arguments(check_rule, fn):
    check_rule(fn, [N])


def test_arrays_on_the_left_defer_to_the_traced_value(check_rule):
    a = np.arange(4.0) + 1
    check_rule(lambda x: a + x - (a * x) / (a / x) + a**x + a @ x.T @ np.ones(3), [P])
    check_rule(lambda x: a.reshape(1, 4) > x, [P])
    check_rule(lambda x: np.float64(2.0) * x + np.float32(0.5) / x, [P])


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk", [(2, 3), (3, 4)]),
        ("i...,i...->...", [(3, 2), (3, 2)]),
        ("iij->j", [(3, 3, 2)]),
        ("ijij->i", [(3, 2, 3, 2)]),
        ("ij,kl->", [(3, 2), (3, 2)]),
        ("ii,i->i", [(3, 3), (3,)]),
        ("...j,j->...", [(2, 3, 3), (3,)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("ba", [(2, 3)]),
        (" ij , jk -> ik ", [(2, 3), (3, 4)]),
        ("ij,ij,ij->j", [(2, 3), (1, 3), (2, 1)]),
        ("i,i,i,i->", [(3,)] * 4),
        (",i->i", [(), (3,)]),
        ("ij,j->i", [(2, 0), (0,)]),
    ],
)
def test_einsum_forms(check_rule, subscripts, shapes):
    check_rule(lambda *xs: np.einsum(subscripts, *xs), [rng.uniform(-2, 2, s) for s in shapes])


def test_isinstance_sees_what_the_value_stands_for():
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(symgrad.grad(lambda v: np.sum(v**2 if isinstance(v, np.ndarray) else v))(x), 2 * x)
    assert symgrad.symbolic(lambda v: v**2 if isinstance(v, float) and np.isscalar(v) else -v)(3.0) == 9.0


def test_a_write_into_an_array_of_the_caller_is_refused_with_the_fix():
    outside = np.zeros(3)

    def fn(v):
        outside[0] = v[0]
        return outside.sum()

    with pytest.raises(TracingError, match=r"Write into a copy\(\)"):
        symgrad.grad(fn)(np.ones(3))
    assert not outside.any()


@pytest.mark.parametrize("fn", [lambda x, k: x * (k << 2), lambda x, k: x * (k >> 1), lambda x, k: x * (5 << k >> k)])
def test_shifts_of_bits(fn):
    x, g = np.array([1.0, 2.0, 3.5]), symgrad.grad(lambda x, k: np.sum(fn(x, k)))
    for k in (np.array([1, 2, 3]), np.array([4, 0, 7])):  # other values, traced anew
        np.testing.assert_array_equal(g(x, k), fn(np.ones(3), k))
    with pytest.raises(ArgumentTypeError, match="unsupported operand"):
        symgrad.grad(lambda x: np.sum(x << 1))(x)


def test_whole_floats():
    def fn(x):
        return x**2 if x.is_integer() else x

    g = symgrad.grad(fn)
    assert (g(3.0), g(2.5), g(np.float64(4.0))) == (6.0, 1.0, 8.0)
    with pytest.raises(AttributeError, match="is_integer"):
        g(np.ones(2))


class Level(enum.IntEnum):
    HIGH = 2


@pytest.mark.parametrize("backend", ["numpy", "numexpr", "auto"])
def test_numbers_are_as_python_has_them(backend):
    small, narrow = np.array([200, 100], np.uint8), np.array([127, 128], np.uint8)
    for fn, args in (
        (lambda x, k: x * -k.item(0), (2.0, small)),
        (lambda x, k: x * sum(k.tolist()), (2.0, small)),
        (lambda k: k << 1, (narrow,)),
        (lambda x: x * Level.HIGH, (1.5,)),
        (lambda x: x**-1, (0.5,)),
        (lambda x, a: x * a**-1.0, (0.5, 2.0)),
    ):
        got, want = symgrad.symbolic(fn, backend=backend)(*args), fn(*args)
        np.testing.assert_array_equal(got, want)
        assert np.asarray(got).dtype == np.asarray(want).dtype
    assert symgrad.grad(lambda x: x**-1, backend=backend)(0.5) == -4.0
