"""Element functions and problems of optimisation: gradients and Hessians against differences of the plain functions."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import slopes

import symgrad as sg

_MODULES = ("sif_elements", "more_garbow_hillstrom", "luksan", "hock_schittkowski")
_PROGRAMS = [(m, name) for m in _MODULES for name in importlib.import_module(f"cutest.{m}").PROGRAMS]


def test_there_are_enough():
    assert len(_PROGRAMS) >= 150


@pytest.mark.parametrize(("module", "name"), _PROGRAMS)
def test_gradient_and_hessian(module, name):
    program = importlib.import_module(f"cutest.{module}").PROGRAMS[name]
    gradient = sg.value_and_grad(program.function, backend="numpy")
    hessian = sg.hessian(program.function, backend="numpy")
    for x, *held in program.points:

        def function(v, held=held, shape=x.shape):
            return program.function(v.reshape(shape), *held)

        value, slope = gradient(x, *held)
        np.testing.assert_allclose(value, function(x), rtol=1e-12, atol=1e-13)
        [want] = slopes.gradients(program.function, (x, *held), program.wrt)
        np.testing.assert_allclose(slope, want, rtol=1e-7, atol=1e-7 * max(1, np.max(np.abs(want))))
        curves = slopes.hessian(function, x.ravel())
        got = hessian(x, *held).reshape(curves.shape)
        np.testing.assert_allclose(got, curves, rtol=1e-5, atol=1e-5 * max(1, np.max(np.abs(curves))))
