"""Every function that SciPy alone computes, against finite differences; what has no rule is refused by its name."""

import numpy as np
import pytest
from operands import draw

import symgrad as sg
from symgrad.errors import UnsupportedOperation

special = pytest.importorskip("scipy.special")
records = pytest.importorskip("symgrad.primitives.special")
declaring = pytest.importorskip("symgrad.primitives.special.declaring")
OPERATIONS, DOMAINS = records.OPERATIONS, records.DOMAINS
#: shapes that broadcast, by the number of operands
SHAPES = [(2, 3), (3,), (2, 1), ()]
#: those whose first operand is a whole number, whatever is given
WHOLE = ("spherical_", "eval_hermite")


def called(name):
    """The function of which the operation is a result."""
    ufunc = OPERATIONS[name].ufunc
    if isinstance(ufunc, declaring.Component):
        return lambda *args: ufunc.ufunc(*args)[ufunc.place]
    return ufunc


def held(name):
    """The operands by which it is not derived."""
    return [k for k, p in enumerate(OPERATIONS[name].partials) if isinstance(p, declaring.Refusal)]


def drawn(name, shapes):
    rng = np.random.default_rng(7)
    return [draw(rng, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=False)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_rule(check_arrays, name):
    arity = OPERATIONS[name].arity
    check_arrays(called(name), drawn(name, SHAPES[4 - arity :] if arity > 2 else SHAPES), held=held(name))


@pytest.mark.needs("native")
def test_rules_compiled():
    calls = [sg.testing.Call(called(name), drawn(name, SHAPES), {}, held(name)) for name in OPERATIONS]
    sg.testing.check_backends(*calls[::4], backends=["native"])


@pytest.mark.parametrize("shape", [(), (0,)])
def test_numbers_and_nothing(shape):
    for name in OPERATIONS:
        args = drawn(name, [shape] * 4)
        want = np.asarray(called(name)(*args))
        got = np.asarray(sg.symbolic(called(name), backend="numpy")(*args))
        np.testing.assert_array_equal(got, want, name)
        assert got.dtype == want.dtype, name


@pytest.mark.parametrize("name", [n for n in OPERATIONS if held(n) and not n.startswith(WHOLE)])
def test_what_is_not_known_is_refused_by_name(name):
    place, function = held(name)[0], OPERATIONS[name].ufunc
    said = getattr(function, "__name__", name)
    args = [np.asarray(a, float) for a in drawn(name, [(2,)] * 4)]
    match = rf"scipy\.special\.{said} has no derivative rule in symgrad by its"
    with pytest.raises(UnsupportedOperation, match=match):
        sg.grad(lambda *x: np.sum(called(name)(*x)), place)(*args)
    with pytest.raises(UnsupportedOperation, match=match):
        sg.jvp(called(name), tuple(args), tuple(np.ones(2) for _ in args))


@pytest.mark.parametrize("backend", ["numexpr", "auto"])
def test_one_of_several_results(backend):
    def f(x):
        ai, slope, _, _ = special.airy(x)
        return np.sum(ai * slope)

    x = np.linspace(-2.0, 2.0, 5)
    ai, slope, *_ = special.airy(x)
    np.testing.assert_allclose(sg.grad(f, backend=backend)(x), slope**2 + x * ai**2, rtol=1e-12)


def test_degrees_and_orders_may_be_whole_numbers():
    n, x = np.array([0, 1, 2, 5]), np.array([0.3, 1.0, -1.0, 0.5])
    made = sg.vjp(lambda x: special.eval_legendre(n, x), x)[1](np.ones(4))[0]
    want = [np.polynomial.Legendre.basis(k).deriv()(v) for k, v in zip(n, x, strict=True)]
    np.testing.assert_allclose(made, want, rtol=1e-13, atol=1e-13)
    assert sg.grad(lambda x: special.eval_hermite(0, x))(0.3) == 0
    assert sg.grad(lambda x: special.kn(0, x))(0.7) == pytest.approx(-special.k1(0.7), rel=1e-14)


def test_values_outside_of_the_domain_do_not_poison():
    x, y = np.array([-1.0, 0.0, 0.5]), np.array([1.0, 1.0, 1.0])
    np.testing.assert_allclose(sg.grad(lambda x: np.sum(special.entr(x)))(x)[[0, 2]], [0, -1 - np.log(0.5)])
    np.testing.assert_array_equal(sg.grad(lambda y: np.sum(special.rel_entr(x, y)))(y), [0, 0, -0.5])
    np.testing.assert_array_equal(sg.grad(lambda y: np.sum(special.xlog1py(x * 0, y - 2)))(y), np.zeros(3))


def test_a_function_without_a_rule_is_refused():
    with pytest.raises(UnsupportedOperation, match=r"scipy\.special\.voigt_profile has no derivative rule"):
        sg.grad(lambda x: special.voigt_profile(x, 1.0, 1.0))(1.0)
    with pytest.raises(UnsupportedOperation, match=r"special\.gdtrib has no .* The nearest that has one is gdtr"):
        sg.grad(lambda x: special.gdtrib(x, 1.0, 1.0))(0.5)


def test_derivatives_of_complex_numbers_are_refused():
    with pytest.raises(UnsupportedOperation, match=r"scipy\.special\.jv of complex numbers has no derivative rule"):
        sg.grad(lambda z: np.abs(special.jv(1, z)) ** 2)(0.5 + 1j)
