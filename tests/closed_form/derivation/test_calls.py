"""What has no formula is written in signs where there are any, and as calls elsewhere."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.closed_form.derivation.calls import called

X = np.ones((2, 3))


@pytest.mark.parametrize(
    ("function", "text", "latex"),
    [
        (lambda x: x * (x + 1), "x ⊙ (x + 1)", r"x \odot \left(x + 1\right)"),
        (lambda x: np.sum(x, axis=0) / x, "(Σ x) / x", r"\left(\sum x\right) / x"),
        (lambda x: x - (x - 2), "x − (x − 2)", r"x - \left(x - 2\right)"),
        (lambda x: (x * x > x) * 1.0, "[x ⊙ x > x] ⊙ 1.0", r"\left[x \odot x > x\right] \odot 1.0"),
        (lambda x: -np.square(x + 1), "−(x + 1)²", r"-\left(x + 1\right)^{2}"),
        (lambda x: (x + 1) / np.square(x + 1), "1 / (x + 1)", r"1 / \left(x + 1\right)"),
        (lambda x: np.cumsum(x.T, axis=1), "cumsum(xᵀ)", r"\operatorname{cumsum}\left(x^{\top}\right)"),
    ],
)
def test_signs(function, text, latex):
    program = sg.trace(function, X)
    made = called(program)
    assert made.text == text
    assert made.latex == latex


def test_what_asks_for_nan_is_left_out():
    gradient = sg.grad(lambda x: np.sum(np.max(x, axis=1))).program(X)
    assert "≠" not in called(gradient).text
    assert "[x = max(x)]" in called(gradient).text


def test_what_is_too_long_is_left_out():
    def long(x):
        for k in range(200):
            x = np.arctan2(x, float(k))
        return x

    text = called(sg.trace(long, X)).text
    assert "arctan2(…, " in text
    assert len(text) < 310


A, B, V = np.ones((2, 3)), np.ones((3, 2)), np.ones(3)
PRODUCTS = {
    "a b": (lambda a, b: a @ b, (A, B)),
    "aᵀ b": (lambda a, b: np.einsum("ki,kj->ij", a, b), (B, B)),
    "a bᵀ": (lambda a, b: np.einsum("ik,jk->ij", a, b), (A, A)),
    "bᵀ aᵀ": (lambda a, b: np.einsum("ik,kj->ji", a, b), (A, B)),
    "Bᵀ a": (lambda a, B: a @ B, (V, B)),
    "tanh(a + 1) b": (lambda a, b: np.tanh(a + 1) @ b, (A, B)),
    "2 ⊙ (a b)": (lambda a, b: np.einsum(",ij,jk->ik", 2.0, a, b), (A, B)),
    "aᵀ": (lambda a: a.T, (A,)),
    "Σ (a ⊙ b)": (lambda a, b: np.sum(a * b), (A, A)),
    "a ⊙ b": (np.outer, (V, V)),
    "einsum[ij,ik->](a, b)": (lambda a, b: np.einsum("ij,ik->", a, b), (A, np.ones((2, 4)))),
    "einsum[i->ii](a)": (lambda a: np.diag(a), (V,)),
}


@pytest.mark.parametrize("text", PRODUCTS)
def test_products_of_matrices_are_told_from_products_of_elements(text):
    fn, args = PRODUCTS[text]
    assert called(sg.trace(fn, *args)).text == text
