"""What is shown of real numbers has the program's values at them, and is as short as without a library's guards."""

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.closed_form.reals import of_real_numbers
from symgrad.kernels.kernel import lower

special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")

X = np.array([-1.3, -0.2, 0.0, 0.4, 1.1, 2.5])
POSITIVE = np.array([0.1, 0.4, 1.0, 2.5])
#: how the normal distribution is written
NORMAL = {
    "ndtr": special.ndtr,
    "erf": lambda x: 0.5 * (1 + special.erf(x / np.sqrt(2))),
    "erf over two": lambda x: (special.erf(x * np.sqrt(0.5)) + 1) / 2,
    "scipy.stats": stats.norm.cdf,
}
CASES = {
    **{f"normal: {name}": (lambda x, cdf=cdf: x * cdf(x), X) for name, cdf in NORMAL.items()},
    "complement": (lambda x: 0.5 * (1 - special.erf(x / np.sqrt(2))), X),
    "erf of another": (lambda x: special.erf(x / np.sqrt(3)), X),
    "square over two": (lambda x: np.exp(-((x / np.sqrt(2)) ** 2)), X),
    "single": (lambda x: 0.5 * (1 + special.erf(x / np.sqrt(2))), X.astype(np.float32)),
    "density": (lambda x: stats.norm.logpdf(x, 0.3, 1.2), X),
    "a scale": (lambda x: stats.norm.pdf(0.4, x, np.abs(x)), X),
    "half line": (lambda x: stats.expon.pdf(x), X),
    "gamma": (lambda x: stats.gamma.logpdf(x, 2.5), POSITIVE),
    "log-normal": (lambda x: stats.lognorm.pdf(x, 0.5), POSITIVE),
    "student": (lambda x: stats.t.logpdf(x, 3), X),
    "quantile": (lambda x: stats.norm.ppf(x / 3), POSITIVE),
    "mass": (lambda x: stats.poisson.logpmf(2, x), POSITIVE),
    "bounds on either side": (lambda x: np.where((x > -np.inf) & (np.inf >= x), x * x, 3.0), X),
    "never": (lambda x: np.where((x >= np.inf) | (x < -np.inf), 3.0, x * x), X),
    "not": (lambda x: np.where(np.logical_not(x <= np.inf) | (x > 0.3), x, x * x), X),
    "cases in cases": (lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), x * np.sqrt(2) / np.sqrt(2)), X),
    "other cases in cases": (lambda x: np.where(x > 0, np.exp(np.where(x > 1, x, 1.0)), np.inf * (x > np.inf)), X),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_values_at_numbers_are_the_programs(name, order):
    function, x = CASES[name]
    for _ in range(order):
        function = sg.grad(function)
    program = sg.trace(function, x)
    made = of_real_numbers(program)
    with np.errstate(all="ignore"):
        wanted, got = (lower(p, "numpy")(x)[0] for p in (program, made))
    assert made.outputs[0].dtype == program.outputs[0].dtype
    assert made.outputs[0].shape == program.outputs[0].shape
    number = np.isfinite(wanted)
    assert number.any()
    np.testing.assert_allclose(got[number], wanted[number], rtol=3e-6 if x.dtype == np.float32 else 1e-12, atol=1e-15)


#: numbers that are no real ones stay as they are
APART = {
    "whole numbers": (lambda n: np.where(n < np.inf, -(2 * (3 * n)), 0), np.array([1, 2**53 + 1])),
    "a truth value": (lambda x: np.where(x < np.inf, np.array(True) * (2 * x), 0), X),
}


@pytest.mark.parametrize("name", APART)
def test_only_real_numbers_are_put_together(name):
    function, x = APART[name]
    program = sg.trace(function, x)
    (wanted,), (got,) = (lower(p, "numpy")(x) for p in (program, of_real_numbers(program)))
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", NORMAL)
def test_a_call_option_is_told_by_d1(name):
    def call(S, K, T, r, sigma):
        d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
        return S * NORMAL[name](d1) - K * np.exp(-r * T) * NORMAL[name](d1 - sigma * np.sqrt(T))

    def shown(derivative):
        return derivative.formulas(100.0, 95.0, 0.5, 0.02, 0.3).text_rows(["g"])[0].splitlines()[0]

    assert shown(sg.grad(call)) == "g = Φ(d1)"
    assert shown(sg.grad(call, grad_position=4)) == "g = S*sqrt(T)*φ(d1)"
    assert shown(sg.hessian(call, grad_position=0)) == "g = φ(d1)/(S*sqrt(T)*sigma)"


SHOWN = {
    "distribution": (stats.norm.cdf, "φ(x)"),
    "density": (stats.norm.logpdf, "-x"),
    "half line": (stats.expon.pdf, "Piecewise((-exp(-x), x >= 0), (0, True))"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_library_shows_its_formula_without_its_guards(name):
    function, wanted = SHOWN[name]
    assert sg.grad(lambda x: function(x)).formulas(0.3).text_rows(["g"]) == [f"g = {wanted}"]


def test_what_asks_for_missing_data_says_so():
    assert "not a number" in sg.grad(lambda x: np.nansum(x**2)).latex(np.array([1.0, np.nan]))


@pytest.mark.parametrize(("rowvar", "mean"), [(True, "X𝟏𝟏ᵀ"), (False, "𝟏𝟏ᵀX")])
def test_covariance_is_a_product_of_matrices(rowvar, mean):
    X = np.random.default_rng(0).standard_normal((3, 8) if rowvar else (8, 3))
    shown = sg.grad(lambda X: np.sum(np.cov(X, rowvar=rowvar) ** 2)).formulas(X).text_rows(["g"])
    assert shown == [f"g = 4/49 · MMᵀM\n  where M = X − 1/8 · {mean}"]


def put(S, K, T, r, sigma):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return K * np.exp(-r * T) * stats.norm.cdf(-d2) - S * stats.norm.cdf(-d1)


def test_what_is_left_of_the_normal_distribution_is_told_by_it_too():
    args = (100.0, 95.0, 0.5, 0.03, 0.2)
    derived = sg.grad(put, ("S", "K", "T", "r", "sigma"))
    assert derived.formulas(*args).text_rows(["S", "K", "T", "r", "sigma"])[:4] == [
        "S = -Φ(-d1)",
        "K = Φ(-d2)*exp(-T*r)",
        "T = K*(sigma*φ(d2)/sqrt(T) - 2*r*Φ(-d2))*exp(-T*r)/2",
        "r = -K*T*Φ(-d2)*exp(-T*r)",
    ]
    assert derived.agreement(*args).entries < 1e-12


def test_no_real_number_is_an_infinity():
    """What a partial of ``logaddexp`` asks of both is asked of none in a formula, as matrices or entries."""
    derived = sg.grad(lambda x: np.logaddexp(np.logaddexp(x[0], x[1]), x[2]))
    x = np.ones(3)
    assert "infty" not in derived.latex(x)
    assert "cases" not in derived.latex(x)
    assert not any(entry.has(sympy.Piecewise, sympy.oo) for entry in derived.closed_form(x))
    of_largest = sg.trace(lambda x: np.where(np.max(x) != -np.inf, x * x, 0.0), x)
    assert str(of_real_numbers(of_largest)) == str(sg.trace(lambda x: x * x, x))


@pytest.mark.parametrize(
    "fn",
    [
        lambda y, m: np.sum(np.where(np.isnan(y), 0.0, (y - m) ** 2)),
        lambda y, m: np.sum(np.where(np.isfinite(y), (y - m) ** 2, 0.0)),
        lambda y, m: np.sum(np.where(y == np.inf, m, (y - m) ** 2)),
        lambda y, m: np.nanmean(y) * m,
    ],
)
def test_what_a_user_asks_of_an_argument_stays(fn):
    """A formula without the mask holds nowhere where a value is missing."""
    program = sg.grad(fn, "m").program(np.array([1.0, np.nan, np.inf]), 0.5)
    asked = [n.primitive.name for n in program.nodes if n.primitive.name in ("isnan", "isfinite", "equal")]
    assert asked
    kept = of_real_numbers(program)
    assert [n.primitive.name for n in kept.nodes if n.primitive.name in ("isnan", "isfinite", "equal")] == asked


def masked(x, m):
    return np.log(np.sum(np.exp(np.where(m > 0, x, -np.inf))))


def causal(Q, K, V):
    S = np.where(np.tril(np.ones((4, 4))) > 0, Q @ K.T / np.sqrt(2), -1e9)
    P = np.exp(S)
    return np.sum((P / P.sum(-1, keepdims=True) @ V) ** 2)


def test_a_mask_stays_where_a_sum_reads_what_is_masked():
    """Of a softmax each element is made of all others, those that the mask leaves out too."""
    rng = np.random.default_rng(0)
    assert sg.grad(masked).agreement(np.array([0.1, 0.2, 0.3]), np.array([1, 0, 1])).worst < 1e-12
    args = tuple(rng.normal(size=(4, 2)) for _ in range(3))
    for position in (0, 2):
        derived = sg.grad(causal, position)
        assert derived.agreement(*args).worst < 1e-12
        shown = derived.formulas(*args).text_rows(["d"])[0]
        assert "where(c_1, " in shown


def test_what_holds_for_numbers_that_are_known_is_no_condition():
    stats = pytest.importorskip("scipy.stats")
    x = np.array([0.2, 0.5, 0.7])
    found = sg.grad(lambda a, x: np.sum(stats.beta.logpdf(x, a, 2.0))).formulas(1.5, x)
    assert str(found).startswith("∂f/∂a = [a > 0]·(")
