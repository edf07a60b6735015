"""Long loops: those of which steps are left out, those of which none are, and the same results."""

import inspect
import types

import loops_left_out
import loops_traced_again
import loops_traced_whole
import loops_with_state
import numpy as np
import pytest
from leaving_out import every_step, noted
from loops_left_out import XS, A, H, N, before_and_sum, by_function, by_place, down, kalman, rows, two_back
from loops_with_state import COUNT, LEFT_VALUES, left_elsewhere

import symgrad
from symgrad.tracing import left_out, long_loops


def loops_of(*modules):
    """The functions there of a vector, a matrix and rows."""
    functions = [f for module in modules for f in vars(module).values() if inspect.isfunction(f)]
    found = [f for f in functions if f.__code__.co_varnames[: f.__code__.co_argcount] == ("h", "a", "xs")]
    return pytest.mark.parametrize("function", found, ids=lambda f: f.__name__)


@pytest.fixture
def left(monkeypatch):
    """How many steps were left out, of each loop of the traces that were made."""
    return noted(monkeypatch, 100)


def results(function):
    """The value, which is NumPy's to the bit, and the gradients."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    COUNT["n"] = 0
    value, gradients = symgrad.value_and_grad(copy, (0, 1, 2), backend="numpy")(H.copy(), A.copy(), XS.copy())
    COUNT["n"] = 0
    assert value == function(H.copy(), A.copy(), XS.copy())
    return [value, *gradients]


def with_every_step(function, left):
    left.clear()
    with every_step():
        found = results(function)
    assert not left
    return found


def expect_same(found, whole):
    for a, b in zip(found, whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12 * np.max(np.abs(b)))


@loops_of(loops_left_out)
def test_steps_are_left_out(function, left, monkeypatch):
    made_again = []
    make_again = left_out.LeftOut.make_again
    monkeypatch.setattr(
        left_out.LeftOut, "make_again", lambda own, whole: made_again.append(whole) or make_again(own, whole)
    )
    found = results(function)
    assert left
    assert True not in made_again  # with every step
    assert min(left) >= N // 4 - long_loops.HEAD - long_loops.TAIL
    expect_same(found, with_every_step(function, left))


@loops_of(loops_traced_whole, loops_with_state)
def test_no_step_is_left_out(function, left):
    found = results(function)
    assert not left
    expect_same(found, with_every_step(function, left))


def test_what_a_gradient_inside_leaves_behind_has_every_step(left):
    def function(h, a, xs):
        found = []
        keep = found.append

        def loss(u):
            for _ in range(N):  # so many operations that the steps that are traced would be a loop too
                u = np.sin(a @ u)
                u = np.cos(u) * 0.9 + np.tanh(u) - 0.1 * u * u + np.exp(-u * u) * 0.2 + np.sin(3 * u) * 0.1
            _ = keep(u)
            return (u * u).sum()

        slope = symgrad.grad(loss)(h)
        return (slope * 0.1).sum() + (found[0] * xs[0]).sum()

    def made():
        return symgrad.value_and_grad(lambda *args: function(*args), (0, 1, 2), backend="numpy")(H, A, XS)

    value, gradients = made()
    assert left
    with every_step():
        whole, slopes = made()
    assert value == whole
    expect_same(gradients, slopes)


@loops_of(loops_traced_again)
def test_what_cannot_do_without_steps_is_traced_with_all(function, left):
    found = results(function)
    assert left
    expect_same(found, with_every_step(function, left))


def test_what_is_left_elsewhere_has_its_value(left):
    results(left_elsewhere)
    assert not left
    h = H
    for t in range(N):
        h = np.sin(A @ h + XS[t])
    np.testing.assert_array_equal(np.asarray(LEFT_VALUES[0]), h)


def test_errors_that_a_bare_except_makes_of_it_are_no_errors(left):
    def function(h, a, xs):
        try:
            return by_place(h, a, xs)
        except:  # noqa: E722
            raise ValueError("held") from None

    results(function)
    assert left


def test_a_trace_that_knows_its_lines_says_nothing_of_those_that_run(left):
    gradient = symgrad.grad(by_place, backend="numpy")
    gradient._compiled.recorded(H, A, XS[:60])
    assert not left
    gradient(H, A, XS[:70])
    assert left


def test_a_short_loop_says_nothing_of_a_long_one(left):
    def function(h, a, xs):
        h = np.array([h[0], h[1], h[2]])
        for x in xs:
            h = np.sin(a @ h + x)
        return h.sum()

    gradient = symgrad.grad(function, backend="numpy")
    gradient(H, A, XS[:20])
    gradient(H, A, XS[:200])
    assert left == [200 - long_loops.HEAD - long_loops.TAIL]


def test_slopes_are_those_of_differences(left):
    gradients = results(kalman)[1:]
    assert left
    arguments = [H, A, XS]
    rng = np.random.default_rng(1)
    along = [rng.normal(size=x.shape) for x in arguments]
    up, down = (kalman(*[x + s * d for x, d in zip(arguments, along, strict=True)]) for s in (1e-6, -1e-6))
    slope = sum(np.sum(g * d) for g, d in zip(gradients, along, strict=True))
    assert slope == pytest.approx((up - down) / 2e-6, rel=1e-6)


def rotation(x, v):
    for _ in range(100_000):
        x, v = x + 1e-4 * v, v - 1e-4 * np.sin(x)
    return x + v


def test_a_trace_does_not_grow_with_the_steps():
    gradient = symgrad.value_and_grad(rotation, (0, 1), backend="numpy")
    value, slopes = gradient(1.0, 0.5)
    assert value == rotation(1.0, 0.5)
    up, down = rotation(1.0 + 1e-6, 0.5), rotation(1.0 - 1e-6, 0.5)
    assert slopes[0] == pytest.approx((up - down) / 2e-6, rel=1e-5)
    assert len(gradient._compiled.entry(1.0, 0.5).trace.graph.table) < 1000


def test_the_next_shape_is_traced_with_less_from_the_start(left, monkeypatch):
    asked = []
    make_again = left_out.LeftOut.make_again
    monkeypatch.setattr(
        left_out.LeftOut, "make_again", lambda self, whole: asked.append(whole) or make_again(self, whole)
    )
    gradient = symgrad.grad(by_place, backend="numpy")
    for n in (100, 150, 200):
        gradient(H, A, XS[:n])
    assert asked == [False]
    assert left == [n - long_loops.HEAD - long_loops.TAIL for n in (100, 150, 200)]


@pytest.mark.parametrize("made", [symgrad.jacobian, symgrad.hessian], ids=["jacobian", "hessian"])
def test_higher_orders(made, left):
    def function(h, xs):
        for t in range(60):
            h = np.sin(A @ h + xs[t])
        return h.sum() if made is symgrad.hessian else h

    found = made(function, backend="numpy")(H, XS)
    assert left

    def again(h, xs):
        return function(h, xs)

    with every_step():
        whole = made(again, backend="numpy")(H, XS)
    np.testing.assert_allclose(found, whole, rtol=1e-10, atol=1e-12)


def test_gradients_inside_of_functions(left):
    def norm(h, a, xs):
        return (symgrad.grad(by_place)(h, a, xs) ** 2).sum()

    found = symgrad.grad(norm, backend="numpy")(H, A, XS[:100])
    assert left
    with every_step():
        whole = symgrad.grad(lambda *args: norm(*args), backend="numpy")(H, A, XS[:100])
    np.testing.assert_allclose(found, whole, rtol=1e-10)


@pytest.mark.parametrize(
    "function", [by_place, rows, before_and_sum, down, two_back, by_function], ids=lambda f: f.__name__
)
def test_formulas_are_those_of_every_step(function, left):
    def told():
        copy = types.FunctionType(function.__code__, function.__globals__, function.__name__)
        return str(symgrad.grad(copy, (0, 1)).formulas(H, A, XS))

    found = told()
    assert left
    assert f"t = 0, …, {'398' if function is before_and_sum else '397' if function is two_back else '399'}" in found
    with every_step():
        assert found == told()


def test_formulas_and_exports_have_every_step(left):
    gradient = symgrad.grad(by_place)
    found = gradient(H, A, XS[:50])
    assert left == [50 - long_loops.HEAD - long_loops.TAIL]
    assert "λ₅₀" in str(gradient.formulas(H, A, XS[:50]))
    space = {}
    exec(gradient.export("python", H, A, XS[:50]), space)
    np.testing.assert_allclose(space["grad_by_place"](H, A, XS[:50]), found, rtol=1e-12)
