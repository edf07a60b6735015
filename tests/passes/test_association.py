"""Chains of contractions in the cheapest order: values stay, costs fall, what is shared stays shared."""

from __future__ import annotations

import random

import numpy as np
import pytest

from symgrad.kernels.kernel import lower
from symgrad.passes.association import associated
from symgrad.passes.cost import cost
from symgrad.passes.products import absorb_products
from symgrad.primitives.contraction import contract
from symgrad.primitives.functions import sin
from symgrad.primitives.primitive import input_node
from symgrad.program.node import Graph
from symgrad.program.program import Program
from symgrad.program.verify import verify

FLOAT = np.dtype(float)
RNG = np.random.default_rng(1)


def product(a, b):
    return contract([a, b], [(0, 1), (1, 2)], (0, 2), (*a.shape, b.shape[1]))


def chain(shapes, order):
    """The product of matrices, multiplied from the ``left`` or from the ``right``."""
    with Graph() as graph:
        inputs = [input_node(f"m{k}", s, FLOAT) for k, s in enumerate(shapes)]
        rest = list(inputs)
        while len(rest) > 1:
            if order == "left":
                rest[:2] = [product(*rest[:2])]
            else:
                rest[-2:] = [product(*rest[-2:])]
        return Program(inputs, rest, [n.params[0] for n in inputs], graph)


def predicted(program):
    return cost(program.nodes)


def expect_same(program, made):
    verify(made)
    values = [RNG.normal(size=n.shape) for n in program.inputs]
    for got, want in zip(lower(made, "numpy")(*values), lower(program, "numpy")(*values), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


CHAINS = {
    "tall, from the right": ([(500, 50), (50, 50), (50, 2)], "left"),
    "wide, from the left": ([(2, 50), (50, 50), (50, 500)], "right"),
    "narrow in the middle": ([(300, 300), (300, 2), (2, 300), (300, 300)], "left"),
    "narrow in the middle, from the other end": ([(300, 300), (300, 2), (2, 300), (300, 300)], "right"),
    "a vector at the end": ([(80, 90), (90, 70), (70, 60), (60, 1)], "left"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_get_cheaper(name):
    program = chain(*CHAINS[name])
    made = associated(program)
    assert predicted(made).seconds < 0.9 * predicted(program).seconds
    assert predicted(made).operations < predicted(program).operations
    expect_same(program, made)


def test_a_chain_in_its_best_order_is_left_as_it_is():
    program = chain([(500, 50), (50, 50), (50, 2)], "right")
    made = associated(program)
    assert predicted(made).seconds == predicted(program).seconds
    assert made.outputs == program.outputs


def test_what_is_shared_is_computed_once():
    with Graph() as graph:
        a, b, c = (input_node(n, (200, 200), FLOAT) for n in "abc")
        v = input_node("v", (200, 1), FLOAT)
        shared = product(a, b)
        program = Program([a, b, c, v], [product(shared, v), product(shared, c)], list("abcv"), graph)
    made = associated(program)
    assert shared in made.nodes
    expect_same(program, made)


def test_an_output_inside_a_chain_stays_an_output():
    with Graph() as graph:
        a, b = (input_node(n, (200, 200), FLOAT) for n in "ab")
        v = input_node("v", (200, 1), FLOAT)
        inner = product(a, b)
        program = Program([a, b, v], [product(inner, v), inner], list("abv"), graph)
    made = associated(program)
    assert made.outputs[1] is inner
    expect_same(program, made)


def test_chains_behind_other_functions_are_rebuilt_on_what_is_new():
    with Graph() as graph:
        a, b = (input_node(n, (100, 100), FLOAT) for n in "ab")
        v = input_node("v", (100, 1), FLOAT)
        first = product(product(a, b), v)
        second = product(product(b, a), sin(first))
        program = Program([a, b, v], [second], list("abv"), graph)
    made = associated(program)
    assert predicted(made).operations < 0.1 * predicted(program).operations
    expect_same(program, made)


def summed_spread(graph):
    """A product spread over an axis that the next contraction sums: it counts the size of the axis."""
    a, b, c = (input_node(n, (3,), FLOAT) for n in "abc")
    spread = contract([a, b], [(0,), (0,)], (0, 1), (3, 4))
    return Program([a, b, c], [contract([spread, c], [(0, 1), (0,)], (), (3, 4))], list("abc"), graph)


def spread_scale(graph):
    """The same through a sum of one array, as a Hessian has it."""
    x, m = input_node("x", (50,), FLOAT), input_node("m", (50, 40), FLOAT)
    spread = contract([x, m], [(0,), (0, 1)], (2, 1), (50, 40, 30))
    return Program([x, m], [contract([spread, m], [(2, 1), (0, 1)], (0, 0), (50, 40, 30))], ["x", "m"], graph)


@pytest.mark.parametrize("build", [summed_spread, spread_scale])
@pytest.mark.parametrize("rewritten", [associated, absorb_products])
def test_a_label_that_is_spread_and_summed_counts_its_size(build, rewritten):
    with Graph() as graph:
        program = build(graph)
    values = [RNG.normal(size=n.shape) for n in program.inputs]
    if build is summed_spread:
        want = 4 * np.sum(values[0] * values[1] * values[2])
    else:
        x, m = values
        want = np.diag(np.einsum("kj,ij->i", np.broadcast_to(x @ m, (30, 40)), m))
    for made in (program, rewritten(program)):
        np.testing.assert_allclose(lower(made, "numpy")(*values)[0], want, rtol=1e-9)


def random_contractions(seed, graph):
    """Contractions of inputs and of one another: summed, spread, transposed, on diagonals."""
    r = random.Random(seed)
    sizes = (2, 3, 4)
    nodes = [input_node(f"m{k}", tuple(r.choice(sizes) for _ in range(r.randint(0, 2))), FLOAT) for k in range(4)]
    inputs = list(nodes)
    for _ in range(r.randint(2, 6)):
        own = [r.choice(nodes[-3:]) for _ in range(r.randint(1, 3))]
        known: list[int] = []
        labels = []
        for n in own:
            mine = []
            for d in n.shape:
                fits = [i for i, e in enumerate(known) if e == d]
                if fits and r.random() < 0.7:
                    mine.append(r.choice(fits))
                else:
                    known.append(d)
                    mine.append(len(known) - 1)
            labels.append(tuple(mine))
        if r.random() < 0.6:
            known.append(r.choice(sizes))
        out = tuple(r.sample(range(len(known)), r.randint(0, min(3, len(known)))))
        if out and r.random() < 0.1:
            out = (*out, out[0])
        nodes.append(contract(own, labels, out, known))
    outputs = [n for n in nodes if n not in inputs][-2:] or nodes[-1:]
    return Program(inputs, outputs, [n.params[0] for n in inputs], graph)


def by_numpy(program, values):
    """The outputs by the definition of each contraction."""
    known = dict(zip(program.inputs, values, strict=True))
    for node in program.nodes:
        if node not in known:
            if node.is_literal:
                known[node] = np.asarray(node.params[0])
            elif node.primitive.name != "dim":
                known[node] = node.primitive.evaluate(node.params, *[known[o] for o in node.operands])
    return [known[o] for o in program.outputs]


@pytest.mark.parametrize("rewritten", [associated, absorb_products, lambda p: associated(absorb_products(p))])
def test_values_of_random_contractions_stay(rewritten):
    for seed in range(150):
        with Graph() as graph:
            program = random_contractions(seed, graph)
        values = [RNG.normal(size=n.shape) for n in program.inputs]
        made = verify(rewritten(program))
        for got, want in zip(by_numpy(made, values), by_numpy(program, values), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10, err_msg=f"seed {seed}")
        for got, want in zip(lower(program, "numpy")(*values), by_numpy(program, values), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10, err_msg=f"kernel, seed {seed}")
