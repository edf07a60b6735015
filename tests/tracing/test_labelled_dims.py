"""DataArrays along their dims, functions of xarray, and what is written into DataArrays: as xarray has it."""

from __future__ import annotations

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg
from symgrad.errors import SymgradError

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(3)
DAYS = pd.date_range("2024-01-30", periods=6)
A = xr.DataArray(
    RNG.normal(size=(6, 3)) + 3.0,
    dims=("time", "x"),
    coords={"time": DAYS, "x": [0.0, 1.0, 3.0], "kind": ("time", list("ababca"))},
    name="T",
)
GAPS = A.where(A.min() < A)
W = xr.DataArray([1.0, 2.0, 0.5], dims="x", coords={"x": A.x})
ROW = xr.DataArray([0.5, -1.0], dims="x", coords={"x": [1.0, 3.0]})


def written(a):
    b = a.copy()
    row = b.isel(time=1)
    b[0, 1] = a[1, 1] * a[0, 0]
    b.loc[DAYS[1]] = a.isel(time=2) * 2
    row[0] = a[3, 0] ** 2
    b[{"x": 2}] *= 3.0
    b.values[4, 0] = a.values[0, 2]
    return b + row


def made(a):
    y = a.values * 2.0
    b = xr.DataArray(y, dims=("time", "x"), coords={"x": A.x})
    y[0, 0] = a.values[1, 1]
    b[1, 1] = 7.0
    b.coords["time"] = np.arange(6)
    del b.coords["x"]
    return b * xr.DataArray(y[:, 0], dims="time").drop_vars("time", errors="ignore")


def in_place(a):
    b = a * 1.0
    alias = b
    b += a.isel(x=0)
    alias *= 2.0
    b /= a
    return b


def two_results(a):
    def both(v):
        return np.sin(v), v.sum(-1, keepdims=True)

    sines, sums = xr.apply_ufunc(both, a, input_core_dims=[["x"]], output_core_dims=[["x"], ["y"]])
    return sines * sums


def swept(a):
    out = xr.zeros_like(a)
    out[0] = a[0]
    for k in range(1, 6):
        out[k] = 0.5 * out[k - 1] + a[k]
    return out


def filled_anew(a):
    out = xr.DataArray(np.full((6, 3), np.nan), dims=a.dims, coords=a.coords)
    kept = xr.DataArray(np.zeros(3), {"x": A.x}, "x", name="kept")
    for k in range(6):
        out[k] = a[k] + kept
        kept[1] = a[k, 1]
    return out * kept


def filled(a):
    out = xr.full_like(a, 1.0)
    flipped = out.T
    out[2, 1] = a[2, 1] * a[0, 0]
    return flipped * 2.0


PROGRAMS = {
    "windows": lambda a: a.rolling(time=3).mean(),
    "centred windows": lambda a: a.rolling(time=3, center=True).std(),
    "windows with few values": lambda a: a.rolling(time=3, min_periods=1).max(),
    "windows of two dims": lambda a: a.rolling({"time": 2, "x": 2}).sum(),
    "blocks": lambda a: a.drop_vars("kind").coarsen(time=2).mean(),
    "blocks that are trimmed": lambda a: a.drop_vars("kind").coarsen(time=4, boundary="trim").max(),
    "windows by a function": lambda a: a.rolling(time=3).reduce(np.ptp),
    "windows side by side": lambda a: a.rolling(time=2).construct("w", fill_value=1.0),
    "in bins": lambda a: a.groupby_bins("x", [-1, 0.5, 5]).mean(),
    "each row": lambda a: xr.apply_ufunc(
        lambda v, w: (v.max() - v.min(), np.sort(v)[:2] * w),
        a,
        a.isel(x=0, drop=True),
        input_core_dims=[["x"], []],
        output_core_dims=[[], ["least"]],
        vectorize=True,
    )[1],
    "filled by interpolation": lambda a: a.isel(x=1).where(a.isel(x=1) > a.min()).interpolate_na("time"),
    "groups": lambda a: a.groupby("kind").mean(),
    "groups of a part of a time": lambda a: a.groupby("time.month").sum(),
    "groups by an array": lambda a: a.groupby(A.kind).std("time"),
    "groups along all dims": lambda a: a.groupby("kind").max(...),
    "anomalies": lambda a: a.groupby("kind") - a.groupby("kind").mean(),
    "mapped groups": lambda a: a.groupby("kind").map(lambda part: part / part.sum("time")),
    "resampled": lambda a: a.resample(time="2D").mean(),
    "weighted": lambda a: a.weighted(W).mean("x"),
    "weighted, of all": lambda a: a.weighted(W).sum(),
    "a weighted deviation": lambda a: a.weighted(W).std("x"),
    "weights from the argument": lambda a: a.weighted(a.isel(time=0) ** 2).mean("x"),
    "interpolated": lambda a: a.interp(x=[0.5, 2.0]),
    "interpolated by cubics": lambda a: a.interp(x=1.7, method="quadratic"),
    "interpolated in time": lambda a: a.interp(time=DAYS[:2] + pd.Timedelta("6h"), x=0.2),
    "integrated": lambda a: a.integrate("x"),
    "integrated on the way": lambda a: a.cumulative_integrate("x"),
    "differentiated": lambda a: a.differentiate("x"),
    "sorted by a coordinate": lambda a: a.sortby("x", ascending=False),
    "padded": lambda a: a.pad(x=(1, 2), mode="edge"),
    "labels of another": lambda a: a.isel(x=[1]).reindex_like(a).fillna(1.0) * a[0].broadcast_like(a),
    "a quantile": lambda a: a.quantile(0.3, "time"),
    "quantiles": lambda a: a.quantile([0.2, 0.5], dim="x"),
    "a Series": lambda a: xr.DataArray(a[:, 0].drop_vars(["kind", "x"]).to_series().cumsum().to_numpy(), dims="time"),
    "chosen by another": lambda a: a.where(a.isel(x=0) > 3.0, -a),
    "dropped": lambda a: a.where(a.x > 0.5, drop=True),
    "xr.where": lambda a: xr.where(a > 3.0, a**2, 0.0),
    "a comparison": lambda a: a * (a > a.mean("x")),
    "a ufunc of two": lambda a: np.maximum(a, a.mean("time")),
    "apply_ufunc": lambda a: xr.apply_ufunc(np.hypot, a, W),
    "apply_ufunc along a dim": lambda a: xr.apply_ufunc(
        lambda v, w: np.sum(v * w, axis=-1), a, W, input_core_dims=[["x"], ["x"]]
    ),
    "apply_ufunc that gives two": two_results,
    "xr.dot": lambda a: xr.dot(a, W, a, dim="x"),
    "a dot along a dim": lambda a: a.dot(a.isel(x=0), dim="time"),
    "xr.concat": lambda a: xr.concat([a[0], a[3] ** 2], dim="time", coords="minimal", compat="override"),
    "xr.concat of numbers": lambda a: xr.concat([a.sum(), a.max()], dim="which", coords="minimal"),
    "xr.broadcast": lambda a: xr.broadcast(a.isel(x=0, drop=True), W)[0],
    "xr.align": lambda a: xr.align(a, ROW)[0] * 2,
    "xr.full_like": lambda a: xr.full_like(W, a[0, 0]) * a,
    "xr.cov": lambda a: xr.cov(a, a.isel(x=0) ** 2, "time"),
    "xr.corr": lambda a: xr.corr(a.isel(x=1), a.isel(x=0) ** 2),
    "a known one on the left": lambda a: W - a,
    "a known one with it": lambda a: W.where(W > 1.0, a.isel(time=0)),
    "numbers": lambda a: a * float(a.sum() / a.size) + a.max().item() + a.min().values,
    "a branch": lambda a: a * 2 if a.sum() > 0 else a,
    "the largest place": lambda a: a.isel(x=int(a.isel(time=0).argmax("x"))) * a.idxmax("x"),
    "coordinates": lambda a: a * a.coords["x"] + len(a.coords),
    "written": written,
    "made": made,
    "in place": in_place,
    "swept": swept,
    "filled": filled,
    "filled anew": filled_anew,
}  # fmt: skip
WITH_GAPS = (
    *("windows", "windows with few values", "blocks", "groups", "groups along all dims", "anomalies", "weighted"),
    *("a quantile", "in place"),
)


def check(f, a):
    wanted = f(a)
    got = sg.symbolic(f)(a)
    assert type(got) is xr.DataArray
    xr.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert got.dims == wanted.dims
    weights = np.cos(np.arange(wanted.size)).reshape(wanted.shape)

    def misfit(values):
        return float((f(a.copy(data=values)) ** 2 * weights).sum())

    value, gradient = sg.value_and_grad(lambda a: (f(a) ** 2 * weights).sum())(a)
    assert gradient.dims == a.dims
    is_known = ~np.isnan(a.values)
    atol = 1e-7 + 1e-10 * float(np.nanmax(np.abs(gradient.values)))
    expect = (value.item(), np.where(is_known, gradient.values, 0.0))
    expect_slopes(expect, lambda v: misfit(np.where(is_known, v, np.nan)), np.where(is_known, a.values, 0.0), atol=atol)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_labels_and_slopes(name):
    check(PROGRAMS[name], A)


@pytest.mark.parametrize("name", PROGRAMS)
def test_single_precision_gives_the_dtype_that_xarray_gives(name):
    a, f = A.astype(np.float32), PROGRAMS[name]
    assert sg.symbolic(f)(a).dtype == f(a).dtype


@pytest.mark.parametrize("name", WITH_GAPS)
def test_missing_values_are_left_out(name):
    check(PROGRAMS[name], GAPS)


def test_known_values_are_not_written_to():
    def f(a):
        b = A.copy()
        b[0] = a[0]
        return (b**2).sum()

    with pytest.raises(SymgradError, match=r"known values.*xr\.DataArray\(values"):
        sg.grad(f)(A)


def shares(make):
    """What a part of an array sees of it, and it of the part."""

    def f(a):
        b = a * 1.0
        part = make(b)
        b[0, 1] = 2.0
        part *= 2.0
        b[3] += part.mean()
        return b * part.mean()

    return f


SHARED = {
    "a range": lambda b: b.isel(x=slice(0, 2)),
    "a list in order": lambda b: b.isel(x=[0, 1]),
    "a mask": lambda b: b[:, np.array([True, True, False])],
    "one place": lambda b: b[0, 1],
    "labels": lambda b: b.sel(x=[0.0, 1.0]),
    "a range of labels": lambda b: b.sel(x=slice(0.0, 1.0)),
    "transposed": lambda b: b.T,
    "renamed": lambda b: b.rename(x="z"),
    "other coordinates": lambda b: b.assign_coords(x=[1.0, 2.0, 3.0]),
    "sorted": lambda b: b.sortby("x"),
    "not shifted": lambda b: b.shift(time=0),
    "not rolled": lambda b: b.roll(time=0),
    "the same labels": lambda b: b.reindex(x=b.x),
    "aligned": lambda b: xr.align(b, W)[0],
    "joined": lambda b: xr.concat([b], "time"),
    "a shallow copy": lambda b: b.copy(deep=False),
    "a deep copy": lambda b: b.copy(),
    "an array of it": lambda b: xr.DataArray(b),
    "a group": lambda b: next(iter(b.groupby("kind")))[1],
    "a group of one": lambda b: next(iter(b.drop_vars("kind").groupby("time")))[1],
    "a Dataset": lambda b: xr.Dataset({"v": b}).v,
    "a part of a Dataset": lambda b: xr.Dataset({"v": b}).isel(time=slice(0, 2)).v,
    "parts of a Dataset": lambda b: xr.Dataset({"v": b}).isel(time=[0, 1]).v,
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_parts_share_their_elements_where_xarray_shares_them(name):
    check(shares(SHARED[name]), A)


def replaced(a):
    b, v = a * 1.0, (a * 2.0).values
    part = b[0]
    b.data = v
    b[1] = 0.0
    other = a * 3.0
    other.values = b.values
    other[2] = 1.0
    return b + part + other + v.sum()


def of_the_argument(a):
    row = a.isel(time=1)
    row *= 2.0
    alias = a
    alias -= 1.0
    for part in a:
        part *= part[0] / 3
    return a * row


@pytest.mark.parametrize("f", [replaced, of_the_argument])
def test_arrays_are_replaced_and_arguments_written_to(f):
    before = A.copy()
    wanted = f(A.copy())
    xr.testing.assert_allclose(sg.symbolic(f)(A), wanted, rtol=1e-12)
    check(lambda a: f(a.copy()), A)
    assert A.identical(before)


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda a: a.interp(x=a[0, 0]), "at traced places"),
        (lambda a: a.interp(x=a[0, 0] * W), "at traced places"),
        (lambda a: a.groupby(a[:, 0]).sum(), "by traced keys"),
        (lambda a: a.interp(x=0.5, method="pchip"), "by this method"),
        (lambda a: a.rank("time"), r"DataArray\.rank"),
        (lambda a: a.rolling(time=2).iter(), "iter of windows"),
        (lambda a: a.where(a > 3.0).interpolate_na("x"), "interpolate_na of NaN"),
        (lambda a: a.groupby("kind").mean("x"), "along another dim"),
        (lambda a: a.groupby("kind") - 1.0, "has no labels"),
        (lambda a: xr.apply_ufunc(np.sum, a, dask="allowed"), "dask"),
        (lambda a: a.sortby(a.isel(x=0)), "sortby"),
    ],
)
def test_what_has_no_rule_is_refused(f, told):
    with pytest.raises(SymgradError, match=told):
        sg.grad(lambda a: f(a).sum())(A)


def test_a_truth_value_of_several_is_an_error_as_in_pandas():
    with pytest.raises(SymgradError, match="ambiguous"):
        sg.grad(lambda s: s.sum() if s > 0 else s.prod())(pd.Series([1.0, 2.0]))
