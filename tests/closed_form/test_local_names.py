"""Values keep the names that the function's code gives them, where formulas are read faster so."""

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.transforms.shown import formulas_beside, shown_entry


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


def call(S, K, T, r, sigma):
    special = pytest.importorskip("scipy.special")
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return S * special.ndtr(d1) - K * np.exp(-r * T) * special.ndtr(d2)


def test_names_serve_all_outputs_together():
    found = sg.grad(call, (0, 1, 2, 3, 4)).formulas(100.0, 95.0, 0.5, 0.02, 0.3)
    assert found.text_rows(["S", "K", "T", "r", "sigma"]) == [
        "S = Φ(d1)",
        "K = -Φ(d2)*exp(-T*r)",
        "T = K*r*Φ(d2)*exp(-T*r) + S*sigma*φ(d1)/(2*sqrt(T))",
        "r = K*T*Φ(d2)*exp(-T*r)",
        "sigma = S*sqrt(T)*φ(d1)\n"
        "  where d1 = (T*(r + sigma**2/2) + log(S/K))/(sqrt(T)*sigma)\n"
        "  where d2 = d1 - sqrt(T)*sigma",
    ]


def attention(Q, K, V):
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True)
    return np.sum((weights @ V) ** 2)


def test_what_a_name_is_said_to_be_is_called_by_it():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(6, 8)), rng.normal(size=(7, 8)), rng.normal(size=(7, 4))
    found = sg.grad(attention, (0, 1, 2)).formulas(Q, K, V)
    rows = found.text_rows(["Q", "K", "V"])
    assert rows[2] == "V = 2 weightsᵀ weights V\n  where weights = softmax(√2/4 · QKᵀ, axis=1)"
    assert "softmax" not in rows[0]
    weights = np.exp(Q @ K.T / np.sqrt(8))
    known = {"Q": Q, "K": K, "V": V, "weights": weights / weights.sum(axis=1, keepdims=True)}
    for form, value in zip(found.forms, sg.grad(attention, (0, 1, 2))(Q, K, V), strict=True):
        np.testing.assert_allclose(form.evaluate(known), value, atol=1e-12)


def test_a_value_that_is_called_as_the_function_is_keeps_its_name():
    def forces(q):
        f = np.array([np.sin(q[0]), q[0] * q[1]])
        return np.exp(f) * f[::-1]

    x = np.array([0.5, 2.0])
    (row,) = sg.jacobian(forces).latex(x).split(r" \\[1ex] ")[1:]
    assert row.startswith("f &= ")
    assert sg.jacobian(forces).latex(x).startswith(r"\begin{aligned} \frac{\partial F}{\partial q} &=")
    assert sg.symbolic(forces).latex(x).startswith(r"\begin{aligned} F &=")


def test_a_function_of_f_is_called_otherwise():
    def wave(f, t):
        return np.sin(2 * np.pi * f * t)

    assert sg.symbolic(wave).latex(1.0, 2.0).startswith(r"\begin{aligned} F &=")
    assert r"\frac{\partial F}{\partial f}" in sg.grad(wave).latex(1.0, 2.0)


def test_a_name_that_is_not_bound_yet_is_no_error():
    shown = []

    def made():
        function = lambda x: np.sum(x**2) if len(x) else later(x)  # noqa: E731
        shown.append(sg.grad(function).latex(np.ones(3)))
        later = np.sum
        return later

    made()
    assert shown == [r"\begin{aligned} \frac{\partial f}{\partial x} &= 2 x \end{aligned}"]


def test_a_function_and_its_derivative_have_the_same_names():
    def loss(W1, b1, W2, b2, x, y):
        h = np.tanh(W1 @ x + b1)
        z = W2 @ h + b2
        return 0.5 * np.sum((z - y) ** 2)

    args = np.ones((5, 4)), np.ones(5), np.ones((2, 5)), np.ones(2), np.ones(4), np.ones(2)
    entry = shown_entry(sg.grad(loss), args, {})
    function, gradient = formulas_beside(entry, [entry.value, entry])
    where = ["  where h = tanh(W1 x + b1)", "  where z = W2 h + b2"]
    assert function.text_rows(["f"])[0].split("\n") == ["f = 1/2 · ‖z − y‖²", *where]
    assert gradient.text_rows(["g"])[0].split("\n") == ["g = (W2ᵀ (z − y) ⊙ (1 − h^⊙2))xᵀ", *where]
    (alone,) = formulas_beside(entry, [entry.value])
    assert [name for name, _ in alone.where] == ["z"]


def test_a_name_of_a_part_means_the_same_in_what_the_users_names_stand_for():
    def loss(W, gamma, X, y):
        h = X @ W
        hn = (h - h.mean(0)) / np.sqrt(h.var(0) + 1e-5)
        out = np.maximum(gamma * hn, 0)
        return np.mean((out.sum(1) - y) ** 2)

    rng = np.random.default_rng(0)
    args = rng.normal(size=(3, 4)), np.ones(4), rng.normal(size=(5, 3)), rng.normal(size=5)
    rows = "\n".join(sg.grad(loss, (0, 1)).formulas(*args).text_rows(["dW", "dg"]))
    said = dict(line.removeprefix("  where ").split(" = ", 1) for line in rows.splitlines() if "where" in line)
    told = [line for line in rows.splitlines() if line.startswith("  where ")]
    assert len({line.split(" = ")[0] for line in told}) == len({*told})
    assert said["hn"].startswith("G diag")


def test_a_helper_is_called_as_the_code_calls_it():
    """Where a value has a name there, no other one is made up for it."""

    def planar(p, z):
        u, w = p
        h = np.tanh(z @ w)
        return -np.sum(np.log(np.abs(1 + np.outer(1 - h**2, w) @ u)))

    rng = np.random.default_rng(0)
    args = rng.normal(size=(2, 3)), rng.normal(size=(4, 3))
    derived = sg.grad(planar, (0, 1))
    text = str(derived.formulas(*args))
    assert "  where h = tanh(zw)" in text
    assert "  where w = p[1,:]" in text
    assert derived.agreement(*args).worst < 1e-9
