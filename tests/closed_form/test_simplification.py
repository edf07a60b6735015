"""Shorter programs have the values of the longer ones, at kinks and ties too."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.closed_form.simplification import MAX_NODES, simplified
from symgrad.kernels.kernel import lower


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def cross_entropy(z, y):
    p = sigmoid(z)
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def black_scholes(S, K, T, r, sigma):
    special = pytest.importorskip("scipy.special")
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    return S * special.ndtr(d1) - K * np.exp(-r * T) * special.ndtr(d1 - sigma * np.sqrt(T))


D1 = "  where d1 = (T*(r + sigma**2/2) + log(S/K))/(sqrt(T)*sigma)"
OPTION = (100.0, 95.0, 0.5, 0.02, 0.3)
#: what is shown of a gradient, by which of the arguments
SHOWN = {
    "cross entropy": (cross_entropy, (np.array([0.3, -1.0, 2.0]), np.array([0.0, 1.0, 0.4])), 0, "σ(z) − y"),
    "of numbers": (cross_entropy, (0.3, 0.4), 0, "σ(z) - y"),
    "tangent": (lambda x: np.log(np.cos(x)), (0.5,), 0, "-tan(x)"),
    "power": (lambda x: x**x, (0.5,), 0, "x**x*(log(x) + 1)"),
    "quotient": (lambda x: (1 - x) / (1 + x), (0.5,), 0, "-2/(x + 1)**2"),
    "delta": (
        black_scholes,
        OPTION,
        0,
        "Φ(d1)\n" + D1,
    ),
    "vega": (
        black_scholes,
        OPTION,
        4,
        "S*sqrt(T)*φ(d1)\n" + D1,
    ),
}


def regression(w, X, y):
    return cross_entropy(X @ w, y)


def penalised(w, b, X, y):
    return cross_entropy(X @ w + b, y) / len(y) + 0.01 * np.sum(w**2)


def test_factors_that_stand_beside_a_matrix_are_shortened_together():
    args = np.ones(3), np.ones((50, 3)), np.full(50, 0.5)
    assert sg.grad(regression).formulas(*args).text_rows(["g"]) == ["g = Xᵀ(σ(Xw) − y)"]
    assert sg.grad(regression).formulas("d", "n d", "n").text_rows(["g"]) == ["g = Xᵀ(σ(Xw) − y)"]
    with_bias = sg.grad(penalised, (0, 1)).formulas(args[0], 0.5, *args[1:])
    assert with_bias.text_rows(["g", "h"]) == [
        "g = 1/50 · (w + Xᵀ(p − y))",
        "h = mean(p − y)\n  where p = σ(Xw + b𝟏)",
    ]


def test_factors_that_are_not_shorter_stay_as_they_are():
    program = sg.grad(lambda w, X, y: np.sum(np.sin(X @ w) * np.cos(y) * X[:, 0])).program("3", "n 3", "n")
    assert simplified(program) is program


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown(name):
    fn, args, by, text = SHOWN[name]
    assert sg.grad(fn, by).formulas(*args).text_rows(["g"]) == [f"g = {text}"]


#: gradients that look as if they were shorter, and are not where values are tied, or by a little
KEPT = {
    "a tie": lambda x: np.maximum(x, 0.0),
    "the norm at the origin": lambda x, y: np.hypot(x, y),
    "a small number": lambda x: np.log(x + 1e-14),
    "the square root of a square": lambda x: np.sqrt(x * x) * x,
    "a saturated function": lambda x: np.tanh(60 * x) * x,
}
POINTS = [0.0, 1.0, -1.0, 0.37, -2.2, 1e-14, 3e-3]


@pytest.mark.parametrize("name", KEPT)
def test_values_stay_what_they_are(name):
    fn = KEPT[name]
    count = fn.__code__.co_argcount
    program = sg.grad(fn, tuple(range(count))).program(*[0.5] * count)
    expect_alike(program, [[a] * count for a in POINTS] + [[a, 0.0][:count] for a in POINTS])


def expect_alike(program, points):
    shorter = simplified(program)
    kernels = lower(program, "numpy"), lower(shorter, "numpy")
    for point in points:
        with np.errstate(all="ignore"):
            old, new = (k(*[np.asarray(x, float) for x in point]) for k in kernels)
        for a, b in zip(old, new, strict=True):
            defined = np.isfinite(a)
            np.testing.assert_allclose(np.asarray(b)[defined], np.asarray(a)[defined], rtol=1e-9, atol=1e-12)
    return shorter


UNARY = [np.sin, np.cos, np.exp, np.tanh, np.sqrt, np.abs, lambda a: -a, lambda a: a**2, lambda a: 1 / (2 + a), sigmoid]
BINARY = [np.add, np.subtract, np.multiply, lambda a, b: a / (1.5 + b**2), np.maximum]


@given(st.data())
@settings(max_examples=40)
def test_random_gradients(data):
    plan = []
    for k in range(data.draw(st.integers(1, 6))):
        table = UNARY if data.draw(st.booleans()) else BINARY
        count = 1 if table is UNARY else 2
        operands = data.draw(st.lists(st.integers(0, k + 1), min_size=count, max_size=count))
        plan.append((table[data.draw(st.integers(0, len(table) - 1))], operands))

    def fn(x, y):
        values = [x, y]
        for operation, operands in plan:
            values.append(operation(*[values[k] for k in operands]))
        return np.sum(values[-1])

    rng = np.random.default_rng(0)
    program = sg.grad(fn, (0, 1)).program(np.ones(3), np.ones(3))
    points = [[rng.uniform(0.1, 2, 3), rng.uniform(-2, 2, 3)] for _ in range(3)]
    expect_alike(program, [*points, [np.array([0.0, 1.0, 0.5]), np.array([0.0, 1.0, 0.5])]])


def test_what_is_no_number_of_reals_is_left_alone():
    for fn, args in ((lambda z: np.real(z * np.conj(z)), (1 + 2j,)), (lambda x: np.cumsum(np.sort(x)), (np.ones(3),))):
        program = sg.symbolic(fn).program(*args)
        assert simplified(program) is program


def test_a_long_program_is_left_alone():
    def long(x):
        for k in range(MAX_NODES):
            x = np.sin(x) * (1.0 + k * 0.001) if k.bit_count() % 2 else np.cos(x) - x
        return x

    program = sg.symbolic(long).program(1.0)
    assert simplified(program) is program


def test_a_tie_that_no_point_has_is_kept():
    program = sg.grad(lambda x, y: np.maximum(x, y + 0.3), (0, 1)).program(1.0, 1.0)
    expect_alike(program, [(1.3, 1.0), (1.0, 1.0), (2.0, 1.0), (0.8, 0.5)])
    program = sg.grad(lambda x: np.sum(np.maximum(x, np.sin(x)))).program(np.ones(3))
    expect_alike(program, [(np.array([0.0, 1.0, -1.0]),)])


FAR = {
    "a maximum": lambda x: x * np.maximum(x + 3, 0),
    "both bounds": lambda x: x * np.minimum(np.maximum(x + 3, 0), 6),
    "root of a square": lambda x: x * np.sqrt((x + 3) ** 2),
    "root of its terms": lambda x: x * np.sqrt(x * x + 6 * x + 9),
    "far root": lambda x: x * np.sqrt((x - 150) ** 2),
    "by logarithms": lambda x: x * np.exp(0.5 * np.log((x + 3) ** 2)),
    "norm": lambda x: x * np.hypot(x + 3, 0),
    "half a norm": lambda x: x * np.hypot(0.5 * x - 4.5, 0),
    "sign": lambda x: x * np.copysign(x, x + 3),
    "size": lambda x: x * np.abs(x + 5),
    "turns": lambda x: x * np.arctan(np.tan(x / 2)),
    "angle": lambda x: x * np.arctan2(x, x + 4),
}


@pytest.mark.parametrize("name", FAR)
def test_kinks_far_from_the_points_that_are_drawn_are_seen(name):
    derived = sg.grad(FAR[name])
    (entry,) = derived.formulas(0.5).forms[0].ravel()
    told = sympy.lambdify("x", entry.xreplace({s: sympy.Symbol("x", real=True) for s in entry.free_symbols}), "mpmath")
    for x in (-151.3, -20.0, -6.2, -4.1, -3.3, -1.0, 0.7, 2.9, 6.4, 30.1, 149.0, 151.2):
        assert float(told(x)) == pytest.approx(derived(x), rel=1e-9), x
