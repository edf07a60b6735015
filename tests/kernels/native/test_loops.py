"""Loops that run in C against the same loops in Python over NumPy's calls."""

import signal
import threading

import numpy as np
import pytest
from random_scans import RandomLoop

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.kernels.native import form, schedule, threads, writer
from symgrad.kernels.native.kernel import NativeKernel, TieredKernel
from symgrad.kernels.native.prediction import predicted_saving
from symgrad.transforms.loops import fori_loop, scan

pytestmark = pytest.mark.needs("native")

RNG = np.random.default_rng(5)
BEGUN = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _same_numbers():
    """Each test draws the same numbers, whichever ran before."""
    RNG.bit_generator.state = BEGUN


def built(*programs):
    """Compiled kernels of programs, by one run of the compiler."""
    return NativeKernel.built(*[lower(p, "numpy").program for p in programs])


def agree(native, program, arrays, tolerance=1e-10):
    want = lower(program, "numpy")(*arrays)
    for _ in range(2):  # memory is used again
        for g, w in zip(native(*arrays), want, strict=True):
            assert np.shape(g) == np.shape(w)
            assert np.asarray(g).dtype == np.asarray(w).dtype
            near = 1e-5 if np.asarray(w).dtype == np.float32 else tolerance
            size = np.max(np.abs(w), initial=0, where=np.isfinite(w))
            np.testing.assert_allclose(g, w, rtol=near, atol=near * (1 + size))


def all_in_c(kernel):
    return kernel is not None and not kernel._code.writer.calls_numpy


def check(function, *arrays, tolerance=1e-10):
    """The loops of a function all run in C, and are right."""
    program = symgrad.trace(function, *arrays)
    (kernel,) = built(program)
    assert all_in_c(kernel)
    agree(kernel, program, arrays, tolerance)
    return kernel


def derived(function, arrays, second=False):
    """The program of a function's value and gradient, or of those of its gradient."""
    every = tuple(range(len(arrays)))

    def total(*xs):
        return sum([np.sum(np.sin(r)) for r in function(*xs) if r.dtype.kind == "f"], np.float64(0))

    of_gradient = symgrad.grad(total, every)
    loss = (lambda *xs: sum([np.sum(np.cos(g)) for g in of_gradient(*xs)])) if second else total
    return symgrad.value_and_grad(loss, every, backend="numpy").kernel(*arrays).program


# whatever a loop does


def loops(first, count):
    return [RandomLoop(seed) for seed in range(first, first + count)]


def compare(functions, programs):
    kernels = built(*programs)
    for f, program, kernel in zip(functions, programs, kernels, strict=True):
        if kernel is not None:
            agree(kernel, program, f.arrays, 1e-4 if f.single else 1e-9)
    return kernels


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_loops(first):
    functions = loops(first, 20)
    kernels = compare(functions, [symgrad.trace(f, *f.arrays) for f in functions])
    assert sum(map(all_in_c, kernels)) > 8


@pytest.mark.parametrize("first", range(200, 240, 5))
def test_gradients_of_random_loops(first):
    functions = loops(first, 5)
    compare(functions, [derived(f, f.arrays) for f in functions])


@pytest.mark.parametrize("seed", range(300, 308))
def test_second_derivatives_of_random_loops(seed):
    (f,) = loops(seed, 1)
    compare([f], [derived(f, f.arrays, second=True)])


def test_random_loops_cut_into_parts(monkeypatch):
    monkeypatch.setattr(writer, "_MAX_WORK", 300.0)
    functions = loops(400, 20)
    kernels = compare(functions, [symgrad.trace(f, *f.arrays) for f in functions])
    assert any(run.steps[0].turns and run.chunks > 3 for k in kernels if k for run in k._code.writer.runs)


def test_random_loops_beside_loops_that_threads_share(monkeypatch):
    monkeypatch.setattr(form, "DEALT_FROM", 0.0)
    monkeypatch.setattr(writer, "_MAX_WORK", 300.0)
    functions = loops(420, 15)
    compare(functions, [symgrad.trace(f, *f.arrays) for f in functions])


@pytest.mark.parametrize("gradient", [False, True])
def test_random_loops_in_python_over_compiled_bodies(gradient, monkeypatch):
    monkeypatch.setattr(schedule, "_MAX_TURN", 60.0)  # some of the loops inside stay in C
    functions = loops(440, 8)
    make = derived if gradient else lambda f, arrays: symgrad.trace(f, *arrays)
    kernels = compare(functions, [make(f, f.arrays) for f in functions])
    assert any(body.runs for k in kernels if k for body, _ in k._code.writer._bodies)


# what is at the edges


@pytest.mark.parametrize("length", [0, 1, 2, 3, 10])
@pytest.mark.parametrize("reverse", [False, True])
def test_carries_that_change_places_or_stay_and_what_is_kept_of_them(length, reverse):
    xs, fixed = RNG.normal(size=(length, 3)), RNG.normal(size=(2, 2))

    def f(a, b, c, xs, fixed):
        def step(carry, x):
            a, b, c = carry
            return (b, a, c), (x, a, 1.5, fixed, np.array([1.0, 2.0]), b[::-1], fixed.T, a[1], 7)

        return scan(step, (a, b, c), xs, reverse=reverse)

    check(f, np.arange(3.0), -np.arange(3.0), np.float64(2.0), xs, fixed)


def test_numbers_that_are_carried():
    def f(x, n):
        def step(carry, x):
            total, count, seen, small = carry
            seen = np.logical_or(seen, x > 1.0)
            small = np.float32(0.5) * small + np.float32(1)
            return (total * 0.5 + x, count + 2, seen, small), (count * count, seen, small, x > 0)

        return scan(step, (0.0, n, False, np.float32(0.25)), x)

    check(f, RNG.normal(size=50), np.int64(2**53))


def test_integers_are_exact():
    program = symgrad.trace(lambda n: fori_loop(0, 40, lambda i, c: c * 3 + i, n), np.int64(1))
    (kernel,) = built(program)
    assert all_in_c(kernel)
    want = np.int64(1)
    with np.errstate(over="ignore"):
        for i in range(40):
            want = want * np.int64(3) + np.int64(i)
    (got,) = kernel(np.int64(1))
    assert got == want
    assert got.dtype == np.int64


def test_values_that_are_no_numbers():
    def f(x, xs):
        def step(c, x):
            c = np.where(np.isnan(c), x, np.maximum(c, x) * 1e200)
            return c, (c / x, np.log(c), c > 0, np.minimum(c, x))

        return scan(step, x, xs)

    xs = np.array([[0.0, -0.0], [np.nan, 1.0], [np.inf, -np.inf], [3.0, np.nan], [1e-320, 2.0]])
    check(f, np.array([1.0, np.nan]), xs)


def test_arrays_of_every_layout():
    def f(a, xs, m):
        return scan(lambda c, x: (np.tanh(m @ c + x[0]), c * x[1]), a, xs[::-2, ::-1])

    big = RNG.normal(size=(9, 4, 6))
    for xs in (big[:, 1:3, ::2], np.asfortranarray(big[:, :2, :3]), np.broadcast_to(big[0, :2, :3], (9, 2, 3))):
        for m in (RNG.normal(size=(3, 3)).T, RNG.normal(size=(6, 6))[::2, ::2]):
            check(f, np.ones(3), xs, m)


def test_operands_that_are_computed_in_c_and_views():
    def f(x, m):
        xs = np.sin(np.concatenate([x, x * 2]))
        first, kept = scan(lambda c, x: (c * 0.9 + x[0] * m[0], c[::-1] * x), m[1, :] * 2, xs.reshape(-1, 3)[1:])
        again, _ = scan(lambda c, k: (c + np.sum(k * first[0]), None), 0.0, kept[:, 1:].T, reverse=True)
        return again + np.sum(np.cumsum(kept, axis=0)[-1]), first * 2

    check(f, RNG.normal(size=(5, 3)), RNG.normal(size=(2, 3)))


def test_what_no_turn_changes_is_computed_once():
    def f(a, u):
        return scan(lambda u, _: (np.tanh(0.1 * np.einsum("ij,kj->ik", u, a)), u), u, None, 30)

    kernel = check(f, RNG.normal(size=(20, 20)), RNG.normal(size=(30, 20)))
    steps = [step for run in kernel._code.writer.runs for step in run.steps if step.turns]
    assert [len(once) for once, _ in (step.parts for step in steps)] == [1]


def test_a_large_carry_goes_back_and_forth_between_two_buffers():
    def heat(u):
        return fori_loop(0, 101, lambda i, u: u + 0.2 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)), u)

    check(heat, RNG.normal(size=5000))


def test_no_elements():
    check(lambda x, xs: scan(lambda c, x: (c * x[0], c + x), x, xs), np.float64(2), np.ones((0, 1)))
    program = symgrad.trace(lambda x, e: scan(lambda c, x: (c + 1, x), x, e), np.ones(2), np.ones((4, 0)))
    (kernel,) = built(program)
    if kernel is not None:
        agree(kernel, program, [np.ones(2), np.ones((4, 0))])


def test_loops_in_loops():
    def f(m, x):
        def newton(y, c):
            return scan(lambda y, _: (y - (y * y * y - c) / (3 * y * y), y), y, None, 6)

        def step(carry, row):
            y, trail = newton(carry[0], row[0] + 2.0)
            z, _ = scan(lambda z, e: (z + e * y, None), carry[1], trail[::-1], reverse=True)
            inner, sums = scan(lambda t, r: (t + r, scan(lambda s, e: (s * e, t), 1.0, r)), row * 0, m)
            return (y, z + np.sum(inner)), (trail, sums)

        return scan(step, (1.0, 0.0), x)

    m, x = RNG.normal(size=(3, 2)), np.abs(RNG.normal(size=(4, 2)))
    check(f, m, x)
    program = derived(lambda *a: [f(*a)[0][1], f(*a)[1][1][1]], [m, x])
    (kernel,) = built(program)
    agree(kernel, program, [m, x], 1e-9)


# where NumPy is needed


def test_bodies_that_numpy_computes_in_part_have_kernels_of_their_own():
    def f(m, u):
        def step(u, _):
            u = np.tanh(np.linalg.solve(m, u) + 0.5)
            inner, _ = scan(lambda c, e: (c * 0.5 + e, None), 0.0, u)
            return u, inner

        return scan(step, u, None, 7)

    m, u = RNG.normal(size=(3, 3)) + 4 * np.eye(3), RNG.normal(size=3)
    program = symgrad.trace(f, m, u)
    (kernel,) = built(program)
    agree(kernel, program, [m, u])
    ((body, source),) = kernel._code.writer._bodies
    assert "solve" in source
    assert body.runs
    program = derived(lambda m, u: [f(m, u)[0], f(m, u)[1]], [m, u])
    (kernel,) = built(program)
    agree(kernel, program, [m, u], 1e-9)


def test_long_turns_are_shared_by_threads():
    def f(x):
        return scan(lambda c, _: (np.sin(c) * c, np.sum(c)), x, None, 3)

    x = RNG.normal(size=200_000)
    program = symgrad.trace(f, x)
    (kernel,) = built(program)
    agree(kernel, program, [x])
    ((body, _),) = kernel._code.writer._bodies
    assert any(run.steps[0].deals for run in body.runs)


def test_bodies_of_very_many_steps_have_kernels_of_their_own():
    def f(x):
        def step(c, _):
            for k in range(3000):
                c = np.sin(c) if k % 2 else c[::-1] * 1.5
            return c, None

        return scan(step, x, None, 4)[0]

    x = RNG.normal(size=3)
    program = symgrad.trace(f, x)
    (kernel,) = built(program)
    agree(kernel, program, [x])
    ((body, _),) = kernel._code.writer._bodies
    assert body.runs


def test_named_sizes():
    def f(c, xs):
        return scan(lambda c, x: (np.tanh(c + x), c * x), c, xs)

    named = symgrad.trace(f, "n", "9 n")
    for n in (2, 5, 30):
        agree(lower(named, "native"), named, [RNG.normal(size=n), RNG.normal(size=(9, n))])


# what is around them


@pytest.fixture
def _interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_ends_a_long_loop(monkeypatch):
    monkeypatch.setattr(writer, "_MAX_WORK", 1e4)
    program = symgrad.trace(lambda x: scan(lambda c, _: (np.sin(c) + 0.1, None), x, None, 100_000)[0], 0.5)
    (kernel,) = built(program)
    assert kernel is not None
    begun = []

    def interrupted(call, turns, chunks, *arrays):
        assert chunks > 100

        def part(*given):
            begun.append(given[:3])
            if len(begun) == 3:
                signal.raise_signal(signal.SIGINT)
            return call(*given)

        threads.in_turn(part, turns, chunks, *arrays)

    kernel._function.__globals__["in_turn"] = interrupted
    with pytest.raises(KeyboardInterrupt):
        kernel(0.5)
    assert len(begun) == 3
    kernel._function.__globals__["in_turn"] = threads.in_turn
    agree(kernel, program, [0.5])


def test_one_kernel_from_many_threads():
    def f(x, xs):
        return scan(lambda c, x: (np.tanh(c * 0.9 + x), c), x, xs)

    arrays = [(RNG.normal(size=40), RNG.normal(size=(300, 40))) for _ in range(6)]
    (kernel,) = built(symgrad.trace(f, *arrays[0]))
    assert kernel is not None
    want = [kernel(*a) for a in arrays]
    wrong = []

    def work(k):
        for _ in range(30):
            if not all(map(np.array_equal, kernel(*arrays[k]), want[k])):
                wrong.append(k)

    begun = [threading.Thread(target=work, args=(k,)) for k in range(len(arrays))]
    for thread in begun:
        thread.start()
    for thread in begun:
        thread.join()
    assert not wrong


def test_results_belong_to_the_caller():
    x = np.ones(3)
    (kernel,) = built(symgrad.trace(lambda x: scan(lambda c, _: (c, c), x, None, 0), x))
    assert kernel is not None
    last, _ = kernel(x)
    last[:] = 5.0
    np.testing.assert_array_equal(x, 1.0)


def test_what_is_told_of_a_loop():
    def f(m, u):
        u, _ = scan(lambda u, _: (np.tanh(u) * 0.5, None), u, None, 40)
        return scan(lambda u, _: (np.linalg.solve(m, u), None), u, None, 5)[0]

    kernel = lower(symgrad.trace(f, np.eye(3), np.ones(3)), "native")
    told = {step.what: step for step in kernel.explain().steps if "×" in step.what}
    assert set(told) == {"40 × (tanh, multiply)", "5 × (solve)"}
    in_c = told["40 × (tanh, multiply)"]
    assert (in_c.backend, in_c.shape, in_c.operations) == ("native", (40,), 240.0)
    assert "Python" in told["5 × (solve)"].why


def test_what_loops_are_expected_to_save():
    def of(step, length, like):
        return predicted_saving(lower(symgrad.trace(lambda c: scan(step, c, None, length)[0], like), "numpy").program)

    def step(c, _):
        return np.tanh(c) * 0.5, None

    short, long = of(step, 10, np.ones(3)), of(step, 1000, np.ones(3))
    assert long > 50 * short > 0
    assert of(lambda c, _: (np.linalg.inv(c), None), 10, np.eye(3)) is None
    deep = of(lambda c, _: scan(step, c, None, 100), 10, np.ones(3))
    assert deep == pytest.approx(long, rel=0.5)


def test_a_loop_that_takes_seconds_is_compiled_before_its_first_call():
    g = symgrad.grad(lambda x: np.sum(scan(lambda c, _: (np.sin(c) * 0.9, None), x, None, 400_000)[0]))
    x = RNG.normal(size=3)
    assert np.all(np.isfinite(g(x)))
    kernel = g.kernel(x)
    assert isinstance(kernel, TieredKernel)
    assert kernel.backend == "native"


def test_memory_of_very_many_steps_is_given_back(monkeypatch):
    def f(x):
        _, kept = scan(lambda c, _: (np.sin(c), c), x, None, 5000)
        return scan(lambda c, k: (c * k, None), x, kept, reverse=True)[0]

    x = RNG.normal(size=3)
    for kept, left in ((1 << 28, 1), (1000, 0)):
        monkeypatch.setattr(writer, "_MAX_KEPT", kept)
        kernel = check(f, x)
        assert len(kernel._function.__globals__["blocks"]) == left


@pytest.mark.parametrize(
    "step",
    [
        lambda m, u: m @ u,
        lambda m, u: u @ m,
        lambda m, u: m.T @ u,
        lambda m, u: np.einsum("ij,ij,j->i", m, m, u),
        lambda m, u: np.einsum("ij,k,j->ki", m, u, u)[1],
        lambda m, u: np.max(m * u, axis=1),
    ],
)
def test_constant_matrices_in_any_order(step):
    m, u = RNG.normal(size=(10, 10)) * 0.1, RNG.normal(size=10)

    def of(length):
        return lambda m, u: scan(lambda u, _: (np.tanh(step(m, u)), u), u, None, length)

    cases = [(x, symgrad.trace(of(n), x, u)) for n in (1, 2, 4, 5, 50) for x in (m, m.T, m[::-1, ::-1])]
    for kernel, (matrix, program) in zip(built(*[p for _, p in cases]), cases, strict=True):
        assert all_in_c(kernel)
        agree(kernel, program, [matrix, u])
