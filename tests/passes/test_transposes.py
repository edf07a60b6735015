"""Transposes of one contraction are computed once, and values stay."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels.kernel import optimized
from symgrad.passes.transposes import share_transposes
from symgrad.testing import check_grads

A, B = np.random.default_rng(0).normal(size=(2, 5, 4))
V = np.linspace(0.5, 2.0, 4)


def contractions(program):
    """The contractions that multiply and sum."""
    return [n for n in program.bindings if n.primitive.name == "einsum" and len(n.operands) > 1 and _sums(n)]


def _sums(node):
    labels, out = node.params[:2]
    return any(i not in out for own in labels for i in own)


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda A, B: A.T @ B + B.T @ A, 1),
        (lambda A, B: A.T @ B - (A.T @ B).T, 1),
        (lambda A, B: np.einsum("ij,ik->jk", A, B) + np.einsum("ik,ij->jk", A, B), 2),  # spelled: NumPy's own values
    ],
)
def test_traced_products(function, count):
    program = optimized(sg.trace(function, A, B))
    assert len(contractions(share_transposes(program))) <= max(count, len(contractions(program)))
    np.testing.assert_allclose(sg.symbolic(function)(A, B), function(A, B), rtol=1e-14)


def test_the_two_halves_of_a_hessian_are_one_product():
    function = lambda x: np.sum((A @ x) * (B @ x))  # noqa: E731
    hessian = sg.hessian(function)
    hessian(V)
    assert len(contractions(hessian.program())) == 1
    check_grads(function, [V])


def test_the_order_of_operands_makes_no_second_product():
    jacobian = sg.jacobian(sg.hessian(lambda x: np.sum(x**3 * np.sin(x))))
    jacobian(V)
    products = [n for n in jacobian.program().bindings if n.primitive.name == "einsum" and len(n.operands) > 1]
    assert len({(frozenset(n.operands), n.params[1]) for n in products}) == len(products)


def test_a_repeated_operand_is_not_mistaken():
    """``Σ_i A_ij A_ik`` is its own transpose; ``Σ_i A_ij B_ik C_ik`` is not that of ``Σ_i A_ik B_ij C_ij``."""

    def both(C):
        left = sg.grad(lambda X: np.sum(V * ((X.T @ (B * C)) @ V)))(A)
        right = sg.grad(lambda X: np.sum(V * (((B * C).T @ X) @ V)))(A)
        return left @ V + 2 * right @ V**2

    program = sg.trace(both, np.cos(A))
    known = {program.inputs[0]: np.cos(A)}
    for node in program.nodes:
        if node not in known:
            constant = node.primitive.name == "constant"
            operands = [known[o] for o in node.operands]
            known[node] = node.params[0].value if constant else node.primitive.evaluate(node.params, *operands)
    np.testing.assert_allclose(sg.symbolic(both)(np.cos(A)), known[program.outputs[0]], rtol=1e-13)
    check_grads(both, [np.cos(A)])


def test_broadcasts_to_different_sizes_stay_apart():
    def function(a, b):
        return np.sum(np.sin(np.broadcast_to(a * b, (3,)))) + np.sum(np.exp(np.broadcast_to(a * b, (5,))))

    np.testing.assert_allclose(sg.symbolic(function)(1.0, 2.0), function(1.0, 2.0), rtol=1e-15)
    check_grads(function, [np.array(1.0), np.array(2.0)])
