"""Passes: what each rewrites, and that values stay what they were."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.passes.association import associated
from symgrad.passes.constants import fold_constants
from symgrad.passes.gates import float_gates
from symgrad.passes.grams import expose_grams
from symgrad.passes.marks import strip_marks
from symgrad.passes.products import absorb_products
from symgrad.passes.rewrite import rewrite
from symgrad.passes.transposes import share_transposes
from symgrad.primitives.contraction import contract
from symgrad.primitives.functions import add, exp
from symgrad.primitives.identity import mark, stop_gradient
from symgrad.primitives.primitive import input_node
from symgrad.program.node import Graph
from symgrad.program.program import Program
from symgrad.program.verify import verify

X = np.array([0.5, 1.5, 2.0])


def test_marks_go_and_what_was_equal_is_shared_again():
    graph = Graph()
    with graph:
        x = input_node("x", (3,), np.dtype(float))
        program = Program([x], [add(exp(mark(x)), exp(stop_gradient(x)))], ["x"], graph)
    stripped = verify(strip_marks(verify(program)))
    assert stripped.operation_counts() == {"exp": 1, "add": 1}


def test_a_program_without_marks_is_left_as_it_is():
    program = symgrad.trace(np.sin, np.ones(3))
    assert strip_marks(program) is program


def test_a_product_used_once_goes_into_the_contraction_that_uses_it():
    graph = Graph()
    with graph:
        x, d = input_node("x", (4, 3), np.dtype(float)), input_node("d", (4,), np.dtype(float))
        scaled = contract([x, d], [(0, 1), (0,)], (0, 1), (4, 3))
        program = Program([x, d], [contract([x, scaled], [(0, 1), (0, 2)], (1, 2), (4, 3, 3))], ["x", "d"], graph)
    absorbed = verify(absorb_products(verify(program)))
    assert absorbed.operation_counts() == {"einsum": 1}
    arrays = np.arange(12.0).reshape(4, 3), np.array([1.0, -2.0, 0.5, 3.0])
    expected = arrays[0].T @ np.diag(arrays[1]) @ arrays[0]
    np.testing.assert_allclose(lower(program)(*arrays)[0], expected)


def test_a_product_used_twice_is_computed_once():
    graph = Graph()
    with graph:
        x = input_node("x", (4,), np.dtype(float))
        y = input_node("y", (4,), np.dtype(float))
        product = contract([x, y], [(0,), (0,)], (0,), (4,))
        outputs = [contract([product, v], [(0,), (0,)], (), (4,)) for v in (x, y)]
        program = Program([x, y], outputs, ["x", "y"], graph)
    assert absorb_products(program) is program


def test_the_logistic_hessian_is_one_contraction():
    hessian = symgrad.hessian(lambda w, x: np.sum(np.log(1 + np.exp(-(x @ w)))))
    program = hessian.program(np.ones(3), np.ones((5, 3)))
    last = program.outputs[0]
    assert last.primitive.name == "einsum"
    assert sum(o.shape == (5, 3) for o in last.operands) == 2


def test_rewrite_drops_what_nothing_uses():
    graph = Graph()
    with graph:
        x = input_node("x", (), np.dtype(float))
        program = Program([x], [add(exp(x), x)], ["x"], graph)
    rewritten = verify(rewrite(program, lambda node, _: node.operands[1] if node.primitive is add else None))
    assert rewritten.outputs == (x,)
    assert rewritten.bindings == ()


def test_what_depends_on_no_input_is_a_constant_of_the_kernel():
    jacobian = symgrad.jacobian(lambda x: np.stack([np.sin(x[0]), x[1] * x[0]]))
    x = np.array([0.3, 2.0])
    assert "embed_diagonal" not in jacobian.kernel(x).source
    np.testing.assert_allclose(jacobian(x), [[np.cos(0.3), 0.0], [2.0, 0.3]])


@pytest.mark.parametrize(
    "run", [strip_marks, float_gates, absorb_products, expose_grams, share_transposes, fold_constants, associated]
)
def test_a_pass_that_has_nothing_to_do_gives_the_same_program(run):
    program = symgrad.trace(lambda x, A: np.sum(np.sin(A @ x) * 2.0 + np.tanh(x) * x), X, np.eye(len(X)))
    assert run(program) is program


def test_what_is_rewritten_late_leaves_what_stands_before_it():
    program = symgrad.trace(lambda x: np.sin(np.cos(x)) * np.exp(np.cos(x)), X)
    cosine, exponential = (next(n for n in program.nodes if n.primitive.name == name) for name in ("cos", "exp"))
    made = verify(rewrite(program, lambda n, _: exponential.operands[0] if n.primitive.name == "exp" else None))
    assert cosine in made.nodes
    assert exponential not in made.nodes


def test_uses_count_operands_and_outputs():
    program = symgrad.trace(lambda x: (x * x, np.sin(x * x)), X)
    x, product = program.inputs[0], program.outputs[0]
    assert (program.uses[x], program.uses[product], program.uses[program.outputs[1]]) == (2, 2, 1)


def test_a_choice_whose_condition_is_known_takes_one_side():
    always, mixed = np.ones(3, bool), np.array([True, False, True])

    def f(x):
        return np.where(always, x, 0.0) + np.where(~always, 1 / x, np.sin(x)) + np.where(mixed, x, 2.0)

    program = symgrad.grad(lambda x: np.sum(f(x) ** 2)).program(X)
    folded = verify(fold_constants(program))
    counts = folded.operation_counts()
    assert counts["where"] == 1
    assert "logical_not" not in counts
    np.testing.assert_array_equal(lower(folded, "numpy")(X)[0], lower(program, "numpy")(X)[0])
