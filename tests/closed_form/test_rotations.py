"""What np.roll turns is read as one array at places counted around."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.closed_form.rotations import rotations
from symgrad.primitives.primitive import input_node
from symgrad.primitives.selection import full, take_slice
from symgrad.program.node import Graph


def text(function, *args):
    return sg.symbolic(function).formulas(*args).text_rows(["f"])[0]


@pytest.mark.parametrize(("shift", "place"), [(1, "(i - 1) % n"), (-1, "(i + 1) % n"), (2, "(i - 2) % n")])
def test_a_turned_array_is_one_array(shift, place):
    assert text(lambda u: np.exp(np.roll(u, shift)) + u, "n") == f"f[i] = exp(u[{place}]) + u[i]"


def test_turns_of_one_axis_of_several():
    assert text(lambda u: np.sin(np.roll(u, 3, axis=1)), "m n") == "f[i, j] = sin(u[i, (j - 3) % n])"


def test_turns_of_turns_are_added_up():
    assert text(lambda u: np.sin(np.roll(np.roll(u, 1), 2)), "n") == "f[i] = sin(u[(i - 3) % n])"
    assert text(lambda u: np.sin(np.roll(np.roll(u, 1), -1)), "n") == "f[i] = sin(u[i])"


def test_the_transpose_of_a_turn_is_the_turn_back():
    gradient = sg.grad(lambda u: np.sum(np.roll(u, 1) * u))
    assert gradient.formulas("n").text_rows(["g"]) == ["g[i] = u[(i + 1) % n] + u[(i - 1) % n]"]
    assert r"{u}_{\left(i - 1\right) \bmod 12}" in gradient.latex(np.ones(12))


@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 3, 4)])
@pytest.mark.parametrize("shift", [1, -2, 7])
def test_the_formula_is_what_is_computed(shape, shift):
    x = np.random.default_rng(0).normal(size=shape)
    gradient = sg.grad(lambda u: np.sum(np.sin(np.roll(u, shift, axis=0)) * u))
    agreement = gradient.agreement(x)
    assert agreement.index is not None
    assert agreement.worst < 1e-12


def test_pieces_that_do_not_fill_an_axis_stay_pieces():
    with Graph():
        x = input_node("x", (5,), np.dtype(float))
        pieces = [(take_slice(x, ((4, 1, 1),)), ((0, 1, 1),)), (take_slice(x, ((0, 4, 1),)), ((1, 4, 1),))]
        turns, others = rotations(pieces, (5,))
        assert [(t.source, t.axis, t.shift) for t in turns] == [(x, 0, -1)]
        assert others == []
        for fewer in (pieces[:1], pieces[1:], [(pieces[0][0], ((1, 1, 1),)), pieces[1]], [(x, full((5,)))]):
            assert rotations(fewer, (5,)) == ([], fewer)


def test_empty_arrays_are_not_turned():
    assert sg.symbolic(lambda u: np.roll(u, 1)).formulas(np.ones(0)).text_rows(["f"])
