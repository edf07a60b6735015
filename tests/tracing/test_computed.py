"""What libraries compute in followed code: of known arrays as ever, of traced ones by rules, with views kept."""

import copy
import json
import statistics

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import symgrad as sg
from symgrad.errors import UnsupportedOperation

X = np.array([0.5, -1.5, 2.0])


def viewed(x):
    """Views of an array by functions of NumPy, each written to."""
    a = np.zeros((2, 3))
    a[0] = x
    np.reshape(a, (3, 2))[1] = x[:2] * 2
    np.transpose(a)[2, 0] += x[0]
    np.moveaxis(a, 0, 1)[0] = 1.0
    np.flipud(a)[0, 1] *= x[2]
    np.fliplr(a)[1, 0] = x[1]
    np.rollaxis(a, 1)[1] *= 3.0
    for part in np.hsplit(a, 3):
        part[0] += 1.0
    for part in np.vsplit(a, 2):
        part[..., 0] *= 2.0
    np.squeeze(a[:, None])[0, 2] = x[0] * x[1]
    np.expand_dims(a, 0)[0, 1, 2] = 4.0
    np.atleast_3d(a)[0, 0] = x[1]
    np.real(a)[1] -= x
    np.split(a, 2)[1][0, 1] = 9.0
    return a


def constants(x):
    a = scipy.linalg.hilbert(3)
    b = np.linalg.inv(np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    w, v = np.linalg.eigh(a + a.T)
    a[0] = x
    v.sort()
    scale = statistics.mean([1.0, 2.0]) * json.loads("2.0") + scipy.special.gamma(3.0)
    return (a @ b) * w + v * scale + copy.deepcopy(a)


def lists(x):
    stacked = np.hstack([x, [x[0] + x[1]]]) + np.concatenate(([x[0]], [x[1], 1.0, 2.0]))
    return stacked * np.mean([x[0], 2.0, x[1]]) - np.add([x[0], x[1]], 1.0).sum() + np.dot([x[0], 1.0], [x[1], 2.0])


def methods(x):
    a = np.array([[x[0], 1.0, x[1]], [2.5, x[2], 3.0]])
    order = a.argsort(axis=1)
    made = [
        a.sum(),
        a.mean(axis=0),
        a.T @ np.ones(2),
        a.dot(x),
        a.max(),
        a.clip(0.0, 2.2),
        a.repeat(2),
        a.astype(float),
    ]
    made += [np.take_along_axis(a, order, 1), a.cumsum(), a.std(), a.round(1), a.astype(float)]
    a.sort(axis=0)
    a.put([0], [x[0]])
    return np.concatenate([np.ravel(m) for m in [*made, a]])


@pytest.mark.parametrize("fn", [viewed, constants, lists, methods], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_and_derivatives(check_rule, fn):
    check_rule(fn, [X], order=1)


def test_libraries_that_cannot_know_are_named():
    def fn(x):
        a = np.array([[x[0], 1.0], [0.0, x[1]]])
        return scipy.linalg.signm(a)

    with pytest.raises(UnsupportedOperation, match=r"scipy\.linalg\.signm") as refused:
        sg.grad(fn)(X)
    assert "scipy.linalg.signm(a)" in str(refused.value)


def test_libraries_get_the_values_of_what_nothing_is_differentiated_by():
    def fn(x, data):
        return x * np.unique(data).size + float(np.percentile(data, 50)) + scipy.linalg.expm(np.diag(data))[0, 0]

    data = np.array([1.0, 2.0, 2.0])
    value, gradient = sg.value_and_grad(fn)(X, data)
    np.testing.assert_allclose(value, fn(X, data))
    np.testing.assert_allclose(gradient, [2.0, 2.0, 2.0])
    np.testing.assert_allclose(sg.grad(fn)(X, np.array([1.0, 2.0, 3.0])), [3.0, 3.0, 3.0])
