"""The distributions of ``scipy.stats``: SciPy's values, derivatives by points and by parameters, and the support."""

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.finite_differences import differences

stats = pytest.importorskip("scipy.stats")
Q = np.array([0.1, 0.35, 0.6, 0.85])
FAMILIES = {
    **dict.fromkeys(("norm", "uniform", "expon", "laplace", "logistic", "cauchy", "halfnorm", "halfcauchy"), ()),
    **dict.fromkeys(("gumbel_r", "gumbel_l", "rayleigh", "maxwell", "hypsecant", "moyal", "levy", "arcsine"), ()),
    "gamma": (2.3,),
    "beta": (2.1, 3.2),
    "t": (4.5,),
    "chi2": (3.2,),
    "f": (3.1, 5.2),
    "lognorm": (0.7,),
    "invgamma": (2.5,),
    "weibull_min": (1.7,),
    "weibull_max": (1.7,),
    "pareto": (2.5,),
    "chi": (2.2,),
    "genlogistic": (1.3,),
    "gompertz": (1.1,),
    "invweibull": (2.1,),
    "johnsonsu": (0.5, 1.2),
    "lomax": (2.1,),
    "burr12": (2.1, 3.2),
    "powerlaw": (1.5,),
    "nakagami": (1.3,),
    "genextreme": (0.2,),
}
METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
LOC, SCALE = 0.2, 1.3
#: densities alone: SciPy computes the others with functions that have no rule
DENSITIES = {"truncnorm": (-1.0, 2.0), "skewnorm": (1.5,), "exponnorm": (1.2,)}
#: shapes by which no derivative of the incomplete functions is known
CASES = [(n, m, s) for n, s in FAMILIES.items() for m in METHODS]
CASES += [(n, m, s) for n, s in DENSITIES.items() for m in ("pdf", "logpdf")]


def slopes(f, args, along):
    values, _, _ = differences(lambda *x: (f(*x),), [np.asarray(a) for a in args], [[np.asarray(d) for d in along]])
    return values[0]


@pytest.mark.parametrize(("name", "method", "shapes"), CASES, ids=[f"{n}-{m}" for n, m, _ in CASES])
def test_by_points_location_and_scale(name, method, shapes):
    family = getattr(stats, name)

    def f(x, loc, scale):
        return getattr(family, method)(x, *shapes, loc, scale)

    args = (Q if method in ("ppf", "isf") else family.ppf(Q, *shapes, LOC, SCALE), LOC, SCALE)
    along = (np.array([1.0, -0.5, 0.3, 0.7]), 0.3, 0.6)
    value, slope = sg.jvp(f, args, along)
    np.testing.assert_allclose(value, f(*args), rtol=1e-12)
    want = slopes(f, args, along)
    np.testing.assert_allclose(slope, want, rtol=1e-5, atol=1e-6)
    pulled = sg.vjp(f, *args)[1](np.ones(4))
    assert sum(np.sum(p * d) for p, d in zip(pulled, along, strict=True)) == pytest.approx(np.sum(want), rel=1e-5)


@pytest.mark.parametrize("name", [n for n, s in (FAMILIES | DENSITIES).items() if s])
@pytest.mark.parametrize("method", ["pdf", "logpdf"])
def test_densities_by_shapes(name, method):
    family, shapes = getattr(stats, name), (FAMILIES | DENSITIES)[name]
    x = family.ppf(Q, *shapes)

    def f(*shapes):
        return np.sum(getattr(family, method)(x, *shapes))

    got = sg.grad(f, tuple(range(len(shapes))))(*shapes)
    for k, slope in enumerate(got):
        along = [float(k == j) for j in range(len(shapes))]
        assert slope == pytest.approx(slopes(f, shapes, along), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", ["gamma", "beta", "uniform", "expon", "pareto"])
def test_outside_of_the_support_nothing_is_poisoned(name):
    family, shapes = getattr(stats, name), FAMILIES[name]
    x = np.array([-3.0, family.ppf(0.4, *shapes), 1e3 if name in ("beta", "uniform") else -1.0])
    for method, outside in (("logpdf", -np.inf), ("pdf", 0.0)):
        f = lambda x, scale, m=method: getattr(family, m)(x, *shapes, scale=scale)  # noqa: E731
        value, pull = sg.vjp(f, x, 1.1)
        np.testing.assert_allclose(value, f(x, 1.1), rtol=1e-14)
        assert value[0] == value[2] == outside
        by_x, by_scale = pull(np.ones(3))
        assert by_x[[0, 2]].tolist() == [0, 0]
        assert np.isfinite(by_scale)
    assert np.isnan(sg.symbolic(lambda s: family.logpdf(0.5, *shapes, scale=s))(-1.0))


def test_frozen_distributions():
    def f(mean, scale):
        normal = stats.norm(mean, scale=scale)
        return np.sum(normal.logpdf(Q)) + normal.cdf(0.3)

    got = sg.grad(f, (0, 1))(0.4, 1.2)
    for k, slope in enumerate(got):
        assert slope == pytest.approx(slopes(f, (0.4, 1.2), [float(k == 0), float(k == 1)]), rel=1e-6)


def test_a_frozen_distribution_with_a_scale_by_name():
    f = lambda s: stats.expon(scale=s).logpdf(0.7)  # noqa: E731
    assert sg.grad(f)(1.3) == pytest.approx(0.7 / 1.3**2 - 1 / 1.3, rel=1e-13)


DISCRETE = {"poisson": (2.3,), "bernoulli": (0.3,), "geom": (0.3,), "binom": (6, 0.3), "nbinom": (4, 0.3)}


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("method", ["pmf", "logpmf", "cdf", "sf"])
def test_discrete_families_by_their_parameter(name, method):
    family, (*counts, p) = getattr(stats, name), DISCRETE[name]
    k = np.array([-1, 0, 1, 1, 0] if name == "bernoulli" else [-1, 0, 1, 3, 5])
    f = lambda p: getattr(family, method)(k, *counts, p)  # noqa: E731
    value, slope = sg.jvp(f, (p,), (1.0,))
    np.testing.assert_allclose(value, f(p), rtol=1e-12)
    inside = np.isfinite(f(p))
    np.testing.assert_allclose(slope[inside], slopes(lambda p: f(p)[inside], (p,), (1.0,)), rtol=1e-6, atol=1e-7)
    assert not slope[~inside].any()


A = np.array([[2.0, 0.3], [0.3, 1.0]])
X = np.array([[0.3, 0.5], [1.0, -0.2], [0.1, 0.9]])
POSITIVE = np.abs(X) + 0.2
FUNCTIONS = {
    "multivariate_normal": (lambda x, m, c: stats.multivariate_normal.logpdf(x, m, c @ c.T), (X, X[0], A)),
    "its density": (lambda x, m: stats.multivariate_normal.pdf(x, m, A), (X[0], X[1])),
    "one variance": (lambda x: stats.multivariate_normal.logpdf(x, X[0], 1.3), (X,)),
    "one dimension": (lambda x: stats.multivariate_normal.logpdf(x, 0.3, 2.0), (X[:, 0],)),
    "frozen": (lambda x: stats.multivariate_normal(X[0], A).logpdf(x), (X,)),
    "multivariate_t": (lambda x, m, c, v: stats.multivariate_t.logpdf(x, m, c @ c.T, v), (X, X[0], A, 3.5)),
    "dirichlet": (lambda x, a: stats.dirichlet.logpdf(x[:2] / np.sum(x), a), (POSITIVE[:, 0], POSITIVE[:, 1])),
    "wishart": (lambda x, c: stats.wishart.logpdf(x @ x.T, 3.5, c @ c.T), (A, A + np.eye(2))),
    "zscore": (lambda x: stats.zscore(x, ddof=1), (X,)),
    "sem": (lambda x: stats.sem(x, axis=1), (X,)),
    "gmean": (lambda x: stats.gmean(x), (POSITIVE,)),
    "hmean": (lambda x: stats.hmean(x, axis=None), (POSITIVE,)),
    "skew": (lambda x: stats.skew(x), (X,)),
    "kurtosis": (lambda x: stats.kurtosis(x, axis=None), (X,)),
    "entropy": (lambda p: stats.entropy(p, base=2.0), (POSITIVE,)),
    "relative entropy": (lambda p, q: stats.entropy(p, q), (POSITIVE, POSITIVE[::-1].copy())),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    f, args = FUNCTIONS[name]
    rng = np.random.default_rng(3)
    along = tuple(rng.normal(size=np.shape(a)) for a in args)
    value, slope = sg.jvp(f, args, along)
    np.testing.assert_allclose(value, f(*args), rtol=1e-12, atol=1e-12)
    assert np.shape(value) == np.shape(f(*args))
    want = slopes(f, args, along)
    np.testing.assert_allclose(slope, want, rtol=1e-6, atol=1e-7)
    pulled = sg.vjp(f, *args)[1](np.ones(np.shape(value)))
    assert sum(np.sum(p * d) for p, d in zip(pulled, along, strict=True)) == pytest.approx(np.sum(want), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: stats.gamma.cdf(1.5, x), r"scipy\.special\.gammainc has no derivative rule in symgrad by its first"),
        (lambda x: stats.skewnorm.cdf(x, 1.5), r"scipy\.stats\.skewnorm\.cdf has no derivative rule"),
        (lambda x: stats.kendalltau(x * X[0], X[1])[0], r"scipy\.stats\.kendalltau has no derivative rule"),
    ],
)
def test_refused(call, said):
    with pytest.raises(UnsupportedOperation, match=said):
        sg.grad(call)(0.7)


SAMPLE, OTHER = np.array([0.5, 1.2, 2.3, 0.1]), np.array([1.0, 0.3, 2.0, 1.4])
SAMPLES = {
    "pearsonr": lambda x: stats.pearsonr(x, OTHER).statistic + stats.pearsonr(OTHER, x)[0],
    "spearmanr": lambda x: stats.spearmanr(x, OTHER).statistic * x[0],
    "linregress": lambda x: stats.linregress(x, OTHER).slope + stats.linregress(OTHER, x).stderr,
    "one sample": lambda x: stats.ttest_1samp(x, 0.5).statistic,
    "two samples": lambda x: stats.ttest_ind(x, OTHER, equal_var=False).statistic + stats.ttest_rel(x, OTHER).statistic,
    "describe": lambda x: stats.describe(x).variance + stats.describe(x).mean,
    "skew without bias": lambda x: stats.skew(x, bias=False) + stats.kurtosis(x, bias=False),
    "zscore": lambda x: (stats.zscore(x, nan_policy="omit") * OTHER).sum(),
    "ranks": lambda x: (stats.rankdata(x) * x).sum(),
    "density": lambda x: stats.gaussian_kde(x)([0.7, 0.2]).sum(),
    "density of points": lambda x: stats.gaussian_kde(OTHER)(x).sum(),
    "logarithm of a density": lambda x: stats.gaussian_kde(x, weights=[0.1, 0.2, 0.3, 0.4]).logpdf([0.7, 0.2]).sum(),
    "density in a plane": lambda x: stats.gaussian_kde(np.stack([x, OTHER + x**2]), 0.5)(np.ones((2, 3)) / 3).prod(),
    "frozen by its mean": lambda x: stats.multivariate_normal(x, np.eye(4) + 0.2).logpdf(OTHER),
    "frozen by its covariance": lambda x: stats.multivariate_normal(np.zeros(4), np.diag(x) + 0.1).pdf(OTHER),
}


#: families that SciPy writes by another formula where a shape is 0
SMOOTH = [
    *[("genextreme", m) for m in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")],
    *[("genpareto", m) for m in ("pdf", "logpdf", "cdf", "sf", "logsf", "ppf", "isf")],
    *[("skewnorm", m) for m in ("pdf", "logpdf")],
]


@pytest.mark.parametrize(("family", "method"), SMOOTH)
@pytest.mark.parametrize("shape", [0.0, 0.4, -0.3])
def test_slopes_by_a_shape_that_may_be_0(family, method, shape):
    places = np.array([0.2, 0.6, 0.9])
    if method not in ("ppf", "isf"):
        places = getattr(stats, family).ppf(places, shape)
    f = lambda c: getattr(getattr(stats, family), method)(places, c)  # noqa: E731
    np.testing.assert_allclose(sg.symbolic(f)(shape), f(shape), rtol=1e-13)
    np.testing.assert_allclose(sg.jacobian(f)(shape), (f(shape + 1e-4) - f(shape - 1e-4)) / 2e-4, 1e-6, 1e-7)
    curved = (sg.jacobian(f)(shape + 1e-5) - sg.jacobian(f)(shape - 1e-5)) / 2e-5
    np.testing.assert_allclose(sg.jacobian(sg.jacobian(f))(shape), curved, rtol=1e-5, atol=1e-6)


def test_ends_of_families_whose_shape_is_0():
    ends = np.array([-np.inf, np.inf, np.nan, 800.0])
    for family in ("genextreme", "genpareto", "skewnorm"):
        f = lambda x, family=family: getattr(stats, family).logpdf(x, 0.0)  # noqa: E731
        np.testing.assert_array_equal(sg.symbolic(f)(ends), f(ends))


#: covariances with eigenvalues that are equal, or all but equal
ALIKE = {
    "alike": lambda s: (1 - s) * np.eye(3) + s,
    "of one variance": lambda s: s * np.eye(3),
    "a number": lambda s: s**2,
    "of variances": lambda s: np.array([s, s, 1.0]),
}


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("at", [0.1, 0.3, 0.7])
def test_covariances_of_equal_eigenvalues(name, at):
    x, covariance = np.array([0.1, 0.2, 0.4]), ALIKE[name]
    frozen = lambda s: stats.multivariate_normal(np.zeros(3), covariance(s)).logpdf(x)  # noqa: E731
    called = lambda s: stats.multivariate_normal.logpdf(x, np.zeros(3), cov=covariance(s))  # noqa: E731
    for f in (frozen, called, lambda s: stats.multivariate_t.pdf(x, np.zeros(3), covariance(s) * np.eye(3), df=4.0)):
        assert sg.grad(f)(at) == pytest.approx((f(at + 1e-6) - f(at - 1e-6)) / 2e-6, rel=1e-7)


@pytest.mark.parametrize("name", SAMPLES)
def test_statistics_of_samples(name):
    f = SAMPLES[name]
    expect_slopes(sg.value_and_grad(f)(SAMPLE), f, SAMPLE)


#: moments, by location, scale and shapes
MOMENTS = {
    "norm": (lambda m, s: stats.norm.mean(m, s) + stats.norm.std(m, s) * stats.norm(m, s).var(), 0.1, 2.0),
    "lognorm": (lambda s, c: stats.lognorm.mean(s, scale=c) + stats.lognorm(s, scale=c).std(), 0.5, 2.0),
    "gamma": (lambda a, c: stats.gamma.mean(a, scale=c) * stats.gamma.var(a, scale=c), 1.5, 2.0),
    "weibull": (lambda c, s: stats.weibull_min.mean(c, 0, s) + stats.weibull_min(c).std(), 1.7, 0.4),
    "beta": (lambda a, b: stats.beta(a, b).mean() + stats.beta(a, b).std(), 1.5, 2.0),
    "a known shape": (lambda s, m: stats.gamma.std(2.5, scale=s) + stats.t(5, m, s).mean(), 0.3, 1.2),
    "counts": (lambda m, p: stats.poisson.mean(m) * stats.poisson(m).std() * stats.binom(7, p).var(), 3.2, 0.3),
    "an interval": (lambda m, s: stats.norm.interval(0.9, m, s)[0] * stats.norm(m, s).interval(0.5)[1], 0.1, 2.0),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_of_families(name):
    function, *point = MOMENTS[name]
    np.testing.assert_allclose(sg.symbolic(function)(*point), function(*point), rtol=1e-12)
    a, b = point
    h = 1e-5
    slopes = (function(a + h, b) - function(a - h, b)) / (2 * h), (function(a, b + h) - function(a, b - h)) / (2 * h)
    np.testing.assert_allclose(sg.grad(function, (0, 1))(a, b), slopes, rtol=1e-7)


def test_moments_that_scipy_integrates_are_refused():
    with pytest.raises(UnsupportedOperation, match=r"truncnorm have no derivative rule by its shape"):
        sg.grad(lambda b: stats.truncnorm.mean(-1.0, b))(1.3)
    with pytest.raises(UnsupportedOperation, match=r"poisson\.interval"):
        sg.grad(lambda m: stats.poisson.interval(0.9, m)[0])(1.3)
