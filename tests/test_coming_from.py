"""What ``docs/coming_from.md`` says is the same there and here: code runs, and gives the same numbers."""

from __future__ import annotations

import doctest
import pathlib
import re
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad import nn, ops

PAGE = (pathlib.Path(__file__).parents[1] / "docs" / "coming_from.md").read_text("utf-8")
CODE = [example.source for example in doctest.DocTestParser().get_examples(PAGE)]
#: code in a column that is no expression
_WORDS = re.compile(r"\w+=|if|bprop|import .*")


def jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    return {"jax": jax, "np": jax.numpy}


def autograd():
    autograd = pytest.importorskip("autograd")
    pytest.importorskip("autograd.extend")
    return {"autograd": autograd, "np": pytest.importorskip("autograd.numpy")}


def torch():
    import torch
    import torch.utils.checkpoint

    return {
        "torch": torch,
        "np": SimpleNamespace(sin=torch.sin, sum=torch.sum, array=lambda x: torch.tensor(x, dtype=torch.float64)),
    }


def casadi():
    ca = pytest.importorskip("casadi")
    return {"ca": ca, "S": ca.SX.sym("S", 3), "np": SimpleNamespace(sin=ca.sin, sum=ca.sum1, array=np.array)}


#: what the names of a table stand for in the library that it is about; nothing for one that cannot be had
LIBRARIES = {"JAX": jax, "autograd": autograd, "PyTorch": torch, "CasADi": casadi, "sympy": lambda: {"np": np}}

ROWS = [
    pytest.param(section.split("\n")[0], *columns, id=f"{section.split(chr(10))[0]}: {columns[0]}")
    for section in PAGE.split("\n## ")[1:]
    for columns in re.findall(r"^\| (.*`.*) \| (.*) \|$", section, re.M)
]


def values(column, names):
    """What the code in a column gives, where ``names`` is what the page has defined."""
    for source in CODE:
        if not source.startswith("import"):
            exec(source, names)
    return [eval(code, names) for code in re.findall(r"`([^`]*)`", column) if not _WORDS.fullmatch(code)]


def numbers(value, names):
    """The arrays in a value; nothing for what is none."""
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in numbers(part, names)]
    if isinstance(value, sympy.Basic):
        return [np.array(value.subs({s: {"a": 1.0, "b": 2.0}[str(s)] for s in value.free_symbols}), float)]
    ca = names.get("ca")
    if ca is not None and isinstance(value, (ca.SX, ca.DM)):
        return [np.array(ca.Function("value", [names["S"]], [ca.densify(value)])(names["x"])).squeeze()]
    if hasattr(value, "asnumpy"):
        return [value.asnumpy()]
    is_array = hasattr(value, "__array__") and hasattr(value, "dtype")
    return [np.asarray(value)] if is_array or isinstance(value, float) else []


@pytest.mark.parametrize(("library", "there", "here"), ROWS)
def test_here(library, there, here):
    made = values(here, {"sg": sg, "ops": ops, "nn": nn, "np": np, "sympy": sympy})
    arrays = [array for value in made for array in numbers(value, {})]
    assert all(np.all(np.isfinite(array)) for array in arrays)


@pytest.mark.parametrize(
    "library",
    [pytest.param(n, marks=pytest.mark.needs("torch")) if n == "PyTorch" else n for n in LIBRARIES],
)
def test_the_same_there(library):
    compared = 0
    for section, there, here in (row.values for row in ROWS):
        if section == library:
            theirs = {"sympy": sympy, **LIBRARIES[library]()}
            ours = {"sg": sg, "np": np, "sympy": sympy}
            wanted, made = (numbers(values(code, of)[:1], of) for code, of in ((there, theirs), (here, ours)))
            for a, b in zip(wanted, made, strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12, err_msg=there)
            compared += len(wanted)
    assert compared > 2
