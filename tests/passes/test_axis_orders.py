"""Contractions that only others read have their axes as their operands have them, and values stay."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.passes.axis_orders import unturned
from symgrad.primitives.contraction import contract
from symgrad.primitives.functions import tanh
from symgrad.primitives.primitive import input_node
from symgrad.program.interpret import interpreted
from symgrad.program.node import Graph
from symgrad.program.program import Program
from symgrad.testing import check_grads

RNG = np.random.default_rng(0)
ARRAYS = {
    "v": RNG.normal(size=3),
    "A": RNG.normal(size=(3, 4)),
    "B": RNG.normal(size=(4, 5)),
}


def program_of(build):
    """The program whose outputs ``build`` makes of a vector and two matrices."""
    graph = Graph()
    with graph:
        inputs = [input_node(name, a.shape, a.dtype) for name, a in ARRAYS.items()]
        outputs = build(*inputs)
    return Program(inputs, outputs, list(ARRAYS), graph)


def spelled(program):
    return [n.primitive.spell(n) for n in program.bindings if n.primitive.name == "einsum"]


def scaled(v, A):
    """``(v ⊙ A)ᵀ``"""
    return contract([v, A], [(0,), (0, 1)], (1, 0), (3, 4))


def squared(x):
    return contract([x, x], [(0, 1), (0, 1)], (0,), x.shape)


def product(x, y, out):
    """``x y`` or its transpose."""
    return contract([x, y], [(0, 1), (1, 2)], out, (*x.shape, y.shape[1]))


CASES = {
    "as an operand lies": (lambda v, A, B: [squared(scaled(v, A))], ["einsum[i,ij->ij]", "einsum[ij,ij->j]"]),
    "a product of matrices": (
        lambda v, A, B: [squared(product(A, B, (2, 0)))],
        ["einsum[ij,jk->ik]", "einsum[ij,ij->j]"],
    ),
    "one after another": (
        lambda v, A, B: [squared(contract([B, scaled(v, A)], [(0, 1), (0, 2)], (1, 2), (4, 5, 3)))],
        ["einsum[i,ij->ij]", "einsum[ij,ki->kj]", "einsum[ij,ij->j]"],
    ),
    "a result": (lambda v, A, B: [scaled(v, A), squared(scaled(v, A))], ["einsum[i,ij->ji]", "einsum[ij,ij->i]"]),
    "read by another operation": (
        lambda v, A, B: [squared(scaled(v, A)), tanh(scaled(v, A))],
        ["einsum[i,ij->ji]", "einsum[ij,ij->i]"],
    ),
    "operands that lie in two ways": (
        lambda v, A, B: [
            squared(
                contract(
                    [A, product(B, contract([A, B], [(0, 1), (1, 2)], (2, 0), (3, 4, 5)), (0, 2))],
                    [(0, 1), (1, 0)],
                    (1, 0),
                    (3, 4),
                )
            )
        ],
        None,
    ),
    "a diagonal": (
        lambda v, A, B: [contract([contract([v], [(0,)], (0, 0), (3,)), A], [(0, 1), (1, 2)], (2,), (3, 3, 4))],
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_orders(name):
    build, wanted = CASES[name]
    program = program_of(build)
    made = unturned(program)
    for got, want in zip(interpreted(made, [*ARRAYS.values()]), interpreted(program, [*ARRAYS.values()]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    if wanted is not None:
        assert spelled(made) == wanted
    assert unturned(made) is made


def test_the_tangents_of_a_network_lie_as_its_weights():
    x, W, V = RNG.normal(size=3), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 4))
    f = lambda x: np.sum(np.tanh(V @ np.tanh(W @ x)))  # noqa: E731
    inner = [n for n in sg.laplacian(f).program(x).bindings if n.ndim == 2 and n.operands]
    assert [n.shape for n in inner] == [(4, 3), (4, 3)]
    check_grads(f, (x,), order=2)
