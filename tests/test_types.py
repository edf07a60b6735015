"""What an editor is told: a derivative takes the arguments of its function. pyright reads this file as well."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true, reportUnknownMemberType=false

from __future__ import annotations

import inspect

import pytest

import symgrad as sg
from symgrad.errors import SymgradError


def energy(x: float, *, stiffness: float = 2.0) -> float:
    return 0.5 * stiffness * x**2


def test_derivatives_keep_the_arguments():
    assert sg.grad(energy)(3.0) == 6.0
    assert sg.value_and_grad(energy)(3.0, stiffness=1.0) == (4.5, 3.0)
    assert sg.hessian(energy)(3.0, stiffness=5.0) == 5.0
    assert sg.grad(sg.grad(energy))(3.0) == 2.0
    for made in (sg.grad(energy), sg.jacobian(energy), sg.hessian(energy), sg.symbolic(energy)):
        assert inspect.signature(made) == inspect.signature(energy)


def test_what_does_not_fit_is_said():
    with pytest.raises(SymgradError):
        sg.grad(energy)("three")  # pyright: ignore[reportArgumentType]
    with pytest.raises((SymgradError, TypeError)):
        sg.grad(energy)(3.0, softness=1.0)  # pyright: ignore[reportCallIssue]
    with pytest.raises((SymgradError, TypeError)):
        sg.jacobian(energy)()  # pyright: ignore[reportCallIssue]
