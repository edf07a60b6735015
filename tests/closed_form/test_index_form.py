"""One element of an output, at any index, is what the kernel computes there."""

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.closed_form.index_form import IndexForm, constant_names

X = np.random.default_rng(5).standard_normal(9)


def three(x):
    return np.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2)


def written(x):
    y = np.zeros(9) * x[0]
    y[:4] += x[:4]
    y[2:7] += 2 * x[4:]
    y[8] += x[0] * x[1]
    return np.sum(y**3)


def strided(x):
    return np.sum(x[::2] ** 2) + np.sum(np.sin(x[1:]) * x[:-1])


def one(x):
    return x[3] ** 2 + x[3] * x[7]


def backwards(x):
    return np.sum(x[::-1][:4] * x[1:5]) + np.sum(x[6:] ** 3)


@pytest.mark.parametrize("function", [three, written, strided, one, backwards])
def test_pieces_are_told_by_place(function):
    derivative = sg.grad(function)
    want = derivative(X)
    program = derivative.program(X)
    (output,) = program.outputs
    values = {
        f"{name}[{k}]": v for name, own in {"x": X, **constant_names(program)}.items() for k, v in enumerate(own * 1)
    }

    def computed(element):
        found = {e: values[str(e)] for e in element.atoms(sympy.Indexed)}
        return float(element.xreplace(found))

    (i,), anywhere = IndexForm(program).output(output)
    for k in range(9):
        at = IndexForm(program).element(output, (k,))
        np.testing.assert_allclose(computed(at), want[k], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(computed(sympy.sympify(anywhere).subs(i, k)), want[k], rtol=1e-12, atol=1e-14)


def test_places_are_ranges_from_the_start_and_the_end_is_the_rest():
    _, element = IndexForm(program := sg.grad(three).program(X)).output(program.outputs[0])
    assert [str(test) for _, test in element.args] == ["i < 1", "i < 2", "i < 7", "i < 8", "True"]


def test_conditions_that_always_hold_are_not_told():
    g = sg.grad(lambda v: np.sum(np.cumsum(np.exp(v)[::-1])[::-1] ** 2))
    assert str(g.closed_form(np.ones(5), form="index")) == ("exp(v[i])*Sum(2*Sum(exp(v[k]), (k, j, 4)), (j, 0, i))")
