"""Exponential windows, interpolation and resampling of Series and DataFrames, as pandas has them."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedOperation

pd = pytest.importorskip("pandas")

X = np.array([0.5, 1.3, 0.7, 2.1, 0.9, 1.7])
HOURS = pd.date_range("2024-01-01", periods=6, freq="20h")
SERIES = pd.Series(X, index=HOURS)
FRAME = pd.DataFrame({"a": SERIES, "b": SERIES**2 - 3})
MISSING = SERIES.where([True, False, True, False, False, True])

OF_EACH = {
    "exponential deviations": lambda s: s.ewm(span=3).std(),
    "exponential variances": lambda s: s.ewm(alpha=0.3, adjust=False).var(),
    "with bias": lambda s: s.ewm(halflife=2).var(bias=True),
    "exponential means": lambda s: s.ewm(com=1.5).mean(),
    "out of order": lambda s: s.iloc[[3, 0, 5, 1, 4, 2]].resample("1D").sum(),
    "days": lambda s: s.resample("1D").mean(),
    "half days, some of them empty": lambda s: s.resample("12h").sum(),
    "the largest of days": lambda s: s.resample("1D").max(),
    "deviations of two days": lambda s: s.resample("2D").std(),
    "the last of days": lambda s: s.resample("2D", closed="right", label="right").last(),
    "filled between": lambda s: s.resample("10h").ffill(),
    "interpolated between": lambda s: s.resample("10h").interpolate(),
}
OF_SERIES = {
    "opened and closed": lambda s: s.resample("2D").ohlc(),
    "several statistics": lambda s: s.resample("2D").agg(["first", "max", "mean"]),
    "a function of days": lambda s: s.resample("2D").apply(lambda part: (part**2).sum()),
}
CASES = {
    **{f"{name}, a Series": (f, SERIES) for name, f in (OF_EACH | OF_SERIES).items()},
    **{f"{name}, a DataFrame": (f, FRAME) for name, f in OF_EACH.items()},
    "interpolated": (lambda s: s.interpolate(), MISSING),
    "interpolated by time": (lambda s: s.interpolate(method="time"), MISSING),
    "interpolated from later on": (lambda s: s.shift(1).interpolate(), MISSING),
}


@pytest.mark.parametrize("name", CASES)
def test_values_labels_and_slopes(name):
    f, given = CASES[name]
    wanted, made = f(given), sg.symbolic(f)(given)
    check = pd.testing.assert_series_equal if wanted.ndim == 1 else pd.testing.assert_frame_equal
    check(made, wanted, check_freq=False, check_names=False)

    def total(values):
        return np.nansum(np.asarray(f(values)) ** 2)

    gradient, there = np.asarray(sg.grad(total)(given)), ~np.isnan(np.asarray(given))
    for at in np.argwhere(there):
        step = np.zeros(given.shape)
        step[tuple(at)] = 1e-6
        slope = (total(given + step) - total(given - step)) / 2e-6
        np.testing.assert_allclose(gradient[tuple(at)], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "fn",
    [
        lambda s: MISSING.ewm(span=3).mean().sum() + (s * MISSING).ewm(span=3).mean().sum(),
        lambda s: s.ewm(span=3).cov(SERIES).sum(),
        lambda s: s.resample("1D", axis=0).mean().sum(),
    ],
)
def test_what_has_no_rule_is_refused(fn):
    with pytest.raises(UnsupportedOperation):
        sg.grad(fn)(SERIES)
