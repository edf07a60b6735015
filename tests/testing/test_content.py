"""What values hold, and where two differ."""

import collections
import io
import itertools
import random

import numpy as np
import pytest

from symgrad.testing.content import content_of, difference, shown, state_of_function


class Point:
    def __init__(self, x):
        self.x = x


def following():
    yield 1


#: values, and others that hold the same
ALIKE = {
    "number": (1.5, 1.5),
    "NaN": (np.array([np.nan, 1.0]), np.array([np.nan, 1.0 + 1e-12])),
    "dict": ({"a": [1.0, None]}, {"a": [1.0, None]}),
    "set": ({"b", "a"}, {"a", "b"}),
    "object": (Point(2.0), Point(2.0)),
    "count": (itertools.count(3), itertools.count(3)),
    "list iterator": (iter([1, 2]), iter([1, 2])),
    "generator": (following(), following()),
    "text file": (io.StringIO("ab"), io.StringIO("ab")),
    "random numbers": (random.Random(1), random.Random(1)),
    "NumPy's random numbers": (np.random.default_rng(1), np.random.default_rng(1)),
    "whole number": (10**30, 10**30),
    "objects": (np.array(["a", None], object), np.array(["a", None], object)),
}
#: values, and others that do not
OTHER = {
    "number": (1.5, 1.6),
    "kind of number": (1.5, np.float64(1.5)),
    "dtype": (np.float32(1.5), np.float64(1.5)),
    "shape": (np.ones(2), np.ones((1, 2))),
    "NaN": (np.array([np.nan]), np.array([1.0])),
    "whole number": (3, 4),
    "class": ([1.0], (1.0,)),
    "key": ({"a": 1.0}, {"b": 1.0}),
    "object": (Point([2.0]), Point([3.0])),
    "count": (itertools.count(3), itertools.count(4)),
    "list iterator": (iter([1, 2]), iter([2])),
    "text": ("a", "b"),
    "text file": (io.StringIO("ab"), io.StringIO("ac")),
    "random numbers": (random.Random(1), random.Random(2)),
    "long queue": (collections.deque(range(9)), collections.deque(range(8))),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_alike(kind):
    one, other = map(content_of, ALIKE[kind])
    assert difference(one, other, 1e-10) is None


@pytest.mark.parametrize("kind", OTHER)
def test_different(kind):
    one, other = map(content_of, OTHER[kind])
    got, want = difference(one, other, 1e-10)
    assert isinstance(got, str)
    assert isinstance(want, str)


def test_numbers_of_python_and_numpy_may_count_as_alike():
    one, other = content_of([1.5, 2, True]), content_of([np.float64(1.5), np.int64(2), np.True_])
    assert difference(one, other, 0.0) == ("1.5", "np.float64(1.5)")
    assert difference(one, other, 0.0, kinds=False) is None


def test_what_holds_itself_is_looked_into_so_far():
    loop = []
    loop.append(loop)
    assert difference(content_of(loop), content_of(loop), 0.0) is None


def test_how_it_is_shown():
    kinds = [1.5, np.arange(2), np.zeros(20), "ab", [1, 2], following()]
    assert [shown(content_of(v)) for v in kinds] == [
        *("1.5", "array([0, 1])", "float64 of shape (20,)", "'ab'", "list of 2 parts", "another generator")
    ]


TABLE = {"rate": 2.0}


class Model:
    made = 0

    def __init__(self):
        self.w = np.ones(2)

    def loss(self, x, scale=3.0):
        return self._sum(x) * TABLE["rate"] * scale

    def _sum(self, x):
        return np.sum(self.w * x)


def test_the_state_of_a_function_is_all_that_it_reaches():
    def outer(x):
        return model.loss(x) + np.sum(x)

    model = Model()
    before = state_of_function(outer)
    assert before["model"] == content_of(model)
    assert "Model.made" in before
    model.w[0] = 5.0
    Model.made = 1
    after = state_of_function(outer)
    Model.made = 0
    assert {name for name in after if after[name] != before[name]} == {"model", "Model.made"}
    assert state_of_function(model.loss)["TABLE"] == content_of(TABLE)
