"""The steps of a function with loops: a loop is a line, and its adjoint another."""

from __future__ import annotations

import numpy as np
import pytest
from recurring import CASES

import symgrad as sg
from symgrad.errors import ArgumentError

HERON = """
grad(heron), reverse mode

The function
  x₀ = a                                          what it begins with
  xₜ₊₁ = 1/2 · (xₜ + a / xₜ)   (t = 0, …, 7)      a step of the loop, × 8
  f = x₈

The chain rule, from the output back; x̄ is the derivative by x
  λ₈ = 1                                          what flows into it
  λₜ = 1/2 · λₜ₊₁(1 − a / xₜ²)   (t = 7, …, 0)    the adjoint of the loop, × 8

Put together
  ∂f/∂a = λ₀ + Σₜ λₜ₊₁ / (2xₜ)
"""
FORWARD = """
The chain rule, from the arguments on; ẋ is the derivative of x
  ẋ₀ = ȧ                                                     what it begins with
  ẋₜ₊₁ = 1/2 · (ȧ / xₜ + ẋₜ(1 − a / xₜ²))   (t = 0, …, 7)    the tangent of the loop, × 8

Put together
  ḟ = ẋ₈
"""


def test_a_loop_is_a_line():
    function, _, args = CASES["heron"]
    assert str(sg.grad(function).steps(*args)) == HERON.strip()
    assert str(sg.grad(function).steps(*args, mode="forward")).endswith(FORWARD.rstrip())


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", CASES)
def test_every_loop_has_steps_to_read_and_to_run(name, mode):
    function, positions, args = CASES[name]
    steps = sg.grad(function, positions).steps(*args, mode=mode)
    assert steps.result
    assert "×" in " ".join(step.why for step in steps)
    assert all(step.latex.count("&=") == 1 and step._repr_latex_().startswith("$") for step in steps)
    assert "table" in steps._repr_html_()
    if mode == "reverse":
        made = steps.values()
        assert all(np.all(np.isfinite(v)) for v in made.values())


def test_values_are_those_of_every_step():
    made = sg.grad(CASES["heron"][0]).steps(2.0).values()
    assert made["xₜ₊₁"].shape == (8,)
    assert made["xₜ₊₁"][-1] == pytest.approx(np.sqrt(2))
    with pytest.raises(ArgumentError, match="no argument called 'b'"):
        sg.grad(CASES["heron"][0]).steps(2.0).values({"b": 1.0})
