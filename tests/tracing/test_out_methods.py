"""Methods that write into an array that the function made, by ``out=`` or by position: it is seen, or refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

X = np.array([0.43, 2.21, 0.07, 1.32])
#: method -> its arguments, those before a positional ``out``, and how many elements it gives
METHODS = {
    "clip": ((0.1, 0.9), (0.1, 0.9), 4),
    "round": ((1,), (1,), 4),
    "cumsum": ((), (0, None), 4),
    "cumprod": ((), (0, None), 4),
    "take": (([2, 0, 1, 3],), ([2, 0, 1, 3], 0), 4),
    "compress": (([True, False, True, True],), ([True, False, True, True], 0), 3),
    "sum": ((), (0, None), 0),
    "mean": ((), (0, None), 0),
    "prod": ((), (0, None), 0),
    "max": ((), (0,), 0),
    "min": ((), (0,), 0),
    "var": ((), (0, None), 0),
    "std": ((), (0, None), 0),
    "dot": ((np.arange(4.0),), (np.arange(4.0),), 0),
}


def filled(x):
    made = np.zeros(4)
    made[:] = x
    return made


SOURCES = {
    "a copy": lambda x: np.array(x * 1.0),
    "filled": filled,
    "a list": lambda x: np.array([x[0], x[1], x[2], x[3]]),
    "an argument": lambda x: x,
    "computed": lambda x: x * 1.5,
    "constant": lambda x: np.arange(1.0, 5.0),
}


def writing(method, source, target, by_name):
    arguments, before, size = METHODS[method]
    shape = (size,) if size else ()

    def function(x):
        own = SOURCES[source](x)
        into = own if target == "itself" else np.zeros(shape)
        if target == "traced":
            into[...] = x[:size] if size else x[0]
        if by_name:
            getattr(own, method)(*arguments, out=into)
        else:
            getattr(own, method)(*before, into)
        return np.sum(into * (1 + np.arange(into.size)).reshape(into.shape)) + np.sum(into**2) + np.sum(own * x)

    return function


def _cases():
    for method, source, target, by_name in itertools.product(METHODS, SOURCES, ("itself", "zeros", "traced"), (0, 1)):
        if target != "itself" or (METHODS[method][2] == 4 and source != "an argument"):
            yield method, source, target, by_name


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_writes_is_there(method):
    compared = 0
    for case in _cases():
        if case[0] != method:
            continue
        function = writing(*case)
        try:
            value, gradient = sg.value_and_grad(function)(X)
        except SymgradError:
            continue
        compared += 1
        np.testing.assert_allclose(value, function(X.copy()), rtol=1e-12, err_msg=str(case))
        step = 1e-6 * np.eye(4)
        want = [(function(X + h) - function(X - h)) / 2e-6 for h in step]
        np.testing.assert_allclose(gradient, want, atol=1e-6, err_msg=str(case))
    assert compared >= 8
