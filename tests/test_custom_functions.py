"""Custom functions: how they are declared and called, what they are refused, and what stands around them."""

from __future__ import annotations

import copy
import ctypes
import functools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingDerivative,
    ShapeError,
    TracingError,
    UnsupportedOperation,
)

X = np.array([0.3, 0.7, 1.1])


@sg.custom(vjp=lambda primals, ct: ct * np.cos(primals[0]))
def sine(x):
    return np.sin(np.asarray(x))


scaled = sg.custom(lambda x, k=2.0: k * x, vjp=lambda p, ct: (p[1] * ct, np.sum(p[0] * ct)), name="scaled")


def slope(f, x, h=1e-6):
    """The derivative of an elementwise function by central differences."""
    return (f(x + h) - f(x - h)) / (2 * h)


def once(f, vjp=None, **options):
    """A custom function whose rule runs as it is too, so that it has one order."""
    return sg.custom(f, vjp=None if vjp is None else sg.custom(vjp, name="adjoint"), **options)


class TestDeclaring:
    def test_a_plain_call_is_the_function_itself(self):
        seen = []
        f = sg.custom(lambda x: seen.append(x) or x, jvp=lambda p, t: t[0])
        assert f(X) is X
        assert seen[0] is X

    def test_it_looks_as_the_function_does(self):
        assert sine.__name__ == "sine"
        assert repr(sine) == "<custom function sine>"
        assert sg.custom(np.cumsum).__name__ == "cumsum"
        assert sg.custom(functools.partial(sine, X)).__name__ == "sine"
        assert sg.custom(lambda x: x).__name__ == "custom"
        assert sg.custom(lambda x: x, name="heat").__name__ == "heat"

    def test_what_is_no_function_is_refused(self):
        for options in ({"jvp": 3}, {"vjp": "no"}, {"shape": (2,)}):
            with pytest.raises(ArgumentTypeError, match="a function is expected"):
                sg.custom(np.sin, **options)
        with pytest.raises(ArgumentTypeError, match="a function is expected"):
            sg.custom(3)
        for name in ("two words", "1st", "", 3):
            with pytest.raises(ArgumentError, match="is no name"):
                sg.custom(np.sin, name=name)

    def test_a_rule_of_other_parameters_is_refused_at_once(self):
        with pytest.raises(ArgumentTypeError, match=r"vjp\(primals, cotangent, out\)"):
            sg.custom(np.sin, vjp=lambda ct: ct)
        with pytest.raises(ArgumentTypeError, match=r"jvp\(primals, tangents\)"):
            sg.custom(np.sin, jvp=lambda a, b, c: c)
        with pytest.raises(ArgumentTypeError, match="unexpected keyword argument 'scale'"):
            sg.custom(lambda x, *, scale: x, jvp=lambda p, t: t[0])

    def test_a_method_is_one_of_its_object(self):
        class Pump:
            def __init__(self, k):
                self.k = k

            @sg.custom(vjp=lambda primals, ct: ct * 2 * primals[1] * primals[0].k)
            def head(self, q):
                return self.k * q * q

        pump = Pump(2.0)
        gradient = sg.grad(pump.head)
        np.testing.assert_allclose(gradient(X), 4 * X)
        assert str(gradient.closed_form(0.5)) == "4*q"
        pump.k = 3.0
        np.testing.assert_allclose(gradient(X), 6 * X)
        np.testing.assert_allclose(sg.grad(Pump.head, 1)(pump, X), 6 * X)

    def test_both_rules_are_used_each_for_its_mode(self):
        f = sg.custom(lambda x: x, jvp=lambda p, t: 2 * t[0], vjp=lambda p, ct: 3 * ct)
        assert sg.jvp(f, (1.0,), (1.0,))[1] == 2
        assert sg.grad(f)(1.0) == 3
        np.testing.assert_array_equal(sg.jacfwd(f)(X), 2 * np.eye(3))
        np.testing.assert_array_equal(sg.jacrev(f)(X), 3 * np.eye(3))


class TestRules:
    def test_surrogates_need_not_be_derivatives(self):
        rounded = sg.custom(np.round, vjp=lambda p, ct: ct)
        np.testing.assert_array_equal(sg.grad(lambda x: rounded(x) * x)(X), X + np.round(X))
        reversed_ = sg.custom(lambda x: x + 0.0, vjp=lambda p, ct: -ct)
        np.testing.assert_allclose(sg.grad(lambda x: reversed_(x) ** 2)(X), -2 * X)
        clipped = sg.custom(lambda x: x + 0.0, vjp=lambda p, ct: np.clip(ct, -1.0, 1.0))
        np.testing.assert_allclose(sg.grad(lambda x: clipped(x) ** 2)(X), np.minimum(2 * X, 1))
        with pytest.raises(TracingError, match="the vjp of custom is not linear in the cotangent"):
            sg.jacobian(clipped)(X)

    def test_rules_of_a_function_that_calls_itself_end(self):
        twice = sg.custom(lambda x: 2 * x, jvp=lambda p, t: twice(t[0]), name="twice")
        back = sg.custom(lambda x: 2 * x, vjp=lambda p, ct: back(ct), name="back")
        for f in (twice, back):
            for mode in ("forward", "reverse"):
                np.testing.assert_allclose(sg.jacobian(lambda x, f=f: f(x**2), mode=mode)(X), np.diag(4 * X))
            np.testing.assert_allclose(sg.hessian(lambda x, f=f: np.sum(f(x**2) * x))(X), np.diag(12 * X))
            np.testing.assert_allclose(sg.vmap(sg.grad(lambda x, f=f: np.sum(f(x**2))))(np.stack([X, X])), [4 * X] * 2)

    def test_a_rule_that_is_not_linear_is_refused_where_it_is_transposed(self):
        with pytest.raises(TracingError, match="the jvp of f is not linear in the tangents"):
            sg.grad(lambda x: np.sum(sg.custom(np.sin, jvp=lambda p, t: t[0] ** 2, name="f")(x)))(X)

    def test_none_stands_for_zero(self):
        f = sg.custom(lambda x, y: x + 0 * y, vjp=lambda p, ct: (ct, None))
        assert sg.grad(f, (0, 1))(1.0, 2.0) == (1.0, 0.0)
        g = sg.custom(lambda x: x, jvp=lambda p, t: None)
        assert sg.jvp(g, (1.0,), (1.0,))[1] == 0
        assert sg.grad(g)(1.0) == 0
        h = once(lambda x, y: x * y, lambda p, ct: (ct * p[1], None))
        assert sg.grad(h, (0, 1))(2.0, 3.0) == (3.0, 0.0)

    def test_what_a_rule_gives_is_checked(self):
        for wrong, error, said in (
            (lambda p, ct: ct, ArgumentTypeError, "one gradient for each of the 2"),
            (lambda p, ct: (ct, ct, ct), ArgumentTypeError, "it returned 3"),
            (lambda p, ct: (ct, np.ones(2)), ShapeError, r"gradient of input 1 has shape \(2,\)"),
            (lambda p, ct: ((ct, ct), None), ArgumentTypeError, "must be nested as the input"),
        ):
            with pytest.raises(error, match=said):
                sg.grad(sg.custom(lambda x, y: x * y, vjp=wrong), (0, 1))(X, X)
        for wrong, error, said in (
            (lambda p, t: (p[0], t[0]), ArgumentTypeError, "The result itself is not among them"),
            (lambda p, t: np.sum(t[0]), ShapeError, r"the tangent has shape \(\)"),
        ):
            with pytest.raises(error, match=said):
                sg.jvp(sg.custom(lambda x: 2 * x, jvp=wrong), (X,), (X,))

    def test_what_a_rule_gives_that_runs_as_it_is_is_checked_too(self):
        with pytest.raises(ArgumentTypeError, match="one gradient for each of the 2"):
            sg.grad(once(lambda x, y: x * y, lambda p, ct: ct), (0, 1))(X, X)
        with pytest.raises(ShapeError, match=r"adjoint gave an array of shape \(\)"):
            sg.grad(once(lambda x: x * 2, lambda p, ct: 1.0))(X)
        with pytest.raises(ArgumentTypeError, match="the jvp of f gave a tuple of 2; f gives an array"):
            sg.jvp(sg.custom(lambda x: x, jvp=sg.custom(lambda p, t: (t[0], t[0])), name="f"), (X,), (X,))

    def test_a_rule_that_cannot_be_traced_says_how(self):
        libm = ctypes.CDLL(None)
        libm.cos.restype, libm.cos.argtypes = ctypes.c_double, [ctypes.c_double]
        f = sg.custom(lambda x: x, vjp=lambda p, ct: ct * libm.cos(p[0]), name="f")
        with pytest.raises(TracingError, match=r"the vjp of f cannot be traced(.|\n)*vjp=sg\.custom\(rule\)"):
            sg.grad(f)(1.0)
        assert sg.grad(sg.custom(lambda x: x, vjp=sg.custom(f.vjp)))(1.0) == pytest.approx(np.cos(1.0))

    def test_rules_have_the_result_where_they_ask_for_it(self):
        exp = sg.custom(np.exp, jvp=lambda p, t, out: out * t[0], name="e")
        np.testing.assert_allclose(sg.grad(sg.grad(exp))(1.0), np.e)
        program = str(sg.grad(exp).program(1.0))
        assert program.count("e(x)") == 1

    def test_tangents_of_what_is_held_are_zeros_and_of_no_floats_none(self):
        seen = []
        f = sg.custom(lambda x, y, n, z: x * y * z, jvp=lambda p, t: seen.append(t) or t[0] * p[1] * p[3])
        assert sg.jvp(lambda x: f(x, 2.0, 3, np.float32(4)), (1.0,), (1.0,))[1] == 8
        _, by_y, by_n, by_z = seen[0]
        assert (by_y, by_n, by_z) == (0.0, None, 0.0)


class TestOrders:
    def test_what_is_not_declared_is_refused_by_name(self):
        plain = sg.custom(np.sin, name="plain")
        assert sg.symbolic(lambda x: plain(x) + x)(1.0) == np.sin(1.0) + 1
        with pytest.raises(
            MissingDerivative, match=r"the derivative of plain is not declared.*sg\.custom\(plain, jvp=…\)"
        ):
            sg.grad(plain)(1.0)

    def test_the_second_derivative_is_refused_where_one_is_declared(self):
        f = once(np.sin, lambda p, ct: ct * np.cos(p[0]), name="f")
        np.testing.assert_allclose(sg.grad(f)(X), slope(np.sin, X))
        for second in (sg.grad(sg.grad(f)), sg.hessian(f), lambda x: sg.hvp(f, (x,), (x,))):
            with pytest.raises(
                MissingDerivative, match="the second derivative of f is not declared: its vjp, adjoint,"
            ):
                second(X)

    def test_the_third_is_refused_where_two_are(self):
        def curvature(primals, tangents):
            (((x,), ct), ((dx,), dct)) = primals, tangents
            return (dct * np.cos(x) - ct * np.sin(x) * dx,)

        rule = sg.custom(lambda p, ct: (ct * np.cos(p[0]),), jvp=sg.custom(curvature), name="first")
        f = sg.custom(np.sin, vjp=rule, name="f")
        np.testing.assert_allclose(sg.hessian(lambda x: np.sum(f(x)))(X), np.diag(-np.sin(X)))
        np.testing.assert_allclose(sg.grad(sg.grad(f))(X), -np.sin(X))
        with pytest.raises(MissingDerivative, match="the third derivative of f is not declared: its jvp, curvature,"):
            sg.grad(sg.grad(sg.grad(f)))(1.0)

    def test_a_rule_of_a_rule_gives_the_gradient_by_the_cotangent_too(self):
        def back(primals, ct):
            (x,), seed = primals
            return ((-ct[0] * seed * np.sin(x),), None)

        f = sg.custom(np.sin, vjp=sg.custom(lambda p, ct: (ct * np.cos(p[0]),), vjp=back, name="first"), name="f")
        with pytest.raises(ArgumentTypeError, match="the vjp of first, which is the vjp of f, gave None"):
            sg.grad(sg.grad(lambda x: f(x) ** 2))(1.0)

    def test_nothing_is_needed_where_nothing_flows(self):
        count = sg.custom(lambda x: int(np.sum(x > 0.5)), name="count")
        level = sg.custom(np.max, name="level")
        f = lambda x: np.sum(np.where(x > 0.5 * level(x), x**2, x)) * count(x)  # noqa: E731
        np.testing.assert_allclose(sg.grad(f)(X), 2 * np.where(X > 0.55, 2 * X, 1))
        np.testing.assert_allclose(sg.jacfwd(f)(X), 2 * np.where(X > 0.55, 2 * X, 1))
        np.testing.assert_allclose(sg.hessian(f)(X), 4 * np.diag(X > 0.55))
        held = lambda x: x * sg.stop_gradient(level(x))  # noqa: E731
        np.testing.assert_allclose(sg.jacobian(held)(X), np.eye(3) * 1.1)

    def test_the_mode_that_an_opaque_rule_does_not_serve_takes_it_element_by_element(self):
        matrix = np.arange(6.0).reshape(2, 3) + 1
        product = lambda x: matrix @ x**2  # noqa: E731
        backward = once(product, lambda p, ct: 2 * p[0] * (ct @ matrix))
        forward = sg.custom(product, jvp=sg.custom(lambda p, t: matrix @ (2 * p[0] * t[0])))
        for f in (backward, forward):
            for mode in ("forward", "reverse", "cross", "auto"):
                np.testing.assert_allclose(sg.jacobian(f, mode=mode)(X), 2 * matrix * X)
            np.testing.assert_allclose(sg.grad(lambda x, f=f: np.sum(f(x)))(X), 2 * matrix.sum(0) * X)
            np.testing.assert_allclose(sg.jvp(f, (X,), (X,))[1], 2 * matrix @ X**2)
            np.testing.assert_allclose(sg.jacobian(f, sparse=True)(X).toarray(), 2 * matrix * X)
            np.testing.assert_allclose(sg.vmap(sg.jacobian(f))(np.stack([X, 2 * X]))[1], 4 * matrix * X)


def test_copies():
    gradient = sg.grad(scaled)
    np.testing.assert_array_equal(copy.deepcopy(gradient)(X), gradient(X))
    assert copy.copy(sine)(0.0) == 0


def test_exports_refuse_it_by_name():
    once_only = once(np.sin, lambda p, ct: ct * np.cos(p[0]), name="inner_flow")
    gradient = sg.grad(once_only)
    for name in ("python", "c", "jax", "torch", "numba", "numexpr", "json", "fortran", "julia", "sympy"):
        with pytest.raises(UnsupportedOperation, match="adjoint is a custom function, which runs as it is"):
            gradient.export(name, X)
    for name in ("text", "latex", "markdown", "mathml", "dot"):
        assert "adjoint" in gradient.export(name, X)
    assert "cos" in sg.grad(sine).export("python", X)  # the derivative does not call it
