"""The ufuncs of ``scipy.special`` that loops know: the rule tests, their tails, and that scipy stays optional."""

import subprocess
import sys

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.primitives.functions import DOMAINS

special = pytest.importorskip("scipy.special")
SPECIAL = pytest.importorskip("symgrad.primitives.special").COMPILED

SHAPES = {1: [((),), ((3,),), ((2, 3),)], 2: [((2, 3), (3,)), ((3,), (3,)), ((), (2,))]}
CASES = [(ufunc, shapes) for ufunc, template in SPECIAL.items() for shapes in SHAPES[template.arity]]


@pytest.mark.parametrize(("ufunc", "shapes"), CASES, ids=lambda x: getattr(x, "__name__", str(x)))
def test_rule(check_rule, ufunc, shapes):
    rng = np.random.default_rng(7)
    intervals = DOMAINS[SPECIAL[ufunc].name]
    check_rule(ufunc, [np.asarray(rng.uniform(*i, size=s)) for i, s in zip(intervals, shapes, strict=True)])


@pytest.mark.parametrize("ufunc", SPECIAL, ids=lambda u: u.__name__)
def test_four_orders_against_sympy_in_high_precision(ufunc):
    """The formula's own numerical derivative by mpmath, with 60 digits; no rule of symgrad's or of sympy's."""
    mpmath = pytest.importorskip("mpmath")
    template = SPECIAL[ufunc]
    low, high = DOMAINS[template.name][-1]
    slots = sympy.symbols("a b c", real=True)[: template.arity]
    formula = sympy.lambdify(slots, template.expr, "mpmath")
    fixed = (1.5,) * (template.arity - 1)
    derived = ufunc
    for order in range(1, 5):
        derived = sg.grad(derived, template.arity - 1)
        for x in np.linspace(low, high, 5):
            with mpmath.workdps(60):
                want = float(mpmath.diff(lambda v: formula(*fixed, v), mpmath.mpf(float(x)), order))
            assert float(derived(*fixed, float(x))) == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("x", [-300.0, -40.0, -10.5, -9.5, 0.0, 9.0, 30.0])
def test_the_tails_of_log_ndtr(x):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(80):
        at = mpmath.mpf(x)
        ratio = mpmath.npdf(at) / mpmath.ncdf(at)
        first, second = float(ratio), float(-ratio * (at + ratio))
    slope = sg.grad(special.log_ndtr)
    assert slope(x) == pytest.approx(first, rel=1e-12)
    assert sg.grad(slope)(x) == pytest.approx(second, rel=1e-6)


def test_digamma_left_of_zero():
    mpmath = pytest.importorskip("mpmath")
    for x in (-0.5, -2.25):
        assert sg.grad(special.gammaln)(x) == pytest.approx(float(mpmath.digamma(x)), rel=1e-12)
        assert sg.grad(special.digamma)(x) == pytest.approx(float(mpmath.psi(1, x)), rel=1e-12)


def test_xlogy_of_zeros():
    x, y = np.array([0.0, 0.0, 2.0]), np.array([0.0, 3.0, 4.0])
    np.testing.assert_array_equal(sg.symbolic(special.xlogy)(x, y), special.xlogy(x, y))
    np.testing.assert_array_equal(sg.grad(special.xlogy, 1)(x, y), [0.0, 0.0, 0.5])


def test_expit_and_logit_keep_their_digits():
    slope = sg.grad(special.expit)
    assert slope(-700.0) == pytest.approx(np.exp(-700.0), rel=1e-12)
    assert slope(700.0) == pytest.approx(np.exp(-700.0), rel=1e-12)
    assert sg.grad(special.logit)(1e-300) == pytest.approx(1e300, rel=1e-12)


@pytest.mark.parametrize("x", [0.0, 3.0, 24.9, 25.1, 1e3, 1e6, -3.0])
def test_the_tail_of_erfcx(x):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        at = mpmath.mpf(x)
        value = mpmath.exp(at**2) * mpmath.erfc(at)
        first = 2 * at * value - 2 / mpmath.sqrt(mpmath.pi)
        second = 2 * value + 2 * at * first
    slope = sg.grad(special.erfcx)
    assert slope(x) == pytest.approx(float(first), rel=1e-12)
    assert sg.grad(slope)(x) == pytest.approx(float(second), rel=1e-9)


def test_zeta_by_its_order_is_refused():
    zeta = special._ufuncs._zeta
    assert sg.symbolic(lambda q: special.zeta(2.5, q))(1.5) == zeta(2.5, 1.5)
    with pytest.raises(UnsupportedOperation, match=r"scipy\.special\.zeta has no derivative rule in symgrad by x"):
        sg.grad(lambda s: special.zeta(s, 1.5))(2.5)


def test_scipy_is_not_imported_without_need():
    code = (
        "import sys, numpy as np, symgrad as sg; sg.grad(np.sin)(1.0); sg.grad(np.linalg.det)(np.eye(2)); "
        "assert not [m for m in sys.modules if m.split('.')[0] == 'scipy']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
