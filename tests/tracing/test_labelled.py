"""Series and DataFrames of pandas and DataArrays of xarray, as arguments and beside them."""

from __future__ import annotations

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


REFUSED = {
    "the sum of a frame": lambda X: np.sum(X),
    "its columns' sums": lambda X: X.sum(),
    "the mean of a frame": lambda X: X - X.mean(),
    "standard deviations": lambda X: np.std(X["price"]),
    "its own deviations": lambda X: X["price"].std(),
    "windows": lambda X: X["price"].rolling(2).mean().sum(),
    "places": lambda X: X.iloc[0].sum(),
    "rows": lambda X: X["price"][0],
    "a transposed frame": lambda X: X.T,
    "its rows one by one": lambda X: sum(x for x in X),
    "a column that is not there": lambda X: X["none"].sum(),
    "other labels": lambda X: (X["price"] * SERIES.iloc[::-1]).sum(),
    "other labels first": lambda X: (SERIES.iloc[::-1] * X["price"]).sum(),
    "a frame and a series": lambda X: (X - SERIES).to_numpy().sum(),
    "weights with labels": lambda X: (X @ pd.Series(W, index=["price", "volume"])).sum(),
    "a product behind": lambda X: np.ones(6) @ X,
    "columns that are written": lambda X: X.__setitem__("new", 1.0),
    "a reduction": lambda X: np.add.reduce(X["price"]),
    "a plain array": lambda X: np.linalg.norm(X),
    "nonsense": lambda X: X.nonsense,
    "too many columns": lambda X: (X * np.ones((6, 3))).to_numpy().sum(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_goes_by_labels_is_refused(name):
    with pytest.raises(SymgradError):
        sg.grad(REFUSED[name])(FRAME)


def test_the_way_out_is_said():
    with pytest.raises(UnsupportedOperation, match="to_numpy"):
        sg.grad(lambda X: X["price"].std())(FRAME)
    with pytest.raises(UnsupportedOperation, match=r"np\.sum\(x\.to_numpy\(\), axis=0\)"):
        sg.grad(lambda X: X.sum())(FRAME)
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
    with pytest.raises(DtypeError, match="object"):
        sg.grad(lambda X: X["a"].sum())(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
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
