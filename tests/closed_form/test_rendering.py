"""The LaTeX of every registered operation is set: by pdflatex, and by KaTeX without a warning."""

from __future__ import annotations

import re

import pytest
import sympy
import typesetting
from operation_formulas import rendered
from sympy.codegen import cfunctions

from symgrad.closed_form.breaking import broken, width
from symgrad.closed_form.latex import aligned
from symgrad.closed_form.letters import name_latex
from symgrad.closed_form.symbols import safe_names
from symgrad.closed_form.typeset import typeset
from symgrad.kernels import numpy_backend
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.identity import IDENTITIES


def test_every_operation_has_its_formula():
    made, seen = rendered()
    named = {name.split(" of ")[1] for name, _ in made if " of " in name}
    assert {name for name in ELEMENTWISE if name != "zeta"} <= named
    assert ("zeta", "auto") in made
    only_derived = set(IDENTITIES)  # which passes take out
    only_run = {"cofactor", "overlap_add", "windowed_product", "overlapped_product"}  # and put in
    of_loops = {"part", "row"}  # which are written out
    of_scipy = {"expm", "logm", "sqrtm", "sylvester", "lu", "lu_order"}
    assert set(numpy_backend.Writer.statements) - seen == only_derived | only_run | of_loops | of_scipy


@pytest.mark.needs("pdflatex")
def test_pdflatex_sets_all_of_them(tmp_path):
    """In a display of its own, below a comment that names it."""
    made, _ = rendered()
    lines = [r"\documentclass{article}", r"\usepackage{amsmath,amssymb}", r"\begin{document}"]
    for (name, form), rows in made.items():
        if rows:
            lines += [f"% {name}, {form}".replace("\n", " ")]
            lines += [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]
    typesetting.pdflatex("\n".join([*lines, r"\end{document}"]), tmp_path)


@pytest.mark.needs("npm", "node")
def test_katex_sets_all_of_them():
    made, _ = rendered()
    formulas = {aligned(rows): key for key, rows in made.items()}
    wrong = typesetting.katex(list(formulas))
    assert not wrong, f"{len(wrong)} formulas, first of {formulas[wrong[0][0]]}: {wrong[0][1]}"


def test_operations_are_mathematics():
    """No operation is called by the name that NumPy has for it, but for those that mathematics calls so too."""
    made, _ = rendered()
    called = {w for rows in made.values() for row in rows for w in re.findall(r"\\operatorname\{([^}]*)\}", row)}
    assert called <= CALLED, called - CALLED


#: what stands upright in formulas
CALLED = {
    *(
        "Re",
        "Im",
        "mean",
        "onehot",
        "erf",
        "erfc",
        "erfcx",
        "logit",
        "sign",
        "trunc",
        "round",
        "copysign",
        "atan2",
        "arsinh",
        "arcosh",
        "artanh",
    ),
    *(
        "argmax",
        "argmin",
        "argsort",
        "det",
        "chol",
        "pinv",
        "diag",
        "diagonal",
        "sum",
        "tr",
        "vec",
        "prod",
        "logsumexp",
        "softmax",
    ),
}


@pytest.mark.parametrize(
    ("expression", "latex"),
    [
        ("expm1(x)", "e^{x} - 1"),
        ("2*expm1(x)", r"2 \left(e^{x} - 1\right)"),
        ("log1p(x)**2", r"{\log{\left(x + 1 \right)}}^{2}"),
        ("Piecewise((1, x > 0), (0, True))*y", r"y \left[x > 0\right]"),
        ("Piecewise((2*Piecewise((1/2, Eq(x, y)), (1, True)), x >= y), (0, True))", None),
        ("Function('isnan')(x)", r"\left[x \text{ is not a number}\right]"),
        ("Ne(Function('isnan')(x), 0)", r"x \text{ is not a number}"),
        ("IndexedBase('v_3')[0]**2", r"v_{3}[0]^{2}"),
        ("polygamma(1, x)", r"\psi^{\left(1\right)}{\left(x \right)}"),
    ],
)
def test_spellings(expression, latex):
    scope = {**vars(sympy), **vars(cfunctions), "x": sympy.Symbol("x"), "y": sympy.Symbol("y")}
    made = typeset(eval(expression, scope))
    if latex is None:  # cases within cases are cases beside one another
        latex = r"\begin{cases} 1.0 & \text{for}\: x = y \\2 & \text{for}\: x \geq y \\0 & \text{otherwise} \end{cases}"
    assert made == latex


NAMES = [
    "λ",
    "Δ",
    "é",
    "naïve",
    "中文",
    "x1",
    "x_1",
    "fc.weight",
    "fc_weight",
    "Alpha",
    "x²",
    "_",
    "a__b",
    "lambda_",
    "q_10",
]


@pytest.mark.needs("pdflatex", "npm", "node")
def test_names_are_told_apart_and_set(tmp_path):
    names = safe_names(NAMES)
    made = [name_latex(n) for n in names]
    assert len(set(made)) == len(NAMES)
    assert all(m.isascii() for m in made)
    raised = [f"{m}^{{2}} + {m}^\\top" for m in made]
    assert typesetting.katex(raised) == []
    document = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\begin{document}"]
    typesetting.pdflatex("\n".join([*document, *[f"\\[{r}\\]" for r in raised], r"\end{document}"]), tmp_path)


@pytest.mark.parametrize("line", [60.0, 120.0, 400.0])
@pytest.mark.needs("npm", "node")
def test_rows_are_broken_at_signs_and_nowhere_else(line):
    inner = " + ".join(f"x_{{{k}}} \\sin{{\\left(y_{{{k}}} + 1 \\right)}}" for k in range(12))
    row = rf"\frac{{\partial f}}{{\partial x}} &= 3 \left({inner}\right) - \frac{{a + b + c}}{{d}}"
    made = broken([row], line)
    assert typesetting.katex([aligned(made)]) == []
    whole = "".join(re.sub(r"^&\\quad |\\left\. | \\right\.|\{\}(?=[+-])", "", m) for m in made)
    assert re.sub(r"\s", "", whole) == re.sub(r"\s", "", row)
    if line == 400.0:
        assert len(made) <= 4
        assert all(width(m.partition("&= ")[2] or m.removeprefix(r"&\quad ")) <= line for m in made)


def test_rows_are_broken_outside_of_brackets_where_that_leaves_no_short_row():
    inside = r"\left(a + b + c + d + e\right)"
    assert broken([rf"f &= {inside} - {inside} x + y"], 190.0) == [rf"f &= {inside}", rf"&\quad {{}}- {inside} x + y"]
    first, *_ = broken([r"f &= a x + \left(b + c + d + e + g + h\right)"], 100.0)
    assert first == r"f &= a x + \left(b + c + d  \right."
    named = broken([r"f &= x + y + z + G,\quad G = a + b + c"], 120.0)
    assert named == ["f &= x + y + z + G,", r"&\quad {}\quad G = a + b + c"]


def test_rows_of_several_equations_are_broken_between_them_first():
    """A definition that goes on in the next row reads as another one."""
    named = broken([r"f &= x + y + z + u,\quad G = a \odot \left(b + c\right)"], 150.0)
    assert named == ["f &= x + y + z + u,", r"&\quad {}\quad G = a \odot \left(b + c\right)"]


def test_a_number_is_in_one_row():
    assert broken([r"f &= a + 1.5 \cdot 10^{-5} + e"], 60.0)[1] == r"&\quad {}+ 1.5 \cdot 10^{-5}"
