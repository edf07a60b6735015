"""Both modes are linear in the size of the function, at any depth, and compute nothing for what does not depend."""

import sys

import numpy as np
import pytest
from growing import chain, doubling, recurrent, written

import symgrad

X = np.array([0.5, 1.5, 2.0])


def size(program):
    return len(program.bindings)


@pytest.mark.parametrize("family", [chain, doubling, recurrent, written])
@pytest.mark.parametrize(
    "derive",
    [
        lambda fn: symgrad.grad(fn),
        lambda fn: symgrad.grad(fn, mode="forward"),
        lambda fn: symgrad.hessian(fn),
        lambda fn: symgrad.grad(lambda x: np.sum(symgrad.grad(fn)(x))),
    ],
    ids=["reverse", "forward", "hessian", "reverse over reverse"],
)
def test_the_derivative_grows_as_the_function_does(family, derive):
    ratios = []
    for depth in (20, 40, 80):
        fn = family(depth)
        ratios.append(size(derive(fn).program(X)) / size(symgrad.trace(fn, X)))
    assert max(ratios) < 20
    assert ratios[2] < 1.3 * ratios[0]


def test_gradient_and_jacobian_product_cost_a_few_times_the_function():
    fn = chain(100)
    forward = symgrad.symbolic(lambda x, v: symgrad.jvp(fn, x, v)[1])
    assert size(symgrad.grad(fn).program(X)) <= 4 * size(symgrad.trace(fn, X))
    assert size(forward.program(X, X)) <= 4 * size(symgrad.trace(fn, X))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_deep_programs_need_no_recursion(mode):
    depth = 10_000
    fn = chain(depth)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(250)
    try:
        got = symgrad.grad(fn, mode=mode)(np.array(1e-3))
    finally:
        sys.setrecursionlimit(limit)
    value, slope = 1e-3, 1.0
    for _ in range(depth):
        value, slope = np.sin(value) * 1.01 + value, slope * (np.cos(value) * 1.01 + 1)
    assert got == pytest.approx(slope, rel=1e-6)


def test_deep_hessians_need_no_recursion():
    fn = doubling(500)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(250)
    try:
        got = symgrad.hessian(fn)(np.zeros(2))
    finally:
        sys.setrecursionlimit(limit)
    np.testing.assert_array_equal(got, 2 * 500 * np.eye(2))


def test_nothing_is_computed_for_what_does_not_depend():
    def fn(x, y):
        heavy = np.exp(np.sin(np.cos(y)))
        return np.sum(x * 2.0) + np.sum(heavy)

    counts = symgrad.grad(fn).program(X, X).operation_counts()
    assert not {"exp", "sin", "cos"} & set(counts)
    counts = symgrad.grad(lambda x: np.sum(symgrad.stop_gradient(np.exp(x)) + x)).program(X).operation_counts()
    assert "exp" not in counts


def test_integer_paths_carry_no_derivative():
    g = symgrad.grad(lambda x: np.sum(x * np.argmax(x) + np.floor(x)))
    np.testing.assert_array_equal(g(X), [2.0, 2.0, 2.0])
    assert "floor" not in g.program().operation_counts()


def test_jacobian_seeds_are_structure():
    counts = symgrad.jacobian(lambda x: x**3 + np.sin(x)).program(X).operation_counts()
    assert "matmul" not in counts
    program = symgrad.jacobian(np.exp).program(np.ones(50))
    assert sum(n.shape == (50, 50) for n in program.bindings) == 1


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_products_of_scalars_grow_as_the_function_does(mode):
    def repeated(depth):
        def fn(w):
            x = w
            for _ in range(depth):
                x = np.sin(w * x)
            return x

        return fn

    def operands(depth):
        program = symgrad.grad(repeated(depth), mode=mode).program(0.3)
        return sum(len(n.operands) for n in program.bindings)

    assert operands(160) < 2.2 * operands(80)
    gradient, step = symgrad.grad(repeated(8), mode=mode), 1e-6
    slope = (repeated(8)(1.1 + step) - repeated(8)(1.1 - step)) / (2 * step)
    assert gradient(1.1) == pytest.approx(slope, rel=1e-6)
