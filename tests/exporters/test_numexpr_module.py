"""The exported numexpr module runs without symgrad, and gives what the kernel gives."""

from __future__ import annotations

import re

import golden
import numpy as np
import pytest
from array_modules import Library
from cases import CASES, GOLDEN

import symgrad as sg

LIBRARY = Library("numexpr")


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("numexpr", name, CASES[name].export("numexpr"))


def test_elementwise_work_is_fused_into_strings_at_the_top():
    def loss(x, y):
        return np.sum(np.exp(-x * y) * np.sin(x) + np.log1p(x**2))

    made = LIBRARY.made(sg.grad(loss), (np.ones(5), np.ones(5)))
    strings = re.findall(r'^_E\d+ = "(.*)"$', made.text, re.MULTILINE)
    assert strings
    assert all(s in made.namespace.values() for s in strings)
    assert made.text.index("_E0 = ") < made.text.index("def grad_loss")
    assert "np.exp" not in made.text
    assert "np.sin" not in made.text


def test_strings_stay_below_the_limits_of_numexpr():
    args = tuple(np.full(3, k + 1.0) for k in range(80))

    def many(*xs):
        total = xs[0]
        for x in xs[1:]:
            total = np.sin(total * x) + x
        return total

    made = LIBRARY.compared(sg.symbolic(many), args)
    assert made.text.count("numexpr.evaluate(") > 1


def test_fractions_leave_float32_what_it_is():
    made = LIBRARY.compared(sg.grad(lambda x: np.sum(np.sin(0.1 * x) * x)), (np.ones(4, np.float32),))
    assert "np.float32(0.1)" in made.text


def test_what_numexpr_has_not_stays_with_numpy():
    made = LIBRARY.compared(sg.symbolic(lambda x: np.cbrt(x) + np.sin(x) * 2), (np.ones(3),))
    assert "np.cbrt(x)" in made.text
    assert "sin(x)*2" in made.text
