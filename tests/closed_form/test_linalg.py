"""Closed forms of linear algebra, evaluated: entries written out by minors, one element with inverses as symbols."""

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.closed_form.linalg import OfMatrix
from symgrad.errors import ClosedFormTooLarge

RNG = np.random.default_rng(3)
FACTOR = RNG.normal(size=(3, 3))
DEFINITE = FACTOR @ FACTOR.T + np.eye(3)
GENERAL = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
STACK = np.stack([GENERAL, -DEFINITE])
RIGHT = RNG.normal(size=3)
COMPUTE = {"inv": np.linalg.inv, "det": np.linalg.det, "chol": np.linalg.cholesky}

FUNCTIONS = [
    (np.linalg.inv, (GENERAL,)),
    (np.linalg.det, (GENERAL,)),
    (np.linalg.inv, (STACK,)),
    (np.linalg.det, (STACK,)),
    (lambda X: np.linalg.slogdet(X).logabsdet, (-GENERAL,)),
    (lambda X: np.linalg.slogdet(X).sign, (-GENERAL,)),
    (np.linalg.cholesky, (DEFINITE,)),
    (lambda X: np.linalg.cholesky(X, upper=True), (DEFINITE,)),
    (np.linalg.solve, (GENERAL, RIGHT)),
    (np.linalg.solve, (GENERAL, FACTOR)),
    (lambda X, b: np.linalg.solve(X.T, b), (GENERAL, RIGHT)),
    (lambda X: np.linalg.inv(X @ X + np.eye(3)), (DEFINITE,)),
    (sg.grad(np.linalg.det), (GENERAL,)),
    (sg.grad(lambda X: np.linalg.slogdet(X).logabsdet), (GENERAL,)),
    (sg.grad(lambda X, b: b @ np.linalg.solve(X, b)), (GENERAL, RIGHT)),
    (sg.grad(lambda X: np.sum(np.linalg.cholesky(X))), (DEFINITE[:2, :2],)),
    (sg.jacobian(np.linalg.inv), (GENERAL[:2, :2],)),
]


def named_entries(names, arrays):
    """What the entries of the inputs are called, and hold."""
    return {
        sympy.Symbol(f"{name}{k}", real=True): float(v)
        for name, x in zip(names, arrays, strict=True)
        for k, v in enumerate(x.flat)
    }


def evaluated(element, arrays):
    """An element in index form as a number; functions of matrices by NumPy on the matrix of all elements."""

    def of_matrix(name, body, row, column, size, *place):
        n = int(size)
        matrix = [[evaluated(body.subs({row: i, column: j}), arrays) for j in range(n)] for i in range(n)]
        value = COMPUTE[str(name)](np.array(matrix))
        return sympy.Float(float(value[tuple(map(int, place))] if place else value))

    def looked_up(base, *index):
        return sympy.Float(float(arrays[str(base)][tuple(map(int, index))]))

    written = element.doit()
    for part in sympy.postorder_traversal(written):
        if isinstance(part, sympy.Sum):
            raise AssertionError("a sum is left")
    outer = [p for p in written.atoms(OfMatrix) if not any(p is not q and q.has(p) for q in written.atoms(OfMatrix))]
    written = written.xreplace({p: of_matrix(*p.args) for p in outer})
    return float(written.xreplace({p: looked_up(*p.args) for p in written.atoms(sympy.Indexed)}))


@pytest.mark.parametrize("k", range(len(FUNCTIONS)))
def test_entries_are_what_the_function_computes(k):
    function, arrays = FUNCTIONS[k]
    made = function if hasattr(function, "closed_form") else sg.symbolic(function)
    program = made.program(*arrays)
    formulas = np.asarray(made.closed_form(*arrays, form="entries", budget=10**6), dtype=object)
    values = named_entries(program.names, arrays)
    got = np.array([float(sympy.sympify(e).subs(values)) for e in formulas.ravel()])
    np.testing.assert_allclose(got, np.ravel(made(*arrays)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("k", range(len(FUNCTIONS)))
def test_the_index_form_is_what_the_function_computes(k):
    function, arrays = FUNCTIONS[k]
    made = function if hasattr(function, "closed_form") else sg.symbolic(function)
    program = made.program(*arrays)
    constants = [n for n in program.nodes if n.primitive.name == "constant"]
    held = dict(zip(program.names, arrays, strict=True))
    held |= {f"c_{i}": n.params[0].value for i, n in enumerate(constants)}
    want = np.asarray(made(*arrays))
    element = made.closed_form(*arrays, form="index")
    free = [sympy.Symbol(c, integer=True, nonnegative=True) for c in "ijklmnpq"][: want.ndim]
    assert element.free_symbols & set(free) == set(free)
    for index in np.ndindex(want.shape):
        got = evaluated(element.subs(dict(zip(free, index, strict=True))), held)
        assert got == pytest.approx(want[index], rel=1e-9, abs=1e-9)


def test_forms_read_as_they_are_written():
    def logdet(X):
        return np.linalg.slogdet(X).logabsdet

    def index(fn, *args):
        return str(fn.closed_form(*args, form="index"))

    large = np.eye(5) * 3
    assert index(sg.symbolic(logdet), large) == "log(Abs(det(X)))"
    assert index(sg.grad(logdet), large) == "inv(X)[j, i]"
    assert index(sg.symbolic(lambda X: np.linalg.inv(np.linalg.cholesky(X))), large) == "inv(chol(X))[i, j]"
    assert index(sg.symbolic(lambda X: np.linalg.det(X * X)), large) == "det(X[i, j]**2 for i, j < 5)"
    assert str(sg.grad(logdet).closed_form(np.eye(2) * 3)[0, 0]) == "X3/(X0*X3 - X1*X2)"


def test_latex_of_functions_of_matrices():
    def latex(fn, *args):
        return sympy.latex(sg.symbolic(fn).closed_form(*args, form="index"))

    assert latex(np.linalg.inv, STACK) == r"\left({{a}_{i}}^{-1}\right)_{j,k}"
    assert latex(lambda X: np.linalg.det(X) ** 2, GENERAL) == r"{\operatorname{det}\left(X\right)}^{2}"
    assert latex(lambda X: np.linalg.det(2 * X), GENERAL) == (
        r"\operatorname{det}\left(\left[2 {X}_{i,j}\right]_{i,j < 3}\right)"
    )


def test_large_matrices_are_not_written_out():
    with pytest.raises(ClosedFormTooLarge, match="budget"):
        sg.symbolic(np.linalg.inv).closed_form(np.eye(6), form="entries")


@pytest.mark.parametrize("solve", ["solve_discrete_lyapunov", "solve_continuous_lyapunov"])
def test_equations_of_sylvester_are_called_by_their_name(solve):
    linalg = pytest.importorskip("scipy.linalg")
    derived = sg.grad(lambda A, Q: np.sum(getattr(linalg, solve)(A, Q)), (0, 1))
    args = np.array([[0.1, 0.2], [0.3, 0.1]]), np.eye(2)
    assert "sylvester" in derived.latex(*args)
    assert "sylvester" in str(derived.steps(*args))
    assert len(derived.closed_form(*args)) == 2
