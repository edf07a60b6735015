"""Methods and properties of users' classes that compute with math: followed while a trace runs, their own after it."""

from __future__ import annotations

import math
import operator
import threading
from functools import total_ordering

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg

X = np.array([0.5, 1.2, 2.3])


@total_ordering
class Vector:
    def __init__(self, parts):
        self.parts = list(parts)

    def __abs__(self):
        return math.sqrt(math.fsum(p * p for p in self.parts))

    def __getitem__(self, k):
        return math.sin(self.parts[k])

    def __setitem__(self, k, value):
        self.parts[k] = math.exp(value)

    def __iter__(self):
        return (math.cos(p) for p in self.parts)

    def __len__(self):
        return int(math.copysign(3, self.parts[0]))

    def __contains__(self, value):
        return any(math.isclose(p, value) for p in self.parts)

    def __bool__(self):
        return math.sin(self.parts[0]) > 0

    def __eq__(self, other):
        return math.isclose(self.parts[0], other.parts[0])

    def __hash__(self):
        return math.floor(self.parts[0])

    def __lt__(self, other):
        return math.hypot(*self.parts[:2]) < math.hypot(*other.parts[:2])

    def __call__(self, factor):
        return math.exp(self.parts[0]) * factor

    def __matmul__(self, other):
        return math.tanh(self.parts[0]) * other.parts[1]

    def __iadd__(self, other):
        self.parts = [math.atan(p + other) for p in self.parts]
        return self

    def __enter__(self):
        return math.log(self.parts[0])

    def __exit__(self, *_):
        return None


class Longer(Vector):
    def __abs__(self):
        return 2 * super().__abs__()


class Spring:
    """Its stiffness is set and read by a property, its other attributes by special methods."""

    def __init__(self, stiffness, **others):
        self.stiffness = stiffness
        vars(self)["others"] = others

    @property
    def stiffness(self):
        """In newtons per metre."""
        return math.exp(vars(self)["logarithm"])

    @stiffness.setter
    def stiffness(self, value):
        if float(value) <= 0:
            raise ValueError(f"{value} is no stiffness")
        vars(self)["logarithm"] = math.log(float(value))

    @stiffness.deleter
    def stiffness(self):
        vars(self)["logarithm"] = math.sin(vars(self)["logarithm"])

    def __getattr__(self, name):
        others = vars(self).get("others", {})
        if name not in others:
            raise AttributeError(name)
        return math.sqrt(others[name])

    def __setattr__(self, name, value):
        super().__setattr__(name, value if name == "stiffness" else math.cos(value))

    def energy(self):
        return float(self.stiffness) / 2


class Damper(Spring):
    @property
    def stiffness(self):
        return 2 * Spring.stiffness.fget(self)

    @stiffness.setter
    def stiffness(self, value):
        Spring.stiffness.fset(self, math.atan(value))


def _deleted(x):
    spring = Spring(x[1])
    del spring.stiffness
    return spring.logarithm * x[0] if hasattr(spring, "logarithm") else x[2]


def _attribute_set(x):
    spring = Spring(x[0])
    spring.length = x[1]
    setattr(spring, "width", x[2])  # noqa: B010
    return spring.length * spring.width


def _set_again(x):
    spring = Spring(x[0])
    spring.stiffness = x[1] * spring.stiffness
    spring.stiffness *= 2
    return spring.stiffness


def _within(x):
    with Vector(x) as logarithm:
        return logarithm * x[1]


def _set(x):
    v = Vector(x)
    v[1] = x[0]
    return v.parts[1]


def _increased(x):
    v = Vector(x)
    v += x[1]
    return sum(v.parts)


def _unpacked(x):
    a, *rest = Vector(x)
    return a * rest[0] * rest[1]


FUNCTIONS = {
    "abs": lambda x: abs(Vector(x)) * x[0],
    "abs of a class that derives": lambda x: abs(Longer(x)) * x[0],
    "item": lambda x: Vector(x)[1] * x[0],
    "set item": _set,
    "sum": lambda x: sum(Vector(x)),
    "for": lambda x: [2 * p for p in Vector(x)][1],
    "list": lambda x: np.array(list(Vector(x))).prod(),
    "zip": lambda x: sum(a * b for a, b in zip(Vector(x), x, strict=True)),
    "map": lambda x: max(map(abs, Vector(x))),
    "star": lambda x: (lambda a, b, c: a * b * c)(*Vector(x)),
    "unpacked": _unpacked,
    "in": lambda x: 2 * x[0] if x[1] in Vector(x) else x[2],
    "not in": lambda x: 2 * x[0] if 7.0 not in Vector(x) else x[2],
    "if": lambda x: 2 * x[0] if Vector(x) else x[2],
    "not": lambda x: 2 * x[0] if not Vector(-x) else x[2],
    "equal": lambda x: 2 * x[0] if Vector(x) == Vector(x) else x[2],
    "a key": lambda x: {Vector(x): x[1] ** 2}[Vector(x)],
    "sorted": lambda x: sorted([Vector(2 * x), Vector(x)])[0].parts[1] ** 2,
    "greatest": lambda x: max(Vector(x), Vector(2 * x)).parts[1] ** 2,
    "at most": lambda x: 2 * x[0] if Vector(x) <= Vector(2 * x) else x[2],
    "call": lambda x: Vector(x)(x[1]),
    "matmul": lambda x: Vector(x) @ Vector(x),
    "augmented": _increased,
    "with": _within,
    "len": lambda x: len(Vector(x)) * x[0],
    "property": lambda x: Spring(x[0]).stiffness * x[1],
    "property by name": lambda x: getattr(Spring(x[0]), "stiffness") * x[1],  # noqa: B009
    "property that is set": _set_again,
    "property that is deleted": _deleted,
    "property of a class that derives": lambda x: Damper(x[0]).stiffness * x[1],
    "properties by map": lambda x: sum(map(operator.attrgetter("stiffness"), [Spring(v * v) for v in x])),
    "attribute": lambda x: Spring(x[0], length=x[1]).length * x[0],
    "attribute that is missing": lambda x: getattr(Spring(x[0]), "mass", x[1]) ** 2,
    "attribute that is set": _attribute_set,
    "method by a library": lambda x: sum(map(Spring.energy, [Spring(v) for v in x])),
    "method by name": lambda x: operator.methodcaller("energy")(Spring(x[0])) * x[1],
    "method of the least": lambda x: min([Spring(v) for v in x], key=Spring.energy).energy() * x[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(name):
    f = FUNCTIONS[name]
    expect_slopes(sg.value_and_grad(f)(X), f, X, atol=1e-9)


def test_the_class_has_its_own_methods_after_each_trace():
    own, is_own = dict(vars(Vector)), []
    of_springs = dict(vars(Spring))

    def failing(x):
        length = abs(Vector(x))
        is_own.append(vars(Vector)["__abs__"] is own["__abs__"])
        raise KeyError(length)

    sg.grad(FUNCTIONS["abs"])(X)
    with pytest.raises(KeyError):
        sg.grad(failing)(X)
    assert is_own == [False]
    with pytest.raises(sg.errors.TracingError):
        sg.grad(lambda x: x.tobytes()[0] * abs(Vector(x)))(X)
    sg.grad(FUNCTIONS["property that is set"])(X)
    assert dict(vars(Vector)) == own
    assert dict(vars(Spring)) == of_springs


def test_traces_inside_of_each_other_give_the_methods_back_once():
    own = dict(vars(Vector))

    def outer(x):
        inner = sg.grad(lambda y: abs(Vector(y)) ** 2)(x)
        known = sg.grad(FUNCTIONS["abs"])(np.ones(3))
        return inner.sum() * abs(Vector(x)) + known.sum()

    wanted = 2 * X.sum() * np.linalg.norm(X)
    assert outer(X) - wanted == pytest.approx(sg.grad(FUNCTIONS["abs"])(np.ones(3)).sum(), rel=1e-9)
    gradient = sg.grad(outer)(X)
    np.testing.assert_allclose(gradient, 2 * np.linalg.norm(X) + 2 * X.sum() * X / np.linalg.norm(X), rtol=1e-9)
    assert dict(vars(Vector)) == own


def test_other_threads_compute_with_numbers_meanwhile():
    started, done, seen = threading.Event(), threading.Event(), []

    def elsewhere():
        started.wait(60)
        seen.extend((abs(Vector([3.0, 4.0])), list(Vector([0.0])), Vector([1.0]) == Vector([1.0])))
        done.set()

    def f(x):
        started.set()
        assert done.wait(60)
        return abs(Vector(x))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    gradient = sg.grad(f)(X)
    thread.join()
    np.testing.assert_allclose(gradient, X / np.linalg.norm(X))
    assert seen == [5.0, [1.0], True]


def test_traces_in_several_threads():
    own, results = dict(vars(Vector)), {}

    def work(k):
        results[k] = [sg.grad(lambda x, k=k: abs(Vector(x)) * k)(X) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        for gradient in results[k]:
            np.testing.assert_allclose(gradient, k * X / np.linalg.norm(X))
    assert dict(vars(Vector)) == own
