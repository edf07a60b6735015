"""Data with labels that a function reads from outside: a trace serves until it changes, and no longer."""

import numpy as np
import pytest
from mutations import Cases, check

import symgrad as sg

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")
case = Cases()
X = np.arange(1.0, 6.0)
DAYS = pd.date_range("2024-01-01", periods=5)
NAMES = pd.Index(list("abcde"))
PAIRS = pd.MultiIndex.from_product([[1], list("abcde")])
KINDS = pd.Series(pd.Categorical(list("ababa")))
ARRAY = xr.DataArray(np.arange(5.0), dims="t", coords={"t": DAYS})
DATA = xr.Dataset({"a": ARRAY})


@case
def an_element_of_a_series(world):
    s = pd.Series([1.0, 2.0], index=["a", "b"])
    return lambda x: s["b"] * np.sum(x), lambda: s.__setitem__("b", 5.0)


@case
def the_labels_of_a_series(world):
    s = pd.Series([1.0, 2.0], index=["a", "b"])
    return lambda x: s["b"] * np.sum(x), lambda: setattr(s, "index", pd.Index(["b", "a"]))


@case
def the_name_of_an_index(world):
    index = pd.Index(["a", "b"], name="first")
    return lambda x: len(index.name) * np.sum(x), lambda: setattr(index, "name", "of")


@case
def an_element_of_a_data_array(world):
    a = xr.DataArray([1.0, 2.0], dims="t", coords={"t": [1, 2]})
    return lambda x: a.sel(t=2).item() * np.sum(x), lambda: a.loc.__setitem__({"t": 2}, 5.0)


@case.each()
def test_a_change_is_seen(make, world):
    check(make, world)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (pd.Series(x, index=DAYS) ** 2)[DAYS[2]],
        lambda x: pd.Series(x, index=NAMES)["b"] ** 2,
        lambda x: (pd.Series(x, index=PAIRS) ** 2).sum(),
        lambda x: (pd.DataFrame({"k": KINDS, "x": x}).x ** 2).sum(),
        lambda x: (ARRAY * x**2).sum().item(),
        lambda x: (DATA.a * x**2).sum().item(),
    ],
)
def test_labels_from_outside_are_read_once(f):
    """A function that is traced at every call is warned of, and warnings are errors."""
    g = sg.grad(f)
    np.testing.assert_array_equal(g(X), g(X))
