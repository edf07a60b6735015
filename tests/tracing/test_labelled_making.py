"""Series and DataFrames that a traced function makes and writes into, against differences of pandas' own."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import TracingError, UnsupportedOperation

pd = pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")

X = np.array([1.0, 2.0, 4.0, 3.0])
KNOWN = pd.DataFrame({"t": np.arange(4.0), "g": list("abab"), "k": [0, 0, 1, 1]}, index=list("wxyz"))


class Model:
    """What holds a DataFrame."""

    data = KNOWN


def columns(x):
    df = pd.DataFrame({"a": x * 2, "b": np.arange(4.0)})
    df["c"] = df.a * df.b
    return df.c.sum() * df["a"].iloc[1]


def written(x):
    df = KNOWN.copy()
    df["y"] = df.t * x
    df["z"] = df["y"] ** 2
    return df.groupby("g")["z"].mean().sum() + df.groupby("k").y.sum().iloc[1]


def assigned(x):
    return KNOWN.assign(y=lambda df: df.t * x[0], z=x)[["y", "z"]].mean().sum()


def written_under_another_name(x):
    df = pd.DataFrame({"y": [0.0, 0.0, 0.0, 0.0]})
    other = df
    df["y"] = x
    return (other.y**2).sum()


def written_by_a_helper(x):
    def fill(df, values):
        df["y"] = values

    frames = {"first": Model.data.copy()}
    fill(frames["first"], x**2)
    frames["first"]["z"] = frames["first"].y * 3
    return frames["first"].z.sum()


def rows(x):
    made = [{"t": k, "y": x[k] * k} for k in range(3)]
    pairs = pd.DataFrame([(k, x[k] ** 2) for k in range(4)], columns=["k", "v"])
    df = pd.DataFrame(made)
    return (df.y * df.t).sum() + pairs.v.sum() * pairs["v"].iloc[1]


def of_a_matrix(x):
    df = pd.DataFrame(np.outer(x, x), columns=list("abcd")).rename(columns={"a": "A"})
    return df.A.sum() + df.cov().iloc[0, 1]


def series(x):
    s = pd.Series({"a": x[0], "b": x[1] * x[2]})
    picked = pd.Series({"a": x[0], "b": x[1]}, index=["b", "a"], name="p")
    s = s * (picked.iloc[0] + 1.0)
    same = pd.Series(5.0 * x[3], index=["a", "b"], name="s")
    return s["a"] * s.b + (s * same).sum() + pd.Series(pd.Series(x), index=[3, 2, 1, 9]).sum()


def together(x):
    first, second = pd.Series(x, index=list("abcd"), name="u"), pd.Series(x**2, index=list("bcde"), name="v")
    beside = pd.concat([first, second], axis=1).dropna()
    behind = pd.concat({"p": pd.DataFrame({"a": x}), "q": pd.DataFrame({"a": x * 2})})
    return (beside.u * beside.v).sum() + (behind.loc["q"].a ** 3).sum()


def in_order(x):
    df = pd.DataFrame({"a": x, "b": x**2, "n": list("zyxw")})
    down = df.sort_values("a", ascending=False, ignore_index=True)
    named = df.sort_values("n", ascending=False)
    s = pd.Series(x, index=list("abcd"))
    weights = np.arange(4.0)
    return (down.b * weights).sum() + (named.b * weights).sum() + s.nlargest(2).sum() * s[s.idxmin()]


CASES = [columns, written, assigned, written_under_another_name, written_by_a_helper]
CASES += [rows, of_a_matrix, series, together, in_order]


@pytest.mark.parametrize("fn", CASES, ids=lambda f: f.__name__)
def test_gradients_are_those_of_pandas_own_values(fn):
    before = KNOWN.copy()
    value_and_grad = sg.value_and_grad(fn)
    for x in (X, X[::-1] + 0.5):  # in another order
        value, gradient = value_and_grad(x)
        assert value == pytest.approx(fn(x), rel=1e-14)
        steps = 1e-5 * np.eye(4)
        differences = [(fn(x + h) - fn(x - h)) / 2e-5 for h in steps]
        np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-7)
    assert KNOWN.equals(before)


RETURNS = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 4)), columns=list("abcd"))
MEAN, COV = RETURNS.mean(), RETURNS.cov()
TEXTS = pd.DataFrame({"a": X, "n": list("pqrs")})
BESIDE = {
    "a Sharpe ratio": lambda w, mean, cov: np.sum(mean * w) * 252 / np.sqrt(np.dot(w.T, np.dot(cov, w)) * 252),
    "products": lambda w, mean, cov: w @ cov @ w + w @ mean + np.dot(mean, w) + mean @ cov @ w,
    "methods": lambda w, mean, cov: w.dot(cov.dot(w)) * cov.dot(cov).iloc[0, 1] + np.outer(w, w)[:2] @ mean @ w[:2],
    "matrices": lambda w, mean, cov: ((np.outer(w, mean) @ cov).iloc[0, 1] + (cov @ np.outer(w, w)).loc["b", 2]) * w[0],
    "functions of arrays": lambda w, mean, cov: (
        np.median(mean * w) + np.linalg.norm(mean * w) + np.einsum("i,ij,j->", w, cov, w) + np.sort(mean * w)[0]
    ),
    "functions that keep labels": lambda w, mean, cov: np.clip(mean * w, -0.2, 1)["b"] + np.cumsum(mean * w).iloc[2],
    "places between": lambda w, mean, cov: (
        np.interp(w, [0.0, 9.0], [1.0, 3.0]).sum() + np.interp(mean * w, np.arange(-1.0, 3.0), w).sum()
    ),
    "arrays joined": lambda w, mean, cov: (np.concatenate([mean * w, w]) ** 2).sum(),
    "systems": lambda w, mean, cov: (
        np.linalg.solve(cov, w).sum() + np.linalg.inv(cov)[0] @ w + np.linalg.det(cov * w[0])
    ),
    "densities": lambda w, mean, cov: stats.norm.pdf(mean * w).sum() + stats.norm.logpdf(mean - w[0], 0, 1).sum(),
    "what is missing": lambda w, mean, cov: (
        (mean * w).shift()[(mean * w).shift().notna()].sum() + (mean * w).isna().sum() * w[0]
    ),
    "elements": lambda w, mean, cov: (
        sum((mean * w).tolist()) * w[1] + sum(v**2 for _, v in (mean * w).items()) + (mean * w).to_dict()["c"]
    ),
    "statistics": lambda w, mean, cov: (
        (mean * w).agg(["mean", "std"]).sum() * (cov * w[0]).agg({"a": "sum", "b": "mean"})["b"]
    ),
    "windows": lambda w, mean, cov: (
        (mean * w).rolling(2).apply(lambda v: v.iloc[0] * v.iloc[1]).dropna().sum()
        + (mean * w).rolling(3).apply(np.prod, raw=True).iloc[-1]
    ),
    "itself later": lambda w, mean, cov: (mean * w).autocorr() + (mean * w).astype(float).between(-9, 9).sum() * w[2],
    "an index": lambda w, mean, cov: TEXTS.assign(z=TEXTS.a * w[0]).set_index("n").z["q"] ** 2,
    "rows by a function": lambda w, mean, cov: TEXTS.assign(z=TEXTS.a * w[0]).loc[lambda d: d.a > 1, "z"].sum(),
}


@pytest.mark.parametrize("name", BESIDE)
def test_arrays_beside_labels(name):
    fn, w = BESIDE[name], np.array([0.1, 0.5, 0.3, 0.2])
    steps = 1e-6 * np.eye(4)
    differences = [(fn(w + h, MEAN, COV) - fn(w - h, MEAN, COV)) / 2e-6 for h in steps]
    for found in (sg.grad(fn)(w, MEAN, COV), sg.grad(lambda w: fn(w, MEAN, COV))(w)):
        np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-7)


def test_jacobians_have_the_labels_of_what_was_made():
    value, _ = sg.value_and_grad(lambda x: pd.Series(x**2, index=list("abcd"), name="y"))(X)
    pd.testing.assert_series_equal(value, pd.Series(X**2, index=list("abcd"), name="y"))
    jacobian = sg.jacobian(lambda x: pd.Series(x**2, index=list("abcd")))(X)
    np.testing.assert_array_equal(jacobian, np.diag(2 * X))


def writes_into_what_it_holds(x):
    df = Model.data
    df["y"] = x
    return df.y.sum()


def writes_into_its_argument(df, x):
    df["y"] = x
    return df.y.sum()


def orders_what_is_missing(x):
    return pd.Series(x).shift(1).sort_values().iloc[0]


def test_what_is_not_the_functions_own_is_not_written_to():
    with pytest.raises(TracingError, match=r"from outside. Write into a copy\(\) of it"):
        sg.grad(writes_into_what_it_holds)(X)
    np.testing.assert_array_equal(sg.grad(writes_into_its_argument, 1)(KNOWN, X), np.ones(4))
    with pytest.raises(UnsupportedOperation, match="sort_values with NaN"):
        sg.grad(orders_what_is_missing)(X)
    with pytest.raises(UnsupportedOperation, match=r"Series\.idxmin with NaN"):
        sg.grad(lambda x: pd.Series(x).shift().idxmin() * x[0])(X)
    assert list(KNOWN.columns) == ["t", "g", "k"]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: pd.DataFrame({"a": x}, dtype=int).a.sum(),
        lambda x: pd.Series(x, dtype="int64").sum(),
        lambda x: pd.DataFrame([{"a": x[0]}, {"b": x[1]}]).a.sum(),
        lambda x: pd.Series(x).mode().sum(),
    ],
)
def test_what_has_no_rule_is_refused(fn):
    with pytest.raises(UnsupportedOperation, match=r"to_numpy|the same names"):
        sg.grad(fn)(X)


def test_single_precision_stays():
    x = X.astype(np.float32)
    for f in (lambda x: (pd.DataFrame({"a": x, "b": x * 2}) ** 2).sum().sum(), lambda x: pd.Series(x).shift(1).max()):
        value, gradient = sg.value_and_grad(f)(x)
        assert value.dtype == f(x).dtype == gradient.dtype == np.float32


@functools.singledispatch
def kind_of(value):
    return 1.0


@kind_of.register
def _(value: pd.Series):
    return 5.0


def matched(value):
    match value:
        case pd.DataFrame():
            return 2.0
        case pd.Series():
            return 3.0
    return 4.0


@pytest.mark.parametrize(
    "told",
    [
        lambda s: isinstance(s, pd.Series) + 2 * isinstance(s, (list, pd.DataFrame)) + 4 * isinstance(s, np.ndarray),
        lambda s: type(s) is pd.Series,
        lambda s: s.__class__.__name__ == "Series",
        lambda s: type(s.to_frame()) is pd.DataFrame and type(s.sum()) is not pd.Series,
        lambda s: (
            hasattr(s, "iloc") + 2 * hasattr(s, "none") + 4 * hasattr(s, "rank") + 8 * hasattr(s.to_frame("c"), "c")
        ),
        lambda s: kind_of(s),
        lambda s: matched(s) + 10 * matched(s.to_frame()),
    ],
)
def test_code_that_asks_what_it_has_gets_the_class_of_pandas(told):
    for f, given in ((lambda x: told(pd.Series(x)) * np.sum(x), X), (lambda s: told(s) * s.sum(), pd.Series(X))):
        value, gradient = sg.value_and_grad(f)(given)
        assert value == f(given)
        np.testing.assert_array_equal(gradient, np.full(4, float(told(pd.Series(X)))))
