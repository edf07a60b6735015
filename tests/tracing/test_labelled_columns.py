"""DataFrames with columns that are known beside traced ones: keys, weights and text, as pandas has them."""

from __future__ import annotations

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg
from symgrad.errors import UnsupportedOperation

pd = pytest.importorskip("pandas")

X = np.array([0.5, 1.3, 0.7])
DATA = pd.DataFrame(
    {
        "id": [1, 1, 2, 2, 3, 3],
        "t": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        "y": [1.0, 2.0, 1.5, 2.5, 0.5, 0.7],
        "group": list("aabbab"),
        "n": [3, 4, 5, 6, 7, 8],
    }
)
EXTRA = pd.DataFrame({"id": [1, 2, 3], "w": [0.5, 1.0, 2.0], "name": ["u", "v", "w"]})


def fitted(x):
    """The data, and what a model makes of them."""
    return DATA.assign(p=x[0] * DATA.y + x[1] * DATA.t**2 + x[2])


def errors_of_groups(x):
    d = fitted(x)
    d["error"] = (d.p - d.y) ** 2
    return d.groupby("id").error.mean().sum()


def row_by_row(x):
    return sum((row["y"] - x[0] * row["t"] - x[1] * (row["group"] == "a")) ** 2 for _, row in DATA.iterrows())


def written_by_mask(x):
    d = fitted(x)
    d.loc[d.group == "a", "p"] = x[1]
    d.loc[0, "n"] = 99
    return (d.p * d.n).sum()


def a_known_column_is_written_to(x):
    d = DATA.copy()
    d["z"] = 0.0
    d.loc[d.id == 2, "z"] = x[1] * d.y
    d.at[3, "y"] = x[2]
    return (d.z * d.n).sum() + (d.y**2).sum()


def a_column_that_was_taken_is_changed(x):
    d = fitted(x)
    taken = d["n"]
    taken.iloc[0] = 100
    return (d.p * d.n).sum()


def in_bins(x):
    d = fitted(x)
    d["bin"] = pd.cut(d.n, [0, 4, 6, 9], labels=["l", "m", "h"])
    return d.groupby("bin", observed=False).p.mean().mul([1, 2, 3]).sum()


def one_after_the_other(x):
    both = pd.concat([fitted(x), DATA.assign(p=x[1] * DATA.y)], keys=["u", "v"])
    return (both.loc["v"].p * both.loc["u"].n).sum() + (both.p * both.id).sum()


PROGRAMS = {
    "errors of groups": errors_of_groups,
    "row by row": row_by_row,
    "written by mask": written_by_mask,
    "a known column is written to": a_known_column_is_written_to,
    "a column that was taken is changed": a_column_that_was_taken_is_changed,
    "in bins": in_bins,
    "one after the other": one_after_the_other,
    "rows as tuples": lambda x: sum(r.p * r.n * (r.group == "a") for r in fitted(x).itertuples(index=False)),
    "rows as dicts": lambda x: sum(r["p"] * r["n"] for r in fitted(x).to_dict("records")),
    "one row": lambda x: fitted(x).iloc[0]["n"] * fitted(x).loc[1]["p"] + fitted(x).iloc[2:4].p.sum(),
    "joined by a number": lambda x: (lambda d: (d.p * d.w).sum())(fitted(x).merge(EXTRA, on="id")),
    "joined by what both have": lambda x: (lambda d: (d.p * d.w).sum())(fitted(x).merge(EXTRA)),
    "joined by other names": lambda x: (lambda d: (d.y * d.w).sum())(
        DATA.merge(pd.DataFrame({"key": [1, 2, 3], "w": x}), left_on="id", right_on="key")
    ),
    "joined to the left": lambda x: (lambda d: (d.p * d.w).sum())(
        fitted(x).merge(EXTRA[:2], on="id", how="left").fillna({"w": 0.25})
    ),
    "joined to a known one": lambda x: (lambda d: (d.y * d.w).sum())(
        DATA.merge(pd.DataFrame({"id": [1, 2, 3], "w": x}), on="id", how="left")
    ),
    "mapped by a Series": lambda x: (DATA.id.map(pd.Series(x, index=[1, 2, 3])) * DATA.y).sum(),
    "mapped by a dict": lambda x: (fitted(x).id.map({1: 1.0, 2: 2.0, 3: 0.5}) * fitted(x).p).sum(),
    "an index of numbers": lambda x: (
        fitted(x).set_index(["id", "t"]).loc[(2, 1.0), "p"] + fitted(x).set_index("id").loc[1, "p"].sum()
    ),
    "one level": lambda x: fitted(x).set_index(["id", "t"]).xs(1, level="id").p.sum(),
    "a table": lambda x: (fitted(x).pivot(index="id", columns="t", values="p").diff(axis=1) ** 2).sum().sum(),
    "unstacked": lambda x: (fitted(x).set_index(["id", "t"]).p.unstack() ** 2).to_numpy().sum(),
    "molten": lambda x: fitted(x).melt(id_vars=["id", "group"], value_vars=["p", "y"]).value.pow(2).sum(),
    "each key": lambda x: sum((fitted(x)[fitted(x).id == k].p.mean() * k for k in fitted(x)["id"].unique()), 0.0),
    "each group": lambda x: sum(part.p.max() * key for key, part in fitted(x).groupby("id")),
    "in a set": lambda x: fitted(x)[fitted(x).id.isin([1, 3]) & (fitted(x).n > 3)].p.sum(),
    "sorted": lambda x: (
        fitted(x).sort_values(["group", "n"], ascending=[True, False]).p.to_numpy() * np.arange(6)
    ).sum(),
    "sorted by one": lambda x: (fitted(x).sort_values("n", ascending=False).p.to_numpy() * np.arange(6)).sum(),
    "numbers alone": lambda x: fitted(x).select_dtypes("number").mean().sum(),
    "indicators": lambda x: ((pd.get_dummies(DATA.group, dtype=float).assign(t=DATA.t) @ x - DATA.y) ** 2).sum(),
    "statistics by name": lambda x: (lambda g: (g.s * g.m).sum())(
        fitted(x).groupby("id").agg(s=("p", "sum"), m=("n", "mean"))
    ),
    "a statistic a column": lambda x: fitted(x).groupby("id").agg({"p": "sum", "n": "max"}).to_numpy().sum(),
    "a function of groups": lambda x: (
        fitted(x).groupby("id").apply(lambda g: (g.p * g.n).sum() / g.n.sum(), include_groups=False).sum()
    ),
    "groups that are kept": lambda x: fitted(x).groupby("id").filter(lambda g: g.p.sum() > 3).p.sum(),
    "counted": lambda x: (
        (fitted(x).groupby("group").size() * fitted(x).groupby("group").p.sum()).sum()
        + fitted(x).groupby("group").p.count().sum()
        + (fitted(x).p * fitted(x).groupby("id").cumcount()).sum()
    ),
    "keys as columns": lambda x: (lambda d: (d.p * d.w).sum())(
        fitted(x).groupby("id").p.sum().reset_index().merge(EXTRA, on="id")
    ),
    "all columns as numbers": lambda x: (fitted(x).drop(columns=["group"]) * 2).sum().sum(),
    "an array of both": lambda x: fitted(x)[["p", "n", "y"]].values.sum(axis=0) @ np.array([1.0, 2.0, 3.0]),
    "correlations": lambda x: fitted(x)[["p", "t", "y"]].corr().loc["p", "t"] + fitted(x).p.corr(fitted(x).n),
    "ranks of what is known": lambda x: (fitted(x).p * fitted(x).n.rank()).sum(),
    "by known columns": lambda x: fitted(x).drop_duplicates("id", keep="last").p.sum(),
    "chosen by text": lambda x: fitted(x).query("n > 4 and group == 'b'").p.sum(),
    "of dicts of rows": lambda x: pd.DataFrame.from_dict(
        {"a": x, "b": x**2}, orient="index", columns=list("uvw")
    ).u.sum(),
    "of a dict": lambda x: pd.DataFrame.from_dict({"p": x, "k": [2, 0, 1]}).set_index("k").p.loc[0] ** 2,
    "a column called name": lambda x: sum(
        row.v * (2.0 if row.name == 0 else 1.0) * row.size
        for _, row in pd.DataFrame({"name": list("abc"), "size": 7, "v": x}).iterrows()
    ),
    "groups without rows": lambda x: (
        pd.DataFrame({"c": pd.Categorical(list("xyx"), categories=list("wxyz")), "v": x})
        .groupby("c", observed=False)
        .v.agg("sum")
        .to_numpy()
        @ np.arange(1.0, 5)
    ),
    "the first rows of groups": lambda x: (
        fitted(x).groupby("id").head(1).p.sum() + fitted(x).groupby("id").tail(1).p.max()
    ),
    "the largest of each group": lambda x: fitted(x).loc[fitted(x).groupby("id").p.idxmax(), "p"].sum(),
    "several statistics a column": lambda x: (
        (fitted(x).groupby("id").agg({"p": ["mean", "std"], "n": "max"}) ** 2).sum().sum()
        + fitted(x)[["id", "p", "y"]].groupby("id").agg(["min", "max"])[("p", "max")].sum()
    ),
    "the first of its group": lambda x: (fitted(x).groupby("id").p.transform("first") * fitted(x).p).sum(),
    "filled where one is missing": lambda x: (
        pd.Series(x, index=list("abc")).add(pd.Series([1.0, 2.0], index=list("bd")), fill_value=0.5).pow(2).sum()
    ),
    "beside a column of ones": lambda x: (
        np.linalg.lstsq(np.c_[np.ones(6), DATA.t + x[0], fitted(x).n], fitted(x).p, rcond=None)[0].sum()
        + np.r_[fitted(x).p, x].sum()
    ),
    "several quantiles": lambda x: (fitted(x).p.quantile([0.2, 0.7]) ** 2).sum(),
    "no group": lambda x: fitted(x).query("n > 9").groupby("id").p.mean().sum() + x[0],
    "joined by an index": lambda x: (lambda d: (d.p * d.w).sum())(fitted(x).set_index("id").merge(EXTRA, on="id")),
    "one group": lambda x: fitted(x).groupby("id").get_group(2).p.sum(),
    "shifted and filled": lambda x: (fitted(x).groupby("id").p.shift(1, fill_value=0.5) * fitted(x).n).sum(),
    "filled": lambda x: (lambda d: (d.p.shift(1).fillna(0) * d.p).sum())(fitted(x).fillna(0.0)),
    "of dicts of columns": lambda x: pd.DataFrame({"p": x, "k": [2, 0, 1]}).sort_values("k").p.iloc[0] * 2.0,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    expect_slopes(sg.value_and_grad(PROGRAMS[name])(X), PROGRAMS[name], X)


def test_results_have_the_labels_and_the_numbers_of_pandas():
    for f in (fitted, lambda x: fitted(x).merge(EXTRA, on="id"), lambda x: fitted(x).set_index("n")[["p", "id"]]):
        pd.testing.assert_frame_equal(sg.symbolic(f)(X), f(X), check_dtype=False)
    kept = sg.symbolic(lambda x: fitted(x).n.dtype.kind + fitted(x).group.iloc[0])
    assert kept(X) == "ia"


def test_a_known_DataFrame_is_as_it_was():
    before = DATA.copy()
    sg.grad(PROGRAMS["a known column is written to"])(X)
    pd.testing.assert_frame_equal(DATA, before)


def test_what_has_no_rule_is_refused():
    def by_traced(x):
        return fitted(x).merge(pd.DataFrame({"p": [1.0], "w": [2.0]}), on="p").w.sum()

    def of_text(x):
        return (fitted(x) * 2).p.sum()

    with pytest.raises(UnsupportedOperation, match="columns of traced numbers"):
        sg.grad(by_traced)(X)
    with pytest.raises(UnsupportedOperation, match="KeyError: 'none'"):
        sg.grad(lambda x: fitted(x).merge(EXTRA, on="none").p.sum())(X)
    with pytest.raises(UnsupportedOperation, match=r"no numbers \('group'\)"):
        sg.grad(of_text)(X)
