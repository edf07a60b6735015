"""Libraries that traced values are handed to: the error names what the user's line calls, and the way out."""

from __future__ import annotations

import ctypes
import functools
import json
import statistics

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.special
import scipy.stats

import symgrad as sg
from symgrad.errors import ArgumentTypeError, SymgradError, TracingError, UnsupportedOperation

X = np.array([0.5, 1.5, 2.5])
RNG = np.random.default_rng(0)
SPARSE = scipy.sparse.csr_array(np.eye(3))


def _filtered(x):
    return scipy.ndimage.generic_filter(np.ones(3), lambda w: w[0] * x[0], size=3)


CALLS = {
    "scipy.special.factorial2": (lambda x: np.sum(scipy.special.factorial2(x)), "compute it outside"),
    "scipy.stats.mannwhitneyu": (lambda x: scipy.stats.mannwhitneyu(x, x + 1)[0], "its formula"),
    "rv_continuous_frozen.entropy": (lambda x: scipy.stats.norm(x, 1.0).entropy().sum(), "its formula"),
    "scipy.linalg.signm": (lambda x: np.sum(scipy.linalg.signm(np.outer(x, x))), "NumPy functions that have a rule"),
    "scipy.linalg.blas.ddot": (lambda x: scipy.linalg.blas.ddot(x, x), "compute it outside"),
    "scipy.fft.fht": (lambda x: np.sum(scipy.fft.fht(x, 0.1, 0.5)), "transforms of np.fft"),
    "scipy.sparse.linalg.lsqr": (lambda x: scipy.sparse.linalg.lsqr(SPARSE, x)[0], "Take spsolve"),
    "scipy.optimize.linprog": (lambda x: scipy.optimize.linprog(x, [x], [1.0]).fun, "have rules"),
    "scipy.ndimage.generic_filter": (
        lambda x: scipy.ndimage.generic_filter(X, lambda w: w @ x, 3),
        "compute it outside",
    ),
    "numpy.random.poisson": (lambda x: np.sum(np.random.poisson(x)), "scale and shift"),
    "Generator.beta": (lambda x: np.sum(RNG.beta(x, 1.0)), "scale and shift"),
    "numpy.ma.sum": (lambda x: np.ma.sum(x), "getmaskarray"),
    "statistics.mean": (lambda x: statistics.mean(v for v in x), "compute it outside"),
    "json.dumps": (lambda x: json.dumps(x), "compute it outside"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_function_that_was_called_is_named_with_the_line_and_the_way_out(name):
    fn, way_out = CALLS[name]
    with pytest.raises(UnsupportedOperation, match=rf"{name.strip()}.* has no derivative rule .*{way_out}") as refused:
        sg.grad(fn)(X)
    message = str(refused.value)
    assert f"{__file__}:{fn.__code__.co_firstlineno}\n" in message
    assert "np.array" not in message.partition("\n")[0]


def test_where_the_source_is_not_at_hand_the_library_says_its_name():
    space = {"factorial2": scipy.special.factorial2}
    exec(compile("def fn(x): return factorial2(x)", "<no file>", "exec"), space)
    with pytest.raises(UnsupportedOperation, match="scipy"):
        sg.grad(space["fn"])(X)


def test_a_call_over_several_lines_is_found_too():
    def fn(x):
        return np.sum(
            scipy.stats.mannwhitneyu(
                x,
                x + 1,
            )
        )

    with pytest.raises(UnsupportedOperation, match=r"scipy\.stats\.mannwhitneyu"):
        sg.grad(fn)(X)


def test_what_code_in_c_makes_of_an_error_does_not_hide_it():
    def fn(x):
        return _filtered(x) * x

    for _ in range(3):
        with pytest.raises(UnsupportedOperation, match=r"scipy\.ndimage\.generic_filter"):
            sg.grad(fn)(X)
    assert sg.grad(lambda x: x * scipy.optimize.brentq(lambda t: t * t - 4.0, 0.0, 3.0))(1.0) == pytest.approx(2.0)


def test_a_compiled_function_is_traced_by_what_it_compiles():
    numba = pytest.importorskip("numba")
    compiled = numba.njit(lambda x: x * 2)
    assert sg.grad(lambda x: np.sum(compiled(x)))(X).tolist() == [2.0, 2.0, 2.0]
    assert sg.grad(lambda x: x * compiled(3.0))(1.0) == 6.0


def test_a_function_that_keeps_its_results_is_traced_by_what_it_keeps_them_of():
    @functools.lru_cache
    def cached(x):
        return np.sum(x**2)

    assert sg.grad(lambda x: cached(x[0]) * cached(2.0))(X).tolist() == [4.0, 0.0, 0.0]
    assert cached.cache_info().currsize == 1
    with pytest.raises(TracingError, match="cannot be hashed"):
        sg.grad(lambda x: {x[0]: 1})(X)
    for use in (lambda x: x in {1.0, 2.0}, hash):
        with pytest.raises(TypeError, match="unhashable type"):
            sg.grad(use)(X)


def test_c_and_ufuncs_of_others_say_how_they_get_a_derivative():
    libm = ctypes.CDLL(None)
    sine = libm.sin
    sine.restype, sine.argtypes = ctypes.c_double, [ctypes.c_double]
    with pytest.raises(
        UnsupportedOperation, match=r"sine has no derivative rule.*symgrad\.custom\(sine, vjp=…\)"
    ) as refused:
        sg.grad(lambda x: sine(x[0]))(X)
    assert f"{__file__}:" in str(refused.value)
    with pytest.raises(UnsupportedOperation, match=r"symgrad\.custom\(ctypes\.CDLL\.cos, vjp=…\)"):
        sg.grad(lambda x: libm.cos(x[0]))(X)
    with pytest.raises(UnsupportedOperation, match=r"ndarray\.ctypes has no .*symgrad\.custom\(f, vjp=…\)"):
        sg.grad(lambda x: libm.sin(x.ctypes.data))(X)
    with pytest.raises(UnsupportedOperation, match=r"special\.voigt_profile has no .*symgrad\.custom\(f, vjp=…\)"):
        sg.grad(lambda x: np.sum(scipy.special.voigt_profile(x, x, x)))(X)
    with pytest.raises(UnsupportedOperation, match=r"symgrad\.custom\(scipy\.optimize\.linprog, vjp=…\)"):
        sg.grad(lambda x: scipy.optimize.linprog(x, [x], [1.0]).fun)(X)


class Mine(ValueError):
    """The user's own."""


def raising(error):
    def fn(x):
        raise error

    return fn


@pytest.mark.parametrize("error", [Mine("a"), ValueError("b"), TypeError("c"), IndexError("d"), KeyError("e")])
def test_what_the_user_raises_is_left_alone(error):
    with pytest.raises(type(error)) as caught:
        sg.grad(raising(error))(X)
    assert caught.value is error

    def in_a_callback(x):
        return scipy.optimize.newton(lambda t: raising(error)(x), 1.0)

    with pytest.raises(type(error)) as caught:
        sg.grad(in_a_callback)(X)
    assert caught.value is error


def test_what_libraries_and_numpy_raise_at_plain_values_is_left_alone():
    for fn, error in [
        (lambda x: x * statistics.mean([]), statistics.StatisticsError),
        (lambda x: x * np.ones(3).reshape(2, 2), ValueError),
        (lambda x: x * np.linalg.inv(np.zeros((3, 3))), np.linalg.LinAlgError),
        (lambda x: x * json.dumps(object()), TypeError),
        (lambda x: x * int("a"), ValueError),
    ]:
        with pytest.raises(error) as caught:
            sg.grad(fn)(X)
        assert not isinstance(caught.value, SymgradError)


def test_mistakes_inside_of_rules_are_typed_and_show_the_line():
    for fn in (lambda x: np.sum(x, dtype="no"), lambda x: np.pad(x, "a"), lambda x: np.full_like(x, "a")):
        with pytest.raises(SymgradError) as refused:
            sg.grad(lambda x, fn=fn: np.sum(fn(x)))(X)
        assert f"{__file__}:" in str(refused.value)
    with pytest.raises(ArgumentTypeError, match="a traced value"):
        sg.grad(lambda x: memoryview(x))(X)
