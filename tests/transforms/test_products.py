"""jvp, vjp, hvp and the Jacobians: shapes, structures, aux, mistakes."""

import inspect
import re

import numpy as np
import pytest

import symgrad as sg
from symgrad import hessian, hvp, jacfwd, jacobian, jacrev, jvp, vjp
from symgrad.errors import ArgumentTypeError, SymgradError

X, Y = np.array([1.0, 2.0]), np.array([3.0, 5.0, 7.0])


def outer(x, y):
    return np.outer(x, y)


def several(x, y):
    return {"sum": np.sum(x) * np.sum(y), "pair": (x**2, np.outer(y, x))}


def test_jvp():
    out, pushed = jvp(lambda x: x**2, X, np.array([1.0, 10.0]))
    np.testing.assert_array_equal(out, X**2)
    np.testing.assert_array_equal(pushed, [2.0, 40.0])
    out, pushed = jvp(outer, (X, Y), (np.ones(2), np.zeros(3)))
    np.testing.assert_array_equal(pushed, [Y, Y])
    out, pushed, aux = jvp(lambda x: (x**2, x + 1, "kept"), X, X, has_aux=True)
    np.testing.assert_array_equal(pushed, 2 * X**2)
    np.testing.assert_array_equal(aux[0], X + 1)
    assert aux[1] == "kept"


def test_vjp():
    out, pullback = vjp(outer, X, Y)
    np.testing.assert_array_equal(out, np.outer(X, Y))
    weights = np.arange(6.0).reshape(2, 3)
    by_x, by_y = pullback(weights)
    np.testing.assert_array_equal(by_x, weights @ Y)
    np.testing.assert_array_equal(by_y, X @ weights)
    assert isinstance(vjp(np.sin, X)[1](X), tuple)
    out, pullback, aux = vjp(lambda x: (x**2, x + 1), X, has_aux=True)
    np.testing.assert_array_equal(pullback(np.ones(2))[0], 2 * X)
    np.testing.assert_array_equal(aux[0], X + 1)


def test_products_of_nested_structures():
    tangents = (np.ones(2), np.full(3, 2.0))
    out, pushed = jvp(several, (X, Y), tangents)
    assert out["sum"] == 3 * 15
    assert pushed["sum"] == 2 * 15 + 3 * 6
    np.testing.assert_array_equal(pushed["pair"][0], 2 * X)
    np.testing.assert_array_equal(pushed["pair"][1], np.outer(np.full(3, 2.0), X) + np.outer(Y, np.ones(2)))
    _, pullback = vjp(several, X, Y)
    by_x, by_y = pullback({"sum": 1.0, "pair": (np.ones(2), np.zeros((3, 2)))})
    np.testing.assert_array_equal(by_x, 15 + 2 * X)
    np.testing.assert_array_equal(by_y, [3.0] * 3)
    (by_list,) = vjp(lambda p: p[0] * p[1]["k"], [X, {"k": X}])[1](np.ones(2))
    np.testing.assert_array_equal(by_list[1]["k"], X)


def test_hvp():
    np.testing.assert_array_equal(hvp(lambda x: np.sum(x**3), X, X), 6 * X * X)
    by_x, by_y = hvp(lambda x, y: np.sum(outer(x, y) ** 2), (X, Y), (np.ones(2), np.zeros(3)))
    np.testing.assert_allclose(by_x, 2 * np.sum(Y**2) * np.ones(2))
    np.testing.assert_allclose(by_y, 4 * Y * X.sum())


@pytest.mark.parametrize("transform", [jacfwd, jacrev, jacobian])
def test_jacobians(transform):
    assert transform(outer)(X, Y).shape == (2, 3, 2)
    np.testing.assert_array_equal(transform(outer)(X, Y), np.einsum("ik,j->ijk", np.eye(2), Y))
    np.testing.assert_array_equal(transform(outer, 1)(X, Y), np.einsum("i,jk->ijk", X, np.eye(3)))
    by_x, by_y = transform(outer, (0, 1))(X, Y)
    assert (by_x.shape, by_y.shape) == ((2, 3, 2), (2, 3, 3))
    (alone,) = transform(outer, (0,))(X, Y)
    assert alone.shape == (2, 3, 2)
    np.testing.assert_array_equal(transform(lambda x: x * 0 + 1)(X), np.zeros((2, 2)))
    np.testing.assert_array_equal(transform(np.sum)(X), np.ones(2))
    assert transform(lambda x: x**2)(3.0) == 6.0
    assert transform(lambda x: x[:0])(X).shape == (0, 2)
    nested = transform(several, (0, 1))(X, Y)
    assert nested["sum"][1].shape == (3,)
    assert nested["pair"][1][0].shape == (3, 2, 2)
    np.testing.assert_array_equal(nested["pair"][0][0], np.diag(2 * X))
    tree = transform(lambda p: p["a"] * p["b"])({"a": X, "b": X + 1})
    np.testing.assert_array_equal(tree["a"], np.diag(X + 1))
    jac, aux = transform(lambda x: (x**2, x), has_aux=True)(X)
    np.testing.assert_array_equal(jac, np.diag(2 * X))
    np.testing.assert_array_equal(aux[0], X)


def test_hessians():
    assert hessian(lambda x: np.sum(x) ** 2)(np.ones((2, 3))).shape == (2, 3, 2, 3)
    np.testing.assert_array_equal(hessian(lambda x: np.sum(x) ** 2)(np.ones(2)), np.full((2, 2), 2.0))
    np.testing.assert_array_equal(hessian(lambda x: np.sum(x))(X), np.zeros((2, 2)))
    assert hessian(lambda x: x**3)(2.0) == 12.0
    tree = hessian(lambda p: np.sum(p["a"] ** 2 * p["b"]))({"a": X, "b": 3.0})
    np.testing.assert_array_equal(tree["a"]["a"], 6 * np.eye(2))
    np.testing.assert_array_equal(tree["a"]["b"], 2 * X)
    assert tree["b"]["b"] == 0.0
    (by_x, _), aux = hessian(lambda x, y: (x @ x * y.sum(), y), (0, 1), has_aux=True)(X, Y)
    np.testing.assert_array_equal(by_x[0], 30 * np.eye(2))
    np.testing.assert_array_equal(aux[0], Y)


MISTAKES = {
    "a vector too many": (lambda: jvp(np.sin, X, (X, X)), ValueError, "v holds 2 arrays for 1 inputs"),
    "v of another shape": (lambda: jvp(np.sin, X, Y), ValueError, r"v has shape \(3,\) and its input has shape \(2,\)"),
    "integer input": (lambda: jvp(np.sin, np.arange(2), X), TypeError, "input 0 has dtype int64"),
    "vjp of ints": (lambda: vjp(np.sin, 3), TypeError, "input 0 has dtype int64"),
    "ct of another shape": (lambda: vjp(np.sin, X)[1](Y), ValueError, r"sens has shape \(3,\)"),
    "has_aux": (lambda: jvp(np.sin, X, X, has_aux=0), TypeError, "has_aux must be True or False"),
    "one output": (lambda: vjp(np.sin, X, has_aux=True), ValueError, "two outputs or more"),
    "not a function": (lambda: vjp(X, X), TypeError, "fn must be a function"),
    "no position": (lambda: jacfwd(np.sin, None), ValueError, "at least one argument"),
    "negative position": (lambda: jacrev(np.sin, -1), ValueError, "negative"),
    "position too large": (lambda: hessian(lambda x: np.sum(x), 1)(X), ValueError, "grad_position 1 is out of range"),
    "integer argument": (lambda: jacobian(np.sin)(np.arange(2)), TypeError, "argument 0 has dtype int64"),
    "mode": (lambda: jacobian(np.sin, mode="back"), ValueError, "mode='back' is unknown"),
    "hvp of ints": (lambda: hvp(np.sum, np.arange(2), X), TypeError, "input 0 has dtype int64"),
    "hvp shapes": (lambda: hvp(np.sum, X, Y), ValueError, r"v has shape \(3,\)"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_at_the_door(name):
    mistake, error, message = MISTAKES[name]
    with pytest.raises(error, match=message) as caught:
        mistake()
    assert isinstance(caught.value, SymgradError)


def test_a_pullback_offers_what_a_derivative_does():
    x, y, v = np.array([1.0, 2.0]), np.array([3.0, 2.0]), np.array([0.5, -1.0])
    _, pullback = vjp(lambda x, y: x * np.sin(y), x, y)
    by_hand = v * np.sin(y), v * x * np.cos(y)
    assert str(pullback.closed_form(v)) == (
        "([v0*sin(inputs_10), v1*sin(inputs_11)], [inputs_00*v0*cos(inputs_10), inputs_01*v1*cos(inputs_11)])"
    )
    assert str(pullback.entry((1,), v)) == "v1*sin(inputs_11)"
    assert r"v \odot \sin" in pullback.latex(v)
    assert pullback.formulas(v).kind == "matrix"
    assert pullback.agreement(v).worst < 1e-12
    assert pullback.equals(lambda inputs, v: (v * np.sin(inputs[1]), v * inputs[0] * np.cos(inputs[1])), v)
    assert pullback.equals(pullback, v)
    for found in (pullback.kernel(v)(x, y, v), pullback(v)):
        np.testing.assert_allclose(found, by_hand)
    namespace = {}
    exec(pullback.export("python", v), namespace)  # what is exported is tested by running it
    np.testing.assert_allclose(namespace["vjp_f"]((x, y), v), by_hand)
    assert len(pullback.program(v).inputs) == 3


def test_a_pullback_has_what_shows_a_derivative():
    x, v = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    _, pullback = vjp(lambda x: np.where(x > 1.5, x**2, np.sin(x)), x)
    assert "x" in str(pullback.conditions(v))
    assert pullback.latex_rows(v)
    assert pullback.provenance(v=v)
    assert pullback.entry(index=(0,), v=v) == pullback.entry((0,), v)
    assert {"closed_form", "conditions", "steps"} <= set(dir(pullback))
    with pytest.raises(ArgumentTypeError, match="entry of a pullback takes index and v"):
        pullback.entry(v)
    with pytest.raises(ArgumentTypeError, match="latex of a pullback takes v"):
        pullback.latex()


def quadratic(x, A, b):
    return x @ A @ x + b * np.sum(x**3)


def test_the_product_by_the_first_argument_has_names_of_its_own():
    product, x, v, A = hvp(quadratic), np.ones(2), np.array([0.5, 0.1]), np.array([[1.0, 2.0], [0.0, 1.0]])
    np.testing.assert_allclose(product(x, v, A, 2.0), (A + A.T) @ v + 12 * x * v)
    assert str(product.formulas(x, v, A, 2.0)) == "Hv = (A + Aᵀ)v + 6b(x ⊙ v)"
    assert str(inspect.signature(product)) == "(x, v, A, b)"
    assert re.search(
        r"^def hvp_quadratic\(x: .*, v: .*, A: .*, b: ", product.export("python", x, v, A, 2.0), re.MULTILINE
    )
    assert str(hvp(lambda x, v: v * np.sum(x**3)).formulas(x, v, 2.0)) == "Hv = 6v(x ⊙ direction)"
    assert str(hvp(lambda x: np.sum(x**3)).formulas(x, v)) == "Hv = 6(x ⊙ v)"
    with pytest.raises(TypeError, match="a vector"):
        product(x)


def test_the_product_declares_the_sizes_of_the_function():
    product = hvp(sg.named(quadratic, x="n", A="n n"))
    for n in (2, 3):
        np.testing.assert_allclose(product(np.ones(n), np.arange(n) * 1.0, np.eye(n), 2.0), 14 * np.arange(n))
    with pytest.raises(ValueError, match="v of x"):
        product(np.ones(2), np.ones(3), np.eye(2), 2.0)
