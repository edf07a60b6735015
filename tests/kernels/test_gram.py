"""An array times its own transpose: values for every kind of weights, and products that only look like it."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.kernels.runtime import gram
from symgrad.passes.grams import expose_grams, halves
from symgrad.primitives.contraction import contract
from symgrad.primitives.primitive import input_node
from symgrad.program.node import Graph
from symgrad.program.program import Program

RNG = np.random.default_rng(5)
WEIGHTS = {
    "positive": lambda m: RNG.uniform(0.5, 2, m),
    "negative": lambda m: -RNG.uniform(0.5, 2, m),
    "mixed": lambda m: RNG.normal(size=m),
    "zero": np.zeros,
    "negative zero": lambda m: -np.zeros(m),
    "some zero": lambda m: RNG.choice([0.0, 1.0, -2.0], m),
    "NaN": lambda m: np.where(np.arange(m) == 3, np.nan, RNG.normal(size=m)),
    "infinite": lambda m: np.where(np.arange(m) == 3, np.inf, RNG.uniform(1, 2, m)),
    "negative infinite": lambda m: np.where(np.arange(m) == 3, -np.inf, -RNG.uniform(1, 2, m)),
    "mixed and infinite": lambda m: np.where(np.arange(m) == 3, np.inf, RNG.normal(size=m)),
    "huge and tiny": lambda m: 10.0 ** RNG.uniform(-100, 100, m),
}


@pytest.mark.parametrize("columns", [3, 47, 48, 60])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_gram_is_the_plain_product(weights, columns):
    a, w = RNG.normal(size=(9, columns)), WEIGHTS[weights](9)
    before = a.copy(), w.copy()
    with np.errstate(all="ignore"):
        made = gram(a, w)
        want = np.einsum("si,s,sj->ij", a, w, a)
    np.testing.assert_allclose(
        made, want, rtol=1e-10, atol=1e-10 * np.nanmax(np.abs(w), initial=0, where=np.isfinite(w))
    )
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(w, before[1])


def test_gram_of_no_rows_and_of_single_precision():
    np.testing.assert_array_equal(gram(np.zeros((0, 50)), np.zeros(0)), np.zeros((50, 50)))
    a, w = RNG.normal(size=(5, 50)).astype(np.float32), RNG.normal(size=5).astype(np.float32)
    made = gram(a, w)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, (a.T * w) @ a, rtol=1e-4, atol=1e-5)


#: operands by name, with how ``np.einsum`` spells the contraction, and whether it is a Gram product
CONTRACTIONS = {
    "plain": ("x x", "si,sj->ij", True),
    "weighted": ("x w x", "si,s,sj->ij", True),
    "weighted from behind": ("w x x", "s,sj,si->ij", True),
    "several weights": ("w x w x", "s,si,s,sj->ij", True),
    "product in each half": ("x y w x y", "si,sk,s,sj,sl->ikjl", True),
    "halves out of order": ("x y x y", "si,sl,sj,sk->ikjl", True),
    "interleaved result": ("x y x y", "si,sk,sj,sl->ijkl", True),
    "two summed labels": ("z z", "sti,stj->ij", True),
    "weights on two summed labels": ("z u z", "sti,st,stj->ij", True),
    "weights on one of two": ("z w z", "sti,s,stj->ij", True),
    "transposed": ("v v", "is,js->ij", True),
    "two rows": ("z w z", "sti,s,slj->tilj", True),
    "another matrix": ("x w y", "si,s,sk->ik", False),
    "square": ("q q", "ij,jk->ik", False),
    "matrix in the middle": ("x q x", "si,st,tj->ij", False),
    "batch": ("z z", "sti,stj->sij", False),
    "other rows of the two": ("z z", "sti,tsj->ij", False),
    "weight of a result label": ("x w x", "si,i,sj->ij", False),
    "result in another order": ("r r", "sij,skl->iljk", True),
    "partly mirrored": ("r r", "sij,sil->jil", False),
    "mirrored across": ("r r", "sij,sji->ij", False),
}
SIZES = {"w": (6,), "x": (6, 6), "y": (6, 4), "z": (6, 6, 5), "u": (6, 6), "v": (5, 6), "q": (6, 6), "r": (6, 5, 5)}


def contraction(operands, spelled):
    """A Program of one contraction of inputs, equal names one input."""
    names = sorted(set(operands))
    left, out = spelled.split("->")
    letters = list(dict.fromkeys(left.replace(",", "")))
    sizes = {i: d for own, n in zip(left.split(","), operands, strict=True) for i, d in zip(own, SIZES[n], strict=True)}
    with Graph() as graph:
        nodes = {n: input_node(n, SIZES[n], np.dtype(float)) for n in names}
        made = contract(
            [nodes[n] for n in operands],
            [tuple(map(letters.index, own)) for own in left.split(",")],
            tuple(map(letters.index, out)),
            [sizes[i] for i in letters],
        )
        return Program(list(nodes.values()), [made], names, graph), names


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions(name):
    operands, spelled, is_gram = CONTRACTIONS[name]
    operands = operands.split()
    program, names = contraction(operands, spelled)
    values = {n: RNG.normal(size=SIZES[n]) for n in names}
    kernel = lower(program, "numpy")
    want = np.einsum(spelled, *[values[n] for n in operands])
    np.testing.assert_allclose(kernel(*[values[n] for n in names])[0], want, rtol=1e-10, atol=1e-12)
    left, out = spelled.split("->")
    found = halves(
        [(n, tuple(map(ord, ls))) for n, ls in zip(operands, left.split(","), strict=True)], tuple(map(ord, out))
    )
    assert (found is not None) == is_gram


def test_the_kernel_of_a_logistic_hessian_uses_one_triangle():
    hessian = symgrad.hessian(lambda w, X: np.sum(np.log(1 + np.exp(X @ w))))
    X, w = RNG.normal(size=(80, 60)), RNG.normal(size=60) * 0.1
    made = hessian(w, X)
    assert "gram(" in hessian.kernel().source
    s = 1 / (1 + np.exp(-X @ w))
    np.testing.assert_allclose(made, (X.T * (s * (1 - s))) @ X, rtol=1e-10)
    np.testing.assert_array_equal(made, made.T)


def test_a_shared_product_that_is_spread_counts_its_size():
    with Graph() as graph:
        x, w = input_node("x", (6, 5), np.dtype(float)), input_node("w", (6,), np.dtype(float))
        spread = contract([x, w], [(0, 1), (0,)], (0, 1, 2), (6, 5, 4))
        made = contract([spread, spread], [(0, 1, 3), (0, 2, 3)], (1, 2), (6, 5, 5, 4))
        program = Program([x, w], [made], ["x", "w"], graph)
    values = RNG.normal(size=(6, 5)), RNG.normal(size=6)
    scaled = values[0] * values[1][:, None]
    for form in (program, expose_grams(program)):
        np.testing.assert_allclose(lower(form, "numpy")(*values)[0], 4 * scaled.T @ scaled, rtol=1e-12)
