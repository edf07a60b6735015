"""LaTeX is read as it is meant or refused at its place: nothing is guessed, dropped or run."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.core.function import AppliedUndef

from symgrad.closed_form.numbers import value
from symgrad.closed_form.reading.latex_reader import read_latex, read_name
from symgrad.closed_form.typeset import typeset
from symgrad.errors import ArgumentError, SymgradError
from symgrad.primitives import special as _special  # noqa: F401  # its functions are tried too
from symgrad.primitives.elementwise import ELEMENTWISE

a, b, c, k, m, n, r, t, v, x, y, z = sympy.symbols("a b c k m n r t v x y z")

READ = {
    r"x^2": x**2,
    r"-x^2": -(x**2),
    r"\frac{1}{2} k x^2": k * x**2 / 2,
    r"\frac12 m v^2": m * v**2 / 2,
    r"\sin x + \cos y": sympy.sin(x) + sympy.cos(y),
    r"\sin x^2": sympy.sin(x**2),
    r"\sin x \cos y": sympy.sin(x) * sympy.cos(y),
    r"\sin x \cdot y": sympy.sin(x) * y,
    r"\sin(x)y": sympy.sin(x) * y,
    r"\sin^2 x": sympy.sin(x) ** 2,
    r"e^{-x^2/2}": sympy.exp(-(x**2) / 2),
    r"\mathrm{e}^x": sympy.exp(x),
    r"\sqrt{x^2+y^2}": sympy.sqrt(x**2 + y**2),
    r"\sqrt[3]{x}": x ** sympy.Rational(1, 3),
    r"\log x + \ln y": sympy.log(x) + sympy.log(y),
    r"\log_{10}(x)": sympy.log(x) / sympy.log(10),
    r"\left|x\right| + |y|": sympy.Abs(x) + sympy.Abs(y),
    r"\max(x, y, 0)": sympy.Max(x, y, 0),
    r"\left( x + 1 \right)^{2}": (x + 1) ** 2,
    r"2(x+1)(x-1)": 2 * (x + 1) * (x - 1),
    r"a \cdot b / c": a * b / c,
    r"x/y": x / y,
    r"\operatorname{erf}\left(x\right)": sympy.erf(x),
    r"\Gamma(x) + \Gamma": sympy.gamma(x) + sympy.Symbol("Gamma"),
    r"n!": sympy.factorial(n),
    r"\lfloor x \rfloor": sympy.floor(x),
    r"\pi r^2": sympy.pi * r**2,
    r"$x y$": x * y,
    r"\[ x \]": x,
    r"\mathit{loss} + \mathrm{rate}": sympy.Symbol("loss") + sympy.Symbol("rate"),
    r"x_{max} + x_1 + \theta_i": sympy.Symbol("x_max") + sympy.Symbol("x_1") + sympy.Symbol("theta_i"),
    r"\phi - \varphi": sympy.Symbol("phi") - sympy.Symbol("varphi"),
    r"x^{y^z}": x ** (y**z),
    r"0.1x": x / 10,
    r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}": sympy.Piecewise((x, x > 0), (0, True)),
    r"\begin{cases} x & \text{for}\: 0 < x \leq 1 \\2 & \text{otherwise} \end{cases}": sympy.Piecewise(
        (x, (x > 0) & (x <= 1)), (2, True)
    ),
    r"\begin{pmatrix} x & y \\ 1 & x y \end{pmatrix}": sympy.Matrix([[x, y], [1, x * y]]),
}


@pytest.mark.parametrize("text", READ)
def test_it_reads(text):
    assert sympy.simplify(read_latex(text) - READ[text]) == 0 * READ[text]


REFUSED = {
    r"\sin x y": "does this belong to the function before it",
    r"\sin 2x": "does this belong to the function before it",
    r"\sin x / y": "two readings",
    r"\sin(x)^2": "a power of the function or of its argument",
    r"\sin^{-1} x": "the inverse function, or one over it",
    r"1/2x": "two readings",
    r"a/b/c": "two readings",
    r"a/b*c": "two readings",
    r"f(x)": "a function or a factor",
    r"x(y+1)": "a function or a factor",
    r"\theta\left(x\right)": "a function or a factor",
    r"x^10": r"write \^\{10\}",
    r"x_10": r"write _\{10\}",
    r"\frac{x}12": "the first digit alone",
    r"x^y^z": "two exponents",
    r"sin x": r"write \\sin",
    r"xexpy": r"write \\exp",
    r"x' + 1": "a prime",
    r"\hat{x}": "an accent",
    r"\mathbf{x}": "a vector or a matrix",
    r"\int x dx": "an integral",
    r"\sum_{i=1}^n i": "a sum over an index",
    r"\frac{d}{dx} x^2": "a derivative is not read",
    r"\frac{\partial x}{\partial y}": "a derivative",
    r"\lg x": "unclear base",
    r"x = 3": "an equation or a comparison",
    r"x < 3": "an equation or a comparison",
    r"x +": "an operand is missing",
    r"": "an operand is missing",
    r"x)": r"'\)' has nothing to belong to",
    r"\left(x": r"'\\\\right' is missing",
    r"\{x": "is missing",
    r"x & y": "nothing to belong to",
    r"|x|y|z|": "nothing to belong to",
    r"\foo x": r"\\foo is not read",
    r"\input{/etc/passwd}": r"\\input is not read",
    r"\operatorname{foo}(x)": "nothing says what foo computes",
    r"\text{hi}": "words are not read",
    r"\mathrm{d}x": "an upright d",
    r"x # y": "'#' is not read",
    r"x % y": "'%' is not read",
    r"x \. y": "is not read",
    r"x \= y": "is not read",
    "__import__": "write what belongs to '_' in braces",
    r"2 3": "two numbers in a row",
    r"x + - y": "two signs",
    r"9^{9^{9^9}}": "a number of this size",
    r"10^{10^{10}}": "a number of this size",
    r"200!": "a number of this size",
    r"\exp(10000)": "a number of this size",
    "1" * 50: "more than 40 digits",
    "(" * 60 + "x" + ")" * 60: "nested deeper",
    "x" * 5000: "4000 are read at most",
    r"\begin{tabular} x \end{tabular}": "the environment tabular",
    r"\begin{pmatrix} x & y \\ 1 \end{pmatrix}": "not equally long",
    r"\begin{cases} x & \text{maybe} \end{cases}": "'maybe' is not read",
    r"\begin{pmatrix} x \end{pmatrix}^2": "powers of matrices",
    r"x^T A x": "the transpose, or a power",
    r"x^{T} y": "the transpose, or a power",
    r"A^{-T} x": "the transpose, or a power",
    r"(A B)^T": "the transpose, or a power",
    r"x_1^T": "the transpose, or a power",
    r"x^{\mathsf{T}}": "the transpose, or a power",
    r"x^{\mathrm T}": "the transpose, or a power",
    r"x^{\mathrm{T}}": "the transpose, or a power",
    r"x^\mathrm{T}": "the transpose, or a power",
    r"x^{\text{T}}": "the transpose, or a power",
    r"A^H": "the adjoint, or a power",
    r"x^\top y": "a transpose is not read",
    r"x^{\top} y": "a transpose is not read",
    r"x^\intercal": "a transpose is not read",
    r"A^\dagger": "an adjoint is not read",
    r"A^{\dagger}": "an adjoint is not read",
    r"x^*": "a conjugate or an adjoint",
    r"x^{*}": "a conjugate or an adjoint",
    r"A^+": "a conjugate or an adjoint",
    r"90^\circ": "a degree",
    r"e^{i x}": "is i the imaginary unit",
    r"e^{-\left(x + i y\right)}": "is i the imaginary unit",
    r"\exp(i x)": "is i the imaginary unit",
    r"\exp i": "is i the imaginary unit",
    r"e^i": "is i the imaginary unit",
    r"\|x\|^2": r"norms are not read; write \\sqrt",
    r"\left\|x\right\|": "norms are not read",
    r"\lVert x \rVert": "norms are not read",
    r"\norm{x}": "norms are not read",
    r"x^": "in braces",
    r"x^{": "'}' is missing",
    r"x^{-": "'}' is missing",
}


@pytest.mark.parametrize("text", REFUSED)
def test_it_refuses(text):
    with pytest.raises(ArgumentError, match=REFUSED[text]):
        read_latex(text)


def test_the_place_is_shown():
    with pytest.raises(ArgumentError) as error:
        read_latex(r"x^2 + \sin x y")
    lines = str(error.value).splitlines()
    assert lines[1].strip() == r"x^2 + \sin x y"
    assert lines[1][lines[2].index("^")] == "y"
    assert "at character 14" in lines[0]


def test_e_is_a_variable_where_it_is_named_so():
    assert read_latex("e x") == sympy.E * x
    assert read_latex("e x", frozenset("e")) == sympy.Symbol("e") * x


def test_a_variable_that_is_named_so_is_a_factor():
    with pytest.raises(ArgumentError, match="a function or a factor"):
        read_latex(r"x \left(y + 1\right)")
    assert read_latex(r"x \left(y + 1\right)", frozenset("x")) == x * (y + 1)


def test_not_text():
    with pytest.raises(ArgumentError, match="must be text"):
        read_latex(3)  # type: ignore[arg-type]


PIECES = [*"xyz+-*/^_(){}[]|!=&0123456789'<>,. ", r"\frac", r"\sin", r"\left", r"\right", r"\sqrt", r"\begin{cases}"]
PIECES += [
    r"\end{cases}",
    r"\text{if }",
    r"\\",
    r"\theta",
    r"\pi",
    r"\max",
    r"\log",
    r"\Gamma",
    r"\mathrm",
    r"\unknown",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
@settings(max_examples=300)
def test_noise_is_read_or_refused(pieces):
    try:
        made = read_latex(" ".join(pieces))
    except SymgradError:
        pass
    else:
        assert isinstance(made, (sympy.Basic, sympy.matrices.MatrixBase))


SYMBOLS = sympy.symbols("x y theta x_1", real=True)


def expressions():
    leaves = st.sampled_from([*SYMBOLS, *map(sympy.Integer, (1, 2, 3)), sympy.Rational(1, 2), sympy.pi])
    unary = st.sampled_from([sympy.sin, sympy.cos, sympy.exp, sympy.tanh, sympy.Abs, lambda e: e**2, sympy.sqrt])

    def extend(inner):
        return (
            st.tuples(unary, inner).map(lambda p: p[0](p[1]))
            | st.tuples(inner, inner).map(lambda p: p[0] + p[1])
            | st.tuples(inner, inner).map(lambda p: p[0] * p[1])
            | st.tuples(inner, inner).map(lambda p: p[0] / (p[1] ** 2 + 1))
        )

    return st.recursive(leaves, extend, max_leaves=6)


@given(expressions())
@settings(max_examples=60)
def test_what_sympy_prints_is_read_back(expression):
    """sympy's own LaTeX comes back as the same number."""
    found = read_latex(sympy.latex(expression), frozenset(s.name for s in SYMBOLS))
    values = {"x": 0.7, "y": -1.3, "theta": 0.4, "x_1": 2.1}
    numbers = [complex(e.subs({s: values[s.name] for s in e.free_symbols}).evalf()) for e in (found, expression)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-12)


FORMULAS = {
    name: t.expr
    for name, t in ELEMENTWISE.items()
    if isinstance(t.expr, sympy.Expr)
    and not t.expr.has(AppliedUndef, sympy.conjugate, sympy.re, sympy.im, sympy.Mod, sympy.zeta, sympy.polygamma)
}


@pytest.mark.parametrize("name", FORMULAS)
def test_what_is_printed_of_operations_is_read_back(name):
    found = read_latex(typeset(FORMULAS[name]), frozenset("abc"))
    numbers = [float(value(e, {"a": 1.7, "b": 0.4, "c": 2.1})) for e in (found, FORMULAS[name])]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("text", ["x_{,a}", "x_{a,}", "x_{1a}", "x_{1.5}", "x_{}", r"x_{\theta a}", "x_{a+b}"])
def test_what_is_no_index(text):
    with pytest.raises(ArgumentError, match="an index is letters"):
        read_latex(text)


T, i = sympy.symbols("T i")
POWERS = {
    r"2^T": 2**T,
    r"a^{T/2}": a ** (T / 2),
    r"a^{2T}": a ** (2 * T),
    r"x^{T+1}": x ** (T + 1),
    r"x^{\mathit{T}}": x**T,
    r"(1+r)^T": (1 + r) ** T,
    r"(1+r)^{-T}": (1 + r) ** -T,
    r"e^{-T}": sympy.exp(-T),
    r"T^2": T**2,
    r"i x + e^{x_i} i": i * x + sympy.exp(sympy.Symbol("x_i")) * i,
    r"x^i": x**i,
}


@pytest.mark.parametrize("text", POWERS)
def test_what_can_be_no_mark_is_a_power(text):
    assert sympy.simplify(read_latex(text) - POWERS[text]) == 0


def test_a_name_that_is_given_settles_what_a_letter_is():
    assert read_latex("x^T", frozenset("T")) == x**T
    assert read_latex("x^{-T}", frozenset("T")) == x**-T
    assert read_latex("e^{i x}", frozenset("i")) == sympy.exp(i * x)


def test_names_as_they_are_written():
    assert [read_name(t) for t in (r"\theta", "theta", "x_{max}", r"$\theta_1$", "loss", r"\mathit{loss}", "e")] == [
        *("theta", "theta", "x_max", "theta_1", "loss", "loss", "e")
    ]
    with pytest.raises(ArgumentError, match="not the name of a variable"):
        read_name(r"\theta x")
