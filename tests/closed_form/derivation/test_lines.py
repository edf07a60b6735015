"""Where a function is cut into lines."""

import numpy as np

import symgrad as sg
from symgrad.closed_form.derivation.lines import cut
from symgrad.program.node import ancestors


def lines_of(function, *args):
    program = sg.trace(function, *args)
    with program.graph:
        return program, cut(program.outputs, [], ancestors(program.outputs))


def roots(lines):
    return [line.node.primitive.name for line in lines]


def test_one_function_a_line():
    _, lines = lines_of(lambda x: np.sin(np.exp(np.cos(x))), 1.0)
    assert roots(lines) == ["cos", "exp", "sin"]
    assert [len(line.sources) for line in lines] == [1, 1, 1]


def test_signs_and_slices_stand_where_they_are_used():
    _, lines = lines_of(lambda x: np.exp(-x[1:]), np.ones(3))
    assert roots(lines) == ["exp"]


def test_what_is_used_twice_has_a_line():
    _, lines = lines_of(lambda x: (x + 1) * (x + 1) + np.sqrt(x + 1), 1.0)
    assert roots(lines)[0] == "add"


def test_compositions_with_a_rule_of_their_own_stay_together():
    _, lines = lines_of(lambda x: np.log(1 + np.exp(x)), 1.0)
    assert roots(lines) == ["log"]


def test_every_operation_is_in_a_line():
    def f(x):
        for _ in range(300):
            x = -x[::-1] + np.sin(x) * 2
        return x

    program, lines = lines_of(f, np.ones(2))
    covered = {n.primitive.name for line in lines for n in ancestors([line.root])}
    assert covered == {n.primitive.name for n in program.nodes}
    assert max(len(ancestors([line.root])) for line in lines) < 30
