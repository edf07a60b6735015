"""Functions of numbers that are applied to arrays element by element."""

import functools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, TracingError

X = np.array([0.5, -1.5, 2.0])


@np.vectorize
def huber(r):
    return 0.5 * r * r if abs(r) < 1 else abs(r) - 0.5


@functools.partial(np.vectorize, excluded=["least"])
def scaled_from(a, factor, least):
    return a * factor if a > least else a - factor


ROWS = np.arange(12.0).reshape(2, 2, 3)
FUNCTIONS = {
    "a decorated function": lambda x: huber(x),
    "made where it is called": lambda x: np.vectorize(lambda t, u: t * u)(x[:, None], x),
    "with the type of its results": lambda x: np.vectorize(lambda t: t * t, otypes=[float])(x),
    "several results": lambda x: np.stack(np.vectorize(lambda t: (t**2, t + 1))(x)),
    "of what the function captures": lambda x: np.vectorize(lambda k: k * x[0])(np.arange(3.0)),
    "frompyfunc": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, 2.0).astype(float),
    "rows": lambda x: np.apply_along_axis(lambda r: r / r.sum(), 1, np.array([x, x**2 + 1])),
    "columns": lambda x: np.apply_along_axis(np.sum, 0, np.outer(x, x)),
    "a number": lambda x: huber(x[2]) * x,
    "what is left out by name": lambda x: scaled_from(x, 2.0, least=0.1),
    "what is left out by place": lambda x: np.vectorize(lambda a, rows: a * np.sum(rows), excluded=[1])(x, x**2),
    "arguments by name": lambda x: np.vectorize(lambda a, b=1.0: a * b)(x, b=x[:, None]),
    "vectors": lambda x: np.vectorize(lambda r, m: np.sum(m @ r), signature="(n),(m,n)->()")(x, ROWS),
    "results that are vectors": lambda x: np.vectorize(lambda a: a * np.arange(2.0), signature="()->(k)")(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(check_rule, name):
    check_rule(lambda x: np.asarray(FUNCTIONS[name](x), float), [X], order=1)


def test_what_is_not_supported_is_refused():
    with pytest.raises(ArgumentError, match="an array of 1 axes is given where 2 are taken"):
        sg.grad(lambda x: np.vectorize(np.sum, signature="(n,m)->()")(x))(X)
    with pytest.raises(TracingError, match="empty array"):
        sg.grad(lambda x: np.vectorize(lambda r: r * 2)(x[:0]).sum() + x)(X)
    with pytest.raises(TracingError, match="would cut the others"):  # NumPy takes the type of the first result
        sg.grad(lambda x: np.vectorize(lambda t: 0 if t < 1 else t)(x))(X)
