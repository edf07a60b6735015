"""Masked arrays and np.matrix, wherever a function meets them: computed as NumPy does, or refused."""

from __future__ import annotations

import types
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentTypeError, SymgradError

X = np.array([0.5, 1.0, 2.0])
# np.matrix warns where it is made
MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
MATRIX = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, 1.0], [0.0, 1.0, 2.0]]).view(np.matrix)
HOLDER = types.SimpleNamespace(masked=MASKED, matrix=MATRIX)


@dataclass
class Data:
    values: Any


def written(x, m):
    y = np.zeros_like(x)
    y[:] = m
    return np.sum(y * x)


def written_plain(x, m):
    y = np.zeros(3)
    y[:] = m
    y[0] = x[0]
    return np.sum(y * x)


def in_place(x, m):
    y = x.copy()
    y += m
    return np.sum(y)


def looped(x, m):
    total = 0.0
    for k in range(3):
        total = total + x[k] * m[k]
    return total


def indexed_assignment(x, m):
    y = np.empty((2, 3))
    y[0] = x
    y[1] = m
    return np.sum(np.prod(y, axis=0))


OPERANDS = {
    "times": lambda x, m: np.sum(x * m),
    "times first": lambda x, m: np.sum(m * x),
    "plus": lambda x, m: np.sum(x + m),
    "plus first": lambda x, m: np.sum(m + x),
    "minus": lambda x, m: np.sum((m - x) ** 2),
    "over": lambda x, m: np.sum(x / (m + 4)),
    "power": lambda x, m: np.sum(m**2 * x),
    "compared": lambda x, m: np.sum(np.where(m > 1.5, x, 0)),
    "branch": lambda x, m: np.sum(np.where(x > 0, x, m)),
    "dot": lambda x, m: np.sum(np.dot(m, x)),
    "dot method": lambda x, m: np.sum(m.dot(x)),
    "at": lambda x, m: np.sum(m @ x),
    "at behind": lambda x, m: np.sum(x @ m),
    "transposed": lambda x, m: np.sum(m.T @ x),
    "einsum": lambda x, m: np.sum(np.einsum("i,...i->...", x, m)),
    "outer": lambda x, m: np.sum(np.outer(m, x)),
    "tensordot": lambda x, m: np.sum(np.tensordot(m, x, 1)),
    "inner": lambda x, m: np.sum(np.inner(x, m)),
    "maximum": lambda x, m: np.sum(np.maximum(x, m)),
    "clip": lambda x, m: np.sum(np.clip(x, 0, m)),
    "ufunc": lambda x, m: np.sum(np.multiply(np.exp(m), x)),
    "stack": lambda x, m: np.sum(np.stack([x, x]) * m[0]),
    "concatenate": lambda x, m: np.sum(np.concatenate([x, m[0] * x])),
    "rows together": lambda x, m: np.sum(np.vstack([x, m]) ** 2),
    "array of both": lambda x, m: np.sum(np.array([x, m[0]], dtype=object)[0]),
    "array": lambda x, m: np.sum(np.array(m) * x),
    "asarray": lambda x, m: np.sum(np.asarray(m) @ x),
    "asanyarray": lambda x, m: np.sum(np.asanyarray(m) * x),
    "list of them": lambda x, m: np.sum(x * [m, m][0]),
    "an element": lambda x, m: np.sum(x) * m[0],
    "an element that is masked": lambda x, m: np.sum(x) * m[1],
    "every element": looped,
    "items in a list": lambda x, m: np.sum(x * np.array([m[0], m[2], m[1]]).ravel()[:3]),
    "sum": lambda x, m: np.sum(x) * m.sum(),
    "mean": lambda x, m: np.sum(x) * np.mean(m),
    "sum of columns": lambda x, m: np.sum(x * m.sum(0)),
    "written": written,
    "written into a plain array": written_plain,
    "written in place": in_place,
    "written by rows": indexed_assignment,
    "as an index": lambda x, m: np.sum(x[np.asarray(m, int) % 3]),
    "its mask": lambda x, m: np.sum(x[m > 1.5]) if m.ndim == 1 else np.sum(x),
    "full": lambda x, m: np.sum(np.full(3, m[0]) * x) if m.ndim == 1 else np.sum(x),
    "like it": lambda x, m: np.sum(np.zeros_like(m) + x),
    "ones like it": lambda x, m: np.sum(np.ones_like(m) * x),
    "filled": lambda x, m: np.sum(np.ma.filled(m, 0.0) * x),
    "copied": lambda x, m: np.sum(m.copy() * x),
    "reshaped": lambda x, m: np.sum(m.reshape(-1)[:1] * x),
    "raveled": lambda x, m: np.sum(np.ravel(m)[:3] * x),
    "solved": lambda x, m: np.sum(np.linalg.solve(m, x)),
    "inverted": lambda x, m: np.sum(np.linalg.inv(m) @ x),
    "in a dataclass": lambda x, m: np.sum(Data(m).values * x),
    "in a dict": lambda x, m: np.sum({"m": m}["m"] * x),
    "chosen by value": lambda x, m: np.sum(x) * (2.0 if m.sum() > 3 else 3.0),
    "kron": lambda x, m: np.sum(np.kron(m, x)),
    "norm": lambda x, m: np.sum(x) * np.linalg.norm(m),
    "interpolated": lambda x, m: np.sum(np.interp(x, [0.0, 1.0, 3.0], m)),
    "polynomial": lambda x, m: np.sum(np.polyval(m, x)),
}


def differences(f, step=1e-6):
    ends = [[f(X + s * step * e) for s in (1, -1)] for e in np.eye(3)]
    return np.array([(a - b) / (2 * step) for a, b in ends], float)


def right_or_refused(f):
    """A gradient is that of the function as NumPy computes it; else there is one clear error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value, gradient = sg.value_and_grad(f)(X)
        except SymgradError:
            return False
        except Exception:  # what the plain function raises too
            with pytest.raises(Exception):  # noqa: B017, PT011
                f(X)
            return False
        plain = f(X)
        assert not np.ma.is_masked(plain)
        np.testing.assert_allclose(value, np.asarray(plain, float), rtol=1e-12)
        if np.isfinite(value):  # NumPy makes a NaN of a masked element that is written into a plain array
            np.testing.assert_allclose(gradient, differences(f), rtol=1e-5, atol=1e-6)
    return True


@pytest.mark.parametrize("name", OPERANDS)
@pytest.mark.parametrize("held", ["masked", "matrix"])
def test_in_closures_attributes_defaults_and_made_inside(held, name):
    constant, f = getattr(HOLDER, held), OPERANDS[name]
    right_or_refused(lambda x: f(x, constant))
    right_or_refused(lambda x: f(x, getattr(HOLDER, held)))
    right_or_refused(lambda x, m=constant: f(x, m))
    right_or_refused(lambda x: f(x, np.ma.masked_equal(np.array([1.0, 2.0, 3.0]), 2.0)))
    right_or_refused(lambda x: f(x, np.matrix([[1.0, 2.0, 0.5], [3.0, 4.0, 1.0], [0.0, 1.0, 2.0]])))
    right_or_refused(lambda x: f(x, np.ma.array(x, mask=[True, False, False])))
    right_or_refused(lambda x: f(x, np.asmatrix(x)))


@pytest.mark.parametrize("value", [MASKED, MATRIX, np.ma.masked, np.ma.array(1.0, mask=True)], ids=type)
def test_as_arguments(value):
    f = lambda x, d: np.sum(x)  # noqa: E731
    for argument in (value, [value], {"d": value}, Data(value), types.SimpleNamespace(v=[value]), (1.0, (value,))):
        for g in (sg.grad(f), sg.grad(f, (0, 1)), sg.jacobian(f), sg.symbolic(f)):
            with pytest.raises(ArgumentTypeError, match="rules of its own"):
                g(X, argument)
        with pytest.raises(ArgumentTypeError, match="rules of its own"):
            sg.grad(lambda x, d=None: np.sum(x))(X, d=argument)


@pytest.mark.parametrize("value", [MASKED, np.ones((1, 3)).view(np.matrix)], ids=type)
def test_as_results_and_tangents(value):
    for f in (lambda x: (np.sum(x), value), lambda x: {"a": x, "b": value}, lambda x: [x, Data(value)]):
        with pytest.raises(SymgradError, match="rules of its own"):
            sg.symbolic(f)(X)
        with pytest.raises(SymgradError, match="rules of its own"):
            sg.jacobian(f)(X)
    with pytest.raises(ArgumentTypeError, match="rules of its own"):
        sg.jvp(lambda x: x * 2, (X,), (value,))
    with pytest.raises(ArgumentTypeError, match="rules of its own"):
        sg.vjp(lambda x: x * 2, X)[1](value)


def test_the_way_out_is_said():
    with pytest.raises(SymgradError, match=r"np\.where"):
        sg.grad(lambda x: np.sum(x * MASKED))(X)
    with pytest.raises(SymgradError, match=r"np\.asarray"):
        sg.grad(lambda x: np.sum(x * MATRIX))(X)
    mask, data = np.ma.getmaskarray(MASKED), MASKED.filled(1.0)
    np.testing.assert_allclose(sg.grad(lambda x: np.sum(np.where(mask, 0.0, x * data)))(X), [1.0, 0.0, 3.0])
    np.testing.assert_allclose(sg.grad(lambda x: np.sum(np.asarray(MATRIX) @ x))(X), np.asarray(MATRIX).sum(0))
