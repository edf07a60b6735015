"""Programs around code that nobody looks into: values against a plain call, derivatives against finite differences."""

from __future__ import annotations

import custom_programs
import more_custom_programs
import numpy as np
import pytest
from more_custom_programs import PROGRAMS
from spellings import imported_names

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


def as_a_method(function):
    class Model:
        def run(self, *args):
            return function(*args)

    return Model().run


def as_a_closure(function):
    def outer():
        inner = function
        return lambda *args: inner(*args)

    return outer()


@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_closures_and_cells_of_a_notebook_run_them_too(name, shell):
    function, args, _ = PROGRAMS[name]()
    by = tuple(range(len(args)))
    wanted = sg.grad(function, by, backend="numpy")(*args)
    shell.user_ns.update(function=function, by=by)
    cell = "def f(*args):\n    return function(*args)\nimport symgrad as sg\nd = sg.grad(f, by, backend='numpy')"
    shell.run_cell(cell).raise_error()
    for spelled in (as_a_method(function), as_a_closure(function), shell.user_ns["d"]):
        made = spelled if spelled is shell.user_ns["d"] else sg.grad(spelled, by, backend="numpy")
        for mine, theirs in zip(made(*args), wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.fixture(scope="module")
def imported():
    """The programs with names of NumPy that are imported one by one."""
    as_written = dict(PROGRAMS)
    made = {**imported_names(more_custom_programs), **imported_names(custom_programs)}
    PROGRAMS.clear()
    PROGRAMS.update(as_written)
    return made


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_that_are_imported_are_followed_too(name, imported):
    assert list(imported) == list(PROGRAMS)
    (function, args, _), (written, same, _) = imported[name](), PROGRAMS[name]()
    assert getattr(function, "__code__", 0) is not getattr(written, "__code__", 1)
    by = tuple(range(len(args)))
    made, wanted = sg.grad(function, by, backend="numpy")(*args), sg.grad(written, by, backend="numpy")(*same)
    for mine, theirs in zip(made, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
