"""Predicted costs: finite, growing with sizes, and those of the order that contractions are computed in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy

import symgrad
from symgrad.passes.cost import NOTHING, Cost, cost, einsum_cost, node_cost
from symgrad.primitives.order import NAMED, extent
from symgrad.transforms.loops import fori_loop

FUNCTIONS = {
    "elementwise": lambda n: (lambda x: np.sin(x) * x, (n,)),
    "sum": lambda n: (np.sum, (n,)),
    "matrix product": lambda n: (lambda x: x @ x.T, (n, n)),
    "outer": lambda n: (lambda x: np.outer(x, x), (n,)),
    "gather": lambda n: (lambda x: x[np.arange(n) // 2], (n,)),
    "cumsum": lambda n: (lambda x: np.cumsum(x), (n,)),
    "max": lambda n: (lambda x: np.max(x, axis=1), (n, n)),
    "concatenate": lambda n: (lambda x: np.concatenate([x, x]), (n,)),
    "sort": lambda n: (lambda x: np.sort(x), (n,)),
    "diagonal": lambda n: (lambda x: np.diag(x), (n,)),
    "inverse": lambda n: (lambda x: np.linalg.inv(x), (n, n)),
    "solve": lambda n: (lambda x: np.linalg.solve(x, x[0]), (n, n)),
}


def costs(make, sizes):
    made = []
    for n in sizes:
        function, shape = make(n)
        made.append(cost(symgrad.trace(function, np.eye(*shape) if len(shape) == 2 else np.ones(shape)).nodes))
    return made


@pytest.mark.parametrize("name", FUNCTIONS)
def test_costs_grow_with_sizes(name):
    for small, large in itertools.pairwise(costs(FUNCTIONS[name], (2, 8, 32, 128))):
        assert 0 < small.operations < large.operations
        assert 0 < small.memory <= large.memory
        assert 0 < small.seconds < large.seconds
        assert np.all(np.isfinite([large.operations, large.memory, large.seconds]))


def test_a_matrix_product_takes_cubic_operations():
    (made,) = costs(FUNCTIONS["matrix product"], [100])
    assert 1e6 <= made.operations < 1.1e6
    assert made.memory >= 8 * 100 * 100


def test_what_moves_nothing_is_free():
    program = symgrad.trace(lambda x: x.reshape(10, 10)[2:5, ::2].T, np.ones(100))
    assert cost(program.nodes) == NOTHING


def test_a_contraction_costs_what_its_cheapest_order_costs():
    def of(labels, out, sizes):
        return einsum_cost((labels, out, sizes, ""), 8).operations

    n, k = 200, 3
    thin = of(((0, 1), (1, 2), (2, 3)), (0, 3), (n, k, n, k))
    assert thin <= n * k * k + n * n * k + n * k * k
    assert thin < of(((0, 1), (1, 2), (2, 3)), (0, 3), (n, n, n, n))
    assert of(((0, 1), (1,)), (0,), (n, n)) == n * n


def test_longer_labels_never_make_a_contraction_cheaper():
    shapes = [
        ((0, 1), (1, 2)),
        ((0, 1), (0, 1)),
        ((0,), (1,)),
        ((0, 1),),
        ((0, 0),),
        ((), (0,)),
        ((0, 1, 2), (1,), (2, 0)),
    ]
    for labels in shapes:
        count = 1 + max((i for own in labels for i in own), default=0)
        for out in ((), (0,), (0, 0), tuple(range(count)), tuple(range(count))[::-1]):
            for sizes in itertools.product((1, 2, 16), repeat=count):
                base = einsum_cost((labels, out, sizes, ""), 8)
                for k in range(count):
                    more = einsum_cost((labels, out, (*sizes[:k], sizes[k] * 8, *sizes[k + 1 :]), ""), 8)
                    assert more.operations >= base.operations, (labels, out, sizes, k)
                    assert more.memory >= base.memory, (labels, out, sizes, k)
                    assert more.seconds >= base.seconds * (1 - 1e-12), (labels, out, sizes, k)


def test_named_dims_count_as_many():
    n = sympy.Symbol("n", integer=True, positive=True)
    assert extent((n, 3)) == 3 * NAMED
    named = einsum_cost((((0, 1), (1, 2)), (0, 2), (n, 4, n), ""), 8)
    assert named == einsum_cost((((0, 1), (1, 2)), (0, 2), (NAMED, 4, NAMED), ""), 8)
    program = symgrad.trace(lambda x: np.sin(x), "n")
    assert cost(program.nodes).operations == NAMED


def test_sums_of_costs():
    a, b = Cost(1.0, 2.0, 3.0), Cost(10.0, 20.0, 30.0)
    assert a + b == Cost(11.0, 22.0, 33.0)
    assert NOTHING + a == a
    program = symgrad.trace(lambda x: np.exp(np.sin(x)), np.ones(5))
    total = NOTHING
    for node in program.nodes:
        total = total + node_cost(node)
    assert cost(program.nodes) == total


def test_empty_arrays_cost_little():
    program = symgrad.trace(lambda x: np.sum(np.sin(x[:0]) * 2), np.ones(5))
    made = cost(program.nodes)
    assert np.isfinite(made.seconds)
    assert made.operations <= 5


def test_a_loop_costs_as_much_as_its_steps():
    def step(c):
        return np.sin(c) * 2.0

    one = cost(symgrad.trace(step, np.ones(100)).nodes)
    for n in (3, 300):
        loop = cost(symgrad.trace(lambda x, n=n: fori_loop(0, n, lambda i, c: step(c), x), np.ones(100)).nodes)
        assert (loop.operations, loop.memory) == (n * one.operations, n * one.memory)
        assert n * one.seconds <= loop.seconds < n * one.seconds + 1e-5
