"""Windows and groups of Series and DataFrames, as pandas has them, with NaN and without."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
DAYS = pd.to_datetime([f"2024-01-{day:02}" for day in (1, 2, 5, 6, 20, 21, 22)])
SERIES = pd.Series(RNG.normal(size=7) + 2, index=DAYS)
OTHER = pd.Series(RNG.normal(size=7), index=DAYS)
GAPS = SERIES.drop(DAYS[2]).reindex(DAYS)
FRAME = pd.DataFrame({"a": SERIES, "b": SERIES**2 - 3})
KEYS = pd.Series(list("abacbab"), index=DAYS)
SOME = KEYS.where(KEYS != "c")
LIST = ["x", "y", "x", "x", "y", "y", "x"]

OF_EACH = {
    "few values are enough": lambda s: s.rolling(3, min_periods=1).mean(),
    "two values are enough": lambda s: s.rolling(3, min_periods=2).std(),
    "centred": lambda s: s.rolling(3, center=True).max(),
    "by time": lambda s: s.rolling("4D").mean(),
    "by time, two values": lambda s: s.rolling("4D", min_periods=2).std(),
    "another ddof": lambda s: s.rolling(3).var(ddof=0),
    "medians": lambda s: s.rolling(3).median(),
    "longer than all": lambda s: s.rolling(9).sum(),
    "expanding": lambda s: s.expanding().mean(),
    "expanding deviation": lambda s: s.expanding(min_periods=3).std(),
    "shifted groups": lambda s: s.groupby(KEYS).shift(),
    "shifted back": lambda s: s.groupby(LIST).shift(-1),
    "differences in groups": lambda s: s.groupby(KEYS).diff(),
    "sums on the way": lambda s: s.groupby(SOME).cumsum(),
    "maxima on the way": lambda s: s.groupby(LIST).transform("cummax"),
    "windows in groups": lambda s: s.groupby(KEYS).rolling(2).mean(),
    "on the way in groups": lambda s: s.groupby(LIST).expanding(2).std(),
    "exponential in groups": lambda s: s.groupby(LIST).ewm(span=2).mean(),
    "first": lambda s: s.groupby(KEYS).first(),
    "last": lambda s: s.groupby(LIST).last(),
    "counted": lambda s: s * s.count(),
    "some and all": lambda s: s * (s > 1).any() - s * (s > 1).all(),
    "rounded beside": lambda s: s.round(1) * 0 + s,
}
OF_SERIES = {
    "centred of four": lambda s: s.rolling(4, center=True, min_periods=1).sum(),
    "a covariance": lambda s: s.rolling(3).cov(OTHER),
    "a correlation": lambda s: s.rolling(4).corr(OTHER),
    "pairs that are there": lambda s: s.rolling(4, min_periods=2).cov(OTHER),
    "a beta": lambda s: s.rolling(4).cov(OTHER) / s.rolling(4).var(),
    "a function": lambda s: s.rolling(3).apply(lambda w: w.iloc[0] * w.iloc[-1]),
    "a function of arrays": lambda s: s.rolling(3, min_periods=2).apply(lambda w: np.sum(w**2), raw=True),
    "a function of groups": lambda s: s.groupby(KEYS).transform(lambda v: v - v.mean()),
    "a number of each group": lambda s: s.groupby(LIST).transform(lambda v: v.max()),
    "changes in groups": lambda s: s.groupby(LIST).pct_change(),
}
SKIPPING = {
    "exponential in groups",
    "maxima on the way",
    "a function",
    "a function of arrays",
    "changes in groups",
    "a number of each group",
}
CASES = {
    **{f"{name}, a Series": (f, SERIES) for name, f in (OF_EACH | OF_SERIES).items()},
    **{f"{name}, NaN": (f, GAPS) for name, f in (OF_EACH | OF_SERIES).items() if name not in SKIPPING},
    **{f"{name}, a DataFrame": (f, FRAME) for name, f in OF_EACH.items()},
}


@pytest.mark.parametrize("name", CASES)
def test_values_labels_and_slopes(name):
    f, given = CASES[name]
    wanted, made = f(given), sg.symbolic(f)(given)
    (pd.testing.assert_series_equal if wanted.ndim == 1 else pd.testing.assert_frame_equal)(
        made, wanted, check_freq=False
    )

    def total(values):
        """The squares, added up by NumPy."""
        return np.nansum(np.asarray(f(values)) ** 2)

    gradient = sg.grad(lambda v: np.nansum(f(v).to_numpy() ** 2))(given).to_numpy()
    for at in zip(*np.nonzero(~np.isnan(given.to_numpy())), strict=True):
        ends = []
        for step in (1e-6, -1e-6):
            moved = given.copy()
            moved.iloc[at if given.ndim == 2 else at[0]] += step
            ends.append(total(moved))
        assert gradient[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda s: s.rolling(3).kurt(), "kurt of windows"),
        (lambda s: s.rolling(3, win_type="gaussian").mean(), "rolling with these arguments"),
        (lambda s: s.to_frame("a").rolling(3).cov(), "Take them of its columns"),
        (lambda s: s.groupby(KEYS).skew(), "skew of groups"),
        (lambda s: next(s.to_frame("a").assign(k=KEYS).iterrows())[1].mean(), "mean of a row with columns"),
    ],
)
def test_what_has_no_rule_is_refused(f, told):
    with pytest.raises(SymgradError, match=told):
        sg.grad(lambda s: f(s).sum())(SERIES)


def test_rows_as_dicts():
    def f(d):
        rows = sum(row["a"] * row["b"] for row in d.to_dict("records"))
        return rows + d.to_dict("list")["a"][1] * d.to_dict()["b"][DAYS[2]]

    value, gradient = sg.value_and_grad(f)(FRAME)
    assert value == pytest.approx(f(FRAME), rel=1e-14)
    wanted = FRAME[["b", "a"]].to_numpy() + [[0, 0], [FRAME.b.iloc[2], 0], [0, FRAME.a.iloc[1]], *[[0, 0]] * 4]
    np.testing.assert_allclose(gradient, wanted)


def keys_as_columns(d):
    groups = d.groupby("kind", as_index=False)
    made = groups["price"].mean().merge(groups.agg(total=("strike", "sum")), on="kind")
    back = groups["price"].transform("max") * d.price
    return (
        (made["price"] * made["total"]).sum()
        + back.sum()
        + (groups.first()["strike"] ** 2).sum() * groups.size()["size"].max()
    )


def payoffs(d):
    total = 0.0
    for _, row in d.iterrows():
        sign = 1.0 if row["kind"] == "call" else -1.0
        total += np.maximum(sign * (row.price - row["strike"]), 0.0) * row.get("size", 2.0)
        total += sum(row[name] for name in row.index if name != "kind") * len(row)
    return total


def along_rows(d):
    made = d.apply(
        lambda row: row.price**2 if row["kind"] == "call" else sum(row[["price", "strike"][k]] for k in (0, 1)), axis=1
    )
    return (made * np.arange(3.0)).sum() + d.get("none", 4.0) * d.get("price").sum() + d.fillna(1.5)["strike"].prod()


@pytest.mark.parametrize("f", [payoffs, along_rows, keys_as_columns])
def test_rows_with_text_in_them(f):
    book = pd.DataFrame({"price": [3.0, 2.0, 5.0], "kind": ["call", "put", "call"], "strike": [2.0, 4.0, 1.0]})
    value, gradient = sg.value_and_grad(f)(book)
    assert value == pytest.approx(f(book), rel=1e-14)
    for name in ("price", "strike"):
        for k in range(3):
            ends = [f(book.assign(**{name: book[name] + step * (book.index == k)})) for step in (1e-6, -1e-6)]
            assert gradient[name].iloc[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)


def test_second_derivatives_of_shifts_do_not_grow():
    xr = pytest.importorskip("xarray")

    def stencil(x, steps=4):
        u = xr.DataArray(np.outer(x[:4], x[4:]), dims=("x", "y"))
        for _ in range(steps):
            u = u + 0.1 * (u.shift(x=1, fill_value=0) + u.shift(y=-1, fill_value=0) - 2 * u)
        return (u**2).sum().item()

    x = np.linspace(0.5, 2.0, 8)
    h = sg.hessian(stencil)
    step = 1e-4 * np.eye(8)
    differences = [(sg.grad(stencil)(x + e) - sg.grad(stencil)(x - e)) / 2e-4 for e in step]
    np.testing.assert_allclose(h(x), differences, rtol=1e-6, atol=1e-6)
    assert len(h._entry((x,), {}).program.nodes) < 2000
