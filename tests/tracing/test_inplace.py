"""Writing into traced arrays and their views: right as in NumPy, or refused where the memory layout decides."""

import numpy as np
import pytest
from registered import distinct

import symgrad
from symgrad.errors import StaleView, TracingError, UnsupportedOperation
from symgrad.testing import check_grads
from symgrad.tracing.declare import CASES

X = np.array([0.5, -1.5, 2.0, 0.25])
#: functions that copy some memory layouts and look into others, or let some of their views be written to
LAYOUT_DECIDES = {np.reshape, np.ravel, np.einsum, np.lib.stride_tricks.sliding_window_view}
LAYOUT_DECIDES |= {np.ascontiguousarray, np.asfortranarray}
LAYOUT_DECIDES_IN = ("vander2d", "vander3d")


def fill_row_by_row(x):
    y = np.zeros_like(x)
    for k in range(len(x)):
        y[k] = x[k] * x[k - 1]
    return y


def fibonacci_like(x):
    y = x.copy()
    for k in range(2, 4):
        y[k] = y[k - 1] * y[k - 2] + x[k]
    return y


def augmented(x):
    y = x * 1.0
    y += x
    y -= 1
    y *= x[::-1]
    y /= 3.0
    y **= 2
    y[::2] *= x[::2]
    y[0] += x.sum()
    return y


def floor_and_remainder(x):
    y = x + 5.3
    y //= 1.0
    z = x + 5.3
    z %= 0.7
    return y * x + z


def swap(x):
    y = x.copy()
    y[[0, 3]] = y[[3, 0]]
    y[1], y[2] = y[2] * 2.0, y[1]
    return y * x


def broadcast_value(x):
    y = np.empty_like(x, shape=(2, 4))
    y[...] = x
    y[1] = 2.0
    y[:, 1:3] = x[:2] + 1.0
    y[:, 0:1] = [[1.0], [2.0]]
    return y * x


def duplicates(x):
    y = x * 0.0
    y[[0, 0, 1]] = x[:3]
    y[[2, 2]] += x[:2]
    return y


def write_into_the_argument(x):
    x[1] = x[0] ** 2
    x *= 2
    return x


def write_through_mask(x):
    y = x * 2.0
    y[np.array([True, False, True, True])] = x[1]
    y[np.array([False, True, False, False])] = [7.0]
    return y


def ufunc_out(x):
    y = np.zeros_like(x)
    np.multiply(x, x, out=y)
    np.add(y, 1.0, y)
    return y


def two_names(x):
    y = z = x * 1.0
    y += x
    return z * y


def fill_method(x):
    y = x * 1.0
    y.fill(3.0)
    return y * x


@pytest.mark.parametrize(
    "fn",
    [
        *(fill_row_by_row, fibonacci_like, augmented, floor_and_remainder, swap, broadcast_value, duplicates),
        *(write_into_the_argument, write_through_mask, ufunc_out, two_names, fill_method),
    ],
)
def test_writes_follow_numpy(check_rule, fn):
    check_rule(lambda x: fn(x * 1.0) if fn is write_into_the_argument else fn(x), [X])


def test_the_callers_array_is_never_written_to():
    x = X.copy()
    assert symgrad.grad(write_into_the_argument)(x).shape == (4,)
    np.testing.assert_array_equal(x, X)


VIEWS = {
    "slice": lambda y: y[1:],
    "slice of a slice": lambda y: y[:][::-2],
    "row": lambda y: y.reshape(2, 2)[1],
    "T": lambda y: y.T,
    "reshape": lambda y: y.reshape(2, 2),
    "reshape, another order": lambda y: np.reshape(y, (2, 2), order="F"),
    "ravel": lambda y: y.ravel(),
    "squeeze": lambda y: y[None].squeeze(),
    "atleast_3d": np.atleast_3d,
    "astype": lambda y: y.astype(y.dtype, copy=False),
    "turned": lambda y: np.rot90(y.reshape(2, 2)),
    "piece of a piece": lambda y: np.split(np.array_split(y, 2)[1][::-1], 2)[0],
    "through a number of no axes": lambda y: y[2:3].reshape(()),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_sees_what_is_written_later(check_rule, view):
    def fn(x):
        y = x * 1.0
        seen = view(y)
        before = seen * 2.0
        y[1:] *= x[0]
        y[0] = x[3]
        return np.sum(before) + np.sum(seen * seen)

    check_rule(fn, [X])


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_write_into_a_view_is_one_into_the_array(check_rule, view):
    def fn(x):
        y = x * 1.0
        other, part = y[1:], view(y)
        part *= x[1]
        part[...] = part + x[2]
        return y * y[::-1] + other.sum() * part.sum()

    check_rule(fn, [X])


def flat(y):
    return y.reshape(-1)


@pytest.mark.parametrize("view", [flat, np.ravel, lambda y: y.T.reshape(4, 1), lambda y: y[::2, ::2].ravel()])
def test_what_may_be_a_copy_is_refused_after_a_write_and_after_one_into_it(view):
    def read(x):
        y = np.outer(x, x)[:2, :2]
        seen = view(y)
        y[0, 0] = 0.0
        return seen.sum()

    def write(x):
        y = np.outer(x, x)[:2, :2]
        view(y)[0] = 5.0
        return y.sum()

    with pytest.raises(StaleView, match=r"Take it again after the write, or take a copy\(\)"):
        symgrad.grad(read)(X)
    with pytest.raises(StaleView, match=r"Write into a copy\(\) of it"):
        symgrad.grad(write)(X)


def test_flat_writes_into_what_lies_otherwise(check_rule):
    def fn(x):
        y = np.zeros((3, 3))
        y[0] = x[:3]
        y.T.flat[1] = x[3]
        y[:, ::-1].flat[[0, 5]] = x[:2] * 2.0
        y[:2, :2].flat[::3] = x[1]
        other = np.outer(x, x)
        other.flat = x
        return y * y.flat[2] + np.sum(other, 0)[:3] + len(y.flat) * sum(y.flat)

    check_rule(fn, [X])


@pytest.mark.parametrize(
    "view", [lambda y: np.broadcast_to(y, (3, 4, 4)), np.diagonal, lambda y: np.diagonal(y[:, ::-1])]
)
def test_what_numpy_does_not_let_be_written_to_is_refused(view):
    def fn(x):
        y = np.outer(x, x)
        view(y)[0] = 1.0
        return y.sum()

    with pytest.raises(TracingError, match="read-only"):
        symgrad.grad(fn)(X)


def test_many_views_of_views():
    def fn(x):
        y = x * 1.0
        v = y
        for _ in range(1200):  # deeper than Python's recursion
            v = v[:]
        y[1] = 2.0
        v[0] = x[1]
        return np.sum(v * x + y)

    value, gradient = symgrad.value_and_grad(fn)(X)
    assert value == pytest.approx(fn(X))
    np.testing.assert_allclose(gradient, [(fn(X + h) - fn(X - h)) / 2e-6 for h in 1e-6 * np.eye(4)], rtol=1e-6)


def test_a_view_by_an_index_that_changes_later(check_rule):
    def fn(x):
        k = np.asarray(x > 0).sum() * 1
        y = x * 1.0
        v = y[k - 2 :]
        k = k + 1
        y[...] = x * 3.0
        return np.sum(v * v)

    check_rule(lambda x: fn(x), [X])


def test_a_plain_array_is_read_as_it_is_when_it_is_read(check_rule):
    def fn(x):
        weights = np.ones(4)
        first = x + weights
        weights *= 2.0
        weights[1] = -0.0
        return first * weights

    check_rule(fn, [X])


def test_scalars_are_no_views(check_rule):
    def fn(x):
        y = x * 1.0
        total, element = y.sum(), y[0]
        made = np.atleast_1d(total) * 1.0
        made[0] = 3.0
        y[0] = 7.0
        return total * element + made.sum()

    check_rule(fn, [X])


@pytest.mark.parametrize("made", [lambda y: np.where(y[0] > 9, y[1], y[2]), lambda y: np.pad(y[0], 0)])
def test_writes_into_what_looks_into_an_array_of_no_axes_are_refused(made):
    def fn(x):
        value = made(x)
        np.atleast_1d(value)[0] = 3.0
        return value

    with pytest.raises(TracingError, match="without axes"):
        symgrad.grad(fn)(X)


@pytest.mark.parametrize("index", [None, (None, None), ..., (..., None)], ids=str)
@pytest.mark.parametrize("made", [np.float64, np.array])
def test_indexing_of_what_may_be_a_scalar_or_an_array_is_no_view_that_can_be_written_to(index, made):
    def fn(x):
        x[index][..., None][0] = 3.0
        return x * 2.0

    with pytest.raises(TracingError, match="without axes"):
        symgrad.grad(fn)(made(0.5))


@pytest.mark.parametrize("made", [np.float64, np.array])
def test_an_element_of_an_array_without_axes_is_a_copy(made):
    def fn(x):
        part = x[()][..., None]
        part[0] = 3.0 * part[0]
        return x * 2.0 + part[0]

    assert symgrad.grad(fn)(made(0.5)) == 5.0


@pytest.mark.parametrize("index", [0, slice(None), slice(1, 3), [0, 2], ...])
def test_zeros_that_are_written_keep_their_sign(check_rule, index):
    def fn(x):
        y = x * 1.0
        y[index] = -0.0
        y[:][index] = np.float64(-0.0)
        return np.copysign(1.0, y) * x

    check_rule(fn, [X])


def _arrays_in(made):
    return [m for v in made for m in _arrays_in(v)] if isinstance(made, (list, tuple)) else [made]


def _replaced(value, arrays):
    if isinstance(value, list):
        return [_replaced(v, arrays) for v in value]
    return next(arrays) if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc" else value


NAMES = {
    f"{function.__module__}.{function.__name__}-{k}": (function, case)
    for function, cases in distinct(CASES).items()
    if function not in (np.interp, np.digitize)  # knots are in their order
    for k, case in enumerate(cases)
}


@pytest.mark.parametrize("name", NAMES)
def test_every_function_gives_a_view_where_numpys_does(name):
    """Writes before and after it, into its argument and into its result, do what they do in NumPy, or are refused."""
    function, case = NAMES[name]
    drawn = case.draw(np.random.default_rng(3))
    values = drawn if case.of is None else list(case.of(*drawn))
    flat = [v for v in _arrays_in(values) if isinstance(v, (np.ndarray, np.generic)) and v.dtype.kind in "fc"]

    def program(writes_result):
        def fn(*x):
            own = [v * 1.0 + 0.0 for v in x]
            if any(not np.shape(v) for v in own):
                return sum(np.sum(np.real(v)) for v in own)
            made = function(*_replaced(values, iter(own)), **case.kwargs)
            results = [m for m in _arrays_in(made) if np.shape(m) and m.dtype in (float, complex)]
            for m in results[:2] if writes_result else ():
                m[...] = m * 0.5 + 7.0
            for k, v in enumerate([] if writes_result else own):
                v[...] = v * 0.25 + k
            total = sum(np.sum(v**2) for v in own) + sum(np.sum(m * 3.0) for m in results)
            return np.real(total) if np.iscomplexobj(total) else total

        return fn

    for fn in (program(True), program(False)):
        try:
            expected = fn(*flat)
        except (ValueError, DeprecationWarning):  # it is read-only, or will be
            expected = None
        try:
            value, _ = symgrad.value_and_grad(fn, grad_position=tuple(range(len(flat))), backend="numpy")(*flat)
        except TracingError:
            assert expected is None or function in LAYOUT_DECIDES or function.__name__.endswith(LAYOUT_DECIDES_IN)
        else:
            np.testing.assert_allclose(value, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "made", [lambda y: y.copy(), lambda y: y + 0, lambda y: y[[0, 1, 2, 3]], lambda y: y.flatten()]
)
def test_copies_do_not_go_stale(check_rule, made):
    def fn(x):
        y = x * 1.0
        kept = made(y)
        y[0] = 0.0
        return kept * y

    check_rule(fn, [X])


def test_a_view_taken_again_after_the_write_is_fine(check_rule):
    def fn(x):
        y = x * 1.0
        y[0] = x[1]
        view = y[:2]
        return view * view

    check_rule(fn, [X])


def write_into_rows(x):
    y = np.outer(x, x)
    row = y[1]
    row += 1.0
    row[2] = x[0]
    y[3][::2] = row[::2]
    for other in y:
        other *= 2.0
    return y


def write_into_a_view_of_a_view(x):
    y = np.outer(x, x)
    inner = y[1:][:, ::-1]
    inner[0, 1:3] = x[:2]
    inner **= 2
    return y


def write_into_a_transpose(x):
    y = np.outer(x, x[:3])
    y.T[0] = x
    turned = y.T
    turned[1, 2] += 5.0
    y.transpose(-1, 0)[2] *= x[0]
    return y * 2.0


@pytest.mark.parametrize("fn", [write_into_rows, write_into_a_view_of_a_view, write_into_a_transpose])
def test_writes_into_views_reach_the_array(check_rule, fn):
    check_rule(fn, [X])


def test_an_integer_array_cannot_take_a_float_in_place():
    def fn(x):
        y = np.zeros_like(x, dtype=int)
        y += x
        return y * x

    with pytest.raises(TracingError, match="cannot hold a result of float64"):
        symgrad.grad(fn)(X)


def test_scalars_are_bound_anew(check_rule):
    def fn(x):
        total = first = x[0]
        total += x[1]
        total *= 2.0
        return total * first

    check_rule(fn, [X])


def test_views_of_computed_scalars_are_copies(check_rule):
    def fn(x):
        total = np.sum(x)
        kept = np.atleast_1d(total)
        total += 1.0
        return kept * total

    check_rule(fn, [X])


def written_before(x, s):
    made = np.empty_like(s)
    np.sin(s, out=made)
    seen = np.reshape(made, ())
    made /= 0.9
    return x * made + seen


def made_anew(x, s):
    made = np.zeros_like(s)
    seen = made.reshape(())
    made += x[0]
    return made * seen


def given_to_it(x, s):
    seen = np.reshape(s, (1,))
    s += 1.0
    return x * s * seen


@pytest.mark.parametrize("fn", [written_before, made_anew])
def test_views_of_arrays_of_no_axes_see_what_is_written_into_them(fn):
    assert symgrad.symbolic(fn)(X, np.array(0.4)).tolist() == fn(X, np.array(0.4)).tolist()


def test_views_of_arguments_of_no_axes_that_are_written_are_refused():
    with pytest.raises(TracingError, match="without axes"):
        symgrad.symbolic(given_to_it)(X, np.array(0.4))


def test_a_float_into_an_integer_array_is_refused():
    def fn(x):
        y = np.zeros_like(x, dtype=int)
        y[0] = x[0]
        return y * x

    with pytest.raises(TracingError, match="of floats"):
        symgrad.grad(fn)(X)


def out_by_place(x):
    kept = x * 1.0
    np.clip(x, -1.0, 1.0, kept)
    return kept


def out_of_a_method(x):
    kept = x * 1.0
    kept.clip(-1.0, 1.0, out=kept)
    return kept


def outs_of_two_results(x):
    parts, wholes = x * 0.0, x * 0.0
    np.modf(x, parts, wholes)
    return parts * 3.0 + wholes


OUT = {
    "clip by place": out_by_place,
    "clip by method": out_of_a_method,
    "modf": outs_of_two_results,
    "max": lambda x: np.max(x, 0, None, True),
    "max of a method": lambda x: x.max(0, None, True),
    "std": lambda x: np.std(x, 0, None, None, 1),
    "cumsum": lambda x: np.cumsum(x, 0, None, None),
    "take": lambda x: np.take(x, [0, 1], 0, None, "raise"),
}


@pytest.mark.parametrize("name", OUT)
def test_out_is_where_numpy_has_it(name):
    x = np.array([-1.5, 0.25, 2.5])
    np.testing.assert_array_equal(symgrad.symbolic(OUT[name], backend="numpy")(x), OUT[name](x))


def test_matmul_by_other_axes_is_refused_and_not_computed_otherwise():
    with pytest.raises(UnsupportedOperation, match="axes"):
        symgrad.grad(lambda x: np.sum(np.matmul(x, x, axes=[(0, 1), (1, 0), (0, 1)])))(np.ones((3, 3)))


def inner_points(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
    return u


def all_but_the_ends(x):
    u = x.copy()
    u[1:] *= x[:-1]
    u[:-1] -= u[1:] ** 2
    u[0], u[-1] = 0.0, x[0]
    return u


def inner_square(x):
    u = np.outer(np.sin(x), x)
    u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] - u[:-2, 1:-1]) * u[1:-1, 2:]
    u[1:, :] = u[1:, :] - u[:-1, :] ** 2
    u[:, :-1] *= 2.0
    return u


LONG = np.linspace(-1.0, 1.5, 12)


@pytest.mark.parametrize("fn", [inner_points, all_but_the_ends, inner_square], ids=lambda f: f.__name__)
def test_large_slices_that_are_written(check_rule, fn):
    check_rule(fn, [LONG])
    check_rule(fn, [LONG[::-1]], order=1)


def test_a_large_slice_is_joined_to_what_is_left():
    program = symgrad.symbolic(inner_points).program(LONG)
    assert "where" not in str(program)
    assert symgrad.jacobian(all_but_the_ends).sparsity(LONG).nnz < 3 * len(LONG)


def test_what_an_operator_writes_is_written_once():
    def scaled(x):
        u = x.copy()
        u[1:-1] *= 3.0
        return u

    assert str(symgrad.symbolic(scaled).program(LONG)).count("concatenate") == 1


def test_a_slice_of_negative_zeros_keeps_their_signs():
    def fn(x):
        u = x.copy()
        u[1:-1] = -0.0 * x[1:-1]
        return u

    made = symgrad.symbolic(fn)(np.ones(6))
    assert np.signbit(made).tolist() == [False, True, True, True, True, False]


def parts(x):
    z = np.zeros(3, complex)
    z.real = x[:3]
    z.imag = x[3:]
    return np.sum(np.abs(z) ** 2 * np.array([1.0, 2.0, 3.0]) + (z**2).imag)


def real_part_of_reals(x):
    y = np.zeros(3)
    y.real = x[:3]
    return np.sum(y**2)


def flat_as_it_is(x):
    y = np.zeros((2, 3))
    y.flat = x
    return np.sum(y**2 * np.arange(6.0).reshape(2, 3))


def flat_again(x):
    y = np.zeros((3, 4))
    y.flat = x[:5]
    return np.sum(y**2 * np.arange(12.0).reshape(3, 4))


def flat_of_a_product(x):
    a = np.reshape(x, (2, 3))
    y = a @ a.T
    y.flat[:: len(y) + 1] += 1.0
    y.flat[1] = 0.0
    return np.linalg.det(y)


def flat_of_a_view(x):
    y = np.reshape(x, (2, 3)) * 2
    turned = y.T
    turned.flat[:2] = x[:2] ** 2
    return np.sum(y**2 * np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    "fn", [parts, real_part_of_reals, flat_as_it_is, flat_again, flat_of_a_product, flat_of_a_view]
)
def test_attributes_that_are_written_to(fn):
    check_grads(fn, [np.linspace(0.5, 1.5, 6)], order=2)


def test_what_has_no_imaginary_part_or_keeps_its_shape():
    def imaginary(x):
        y = np.zeros(6)
        y[0] = x[0]
        y.imag = x
        return np.sum(y)

    def reshaped(x):
        y = 2 * x
        y.shape = (2, 3)
        return np.sum(y)

    with pytest.raises(TypeError, match="no imaginary part"):
        symgrad.grad(imaginary)(np.ones(6))
    with pytest.raises(TracingError, match=r"write x = x\.reshape"):
        symgrad.grad(reshaped)(np.ones(6))


@pytest.mark.parametrize("order", ["K", "A"])
def test_an_order_of_memory_is_refused(order):
    x = np.arange(6.0).reshape(2, 3)
    for fn in (lambda x: x.T.ravel(order=order), lambda x: x.flatten(order), lambda x: np.reshape(x, 6, order=order)):
        with pytest.raises(UnsupportedOperation, match="how the array lies in memory"):
            symgrad.symbolic(fn)(x)
