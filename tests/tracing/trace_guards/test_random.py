"""Random numbers are drawn at every call, whatever draws them, and items taken from iterators."""

import copy
import dataclasses
import itertools
import os
import random
import secrets
import time
import types
import uuid

import numpy as np
import pytest
import scipy.stats

import symgrad

X = np.array([1.0, 2.0])
GENERATOR = np.random.default_rng(0)
LEGACY = np.random.RandomState(0)
PYTHON = random.Random(0)
HOLDER = types.SimpleNamespace(layers=[{"dropout": np.random.default_rng(1)}])
draw = GENERATOR.random


class Noise:
    def __init__(self):
        self.generator = np.random.default_rng()

    def __call__(self, x):
        return np.sum(x) * self.generator.random()


class Holder:
    def __init__(self, r):
        self.r = r


class Own(random.Random):
    def factor(self):
        return self.random()


OWN = Own(0)


def imported(x):
    from numpy.random import default_rng

    return np.sum(x) * default_rng().random()


def shuffled(x):
    order = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    random.shuffle(order)
    return np.sum(x) * sum(v * 8**k for k, v in enumerate(order))


def seeded_by_chance(x):
    return np.sum(x) * np.random.default_rng(np.random.randint(1 << 31)).random()


def next_of_a_normal_pair(x):
    return np.sum(x) * np.random.standard_normal()  # the second is kept, and the generator does not move


DRAWS = {
    "numpy.random.random": lambda x: np.sum(x) * np.random.random(),
    "numpy.random.standard_normal": next_of_a_normal_pair,
    "numpy.random.rand": lambda x: np.sum(x * np.random.rand(2)),
    "random.random": lambda x: np.sum(x) * random.random(),
    "random.gauss": lambda x: np.sum(x) * random.gauss(0.0, 1.0),
    "random.shuffle": shuffled,
    "a global": lambda x: np.sum(x) * GENERATOR.random(),
    "a global RandomState": lambda x: np.sum(x) * LEGACY.rand(),
    "a global of Python": lambda x: np.sum(x) * PYTHON.random(),
    "one of the user's class": lambda x: np.sum(x) * OWN.factor(),
    "in attributes and containers": lambda x: np.sum(x) * HOLDER.layers[0]["dropout"].random(),
    "a bound method": lambda x: np.sum(x) * draw(),
    "the bits below": lambda x: np.sum(x) * GENERATOR.bit_generator.random_raw(),
    "children of a seed": lambda x: np.sum(x) * GENERATOR.spawn(1)[0].random(),
    "made inside": lambda x: np.sum(x) * np.random.default_rng().random(),
    "made inside of None": lambda x: np.sum(x) * np.random.default_rng(None).random(),
    "made inside of bits": lambda x: np.sum(x) * np.random.Generator(np.random.PCG64()).random(),
    "made inside, imported": imported,
    "made inside, by chance": seeded_by_chance,
    "made inside, a RandomState": lambda x: np.sum(x) * np.random.RandomState().rand(),
    "made inside, of Python": lambda x: np.sum(x) * random.Random().random(),
    "made inside, of the machine": lambda x: np.sum(x) * random.SystemRandom().random(),
    "made by a class": lambda x: Noise()(x),
    "made by a name in text": lambda x: np.sum(x) * getattr(np.random, "default_rng")().random(),  # noqa: B009
    "secrets": lambda x: np.sum(x) * secrets.randbelow(1 << 40),
    "os.urandom": lambda x: np.sum(x) * int.from_bytes(os.urandom(6)),
    "uuid": lambda x: np.sum(x) * (uuid.uuid4().int % (1 << 40)),
    "scipy.stats": lambda x: np.sum(x) * scipy.stats.norm.rvs(),
}


def drawn(g, *args):
    return [tuple(g(X, *args)) for _ in range(4)]


@pytest.mark.parametrize("name", DRAWS)
def test_each_call_draws_anew(name):
    random.seed(20)  # what sets the state of an earlier test back meanwhile, as hypothesis does, repeats none of these
    np.random.seed(20)
    assert len(set(drawn(symgrad.grad(DRAWS[name])))) == 4


@pytest.mark.parametrize(
    "make",
    [np.random.default_rng, np.random.RandomState, random.Random, lambda s: np.random.Generator(np.random.SFC64(s))],
)
def test_each_call_draws_anew_from_an_argument(make):
    g = symgrad.grad(lambda x, r: np.sum(x) * r.random())
    numpy = make(3)
    assert drawn(g, make(3)) == [(d, d) for d in [numpy.random() for _ in range(4)]]
    g = symgrad.grad(lambda x, c: np.sum(x) * c.r.random())
    assert len(set(drawn(g, Holder(make(4))))) == 4
    g = symgrad.grad(lambda x, pair: np.sum(x) * pair["r"].random())
    assert len(set(drawn(g, {"r": make(4)}))) == 4


def test_each_call_draws_anew_by_a_method_that_is_an_argument():
    generator = np.random.default_rng(3)
    g = symgrad.grad(lambda x, sample: np.sum(x) * sample())
    assert len(set(drawn(g, generator.random))) == 4


def test_a_generator_draws_as_for_numpy():
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    g = symgrad.grad(lambda x: np.sum(x * ours.standard_normal(2)))
    for _ in range(4):
        assert g(X).tolist() == theirs.standard_normal(2).tolist()


def runs_of(fn, *args):
    """How often ``fn`` runs for four calls."""
    runs = itertools.count()

    def counted(*args):
        next(runs)
        return fn(*args)

    g = symgrad.grad(counted)
    first = [g(X, *args).tolist() for _ in range(4)]
    assert first == [first[0]] * 4
    return next(runs)


def test_a_generator_that_is_not_drawn_from_costs_nothing():
    generator, training = np.random.default_rng(0), False

    def dropout(x):
        return x * generator.random() if training else x

    def fn(x):
        return np.sum(dropout(x) ** 2)

    g = symgrad.grad(fn)
    g(X)
    kernel = g.kernel(X)
    generator.random()
    assert g.kernel(X) is kernel


def test_a_generator_made_from_a_number_is_made_once():
    assert runs_of(lambda x: np.sum(x * np.random.default_rng(3).standard_normal(2))) == 1
    assert runs_of(lambda x: np.sum(x * np.random.RandomState(seed=3).standard_normal(2))) == 1


def test_what_only_makes_an_object_or_stores_it_costs_nothing():
    class Model:
        def __init__(self):
            self.made = time.time()
            self.weight = np.random.default_rng().random()

        def loss(self, x):
            return self.weight * np.sum(x**2)

        def save(self, path):
            with open(path) as file:
                file.write(str(self.weight))

    assert runs_of(Model().loss) == 1

    @dataclasses.dataclass
    class Settings:
        made: float = dataclasses.field(default_factory=time.time)
        weight: float = 2.0

        def loss(self, x):
            return self.weight * np.sum(x**2)

    assert runs_of(Settings().loss) == 1


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")
def test_items_of_an_iterator_are_taken_at_every_call():
    numbers, ours = itertools.count(1), iter([1.0, 2.0, 3.0, 4.0, 5.0])
    pairs = zip([2.0, 3.0, 4.0, 5.0, 6.0], itertools.repeat(None))
    for fn, wanted in (
        (lambda x: np.sum(x) * next(numbers), [1.0, 2.0, 3.0, 4.0]),
        (lambda x: np.sum(x) * next(ours), [1.0, 2.0, 3.0, 4.0]),
        (lambda x: next(np.sum(x) * k for k, _ in pairs), [2.0, 3.0, 4.0, 5.0]),
    ):
        g = symgrad.grad(fn)
        assert [g(X)[0] for _ in range(4)] == wanted
    g = symgrad.grad(lambda x, it: np.sum(x) * next(it))
    assert [g(X, copy.copy(wanted).__iter__())[0] for _ in range(2)] == [2.0, 2.0]
    given = iter([1.0, 2.0])
    assert [g(X, given)[0] for _ in range(2)] == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")  # it changes what it reads
def test_what_the_function_itself_changes_is_counted_at_every_call():
    state = types.SimpleNamespace(k=0.0)

    def fn(x):
        state.k += 1.0
        return state.k * np.sum(x)

    g = symgrad.grad(fn)
    assert [g(X)[0] for _ in range(3)] == [1.0, 2.0, 3.0]
    state.k = 0.0
    assert [g(X)[0] for _ in range(3)] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", ["generator", "legacy", "python", "numpy's own", "python's own"])
def test_a_trace_that_is_made_again_draws_the_same_numbers(kind):
    """Writing into an array of its own is followed at a second try, which draws what the first has drawn."""
    generator, legacy, pythons = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
    draw = {
        "generator": generator.random,
        "legacy": legacy.rand,
        "python": pythons.random,
        "numpy's own": lambda: np.random.rand(),
        "python's own": lambda: random.random(),
    }[kind]

    def fn(x):
        factor, made = draw(), np.zeros(4)
        for i in range(4):
            made[i] = factor * x[i]
        return np.sum(made)

    def start():
        generator.bit_generator.state = np.random.default_rng(0).bit_generator.state
        for g in (legacy, pythons, np.random, random):
            g.seed(7)

    x = np.ones(4)
    start()
    wanted = [fn(x) for _ in range(3)]
    start()
    g = symgrad.value_and_grad(fn)
    np.testing.assert_allclose([g(x)[0] for _ in range(3)], wanted)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_shuffled_lists_are_shuffled(make):
    def fn(x):
        generator, rates, batches = (
            make(3),
            [1.0, 2.0, 3.0, 4.0],
            [np.array([0, 1]), np.array([2, 3]), np.array([1, 2])],
        )
        generator.shuffle(rates)
        weights = np.zeros(4)
        for _ in range(2):
            generator.shuffle(batches)
            for batch in batches:
                weights[batch] += 0.1 * (x[batch] - weights[batch]) * (batch[0] + 1)
        return x @ np.array(rates) + np.sum(weights**2)

    x = np.array([1.0, 2.0, 3.0, 4.0])
    value, slopes = symgrad.value_and_grad(fn)(x)
    assert value == pytest.approx(fn(x), rel=1e-14)
    np.testing.assert_allclose(slopes, [(fn(x + h) - fn(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)], rtol=1e-6)


SEED = 7


@pytest.mark.parametrize("make", ["np.random.default_rng", "np.random.RandomState", "random.Random"])
def test_a_seed_that_the_module_names_makes_no_call_a_new_trace(monkeypatch, make):
    fn = {
        "np.random.default_rng": lambda x: np.sum(x) * np.random.default_rng(SEED).random(),
        "np.random.RandomState": lambda x: np.sum(x) * np.random.RandomState(SEED).random(),
        "random.Random": lambda x: np.sum(x) * random.Random(SEED).random(),
    }[make]
    g = symgrad.value_and_grad(fn)
    assert g(X)[0] == pytest.approx(fn(X))
    assert g.kernel(X) is g.kernel(X)
    monkeypatch.setitem(globals(), "SEED", 8)
    assert g(X)[0] == pytest.approx(fn(X))
    monkeypatch.setitem(globals(), "SEED", None)  # other numbers at every call
    assert len({float(g(X)[0]) for _ in range(4)}) == 4


def test_a_generator_that_is_put_back_is_looked_at():
    def drawn(x):
        before = np.random.get_state()
        value = np.random.rand()
        np.random.set_state(before)
        return x * value

    gradient = symgrad.grad(drawn)
    state = np.random.get_state()
    try:
        for seed in (1, 1, 2):
            np.random.seed(seed)
            want = drawn(1.0)
            assert gradient(1.0) == want
    finally:
        np.random.set_state(state)
