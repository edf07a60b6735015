"""Custom functions where derivatives are read: programs, formulas in every form, steps, pictures, exports."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.errors import UnsupportedOperation

X = np.array([0.3, 0.7])
LONG = np.linspace(0.1, 1, 40)


@sg.custom(
    vjp=lambda p, ct: (ct * p[1] * np.cos(p[0] * p[1]), np.sum(ct * p[0] * np.cos(p[0] * p[1]))), shape=lambda x, k: x
)
def heat_flow(x, k):
    return np.sin(x * k)


def adjoint(p, ct):
    return ct * p[0] * 2


opaque = sg.custom(lambda x: x**2, vjp=sg.custom(adjoint), name="opaque", shape=lambda x: x)


def loss(x, k):
    return np.sum(heat_flow(x, k) ** 2)


class TestForms:
    def test_matrix(self):
        gradient = sg.grad(loss)
        assert str(gradient.closed_form(LONG, 2.0, form="matrix")) == "2k(heat_flow(x, k) ⊙ cos(kx))"
        assert str(gradient.closed_form("n", "", form="matrix")) == "2k(heat_flow(x, k) ⊙ cos(kx))"
        assert str(sg.grad(lambda x: np.sum(opaque(2 * x))).closed_form("n", form="matrix")) == "2 adjoint(2x, 𝟏)"

    def test_index(self):
        assert str(sg.grad(loss).closed_form(LONG, 2.0, form="index")) == "2*k*heat_flow(x, k)[i]*cos(k*x[i])"
        shown = sg.grad(lambda x: np.sum(opaque(x**2) * x)).closed_form(LONG, form="index")
        assert "2*adjoint(x[k]**2 for k < 40, x)[i]*x[i]" in str(shown)

    def test_entries(self):
        shown = sg.grad(loss).closed_form(X, 2.0, form="entries")
        assert str(shown[0]) == "2*k*heat_flow(x0, x1, k)[0]*cos(k*x0)"
        scalar = sg.custom(lambda a: a**2, jvp=lambda p, t: 2 * p[0] * t[0], name="area")
        assert str(sg.grad(lambda a: area_squared(scalar, a)).closed_form(2.0)) == "4*a*area(a)"

    def test_latex(self):
        gradient = sg.grad(loss)
        assert r"\operatorname{heat\_flow}\left(x, k\right)" in gradient.latex(LONG, 2.0)
        assert r"\operatorname{heat\_flow}\left(x, k\right)" in gradient.latex(X, 2.0)
        shown = sympy.latex(sg.grad(lambda x: np.sum(opaque(x**2))).closed_form(LONG, form="index"))
        assert r"\operatorname{adjoint}\left(\left[{x}_{j}^{2}\right]_{j < 40}, " in shown

    def test_each_example_of_a_map_by_its_index(self):
        mapped = sg.symbolic(sg.vmap(lambda x: opaque(x)))
        assert str(mapped.closed_form(np.ones((50, 2)), form="index")) == "opaque(x[i])[j]"
        assert str(mapped.closed_form(np.ones((1, 2)))[0, 1]) == "opaque(x0, x1)[1]"

    def test_a_name_that_symgrad_has_for_something_else(self):
        solve = sg.custom(lambda x: x * 2, jvp=lambda p, t: 2 * t[0], name="solve")
        maximum = sg.custom(lambda x: x * 3, jvp=sg.custom(lambda p, t: 3 * t[0], name="max"), name="maximum")
        assert sg.grad(lambda x: np.sum(solve(x) ** 2))(X).tolist() == (8 * X).tolist()
        np.testing.assert_allclose(sg.grad(lambda x: np.sum(maximum(x) ** 2))(X), 18 * X)
        assert "solve(x)" in str(sg.symbolic(solve).program(X))

    def test_formulas_agree_with_others(self):
        assert sg.grad(loss).equals(lambda x, k: 2 * np.sin(x * k) * np.cos(x * k) * k, X, 2.0)


def area_squared(area, a):
    return area(a) ** 2


def test_the_program_and_the_kernel_name_it():
    gradient = sg.grad(loss)
    assert "v0 = heat_flow(x, k)  # float64[2]" in str(gradient.program(X, 2.0))
    explained = str(gradient.kernel(X, 2.0).explain())
    assert "heat_flow" in explained
    assert "runs as it is" in explained
    assert "heat_flow" in gradient.program(X, 2.0).dot()


def test_steps():
    shown = str(sg.grad(loss).steps(LONG, 2.0))
    assert "v₁ = heat_flow(x, k)" in shown
    assert "a rule that was declared by hand" in shown
    assert "2k(heat_flow(x, k) ⊙ cos(kx))" in shown


def test_structure_is_kept_through_traced_rules():
    own = sg.custom(np.sin, vjp=lambda p, ct: ct * np.cos(p[0]))
    assert sg.jacobian(lambda x: own(x) * x).sparsity(LONG).nnz == 40
    assert "I" not in str(sg.jacobian(own).program(LONG))
    assert sg.hessian(lambda x: np.sum(own(x)), sparse=True)(LONG).nnz == 40


def test_sensitivity_and_contributions():
    J = sg.jacobian(lambda x: heat_flow(x, 2.0) * 2)
    assert "heat_flow" in str(J.contributions((0, 0), X))


def test_the_json_form_and_pickles_of_programs_refuse_it_by_name():
    import pickle

    value = sg.symbolic(opaque)
    with pytest.raises(UnsupportedOperation, match="opaque is a custom function"):
        value.export("json", X)
    with pytest.raises(UnsupportedOperation, match="custom function opaque"):
        pickle.dumps(value.program(X))
