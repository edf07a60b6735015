"""Classes, and code that asks what it has been given: by its type, its attributes, or by trying."""

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from collection import program

X = np.array([0.5, 1.5, -0.7])


class Arm:
    scale = 2.0

    def __init__(self, lengths):
        self.__lengths = lengths
        self._buffer = None

    def tip(self, q):
        xy = np.zeros(2)
        angle = 0.0
        for length, v in zip(self.__lengths, q):
            angle += v
            xy += length * np.array([math.cos(angle), math.sin(angle)])
        return xy

    @property
    def first(self):
        return self.__lengths[0]

    @staticmethod
    def norm(v):
        return math.sqrt(sum(c * c for c in v))

    @classmethod
    def scaled(cls, v):
        return np.array([cls.scale * c for c in v])

    def __call__(self, q):
        return self.norm(self.tip(q)) * self.first


class LongArm(Arm):
    def tip(self, q):
        return super().tip(q) + self.scaled(q[:2])


@program(X)
def methods_of_classes(x):
    return LongArm([1.0, 0.5, 0.3])(x) + Arm([2.0, 1.0, 0.2])(x)


@dataclass
class State:
    position: object
    speed: object

    def advanced(self, dt):
        return State(self.position + dt * self.speed, self.speed - dt * math.sin(self.position))

    def as_array(self):
        return np.array([self.position, self.speed])


@program(X)
def dataclass_of_numbers(x):
    state = State(x[0], x[1])
    for _ in range(3):
        state = state.advanced(0.1)
    return state.as_array() * x[2]


class Dual:
    """Somebody's own numbers, with operators."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __mul__(self, other):
        return Dual(self.a * other.a, self.a * other.b + self.b * other.a)

    def __add__(self, other):
        return Dual(self.a + other.a, self.b + other.b)

    def array(self):
        return np.array([self.a, self.b])


@program(X)
def classes_with_operators(x):
    u, v = Dual(x[0], 1.0), Dual(x[1], x[2])
    return (u * v + u * u).array()


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        made = function(*args, **kwargs)
        inner.calls = f"{made}"
        return made

    return inner


@logged
def decorated_norm(v):
    out = np.zeros(1)
    for c in v:
        out[0] += c * c
    return math.sqrt(out[0])


@program(X)
def decorated_helpers(x):
    return decorated_norm(x) * decorated_norm(np.array([x[0], 1.0]))


@program(X)
def augmented_targets(x):
    class Box:
        value = 0.0

    box, held = Box(), {"v": np.zeros(2)}
    box.value += x[0]
    box.value *= float(x[1])
    held["v"][0] += box.value
    held["v"] -= np.array([x[2], 1.0])
    pairs = [[0.0, 1.0]]
    pairs[0][1] *= x[0]
    return held["v"] * pairs[0][1]


@program(X)
def isinstance_checks(x):
    if isinstance(x[0], float) and isinstance(x, np.ndarray) and not isinstance(x[0], int):
        y = np.array([v if isinstance(v, float) else float(v) for v in x])
    else:
        y = np.zeros(3)
    return y**2


@program(X)
def number_or_default(x):
    """What cannot be read as a number is left out."""
    total = 0.0
    for v in (*x, None, "n/a"):
        try:
            total += float(v)
        except (TypeError, ValueError):
            total *= 2.0
    return total


@program(X)
def caught_by_any_exception(x):
    y = np.zeros(3)
    try:
        y[0] = math.sin(x[0])
        y[1:] = np.array([x[1], x[2]]) ** 2
    except Exception:
        y[:] = -1.0
    return y


def as_vector(v):
    """A number as a vector of one."""
    return v if hasattr(v, "__len__") else np.array([v])


@program(X)
def number_or_vector(x):
    try:
        k = len(x[0])
    except TypeError:
        k = 1
    return np.concatenate([as_vector(x[0]) * 2, as_vector(x[1:]) * k])


@program(X)
def scalars_by_their_type(x):
    def kind(v):
        if np.isscalar(v):
            return 1.0
        return 2.0 if isinstance(v, np.ndarray) else 3.0

    return np.array([kind(x[0]), kind(x), kind(np.sum(x)), kind(float(x[0]))]) * x[1]


@program(X)
def results_as_floats(x):
    """What generated code does with each value."""
    f_ = x[0] * np.sin(x[1])
    if not isinstance(f_, float):
        f_ = f_.item()
    g_ = np.zeros(3)
    g_[0] = f_ if isinstance(f_, (int, float)) else 0.0
    return g_


@program(X, 2.0, wrt=0, also=(X, 3.0))
def counts_its_calls(x, scale):
    state = {"calls": 0}

    def f(v):
        state["calls"] += 1
        return math.cos(v) * scale

    total = sum(f(v) for v in x)
    return total / state["calls"]


@program(X)
def iterables_by_their_class(x):
    def flat(v):
        return [w for part in v for w in flat(part)] if isinstance(v, Iterable) else [math.tanh(v)]

    return np.array(flat([x[0], [x[1], [x[2]]], x]))
