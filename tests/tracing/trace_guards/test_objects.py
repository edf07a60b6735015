"""Attributes of objects."""

import enum
import types
import weakref

import numpy as np
from mutations import Cases, check

case = Cases()


@case
def class_of_an_instance(world):
    class A:
        def k(self):
            return 2.0

    class B:
        def k(self):
            return 5.0

    a = A()
    return lambda x: a.k() * np.sum(x), lambda: setattr(a, "__class__", B)


@case
def bases_of_a_class(world):
    class A:
        k = 2.0

    class B:
        k = 5.0

    class C(A):
        pass

    c = C()
    return lambda x: c.k * np.sum(x), lambda: setattr(C, "__bases__", (B,))


@case
def slots(world):
    class A:
        __slots__ = ("k",)

    a = A()
    a.k = 2.0
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def inherited_slots(world):
    class A:
        __slots__ = ("k",)

    class B(A):
        pass

    a = B()
    a.k = 2.0
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def slots_beside_slots(world):
    class A:
        __slots__ = "k"

    class B(A):
        __slots__ = ("other",)

    a = B()
    a.k = 2.0
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def private_slots(world):
    class A:
        __slots__ = ("__k",)

        def __init__(self):
            self.__k = 2.0

        def k(self):
            return self.__k

        def change(self):
            self.__k = 5.0

    a = A()
    return lambda x: a.k() * np.sum(x), a.change


@case
def slot_that_is_filled_later(world):
    class A:
        __slots__ = ("k",)

    a = A()
    return lambda x: getattr(a, "k", 2.0) * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def attribute_that_comes_later(world):
    a = types.SimpleNamespace()
    return lambda x: getattr(a, "k", 2.0) * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def attribute_of_a_list(world):
    class A(list):
        k = 2.0

    a = A()
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def attribute_of_a_mapping(world):
    class A(dict):
        pass

    a = A()
    a.k = 2.0
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def attribute_of_a_number(world):
    class A(float):
        pass

    a = A(1.0)
    a.k = 2.0
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def attribute_of_a_tuple(world):
    class A(tuple):
        pass

    a = A()
    a.k = 2.0
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def attribute_of_an_array(world):
    class A(np.ndarray):
        pass

    a = np.zeros(1).view(A)
    a.k = 2.0
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def attribute_of_a_member_of_an_enumeration(world):
    class A(enum.Enum):
        ONE = 1

    A.ONE.k = 2.0
    return lambda x: A.ONE.k * np.sum(x), lambda: setattr(A.ONE, "k", 5.0)


@case
def object_among_the_keys(world):
    key = types.SimpleNamespace(k=2.0)

    class Key:
        k = 2.0

    key = Key()
    table = {key: 1.0}
    return lambda x: next(iter(table)).k * np.sum(x), lambda: setattr(key, "k", 5.0)


@case
def object_in_a_frozen_set(world):
    class A:
        k = 2.0

    a = A()
    held = frozenset([a])
    return lambda x: next(iter(held)).k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def weak_reference(world):
    class A:
        k = 2.0

    a = A()
    held = weakref.ref(a)
    return lambda x: held().k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def weak_proxy(world):
    class A:
        k = 2.0

    a = A()
    held = weakref.proxy(a)
    return lambda x: held.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def exception_with_arguments(world):
    error = ValueError(2.0)
    return lambda x: error.args[0] * np.sum(x), lambda: setattr(error, "args", (5.0,))


@case
def object_that_raises_when_looked_at(world):
    rates = [2.0]

    class A:
        @property
        def __dict__(self):
            raise RuntimeError

        def k(self):
            return rates[0]

    a = A()
    return lambda x: a.k() * np.sum(x), lambda: rates.__setitem__(0, 5.0)


@case
def object_whose_class_has_every_attribute(world):
    class Meta(type):
        def __getattr__(cls, name):
            return 2.0

    class A(metaclass=Meta):
        k = 2.0

    a = A()
    return lambda x: a.k * np.sum(x), lambda: setattr(a, "k", 5.0)


@case
def proxy_of_an_object_that_is_gone(world):
    class A:
        pass

    gone, rates = weakref.proxy(A()), [2.0]

    def fn(x):
        try:
            return gone.k * np.sum(x)
        except ReferenceError:
            return rates[0] * np.sum(x)

    return fn, lambda: rates.__setitem__(0, 5.0)


@case.each()
def test_a_change_is_seen(make, world):
    check(make, world)
