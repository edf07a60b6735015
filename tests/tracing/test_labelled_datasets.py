"""Datasets of xarray, as arguments and made in traced functions."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(4)
DATA = xr.Dataset(
    {
        "a": (("t", "x"), RNG.normal(size=(4, 3)) + 3.0),
        "b": ("t", RNG.normal(size=4)),
        "n": ("t", [1, 2, 3, 4]),
        "s": ((), 2.0),
    },
    coords={"t": pd.date_range("2024-01-30", periods=4), "x": [0.0, 1.0, 3.0], "k": ("t", list("abab"))},
    attrs={"units": "m"},
)
TWO = ["a", "b"]
KNOWN = xr.Dataset({"c": ("t", np.arange(4.0))}, {"t": DATA.t})


def written(d):
    e = d.copy()
    alias = e
    e["b"] = d.b**2
    e["z"] = alias.b * e.a
    e["w"] = ("t", np.arange(4.0))
    e.update(xr.Dataset({"v": e.b * 3.0}))
    del e["a"]
    return alias.map(lambda v: v * 2.0)


PROGRAMS = {
    "variables": lambda d: d[["a"]] * d["b"] * d.s + d.n,
    "statistics": lambda d: d.mean("t") + d[TWO].sum() * d.max(),
    "places": lambda d: d.isel(t=1) * d.sel(x=1.0).a.sum() + d[{"t": 0}],
    "arithmetic": lambda d: (d[TWO] - d[TWO].mean("t")) ** 2 / (1 - d[TWO] / 10) - d[TWO] * d.b,
    "assigned": lambda d: d.assign(c=d.a * d.b, e=lambda q: q.b**2).assign_coords(x=[2.0, 3.0, 4.0]),
    "written": written,
    "written parts": lambda d: written_parts(d.copy(deep=True)),
    "mapped": lambda d: d[TWO].map(np.tanh) + np.exp(-d[TWO]) * np.maximum(d[TWO], 0.1),
    "compared": lambda d: d[TWO] * (d[TWO] > d[TWO].mean()) + (d[TWO] == d[TWO]) * d.s,
    "made": lambda d: xr.Dataset({"p": d.a * 2, "q": ("t", d.b.values**2), "r": d.s}, {"t": d.t}, {"units": "m"}),
    "windows": lambda d: d[TWO].rolling({"t": 2}, center=True).mean() + d[["a"]].coarsen(x=3).max().isel(x=0).a,
    "groups": lambda d: d[TWO].groupby("k").mean(),
    "resampled": lambda d: d[TWO].resample(t="2D").mean(),
    "weighted": lambda d: d[["a"]].weighted(d.x + 1).mean("x"),
    "interpolated": lambda d: d[["a", "s"]].interp(x=0.5),
    "one array": lambda d: d[["b"]].to_array() * d[["b"]].to_dataarray(dim="variable"),
    "merged": lambda d: xr.merge([d[["a"]], (d.b * 2).rename("z").to_dataset()], compat="override").merge(
        d[["s"]], compat="override"
    ),
    "joined": lambda d: xr.concat([d[["b"]], d[["b"]] * 2], dim="m"),
    "a polynomial": lambda d: xr.polyval(d.x, d.a.polyfit("x", 1).polyfit_coefficients),
    "items": lambda d: sum((v**2).sum() for v in d.data_vars.values() if v.dtype.kind == "f") * len(d) * d.sizes["t"],
    "dropped and renamed": lambda d: d.drop_vars("b").rename(a="z").stack(both=("t", "x")).pipe(lambda d: d * 2),
    "chosen": lambda d: d.where(d.n > 2, 0.0)[TWO] if "a" in d and d.get("none") is None else d,
    "a known one": lambda d: (KNOWN * d.s).assign(c=d.b) + (KNOWN - d.b[0]) / d[["s"]].s,
    "chosen by another": lambda d: d[TWO].where(d[TWO] > 1.0, 0.0) + d[TWO].fillna(d[TWO]),
    "assigned with other labels": lambda d: d.assign(c=d.b.isel(t=[2, 0]), e=d.b.rename(t="z").drop_vars(["z", "k"])),
    "differences": lambda d: d[TWO].diff("t") + d[TWO].shift(t=1).fillna(0.0),
}


def written_parts(d):
    shallow = d[["b"]].copy()
    shallow["b"][1] = d.s * 2.0
    e = d.copy(deep=True)
    first = e.isel(t=0)
    e["a"][0, 1] = d.b[2] * d.s
    e["a"].loc[{"x": 3.0}] *= 2.0
    e["b"] += 1.0
    d["s"] = d.s * 3.0
    return e[TWO] * first.a.sum() * d.s + d[TWO]


def total(made):
    """A number of all that a Dataset or a DataArray holds."""
    variables = made.data_vars.values() if hasattr(made, "data_vars") else [made]
    return sum((v * v * np.cos(k + np.arange(v.size)).reshape(v.shape)).sum() for k, v in enumerate(variables))


def slopes(f, data, name, step=1e-6):
    found = np.zeros(data[name].shape)
    for at in np.ndindex(found.shape):
        ends = []
        for sign in (1, -1):
            moved = data.copy(deep=True)
            moved[name].values[at] += sign * step
            ends.append(float(f(moved)))
        found[at] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_labels_and_slopes(name):
    f, before = PROGRAMS[name], DATA.copy(deep=True)
    wanted, made = f(DATA), sg.symbolic(f)(DATA)
    assert type(made) is type(wanted)
    xr.testing.assert_allclose(made, wanted, rtol=1e-12)

    value, gradient = sg.value_and_grad(lambda d: total(f(d)))(DATA)
    np.testing.assert_allclose(value, total(wanted), rtol=1e-12)
    assert type(gradient) is xr.Dataset
    for own in ("a", "b", "s"):
        expected = slopes(lambda d: total(f(d)), DATA, own)
        np.testing.assert_allclose(gradient[own], expected, rtol=1e-5, atol=1e-6 * (1 + abs(float(value))))
    xr.testing.assert_identical(gradient.n, DATA.n)  # a setting stays
    assert gradient.coords.to_dataset().identical(DATA.coords.to_dataset())
    assert DATA.identical(before)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_variable_has_the_dtype_that_xarray_gives(name):
    data = DATA.astype(np.float32).assign(n=DATA.n)
    wanted, made = (own(data) for own in (PROGRAMS[name], sg.symbolic(PROGRAMS[name])))
    if not isinstance(wanted, xr.Dataset):
        wanted, made = (array.to_dataset(name="one") for array in (wanted, made))
    assert {n: v.dtype for n, v in made.variables.items()} == {n: v.dtype for n, v in wanted.variables.items()}


def test_an_array_that_a_dataset_looks_into_is_not_written_to():
    def f(x):
        y = np.zeros(3)
        made = xr.Dataset({"v": ("t", y)})
        y[0] = x[0]
        return (made.v * 2.0).sum().item()

    with pytest.raises(SymgradError, match="Make the Dataset after the write"):
        sg.grad(f)(np.ones(2))


def test_other_labels_are_another_signature():
    g = sg.grad(lambda d: (d.b * d.n).sum())
    np.testing.assert_array_equal(g(DATA).b, [1, 2, 3, 4])
    np.testing.assert_array_equal(g(DATA.assign(n=DATA.n * 2)).b, [2, 4, 6, 8])
    np.testing.assert_array_equal(g(DATA.isel(t=slice(2))).b, [1, 2])
    changed = DATA.copy(deep=True)
    np.testing.assert_array_equal(g(changed).b, [1, 2, 3, 4])
    changed.n.values[0] = 7
    np.testing.assert_array_equal(g(changed).b, [7, 2, 3, 4])


def test_a_jacobian_has_the_blocks_of_the_variables():
    blocks = sg.jacobian(lambda d: d.a.sum("x").values * d.b.values)(DATA)
    np.testing.assert_allclose(blocks["b"], np.diag(DATA.a.sum("x")))


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda d: d.rank("t"), r"Dataset\.rank.*of its variables"),
        (lambda d: d.isel(t=d.b), "by traced values"),
        (lambda d: d.groupby("k").mean(), "variable 's' has not their dim"),
        (lambda d: d.copy().__setattr__("a", d.b), r"Write ds\['a'\]"),
        (lambda d: d.copy().__setitem__(TWO, 1.0), 'Write ds\\["a"\\]'),
    ],
)
def test_what_has_no_rule_is_refused(f, told):
    with pytest.raises(SymgradError, match=told):
        sg.grad(lambda d: f(d).sum())(DATA)
