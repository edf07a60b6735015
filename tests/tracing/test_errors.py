"""What would lose the derivative is refused, with the user's own line and the fix; nothing is left behind."""

import contextlib
import operator
import re

import numpy as np
import pytest

import symgrad
from symgrad.errors import ArgumentTypeError, DtypeError, TracingError, UnsupportedOperation
from symgrad.tracing.trace import current

X = np.array([0.5, 1.5, 2.5])
PLAIN = np.zeros(3)


def outside_item(x):
    PLAIN[0] = x[0]
    return PLAIN.sum()


def outside_view(x):
    PLAIN.reshape(3, 1)[:, 0] = x
    return PLAIN.sum()


def outside_increment(x):
    a = PLAIN
    a += x
    return a.sum()


def outside_out(x):
    np.multiply(x, 2.0, out=PLAIN)
    return PLAIN.sum()


def cut(x):
    a = np.zeros(3, dtype=int)
    a[0] = x[0]
    return a.sum() * x


def refusal(fn):
    """The message of the refusal, also where NumPy has wrapped it in an error of its own."""
    with pytest.raises((TracingError, ValueError)) as caught:
        symgrad.grad(fn)(X)
    error = caught.value
    while not isinstance(error, TracingError):
        error = error.__cause__
    return str(error)


REFUSED = {
    "complex": (lambda x: x[0].__complex__(), "derivative would be lost"),
    "an element outside": (outside_item, "not made inside the function"),
    "a view outside": (outside_view, "from outside of the function"),
    "a += outside": (outside_increment, "from outside of the function|plain array"),
    "out= outside": (outside_out, "from outside of the function"),
    "an array of ints": (cut, "would cut the traced value"),
    "an unsupported function": (lambda x: np.may_share_memory(x, x), "numpy.may_share_memory has no derivative"),
    "an unsupported linalg function": (lambda x: np.linalg.qr(np.outer(x, x), "raw")[0].sum(), "raw"),
    "an unsupported method": (lambda x: x.byteswap(), "ndarray.byteswap has no derivative rule"),
    "an unsupported ufunc": (lambda x: np.spacing(x), "np.spacing has no derivative rule"),
    "a ufunc with where=": (lambda x: np.log(x, where=x > 0), "use np.where"),
    "truth of an array": (lambda x: x if x > 0 else -x, "np.all, np.any or np.where"),
    "chained comparison": (lambda x: np.where(0 < x < 1, x, 0), "np.all, np.any or np.where"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_line_and_the_fix(name):
    fn, fix = REFUSED[name]
    message = refusal(fn)
    assert re.search(fix, message)
    first = fn.__code__.co_firstlineno
    assert any(f"{__file__}:{line}\n" in message for line in range(first, first + 5))
    assert current() is None


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (lambda x: sum(k * x[0] for k in range(x[1])), "as an index or a count"),
        (lambda x: [1.0, 2.0][x[0]] * x, "as an index or a count"),
        (lambda x: float(x), "arrays can be converted"),
    ],
)
def test_what_numpy_makes_no_number_of_is_none(fn, message):
    with pytest.raises(TypeError):
        fn(X)
    with pytest.raises(ArgumentTypeError, match=message):
        symgrad.grad(fn)(X)


def test_everything_works_after_a_failed_trace():
    g = symgrad.grad(lambda x: np.sum(x**2) if PLAIN.sum() == 0 else complex(x[0]))
    assert g(X).tolist() == [1.0, 3.0, 5.0]
    for fn, _ in REFUSED.values():
        with pytest.raises((TracingError, ValueError)):
            symgrad.grad(fn)(X)
    assert current() is None
    assert g(X).tolist() == [1.0, 3.0, 5.0]
    assert symgrad.grad(lambda x: np.sum(np.sin(x)))(X).tolist() == np.cos(X).tolist()
    assert not PLAIN.any()


def test_an_error_in_the_function_itself_passes_through_and_can_be_retried():
    broken = [True]

    def fn(x):
        y = x * 2.0
        if broken[0]:
            raise KeyError("mine")
        return y.sum()

    g = symgrad.grad(fn)
    with pytest.raises(KeyError, match="mine"):
        g(X)
    assert current() is None
    broken[0] = False
    assert g(X).tolist() == [2.0, 2.0, 2.0]


def test_a_failed_inner_derivative_leaves_the_outer_trace_usable():
    def fn(x):
        with contextlib.suppress(TracingError):
            symgrad.grad(lambda y: y[0].__complex__())(x)
        return np.sum(x**3)

    np.testing.assert_allclose(symgrad.grad(fn)(X), 3 * X**2)


def test_a_traced_value_that_escapes_is_refused():
    def keeper():  # what it holds nobody sees
        held = yield
        while True:
            yield held

    kept = keeper()
    next(kept)

    def fn(x):
        kept.send(x)
        return x.sum()

    symgrad.grad(fn)(X)
    with pytest.raises(TracingError, match="after its trace had ended"):
        next(kept) + 1.0
    with pytest.raises(TracingError, match="after its trace had ended"):
        symgrad.grad(np.sum)(next(kept))
    with pytest.raises(TracingError, match="trace had"):
        symgrad.grad(lambda x: np.sum(x * next(kept)))(X)


@pytest.mark.parametrize(
    "value", [np.array([1 + 2j]), np.array([1.0, None]), np.array(["a"]), np.array(["2020"], "M8[Y]")]
)
def test_arrays_that_are_not_real_numbers_are_refused(value):
    with pytest.raises(DtypeError):
        symgrad.grad(lambda x: x)(value)
    with pytest.raises(DtypeError):
        symgrad.grad(lambda x: np.sum(x * value))(np.ones(1))


@pytest.mark.parametrize("other", ["text", None, {"a": 1}, {1}, b"x"])
def test_operators_with_things_that_are_not_numbers_are_type_errors(other):
    for operate in (operator.add, operator.mul, operator.pow, operator.matmul):
        with pytest.raises(TypeError):
            symgrad.grad(lambda x, operate=operate: operate(x, other))(X)


@pytest.mark.parametrize(
    ("fn", "error"),
    [
        (lambda x: x + np.ones(2), ValueError),
        (lambda x: x @ np.ones(2), ValueError),
        (lambda x: x.reshape(2, 2), ValueError),
        (lambda x: np.concatenate([x, np.ones((1, 3))]), ValueError),
        (lambda x: x.sum(axis=1), ValueError),
        (lambda x: np.max(x[:0]), ValueError),
        (lambda x: np.einsum("ij->i", x), ValueError),
        (lambda x: np.broadcast_to(x, (2, 2)), ValueError),
        (lambda x: np.stack([x, x[:2]]), ValueError),
        (lambda x: x.no_such_method(), AttributeError),
        (lambda x: len(x.sum()), TypeError),
        (lambda x: list(x[0]), TypeError),
    ],
)
def test_mistakes_are_the_errors_that_numpy_raises(fn, error):
    with pytest.raises(error):
        fn(X)
    with pytest.raises(error):
        symgrad.grad(fn)(X)


def test_named_dims_cannot_branch_on_values():
    with pytest.raises(TracingError, match=r"Use np\.where"):
        symgrad.trace(lambda x: x if x.sum() > 0 else -x, "n")


def test_unsupported_operation_is_a_tracing_error_and_a_type_error():
    assert issubclass(UnsupportedOperation, TracingError)
    assert issubclass(TracingError, TypeError)
