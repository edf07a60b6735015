"""The rules that a custom function declares against finite differences: what passes, what fails, and how it is said."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.testing import CheckFailed

X = np.array([0.3, 0.7, 1.1])


@sg.custom(vjp=lambda primals, ct: ct * np.cos(primals[0]))
def sine(x):
    return np.sin(np.asarray(x))


scaled = sg.custom(lambda x, k=2.0: k * x, vjp=lambda p, ct: (p[1] * ct, np.sum(p[0] * ct)), name="scaled")


class TestCheck:
    def test_right_rules_pass(self):
        sine.check(X)
        scaled.check(X, k=3.0)
        sg.custom(np.sin, jvp=lambda p, t: np.cos(p[0]) * t[0]).check(X, order=2)

    def test_the_rule_the_argument_and_the_difference_are_named(self):
        f = sg.custom(lambda x, rate: np.exp(rate * x), jvp=lambda p, t, out: out * p[1] * t[0], name="grow")
        with pytest.raises(CheckFailed, match=r"grow: the jvp by argument rate at \[2\]: it gives 0, .*difference"):
            f.check(X, 0.5)
        g = sg.custom(lambda x, rate: np.exp(rate * x), vjp=lambda p, ct, out: (ct * out, np.sum(ct * out * p[0])))
        with pytest.raises(CheckFailed, match="the vjp by argument x, along a direction"):
            g.check(X, 0.5)

    def test_second_order(self):
        wrong = sg.custom(lambda p, ct: (ct * np.cos(p[0]),), jvp=lambda p, t: (t[1] * np.cos(p[0][0]),), name="rule")
        f = sg.custom(np.sin, vjp=wrong)
        f.check(X)
        with pytest.raises(CheckFailed):
            f.check(X, order=2)

    def test_what_cannot_be_checked_says_so(self):
        with pytest.raises(ArgumentError, match="declares no derivative"):
            sg.custom(np.sin).check(X)
        with pytest.raises(ArgumentError, match="no argument is one"):
            sine.check(np.arange(3))
        with pytest.raises(CheckFailed, match="do not settle"):
            sg.custom(np.floor, vjp=lambda p, ct: 0 * ct).check(np.array([1.0]))
