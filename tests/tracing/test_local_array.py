"""Arrays that a traced function makes behave as NumPy's, and hold what is written into them."""

import copy
import math
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentTypeError, ShapeError, TracingError
from symgrad.testing import check_grads

X = np.array([0.5, -1.5, 2.0])


def every_operator(x):
    a, b = np.zeros(3), np.array([x[2], 1.5, 2.5])
    a[1:] = x[:2]
    made = [a + b, 2 * a, a - x, 1.0 - a, a / b, 3.0 / (b + 9.0), (b + 9.0) ** 2, 2.0**a, a @ b, -a, +b, abs(b)]
    made += [np.atleast_1d(v) for v in divmod(b + 9.0, 2.5)] + [a.reshape(1, 3) @ b.reshape(3, 1)]
    return np.concatenate([np.ravel(m) for m in made])


def in_place(x):
    a = np.ones(3)
    b = a[1:]
    a *= x
    b += 2.0
    a[0] -= x[1]
    a[::2] /= 4.0
    b **= 2
    return a


def through_views(x):
    a = np.zeros((2, 3))
    a.T[0] = x[:2]
    a.reshape(6)[2] = x[2]
    a.ravel()[3] += 1.0
    np.diagonal(a)  # which is read-only
    a[:, ::-1][1, 0] = x[0] * x[1]
    a.swapaxes(0, 1)[1, 0] = 7.0
    view = a[1]
    a[1] = x
    view[1] *= 2.0
    a[[0, 1]] = a[[1, 0]]
    return a


def by_masks(x):
    a = np.array([x[0], x[1], x[2], 4.0])
    a[a < 0] *= 0.1
    a[a > 3.0] = x[0]
    a[np.array([True, False, False, True])] += x[1]
    a[np.argmax(x)] = x[2] ** 2
    return a


def copies_are_their_own(x):
    a = np.zeros(3)
    a[:] = x
    b, c, d = a.copy(), copy.copy(a), copy.deepcopy(a)
    a[0] = 0.0
    b[1] = 5.0
    return np.stack([a, b, c, d, a.flatten(), np.array(a)])


def read_back(x):
    a = np.zeros((2, 2))
    a[0] = x[:2]
    rows = [row[0] for row in a]
    return np.array([*rows, *a.tolist()[0], a[0, 1].item(), a.T[1, 0], float(len(a)), a.sum(), a.flat[1], a[-1, -1]])


@pytest.mark.parametrize(
    "fn", [every_operator, in_place, through_views, by_masks, copies_are_their_own, read_back], ids=lambda f: f.__name__
)
def test_values_and_derivatives(check_rule, fn):
    check_rule(fn, [X], order=1)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy 2.5
def test_it_is_an_array_to_those_who_ask():
    def fn(x):
        a = np.zeros((2, 3))
        assert isinstance(a, np.ndarray)
        assert (a.shape, a.ndim, a.size, len(a), a.dtype) == ((2, 3), 2, 6, 2, float)
        assert "0." in repr(a)
        a[0, 0] = x[0]
        assert isinstance(a, np.ndarray)
        assert "0.5" in str(a)
        assert f"{a[0, 0]:.2f}" == "0.50"
        assert (a == a).all()
        assert 0.5 in a
        a.shape = (3, 2)
        return a.sum()

    assert sg.grad(fn)(X).tolist() == [1.0, 0.0, 0.0]


def filled(x):
    a = np.zeros(3)
    a[:] = x
    return a


LOSSES = {
    "a buffer": (lambda x: memoryview(filled(x)) and x, "memoryview|plain"),
    "a pickle": (lambda x: pickle.dumps(filled(x)) and x, "plain"),
    "a hash": (lambda x: {filled(x): 1} and x, "unhashable"),
    "another dtype": (lambda x: filled(x).view(np.int64)[0] * x, "view"),
    "iteration of a number": (lambda x: list(np.array(x[0])), "0-d"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_would_lose_the_derivative_is_refused(name):
    fn, message = LOSSES[name]
    with pytest.raises((TracingError, ArgumentTypeError, TypeError), match=message):
        sg.grad(fn)(X)


def test_writes_that_do_not_fit_are_said_with_the_line():
    def fn(x):
        a = np.zeros(2)
        a[:] = x
        return a

    with pytest.raises(ShapeError, match="broadcast") as caught:
        sg.grad(fn)(X)
    assert "a[:] = x" in str(caught.value)


def keeper():
    """What it holds nobody sees."""
    held = None
    while True:
        given = yield held
        held = held if given is None else given


KEPT = keeper()
next(KEPT)


def keeping(x):
    a = np.zeros(3)
    a[0] = x[0]
    KEPT.send(a)
    return a


@pytest.mark.parametrize(
    "use", [lambda a, x: a * x, lambda a, x: np.array([a[0], x[0]]), lambda a, x: a[:2].copy(), lambda a, x: np.sum(a)]
)
def test_an_array_of_an_earlier_trace_is_refused(use):
    sg.grad(keeping)(X)
    with pytest.raises(TracingError, match="after its trace had ended"):
        sg.grad(lambda x: use(next(KEPT), x) + np.array([x[0]]).sum())(X)
    with pytest.raises(TracingError, match="after its trace had ended"):
        np.asarray(next(KEPT))


def test_what_a_derivative_inside_cannot_do_is_its_own_matter():
    def fn(x):
        try:
            sg.grad(lambda v: np.i0(v))(x[0])
        except TracingError:
            return np.array([x[1], 2.0])
        return x

    assert sg.grad(fn)(X).tolist() == [0.0, 1.0, 0.0]


def test_complex_arrays_are_filled_too():
    def f(x):
        y = np.zeros(3, complex)
        y[0], y[1], y[2] = x[0], x[1] * 1j, 2.0
        y[1:] += x[1:]
        y[..., 0] *= 1j
        return np.sum(np.abs(np.fft.fft(y)) ** 2) + np.sum(y.real**3 + y.imag)

    x = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(sg.symbolic(f)(x), f(x), rtol=1e-14)
    check_grads(f, [x])


def _in_parts(x):
    y = np.zeros(3, complex)
    y[0] = x[0]
    y.real[1] = x[1]
    y.imag += x
    return np.sum(np.abs(y) ** 2)


def _seen_by_a_part(x):
    y = np.zeros(3, complex)
    y[0] = x[0] * (1 + 1j)
    before, part = np.real(y).copy(), np.real(y)
    y[0] = 5 * x[1]
    return np.sum(before) + 2 * np.sum(part) + np.sum(y.imag)


def _doubled(x):
    y = np.array([x[0] * 1j, x[1], 1 + 1j])
    part = y.imag
    y[1] = 1j
    y *= 2
    return np.sum(part * x)


def _of_functions(x):
    return np.sum(np.real(np.append(x * 1j, x * (1 + 1j))) + 3 * np.imag(np.array([*x, *(x * 1j)])))


@pytest.mark.parametrize("f", [_in_parts, _seen_by_a_part, _doubled, _of_functions])
def test_parts_of_complex_numbers_look_into_their_array(f):
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(sg.symbolic(f)(x), f(x), rtol=1e-15)
    steps = np.eye(3) * 1e-6
    slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(sg.grad(f)(x), slopes, rtol=1e-8)


KNOWN = np.array([1.0, 2.0, 3.0])


def _of_xarray():
    return pytest.importorskip("xarray").DataArray(KNOWN).values


FOREIGN = {
    "values of xarray": _of_xarray,
    "an item of a copied list": lambda: copy.copy([KNOWN])[0],
    "a memoryview": lambda: np.asarray(memoryview(KNOWN)),
    "coefficients": lambda: np.poly1d(KNOWN).coeffs,
    "itself": lambda: np.asarray(KNOWN),
    "a view": lambda: np.ravel(KNOWN),
    "a part": lambda: np.split(KNOWN, [1])[0],
    "a buffer": lambda: np.frombuffer(KNOWN),
    "broadcast": lambda: np.broadcast_arrays(KNOWN, KNOWN)[0],
}
OWN = {
    "zeros": lambda: np.zeros(3),
    "a copy": lambda: KNOWN.copy(),
    "a deep copy": lambda: copy.deepcopy([KNOWN])[0],
    "a sum": lambda: KNOWN + 1,
    "of several": lambda: np.unique(KNOWN, return_counts=True)[0],
    "parts": lambda: np.split(np.zeros(4), 2)[0],
    "a view of a new one": lambda: np.zeros(4).reshape(2, 2)[0],
    "a grid": lambda: np.meshgrid(KNOWN, KNOWN)[0][0],
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_others_know_cannot_be_written_into(name):
    def fn(x):
        a = FOREIGN[name]()
        a[0] = x
        return np.sum(a) * math.exp(x)

    with pytest.raises(TracingError, match=r"outside|read-only"):
        sg.grad(fn)(2.0)
    np.testing.assert_array_equal(KNOWN, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", OWN)
def test_what_nobody_else_knows_can(name):
    def fn(x):
        a = OWN[name]()
        a[0] = x
        return np.sum(a) * math.exp(x)

    slope = (fn(2.0 + 1e-6) - fn(2.0 - 1e-6)) / 2e-6
    np.testing.assert_allclose(sg.grad(fn)(2.0), slope, rtol=1e-7)


@pytest.mark.parametrize("name", ["data", "ctypes"])
def test_the_memory_of_traced_values_is_not_given_away(name):
    def read(x):
        a = np.zeros(3)
        a[0] = x
        return np.sum(np.asarray(getattr(a, name))) * x

    def lent(x):
        a = np.zeros(3)
        kept = getattr(a, name)
        a[0] = x
        return x * (kept is not None)

    for fn, message in ((read, "holds no number"), (lent, "others have been given")):
        with pytest.raises(TracingError, match=message):
            sg.grad(fn)(2.0)


def read_only_views(x):
    a = np.eye(3)
    d, total = np.diagonal(a), x
    for k in range(3):
        a[k, k] = k + 2.0
        total = total + (x * d).sum()
    return total


def another_shape(x):
    a, total = np.arange(6.0), x
    for shape in ((2, 3), (3, 2)):
        a.shape = shape
        total = total + (x * a)[0, -1]
    return total


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("fn", [read_only_views, another_shape])
def test_constants_are_what_arrays_hold_when_they_are_read(fn):
    assert sg.value_and_grad(fn)(2.0)[0] == fn(2.0)


MASKED, POLYNOMIAL = np.ma.array([1.0, 2.0], mask=[0, 1]), np.poly1d([1.0, 2.0])
LOOKED_INTO = {
    "data of a masked array": lambda: MASKED.data,
    "getdata": lambda: np.ma.getdata(MASKED),
    "coefficients": lambda: POLYNOMIAL.coeffs,
}


@pytest.mark.parametrize("look", LOOKED_INTO.values(), ids=LOOKED_INTO)
def test_no_traced_value_is_written_into_what_objects_from_outside_hold(look):
    def fn(x):
        look()[0] = x[0]
        return float(x[1])

    with pytest.raises(TracingError, match="from outside of the function"):
        sg.grad(fn)(X)
    np.testing.assert_array_equal(look()[:2], [1.0, 2.0])


class Own(np.ndarray):
    """A class of a user's."""


HOLDERS = {
    "nditer": np.nditer,
    "ndenumerate": np.ndenumerate,
    "broadcast": lambda a: np.broadcast(a, np.ones(3)),
    "masked array": lambda a: np.ma.array(a, copy=False),
    "class of a user's": lambda a: a.view(Own),
    "class of a user's, of a part": lambda a: a[:2].view(Own),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_what_a_library_goes_on_looking_into_takes_no_traced_value(hold):
    def fn(x):
        a = np.ones(3)
        held = hold(a)
        a[0] = x[0]
        return x[1] + len(str(held))

    with pytest.raises(TracingError, match="others have been given"):
        sg.grad(fn)(X)


def test_what_libraries_have_only_read_takes_traced_values():
    def fn(x):
        a = np.ones(3)
        made = np.sum(a) + np.reshape(a, (3, 1)).sum() + np.linalg.norm(a) ** 2 + sum(np.split(a, 3)).sum() + a.sum()
        a[0] = x[0]
        return a.sum() * made

    np.testing.assert_allclose(sg.grad(fn)(X), [15.0, *np.zeros(len(X) - 1)])
