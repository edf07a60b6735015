"""What is told by the elements of a Series or a DataFrame in this run: duplicates, sets, bins, moments."""

from __future__ import annotations

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg
from symgrad.errors import UnsupportedOperation

pd = pytest.importorskip("pandas")

X = np.array([0.5, 1.3, 0.7, 2.1, 0.9, 1.7])
TEXT = list("xxyyzz")


def series(x):
    return pd.Series(x, index=list("abcdef"))


def table(x, **named):
    frame = pd.DataFrame({"a": TEXT, "b": list("ijijij"), "v": x})
    return frame.pivot_table(index="a", columns="b", values="v", **named)


PROGRAMS = {
    "duplicates": lambda x: pd.Series(x[[0, 1, 0, 2]]).drop_duplicates().sum(),
    "the last of equal ones": lambda x: (pd.Series(x[[0, 1, 0, 2]]).drop_duplicates(keep="last") * [1, 2, 3]).sum(),
    "of equal keys": lambda x: pd.DataFrame({"v": x, "k": [0, 1, 0, 1, 2, 2]}).drop_duplicates("k").v.sum(),
    "equal rows": lambda x: pd.DataFrame({"v": x[[0, 0, 1]], "k": [1, 1, 2]}).drop_duplicates().v.sum(),
    "each value": lambda x: sum(v**2 for v in pd.Series(x[[0, 1, 0]]).unique()),
    "counted by value": lambda x: series(x).sum() * series(x).nunique() * pd.Series(np.floor(x)).isin([0.0]).sum(),
    "ranks": lambda x: (series(x).rank() * series(x)).sum(),
    "in bins": lambda x: (series(x).groupby(pd.cut(series(x), [0, 1, 3]), observed=True).mean() ** 2).sum(),
    "in bins of a size": lambda x: (series(x).groupby(pd.qcut(series(x), 3), observed=True).mean() ** 2).sum(),
    "replaced": lambda x: (series(np.floor(x)).replace({1.0: 3.0, 2.0: 0.5}) * x).sum(),
    "moments": lambda x: series(x).skew() + series(x).kurt() + series(x).sem(),
    "moments of columns": lambda x: pd.DataFrame({"a": x, "b": x**2}).skew().sum(),
    "described": lambda x: series(x).describe()["std"] * series(x).describe()["75%"],
    "columns described": lambda x: pd.DataFrame({"a": x, "b": x**2, "t": TEXT}).describe().loc["mean"].sum(),
    "chosen by text": lambda x: pd.DataFrame({"v": x, "k": range(6)}).query("v > 0.8 and k > 1").v.sum(),
    "a table": lambda x: (table(x) ** 2).to_numpy().sum(),
    "a table with sums": lambda x: (table(x[:6], aggfunc="sum", fill_value=0) ** 2).to_numpy().sum(),
}


KNOWN = pd.Series([4.0, 1.0, 3.0, 2.0, 5.0, 6.0])
FRAME = KNOWN.to_frame("w").assign(k=list("aabbab"))


def dropped(x):
    frame = pd.DataFrame({"v": x})
    return frame.drop(frame.index[frame.v > 1]).v.sum()


def where_there_is_a_mean(x):
    means = pd.Series(x).rolling(2).mean()
    return means.loc[means.index[means.notna()]].sum()


BY_TRACED = {
    "an index by a mask": lambda x: pd.Series(x).loc[pd.Series(x).index[pd.Series(x) > 1]].sum(),
    "dropped by a mask": dropped,
    "where there is a mean": where_there_is_a_mean,
    "a known Series by a mask": lambda x: KNOWN[pd.Series(x) > 1].sum() * x[0],
    "a known Series by an array": lambda x: KNOWN[x > 1].sum() * x[0],
    "a known Series beyond a number": lambda x: KNOWN[2.1 * x[0] < KNOWN].sum() * x[0] + (x <= KNOWN).sum() * x[1],
    "a known DataFrame by a mask": lambda x: (
        FRAME.loc[pd.Series(x) > 1, "w"].sum() * x[0] + FRAME[x > 1].w.mean() * x[1]
    ),
    "places in order": lambda x: KNOWN.iloc[np.argsort(x)].iloc[0] * x[0],
    "groups by a mask": lambda x: (pd.DataFrame({"v": x}).groupby(pd.Series(x) > 1).v.mean() ** 2).sum(),
    "merged by a function": lambda x: (lambda m: (m.v * m.u).sum())(
        pd.merge(FRAME.assign(v=x), pd.DataFrame({"k": ["a", "b"], "u": [1.0, 2.0]}), on="k")
    ),
    "the first of equal ones": lambda x: (
        pd.DataFrame({"q": [1, 3, 3, 1, 3, 0], "v": x}).nlargest(2, "q").v.iloc[1] * 1.0
    ),
    "remainders": lambda x: (series(x) % 0.37).sum() + (series(x) // 0.37 * x).sum() + divmod(series(x), 0.29)[1].sum(),
    "crossed bounds": lambda x: pd.Series(x).clip(1.8, 0.6).sum(),
    "truths among the numbers": lambda x: (
        pd.DataFrame({"on": x > 9, "v": x, "t": TEXT}).assign(on=[True] * 6).mean(numeric_only=True).sum()
    ),
}
PROGRAMS |= BY_TRACED


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    expect_slopes(sg.value_and_grad(PROGRAMS[name])(X), PROGRAMS[name], X)


def test_numbers_of_python_are_written_as_python_writes_them():
    def f(x):
        return len(repr(float(x[0]))) * x[1] + len(str(x[:2].tolist())) * x[2]

    value, gradient = sg.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_array_equal(gradient, [0.0, 3.0, 10.0, 0.0, 0.0, 0.0])


def test_other_values_are_told_anew():
    first = sg.grad(lambda s: s.drop_duplicates().sum())
    np.testing.assert_array_equal(first(pd.Series([1.0, 2.0, 1.0])), [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(first(pd.Series([1.0, 2.0, 2.0])), [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(first(pd.Series([1.0, 2.0, 3.0])), [1.0, 1.0, 1.0])


ARGUMENT = pd.DataFrame({"v": X, "k": [2, 1, 2, 0, 1, 0], "t": TEXT})
OF_ARGUMENTS = {
    "an index": lambda d: (d.set_index("k").loc[1, "v"] ** 2).sum(),
    "an index of two": lambda d: d.set_index(["k", "t"]).v.unstack().prod().sum(),
    "sorted by two": lambda d: (d.sort_values(["k", "v"], ascending=[False, True]).v.to_numpy() * np.arange(6)).sum(),
    "mapped": lambda d: (d.k.map({0: 1.0, 1: 2.0, 2: 3.0}) * d.v).sum(),
    "indicators": lambda d: pd.get_dummies(d.k).astype(float).mul(d.v, axis=0).pow(2).sum().sum(),
    "places": lambda d: (d.iloc[d.k.to_numpy().astype(int)].v ** 2).sum(),
    "other types": lambda d: (d.astype({"k": int}).k * d.v).sum(),
    "each": lambda d: sum(d[d.k == k].v.prod() for k in d.k.unique()),
    "in a set": lambda d: d[d.k.isin([2, 0])].v.sum(),
}


@pytest.mark.parametrize("name", OF_ARGUMENTS)
def test_whole_numbers_in_an_argument(name):
    def of_values(x):
        return OF_ARGUMENTS[name](ARGUMENT.assign(v=x))

    value, gradient = sg.value_and_grad(OF_ARGUMENTS[name])(ARGUMENT)
    expect_slopes((value, gradient["v"].to_numpy()), of_values, X)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: pd.qcut(series(x), 3, retbins=True)[1].sum(),
        lambda x: series(x).replace([0.5, 0.7], 1.0).sum(),
        lambda x: table(x, margins=True).sum().sum(),
        lambda x: table(x, observed=False).sum().sum(),
        lambda x: (lambda level: pd.DataFrame({"v": x}).query("v > @level").v.sum())(1.0),
    ],
)
def test_what_has_no_rule_is_refused(fn):
    with pytest.raises(UnsupportedOperation):
        sg.grad(fn)(X)
