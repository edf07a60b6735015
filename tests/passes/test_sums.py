"""Sums taken into additions of contractions."""

import numpy as np
import pytest

import symgrad
from symgrad.passes.sums import distribute_sums
from symgrad.primitives.contraction import contract
from symgrad.primitives.functions import add, subtract
from symgrad.primitives.primitive import input_node
from symgrad.program.node import Graph
from symgrad.program.program import Program
from symgrad.program.verify import verify
from symgrad.testing import check_grads

RNG = np.random.default_rng(5)
Y, A, Q = RNG.normal(size=(7, 2, 3)), RNG.normal(size=(2, 3, 3)), RNG.normal(size=(2, 3))
FLOAT = np.dtype(float)


def value(program, arrays):
    """The outputs, node by node."""
    known = dict(zip(program.inputs, arrays, strict=True))
    for n in program.nodes:
        if n not in known:
            known[n] = n.primitive.evaluate(n.params, *[known[o] for o in n.operands])
    return [np.asarray(known[n]) for n in program.outputs]


def made(combine, out, twice=False):
    """``Σ (A y ± q y)`` over what ``out`` leaves out of (n, k, i)."""
    graph = Graph()
    with graph:
        y, a, q = (input_node(name, x.shape, FLOAT) for name, x in (("y", Y), ("a", A), ("q", Q)))
        linear = contract([a, y], [(1, 2, 3), (0, 1, 3)], (0, 1, 2), (7, 2, 3, 3))
        scaled = contract([q, y], [(1, 2), (0, 1, 2)], (0, 1, 2), (7, 2, 3))
        both = combine(linear, scaled)
        total = contract([both], [(0, 1, 2)], out, (7, 2, 3))
        return Program([y, a, q], [total, both] if twice else [total], ["y", "a", "q"], graph)


@pytest.mark.parametrize("combine", [add, subtract])
@pytest.mark.parametrize("out", [(1, 2), (2,), (), (2, 1), (0,)])
def test_values_stay_and_the_batch_is_summed_first(combine, out):
    program = made(combine, out)
    done = verify(distribute_sums(verify(program)))
    assert done is not program
    np.testing.assert_allclose(value(done, (Y, A, Q))[0], value(program, (Y, A, Q))[0], rtol=1e-12, atol=1e-12)
    if 0 not in out:  # nothing of the batch is left behind the first sums
        products = [n for n in done.bindings if len([o for o in n.operands if o.shape]) > 1]
        assert all(7 not in n.shape for n in products)


def test_what_is_read_elsewhere_stays():
    program = made(add, (1, 2), twice=True)
    assert distribute_sums(program) is program


def test_primal_sums_stay_as_they_are_written():
    program = symgrad.trace(lambda y, a: np.sum(np.einsum("kij,nkj->nki", a, y) + y * 2.0, axis=0), Y, A)
    assert distribute_sums(program) is program


def mixture(m, a, q):
    y = Y - m[None]
    return np.sum(np.tanh(q[None] * y + np.einsum("kij,nkj->nki", a, y)) ** 2)


def shifted(m, a, q):
    y = 2.0 * m[None] + Y
    return np.sum(np.sin(np.einsum("kij,nkj->nki", a, y) - q[None] * y) * np.einsum("kij,nkj->nki", a, y))


@pytest.mark.parametrize("f", [mixture, shifted])
def test_derivatives_are_right(f):
    check_grads(f, [Q * 0.3, A, Q])
