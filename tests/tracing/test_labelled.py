"""Series and DataFrames of pandas and DataArrays of xarray, as arguments and beside them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DtypeError, ShapeError, SymgradError, TracingError, UnsupportedOperation

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

RNG = np.random.default_rng(5)
ROWS = pd.date_range("2024-01-01", periods=6)
FRAME = pd.DataFrame(RNG.normal(size=(6, 2)), columns=["price", "volume"], index=ROWS)
SERIES = pd.Series(RNG.normal(size=6), index=ROWS, name="target")
GRID = xr.DataArray(RNG.normal(size=(2, 3)), dims=("time", "x"), coords={"time": [10, 20]}, name="T")
W = np.array([0.3, -0.4])


def differences(f, value, step=1e-6):
    """The gradient by central differences, as an array."""
    base = np.array(value, float)
    made = np.zeros(base.shape)
    for at in np.ndindex(base.shape):
        ends = []
        for sign in (1, -1):
            moved = base.copy()
            moved[at] += sign * step
            ends.append(float(np.sum(f(value * 0 + moved))))
        made[at] = (ends[0] - ends[1]) / (2 * step)
    return made


def check(f, value):
    before = value.copy(deep=True)
    result, gradient = sg.value_and_grad(f)(value)
    np.testing.assert_allclose(result, f(value), rtol=1e-12)
    assert type(gradient) is type(value)
    np.testing.assert_allclose(np.asarray(gradient), differences(f, value), rtol=1e-5, atol=1e-7)
    assert value.equals(before)
    if isinstance(value, xr.DataArray):
        assert gradient.dims == value.dims
        assert gradient.coords.to_dataset().identical(value.coords.to_dataset())
    else:
        assert all(a.identical(b) for a, b in zip(gradient.axes, value.axes, strict=True))
    assert getattr(gradient, "name", None) == getattr(value, "name", None)
    return gradient


SERIES_PROGRAMS = {
    "squares": lambda s: (s**2).sum(),
    "numpy's functions": lambda s: np.sum(np.exp(-(s**2)) * np.sin(s)),
    "its values": lambda s: np.sum(np.tanh(s.values) ** 2),
    "as an array": lambda s: np.sum(s.to_numpy()[1:] * s.to_numpy()[:-1]),
    "the mean": lambda s: (2.0 * s - 1.0).mean() ** 2,
    "numpy's mean": lambda s: np.mean(np.log(1 + s**2)),
    "beside a constant": lambda s: ((s - SERIES) * (SERIES + 1.0)).sum() + (s * s).sum(),
    "a constant first": lambda s: np.sum((SERIES - 2 * s) ** 2),
    "beside an array": lambda s: (s * np.arange(6.0)).sum() + (np.arange(6.0) / (s**2 + 1)).sum(),
    "the dot product": lambda s: s @ np.arange(6.0) + s.dot(s),
    "signs": lambda s: (-s).sum() + abs(s).sum(),
    "its length": lambda s: s.sum() / len(s) * s.size * s.shape[0],
}
FRAME_PROGRAMS = {
    "a linear model": lambda X: ((X @ W - SERIES) ** 2).sum(),
    "a column": lambda X: (X["price"] * X["volume"]).sum(),
    "columns and NumPy": lambda X: np.sum(np.sqrt(X["price"] ** 2 + 1) * SERIES),
    "its values": lambda X: np.sum((X.values @ W) ** 2),
    "as an array": lambda X: np.sum(np.tanh(X.to_numpy().T @ X.to_numpy())),
    "elementwise": lambda X: np.sum((np.exp(X) * 2 - 1).to_numpy() ** 2),
    "by columns": lambda X: np.sum((X * np.array([1.0, 3.0])).to_numpy() ** 2),
}
GRID_PROGRAMS = {
    "squares": lambda d: (d**2 + np.sin(d)).sum(),
    "the mean": lambda d: float_like(np.mean(d * 2)),
    "beside a constant": lambda d: ((d - GRID) ** 2 + d * GRID).sum(),
    "values": lambda d: np.sum(d.values @ np.arange(3.0)),
}


def float_like(value):
    return value


@pytest.mark.parametrize("name", SERIES_PROGRAMS)
def test_a_series(name):
    check(SERIES_PROGRAMS[name], SERIES * 1.5 + 0.25)


@pytest.mark.parametrize("name", FRAME_PROGRAMS)
def test_a_frame(name):
    check(FRAME_PROGRAMS[name], FRAME)


@pytest.mark.parametrize("name", GRID_PROGRAMS)
def test_a_data_array(name):
    check(GRID_PROGRAMS[name], GRID * 1.5)


def test_labels_of_this_call_are_given_back():
    g = sg.grad(lambda s: (s**3).sum())
    for index in (
        list("abcdef"),
        range(6),
        pd.MultiIndex.from_product([[1, 2], [3, 4, 5]]),
        pd.Index([1.0] * 6, name="k"),
    ):
        s = pd.Series(np.arange(6.0), index=index, name="n")
        assert g(s).index.identical(s.index)
    renamed = SERIES.rename("other")
    assert g(renamed).name == "other"
    assert g(renamed).index.identical(ROWS)


def test_the_same_labels_are_the_same_trace():
    g = sg.grad(lambda s: (s**2).sum())
    g(SERIES)
    first = g.kernel()
    np.testing.assert_allclose(g(SERIES * 3), 6 * SERIES)
    assert g.kernel() is first


def test_missing_values_are_left_out_as_pandas_does():
    s = SERIES.copy()
    s.iloc[2] = np.nan
    for f in (lambda s: s.sum(), lambda s: s.mean(), lambda s: np.sum(s * 2)):
        value, gradient = sg.value_and_grad(f)(s)
        np.testing.assert_allclose(value, f(s))
        assert gradient.iloc[2] == 0


def test_jacobians_and_hessians_are_arrays():
    assert sg.jacobian(lambda s: s.values**2)(SERIES).shape == (6, 6)
    assert sg.hessian(lambda s: (s**2).sum())(SERIES).shape == (6, 6)
    doubled = sg.symbolic(lambda s: s * 2)(SERIES)
    pd.testing.assert_series_equal(doubled, SERIES * 2)


def test_products_with_labels():
    _, pushed = sg.jvp(lambda s: (s**2).sum(), (SERIES,), (SERIES,))
    np.testing.assert_allclose(pushed, 2 * (SERIES**2).sum())
    (pulled,) = sg.vjp(lambda s: (s**2).sum(), SERIES)[1](1.0)
    pd.testing.assert_series_equal(pulled, 2 * SERIES)


def test_data_in_dataclasses_and_dicts():
    @dataclass
    class Fit:
        data: Any
        weights: np.ndarray

    fit = Fit(FRAME, W)
    g = sg.grad(lambda f: ((f.data @ f.weights) ** 2).sum())(fit)
    assert g.data.columns.tolist() == ["price", "volume"]
    np.testing.assert_allclose(g.weights, 2 * FRAME.values.T @ (FRAME.values @ W))
    np.testing.assert_allclose(sg.grad(lambda d: d["s"].sum())({"s": SERIES})["s"], 1.0)
    assert replace(fit, data=None).data is None


def test_weights_beside_a_frame_that_is_not_differentiated_by():
    g = sg.grad(lambda w, X, y: ((X @ w - y) ** 2).sum())
    np.testing.assert_allclose(g(W, FRAME, SERIES), 2 * FRAME.values.T @ (FRAME.values @ W - SERIES.values))


OTHER = pd.Series(RNG.normal(size=5), index=ROWS[:0:-1], name="other")
SERIES_METHODS = {
    "deviations": lambda s: s.std() * s.var() + np.std(s) + np.var(s, ddof=1),
    "extremes": lambda s: s.max() * s.min() + s.median() * s.prod(),
    "places": lambda s: s.iloc[0] * s.iloc[-1] + (s.iloc[1:4] ** 2).sum() + s.iat[2],
    "labels": lambda s: s[ROWS[0]] * s.loc[ROWS[2]] + (s.loc[ROWS[1] : ROWS[3]] ** 3).sum(),
    "heads and tails": lambda s: (s.head(3).to_numpy() * s.tail(3).to_numpy()).sum() + s.iloc[::-1].iloc[0],
    "a mask": lambda s: (s[s > 0] ** 2).sum() + s.loc[(s < 1) & ~(s < 0)].sum(),
    "differences": lambda s: (s.diff().dropna() ** 2).sum() + (s.diff(2) ** 2).sum(),
    "returns": lambda s: (s.pct_change() ** 2).sum() + (s * s.shift(1)).sum() + (s * s.shift(-1, fill_value=0.5)).sum(),
    "cumulated": lambda s: (s.cumsum() * s.cumprod()).sum(),
    "windows": lambda s: (
        s.rolling(2).mean().dropna().prod() + (s.rolling(3).std() ** 2).sum() + s.rolling(9).max().sum()
    ),
    "choices": lambda s: (
        s.where(s > 0, 0.0).sum() ** 2 + s.mask(s > 0, -s).sum() + (s.clip(-0.5, upper=0.7) ** 2).sum()
    ),
    "aligned": lambda s: ((s * OTHER) ** 2).sum() + (OTHER - s).mean() + (s / OTHER.iloc[:2]).fillna(2.0).sum(),
    "by methods": lambda s: s.add(1.0).mul(s).sub(OTHER).div(2.0).pow(2).sum() + s.abs().sum(),
    "one by one": lambda s: s.apply(lambda v: v * v).sum() + sum(v**3 for v in s) + s.apply(np.exp).sum(),
    "in another order": lambda s: (s.sort_index(ascending=False).to_numpy() * np.arange(6.0)).sum(),
    "reindexed": lambda s: s.reindex([ROWS[1], pd.Timestamp("2030-01-01")]).sum() ** 2 + s.rename("n").sum(),
    "groups by functions": lambda s: (
        (s.groupby([0, 1, 0, 1, 2, 2]).agg(lambda g: (g**2).sum() / len(g)) ** 2).sum()
        + (s.groupby([0, 1, 0, 1, 2, 2]).apply(lambda g: g.mean()) * s.groupby([0, 1, 0, 1, 2, 2]).size()).sum()
    ),
    "several statistics of groups": lambda s: (s.groupby([0, 1, 0, 1, 2, 2]).agg(["mean", "sum"])["sum"] ** 2).sum(),
    "groups": lambda s: (s.groupby([0, 1, 0, 1, 2, 2]).mean() ** 2).sum() + s.groupby(ROWS.month).sum().prod(),
    "groups one by one": lambda s: sum(k * g.mean() ** 2 for k, g in s.groupby([3, 1, 3, 1, 2, 2])) + s.iloc[0],
    "within groups": lambda s: ((s - s.groupby([0, 1, 0, 1, 2, 2]).transform("mean")) ** 2).sum() * s.iloc[1],
    "asked of labels": lambda s: s.sum() if ROWS[0] in s and 0.25 not in s else s.mean(),
    "averages": lambda s: (s.ewm(span=3, min_periods=2).mean().dropna() ** 2).sum() + s.expanding().mean().prod(),
    "by days": lambda s: (
        (s.resample("2D").mean() ** 2).sum() + s.resample("4D").sum().prod() + s.resample("3D").last().prod()
    ),
    "quantiles and extremes so far": lambda s: s.quantile(0.3) + (s / s.cummax() - s.cummin()).sum() + s.quantile(),
    "covariances": lambda s: s.cov(OTHER) + s.diff().corr(s.shift(1)) + s.agg("mean") * s.corr(s**2),
    "piped": lambda s: s.pipe(lambda v: v**2).sum() * len(s.index),
}


def _with_columns(X):
    made = X.copy()
    made["both"] = X["price"] * X["volume"]
    made["one"] = 1.0
    made["price"] = made["price"] - made["both"].mean()
    made["lag"] = X["price"].shift(1)
    return (made.dropna().to_numpy() ** 2).sum() + made["lag"].iloc[1] + len(X.columns)


FRAME_METHODS = {
    "sums of columns": lambda X: (X.sum() ** 2).sum() + np.sum(X, axis=0).prod(),
    "normalised": lambda X: (((X - X.mean()) / X.std()) ** 3).sum().sum(),
    "along rows": lambda X: X.sum(axis=1).prod() + X.mean(axis="columns").std() + X.max(axis=1).sum(),
    "columns": lambda X: (X[["volume", "price"]].to_numpy() * np.arange(12.0).reshape(6, 2)).sum(),
    "rows": lambda X: X.iloc[0].prod() + X.loc[ROWS[2], "price"] * X.iloc[1, 1] + (X.iloc[2:, 0] ** 2).sum(),
    "some rows": lambda X: (X[X["price"] > 0]["volume"] ** 2).sum() + X.loc[X.volume < 0, "price"].sum(),
    "transposed": lambda X: (X.T @ np.arange(6.0)).prod() + (X.T.iloc[0] ** 2).sum(),
    "a row beside each": lambda X: (
        ((X - X.iloc[0]) ** 2).to_numpy().sum() + X.sub(X.mean(axis=1), axis=0).iloc[0, 0] ** 2
    ),
    "weights with labels": lambda X: ((X @ pd.Series(W, index=["price", "volume"]) - SERIES) ** 2).sum(),
    "new columns": lambda X: (X.assign(both=X.price * X.volume, one=1.0, less=lambda d: d.both - 1)["less"] ** 2).sum(),
    "windows": lambda X: (X.rolling(2).sum().dropna() ** 2).sum().sum() + X.cumsum().iloc[-1].prod(),
    "groups": lambda X: (
        (X.groupby([0, 0, 1, 1, 0, 2])["price"].std().fillna(0.0) ** 2).sum()
        + X.groupby(ROWS.day % 2).mean().sum().sum()
    ),
    "groups one by one": lambda X: sum(
        len(g.index) * (g["price"] * g.volume).sum() for _, g in X.groupby([0, 0, 1, 1, 0, 2])
    ),
    "groups of two columns": lambda X: (
        (X.assign(a=[1, 1, 2, 2, 1, 1], b=[0, 0, 0, 1, 1, 1]).groupby(["a", "b"])["price"].mean() ** 2).sum()
        + sum(k[0] * g.price.prod() for k, g in X.assign(a=[1, 1, 2, 2, 1, 1]).groupby(["a"]))
        + (X.price * X.assign(a=[1, 1, 2, 2, 1, 1]).groupby("a").price.transform("mean") * X.volume).sum()
    ),
    "named statistics of groups": lambda X: (
        X.assign(a=[1, 1, 2, 2, 1, 1]).groupby("a").agg(m=("price", "mean"), s=("volume", "sum")).prod(axis=1).sum()
        + X.assign(a=[1, 1, 2, 2, 1, 1]).groupby("a").apply(lambda g: (g.price * g.volume).sum()).prod()
        + X.assign(a=[1, 1, 2, 2, 1, 1]).groupby("a").apply(lambda g: g.to_numpy().sum()).prod()
        + X.groupby([1, 1, 2, 2, 1, 1]).agg(lambda c: (c**2).sum()).prod(axis=1).sum()
    ),
    "groups of a column": lambda X: (
        (X.assign(day=(ROWS.day % 2).to_numpy()).groupby("day").agg({"price": "sum"})["price"] ** 2).sum()
        + sum(g["day"].sum() * g["price"].max() for _, g in X.assign(day=(ROWS.day % 2).to_numpy()).groupby("day"))
        + (X.groupby(ROWS.day % 2).transform("std") * X).to_numpy().sum()
        + X.groupby(ROWS.day % 2)["price"].agg("max").sum() ** 2
    ),
    "covariances": lambda X: X.cov().to_numpy()[0, 1] * X.corr().iloc[0, 1] + X.diff().cov().sum().prod(),
    "quantiles": lambda X: X.quantile(0.4).prod() + X.ewm(alpha=0.3).mean().iloc[-1].sum(),
    "applied": lambda X: (
        X.apply(lambda c: c.max() - c.min()).prod() + X.apply(lambda r: r.price * r["volume"], axis=1).sum()
    ),
    "row by row": lambda X: (
        sum((row["price"] * W[0] - row.volume) ** 2 for _, row in X.iterrows())
        + sum(row.price * row.volume**2 for row in X.itertuples())
        + sum(c.std() for _, c in X.items())
    ),
    "written": lambda X: _with_columns(X),
    "stacked": lambda X: (X.stack().iloc[::3] ** 2).sum() + X.drop(columns="price").squeeze().sum(),
}
LINE = xr.DataArray(RNG.normal(size=3), dims="x")
GRID_METHODS = {
    "along a dimension": lambda d: (
        (d.mean("time") ** 2).sum() + d.sum(dim="x").prod() + d.std("x").sum() + d.max(("time", "x"))
    ),
    "places": lambda d: (d.isel(x=0) ** 2).sum() + d.sel(time=20).prod() + d[0, 1] * d[1, -1] + d.isel(x=[0, 2]).sum(),
    "broadcast": lambda d: ((d * LINE) ** 2).sum() + (d.isel(time=0) - LINE).prod(),
    "products": lambda d: d.dot(LINE).prod() + (d @ d.isel(time=0)).sum(),
    "transposed": lambda d: (d.T * np.arange(6.0).reshape(3, 2)).sum() + d.transpose("x", "time").isel(x=1).prod(),
    "differences": lambda d: (d.diff("x") ** 2).sum() + (d.cumsum("x") ** 2).sum() + (d.shift(x=1) * d).sum(),
    "where": lambda d: d.where(d > 0, 0.0).sum() ** 2 + d.clip(max=0.5).sum(),
    "coordinates": lambda d: (d * d.time).sum() + (d.x.size if "x" in d.coords else 0.0) * d[0, 0],
    "rows": lambda d: sum((row**2).sum() for row in d) + d.roll(x=1).isel(x=0).prod() * d.sizes["x"],
}


@pytest.mark.parametrize("name", SERIES_METHODS)
def test_methods_of_a_series(name):
    check(SERIES_METHODS[name], SERIES * 1.5 + 0.25)


@pytest.mark.parametrize("name", FRAME_METHODS)
def test_methods_of_a_frame(name):
    check(FRAME_METHODS[name], FRAME * 1.2 + 0.1)


@pytest.mark.parametrize("name", GRID_METHODS)
def test_methods_of_a_data_array(name):
    check(GRID_METHODS[name], GRID * 1.5)


def test_results_have_the_labels_that_pandas_gives():
    for f in (
        lambda X: X - X.mean(),
        lambda X: X.mean(axis=1),
        lambda X: X.std(),
        lambda X: X["price"].diff(),
        lambda X: X["price"] * OTHER,
        lambda X: X.groupby([0, 0, 1, 1, 0, 2]).sum(),
        lambda X: X.iloc[1:, :1].T,
        lambda X: X.assign(total=X.sum(axis=1), other=OTHER, last=lambda d: d.total.iloc[::-1]),
        lambda X: X["price"] * X["volume"],
        lambda X: X["price"] - SERIES,
        lambda X: X.cov(),
        lambda X: X.quantile(0.5),
        lambda X: X.resample("2D").mean(),
        lambda X: X["price"].resample("4D").sum(),
        lambda X: X.apply(lambda c: c.max()),
        lambda X: X.apply(lambda r: r.sum(), axis=1),
        lambda X: X["price"].shift(2).rename("lag"),
    ):
        made, wanted = sg.symbolic(f)(FRAME), f(FRAME)
        (pd.testing.assert_series_equal if wanted.ndim == 1 else pd.testing.assert_frame_equal)(made, wanted)
    made, wanted = (f(GRID) for f in (sg.symbolic(lambda d: d.mean("time") * LINE), lambda d: d.mean("time") * LINE))
    xr.testing.assert_allclose(made, wanted)


def test_averages_of_long_series_are_refused():
    s = pd.Series(np.arange(2001.0))
    with pytest.raises(UnsupportedOperation, match="2000 rows"):
        sg.grad(lambda s: s.ewm(span=3).mean().sum())(s)
    check(lambda s: s.ewm(span=3).mean().iloc[-1] ** 2, s.iloc[:6])


def test_single_precision_stays():
    series = SERIES.astype(np.float32)
    for f in (lambda s: s.shift(1), lambda s: s.iloc[1:], lambda s: s.rolling(2).mean(), lambda s: s.diff() * 2):
        assert sg.symbolic(f)(series).dtype == f(series).dtype


def test_what_rows_are_taken_is_asked_of_each_call():
    f = lambda s: (s[s > 0] ** 2).sum() + s.dropna().iloc[-1]  # noqa: E731
    g = sg.grad(f)
    for s in (SERIES, -SERIES, SERIES.where(SERIES > 0), SERIES.iloc[:4], SERIES):
        np.testing.assert_allclose(np.nan_to_num(g(s)), np.nan_to_num(differences(f, s)), atol=1e-6)


def test_the_last_of_each_time_is_the_last_that_is_there():
    s = SERIES.copy()
    s.iloc[1] = np.nan
    f = lambda s: (s.resample("2D").last() ** 2).sum() + s.resample("3D").first().sum()  # noqa: E731
    value, gradient = sg.value_and_grad(f)(s)
    assert value == pytest.approx(f(s), rel=1e-14)
    wanted = np.nan_to_num(differences(f, s))
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(sg.grad(f)(SERIES), differences(f, SERIES), rtol=1e-6, atol=1e-8)


def test_masks_are_data_and_mixed_frames_no_operands():
    mask = FRAME > 0
    wanted = (2 * FRAME).where(mask, 0.0)
    pd.testing.assert_frame_equal(sg.grad(lambda X: (X.where(mask, 1.0) ** 2).sum().sum())(FRAME), wanted)
    pd.testing.assert_frame_equal(sg.grad(lambda X, m: (X.where(m, 1.0) ** 2).sum().sum())(FRAME, mask), wanted)
    pd.testing.assert_frame_equal(sg.grad(lambda X, m: (X * m * X).sum().sum())(FRAME, mask), wanted)
    with pytest.raises(UnsupportedOperation, match="no numbers \\('kind'\\)"):
        sg.grad(lambda X: (X * FRAME.assign(kind="a")).sum().sum())(FRAME)


def test_data_that_nothing_is_differentiated_by():
    def loss(w, data):
        X, y = data[["price", "volume"]], data["target"]
        kept = X[y > 0] - X.mean()
        return ((kept.to_numpy() @ w - y[y > 0].to_numpy()) ** 2).mean() + w[0] * data.groupby("kind")[
            "target"
        ].mean().iloc[0]

    data = FRAME.assign(target=SERIES, kind=[1.0, 1.0, 2.0, 2.0, 1.0, 2.0])
    g = sg.grad(loss)
    for given in (data, data.assign(target=-SERIES), data.assign(kind=[2.0, 1.0, 1.0, 2.0, 1.0, 2.0])):
        np.testing.assert_allclose(g(W, given), differences(functools.partial(loss, data=given), W), rtol=1e-6)


def test_columns_that_are_no_numbers():
    def loss(w, data):
        kept = data[data["kind"] == "a"].dropna()
        means = data.groupby("kind")["price"].mean()
        names = list(data) == ["kind", "price", "flag", "volume"] and data.shape == (6, 4)
        rest = data.loc[data.flag, "volume"].sum() + data.sum(numeric_only=True)["price"] + names
        return ((kept[["price", "volume"]].to_numpy() @ w) ** 2).sum() + w[0] * means["b"] + w[1] * rest

    data = FRAME.copy()
    data.insert(0, "kind", list("abbaab"))
    data.insert(2, "flag", [True, False, True, True, False, False])
    g = sg.grad(loss)
    for given in (data, data.assign(kind=list("babbaa")), data.assign(price=-data.price), data.assign(flag=True)):
        np.testing.assert_allclose(g(W, given), differences(functools.partial(loss, data=given), W), rtol=1e-6)
    for f in (lambda X: X * 2, lambda X: X.sum(), lambda X: X.to_numpy(), lambda X: X - X, lambda X: X.iloc[0]):
        with pytest.raises(UnsupportedOperation):
            sg.grad(lambda w, X, f=f: w[0] * np.sum(f(X)))(W, data)


REFUSED = {
    "other statistics": lambda X: X["price"].mode().sum(),
    "sorted by two columns": lambda X: X.sort_values(["price", "weight"]).iloc[0].sum(),
    "other statistics of windows": lambda X: X["price"].rolling(2).kurt().sum(),
    "covariances by weights": lambda X: X["price"].ewm(span=2).cov(X["weight"]).sum(),
    "averages with NaN": lambda X: X["price"].diff().ewm(span=2).mean().sum(),
    "the largest so far with NaN": lambda X: X["price"].diff().cummax().sum(),
    "covariances with NaN here and there": lambda X: X.where(X > 0).cov().sum().sum(),
    "a column of the caller's": lambda X: X.__setitem__("price", 1.0),
    "sums of at least": lambda X: X["price"].sum(min_count=2),
    "a column that is not there": lambda X: X["none"].sum(),
    "comparing other labels": lambda X: (X["price"] > OTHER).sum(),
    "weights with other labels": lambda X: (X @ pd.Series(W, index=["a", "b"])).sum(),
    "columns that are written": lambda X: X.__setitem__("new", 1.0),
    "places that are written": lambda X: X.iloc.__setitem__(0, 1.0),
    "places by traced numbers": lambda X: X["price"].shift(X["price"]).sum(),
    "a reduction": lambda X: np.add.reduce(X["price"]),
    "a function that keeps labels": lambda X: np.round(X, 1).sum().sum(),
    "an axis that is not there": lambda X: X.sum(axis=5).sum(),
    "a name of no axis": lambda X: X.sum(axis="rows of it").sum(),
    "nonsense": lambda X: X.nonsense,
    "too many columns": lambda X: (X * np.ones((6, 3))).to_numpy().sum(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name):
    with pytest.raises((SymgradError, KeyError)):
        sg.grad(REFUSED[name])(FRAME)


def test_the_way_out_is_said():
    with pytest.raises(UnsupportedOperation, match="to_numpy"):
        sg.grad(lambda X: X["price"].mode().sum())(FRAME)
    with pytest.raises(ShapeError):
        sg.grad(lambda s: (s * np.ones((3, 6))).sum())(SERIES)


def test_constants_with_labels_are_right_or_refused():
    assert FRAME.shape == (6, 2)
    g = sg.grad(lambda w: np.sum((FRAME.values @ w - SERIES.to_numpy()) ** 2))
    np.testing.assert_allclose(g(W), 2 * FRAME.values.T @ (FRAME.values @ W - SERIES.values))
    for f in (
        lambda w: np.sum(FRAME @ w),
        lambda w: np.sum(w * FRAME["price"].iloc[:2]),
        lambda w: (FRAME * w).to_numpy().sum(),
        lambda w: np.sum(w @ FRAME.T),
        lambda w: np.sum(GRID.values[:, :2] @ w * GRID[:, 0]),
    ):
        try:
            value, gradient = sg.value_and_grad(f)(W)
        except TracingError:
            continue
        np.testing.assert_allclose(value, f(W))
        np.testing.assert_allclose(gradient, [(f(W + e) - f(W - e)) / 2e-6 for e in 1e-6 * np.eye(2)], rtol=1e-5)


def test_what_is_no_number():
    mixed = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    pd.testing.assert_frame_equal(sg.grad(lambda X: (X["a"] ** 2).sum())(mixed), mixed.assign(a=[2.0, 4.0]))
    with pytest.raises(DtypeError, match="int64"):
        sg.grad(lambda s: s.sum())(pd.Series([1, 2, 3]))
    with pytest.raises(ArgumentError, match="no axis of examples"):
        sg.vmap(lambda s: s.sum())(SERIES)


def test_a_column_by_attribute():
    def revenue(w, frame):
        return np.sum(w[0] * frame.price.to_numpy() * frame.volume.to_numpy() + w[1] * frame["price"].to_numpy())

    assert sg.value_and_grad(revenue)(W, FRAME)[0] == pytest.approx(revenue(W, FRAME), rel=1e-14)
    np.testing.assert_allclose(sg.grad(revenue)(W, FRAME), differences(lambda w: revenue(w, FRAME), W), rtol=1e-7)
    with pytest.raises(SymgradError, match="no attribute 'cost'"):
        sg.grad(lambda w, frame: w[0] * np.sum(frame.cost))(W, FRAME)


COLUMNS = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.5, -1.0, 2.0]})
OUTSIDE = {
    "column first": lambda w: (COLUMNS.x * w[0]).sum(),
    "column last": lambda w: (w[0] * COLUMNS.x).sum(),
    "misfit": lambda w: ((COLUMNS.y - (w[0] + COLUMNS.x * w[1])) ** 2).mean(),
    "matrix": lambda w: np.sum((COLUMNS[["x", "y"]] @ w) ** 2),
    "method": lambda w: (COLUMNS.x.mul(w[0]) ** 2).sum(),
    "function": lambda w: np.sum(np.exp(-COLUMNS["x"] / w[1])),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_data_from_outside_beside_traced_values(name):
    f, w = OUTSIDE[name], np.array([0.7, 1.3])
    np.testing.assert_allclose(sg.grad(f)(w), differences(f, w), rtol=1e-6)


def test_data_from_outside_that_change_are_seen():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    g = sg.grad(lambda w: (frame.x * w).sum())
    assert g(2.0) == 6.0
    frame.loc[0, "x"] = 10.0
    assert g(2.0) == 15.0
    frame["x"] = frame.x * 2
    assert g(2.0) == 30.0
