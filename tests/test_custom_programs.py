"""Programs around code that nobody looks into: values against a plain call, derivatives against finite differences."""

from __future__ import annotations

import more_custom_programs  # noqa: F401
import numpy as np
import pytest
from custom_programs import PROGRAMS

import symgrad as sg
from symgrad.testing import check_grads


def of_doubles(function):
    """``function`` of float64 arrays and numbers alone, which code of C takes."""

    def called(*arrays):
        return function(*[x.astype(np.float64)[()] for x in arrays])

    return called


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    function, args, order = PROGRAMS[name]()
    np.testing.assert_allclose(sg.symbolic(function)(*args), function(*args), rtol=1e-13)
    check_grads(of_doubles(function), [np.array(a) for a in args], order=order)


def test_there_are_as_many_as_promised():
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("name", [n for n in PROGRAMS if "process" not in n and "numba" not in n])
def test_every_backend_runs_them(name):
    function, args, _ = PROGRAMS[name]()
    by = tuple(range(len(args)))
    wanted = sg.grad(function, by, backend="numpy")(*args)
    for backend in ("auto", "numexpr"):
        got = sg.grad(function, by, backend=backend)(*args)
        for mine, theirs in zip(got, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)
