"""What a function writes into a Series or a DataFrame that it has made."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg
from symgrad.errors import StaleView, TracingError, UnsupportedOperation

pd = pytest.importorskip("pandas")
if int(pd.__version__.split(".")[0]) < 3:
    pytest.skip("before 3.0 pandas writes through what was taken from a DataFrame", allow_module_level=True)

X = np.array([1.2, 2.1, 3.0, 0.7])
KNOWN = pd.DataFrame({"b": [4.0, 3.0, 2.0, 1.0], "g": list("uvuv")}, index=list("wxyz"))
STEEP = pd.Series([1.0, 10.0, 100.0, 1000.0], index=list("abcd"))


def frame(x):
    return pd.DataFrame({"a": x, "b": KNOWN["b"].to_numpy() * x[0], "g": KNOWN["g"].to_numpy()})


def series(x):
    return pd.Series(x, index=list("abcd"))


def written(make, write, read):
    def fn(x):
        value = make(x)
        write(value, x)
        return read(value, x)

    return fn


def by_item(key, given):
    def write(value, x):
        value[key(value) if callable(key) else key] = given(value, x)

    return write


def by_place(indexer, key, given):
    def write(value, x):
        getattr(value, indexer)[key(value) if callable(key) else key] = given(value, x)

    return write


def by_attribute(name, given):
    def write(value, x):
        setattr(value, name, given(value, x))

    return write


def total(value, x):
    return (value.select_dtypes("number") ** 2).sum().sum() if hasattr(value, "columns") else (value**2).sum()


def of_a(value, x):
    return (value["a"] ** 2).sum()


ZERO, SQUARE = lambda v, x: 0.5, lambda v, x: x[1] ** 2
FRAMES = {
    "a constant where a mask of values holds": (by_place("loc", lambda d: (d["b"] > 3, "a"), ZERO), of_a),
    "a value where a mask holds": (by_place("loc", lambda d: (d["a"] > 1.5, "a"), SQUARE), of_a),
    "a column where a mask of text holds": (
        by_place("loc", lambda d: (d["g"] == "u", "a"), lambda d, x: d.loc[d["g"] == "u", "b"] * 2),
        of_a,
    ),
    "an entry by its place": (by_place("iloc", (1, 0), SQUARE), of_a),
    "an entry by its labels": (by_place("at", (1, "a"), SQUARE), of_a),
    "a column by its place": (by_place("iloc", (slice(None), 0), lambda d, x: x**2), of_a),
    "a column": (by_place("loc", (slice(None), "b"), lambda d, x: d["a"] ** 2), lambda d, x: d["b"].sum()),
    "a part": (by_place("loc", (slice(1, 2), ["a", "b"]), ZERO), lambda d, x: d[["a", "b"]].sum().sum()),
    "text": (by_place("loc", lambda d: (d["a"] > 1.5, "g"), lambda d, x: "w"), lambda d, x: d[d.g == "w"]["a"].sum()),
    "a column by attribute": (by_attribute("a", lambda d, x: x * 3), of_a),
    "names of columns": (by_attribute("columns", lambda d, x: ["b", "a", "g"]), lambda d, x: d["a"].sum() * x[1]),
    "an index": (by_attribute("index", lambda d, x: list("wxyz")), lambda d, x: d.loc["y", "a"] ** 2),
    "a column that is put between": (
        lambda d, x: d.insert(1, "c", d["a"] * 2),
        lambda d, x: d["c"].sum() * len(d.columns),
    ),
    "a column that is taken out": (lambda d, x: d.update if d.pop("b") is None else None, lambda d, x: d["a"].sum()),
    "a column that is deleted": (lambda d, x: d.__delitem__("a"), lambda d, x: d["b"].sum() * len(d.columns)),
    "in place": (lambda d, x: d.set_index("g", inplace=True), lambda d, x: d.loc["u", "a"].sum()),
    "renamed in place": (lambda d, x: d.rename(columns={"a": "z"}, inplace=True), lambda d, x: d["z"].sum()),
    "sorted in place": (lambda d, x: d.sort_values("a", inplace=True), lambda d, x: d["a"].iloc[0] * x[1]),
}
SERIES = {
    "where a mask holds": (by_item(lambda s: s > 1, ZERO), total),
    "an element": (by_item("b", SQUARE), total),
    "a stretch": (by_place("loc", slice("b", "c"), SQUARE), total),
    "elements by their labels": (by_item(["a", "b"], lambda s, x: pd.Series(x[:2] ** 2, index=["b", "z"])), total),
    "a list": (by_place("iloc", [0, 3], lambda s, x: [x[1], 2.0]), total),
    "its own": (by_place("iloc", 0, lambda s, x: s["c"] * 2), total),
    "an element that was not there": (by_place("loc", "e", SQUARE), total),
    "an index": (by_attribute("index", lambda s, x: list("dcba")), lambda s, x: (s * STEEP).sum()),
    "a name": (by_attribute("name", lambda s, x: "q"), lambda s, x: s.to_frame()["q"].sum() * x[0]),
    "an element by attribute": (by_attribute("b", SQUARE), total),
    "clipped in place": (lambda s, x: s.clip(1, 2, inplace=True), total),
}


def zeros(x):
    made = pd.DataFrame(np.zeros((3, 2)), columns=["a", "b"])
    made.loc[0, "a"] = x[0]
    made.loc[1] = x[:2]
    made.iloc[2, 1] += x[3]
    return (made**2).sum().sum()


def places_of_numbers(x):
    made = pd.Series(0.0, index=list("abc"))
    made["b"] = x[0]
    made.loc["c"] = x[1] ** 2
    made.iloc[0] = made["c"]
    return (made**2).sum()


def augmented(x):
    made = pd.Series(x)
    made[made > 1] *= 2
    made.loc[2] += x[0]
    return (made**2).sum()


def under_another_name(x):
    made = pd.Series(x)
    other, copy = made, made.copy()
    made.iloc[0] = x[1] ** 2
    return (other * made * copy).sum()


def what_it_was_made_of(x):
    array, square, own = x * 2, np.outer(x, x), np.zeros(4)
    own[1] = x[0]
    made = [pd.Series(array), pd.DataFrame(square), pd.DataFrame({"a": array}), pd.Series(own)]
    array[0] = square[0, 1] = own[0] = 9.0
    return sum((m**2).to_numpy().sum() for m in made) + array.sum() + square.sum() + own.sum()


def of_a_selection(x):
    made = frame(x)
    part = made[["a"]]
    part.loc[0, "a"] = 7.0
    made["a"].iloc[1] = 99.0
    return (made["a"] ** 2).sum() + part["a"].sum()


def other_labels_in_place(x):
    s = pd.Series(x, index=list("abcd"))
    alias = s
    s += pd.Series(x * 2, index=list("dbce"))
    alias *= 2.0
    return (s.fillna(x[0]) * np.arange(4.0)).sum()


def as_arrays(x):
    s, d = pd.Series(x * 1.0), pd.DataFrame({"a": x, "b": x * 2})
    own, of_frame = s.to_numpy(copy=True), d.to_numpy(copy=True)
    own[0], of_frame[0] = 5.0, 7.0
    part = d["a"].to_numpy() * s.values
    d.loc[0, "a"] = 9.0
    s *= 2.0
    s.T.iloc[1] = 4.0

    def written_copy(q):
        q.iloc[2] = 3.0
        return q.sum()

    return s.pipe(written_copy) * s.sum() + (own * part).sum() + of_frame.sum() + d["a"].sum()


def chosen(x):
    return pd.Series(x).where(lambda s: s > 1, 0.0).sum() + pd.Series(x).mask(lambda s: s > 2, lambda s: s * s).sum()


def looked_up(x):
    return (KNOWN["g"].map({"u": x[0], "v": x[1] ** 2}) * x).sum() + KNOWN["g"].map({"u": x[2]}).fillna(x[3]).sum()


WEIGHTS = pd.DataFrame({"g": ["u", "v"], "w": [1.0, 3.0]})
PROGRAMS = {
    **{f"frame: {name}": written(frame, write, read) for name, (write, read) in FRAMES.items()},
    **{f"series: {name}": written(series, write, read) for name, (write, read) in SERIES.items()},
    **{
        f.__name__: f
        for f in (
            zeros,
            places_of_numbers,
            augmented,
            under_another_name,
            what_it_was_made_of,
            of_a_selection,
            other_labels_in_place,
            as_arrays,
        )
    },
    "chosen by a function": chosen,
    "looked up": looked_up,
    "mapped": lambda x: pd.Series(x).map(lambda v: v * v).sum(),
    "merged": lambda x: frame(x).merge(WEIGHTS, on="g").pipe(lambda d: d["a"] * d["w"]).sum(),
    "merged from the left": lambda x: (
        frame(x).merge(pd.DataFrame({"g": ["v"], "w": x[:1]}), "left", "g").sum(numeric_only=True)["w"]
    ),
    "joined": lambda x: (frame(x).join(pd.DataFrame({"w": [2.0, 5.0]}, index=[1, 3]))["w"].fillna(0.0) * x).sum(),
    "joined on a column": lambda x: (frame(x).join(WEIGHTS.set_index("g"), on="g")["w"] * x).sum(),
    "one below the other": lambda x: (frame(x).melt(id_vars="g")["value"] ** 2).sum(),
    "side by side": lambda x: (frame(x).pivot(columns="g", values="a").fillna(0.0) ** 2).sum().sum(),
}


@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:A value is being set on a copy")
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    fn = PROGRAMS[name]
    expect_slopes(sg.value_and_grad(fn)(X), fn, X)


def test_a_mask_of_values_is_guarded():
    derived = sg.value_and_grad(PROGRAMS["frame: a value where a mask holds"])
    for x in (X, X[::-1].copy(), 0.1 * X):
        np.testing.assert_allclose(derived(x)[0], PROGRAMS["frame: a value where a mask holds"](x), rtol=1e-12)


REFUSED = {
    "by columns of numbers": lambda x: frame(x).merge(pd.DataFrame({"a": x, "w": x}), on="a")["w"].sum(),
    "an attribute": written(frame, by_attribute("new", lambda d, x: x), of_a),
    "values as labels": written(series, by_attribute("index", lambda s, x: x), total),
}


def test_values_are_read_and_not_after_a_write():
    def f(x):
        s = pd.Series(x)
        s.values[0] = 1.0
        return s.sum()

    def g(x):
        s = pd.Series(x)
        values = s.values
        s.iloc[0] = 5.0
        return values.sum()

    with pytest.raises(TracingError, match="read-only, as in pandas"):
        sg.grad(f)(X)
    with pytest.raises(StaleView):
        sg.grad(g)(X)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name):
    with pytest.raises(UnsupportedOperation, match=r"to_numpy|set_index|on=|\['new'\]"):
        sg.grad(REFUSED[name])(X)


@pytest.mark.parametrize(
    "write",
    [
        by_place("loc", "a", ZERO),
        by_item("a", ZERO),
        by_attribute("index", lambda s, x: list("dcba")),
        by_attribute("a", ZERO),
        lambda s, x: s.pop("a"),
        lambda s, x: operator.itruediv(s, s.sum()),
    ],
)
def test_an_argument_is_written_to_inside_and_the_caller_has_what_it_had(write):
    given, f = series(X), written(lambda given: given, write, total)
    value, gradient = sg.value_and_grad(f)(given)
    expect_slopes((value, gradient.to_numpy()), lambda x: f(series(x)), X)
    assert list(gradient.index) == list("abcd")
    with pytest.raises(TracingError):
        sg.grad(lambda x: by_place("loc", "a", SQUARE)(given, x) or total(given, x))(X)
    pd.testing.assert_series_equal(given, series(X))
