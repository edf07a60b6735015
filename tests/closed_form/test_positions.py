"""Indices through reshapes: at every place the element that NumPy has there, and no floor or remainder too many."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.closed_form.positions import divided, joined, reshaped

P, J, K, N, D = sympy.symbols("i j k n d", integer=True, positive=True)


@st.composite
def reshapes(draw):
    """A few shapes of one size, each the next one's reshape."""
    factors = draw(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=4))
    shapes = []
    for _ in range(draw(st.integers(2, 4))):
        shape, group = [], 1
        for k, f in enumerate(draw(st.permutations(factors))):
            group *= f
            if k == len(factors) - 1 or draw(st.booleans()):
                shape.append(group)
                group = 1
        shapes.append(tuple(shape))
    return shapes


@given(reshapes())
@settings(max_examples=60)
def test_the_element_is_that_of_numpy_at_every_place(shapes):
    first, *_, last = shapes
    free = sympy.symbols(f"i:{len(last)}", integer=True, nonnegative=True)
    sizes = dict(zip(free, last, strict=True))
    index = tuple(free)
    for shape, inner in zip(shapes[::-1], shapes[-2::-1], strict=False):
        index = reshaped(index, shape, inner, sizes)
    numbers = np.arange(np.prod(first)).reshape(first)
    for place in np.ndindex(*last):
        at = dict(zip(free, map(sympy.Integer, place), strict=True))
        found = tuple(int(sympy.sympify(e).xreplace(at)) for e in index)
        assert numbers[found] == numbers.reshape(last)[place]


@pytest.mark.parametrize(
    ("index", "shape", "wanted", "found"),
    [
        ((P, J), (N, D), (N, D), (P, J)),
        ((P * D + J,), (N * D,), (N, D), (P, J)),
        ((P * D + J, K), (N * D, 3), (N, D, 3), (P, J, K)),
        ((P, J), (N, D), (N * D,), (P * D + J,)),
        ((sympy.floor(P / 5), sympy.Mod(P, 5)), (7, 5), (35,), (P,)),
        ((7 * K + P,), (70,), (10, 7), (sympy.floor((7 * K + P) / 7), sympy.Mod(7 * K + P, 7))),  # i may be 8
        ((P - 1,), (15,), (5, 3), (sympy.Mod(sympy.floor((P - 1) / 3), 5), sympy.Mod(P - 1, 3))),
        ((), (), (1, 1), (0, 0)),
    ],
    ids=str,
)
def test_an_index_that_is_known_is_read(index, shape, wanted, found):
    sizes = {P: N, J: D, K: 3}
    if shape == (7, 5):
        sizes[P] = 35
    if shape == (70,):
        sizes |= {P: 9, K: 9}
    assert reshaped(index, shape, wanted, sizes) == found


def test_a_quotient_is_taken_only_where_the_rest_is_smaller():
    assert divided(P * N + J, N, {J: N}) == (P, J)
    assert divided(P * N + J, N, {J: N + 1}) is None
    assert divided(P * N - J, N, {J: N}) is None
    assert joined(3 * sympy.floor(P / 3) + sympy.Mod(P, 3) + J) == P + J


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.sin(x).ravel(),
        lambda x: np.sin(x).reshape(-1, 2)[::2],
        lambda x: np.sin(x).T.reshape(2, -1) * 2,
        lambda x: np.outer(x[:, 0], x[0]).ravel(),
        lambda x: np.sin(x.ravel())[1:] * x.ravel()[:-1],
    ],
    ids=["ravel", "rows", "turned", "outer", "neighbours"],
)
def test_formulas_through_reshapes_are_those_of_the_kernel(fn):
    x = np.random.default_rng(0).uniform(0.5, 1.5, (4, 3))
    for derived in (sg.symbolic(fn), sg.grad(lambda x: np.sum(fn(x) ** 3))):
        found = derived.agreement(x)
        assert found.index is not None
        assert found.index < 1e-12


def test_no_floor_is_left_where_rows_and_columns_are_known():
    gradient = sg.grad(lambda x: np.sum(np.sin(x.ravel()) ** 2 * x.reshape(-1)))
    assert not gradient.closed_form("n d", form="index").has(sympy.floor, sympy.Mod)
    turned = sg.grad(lambda x: np.sum(np.sin(x.reshape(5, 7).T.reshape(35)[:7])))
    assert str(turned.closed_form(np.ones(35), form="index")).count("Mod") <= 1
