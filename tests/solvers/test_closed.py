"""Functions of a user's that a solver is given: those that change what is outside of them are refused."""

import itertools
import random

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.sparse import linalg

import symgrad as sg
from symgrad.errors import SymgradError, TracingError


class Cubic:
    def __init__(self, a):
        self.a, self.count, self.asked = a, 0, []

    def __call__(self, y):
        return y**3 - self.a

    def counted(self, y):
        self.count += 1
        return y**3 - self.a

    def noted(self, y):
        self.asked.append(1)
        return y**3 - self.a


class Counting(Cubic):
    def __call__(self, y):
        self.count += 1
        return super().__call__(y)


def takes_items(a):
    numbers = itertools.count()

    def g(y):
        next(numbers)
        return y**3 - a

    return g


def writes(a):
    count = np.zeros(1)

    def g(y):
        count[0] += 1
        return y**3 - a

    return g


def draws(a):
    numbers = random.Random(1)

    def g(y):
        numbers.random()
        return y**3 - a

    return g


CHANGING = {
    "callable object": Counting,
    "method that counts": lambda a: Cubic(a).counted,
    "method that notes": lambda a: Cubic(a).noted,
    "items of an iterator": takes_items,
    "an array that the function has made": writes,
    "random numbers": draws,
}


@pytest.mark.parametrize("made", CHANGING.values(), ids=CHANGING)
def test_what_changes_what_is_outside_of_it_is_refused(made):
    with pytest.raises(SymgradError, match="changes what is outside of it"):
        sg.grad(lambda a: optimize.brentq(made(a), 0.0, 5.0))(2.0)


def test_objects_and_methods_that_only_compute():
    want = 2.0 ** (-2 / 3) / 3
    assert sg.grad(lambda a: optimize.brentq(Cubic(a), 0.0, 5.0))(2.0) == pytest.approx(want)
    assert sg.grad(lambda a: optimize.brentq(Cubic(a).__call__, 0.0, 5.0))(2.0) == pytest.approx(want)
    area = sg.grad(lambda a: integrate.quad(Cubic(a), 0.0, 2.0)[0])
    assert area(2.0) == pytest.approx(-2.0)


def _of_closure(a):
    told = []
    optimize.minimize(lambda y: (y[0] - a) ** 2, [0.0], callback=lambda y: told.append(1))
    return a * len(told)


told = []


def _told(a):
    return optimize.newton(lambda y: y**2 - a, 1.0, fprime=lambda y: told.append(1) or 2 * y)


class _Counts:
    def __init__(self):
        self.asked = 0

    def slope(self, y):
        self.asked += 1
        return [[2 * y[0]]]


#: functions that are given beside the one that is solved, and do something else
BESIDE = {
    "a callback": _of_closure,
    "a slope with a global": _told,
    "a method": lambda a: optimize.root(lambda y: [y[0] ** 2 - a], [1.0], jac=_Counts().slope).x[0],
    "of C": lambda a: optimize.minimize(lambda y: (y[0] - a) ** 2, [0.0], callback=told.append).x[0],
    "printed": lambda a: linalg.cg(np.eye(2) * a, np.ones(2), callback=lambda y: print(y))[0].sum(),
}


@pytest.mark.parametrize("name", BESIDE)
def test_other_functions_may_have_no_effects(name):
    with pytest.raises(TracingError, match="may change what is outside of it"):
        sg.grad(BESIDE[name])(2.0)
    assert told == []
