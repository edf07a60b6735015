"""Functions inside functions, and what hangs on them."""

import collections
import contextlib
import functools

import numpy as np
from mutations import Cases, check

case = Cases()
K = 2.0


def new_k(world):
    """What changes the global ``K``."""
    return lambda: world.patch.setitem(globals(), "K", 5.0)


TABLE = np.array([1.0, 10.0])


@case
def read_in_a_context_manager(world):
    @contextlib.contextmanager
    def scaled():
        yield K

    def fn(x):
        with scaled() as k:
            return k * np.sum(x)

    return fn, new_k(world)


@case
def read_in_a_single_dispatch_function(world):
    @functools.singledispatch
    def k(of):
        return K

    @k.register
    def _(of: int):
        return -K

    return lambda x: k(1) * np.sum(x), new_k(world)


@case
def read_in_a_function_that_wraps_one_of_a_library(world):
    @functools.wraps(np.sum)
    def total(x):
        return K * np.sum(x)

    return lambda x: total(x), new_k(world)


@case
def read_in_a_wrapped_function(world):
    def doubled(f):
        @functools.wraps(f)
        def inner(*args):
            return 2.0 * f(*args)

        return inner

    @doubled
    def k():
        return K

    return lambda x: k() * np.sum(x), new_k(world)


@case
def read_in_a_generator_function(world):
    def factors():
        yield K
        yield K

    return lambda x: sum(factors()) * np.sum(x), new_k(world)


@case
def read_in_a_comprehension(world):
    return lambda x: sum([K * v for v in x]), new_k(world)


@case
def read_by_a_function_without_a_module(world):
    space = {"np": np, "k": 2.0}
    exec("def fn(x):\n    return k * np.sum(x)", space)
    return space["fn"], lambda: space.update(k=5.0)


@case
def read_in_a_sort_key(world):
    return lambda x: sorted([1.0, 4.0], key=lambda v: (v - K) ** 2)[0] * np.sum(x), new_k(world)


@case
def read_in_reduce_and_map(world):
    def times(a, b):
        return a * b * K

    return lambda x: functools.reduce(times, [v + K for v in (1.0, 2.0)]) * np.sum(x), new_k(world)


@case
def read_in_a_vectorized_function(world):
    scaled = np.vectorize(lambda v: v * K)
    return lambda x: np.sum(scaled(TABLE) * x), new_k(world)


@case
def attribute_of_a_function(world):
    def helper(x):
        return helper.k * np.sum(x)

    helper.k = 2.0
    return lambda x: helper(x), lambda: setattr(helper, "k", 5.0)


@case
def attribute_of_the_function_itself(world):
    def fn(x):
        return fn.k * np.sum(x)

    fn.k = 2.0
    return fn, lambda: setattr(fn, "k", 5.0)


@case
def attribute_of_a_function_that_comes_later(world):
    def helper(x):
        return getattr(helper, "k", 2.0) * np.sum(x)

    return lambda x: helper(x), lambda: setattr(helper, "k", 5.0)


@case
def cached_function(world):
    @functools.cache
    def k():
        return K

    def change():
        new_k(world)()
        k.cache_clear()

    return lambda x: k() * np.sum(x), change


@case
def replaced_partial(world):
    held = functools.partial(np.multiply, 2.0)
    return lambda x: np.sum(held(x)), lambda: held.__setstate__((np.multiply, (5.0,), {}, None))


@case
def default_of_a_nested_function(world):
    rates = [2.0]

    def fn(x):
        def inner(v, k=rates[0]):
            return k * v

        return np.sum(inner(x))

    return fn, lambda: rates.__setitem__(0, 5.0)


@case
def bound_function_of_c(world):
    rates = [2.0]
    first = rates.__getitem__
    return lambda x: first(0) * np.sum(x), lambda: rates.__setitem__(0, 5.0)


@case
def mapping_with_defaults(world):
    table = collections.defaultdict(lambda: K)
    return lambda x: (table["k"] if "k" in table else table.default_factory()) * np.sum(x), new_k(world)


@case
def global_by_text(world):
    return lambda x: globals()["K"] * np.sum(x), new_k(world)


@case.each()
def test_a_change_is_seen(make, world):
    check(make, world)
