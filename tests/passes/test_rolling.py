"""Python loops as operations: which are found, what they become, and what stays as it is."""

import numpy as np
import pytest

import symgrad
from symgrad.passes import rolling
from symgrad.primitives.scan import SCAN

A = np.array([[0.3, -0.2], [0.1, 0.4]])
X0 = np.array([0.5, -0.3])


def loops_of(function, *args, wrt=0):
    """The loops in the gradient's program, and its number of operations."""
    gradient = symgrad.value_and_grad(function, wrt, backend="numpy")
    result = gradient(*args)
    program = gradient._compiled.entry(*args).program
    assert result[0] == function(*args)  # to the bit
    check_slopes(function, args, wrt, result[1])
    return [n.params[0] for n in program.nodes if n.primitive is SCAN], len(program.bindings)


def check_slopes(function, args, wrt, gradient):
    """Central differences along a direction."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=np.shape(args[wrt]))
    h = 1e-6

    def at(t):
        return function(*[a + t * direction if k == wrt else a for k, a in enumerate(args)])

    slope = (at(h) - at(-h)) / (2 * h)
    assert np.sum(gradient * direction) == pytest.approx(slope, rel=2e-6, abs=1e-7)


def repeated(steps):
    def function(x):
        for _ in range(steps):
            x = np.tanh(A @ x) + 0.1
        return np.sum(x**2)

    return function


def test_a_loop_is_one_operation_however_long():
    few, operations = loops_of(repeated(50), X0)
    many, as_many = loops_of(repeated(500), X0)
    assert operations == as_many
    assert {loop.length for loop in few} == {50}
    assert {loop.length for loop in many} == {500}


@pytest.mark.parametrize("steps", [0, 1, 2, 3, rolling.RUN.steps - 1])
def test_short_loops_stay_as_they_are(steps):
    assert loops_of(repeated(steps), X0)[0] == []


def test_elements_of_arrays_and_numbers_of_steps():
    xs = np.linspace(0, 1, 120).reshape(60, 2)

    def function(x, xs):
        total = 0.0
        for t in range(60):
            x = np.tanh(A @ x + xs[t]) * (1 + 0.01 * t)
            total = total + np.sum(x * xs[59 - t])
        return total

    for wrt in (0, 1):
        loops, _ = loops_of(function, X0, xs, wrt=wrt)
        assert {loop.length for loop in loops} == {60}  # the first step too, which adds to a number


def test_windows_and_columns_of_an_array():
    xs = np.linspace(0, 1, 200).reshape(4, 50)

    def function(x, xs):
        for t in range(40):
            x = np.tanh(x + xs[:2, t] + np.sum(xs[1, t : t + 5]))
        return np.sum(x)

    loops, _ = loops_of(function, X0, xs, wrt=1)
    assert {loop.length for loop in loops} == {40}


def test_what_is_kept_of_each_step():
    def function(x):
        states = [x]
        for _ in range(40):
            states.append(np.tanh(A @ states[-1]) + 0.1)
        return np.sum(np.stack(states) ** 3) + np.sum(states[7])

    loops, operations = loops_of(function, X0)
    assert loops
    assert operations < 40


def test_steps_further_back():
    def function(x):
        a, b = x, x * 0.5
        for _ in range(40):
            a, b = b, np.sin(a) + 0.3 * b
        states = [x, a, b]
        for _ in range(40):
            states.append(np.tanh(states[-1] - 0.2 * states[-3]))
        return np.sum(b) + np.sum(states[-1] * states[-2])

    loops, _ = loops_of(function, X0)
    assert sum(not loop.reverse for loop in loops) >= 2


def test_loops_inside_loops():
    def function(x):
        for _ in range(20):
            for _ in range(15):
                for _ in range(12):
                    x = np.sin(x) * 0.99 + 0.01
                    x = np.tanh(x) + x[::-1] * 0.1
                    x = x * 1.01 - 0.001
                x = x + 0.1
            x = x * 0.9
        return np.sum(x)

    loops, operations = loops_of(function, X0)
    assert operations < 40
    inner = [n for loop in loops for n in loop.body.nodes if n.primitive is SCAN]
    assert inner


def test_loops_of_like_bodies_are_one_body():
    def function(x):
        total = 0.0
        for _ in range(3):
            for _ in range(40):
                x = np.tanh(A @ x) + 0.1
            total = total + np.sum(x)
        return total

    gradient = symgrad.grad(function, backend="numpy")
    gradient(X0)
    program = gradient._compiled.entry(X0).program
    forward = {n.params[0] for n in program.nodes if n.primitive is SCAN and not n.params[0].reverse}
    assert len({loop.base.loop if loop.base else loop for loop in forward}) == 1


def test_newtons_steps_with_an_inner_gradient():
    def root(a):
        x = a
        for _ in range(30):
            x = x - 0.5 * (x**2 - a) / symgrad.grad(lambda y: y**2 - a)(x)
        return x

    gradient = symgrad.grad(root, backend="numpy")
    assert gradient(2.0) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-6)
    assert "loop_" in gradient.kernel(2.0).source


def test_an_inner_derivative_keeps_what_it_is_taken_by():
    def function(x):
        def inner(y):
            for _ in range(40):
                y = np.tanh(y) * x + 0.1
            return np.sum(y)

        return np.sum(symgrad.grad(inner)(x) ** 2)

    loops, _ = loops_of(function, X0)
    assert loops


def test_large_arrays_stay_in_one_pass():
    x = np.linspace(0, 1, rolling.MAX_ELEMENTS + 1)

    def function(x):
        for _ in range(60):
            x = np.sin(x) + 0.1
        return np.sum(x)

    gradient = symgrad.grad(function, backend="numpy")
    gradient(x)
    assert not any(n.primitive is SCAN for n in gradient._compiled.entry(x).program.nodes)
    said = str(gradient.kernel(x).explain())
    assert "60 × 2 operations that repeat stay written out, since an array has 16385 elements" in said


def test_single_precision_keeps_its_dtype():
    x = X0.astype(np.float32)

    def function(x):
        total = 0
        for t in range(40):
            x = np.tanh(x * 1.5) + 0.25 * t
            total = total + np.sum(x)
        return total

    derived = symgrad.value_and_grad(function, backend="numpy")
    value, slope = derived(x)
    assert any(n.primitive is SCAN for n in derived._compiled.entry(x).program.nodes)
    assert value.dtype == slope.dtype == np.float32
    assert value == function(x)


def test_a_float_argument_and_a_number_that_becomes_an_array():
    def function(x):
        total = 0
        for _ in range(50):
            x = np.cos(x) * 0.9 + 0.2 * x
            total = total + x
        return total

    loops, _ = loops_of(function, 0.3)
    assert loops


def test_steps_that_do_not_repeat_stay_as_they_are():
    def function(x):
        for k in range(150):
            x = (np.sin, np.cos)[k.bit_count() % 2](x) + 0.1
        return np.sum(x)

    assert loops_of(function, X0)[0] == []


@pytest.mark.parametrize(("elements", "is_loop"), [(20, True), (1000, False)])
def test_jacobians_of_many_elements_keep_their_structure(elements, is_loop):
    x = np.linspace(0.1, 0.9, elements)

    def function(x):
        for _ in range(60):
            x = np.sin(x) * 1.1 + 0.1
        return x

    jacobian = symgrad.jacobian(function, backend="numpy")
    hessian = symgrad.hessian(lambda x: np.sum(function(x)), backend="numpy")
    for derived in (jacobian, hessian):
        made = derived(x)
        assert np.count_nonzero(made) == elements
        assert is_loop == any(n.primitive is SCAN for n in derived._compiled.entry(x).program.nodes)
