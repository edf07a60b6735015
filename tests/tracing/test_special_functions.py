"""The functions of ``scipy.special`` that are Python's."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.testing import check_grads

special = pytest.importorskip("scipy.special")
X = np.linspace(0.3, 2.0, 6).reshape(2, 3)
WEIGHTS = np.array([[1.0, -2.0, 0.0], [3.0, -4.0, 1.0]])
#: SciPy's own value to the bit
EXACT = {
    "softmax": lambda x: special.softmax(x, axis=1),
    "softmax of all": lambda x: special.softmax(x),
    "log_softmax": lambda x: special.log_softmax(x, axis=0),
    "log_softmax of all": lambda x: special.log_softmax(x),
    "ellipj": lambda x: special.ellipj(x, x / 3),
    "fresnel": lambda x: special.fresnel(x),
    "polygamma": lambda x: special.polygamma(1, x),
    "polygammas": lambda x: special.polygamma([0, 1, 2], x),
    "digamma by polygamma": lambda x: special.polygamma(0, x),
    "zeta": lambda x: special.zeta(2.5, x),
    "multigammaln": lambda x: special.multigammaln(x + 1, 3),
    "comb": lambda x: special.comb(x + 3, 2.0),
    "comb with repetition": lambda x: special.comb(x + 3, 2.0, repetition=True),
    "perm": lambda x: special.perm(x + 4, 2.0),
    "factorial": lambda x: special.factorial(x),
    "spherical_jn": lambda x: special.spherical_jn(2, x),
    "spherical_yn": lambda x: special.spherical_yn(np.array([0, 1, 2]), x),
    "spherical_in left of zero": lambda x: special.spherical_in(2, x - 1),
    "spherical_jn left of zero": lambda x: special.spherical_jn(1, x - 1),
    "jvp": lambda x: special.jvp(2, x, 2),
    "yvp": lambda x: special.yvp(1.5, x),
    "ivp": lambda x: special.ivp(0, x, 3),
    "kvp": lambda x: special.kvp(0.5, x),
}
#: to 1e-13
CLOSE = {
    "logsumexp": lambda x: special.logsumexp(x),
    "logsumexp along an axis": lambda x: special.logsumexp(x, axis=1, keepdims=True),
    "weighed logsumexp": lambda x: special.logsumexp(x, axis=0, b=x * 2),
    "signed logsumexp": lambda x: special.logsumexp(x, axis=0, b=WEIGHTS, return_sign=True),
    "slope of spherical_jn": lambda x: special.spherical_jn(0, x, True),
    "slope of spherical_in": lambda x: special.spherical_in(2, x, derivative=True),
    "slope of spherical_kn": lambda x: special.spherical_kn(1, x, derivative=True),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact(check_arrays, name):
    check_arrays(EXACT[name], [X])


@pytest.mark.parametrize("name", CLOSE)
def test_close(name):
    f = CLOSE[name]
    for got, want in zip(np.atleast_1d(sg.symbolic(f)(X)), np.atleast_1d(f(X)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    check_grads(f, [X])


def test_logsumexp_at_the_ends():
    a = np.array([[1e4, 1e4, -1e4], [-np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf]])
    f = lambda a: special.logsumexp(a, axis=1)  # noqa: E731
    np.testing.assert_array_equal(sg.symbolic(f)(a), f(a))
    slopes = sg.grad(lambda a: np.sum(f(a)))(a)
    np.testing.assert_allclose(slopes[:2], special.softmax(a[:2], axis=1), rtol=1e-14)
    assert sg.grad(special.logsumexp)(np.array([800.0, -800.0])).tolist() == [1.0, 0.0]


def test_softmax_does_not_overflow():
    x = np.array([1000.0, 0.0, -1000.0])
    jacobian = np.asarray(sg.jacobian(special.log_softmax)(x))
    np.testing.assert_array_equal(jacobian, [[0, 0, 0], [-1, 1, 0], [-1, 0, 1]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: special.comb(x, 2, exact=True), r"special\.comb\(…, exact=True\)"),
        (lambda x: special.spherical_jn(x, 1.0), r"scipy\.special\.spherical_jn has no derivative rule .* by n"),
        (lambda x: special.polygamma(x, 1.0), r"scipy\.special\.polygamma has no derivative rule .* by n"),
        (lambda x: special.zeta(x), r"scipy\.special\.zeta\(x\) has no derivative rule"),
        (lambda x: special.lambertw(x).real, "wrightomega"),
        (lambda x: special.diric(x, 3), r"scipy\.special\.diric"),
    ],
)
def test_refused(call, said):
    with pytest.raises(UnsupportedOperation, match=said):
        sg.grad(call)(2.0)
