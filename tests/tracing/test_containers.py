"""Objects that hold data, as people use them: dataclasses, attrs classes, namespaces, named tuples, registered ones."""

from __future__ import annotations

import collections
import dataclasses
import functools
import gc
import math
import pickle
import subprocess
import sys
import types
import typing
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
import pytest

import symgrad as sg
from symgrad import extend
from symgrad.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, TracingError, UnsupportedOperation
from symgrad.tracing.tree import flatten, unflatten

RNG = np.random.default_rng(7)
X = RNG.normal(size=(5, 3))
Y = RNG.normal(size=5)


def differences(f, value, *rest, step=1e-6):
    """The gradient by central differences, a value like ``value``."""
    leaves, structure = flatten(value)
    made = list(leaves)
    for k, leaf in enumerate(leaves):
        if not isinstance(leaf, (float, np.ndarray, np.floating)):
            continue
        point = np.array(leaf, float)
        slopes = np.zeros(point.shape)
        for at in np.ndindex(point.shape):
            sides = []
            for sign in (1, -1):
                moved = point.copy()
                moved[at] += sign * step
                filled = [*leaves[:k], moved if moved.shape else float(moved), *leaves[k + 1 :]]
                sides.append(float(np.sum(f(unflatten(structure, filled), *rest))))
            slopes[at] = (sides[0] - sides[1]) / (2 * step)
        made[k] = slopes
    return unflatten(structure, made)


def check(f, value, *rest):
    """The value, and the gradient by the first argument, which is of its type; that gradient."""
    before = pickle.dumps(flatten(value)[0])
    result, gradient = sg.value_and_grad(f)(value, *rest)
    np.testing.assert_allclose(result, f(value, *rest), rtol=1e-12)
    assert type(gradient) is type(value)
    assert pickle.dumps(flatten(value)[0]) == before
    (got, structure), (wanted, expected) = flatten(gradient), flatten(differences(f, value, *rest))
    assert structure == expected
    for g, w in zip(got, wanted, strict=True):
        if isinstance(w, np.ndarray):
            np.testing.assert_allclose(g, w, rtol=2e-6, atol=2e-6)
        else:
            assert g is w or g == w
    return gradient


@dataclass
class Linear:
    """Weights of a linear model."""

    w: np.ndarray
    b: float = 0.5
    name: str = "ols"

    def predict(self, X):
        return X @ self.w + self.b

    @property
    def penalty(self):
        return np.sum(self.w**2)


def squared_error(model, X, y):
    return np.mean((model.predict(X) - y) ** 2) + 0.1 * model.penalty


def test_a_dataclass_with_methods_and_a_property():
    gradient = check(squared_error, Linear(RNG.normal(size=3)), X, Y)
    assert gradient.name == "ols"
    assert isinstance(gradient, Linear)


@dataclass(frozen=True)
class Frozen:
    mean: np.ndarray
    log_scale: np.ndarray


def test_a_frozen_dataclass():
    def negative_log_likelihood(p, data):
        z = (data - p.mean) * np.exp(-p.log_scale)
        return np.sum(0.5 * z**2 + p.log_scale)

    check(negative_log_likelihood, Frozen(np.zeros(3), np.full(3, 0.3)), X)


@dataclass(slots=True)
class Slotted:
    k: float
    d: float


def test_a_dataclass_with_slots():
    check(lambda s, x: np.sum(s.k * x**2 - s.d * np.abs(x)), Slotted(2.0, 0.3), Y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spring:
    stiffness: float
    rest: float = 1.0
    ends: tuple[int, int] = (0, 1)

    def energy(self, positions):
        i, j = self.ends
        return 0.5 * self.stiffness * (positions[j] - positions[i] - self.rest) ** 2


def test_frozen_slotted_keyword_only_fields_index_by_their_ints():
    gradient = check(lambda s, p: s.energy(p), Spring(stiffness=3.0, ends=(1, 3)), Y)
    assert gradient.ends == (1, 3)


@dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray
    activation: str = "tanh"


@dataclass
class Network:
    layers: list[Layer]
    scale: float = 1.0
    note: str | None = None
    dims: dict[str, int] = field(default_factory=lambda: {"in": 3, "out": 1})


def forward(net, x):
    for layer in net.layers:
        x = x @ layer.W + layer.b
        x = np.tanh(x) if layer.activation == "tanh" else x
    return net.scale * x


def network():
    return Network([Layer(RNG.normal(size=(3, 4)), np.zeros(4)), Layer(RNG.normal(size=(4, 1)), np.ones(1), "none")])


def test_nested_dataclasses_in_lists_and_dicts():
    gradient = check(lambda net, x: np.sum(forward(net, x) ** 2), network(), X)
    assert gradient.note is None
    assert gradient.dims == {"in": 3, "out": 1}
    assert [layer.activation for layer in gradient.layers] == ["tanh", "none"]


@dataclass
class Checked:
    """A dataclass that checks and converts what it is made of."""

    sigma: float
    x: Any = field(default_factory=lambda: [1.0, 2.0])

    def __post_init__(self):
        if self.sigma <= 0:
            raise ValueError("sigma must be positive")
        self.x = np.asarray(self.x, float)


def test_checks_and_conversions_of_the_constructor_do_not_run_on_traced_values():
    gradient = check(lambda c: np.sum(np.exp(-(c.x**2) / c.sigma)), Checked(0.7, [0.1, -0.4, 2.0]))
    negative = sg.grad(lambda c: -5.0 * c.sigma)(Checked(1.0))
    assert negative.sigma == -5.0  # which the constructor refuses
    assert gradient.x.shape == (3,)


@dataclass
class Derived:
    """A field that is not given, and an attribute that is no field."""

    A: np.ndarray
    inverse: np.ndarray = field(init=False)
    total: ClassVar[int] = 3

    def __post_init__(self):
        self.inverse = np.linalg.inv(self.A)
        self.trace_of_it = float(np.trace(self.A))


def test_attributes_that_are_set_later_belong_to_the_data():
    gradient = check(
        lambda d: np.sum(d.inverse @ np.ones(2)) * d.total + d.trace_of_it * np.sum(d.A),
        Derived(np.array([[2.0, 0.5], [0.0, 1.0]])),
    )
    assert gradient.trace_of_it == 3.5


@dataclass
class Cached:
    L: np.ndarray

    @functools.cached_property
    def gram(self):
        return self.L @ self.L.T


def test_what_a_cached_property_has_kept_is_computed_from_the_traced_fields():
    value = Cached(RNG.normal(size=(2, 2)))
    kept = value.gram
    leaves, structure = flatten(value)
    assert len(leaves) == 1
    check(lambda c: np.sum(np.sin(c.gram)), unflatten(structure, leaves))
    gradient = sg.grad(lambda c: np.sum(c.gram))(value)
    np.testing.assert_allclose(gradient.L, 2 * np.ones((2, 2)) @ value.L, rtol=1e-12)
    assert value.gram is kept
    assert vars(gradient).keys() == {"L"}


@dataclass
class Base:
    a: float
    kind: str = "base"


@dataclass
class Child(Base):
    b: float = 2.0

    def area(self):
        return self.a * self.b


def test_inherited_fields():
    check(lambda c: c.area() ** 2, Child(3.0))


class Grandchild(Child):
    """No dataclass itself."""


def test_a_plain_class_that_derives_from_a_dataclass():
    check(lambda c: c.area() ** 3, Grandchild(1.5))


T = typing.TypeVar("T")


@dataclass
class Box(typing.Generic[T]):
    value: T


def test_a_generic_dataclass():
    check(lambda box: np.sum(box.value**3), Box[np.ndarray](np.array([1.0, 2.0])))


@dataclass(eq=False)
class Identity:
    x: np.ndarray


def test_a_dataclass_without_equality():
    check(lambda v: np.prod(v.x), Identity(np.array([1.0, 2.0, 3.0])))


def test_several_arguments_by_position_and_by_name():
    def f(model, *, data):
        return np.sum((model.predict(data.mean[None]) - data.log_scale[0]) ** 2)

    model, data = Linear(np.array([1.0, 2.0])), Frozen(np.array([0.5, 1.5]), np.ones(1))
    gradient = sg.grad(f)(model, data=data)
    wanted = differences(lambda m: f(m, data=data), model)
    np.testing.assert_allclose(gradient.w, wanted.w, rtol=1e-6)
    first, second = sg.grad(lambda m, d: f(m, data=d), (0, 1))(model, data)
    np.testing.assert_allclose(first.w, gradient.w)
    assert isinstance(second, Frozen)


@attrs.define
class Kalman:
    gain: np.ndarray
    noise: float
    _prior: float = 1.0
    label: str = "k"

    def cost(self, y):
        return np.sum((self.gain * y - self._prior) ** 2) / self.noise


def test_an_attrs_class_with_a_private_attribute():
    gradient = check(lambda k, y: k.cost(y), Kalman(np.full(5, 0.3), 2.0), Y)
    assert gradient.label == "k"


@attrs.frozen
class Bounds:
    low: float = attrs.field(validator=attrs.validators.instance_of(float))
    high: float = attrs.field(converter=float)

    @functools.cached_property
    def width(self):
        return self.high - self.low


def test_a_frozen_attrs_class_with_validators_and_a_cached_property():
    bounds = Bounds(0.5, 2)
    assert bounds.width == 1.5
    check(lambda b, x: np.sum(np.tanh((x - b.low) / b.width)), bounds, Y)


def test_a_classic_attrs_class():
    Plain = attrs.make_class("Plain", ["u", "v"], slots=False)
    check(lambda p: np.sum(p.u * p.v**2), Plain(np.ones(2), 3.0))


def test_a_namespace():
    params = types.SimpleNamespace(w=RNG.normal(size=3), bias=0.1, mode="fast", depth=2)

    def f(p, X):
        out = X @ p.w + p.bias
        for _ in range(p.depth):
            out = np.sin(out)
        return np.sum(out)

    gradient = check(f, params, X)
    assert (gradient.mode, gradient.depth) == ("fast", 2)


class Point(NamedTuple):
    x: np.ndarray
    power: int = 3
    label: str = "p"

    def norm(self):
        return np.sum(self.x**self.power)


def test_a_named_tuple_with_settings_and_methods():
    gradient = check(lambda p: p.norm(), Point(np.array([1.0, 2.0])))
    assert (gradient.power, gradient.label) == (3, "p")


Pair = namedtuple("Pair", "left right")


class Positive(namedtuple("Positive", "x")):
    def __new__(cls, x):
        if np.any(np.asarray(x) < 0):
            raise ValueError("negative")
        return super().__new__(cls, x)


def test_a_named_tuple_that_checks_what_it_is_made_of():
    gradient = sg.grad(lambda p: -np.sum(p.x**2))(Positive(np.ones(2)))
    np.testing.assert_allclose(gradient.x, [-2.0, -2.0])


class Options(typing.TypedDict):
    rate: float
    weights: np.ndarray


def test_a_typed_dict():
    options: Options = {"rate": 0.5, "weights": np.ones(3)}
    check(lambda o, X: np.sum((X @ o["weights"]) * o["rate"]), options, X)


def test_dicts_come_back_as_what_they_are():
    class Attributes(dict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.__dict__ = self

    def f(p):
        return np.sum(p["a"] ** 2) * p["b"]

    for kind in (OrderedDict, functools.partial(defaultdict, list), Attributes, dict):
        check(f, kind(a=np.ones(2), b=2.0))
    gradient = sg.grad(lambda p: np.sum(p.a**2) * p.b)(Attributes(a=np.ones(2), b=2.0))
    np.testing.assert_allclose(gradient.a, [4.0, 4.0])


def test_a_dict_whose_class_takes_something_else_is_a_plain_one():
    class Odd(dict):
        def __init__(self, size, name):
            super().__init__()

    value = Odd(3, "n")
    value["a"] = 2.0
    assert sg.grad(lambda p: p["a"] ** 2)(value) == {"a": 4.0}


class Weights(list):
    gain = 5.0


class Two(tuple):
    def swapped(self):
        return self[1], self[0]


class Table(dict):
    """A dict with an attribute."""

    def total(self):
        return sum(self.values()) * self.scale


def test_lists_tuples_and_dicts_of_classes_of_the_users_stay_of_these():
    table, weights = Table(a=2.0, b=3.0), Weights([1.0, 2.0])
    table.scale, weights.offset = 4.0, 0.5
    f = lambda w: sum(w) * w.gain + w.offset * isinstance(w, Weights)  # noqa: E731
    value, gradient = sg.value_and_grad(f)(weights)
    assert value == f(weights) == 15.5
    assert (type(gradient), list(gradient), gradient.offset) == (Weights, [5.0, 5.0], 1.0)
    assert sg.grad(lambda p: p.swapped()[0] * p[0])(Two((2.0, 3.0))) == (3.0, 2.0)
    gradient = sg.grad(Table.total)(table)
    assert (type(gradient), dict(gradient), gradient.scale) == (Table, {"a": 4.0, "b": 4.0}, 5.0)


@dataclasses.dataclass
class Body:
    mass: float


@dataclasses.dataclass
class Joint:
    a: Body
    b: Body


def test_what_stands_twice_in_the_arguments_is_one_object():
    def heavier(x, joints):
        for joint in joints:
            joint.b.mass = joint.b.mass * 2
        return x * sum(joint.a.mass for joint in joints) * (joints[0].a is joints[1].b)

    one, other = Body(1.0), Body(3.0)
    run = sg.value_and_grad(heavier)
    assert run(2.0, [Joint(one, other), Joint(other, one)])[0] == 16.0
    assert run(2.0, [Joint(one, other), Joint(Body(3.0), Body(1.0))])[0] == 0.0
    assert (one.mass, other.mass) == (1.0, 3.0)


def test_a_list_that_is_two_arguments_is_one():
    def f(x, kept, same):
        kept.append(1.0)
        return x * len(same)

    held = [2.0]
    assert sg.grad(f)(3.0, held, held) == 2.0
    assert sg.grad(f)(3.0, held, [2.0]) == 1.0
    assert held == [2.0]


def test_the_gradient_of_what_stands_twice_stands_at_both_places():
    held = [2.0]
    assert sg.grad(lambda p: p[0][0] * p[1][0])([held, held]) == [[4.0], [4.0]]


# results


def test_a_dataclass_as_the_result():
    def step(state, h):
        return Frozen(state.mean + h * state.log_scale, state.log_scale - h * state.mean)

    state = Frozen(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    got = sg.symbolic(step)(state, 0.1)
    assert isinstance(got, Frozen)
    np.testing.assert_array_equal(got.mean, step(state, 0.1).mean)


def test_the_jacobian_has_the_argument_in_the_result():
    def f(s):
        return Slotted(s.k * s.d, s.k**2)

    jacobian = sg.jacobian(f)(Slotted(2.0, 3.0))
    assert isinstance(jacobian.k, Slotted)
    assert (jacobian.k.k, jacobian.k.d, jacobian.d.k, jacobian.d.d) == (3.0, 2.0, 4.0, 0.0)
    plain = sg.jacobian(lambda s: {"k": s["k"] * s["d"], "d": s["k"] ** 2})({"k": 2.0, "d": 3.0})
    assert plain == {"k": {"k": 3.0, "d": 2.0}, "d": {"k": 4.0, "d": 0.0}}


def test_settings_of_results_stay_beside_their_derivatives():
    jacobian = sg.jacobian(lambda x: Point(x**2, 4, "out"))(np.array([1.0, 3.0]))
    np.testing.assert_allclose(jacobian.x, np.diag([2.0, 6.0]))
    assert (jacobian.power, jacobian.label) == (4, "out")


def test_the_hessian_of_a_dataclass():
    value = Frozen(np.array([0.3, 0.4]), np.array([1.1]))

    def f(p):
        return np.sum(np.sin(p.mean) * p.log_scale**2)

    hessian = sg.hessian(f)(value)
    fields = ("mean", "log_scale")

    def gradient(p, name, k):
        return getattr(sg.grad(f)(p), name)[k]

    for one in fields:
        wanted = [differences(gradient, value, one, k) for k in range(getattr(value, one).size)]
        for other in fields:
            got = getattr(getattr(hessian, one), other)
            np.testing.assert_allclose(got, [getattr(w, other) for w in wanted], rtol=1e-5, atol=1e-7)


def test_aux_may_be_an_object():
    def f(x):
        return np.sum(x**2), Linear(x * 2, 1.0, "aux")

    gradient, (aux,) = sg.grad(f, has_aux=True)(np.ones(2))
    np.testing.assert_allclose(gradient, [2.0, 2.0])
    assert isinstance(aux, Linear)
    np.testing.assert_allclose(aux.w, [2.0, 2.0])


def test_products_with_objects():
    model, tangent = Linear(np.array([1.0, 2.0])), Linear(np.array([0.5, -1.0]), 2.0)

    def f(m):
        return np.sum(np.exp(m.w) * m.b)

    value, pushed = sg.jvp(f, (model,), (tangent,))
    gradient = sg.grad(f)(model)
    np.testing.assert_allclose(pushed, gradient.w @ tangent.w + gradient.b * tangent.b)
    _, pullback = sg.vjp(f, model)
    np.testing.assert_allclose(pullback(2.0)[0].w, 2 * gradient.w)
    assert value == f(model)
    (product,) = sg.hvp(f, (model,), (tangent,))
    h = 1e-6
    ends = [sg.grad(f)(Linear(model.w + s * h * tangent.w, model.b + s * h * tangent.b)) for s in (1, -1)]
    np.testing.assert_allclose(product.w, (ends[0].w - ends[1].w) / (2 * h), rtol=1e-6)
    assert product.name == "ols"


def test_examples_in_an_object():
    batch = Linear(RNG.normal(size=(4, 3)), 0.5, "many")
    axes = dataclasses.replace(batch, w=0, b=None, name=None)
    each = sg.vmap(lambda m, x: m.predict(x), in_axes=(axes, None))(batch, X[0])
    np.testing.assert_allclose(each, batch.w @ X[0] + 0.5)
    every = sg.vmap(sg.grad(lambda p: np.sum(p.x**p.power)))(Point(RNG.normal(size=(4, 2))))
    assert every.x.shape == (4, 2)
    same = sg.vmap(lambda m, x: m.predict(x), in_axes=(None, 0))(Linear(np.ones(3)), X)
    np.testing.assert_allclose(same, X.sum(1) + 0.5)
    with pytest.raises(ArgumentError, match="nested in another way"):
        sg.vmap(lambda m: m.w, in_axes=((0, 1),))(batch)


def test_an_object_made_and_changed_inside_the_function():
    def f(x):
        state = types.SimpleNamespace(total=0.0, x=x)
        for k in range(3):
            state.total = state.total + np.sum(state.x) * k
            state.x = state.x * 2
        return dataclasses.replace(Slotted(1.0, 2.0), k=state.total).k

    np.testing.assert_allclose(sg.grad(f)(np.ones(2)), [10.0, 10.0])


@dataclass
class Converted:
    """Converts what it is given, in calls of libraries too."""

    x: Any
    rate: float = 0.5

    def __post_init__(self):
        self.x = np.asarray(self.x, float)
        if self.rate <= 0:
            raise ValueError("rate")


def filled(x):
    out = np.zeros(2)
    out[0] = math.sin(x[0])
    out[1] = float(x[1]) ** 2
    return out


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(Converted(filled(x)).x) * Converted(x).rate,
        lambda x: np.sum(Converted([math.sin(x[0]), x[1] ** 2]).x) * 0.5,
        lambda x: np.sum(dataclasses.replace(Converted([1.0, 2.0]), x=filled(x)).x) * 0.5,
        lambda x: np.sum(np.asarray(types.SimpleNamespace(x=filled(x)).x)) * 0.5,
        lambda x: np.sum(Pair(filled(x), 0.5).left) * Pair(1.0, 0.5).right,
    ],
)
def test_constructors_that_convert_traced_values_keep_the_derivative_or_refuse(f):
    x = np.array([0.3, 2.0])
    try:
        gradient = sg.grad(f)(x)
    except TracingError:
        return
    np.testing.assert_allclose(gradient, [0.5 * math.cos(0.3), 2.0])


def test_steps_that_make_states_of_a_class_that_converts():
    def step(s):
        return Converted([s.x[0] + s.rate, s.x[1] * 2], s.rate)

    got = sg.symbolic(step)(Converted([1.0, 2.0]))
    assert isinstance(got, Converted)
    np.testing.assert_allclose(got.x, [1.5, 4.0])
    jacobian = sg.jacobian(step)(Converted([1.0, 2.0]))
    np.testing.assert_allclose(jacobian.x.x, np.diag([1.0, 2.0]))
    np.testing.assert_allclose(jacobian.x.rate, [1.0, 0.0])


def test_replace_and_astuple_inside_the_function():
    def f(p):
        moved = dataclasses.replace(p, mean=p.mean + 1)
        return np.sum(moved.mean**2) + sum(np.sum(getattr(moved, f.name)) for f in dataclasses.fields(moved))

    check(f, Frozen(np.ones(2), np.ones(3)))


def test_gradient_descent_on_a_dataclass():
    model = Linear(np.zeros(3), 0.0)
    step = sg.value_and_grad(squared_error)
    first = None
    for _ in range(50):
        value, g = step(model, X, Y)
        first = value if first is None else first
        model = Linear(model.w - 0.05 * g.w, float(model.b - 0.05 * g.b))
    assert value < first
    assert step.kernel() is step.kernel()


class Model:
    """A class whose method is differentiated by an argument."""

    def __init__(self, config):
        self.config = config

    def loss(self, params, X):
        return np.sum(params.predict(X)) * self.config.power


def test_a_method_with_a_frozen_configuration():
    config = Point(np.ones(1), 2)
    gradient = sg.grad(Model(config).loss)(Linear(np.ones(3)), X)
    np.testing.assert_allclose(gradient.w, 2 * X.sum(0))


# classes that are registered


class Curve:
    """No dataclass; registered by its attributes."""

    def __init__(self, knots, name):
        self.knots = np.asarray(knots, float)
        self.name = name

    def __call__(self, t):
        return np.polyval(self.knots, t)


extend.container(Curve)


def test_a_class_that_is_registered_by_its_attributes():
    gradient = check(lambda c, t: np.sum(c(t) ** 2), Curve([1, -2, 0.5], "cubic"), Y)
    assert gradient.name == "cubic"


class Matrix:
    """Hides its data."""

    def __init__(self, entries, unit):
        self._entries, self._unit = tuple(entries), unit

    @property
    def array(self):
        return np.stack(self._entries)


extend.container(
    Matrix,
    lambda m: {"entries": list(m._entries), "unit": m._unit},
    lambda parts: Matrix(parts["entries"], parts["unit"]),
)


def test_a_class_that_is_registered_with_functions_of_its_own():
    gradient = check(lambda m: np.sum(m.array**2), Matrix([1.0, 2.0, 3.0], "m"))
    assert gradient._unit == "m"


def test_what_cannot_be_registered():
    class Fine:
        pass

    with pytest.raises(ArgumentTypeError, match="takes a class"):
        extend.container(Fine())
    with pytest.raises(ArgumentError, match="belong together"):
        extend.container(Fine, lambda v: {})
    with pytest.raises(ArgumentTypeError, match="a function is expected"):
        extend.container(Fine, {"a": 1}, lambda v: v)
    for kind in (dict, np.ndarray, type("Sub", (list,), {}), Enum):
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            extend.container(kind)
    with pytest.raises(ArgumentError, match="more than its attributes"):
        extend.container(type("Error", (ValueError,), {}))
    extend.container(Fine, lambda v: [1, 2], lambda parts: Fine())
    with pytest.raises(ArgumentTypeError, match="a dict of parts by name"):
        sg.grad(lambda v: 1.0)(Fine())


# what stays static


class Kind(Enum):
    LINEAR = 1
    CUBIC = 3


@dataclass(frozen=True)
class Config:
    kind: Kind = Kind.LINEAR
    degree: int = 2
    names: tuple[str, ...] = ("a", "b")
    verbose: bool = False


DEFAULT = Config()


def by_config(x, config):
    if config is DEFAULT:
        return np.sum(x)
    return np.sum(x ** (config.degree * config.kind.value)) * len(config.names)


def test_a_configuration_without_data_is_static_and_stays_itself():
    g = sg.grad(by_config)
    np.testing.assert_allclose(g(np.full(2, 2.0), DEFAULT), [1.0, 1.0])
    np.testing.assert_allclose(g(np.full(2, 2.0), Config(Kind.CUBIC)), 2 * 6 * np.full(2, 2.0) ** 5)
    np.testing.assert_allclose(g(np.full(2, 2.0), Config(degree=1)), [2.0, 2.0])


def test_an_object_without_data_in_one_with_data_stays_itself():
    g = sg.grad(lambda pair: by_config(pair.left, pair.right))
    np.testing.assert_allclose(g(Pair(np.ones(2), DEFAULT)).left, [1.0, 1.0])


def test_a_plain_object_is_static_and_guarded_as_before():
    class Plain:
        def __init__(self, scale):
            self.scale = scale

    plain = Plain(np.array([1.0, 2.0]))
    g = sg.grad(lambda x, p: np.sum(x * p.scale))
    np.testing.assert_allclose(g(np.ones(2), plain), [1.0, 2.0])
    plain.scale[0] = 5.0
    np.testing.assert_allclose(g(np.ones(2), plain), [5.0, 2.0])


# guards


def test_another_setting_is_another_trace():
    g = sg.grad(lambda m, x: np.sum(m.w * x) if m.name == "a" else np.sum(m.w * x**2))
    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(g(Linear(np.ones(2), 0.0, "a"), x).w, x)
    np.testing.assert_allclose(g(Linear(np.ones(2), 0.0, "b"), x).w, x**2)
    model = Linear(np.ones(2), 0.0, "a")
    np.testing.assert_allclose(g(model, x).w, x)
    model.name = "b"
    np.testing.assert_allclose(g(model, x).w, x**2)


def test_another_number_is_the_same_trace():
    g = sg.grad(lambda model: np.sum(model.w**2) * model.b)
    kernels = set()
    for k in range(4):
        np.testing.assert_allclose(g(Linear(np.full(2, float(k)), 2.0)).w, [4.0 * k] * 2)
        kernels.add(g.kernel())
    assert len(kernels) == 1


def test_another_method_is_another_trace():
    @dataclass
    class Scaled:
        x: np.ndarray

        def cost(self):
            return np.sum(self.x * FACTOR["now"])

    FACTOR = {"now": 2.0}
    g = sg.grad(lambda s: s.cost())
    np.testing.assert_allclose(g(Scaled(np.ones(2))).x, [2.0, 2.0])
    FACTOR["now"] = 3.0
    np.testing.assert_allclose(g(Scaled(np.ones(2))).x, [3.0, 3.0])
    Scaled.cost = lambda self: np.sum(self.x**2)
    np.testing.assert_allclose(g(Scaled(np.ones(2))).x, [2.0, 2.0])


def test_a_method_of_a_named_tuple_is_guarded():
    factor = {"now": 2.0}

    class Reader(NamedTuple):
        x: np.ndarray

        def cost(self):
            return np.sum(self.x * factor["now"])

    g = sg.grad(lambda r: r.cost())
    np.testing.assert_allclose(g(Reader(np.ones(2))).x, [2.0, 2.0])
    factor["now"] = 3.0
    np.testing.assert_allclose(g(Reader(np.ones(2))).x, [3.0, 3.0])


def test_the_callers_object_and_the_results_are_apart():
    model = Linear(np.ones(2), 2.0)
    g = sg.grad(lambda m: np.sum(m.w**2) * m.b)
    first = g(model)
    model.w[:] = 7.0
    model.b = 1.0
    np.testing.assert_allclose(first.w, [4.0, 4.0])
    np.testing.assert_allclose(g(model).w, [14.0, 14.0])
    first.w[:] = 0.0
    np.testing.assert_array_equal(model.w, [7.0, 7.0])


def test_writes_inside_of_the_function_do_not_reach_the_callers_object():
    def f(m):
        m.w = m.w * 3
        m.b += 1.0
        return np.sum(m.w) * m.b

    model = Linear(np.ones(2), 1.0)
    np.testing.assert_allclose(sg.grad(f)(model).w, [6.0, 6.0])
    np.testing.assert_array_equal(model.w, [1.0, 1.0])
    assert model.b == 1.0


def test_classes_that_are_gone_are_not_kept_for_ever():
    @dataclass
    class Local:
        x: float

    reference = weakref.ref(Local)
    sg.grad(lambda v: v.x**2)(Local(1.0))
    from symgrad.tracing.containers import container

    container.cache_clear()
    del Local
    gc.collect()
    assert reference() is None


# errors


def test_integer_arrays_cannot_be_differentiated_by():
    with pytest.raises(DtypeError, match="int64"):
        sg.grad(lambda m: np.sum(m.w))(Linear(np.arange(3)))


def test_an_object_without_a_number_cannot_be_differentiated_by():
    with pytest.raises(ArgumentError, match="holds no array"):
        sg.grad(lambda c: 1.0)(DEFAULT)


def test_a_plain_object_says_how_to_register_it():
    class Plain:
        def __init__(self):
            self.x = np.ones(2)

    with pytest.raises(DtypeError, match=r"extend\.container"):
        sg.grad(lambda p: np.sum(p.x))(Plain())


def test_an_object_that_holds_itself():
    loop = types.SimpleNamespace(x=1.0)
    loop.own = loop
    with pytest.raises(ArgumentTypeError, match="holds itself"):
        sg.grad(lambda v: v.x)(loop)


def test_what_can_be_neither_traced_nor_remembered():
    with pytest.raises(ArgumentTypeError, match="neither traced nor remembered"):
        sg.grad(lambda m: m.b)(Linear({1, 2}, 1.0))


def test_a_tangent_of_another_class():
    with pytest.raises((ArgumentError, ShapeError)):
        sg.jvp(lambda m: np.sum(m.w), (Linear(np.ones(2)),), (Frozen(np.ones(2), np.ones(3)),))


# what is shown and taken away


def test_names_of_the_parts():
    program = sg.grad(squared_error).program(Linear(np.ones(3)), X, Y)
    assert list(program.names)[:2] == ["model_w", "model_b"]


def test_sizes_by_name_in_an_object():
    model = sg.grad(sg.named(squared_error, model=Linear("d", "", None), X="n d", y="n"))
    for d in (2, 3):
        np.testing.assert_allclose(model(Linear(np.ones(d)), X[:, :d], Y).w.shape, [d])
    assert str(model.program().inputs[0].shape) == "(d,)"
    assert "p_W" not in sg.grad(squared_error).closed_form(Linear("d", "", None), "n d", "n", form="matrix").__str__()
    f = sg.named(lambda p, X: np.sum((X @ p.mean) ** 2) * np.sum(p.log_scale), p=Frozen("d", "k"), X="n d")
    g = sg.grad(f)
    for d, n, k in ((3, 5, 2), (2, 4, 1)):
        point = Frozen(RNG.normal(size=d), RNG.normal(size=k))
        data = RNG.normal(size=(n, d))
        np.testing.assert_allclose(g(point, data).mean, differences(f, point, data).mean, rtol=1e-6)
    assert "n, d" in str(g.program().inputs[2].shape)


def test_an_export_takes_and_gives_objects(tmp_path):
    model = Linear(np.array([0.1, 0.2, 0.3]))
    g = sg.grad(squared_error)
    for format in ("python", "sympy"):
        path = tmp_path / f"{format}.py"
        g.export(format, model, X, Y, path=path)
        run = subprocess.run([sys.executable, "-I", path], capture_output=True, text=True)
        assert "pass" in run.stdout, run.stderr
    space: dict[str, Any] = {"__name__": "exported"}
    exec((tmp_path / "python.py").read_text(), space)
    got = space["grad_squared_error"](model, X, Y)
    np.testing.assert_allclose(got.w, g(model, X, Y).w)
    assert got.name == "ols"
    with pytest.raises(TypeError, match="no attribute 'w'"):
        space["grad_squared_error"](Slotted(1.0, 2.0), X, Y)
    with pytest.raises(UnsupportedOperation, match="returns a Linear"):
        g.export("json", model, X, Y)


def test_derivatives_of_objects_agree_with_formulas():
    value = Slotted(1.3, 0.4)
    g = sg.grad(lambda s: s.k**2 * np.sin(s.d))
    assert g.equals(lambda s: Slotted(2 * s.k * np.sin(s.d), s.k**2 * np.cos(s.d)), value)
    assert not g.equals(lambda s: Slotted(s.k * np.sin(s.d), s.k**2 * np.cos(s.d)), value)
    assert str(g.closed_form(value)) == "Slotted(k=2*s_k*sin(s_d), d=s_k**2*cos(s_d))"


class Attributes(dict):
    __getattr__ = dict.__getitem__


class Ordered(collections.OrderedDict):
    pass


class WithDefault(collections.defaultdict):
    pass


def reordered(x, p):
    p.move_to_end("a")
    return x * next(iter(p.values())) + next(reversed(p.values()))


DICTS = {
    "attributes": (lambda x, p: x * p.a + p["b"], Attributes(a=1.5, b=2.0)),
    "ordered": (reordered, Ordered(a=1.5, b=2.0)),
    "with a default": (lambda x, p: x * p["missing"] + p["a"], WithDefault(lambda: 6.0, a=1.0)),
    "with another default": (lambda x, p: x * p["missing"] + p["a"], collections.defaultdict(lambda: 5.0, a=1.0)),
}


@pytest.mark.parametrize("name", DICTS)
def test_dicts_of_classes_of_their_own(name):
    function, given = DICTS[name]
    value, (slope, other) = sg.value_and_grad(function, (0, 1))(2.0, given)
    assert value == function(2.0, type(given)(*([given.default_factory] if "default" in name else []), given))
    assert slope == function(3.0, given) - function(2.0, given)
    assert type(other) is type(given)
