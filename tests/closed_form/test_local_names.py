"""Values keep the names that the function's code gives them, where formulas are read faster so."""

import numpy as np
import pytest
import sympy

import symgrad as sg


def normalised(x):
    mu = np.mean(x)
    xhat = x - mu
    return np.sum(np.sin(xhat) * np.exp(xhat) * np.log(1 + xhat**2))


def orbit(t, a, e):
    anomaly = t * np.sqrt(a) / (1 + e * np.cos(t) ** 2)
    return np.sin(anomaly) * np.exp(anomaly) + anomaly**2


def rebound(x):
    y = np.sin(x) * np.exp(x) + np.cos(x * x)
    y = np.sin(y) * np.exp(y) + np.cos(y * y)
    return y * y * np.log(y)


def short(x):
    y = 2 * x
    return np.sin(y)


def text(derived, *args):
    return derived.formulas(*args).text_rows(["g"])[0]


def test_what_occurs_several_times_is_named():
    shown = text(sg.grad(orbit), 1.0, 2.0, 0.3)
    first, *where = shown.split("\n")
    assert "anomaly" in first
    assert where == ["  where anomaly = sqrt(a)*t/(e*cos(t)**2 + 1)"]


def test_of_matrices_too():
    found = sg.grad(normalised).formulas(np.arange(5.0))
    assert found.kind == "matrix"
    assert [name for name, _ in found.where] == ["xhat"]
    assert r"\mathit{xhat} &= " in sg.grad(normalised).latex(np.arange(5.0))


def test_what_is_short_is_written_out():
    assert text(sg.grad(short), 1.0) == "g = 2*cos(2*x)"


def test_a_name_that_is_bound_twice_is_none():
    assert sg.grad(rebound).formulas(0.7).where == ()


def test_an_argument_keeps_its_name():
    def f(x, y):
        z = x * np.sin(y) + np.cos(x)
        x = np.exp(z) * z * np.log(z)
        return x * x * z

    found = sg.grad(f).formulas(0.7, 0.3)
    assert "x" not in [name for name, _ in found.where]


def test_the_latest_trace_is_shown_without_arguments():
    g = sg.grad(orbit)
    g(1.0, 2.0, 0.3)
    assert "anomaly" not in g.latex()
    assert "anomaly" in g.latex(1.0, 2.0, 0.3)


@pytest.mark.parametrize("derive", [sg.grad, sg.value_and_grad, sg.hessian])
def test_formulas_with_names_have_the_value_of_the_kernel(derive):
    """Names filled in, a formula is the derivative."""
    args = (1.0, 2.0, 0.3)
    found = derive(orbit).formulas(*args)
    known = {sympy.Symbol(n, real=True): v for n, v in zip("tae", args, strict=True)}
    for name, form in found.where:
        known[sympy.Symbol(name, real=True)] = float(form.forms[0].item().subs(known))
    numbers = [float(form.item().subs(known)) for form in found.forms]
    np.testing.assert_allclose(numbers, np.ravel(derive(orbit)(*args)), rtol=1e-12)
