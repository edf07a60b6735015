"""One walk: values, other nodes, and what is let go on the way."""

from __future__ import annotations

import numpy as np

import symgrad
from symgrad.program.interpret import evaluated, interpreted, rebuilt, stepwise, walk
from symgrad.program.node import Graph, Node


def test_values_are_those_of_the_function():
    def f(x, y):
        return np.sin(x) @ y + 2.0, x[::2] * np.arange(2)

    x, y = np.arange(3.0), np.ones(3)
    for got, want in zip(interpreted(symgrad.trace(f, x, y), [x, y]), f(x, y), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_long_program_needs_no_recursion_and_holds_few_values():
    def chain(x):
        for _ in range(3000):
            x = np.sin(x) + 1
        return x

    program = symgrad.trace(chain, 1.0)
    known = {program.inputs[0]: 1.0}
    most = max(len(known) for _ in stepwise(program, known, evaluated))
    assert most < 6
    assert known[program.outputs[0]] == chain(1.0)


def test_an_input_that_is_an_output_stays():
    assert interpreted(symgrad.trace(lambda x: (x, x * 2), 1.0), [3.0]) == [3.0, 6.0]


def test_a_substitution_rebuilds_what_is_above_and_nothing_else():
    program = symgrad.trace(lambda x, y: np.sin(x) * np.cos(y), 1.0, 2.0)
    x, y = program.inputs
    with program.graph:
        image: dict[Node, Node] = walk(program.nodes, {x: y}, rebuilt)
    swapped = program.with_outputs([image[o] for o in program.outputs])
    np.testing.assert_allclose(interpreted(swapped, [1.0, 2.0]), np.sin(2.0) * np.cos(2.0))
    cosine = next(n for n in program.nodes if n.primitive.name == "cos")
    assert image[cosine] is cosine


def test_nothing_is_made_where_nothing_is_known_otherwise():
    program = symgrad.trace(lambda x: np.exp(x) / x, 1.0)
    with Graph() as graph:
        image = walk(program.nodes, {}, rebuilt)
    assert all(image[n] is n for n in program.nodes)
    assert not graph.table
