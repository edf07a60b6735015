"""What libraries compute in followed code: of known arrays as ever, of traced ones by rules, with views kept."""

import copy
import hashlib
import json
import statistics
import struct
import zlib

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import symgrad as sg
from symgrad.errors import TracingError, UnsupportedOperation

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


class _Named(list):
    pass


def _written(values, x):
    values[0].append(x)
    return values


#: functions of copies: what is one stays one, and containers are of their kinds
COPIES = {
    "twice the same list": lambda x: sum(_written(copy.deepcopy([[x], [x]] + 2 * [[x]]), 2.0)[0]) * x,
    "twice the same list, of it": lambda x: (lambda a: sum(_written(copy.deepcopy([a, a]), x)[1]))([x]) * x,
    "twice the same known list": lambda x: (lambda a: sum(_written(copy.deepcopy([a, a]), x)[1]))([1.0]) * x,
    "whether it is one": lambda x: (lambda e: x * (2.0 if e[0] is e[1] else 3.0))(copy.deepcopy(2 * [[x]])),
    "a class of lists": lambda x: x * (2.0 if type(copy.deepcopy(_Named([x]))) is _Named else 3.0),
    "not deep": lambda x: (lambda r: (_written([copy.copy(r)[1]], 3.0), sum(r[1]) * x)[1])([x, [x]]),
    "a number": lambda x: x * (2.0 if copy.copy(x) is x and copy.deepcopy(x) is x else 3.0),
    "an array of its own in a list": lambda x: (lambda a: x * (2.0 if copy.copy([a])[0] is a else 3.0))(np.zeros(2)),
    "in a dict": lambda x: (lambda a, b: (b["a"].fill(x), a.sum() * x)[1])(
        *(lambda a: (a, copy.copy({"a": a})))(np.ones(2))
    ),
    "an array twice": lambda x: (lambda b: (b[0].fill(x), b[1].sum() * x)[1])(copy.deepcopy(2 * [np.zeros(2)])),
    "a memo": lambda x: (lambda a, m: x * (2.0 if copy.deepcopy(a, m) is copy.deepcopy(a, m) else 3.0))([x], {}),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_those_of_python(name):
    fn = COPIES[name]
    value, slope = sg.value_and_grad(fn)(2.5)
    assert value == fn(2.5)
    assert slope == pytest.approx((fn(2.5 + 1e-6) - fn(2.5 - 1e-6)) / 2e-6)


def test_a_copy_of_a_known_array_is_the_functions_own():
    known = np.ones(3)

    def fn(x):
        own = copy.deepcopy(known)
        own[0] = x
        return np.sum(own * x)

    assert sg.value_and_grad(fn)(2.5) == (11.25, 7.0)
    assert known.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x * hashlib.sha1(np.arange(3.0)).digest()[0],
        lambda x: x * (zlib.crc32(np.zeros(3)) % 7),
        lambda x: x * struct.unpack("3d", np.arange(3.0))[2],
        lambda x: x * np.asarray(memoryview(np.arange(3.0)))[1],
    ],
)
def test_memory_of_a_known_array_is_given_to_what_asks_for_it(fn):
    assert sg.value_and_grad(fn)(2.0) == (fn(2.0), fn(1.0))


def _given_away(x):
    own = np.zeros(3)
    looking = memoryview(own)
    own[0] = x
    return looking[0] * x


@pytest.mark.parametrize("fn", [_given_away, lambda x: hashlib.sha1(np.array([x, x])).digest()[0] * x])
def test_memory_of_traced_values_is_refused(fn):
    with pytest.raises(TracingError, match="memory"):
        sg.grad(fn)(2.0)
