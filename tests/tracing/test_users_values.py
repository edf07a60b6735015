"""Values of users' classes that compute with math: as functions of numbers and of NumPy take them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg

X = np.array([0.5, 1.2, 2.3])


class Length:
    """A number with a unit."""

    def __init__(self, metres):
        self.metres = metres

    def __float__(self):
        return float(math.sin(self.metres))

    def exp(self):
        return Length(math.exp(self.metres))

    def sqrt(self):
        return math.sqrt(self.metres)


class Path:
    """A sequence."""

    def __init__(self, *parts):
        self.parts = parts

    def __len__(self):
        return len(self.parts)

    def __getitem__(self, k):
        return math.exp(self.parts[k])


class Board:
    """An array by its own words."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array([math.tanh(v) for v in self.values])


class Steps(Path):
    """A sequence that is a function too."""

    def __call__(self, t):
        return t * self[0]


FUNCTIONS = {
    "float": lambda x: float(Length(x[0])) * x[1],
    "complex": lambda x: abs(complex(Length(x[0])) + 1j * x[1]),
    "a function of math": lambda x: math.exp(Length(x[0])) * x[1],
    "two numbers": lambda x: math.atan2(Length(x[0]), x[1]),
    "a method by NumPy": lambda x: np.exp(Length(x[0])).metres * np.sqrt(Length(x[1])),
    "an array of a sequence": lambda x: np.sum(np.array(Path(*x)) ** 2),
    "a sum of a sequence": lambda x: np.sum(Path(x[0], x[1] * x[2])),
    "a function of a sequence": lambda x: np.log(Path(x[0], x[1])) @ x[1:],
    "points of a path": lambda x: np.interp(x[0], [0.0, 1.0, 2.0], Path(*x)),
    "a function that is a sequence": lambda x: np.sum(np.apply_along_axis(Steps(x[0]), 0, x)),
    "an array": lambda x: np.sum(np.array(Board(x)) ** 2),
    "as an array": lambda x: np.asarray(Board(x)) @ x,
    "a function of an array": lambda x: np.sum(np.exp(Board(x)) * x),
    "a product of arrays": lambda x: np.dot(Board(x), Board(2 * x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(name):
    function = FUNCTIONS[name]
    expect_slopes(sg.value_and_grad(function)(X), function, X, value_tolerance=1e-14)


def test_what_has_no_number_is_refused_as_python_refuses_it():
    with pytest.raises(TypeError, match="Path"):
        sg.grad(lambda x: float(Path(x[0])) * math.sin(x[1]))(X)
