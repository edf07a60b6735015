"""Methods that run without being named, and classes that make instances."""

import abc
import collections
import collections.abc
import dataclasses
import functools
import types
from typing import NamedTuple

import numpy as np
from mutations import Cases, check

case = Cases()
K = 2.0


def new_k(world):
    """What changes the global ``K``."""
    return lambda: world.patch.setitem(globals(), "K", 5.0)


@case
def read_in_init(world):
    class A:
        def __init__(self):
            self.k = K

    return lambda x: A().k * np.sum(x), new_k(world)


@case
def read_in_init_of_a_base(world):
    class A:
        def __init__(self):
            self.k = K

    class B(A):
        pass

    return lambda x: B().k * np.sum(x), new_k(world)


@case
def read_in_init_by_type(world):
    class A:
        def __init__(self):
            self.k = K

    a = A()
    return lambda x: type(a)().k * np.sum(x), new_k(world)


@case
def read_in_new(world):
    class A:
        def __new__(cls):
            made = super().__new__(cls)
            made.k = K
            return made

    return lambda x: A().k * np.sum(x), new_k(world)


@case
def read_in_init_of_a_class_made_inside(world):
    def fn(x):
        class A:
            def __init__(self):
                self.k = K

        return A().k * np.sum(x)

    return fn, new_k(world)


@case
def read_in_a_class_method_that_makes_one(world):
    class A:
        def __init__(self):
            self.k = K

        @classmethod
        def made(cls):
            return cls()

    a = A()
    return lambda x: a.made().k * np.sum(x), new_k(world)


@case
def read_in_post_init(world):
    @dataclasses.dataclass
    class A:
        k: float = 0.0

        def __post_init__(self):
            self.k = K

    return lambda x: A().k * np.sum(x), new_k(world)


@case
def read_in_post_init_by_replace(world):
    @dataclasses.dataclass
    class A:
        k: float = 0.0

        def __post_init__(self):
            self.k = K

    a = A()
    return lambda x: dataclasses.replace(a).k * np.sum(x), new_k(world)


@case
def default_of_a_data_class(world):
    @dataclasses.dataclass
    class A:
        rates: list = dataclasses.field(default_factory=lambda: [K])

    return lambda x: A().rates[0] * np.sum(x), new_k(world)


@case
def read_in_getattr(world):
    class A:
        def __getattr__(self, name):
            if name == "k":
                return K
            raise AttributeError(name)

    a = A()
    return lambda x: a.k * np.sum(x), new_k(world)


@case
def read_in_getattribute(world):
    class A:
        def __getattribute__(self, name):
            return K if name == "k" else super().__getattribute__(name)

    a = A()
    return lambda x: a.k * np.sum(x), new_k(world)


@case
def read_in_getitem(world):
    class A:
        def __getitem__(self, at):
            return K

    a = A()
    return lambda x: a[0] * np.sum(x), new_k(world)


@case
def read_in_enter(world):
    class A:
        def __enter__(self):
            return K

        def __exit__(self, *exc):
            return None

    def fn(x):
        with A() as k:
            return k * np.sum(x)

    return fn, new_k(world)


@case
def read_in_exit(world):
    kept = types.SimpleNamespace(k=0.0)

    class A:
        def __enter__(self):
            return self

        def __exit__(self, *exc):
            kept.k = K

    def fn(x):
        with A():
            pass
        return kept.k * np.sum(x)

    return fn, new_k(world)


@case
def read_in_iter(world):
    class A:
        def __iter__(self):
            yield K

    a = A()
    return lambda x: next(iter(a)) * np.sum(x), new_k(world)


@case
def read_in_len_and_contains(world):
    class A:
        def __len__(self):
            return int(K)

        def __contains__(self, item):
            return item == K

    a = A()
    return lambda x: (len(a) + (5.0 in a)) * np.sum(x), new_k(world)


@case
def read_in_arithmetic(world):
    class A:
        def __mul__(self, other):
            return other * K

    a = A()
    return lambda x: a * 1.0 * np.sum(x), new_k(world)


@case
def read_in_float(world):
    class A:
        def __float__(self):
            return K

    a = A()
    return lambda x: float(a) * np.sum(x), new_k(world)


@case
def read_in_array(world):
    class A:
        def __array__(self, dtype=None, copy=None):
            return np.full(2, K)

    a = A()
    return lambda x: np.sum(np.asarray(a) * x), new_k(world)


@case
def read_in_call(world):
    class A:
        def __call__(self, x):
            return K * np.sum(x)

    a = A()
    return lambda x: a(x), new_k(world)


@case
def read_in_eq_and_bool(world):
    class A:
        def __eq__(self, other):
            return other == K

        def __bool__(self):
            return K > 3.0

        __hash__ = object.__hash__

    a = A()
    return lambda x: (1.0 + (a == 5.0)) * np.sum(x) if a else np.sum(x), new_k(world)


@case
def read_in_a_property(world):
    class A:
        @property
        def k(self):
            return K

    a = A()
    return lambda x: a.k * np.sum(x), new_k(world)


@case
def read_in_a_descriptor(world):
    class D:
        def __get__(self, instance, owner):
            return K

    class A:
        k = D()

    a = A()
    return lambda x: a.k * np.sum(x), new_k(world)


@case
def read_in_a_method_of_a_metaclass(world):
    class Meta(type):
        def __call__(cls):
            return K

    class A(metaclass=Meta):
        pass

    return lambda x: A() * np.sum(x), new_k(world)


@case
def read_in_getattr_of_a_metaclass(world):
    class Meta(type):
        def __getattr__(cls, name):
            return K

    class A(metaclass=Meta):
        pass

    return lambda x: A.k * np.sum(x), new_k(world)


@case
def read_in_a_static_method(world):
    class A:
        @staticmethod
        def k():
            return K

    return lambda x: A.k() * np.sum(x), new_k(world)


@case
def read_in_a_partial_method(world):
    class A:
        def times(self, factor):
            return factor * K

        once = functools.partialmethod(times, 1.0)

    a = A()
    return lambda x: a.once() * np.sum(x), new_k(world)


@case
def read_in_a_method_that_a_library_calls(world):
    class Encoder(collections.abc.Mapping):
        def __getitem__(self, key):
            return K

        def __iter__(self):
            return iter("k")

        def __len__(self):
            return 1

    a = Encoder()
    return lambda x: next(iter(a.values())) * np.sum(x), new_k(world)


@case
def read_in_an_abstract_class(world):
    class Base(abc.ABC):
        @abc.abstractmethod
        def k(self): ...

    class A(Base):
        def k(self):
            return K

    a = A()
    return lambda x: a.k() * np.sum(x), new_k(world)


@case
def read_in_a_method_of_a_tuple(world):
    class A(NamedTuple):
        a: float

        def k(self):
            return K * self.a

    a = A(1.0)
    return lambda x: a.k() * np.sum(x), new_k(world)


@case
def read_in_a_method_named_by_text(world):
    class A:
        def rate(self):
            return K

    a = A()
    return lambda x: getattr(a, "rate")() * np.sum(x), new_k(world)  # noqa: B009


@case
def read_in_a_method_of_a_computed_name(world):
    class A:
        def rate(self):
            return K

    a, names = A(), ["ra", "te"]
    return lambda x: getattr(a, "".join(names))() * np.sum(x), new_k(world)


@case
def attribute_of_a_method(world):
    class A:
        def loss(self, x):
            return self.loss.k * np.sum(x)

    A.loss.k = 2.0
    a = A()
    return lambda x: a.loss(x), lambda: setattr(A.loss, "k", 5.0)


@case
def cached_property(world):
    class A:
        @functools.cached_property
        def k(self):
            return K

    a = A()

    def change():
        new_k(world)()
        del a.k

    return lambda x: a.k * np.sum(x), change


@case
def global_in_missing(world):
    class A(dict):
        def __missing__(self, key):
            return K

    a = A()
    return lambda x: a["k"] * np.sum(x), new_k(world)


@case.each()
def test_a_change_is_seen(make, world):
    check(make, world)
