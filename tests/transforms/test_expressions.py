"""Gradients of sympy expressions: against sympy's own derivatives in mpmath, finite differences, and round trips."""

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.codegen import cfunctions, numpy_nodes

import symgrad as sg
from symgrad.errors import ArgumentError, ArgumentTypeError, ShapeError, SymgradError, UnsupportedOperation

x, y, z = sympy.symbols("x y z")
k, n, m = sympy.symbols("k n m", integer=True)


def mp(expression, values):
    """The number, by mpmath."""
    with mpmath.workdps(30):
        return float(sympy.N(expression.subs(values), 20))


FUNCTIONS = [
    *(sympy.sin, sympy.cos, sympy.tan, sympy.cot, sympy.sec, sympy.csc, sympy.sinh, sympy.cosh, sympy.tanh, sympy.coth),
    *(sympy.sech, sympy.csch, sympy.asinh, sympy.atan, sympy.acot, sympy.exp, sympy.log, sympy.sqrt, sympy.Abs),
    *(sympy.erf, sympy.erfc, sympy.gamma, sympy.loggamma, sympy.digamma, sympy.sinc, sympy.cbrt, sympy.factorial),
    *(cfunctions.exp2, cfunctions.expm1, cfunctions.log1p, cfunctions.log2, cfunctions.log10, cfunctions.Cbrt),
]
INNER = [sympy.asin, sympy.acos, sympy.atanh]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("at", [0.7, 2.3])
def test_functions_against_sympy(function, at):
    expression = function(x) * y
    g = sg.from_sympy(expression, x)
    real = sympy.Symbol("x", real=True)
    wanted = mp(sympy.diff(function(real), real), {real: sympy.Float(at, 30)}) * 1.5
    assert g(at, 1.5) == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("function", [*INNER, sympy.asec, sympy.acsc, sympy.acosh, sympy.gamma], ids=str)
def test_functions_elsewhere(function):
    at = 0.4 if function in INNER else -1.7 if function is sympy.gamma else 1.8
    wanted = mp(sympy.diff(function(x), x), {x: sympy.Float(at, 30)})
    assert sg.from_sympy(function(x), x)(at) == pytest.approx(wanted, rel=1e-10)


CASES = [
    x**2 * sympy.sin(y),
    sympy.exp(-x) / (1 + sympy.exp(-x)) + y,
    x**y + y**-3 + x ** sympy.Rational(-3, 2) + 2**x,
    sympy.Piecewise((x**2, x > y), (sympy.sin(x) * y, True)),
    sympy.Max(x, y, 1) + sympy.Min(x, 2 * y),
    sympy.atan2(x, y) + cfunctions.hypot(x, y) + numpy_nodes.logaddexp(x, y),
    sympy.Mod(x, 2) * y + sympy.floor(x) + sympy.ceiling(y) + sympy.frac(x * y),
    sympy.log(x, 3) + sympy.pi * x - sympy.sqrt(2) * x * y / 7 + sympy.E**x + sympy.GoldenRatio,
    sympy.Heaviside(x - 1) * x + sympy.sign(y) * x,
    sympy.Sum(x**k / sympy.factorial(k), (k, 0, 6)) + sympy.Product(x + k, (k, 1, 3)) * y,
    sympy.ITE(x > 0, x > 1, y > 0).subs(x, 2) * 1 if False else x * sympy.Piecewise((1, (x > 0) & (y < 3)), (2, True)),
    sympy.Rational(1, 3) * x - 10**20 * y / 10**20 + sympy.Float("0.1") * x * y,
]


@pytest.mark.parametrize("expression", CASES, ids=str)
def test_gradients_against_differences(expression):
    g = sg.from_sympy(expression, [x, y])
    f = sg.from_sympy(expression, [x, y]).fn
    at, h = np.array([1.7, 0.6]), 1e-6
    found = g(*at)
    for i in range(2):
        step = h * np.eye(2)[i]
        wanted = (f(*(at + step)) - f(*(at - step))) / (2 * h)
        assert found[i] == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    assert f(*at) == pytest.approx(mp(expression.doit(), {x: sympy.Float(1.7, 30), y: sympy.Float(0.6, 30)}), rel=1e-12)


def expressions():
    leaves = st.sampled_from([x, y, z, sympy.Integer(2), sympy.Rational(1, 3), sympy.pi, sympy.Float(0.7)])
    unary = st.sampled_from(
        [sympy.sin, sympy.cos, sympy.tanh, lambda e: sympy.exp(-(e**2)), lambda e: sympy.sqrt(1 + e**2)]
        + [lambda e: sympy.log(2 + sympy.cos(e)), lambda e: e**2, lambda e: -e, sympy.atan, sympy.erf]
    )
    binary = st.sampled_from(
        [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (1 + b**2), sympy.Max]
        + [lambda a, b: sympy.Piecewise((a, a > b), (b, True))]
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.tuples(unary, inner).map(lambda p: p[0](p[1]))
            | st.tuples(binary, inner, inner).map(lambda p: p[0](p[1], p[2]))
        ),
        max_leaves=8,
    )


@given(expressions())
@settings(max_examples=60)
def test_random_expressions(expression):
    """Against central differences of mpmath's values in many digits, on both sides of which no case changes."""
    values = {x: sympy.Rational(37, 53), y: sympy.Rational(-13, 41), z: sympy.Rational(19, 11)}
    g = sg.from_sympy(expression + 0 * x, [x, y, z])
    found = g(*map(float, values.values()))
    h = sympy.Rational(1, 10**8)
    for d, s in zip(found, (x, y, z), strict=True):
        sides = [
            sympy.N(sympy.sympify(expression).subs({**values, s: values[s] + side * h}), 30) for side in (-1, 0, 1)
        ]
        left, right = (sides[1] - sides[0]) / h, (sides[2] - sides[1]) / h
        if abs(left - right) > 1e-5 * (1 + abs(left)):
            continue  # a kink
        assert float(d) == pytest.approx(float((left + right) / 2), rel=1e-6, abs=1e-8)


FORMS = [
    (lambda a, b: np.sum(np.sin(a) * b**2), (np.array([0.3, 0.8]), np.array([1.1, -0.4]))),
    (lambda a, b: np.sum(np.log(1 + np.exp(-a @ b))), (np.arange(4.0).reshape(2, 2) / 3, np.array([1.1, -0.4]))),
    (lambda a, b: np.where(a > b, a**3, np.hypot(a, b)), (0.3, 0.8)),
    (lambda a, b: np.maximum(a, b) * np.abs(a) + np.sign(b) * a, (0.3, 0.8)),
    (lambda a, b: np.linalg.det(a) * np.tanh(b), (np.array([[2.0, 0.3], [0.1, 1.0]]), 0.7)),
    (lambda a, b: np.expm1(a) + np.log1p(b) * np.cbrt(a) + np.arctan2(a, b), (0.3, 0.8)),
]


@pytest.mark.parametrize(("function", "args"), FORMS)
def test_closed_forms_come_back(function, args):
    """The gradient's closed form, differentiated once more, is the second derivative."""
    derived = sg.grad(function)
    entries = sympy.flatten([derived.closed_form(*args, form="entries")])
    total = sum(entries[1:], entries[0])
    symbols = sorted(total.free_symbols, key=lambda s: s.name)
    flat = dict(zip(_entry_names(args), [e for a in args for e in np.ravel(a)], strict=True))
    g = sg.from_sympy(total, symbols if len(symbols) > 1 else symbols[0])
    found = g(*[float(flat[s.name]) for s in symbols])
    wanted = sg.grad(lambda *xs: np.sum(sg.grad(function)(*xs)), (0, 1))(*args)
    everything = dict(zip(_entry_names(args), [e for w in wanted for e in np.ravel(w)], strict=True))
    for s, value in zip(symbols, found if len(symbols) > 1 else [found], strict=True):
        assert value == pytest.approx(everything[s.name], rel=1e-9, abs=1e-12)


def _entry_names(args):
    return [f"{a}{j}" if np.size(v) > 1 else a for a, v in zip("ab", args, strict=True) for j in range(np.size(v))]


def test_arguments_by_place_and_by_name():
    g = sg.from_sympy(x * y**2 * z, [y, "x"])
    assert g(2.0, 3.0, 5.0) == (60.0, 20.0)
    assert g(y=2.0, x=3.0, z=5.0) == (60.0, 20.0)
    assert g(2.0, z=5.0, x=3.0) == (60.0, 20.0)
    assert g.closed_form(z=1.0, y=2.0, x=3.0) == (
        2 * sympy.Symbol("x", real=True) * sympy.Symbol("y", real=True) * sympy.Symbol("z", real=True),
        sympy.Symbol("y", real=True) ** 2 * sympy.Symbol("z", real=True),
    )
    assert g.expr == x * y**2 * z
    for wrong, said in (({"q": 1.0}, "there is no q"), ({"x": 1.0}, "missing"), ({"y": 1.0}, "y is passed twice")):
        with pytest.raises(ArgumentTypeError, match=f"{said}.*the arguments are y, x, z"):
            g(2.0, **wrong)


def test_bare_and_tuples():
    assert isinstance(sg.from_sympy(x**2, x)(3.0), np.float64)
    assert len(sg.from_sympy(x * y, (x, y))(3.0, 2.0)) == 2
    assert sg.from_sympy(x**2, [x])(3.0) == (6.0,)


def test_numbers_of_many_digits():
    ratio = sympy.Rational(3 * 10**400, 2 * 10**400 + 1)
    assert sg.from_sympy(x**2 * ratio, x)(2.0) == 6.0
    assert sg.from_sympy(x**2 + sympy.Integer(10) ** 300, x)(2.0) == 4.0
    assert sg.from_sympy(x / sympy.Integer(10) ** 5000, x)(2.0) == 0.0
    for number in (sympy.Integer(10) ** 5000, sympy.Rational(-(10**5000), 7)):
        with pytest.raises(UnsupportedOperation, match="larger than any float"):
            sg.from_sympy(x * number, x)(2.0)


def test_it_broadcasts_is_exported_and_read():
    g = sg.from_sympy(x**2 * y, x)
    np.testing.assert_allclose(g(np.array([1.0, 2.0]), 3.0), [6.0, 12.0])
    assert "2 x y" in g.latex(1.0, 2.0)
    assert "def " in g.export("python", x=1.0, y=2.0)
    assert "x̄ = " in str(g.steps(x=1.0, y=2.0))
    assert g.equals(lambda x, y: 2 * x * y, 1.0, 2.0).symbolic
    assert sg.grad(g)(3.0, 5.0) == 10.0


def test_names_that_python_has_not():
    theta, keyword = sympy.Symbol("x_{1}"), sympy.Symbol("lambda")
    g = sg.from_sympy(theta**2 * keyword, [theta, keyword])
    assert g(3.0, 2.0) == (12.0, 9.0)
    assert g(x__1=3.0, lambda_=2.0) == (12.0, 9.0)


def test_matrices_give_jacobians():
    found = sg.from_sympy(sympy.Matrix([x * y, x + y]), [x, y])(2.0, 3.0)
    np.testing.assert_array_equal(found[0], [[3.0], [1.0]])
    np.testing.assert_array_equal(found[1], [[2.0], [1.0]])
    array = sg.from_sympy([x * y, 1, x], x)(2.0, 3.0)
    np.testing.assert_array_equal(array, [3.0, 0.0, 1.0])
    assert "Jacobian" in repr(sg.from_sympy(sympy.Matrix([x]), x))


A, B = sympy.MatrixSymbol("A", n, n), sympy.MatrixSymbol("B", n, m)
b, c = sympy.MatrixSymbol("b", n, 1), sympy.MatrixSymbol("c", n, 1)
RNG = np.random.default_rng(2)
VALUES = {A: RNG.normal(size=(3, 3)) + 3 * np.eye(3), B: RNG.normal(size=(3, 2)), x: 0.7}
VALUES |= {b: RNG.normal(size=(3, 1)), c: RNG.normal(size=(3, 1))}
MATRICES = {
    "trace": (sympy.Trace(A * A.T), A, lambda A: np.trace(A @ A.T)),
    "quadratic": (b.T * A * b, b, lambda b, A: (b.T @ A @ b)[0, 0]),
    "inverse": (b.T * A.inv() * c, A, lambda A, b, c: (b.T @ np.linalg.inv(A) @ c)[0, 0]),
    "determinant": (sympy.log(sympy.Determinant(A)) * x, A, lambda A, x: x * np.log(np.linalg.det(A))),
    "powers": (sympy.Trace(A**3 + A**-2), A, lambda A: np.trace(A @ A @ A + np.linalg.matrix_power(A, -2))),
    "identity": (
        sympy.Trace((A + 2 * sympy.Identity(n)) * A) / n,
        A,
        lambda A: np.trace((A + 2 * np.eye(3)) @ A) / 3,
    ),
    "elements": (A[0, 1] * A[1, 0] + x * A[2, 2], A, lambda A, x: A[0, 1] * A[1, 0] + x * A[2, 2]),
    "hadamard": (
        sympy.Trace(sympy.HadamardProduct(A, A.T) * A),
        A,
        lambda A: np.trace((A * A.T) @ A),
    ),
    "applied": (sympy.Trace(A.applyfunc(sympy.sin)), A, lambda A: np.trace(np.sin(A))),
    "product": (A * B, B, lambda B, A: A @ B),
    "sum": (x * B - A * B, B, lambda B, A, x: x * B - A @ B),
    "transpose": ((A * B).T, A, lambda A, B: (A @ B).T),
}


@pytest.mark.parametrize("case", MATRICES)
def test_matrix_expressions(case):
    expression, wrt, plain = MATRICES[case]
    g = sg.from_sympy(expression, wrt)
    values = [VALUES[s] for s in g.fn.arguments]
    result = g(*values)
    assert np.shape(result)[-2:] == VALUES[wrt].shape
    direction = RNG.normal(size=VALUES[wrt].shape)
    h = 1e-6
    differences = (plain(values[0] + h * direction, *values[1:]) - plain(values[0] - h * direction, *values[1:])) / (
        2 * h
    )
    np.testing.assert_allclose(np.tensordot(result, direction, 2), differences, rtol=1e-6, atol=1e-7)


def test_matrices_have_named_dims():
    g = sg.from_sympy(sympy.Trace(A * A.T) + sympy.Trace(b * b.T), [A, b])
    assert repr(g.closed_form(form="matrix")) == "(2A, 2b)"
    for size in (1, 2, 5):
        assert g(np.eye(size), np.ones((size, 1)))[0].shape == (size, size)
    with pytest.raises(ShapeError, match="gave n = 2"):
        g(np.eye(3), np.ones((2, 1)))
    with pytest.raises(ShapeError):
        g(np.eye(3), np.ones(3))


REFUSED = [
    (sympy.I * x, "I: symgrad computes with real numbers"),
    (sympy.Integral(x**2, x), r"Integral\(x\*\*2, x\): it is not evaluated. Call .doit\(\)"),
    (sympy.Derivative(sympy.sin(x), x), "it is not evaluated"),
    (sympy.Function("f")(x), "nothing says what f computes"),
    (x + sympy.hankel1(1, x), "hankel1 is not read"),
    (sympy.Sum(x, (k, 0, n)), "its limits are not numbers"),
    (sympy.Sum(x, (k, 0, 10**9)), "more than 200 terms"),
    (sympy.IndexedBase("a")[k] * x, "elements at indices are not read"),
    (x + sympy.sqrt(-2), "I: symgrad computes"),
    (sympy.KroneckerProduct(A, A), "KroneckerProduct is not read"),
    (A**x, "no small whole number"),
    (x > 2, "a condition has no derivative"),
]


@pytest.mark.parametrize(("expression", "said"), REFUSED, ids=lambda v: str(v)[:30])
def test_refusals_name_the_subexpression(expression, said):
    wrt = A if expression.has(sympy.MatrixSymbol) else x
    with pytest.raises(UnsupportedOperation, match=said):
        sg.from_sympy(expression, wrt)


def test_wrong_arguments():
    with pytest.raises(ArgumentError, match="no symbol 'q'; it has x, y"):
        sg.from_sympy(x * y, "q")
    with pytest.raises(ArgumentError, match="twice"):
        sg.from_sympy(x * y, [x, "x"])
    with pytest.raises(ArgumentError, match="two different symbols are called x"):
        sg.from_sympy(x * sympy.Symbol("x", positive=True), y)
    with pytest.raises(ArgumentError, match="wrt names no symbol"):
        sg.from_sympy(x, [])
    with pytest.raises(ArgumentTypeError, match="got a str"):
        sg.from_sympy("x**2", x)
    with pytest.raises(ArgumentTypeError, match="symbols or their names"):
        sg.from_sympy(x, 3)


def test_a_symbol_that_does_not_occur_has_gradient_zero():
    assert sg.from_sympy(x**2, y)(1.0, 2.0) == 0.0


def test_shared_subexpressions_are_computed_once():
    e = x
    for _ in range(200):
        parts = [f(e, evaluate=False) for f in (sympy.sin, sympy.cos)]
        e = sympy.Add(*parts, evaluate=False)  # 2**200 leaves, were it a tree
    g = sg.from_sympy(e, x)
    assert np.isfinite(g(0.3))
    assert len(g.program(0.3).bindings) < 2000


def test_deep_expressions():
    e = x
    for _ in range(600):
        e = sympy.sin(e) * y
    assert np.isfinite(sg.from_sympy(e, x)(0.5, 1.1))


def test_latex():
    g = sg.from_latex(r"\frac{1}{2} k x^2 + e^{-x}", "x")
    assert g(0.5, k=3.0) == pytest.approx(1.5 - np.exp(-0.5))
    assert repr(g) == "<the gradient of k*x**2/2 + exp(-x) by x>"
    assert g.expr == sympy.Symbol("k") * x**2 / 2 + sympy.exp(-x)
    assert sg.from_latex(r"e x", ["e", "x"])(2.0, 3.0) == (3.0, 2.0)
    both = sg.from_latex(r"\begin{pmatrix} x y \\ x \end{pmatrix}", ["x", "y"])(2.0, 3.0)
    np.testing.assert_array_equal(both[0], [[3.0], [1.0]])
    with pytest.raises(ArgumentError, match="at character 8"):
        sg.from_latex(r"\sin x y", "x")


def test_names_of_variables_may_be_latex():
    assert sg.from_latex(r"\theta^2 x", r"\theta")(3.0, x=2.0) == 12.0
    assert sg.from_latex(r"\theta^2 x", [r"\theta", "x"])(3.0, 2.0) == (12.0, 9.0)
    with pytest.raises(ArgumentError, match="from_latex: the expression has no symbol 'phi'; it has theta"):
        sg.from_latex(r"\theta", r"\phi")
    with pytest.raises(ArgumentError, match="from_sympy: the expression has no symbol 'phi'"):
        sg.from_sympy(sympy.Symbol("x"), "phi")


def test_rationals_are_read_back():
    x = sympy.Symbol("x", real=True)
    found = sg.from_latex(r"\sqrt[3]{x}", "x").closed_form(2.0)
    assert found == 1 / (3 * x ** sympy.Rational(2, 3))
    assert sg.symbolic(lambda x: x * 0.1).closed_form(2.0) == 0.1 * x


def test_texts_are_no_expressions_alone_or_in_a_list():
    for text in ("x**2", ["x**2"], [["x", "y"]], np.array(["x"]), np.array(5)):
        with pytest.raises(SymgradError, match="from_sympy"):
            sg.from_sympy(text, "x")


def test_contributions_take_the_symbols_by_name_too():
    made = sg.from_sympy(sympy.Matrix([x * y, x + y]), [x, y])
    assert made.contributions((0, 0), y=3.0, x=2.0).value == made.contributions((0, 0), 2.0, 3.0).value == 3.0


def test_a_derivative_of_numbers_is_shown_before_it_is_called():
    x, y = sympy.symbols("x y")
    shown = sg.from_sympy(x**2 * sympy.sin(y), [x, y])._repr_mimebundle_()
    assert shown["text/plain"].splitlines()[1:] == ["∂f/∂x = 2*x*sin(y)", "∂f/∂y = x**2*cos(y)"]
    assert r"2 x \sin" in shown["text/latex"]
    A = sympy.MatrixSymbol("A", 2, 2)
    assert list(sg.from_sympy(sympy.Trace(A * A), A)._repr_mimebundle_()) == ["text/plain"]
