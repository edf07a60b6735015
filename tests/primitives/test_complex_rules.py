"""Every registered operation on complex numbers, where NumPy has it, by the harness of real ones.

A function of ``a + ib`` is one of the real arrays ``a`` and ``b``, and its parts are real results: value, both modes,
second order and backends are compared with NumPy and finite differences as they are for real functions.
"""

import importlib.util
import pkgutil

import library_cases  # noqa: F401  (declares cases)
import numpy as np
import pytest
from numpy_code import CODE
from operands import draw
from registered import distinct, first_of_each, order_of

import symgrad as sg
from symgrad.errors import DtypeError, SymgradError, TracingError
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.testing import Call, CheckFailed, check_backends
from symgrad.tracing import calls  # noqa: F401  (declare functions)
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.dispatch import NAMED_CASES
from symgrad.tracing.tree import flatten, unflatten

#: functions that have rules for real numbers alone, and say so
REFUSED = {np.nanmedian}
#: the functions whose values are rounded otherwise than NumPy's
ROUNDED = {np.vecdot, np.linalg.vecdot, np.vecmat, np.matvec}
#: functions of which some of NumPy's own code is for real numbers
MIXED = {*CODE, np.pad}
#: vectors that are given up to a phase, which LAPACK chooses otherwise than derivatives: ``test_decompositions.py``
PHASED = {np.linalg.eigh, np.linalg.eig, np.linalg.svd}

#: how long a result is, is for the last digit to say
TRIMMED = {np.polydiv}


def of_parts(fn, args, kwargs, held):
    """``fn`` of the real and imaginary parts of the arguments that are not ``held``, and these parts."""
    free = [k for k in range(len(args)) if k not in held]
    leaves, structure = flatten([args[k] for k in free])
    rng = np.random.default_rng(3)
    parts = [np.asarray(x) for x in leaves] + [np.asarray(rng.uniform(0.2, 1.5, np.shape(x))) for x in leaves]

    def function(*parts):
        count = len(leaves)
        numbers = unflatten(structure, [a + 1j * b for a, b in zip(parts[:count], parts[count:], strict=True)])
        filled = list(args)
        for k, number in zip(free, numbers, strict=True):
            filled[k] = number
        return fn(*filled, **kwargs)

    function.__name__ = getattr(fn, "__name__", "function")
    return function, parts


def elementwise(name, shape):
    rng = np.random.default_rng(7)
    operands = [draw(rng, interval, shape) for interval in DOMAINS[name]]
    held = [k for k, x in enumerate(operands) if x.dtype.kind != "f"]
    return of_parts(ELEMENTWISE[name].ufunc, operands, {}, held)


def of_case(function, case):
    held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
    return of_parts(case.of_drawn(function), case.draw(np.random.default_rng(7)), case.kwargs, held)


def is_numpys(function, parts):
    """Whether NumPy has it for complex numbers, and of some that are given."""
    try:
        with np.errstate(all="ignore"):
            function(*parts)
    except (TypeError, ValueError, RuntimeError, UserWarning, np.exceptions.ComplexWarning):
        return False
    return bool(parts)


TEMPLATES = [
    pytest.param(name, shape, id=f"{name}-{shape}")
    for name in ELEMENTWISE
    for shape in ((2, 3), ())
    if name not in ("zeta", "digamma") and is_numpys(*elementwise(name, shape))
]
FUNCTIONS = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in distinct(CASES).items()
    for case in cases
    if function not in ROUNDED | PHASED | TRIMMED and is_numpys(*of_case(function, case))
]

NAMED = [
    pytest.param(pkgutil.resolve_name(name), case, id=f"{name}-{case}")
    for name, cases in (NAMED_CASES.items() if importlib.util.find_spec("scipy") else ())
    for case in cases
    if name != "scipy.signal.gausspulse" and is_numpys(*of_case(pkgutil.resolve_name(name), case))  # which overflows
]


def test_a_partial_that_has_no_complex_numbers_is_refused():
    special = pytest.importorskip("scipy.special")
    with pytest.raises(SymgradError, match="_zeta"):
        sg.grad(lambda x: np.real(special.digamma(x + 1j)))(0.5)


@pytest.mark.parametrize(("name", "shape"), TEMPLATES)
def test_elementwise_rule(check_arrays, name, shape):
    check_arrays(*elementwise(name, shape))


def expect_right_or_refused(function, check):
    try:
        check()
    except CheckFailed:
        raise
    except SymgradError as error:
        if function.__name__ not in str(error):
            raise


@pytest.mark.parametrize(("function", "case"), FUNCTIONS)
def test_function_rule(check_arrays, function, case):
    of_both, parts = of_case(function, case)
    if function in REFUSED:
        with pytest.raises(SymgradError, match=function.__name__):
            check_arrays(of_both, parts)
    elif function in MIXED:
        expect_right_or_refused(function, lambda: check_arrays(of_both, parts, order=order_of(function)))
    else:
        check_arrays(of_both, parts)


@pytest.mark.parametrize(("function", "case"), NAMED)
def test_function_of_a_library(check_arrays, function, case):
    try:
        check_arrays(*of_case(function, case), rounding=64)
    except (DtypeError, TracingError) as refused:
        if "complex numbers" not in str(refused):
            raise


@pytest.mark.parametrize("function", sorted(ROUNDED, key=lambda f: (f.__name__, str(f))))
def test_values_that_are_rounded_otherwise(function):
    vector, matrix = np.arange(3.0) / 3, np.arange(9.0).reshape(3, 3) % 4
    args = {np.vecmat: [vector, matrix], np.matvec: [matrix, vector]}.get(function, [matrix, vector])
    made, parts = of_parts(function, args, {}, [])
    np.testing.assert_allclose(sg.symbolic(made)(*parts), made(*parts), rtol=1e-14)


def compiled(of_both, parts, name):
    def fn(*own):
        return of_both(*own)

    fn.__name__ = name
    return Call(fn, parts)


COMPILED = [case for case in FUNCTIONS if case.values[0] not in REFUSED | MIXED]
ALL = [(of_case, case) for case in COMPILED] + [(elementwise, case) for case in TEMPLATES]
FIRST = [(of_case, case) for case in first_of_each(COMPILED)]
FIRST += [(elementwise, case) for case in first_of_each(TEMPLATES)]


@pytest.mark.needs("native")
@pytest.mark.parametrize("part", [ALL[k::20] for k in range(20)], ids=range(20))
def test_compiled_in_parts(part):
    """C computes with the parts: what it gives is what NumPy gives, but for the last digits."""
    check_backends(*[compiled(*of(*p.values), p.id) for of, p in part], order=1, backends=["native"])


@pytest.mark.needs("native")
@pytest.mark.parametrize("part", [FIRST[k::10] for k in range(10)], ids=range(10))
def test_second_orders_compiled_in_parts(part):
    check_backends(*[compiled(*of(*p.values), p.id) for of, p in part], backends=["native"])


#: numbers on a cut, by the sign of a zero that their code makes
ON_CUTS = {
    "a negative": (lambda a: np.sqrt(-(a + 0j)), 0.3),
    "a logarithm": (lambda a: np.log(-(a + 0j)), 0.3),
    "an angle": (lambda a: np.angle(-(a + 0j)) + 0 * a, 4.0),
    "a power": (lambda a: (-(a + 0j)) ** 0.5, 4.0),
    "a conjugate": (lambda a: np.sqrt(np.conj(a + 0j)), -4.0),
    "a sum": (lambda a: np.log(-0.3 * a + 1j * (0 * a)), 1.0),
    "a quotient": (lambda a: np.sqrt((a + 0j) / (-2.0)), 1.3),
    "a difference": (lambda a: np.sqrt(1 - (a + 0j)), 3.0),
    "a product": (lambda a: np.sqrt(-2 * (a + 0j)), 3.0),
    "a transform": (lambda a: np.sqrt(-np.fft.fft(a * np.array([1.0, 2.0, 1.0, 2.0])))[0], 1.0),
}


@pytest.mark.parametrize("name", ON_CUTS)
@pytest.mark.parametrize("backend", ["numpy", "numexpr", "native"])
def test_signs_of_zeros_decide_on_cuts(name, backend):
    function, a = ON_CUTS[name]
    part = lambda a: np.imag(function(a)) + np.real(function(a)) / 2  # noqa: E731
    np.testing.assert_allclose(sg.symbolic(part, backend=backend)(a), part(a), rtol=1e-14)
    slope = (part(a + 1e-6) - part(a - 1e-6)) / 2e-6
    np.testing.assert_allclose(sg.grad(part, backend=backend)(a), slope, rtol=1e-8, atol=1e-9)


MASK = np.array([True, False])
CHOSEN = {
    "where": lambda x: np.imag(np.where(MASK, 1j * x**2, x)),
    "max": lambda x: np.max(x + 1j * x**2).imag,
    "min": lambda x: np.min(x + 1j * x**2).imag,
    "nanmax": lambda x: np.nanmax(x + 1j * x**2).imag,
    "ptp": lambda x: np.ptp(x + 1j * x**2).imag,
    "a part of a sum": lambda x: np.abs(np.sum(x * (1 + 2j), where=MASK)),
    "a triangle": lambda x: np.imag(np.tril(1j * np.outer(x, x))).ravel(),
}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_choices_between_complex_numbers(name, mode):
    function, x, step = CHOSEN[name], np.array([0.3, 1.1]), 1e-6 * np.eye(2)
    slopes = np.stack([(function(x + h) - function(x - h)) / 2e-6 for h in step], axis=-1)
    np.testing.assert_allclose(sg.jacobian(function, mode=mode)(x), slopes, rtol=1e-8, atol=1e-9)
