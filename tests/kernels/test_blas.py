"""Products on fewer threads of the BLAS library while others keep the processors busy; the library stays as it was."""

from __future__ import annotations

import itertools
import math
import threading

import numpy as np
import pytest
import threadpoolctl
from work import calls

import symgrad as sg
from symgrad.kernels import blas
from symgrad.kernels.blas import Threads

RNG = np.random.default_rng(3)
#: no bound
WORK = lambda *_: math.inf  # noqa: E731
A, B = RNG.normal(size=(64, 80)), RNG.normal(size=(80, 72))


class Machine:
    """A library and a clock of its own: a product takes a millisecond a thread, and ``held_up`` where threads wait."""

    def __init__(self, threads):
        self.threads = threads
        self.now = 0.0
        self.held_up = 0.0
        self.seen = []

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, num_threads):
        self.threads = num_threads

    def product(self, a, b):
        self.seen.append(self.threads)
        self.now += 0.004 / self.threads + (self.held_up if self.threads > 1 else 0.0)
        return a @ b


@pytest.fixture
def machine():
    return Machine(4)


@pytest.fixture
def threads(machine):
    return Threads(machine, lambda: machine.now)


def test_a_product_that_is_not_held_up_has_all_threads(machine, threads):
    for _ in range(5):
        np.testing.assert_array_equal(threads.run(machine.product, WORK, A, B), A @ B)
    assert machine.seen == [4] * 5


def test_threads_are_halved_while_products_are_held_up_and_come_back(machine, threads):
    threads.run(machine.product, WORK, A, B)
    machine.held_up = 0.02
    for _ in range(30):
        threads.run(machine.product, WORK, A, B)
        assert machine.threads == 4
    assert machine.seen[:6] == [4, 4, 1, 2, 1, 1]  # what one thread takes is learnt first
    assert threads.are_fewer
    machine.held_up, machine.seen = 0.0, []
    machine.now += 5.0
    for _ in range(2000):
        threads.run(machine.product, WORK, A, B)
    assert machine.seen[-1] == 4
    assert not threads.are_fewer


def test_threads_that_came_back_are_not_lost_by_a_few_slower_calls(machine, threads):
    held_up(machine, threads)
    machine.now += 5.0
    for k in range(200):
        machine.held_up = 0.003 if k % 8 == 0 else 0.0
        threads.run(machine.product, WORK, A, B)
    assert machine.seen == [4] * 200


def test_threads_that_gain_again_are_not_lost_for_long(machine, threads):
    """They were held up for long; that is over once they have gained, and the next time counts as a first one."""
    threads.run(machine.product, WORK, A, B)
    machine.held_up = 0.02
    while machine.now < 20:
        threads.run(machine.product, WORK, A, B)
    machine.held_up = 0.0
    while threads.are_fewer:
        threads.run(machine.product, WORK, A, B)
    for _ in range(20):
        threads.run(machine.product, WORK, A, B)
    machine.held_up = 0.05
    threads.run(machine.product, WORK, A, B)
    assert threads.are_fewer
    machine.held_up = 0.0
    machine.now += 0.6
    threads.run(machine.product, WORK, A, B)
    assert not threads.are_fewer


def test_what_trying_again_costs_stays_small(machine, threads):
    threads.run(machine.product, WORK, A, B)
    machine.held_up, machine.seen = 0.2, []
    machine.now = start = 1.0
    while machine.now < start + 60:
        threads.run(machine.product, WORK, A, B)
    alone = machine.seen.count(1)
    assert alone * 0.004 > 0.75 * 60
    assert set(machine.seen) == {1, 2, 4}


def test_trying_all_threads_stays_rare_where_half_of_them_gain(machine, threads):
    """Two of four processors are free."""

    def product(a, b):
        machine.held_up = 0.2 if machine.threads > 2 and machine.seen else 0.0
        return machine.product(a, b)

    while machine.now < 60:
        threads.run(product, WORK, A, B)
    assert machine.seen.count(4) < 27


def test_a_program_that_begins_on_a_busy_machine_learns_what_one_thread_takes(machine, threads):
    machine.held_up = 0.02
    threads.run(machine.product, WORK, A, B)
    machine.held_up = 0.2
    for _ in range(40):
        threads.run(machine.product, WORK, A, B)
        machine.held_up = 0.02
    assert machine.seen.count(1) > 20


def test_a_first_product_that_takes_longer_than_it_can_is_held_up(machine, threads):
    machine.held_up = 0.02
    threads.run(machine.product, lambda a, b, _: a.size * b.shape[1], A, B)
    threads.run(machine.product, WORK, A, B)
    assert machine.seen == [4, 1]


def test_products_of_other_sizes_are_not_compared(machine, threads):
    threads.run(machine.product, WORK, A, B)
    machine.held_up = 0.02
    threads.run(machine.product, WORK, A[:2], B)
    threads.run(machine.product, WORK, A, B)
    assert machine.seen == [4, 4, 4]


def test_another_number_that_the_user_sets_stays(machine, threads):
    machine.held_up = 0.0
    threads.run(machine.product, WORK, A, B)
    machine.threads = 1
    machine.now += 1.0
    machine.product = lambda a, b: setattr(machine, "now", machine.now + 0.1)
    for _ in range(5):
        threads.run(machine.product, WORK, A, B)
        assert machine.threads == 1


def held_up(machine, threads):
    """The state after a product that was held up."""
    threads.run(machine.product, WORK, A, B)
    machine.held_up = 0.02
    threads.run(machine.product, WORK, A, B)
    machine.held_up, machine.seen = 0.0, []


def test_an_error_leaves_the_library_as_it_was(machine, threads):
    held_up(machine, threads)
    seen = []

    def fails(a, b):
        seen.append(machine.threads)
        raise MemoryError

    with pytest.raises(MemoryError):
        threads.run(fails, WORK, A, B)
    assert (seen, machine.threads) == ([1], 4)


def test_products_side_by_side_leave_the_library_as_it_was(machine, threads):
    held_up(machine, threads)
    inside, go_on = threading.Event(), threading.Event()

    def waits(a, b):
        inside.set()
        go_on.wait(10)

    beside = threading.Thread(target=threads.run, args=(waits, WORK, A, B))
    beside.start()
    assert inside.wait(10)
    assert machine.threads == 1
    threads.run(machine.product, WORK, A, B)
    assert (machine.seen, machine.threads) == ([1], 1)
    go_on.set()
    beside.join()
    assert machine.threads == 4


def test_a_number_set_by_somebody_else_meanwhile_stays(machine, threads):
    held_up(machine, threads)
    threads.run(lambda a, b: machine.set_num_threads(3), WORK, A, B)
    assert machine.threads == 3


def test_a_child_of_a_fork_within_a_product_has_all_threads(machine, threads):
    held_up(machine, threads)
    threads._limit(("another thread's",), machine.now)
    assert machine.threads == 1
    threads.after_fork()
    threads.run(machine.product, WORK, A, B)
    assert machine.threads == 4


# kernels

#: functions whose products OpenBLAS shares out, and the same on arrays for which it does not
PRODUCTS = {
    "matmul": (lambda a, b: np.sum(np.tanh(a @ b)), (64, 80), (80, 72)),
    "vector": (lambda a, b: np.sum(np.tanh(a @ b)), (200, 120), (120,)),
    "tensordot": (lambda a, b: np.sum(np.tensordot(a, b, 1) ** 2), (64, 80), (80, 72)),
    "norm": (lambda a, b: np.linalg.norm(a * b), (20000,), (20000,)),
    "solve": (lambda a, b: np.sum(np.linalg.solve(a @ a.T + 80.0 * np.eye(len(a)), b)), (70, 80), (70,)),
    "det": (lambda a, b: np.linalg.slogdet(a @ a.T + np.outer(b, b))[1], (70, 80), (70,)),
}


def arrays(name):
    return [RNG.normal(size=shape) for shape in PRODUCTS[name][1:]]


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("divisor", [1, 64])
@pytest.mark.parametrize("backend", ["auto", "native"])
def test_values_and_gradients_are_those_of_numpy_on_any_number_of_threads(name, divisor, backend, monkeypatch):
    fn, given = PRODUCTS[name][0], arrays(name)
    machine = Machine(3)
    threads = Threads(machine)
    threads._divisor, threads._until = divisor, np.inf
    monkeypatch.setattr(blas, "_threads", lambda: threads)
    want_value, want = sg.value_and_grad(fn, (0, 1), backend="numpy")(*given)
    assert want_value == fn(*given)
    derivative = sg.value_and_grad(fn, (0, 1), backend=backend)
    value, got = derivative(*given)
    np.testing.assert_allclose(value, want_value, rtol=1e-11)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * np.abs(y).max())
    assert machine.threads == 3
    assert divisor == 1 or bool(threads._best) == ("blas." in derivative.kernel(*given).source)


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_numpy_backend_calls_numpy(name):
    g = sg.value_and_grad(PRODUCTS[name][0], (0, 1), backend="numpy")
    assert "blas." not in g.kernel(*arrays(name)).source


def test_small_products_are_called_as_they_are():
    g = sg.grad(lambda a, b: np.sum(np.tanh(a @ b)), backend="native")
    assert "blas." not in g.kernel(np.ones((8, 500)), np.ones((500, 8))).source
    assert "blas." in g.kernel(np.ones((100, 500)), np.ones((500, 80))).source


def test_gram_products_are_watched(monkeypatch):
    seen = []
    monkeypatch.setitem(blas.gram.keywords, "dot", lambda a, b: seen.append(a.shape) or a @ b)
    X, w = RNG.normal(size=(400, 50)), RNG.normal(size=50)
    H = sg.hessian(lambda w: np.sum(np.log(1 + np.exp(X @ w))))(w)
    s = 1 / (1 + np.exp(-X @ w))
    np.testing.assert_allclose(H, (X.T * (s * (1 - s))) @ X, rtol=1e-9)
    assert seen


def test_what_watching_adds_to_a_product_is_a_few_calls(machine, threads):
    assert calls(lambda: threads.run(np.dot, WORK, A, B)) < 8


def test_a_library_that_does_not_spin_is_left_alone(monkeypatch):
    monkeypatch.setattr(threadpoolctl.ThreadpoolController, "lib_controllers", [], raising=False)
    monkeypatch.setattr(threadpoolctl.ThreadpoolController, "__init__", lambda self: None)
    library = blas._NumPys()
    threads = Threads(library, itertools.count(0.0, 1.0).__next__)  # every product is held up for long
    monkeypatch.setattr(blas, "_threads", lambda: threads)
    for _ in range(3):
        np.testing.assert_array_equal(blas.dot(A, B), np.dot(A, B))
    assert library.get_num_threads() == 1
    assert not blas.has_fewer_threads()


def test_the_library_is_looked_for_when_products_have_lost_too_much(monkeypatch):
    asked = []
    monkeypatch.setattr(threadpoolctl.ThreadpoolController, "lib_controllers", [], raising=False)
    monkeypatch.setattr(threadpoolctl.ThreadpoolController, "__init__", lambda self: asked.append(self))
    times = iter([0.0, 1e-4, 1.0, 1.0001, 2.0, 3.0])
    threads = Threads(blas._NumPys(), times.__next__)
    for _ in range(2):
        threads.run(np.dot, WORK, A, B)
    assert not asked
    threads.run(np.dot, WORK, A, B)
    assert len(asked) == 1
