"""Gates move outward: fewer of them, the same values, and zeros that still win against infinities."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels.kernel import lower
from symgrad.passes.gates import float_gates
from symgrad.passes.marks import strip_marks
from symgrad.testing import check_grads

X = np.array([-1.5, -0.2, 0.0, 0.4, 2.0])


def guarded_log(x):
    return np.where(x > 0, np.log(np.where(x > 0, x, 1.0)) * x, 0.0)


def unguarded(x):
    return np.where(x > 0, np.log(x) * np.sin(x) * x, x * x)


def branches(x):
    return np.where(x > 0, np.exp(x) * x, np.cos(x) * x) * x + np.where(x > 0, x, -x)


FUNCTIONS = [guarded_log, unguarded, branches]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_stay_and_gates_become_fewer(function):
    program = strip_marks(sg.grad(function)._entry((X,), {}).program)
    moved = float_gates(program)
    with np.errstate(all="ignore"):
        before, after = (program, moved)
        values = [_interpreted(p) for p in (before, after)]
    np.testing.assert_allclose(values[1], values[0], rtol=1e-14)
    assert moved.operation_counts()["gate"] <= program.operation_counts()["gate"]
    assert np.isfinite(values[1]).all()


def _interpreted(program):
    """The outputs node by node, as each primitive evaluates itself."""
    known = {program.inputs[0]: X}
    for node in program.nodes:
        if node in known:
            continue
        constant = node.primitive.name == "constant"
        operands = [known[o] for o in node.operands]
        known[node] = node.params[0].value if constant else node.primitive.evaluate(node.params, *operands)
    return known[program.outputs[0]]


def test_a_chain_of_products_is_gated_once():
    gradient = sg.grad(lambda x: np.where(x > 0, np.sin(x) * np.exp(x) * np.cos(x) * x, 0.0))
    gradient(X)
    assert gradient.program().operation_counts()["gate"] == 1


def test_the_two_sides_of_a_choice_become_one_choice():
    gradient = sg.grad(lambda x: np.where(x > 0, np.sin(x), np.cos(x)))
    gradient(X)
    counts = gradient.program().operation_counts()
    assert counts["gate"] == 0
    assert counts["where"] == 1
    check_grads(gradient.fn, [X[X != 0]])


def test_programs_without_gates_are_left_alone():
    program = sg.trace(np.sin, X)
    assert float_gates(program) is program
    assert lower(program)(X)[0] == pytest.approx(np.sin(X))
