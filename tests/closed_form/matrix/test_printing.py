"""Brackets where precedence needs them and nowhere else, in text and in LaTeX."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from symgrad.closed_form.matrix import expression as ex
from symgrad.closed_form.matrix.latex import Latex
from symgrad.closed_form.matrix.printing import Text

A, B = ex.leaf("A", 4, 4), ex.leaf("B", 4, 4)
x, y, weight = ex.leaf("x", 4), ex.leaf("y", 4), ex.leaf("weight", 4)
s = ex.leaf("s")
n = sympy.Symbol("n", integer=True, positive=True)
HALF = sympy.Rational(1, 2)
MINUS = sympy.Integer(-1)


def times(value, *factors):
    return ex.scaled(sympy.sympify(value), [], [], ex.product(factors))


CASES = [
    (ex.product([A, ex.total([x, y])]), "A(x + y)", r"A \left(x + y\right)"),
    (ex.product([A, weight]), "A weight", r"A \, \mathit{weight}"),
    (ex.transpose(ex.total([A, B])), "(A + B)ᵀ", r"\left(A + B\right)^\top"),
    (ex.transpose(ex.product([A, x])), "xᵀAᵀ", r"x^\top A^\top"),
    (ex.transpose(ex.transpose(A)), "A", "A"),
    (ex.transpose(ex.call("inverse", [A], None, 4, 4)), "A⁻ᵀ", r"A^{-\top}"),
    (ex.call("inverse", [ex.product([A, B])], None, 4, 4), "(AB)⁻¹", r"\left(A B\right)^{-1}"),
    (ex.hadamard([x, ex.total([x, y])]), "x ⊙ (x + y)", r"x \odot \left(x + y\right)"),
    (ex.product([A, ex.hadamard([x, y])]), "A(x ⊙ y)", r"A \left(x \odot y\right)"),
    (ex.hadamard([x], [y]), "x ⊘ y", r"x \oslash y"),
    (ex.hadamard([x, weight], [y, y]), "(x ⊙ weight) ⊘ y^⊙2", None),
    (times(2, x), "2x", "2 x"),
    (times(2, weight), "2 weight", r"2 \mathit{weight}"),
    (times(-1, x), "−x", "-x"),
    (times(HALF, x), "1/2 · x", r"\frac{1}{2} x"),
    (times(2 / n, A, x), "2/n · Ax", r"\frac{2}{n} A x"),
    (times(2 / (n - 1), x), "2/(n − 1) · x", r"\frac{2}{n - 1} x"),
    (times(1 / sympy.sqrt(n), x), "1/√n · x", r"\frac{1}{\sqrt{n}} x"),
    (times(3, ex.total([x, y])), "3(x + y)", r"3 \left(x + y\right)"),
    (times(-1, ex.total([x, times(-1, y)])), "y − x", "y - x"),
    (ex.scaled(MINUS, [], [], ex.kron(A, B)), "−A ⊗ B", r"-A \otimes B"),
    (ex.kron(times(2, A), ex.total([A, B])), "2(A ⊗ (A + B))", r"2 \left(A \otimes \left(A + B\right)\right)"),
    (ex.scaled(sympy.Integer(1), [s], [], x), "sx", "s x"),
    (ex.scaled(sympy.Integer(1), [ex.leaf("t")], [], ex.leaf("r", 1, 4)), "t·r", "t r"),
    (ex.scaled(sympy.Integer(1), [], [s], x), "x / s", r"\frac{x}{s}"),
    (ex.scaled(sympy.Integer(2), [], [s, ex.call("norm", [x], Fraction(2))], x), "2x / (s‖x‖²)", None),
    (ex.scaled(sympy.Integer(1), [ex.product([ex.transpose(x), y])], [], x), "(xᵀy)x", None),
    (ex.power(x, Fraction(2)), "x^⊙2", r"x^{\odot 2}"),
    (ex.power(s, Fraction(3)), "s³", "s^{3}"),
    (ex.power(s, Fraction(1, 2)), "√(s)", r"\sqrt{s}"),
    (ex.power(ex.call("function", [x], "tanh", 4), Fraction(2)), "tanh²(x)", r"\tanh^{2}\left(x\right)"),
    (ex.power(ex.call("function", [x], "exp", 4), Fraction(2)), "exp(2x)", r"\exp\left(2 x\right)"),
    (ex.diag(ex.ones(4)), "I", "I"),
    (ex.product([ex.ones(4), ex.transpose(ex.ones(4))]), "𝟏𝟏ᵀ", r"\mathbf{1} \mathbf{1}^\top"),
    (ex.product([ex.transpose(ex.ones(4)), A, ex.ones(4)]), "sum(A)", r"\operatorname{sum}\left(A\right)"),
    (ex.product([A, A, x]), "A²x", "A^{2} x"),
    (ex.total([ex.ones(4), times(-1, ex.power(x, Fraction(2)))]), "1 − x^⊙2", r"1 - x^{\odot 2}"),
    (ex.total([ex.ones(4), x]), "𝟏 + x", r"\mathbf{1} + x"),
    (ex.call("logdet", [A]), "log|det(A)|", r"\log\left|\det\left(A\right)\right|"),
    (ex.call("norm", [A], Fraction(2)), "‖A‖_F²", r"\lVert A \rVert_F^{2}"),
]


@pytest.mark.parametrize(("expression", "text", "latex"), CASES, ids=[c[1] for c in CASES])
def test_spelling(expression, text, latex):
    assert Text()(expression) == text
    if latex is not None:
        assert Latex()(expression) == latex


def test_a_symmetric_sum_is_its_own_transpose():
    symmetric = ex.total([A, ex.transpose(A)])
    assert ex.transpose(symmetric) == symmetric


def test_a_sum_of_logarithms_is_one_and_keeps_its_sign():
    x = ex.leaf("x", 3)
    value = -sympy.log(2) / 2 - sympy.log(sympy.pi) / 2
    total = ex.total([x, ex.scaled(value, [], [], ex.ones(3))])
    assert Text()(total) == "x − log(2·π)/2 · 𝟏"
    assert Text()(ex.total([x, ex.scaled(-sympy.sqrt(2) - 1, [], [], ex.ones(3))])) == "x − (1 + √2)·𝟏"


def test_factors_that_would_read_as_another_name_are_apart():
    d, x, v = ex.leaf("d"), ex.leaf("x"), ex.leaf("v", 3)
    product = ex.scaled(sympy.Integer(1), [d, x], [], v)
    assert Text({}, ["d", "x", "v"])(product) == "dxv"
    assert Text({}, ["d", "x", "v", "dx"])(product) == "d·xv"
