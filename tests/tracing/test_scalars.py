"""Functions of ``math``, and Python's numbers, of traced values."""

import cmath
import collections
import contextlib
import enum
import functools
import itertools
import math
import operator
import random

import numpy as np
import pytest
from central_differences import slopes

import symgrad as sg
from symgrad.errors import ArgumentError, TracingError, UnsupportedOperation
from symgrad.testing import check_grads
from symgrad.tracing.tracer import Tracer

#: a function of numbers -> where it is tried
FUNCTIONS = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh"), (0.4,)),
    **dict.fromkeys(("acosh", "exp", "expm1", "sqrt", "log", "log1p", "log2", "log10", "fabs", "degrees"), (1.7,)),
    **dict.fromkeys(("radians", "gamma", "lgamma", "erf", "erfc", "exp2", "cbrt"), (1.7,)),
    **dict.fromkeys(("atan2", "pow", "hypot", "copysign", "fmod", "remainder", "log"), (1.7, 0.6)),
    "dist": ((1.0, 2.0), (0.5, 4.0)),
}
FUNCTIONS["gamma "] = (-1.3,)
FUNCTIONS["hypot "] = (1.0, 2.0, 3.0)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if hasattr(math, n.strip())])
def test_values_and_derivatives(check_rule, name):
    function, args = getattr(math, name.strip()), FUNCTIONS[name]
    if name == "dist":
        check_rule(lambda p, q: np.array([math.dist(p, q)]), [np.array(a) for a in args], order=1)
        return
    at = np.array(args)
    made, gradient = sg.value_and_grad(lambda x: function(*x))(at)
    assert made == pytest.approx(function(*args), rel=1e-14)
    for k in range(len(args)):
        step = np.eye(len(args))[k] * 1e-6
        wanted = (function(*(at + step)) - function(*(at - step))) / 2e-6
        assert gradient[k] == pytest.approx(wanted, rel=1e-7, abs=1e-8)


def whole_numbers(x):
    return math.floor(x[0]) * x[1] + math.ceil(x[0]) * x[2] + math.trunc(x[1]) + int(x[2]) * x[0] + round(x[2]) * x[1]


def conversions(x):
    return float(x[0]) ** 2 + float(np.array(x[1])) * x[2].item() + np.float64(x[0]) * np.float32(2.0)


def of_python(x):
    low, high = min(x), max(x)
    return sum(x) * pow(x[0], 2) + abs(low) * high + sum(divmod(high, 0.7)) + sorted(x)[1] + round(x[0], 1)


def of_many(x):
    return math.fsum(v * v for v in x) * math.prod(x) + sum(map(math.exp, x)) + max(map(math.cosh, x))


def told(x):
    text = f"{x[0]:.2f} {x[1]} %g" % x[2]
    return x[0] * (2.0 if len(text) > 3 else 1.0)


def near(x):
    y = x[0] * 2 if math.isclose(x[0], 0.5, rel_tol=0.1) else x[0]
    return y * (3.0 if np.isclose(x[1], -1.5, rtol=0.1) and np.allclose(x, x) and not math.isnan(x[2]) else 1.0)


@pytest.mark.parametrize("fn", [whole_numbers, conversions, of_python, of_many, told, near], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_numbers_of_python(fn):
    x = np.array([0.5, -1.5, 2.25])
    made, gradient = sg.value_and_grad(fn)(x)
    assert made == pytest.approx(fn(x), rel=1e-14)
    steps = np.eye(3) * 1e-6
    np.testing.assert_allclose(gradient, [(fn(x + s) - fn(x - s)) / 2e-6 for s in steps], atol=1e-7)


def guarded_root(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return -x


def test_errors_of_the_domain_are_raised_as_math_raises_them_and_guarded_where_they_are_caught():
    gradient = sg.grad(guarded_root)
    for x, slope in ((4.0, 0.25), (-4.0, -1.0), (1.0, 0.5), (-1.0, -1.0)):
        assert gradient(x) == slope
    with pytest.raises(ValueError, match=r"math domain error|positive"):
        sg.grad(lambda x: math.log(x))(-1.0)


def test_values_that_nothing_is_differentiated_by_are_kept_and_guarded():
    def fn(x, n, table):
        total = 0.0
        for k in range(int(n)):
            total += x * table[k]
        return total * {2.0: 1.0, 3.0: 10.0}[float(n)] * len(np.unique(table))

    gradient = sg.grad(fn)
    table = np.array([1.0, 2.0, 4.0, 4.0])
    assert gradient(1.0, 2.0, table) == 9.0
    assert gradient(1.0, 3.0, table) == 210.0
    assert gradient(1.0, 2.0, table * 0 + 1.0) == 2.0
    with pytest.raises(TracingError, match="hashed"):
        sg.grad(lambda x: {1.0: 2.0}[x] * x)(1.0)


def test_what_code_asks_of_a_value_is_answered_as_of_numpys():
    def fn(x):
        number, array = x[0], x
        asked = [hasattr(number, "__len__"), hasattr(array, "__len__"), isinstance(number, float)]
        asked += [isinstance(number, np.ndarray), isinstance(array, np.ndarray), type(array) is np.ndarray]
        asked += [type(number) is np.float64, np.isscalar(number), callable(number)]
        return np.array(asked) * x[1]

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(sg.symbolic(fn)(x), fn(x))


def test_code_that_knows_symgrad_may_ask_whether_a_value_is_traced():
    def fn(x, v):
        parts = [x, x[0], v, float(v)]
        return 2 * v if any(isinstance(p, Tracer) for p in parts) and isinstance(x, Tracer) else 3 * v

    x = np.array([1.0, 2.0])
    assert (fn(x, 5.0), sg.symbolic(fn)(x, 5.0)) == (15.0, 10.0)


def of_complex_numbers(a, b):
    z, w = complex(a, b), complex(a)
    length, angle = cmath.polar(z)
    made = cmath.exp(z) * cmath.sin(w) + cmath.log(z) + cmath.log(z, 2.0) + cmath.sqrt(z - 3) + cmath.log10(z)
    return abs(made) + cmath.phase(z) * length + angle + cmath.rect(a, b).real + cmath.atanh(z).imag


def test_functions_of_complex_numbers():
    assert sg.symbolic(of_complex_numbers)(0.5, 0.7) == pytest.approx(of_complex_numbers(0.5, 0.7), rel=1e-14)
    check_grads(of_complex_numbers, [np.float64(0.5), np.float64(0.7)], order=1)
    made = sg.symbolic(lambda z: cmath.exp(z) if cmath.isfinite(z) else z)(0.5 + 1j)
    assert made == pytest.approx(cmath.exp(0.5 + 1j), rel=1e-15)
    with pytest.raises(ValueError, match="math domain error"):
        sg.grad(lambda a: cmath.log(a - a).real)(1.0)


def twice_if_a_float(v):
    return 2 * v if isinstance(v, float) else 3 * np.sum(v)


@pytest.mark.parametrize("p", [2.0, np.float64(2.0), np.array(2.0), np.float32(2.0)], ids=repr)
def test_scalars_of_numpy_are_told_from_arrays(p):
    """One function serves them all, each by a trace of its own."""
    derived = sg.value_and_grad(twice_if_a_float)
    for v in (p, 2.0, np.array(1.0), np.float64(3.0), p):
        assert derived(v)[0] == twice_if_a_float(v)

    def asked(v):
        return v * (1 + np.isscalar(v) + 2 * isinstance(v, np.ndarray) + 4 * isinstance(v, np.floating))

    assert sg.symbolic(asked)(p) == asked(p)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_items_are_numbers_of_python(dtype):
    def of_items(x):
        return sum(twice_if_a_float(v) for v in x.tolist()) + twice_if_a_float(x[0].item()) + x.item(1) * x.item(-1)

    def of_rows(x):
        return sum(twice_if_a_float(v) for row in (x * 1.5).tolist() for v in row) + x.item(2) + x.item(1, 1)

    def written(x):
        y = np.zeros(2)
        y[0] = x[1]
        return twice_if_a_float(y.item(0)) + sum(map(twice_if_a_float, y.tolist()))

    x = np.array([2.0, 1.0, 0.5], dtype)
    assert sg.value_and_grad(of_items)(x)[0] == of_items(x)
    assert sg.value_and_grad(written)(x)[0] == written(x)
    grid = np.array([[2.0, 1.0], [0.5, 3.0]], dtype)
    assert sg.value_and_grad(of_rows)(grid)[0] == of_rows(grid)


def test_the_type_of_an_int_is_int_after_it_has_changed():
    def fn(x, n):
        return np.sum(x) * n if type(n) is int else np.sum(x) * 1000.0

    derived = sg.value_and_grad(fn)
    assert [derived(np.ones(2), n)[0] for n in (2, 3, 4, 2)] == [4, 6, 8, 4]


class Pair:
    """A class that says what a number on its left does to it."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __rmul__(self, factor):
        return Pair(factor * self.a, factor * self.b)


#: what Python gives of its own numbers, and NumPy would not of its own
OF_PYTHONS_NUMBERS = {
    "sum of truth values": lambda t: t * ((t > 0) + (t > 1)),
    "difference of truth values": lambda t: t * ((t > 0) - (t < 0)),
    "negative truth value": lambda t: -(t > 0) * t,
    "inverted truth value": lambda t: t * ~(t > 0),
    "counted": lambda t: t * functools.reduce(operator.add, [t > k for k in range(4)]),
    "truth value as an index": lambda t: [3.0, 4.0][t > 0] * t,
    "truth value as a size": lambda t: sum(t for _ in range(t > 0)),
    "kind of a truth value": lambda t: t if isinstance(t > 0, bool) else -3 * t,
    "kind of a whole number": lambda t: t if type(int(t)) is int and isinstance(math.floor(t), int) else -3 * t,
    "large power": lambda t: t * 10 ** int(10 * t),
    "negative power": lambda t: t * 2 ** -int(t),
    "large shift": lambda t: t * (1 << int(t) * 40),
    "beyond 64 bits": lambda t: t * math.floor(t * 1e19) + int(t * 1e20) % 7,
    "list repeated": lambda t: math.prod([t] * int(t)) + len([0] * int(t)),
    "operator of a class": lambda t: (t * Pair(1.0, 2.0)).b,
}


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # which Python 3.12 says of its own ~
@pytest.mark.parametrize("name", OF_PYTHONS_NUMBERS)
def test_numbers_of_python_are_no_numpy_scalars(name):
    function, h = OF_PYTHONS_NUMBERS[name], 1e-7
    for traced, own in ((function, function), (lambda x: function(float(x[0])), lambda x: function(float(x[0])))):
        at = 2.54 if traced is own is function else np.array([2.54])
        made, gradient = sg.value_and_grad(traced)(at)
        assert made == pytest.approx(own(at), rel=1e-15), name
        if name != "beyond 64 bits":  # whose steps are narrower than a difference
            assert np.ravel(gradient)[0] == pytest.approx((own(at + h) - own(at - h)) / (2 * h), rel=1e-6), name


def test_what_is_no_whole_number_raises_as_in_python():
    def caught(t):
        try:
            return t * int(t * math.inf)
        except OverflowError:
            return 7.0 * t

    assert sg.value_and_grad(caught)(2.0) == (14.0, 7.0)
    with pytest.raises(ArgumentError, match="cannot convert float NaN to integer"):
        sg.grad(lambda t: t * int(t))(math.nan)


COUNTED = {
    "linspace": lambda x, n: np.linspace(0, x[0], n + 1).sum(),
    "logspace": lambda x, n: np.logspace(0, x[0], num=n).sum(),
    "geomspace": lambda x, n: np.geomspace(1, 1 + x[0], n + 2).sum(),
    "delete": lambda x, n: np.delete(x, n - 1).sum() * x[0],
    "delete the greatest": lambda x, n: np.delete(x, np.argmax(x)).sum() * x[0],
    "delete several": lambda x, n: np.delete(x, np.argsort(x)[:n]).sum() * x[0],
    "insert": lambda x, n: (np.insert(x, n, x[0]) * np.arange(4)).sum(),
    "triu": lambda x, n: np.triu(np.outer(x, x), n - 1).sum(),
    "round": lambda x, n: np.round(x, n).sum() + x[0],
    "the method round": lambda x, n: x.round(n).sum() + x[0],
    "fft": lambda x, n: np.abs(np.fft.fft(x, n + 2)).sum(),
    "ddof": lambda x, n: np.var(x, ddof=n - 1),
    "deque": lambda x, n: sum(collections.deque([*x], maxlen=n)),
    "permutations": lambda x, n: len([*itertools.permutations(range(3), n)]) * x[0],
    "ldexp": lambda x, n: math.ldexp(x[0], n),
    "pad": lambda x, n: np.pad(x, n, mode="edge").sum(),
    "pad each side": lambda x, n: np.pad(x, (n, 1), mode="edge").sum(),
    "axis": lambda x, n: np.sum(np.outer(x, x), axis=n - 1)[0],
    "eye": lambda x, n: np.eye(n).sum() * x[0],
}


@pytest.mark.parametrize("name", COUNTED)
def test_how_many_and_where_may_be_computed(name):
    def f(x):
        return COUNTED[name](x, int(x[2]))

    g = sg.value_and_grad(f)
    for x in (np.array([0.54, 1.26, 2.31]), np.array([0.54, 1.26, 1.31])):
        value, gradient = g(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        wanted = slopes(f, x)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)


def test_counts_of_numpy():
    x = np.array([0.5, 1.25, 2.0])
    np.testing.assert_allclose(sg.grad(lambda x: np.var(x, ddof=np.int64(1)))(x), x - x.mean())
    assert sg.symbolic(lambda x: np.round(x, np.int64(1)))(x).tolist() == np.round(x, 1).tolist()


def test_places_among_traced_bounds():
    def f(x):
        return np.digitize([0.7, 3.0], np.sort(x)).sum() * x[0] + np.digitize(0.7, x[::-1] * [1, 1, 1]) * x[1]

    x = np.array([0.5, 1.25, 2.0])
    assert sg.value_and_grad(f)(x)[0] == f(x)
    assert sg.grad(f)(x).tolist() == [4.0, 2.0, 0.0]
    with pytest.raises(ValueError, match="monotonically"):
        sg.grad(lambda x: np.digitize(0.7, x[[0, 2, 1]]) * x[0])(x)


def test_arrays_of_what_collections_hold():
    x = np.array([0.5, 1.25, 2.0])

    def f(x):
        kept, listed = collections.deque([x[0] ** 2, x[1]]), collections.UserList([x[2], 1.0])
        named = {"a": x[0] * x[1], "b": x[2]}
        return np.array(kept) @ np.asarray(listed) + np.fromiter(named.values(), float).prod()

    wanted = slopes(f, x)
    assert sg.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-15)
    np.testing.assert_allclose(sg.grad(f)(x), wanted, rtol=1e-8)


def _tree(s):
    values = [max(1.0 - s * 1.1**j, 0) for j in range(-3, 4)]
    while len(values) > 1:
        values = [max(0.48 * a + 0.5 * b, 1.0 - s) for a, b in itertools.pairwise(values)]
    return values[0]


EXTREMES = {
    "of two": lambda x: min(x[0], x[1]) * 2 + max(x[1], x[2]),
    "of many": lambda x: max(x[0], x[1], x[2], 1.85) * min(x[0], 0.7, x[1]),
    "of an array": lambda x: max(x) * min(x),
    "of a list": lambda x: max([q * q for q in x]),
    "of a generator": lambda x: min(q * q for q in x),
    "of values of a dict": lambda x: max({"a": x[0], "b": x[1] ** 2}.values()),
    "of Python's numbers": lambda x: max(float(x[0]), float(x[1])) ** 2 - min(0, float(x[2])),
    "a default": lambda x: max((q for q in x if q > 99), default=x[0]),
    "by a key": lambda x: min(x, key=lambda q: abs(q - 1)),
    "of pairs": lambda x: min((q * q, k) for k, q in enumerate(x))[0],
    "in a recursion": lambda x: _tree(x[0]),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_of_numbers(name):
    f = EXTREMES[name]
    g = sg.value_and_grad(f)
    for x in (np.array([0.54, 1.26, 2.31]), np.array([2.4, 1.7, 0.62]), np.array([1.3, 0.45, 1.9])):
        value, gradient = g(x)
        assert value == f(x)
        wanted = slopes(f, x)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)


def test_one_trace_serves_whichever_number_is_the_greatest():
    g = sg.grad(lambda x: max(x[0], x[1], 0.5) + min(x[1], x[2]) + _tree(x[0]))
    kernels = set()
    for x in itertools.permutations((0.3, 0.6, 1.2)):
        g(np.array(x))
        kernels.add(g.kernel())
    assert len(kernels) == 1


def test_extremes_are_what_python_picks():
    x = np.array([1.0, np.nan, -0.0])
    for f in (
        lambda x: max(x[0], x[1]),
        lambda x: max(x[1], x[0]),
        lambda x: min(x[2], 0.0),
        lambda x: min(0.0, x[2]),
        lambda x: max(int(x[0]), 1),
        lambda x: max(x.astype(np.float32)[0], 2.0),
    ):
        got, want = sg.symbolic(f)(x), f(x)
        assert np.array_equal(got, want, equal_nan=True)
        assert np.signbit(got) == np.signbit(want)
    assert sg.grad(lambda x: max(x[0], 1.0) + min(x[0], 1.0))(x)[0] == 2.0  # the first of equals
    with pytest.raises(ValueError, match="empty"):
        sg.grad(lambda x: max(x[:0]) * x[0])(x)
    with pytest.raises(TracingError, match="ambiguous"):
        sg.grad(lambda x: max(x, 2 * x))(x)


def test_extremes_of_each_example():
    x = np.array([[0.5, 1.5], [2.5, 1.0]])
    assert sg.vmap(lambda x: max(x[0], x[1], 1.2))(x).tolist() == [1.5, 2.5]
    assert sg.vmap(sg.grad(lambda x: max(x[0], x[1], 1.2)))(x).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_rounded_numbers_are_whole_numbers_of_python():
    assert sg.grad(lambda x: x if isinstance(round(x), int) else 0 * x)(1.2) == 1.0
    assert sg.grad(lambda x: [1.0, 2.0, 3.0][round(x)] * x)(1.6) == 3.0
    assert sg.grad(lambda x: round(x, 1) * x)(1.26) == 1.3
    assert sg.grad(lambda x: {1.2: 2.0}.get(round(float(x), 1), 9.0) * x)(1.21) == 2.0
    assert sg.grad(lambda x: x if round(x, 1) in {1.2} else 3 * x)(1.21) == 1.0


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_whole_numbers_of_numpy_hold_what_they_hold_in_later_calls_too(kind):
    def fn(x):
        try:
            return x + kind(x)
        except (ValueError, OverflowError) as error:
            return 2 * x + len(type(error).__name__)

    derivative = sg.value_and_grad(fn)
    for x in (2.7, math.nan, 100.2, math.inf, 3e9, 1e300, 255.9, -1.5, -0.5):
        np.testing.assert_equal(derivative(x)[0], fn(x))


@pytest.mark.parametrize("digits", [-2, -1, 1, 2, 8, 12, 16, 22, 30])
def test_floats_are_rounded_to_digits_as_python_does(digits):
    drawn, derivative = random.Random(digits), sg.value_and_grad(lambda x: round(x, digits) * x)
    halves = [7.35, 0.15, 0.45, 2.675, -7.35, 1250.0, -1350.0, 0.0, -0.0, math.inf]
    halves += [drawn.randint(-999, 999) + 0.5 for _ in range(5)]
    for x in [*halves, *(drawn.uniform(-1, 1) * 10.0 ** drawn.randint(-8, 16) for _ in range(20))]:
        value, slope = derivative(x)
        assert (float(value), float(slope)) == (round(x, digits) * x, round(x, digits))


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logaddexp", "hypot", "fmax"])
def test_reductions_of_lists_of_traced_numbers(name):
    ufunc, x = getattr(np, name), np.array([1.3, 2.7])

    def f(x):
        return ufunc.reduce([x[0], x[1], 2.0]) + ufunc.accumulate([x[1], 2.0]).sum() + ufunc.outer([x[0], 1.0], x).sum()

    value, gradient = sg.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-14)
    wanted = slopes(f, x)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-7)


def test_a_branch_may_return_a_whole_number():
    def f(x):
        return 0 if x < 0 else x**2

    g = sg.value_and_grad(f)
    assert [g(2.0), g(-2.0), g(3.0)] == [(4.0, 4.0), (0, 0.0), (9.0, 6.0)]
    assert sg.hessian(f)(-2.0) == 0.0
    assert sg.grad(lambda x: sum(q for q in x if q > 9))(np.ones(2)).tolist() == [0.0, 0.0]


def _by_is(x):
    up = x > 0
    return x**2 if up is True else x**3


def _by_is_not(x):
    up = 0 < x < 1
    return x**2 if up is not False else x**3


def _by_cases(x):
    match (x > 0, x > 1):
        case (True, True):
            return x**2
        case (True, False):
            return x**3
        case _:
            return 2 * x


class _Way(enum.Enum):
    UP = 1
    DOWN = 2


def _by_names(x):
    way = _Way.UP if x > 0 else _Way.DOWN
    match way:
        case _Way.UP:
            return x**2
        case _:
            return x**3


def _by_parts(x):
    state = {"up": x > 0, "found": []}
    match state:
        case {"up": True, "found": found}:
            found.append(x)
    return x * (1 + len(state["found"]))


def _by_a_flag(x):
    state = {"done": False}
    while state["done"] is False:
        x = x / 2 + 1 / x
        state["done"] = abs(x * x - 2) < 1e-3
    return x**2 * 3


@pytest.mark.parametrize(
    ("fn", "of"),
    [
        *itertools.product([_by_is, _by_is_not, _by_cases, _by_names, _by_parts], [float, np.float64]),
        (_by_a_flag, float),
    ],
)
def test_truth_values_of_python_are_true_and_false_themselves(fn, of):
    """``is`` tells Python's True from NumPy's, of floats and of NumPy's floats as without symgrad."""
    g = sg.value_and_grad(fn)
    for x in (0.5, 1.5, 3.0) if fn is _by_a_flag else (0.5, 1.5, -0.5):
        value, slope = g(of(x))
        assert value == fn(of(x))
        assert slope == pytest.approx((fn(of(x + 1e-6)) - fn(of(x - 1e-6))) / 2e-6, rel=1e-5, abs=1e-7)


def test_math_trunc_is_held():
    assert sg.value_and_grad(lambda x: x * math.trunc(x))(-2.5) == (5.0, -2.0)


def test_pow_of_three_whole_numbers():
    gradient = sg.value_and_grad(lambda x: x * pow(int(x), 5, 7))
    for x in (2.5, 3.5, 2.25):
        assert gradient(x) == (x * pow(int(x), 5, 7), pow(int(x), 5, 7))
    with pytest.raises(TracingError, match="three arguments"):
        sg.grad(lambda x: pow(x, 2, 7))(2.5)


@pytest.mark.parametrize(
    "join", [lambda x: x + [1.0], lambda x: x * (1, 2), lambda x: [1.0] + x, lambda x: [1.0] * x, lambda x: x - [1.0]]
)
def test_a_float_beside_a_list_is_an_error_as_in_python(join):
    def fn(x):
        try:
            return np.sum(join(x))
        except TypeError:
            return 3.0 * x

    assert fn(2.5) == 7.5
    with pytest.raises(TypeError):
        join(2.5)
    with contextlib.suppress(TracingError):  # refused, whatever the function catches
        assert sg.value_and_grad(fn)(2.5) == (7.5, 3.0)
    assert sg.grad(lambda x: x if x == [x] or (x != [x] and (x,) == x) else 3.0 * x)(2.5) == 3.0


@pytest.mark.parametrize(
    "ask",
    [lambda x: x.hex(), lambda x: x.as_integer_ratio()[0], lambda x: int(x).bit_length(), lambda x: int(x).to_bytes()],
)
def test_what_a_number_has_and_has_no_rule_is_refused_though_it_is_caught(ask):
    def fn(x):
        try:
            return x * len(str(ask(x)))
        except Exception:
            return 3 * x

    with pytest.raises(UnsupportedOperation, match="has no derivative rule"):
        sg.grad(fn)(2.5)
