"""LaTeX: documents compile with Debian's texlive-latex-base alone and fit their pages; names cannot break out."""

from __future__ import annotations

import re

import array_programs
import exportables
import golden
import numpy as np
import pytest
import typesetting
from cases import CASES, GOLDEN
from exportables import unchecked

import symgrad as sg
from symgrad.errors import ArgumentError, ClosedFormTooLarge, UnsupportedOperation
from symgrad.exporters import header, latex

#: no form but the one that is taken by itself, with the reason
REFUSED = (ArgumentError, ClosedFormTooLarge, UnsupportedOperation)


def documents(form):
    """The documents of all cases that have this form."""
    made = {}
    for name, case in CASES.items():
        try:
            made[name] = case.export("latex", document=True, form=form)
        except REFUSED:
            assert form != "auto"
    return made


def body(document):
    """What a document sets."""
    return document.partition(r"\maketitle")[2].partition(r"\end{document}")[0]


def together(made):
    """One document of many."""
    first = next(iter(made.values()))
    parts = [rf"\section{{{latex.text(name)}}}{body(document)}\clearpage" for name, document in made.items()]
    return f"{first.partition(chr(92) + 'maketitle')[0]}{chr(10).join(parts)}\\end{{document}}\n"


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.needs("pdflatex")
def test_golden(name, tmp_path):
    made = CASES[name].export("latex", document=True)
    golden.check("latex", name, made, ".tex")
    typesetting.pdflatex(made, tmp_path)


@pytest.mark.needs("pdflatex")
def test_every_case_compiles_in_every_form_and_fits_the_page(tmp_path):
    every = {}
    for form, least in (("auto", len(CASES)), ("matrix", 8), ("index", 12), ("entries", 10)):
        made = documents(form)
        assert len(made) >= least
        every |= {f"{name}, {form}": made[name] for name in made}
    log = typesetting.pdflatex(together(every), tmp_path)
    assert typesetting.overfull(log) == []


@pytest.mark.needs("npm", "node")
def test_fragments_are_set_where_notebooks_set_them():
    made = [CASES[name].export("latex") for name in CASES]
    formulas = []
    for text in made:
        lines = [line for line in text.splitlines() if not line.startswith("%")]
        shown = "\n".join(lines).replace("{\\allowdisplaybreaks\n", "").removesuffix("\n}")
        formulas.append(shown.removeprefix("\\[\n").removesuffix("\n\\]"))
    assert typesetting.katex(formulas) == []


def test_a_fragment_is_the_formula_below_the_header():
    derived = sg.grad(lambda w, X: np.sum((X @ w) ** 2))
    made = derived.export("latex", np.ones(20), np.ones((30, 20)))
    assert made.startswith("% the gradient of f, derived by symgrad")
    assert "\n\\[\n\\begin{aligned} \\frac{\\partial f}{\\partial w} &= 2 X^\\top X w \\end{aligned}\n\\]\n" in made


def test_a_document_says_what_it_holds_for():
    case = CASES["branches"]
    made = case.export("latex", document=True)
    assert r"\title{The gradient of \texttt{branches}}" in made
    assert r"$x$: float64 vector of length 3" in made
    assert r"\sum_{i=0}^{2} {x}_{i} \leq 2" in made
    assert "at ties of two arguments max and min share the slope evenly" in made
    assert "Finite differences: off by" in made
    for line in header.lines(case.subject()):
        assert f"% {line}\n" in made


def test_signs_are_explained_where_they_are_no_names():
    meaning = "$\\sigma(t) = 1/(1 + e^{-t})$"
    x = np.ones(3)
    logistic = sg.symbolic(lambda x: 1 / (1 + np.exp(-x)))
    assert meaning in logistic.export("latex", x, form="matrix", document=True)
    named = sg.symbolic(lambda x, sigma: sigma / (1 + np.exp(-x))).export("latex", x, 2.0, form="matrix", document=True)
    assert r"\sigma" in named
    assert meaning not in named


@pytest.mark.needs("pdflatex")
def test_named_dims_and_captured_arrays_are_told(tmp_path):
    made = CASES["ridge"].export("latex", document=True)
    assert r"$X$: float64 matrix of shape n by d" in made
    assert r"$\lambda$: a Python float" in made
    table = np.array([0.5, 1.0, 2.0])
    read = sg.grad(lambda x: np.sum(table * x**2)).export("latex", np.ones(3), document=True, form="index")
    assert r"$\mathit{table}$: float64 vector of length 3, which the function reads: 0.5, 1, 2" in read
    typesetting.pdflatex(read, tmp_path)


def test_a_path_gets_a_document(tmp_path):
    path = tmp_path / "gradient.tex"
    made = sg.grad(np.sin).export("latex", 1.0, path=path)
    assert made == path.read_text(encoding="utf-8")
    assert r"\documentclass" in made


@pytest.mark.needs("pdflatex")
def test_long_formulas_are_let_bound_in_full(tmp_path):
    derived, args = array_programs.long_program(300)
    made = latex.latex(unchecked(derived, args))
    last = len(derived.program(*args).bindings) - 1
    assert f"v_{{{last}}}" in made
    assert "more bindings" not in made
    log = typesetting.pdflatex(made, tmp_path)
    assert typesetting.overfull(log) == []


@pytest.mark.needs("pdflatex")
def test_results_without_arrays(tmp_path):
    results = {"None": lambda x: None, "empty": lambda x: (), "no elements": lambda x: x[:0], "3": lambda x: {"a": 3}}
    made = {name: sg.symbolic(f).export("latex", np.ones(3), document=True) for name, f in results.items()}
    typesetting.pdflatex(together(made), tmp_path)


HOSTILE = [
    *array_programs.HOSTILE,
    *(
        "\\write18{touch x}",
        "%",
        "$",
        "^^5c",
        "]]>",
        "-->",
        "</svg>",
        "\\end{document}",
        "a}{b",
        "~",
        "#1",
        "&",
        "\n\n",
    ),
]


@pytest.mark.needs("pdflatex")
def test_hostile_names_are_names(tmp_path):
    made = {}
    for k, name in enumerate(HOSTILE):
        derived, args = array_programs.hostile(name)
        made[f"name {k}"] = derived.export("latex", *args, document=True)
        assert made[f"name {k}"].isascii()
        assert not re.search(r"\\(input|write|include|openin|openout|csname|catcode|def|jobname)\b", made[f"name {k}"])
        assert made[f"name {k}"].count(r"\end{document}") == 1
    typesetting.pdflatex(together(made), tmp_path)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".aux", ".log", ".pdf", ".tex"]


@pytest.mark.needs("pdflatex")
def test_hostile_functions_are_named(tmp_path):
    made = {}
    for k, name in enumerate(HOSTILE):

        def f(x):
            return x * x

        f.__name__ = name
        made[f"name {k}"] = sg.grad(f).export("latex", 2.0, document=True)
        assert made[f"name {k}"].count(r"\end{document}") == 1
    typesetting.pdflatex("".join(made[f"name {len(HOSTILE) - 1}"]), tmp_path)
    typesetting.pdflatex(together(made), tmp_path)


@pytest.mark.needs("pdflatex")
def test_random_programs(tmp_path):
    draw = np.random.default_rng(1)
    made = {}
    for seed in range(12):
        steps = []
        for k in range(5):
            names = [np.add, np.multiply, np.maximum] if draw.random() < 0.5 else [np.sin, np.exp, np.abs]
            operation = names[draw.integers(3)]
            steps.append((operation, tuple(int(draw.integers(k + 2)) for _ in range(operation.nin))))
        program = ([(3,), (2, 3)], np.dtype(float), steps, seed)
        derived, args = array_programs.random_gradient(program)
        made[f"program {seed}"] = latex.latex(unchecked(derived, args))
    log = typesetting.pdflatex(together(made), tmp_path)
    assert typesetting.overfull(log) == []


@pytest.mark.needs("pdflatex")
def test_benchmarks_are_presented(tmp_path):
    made = {e.subject.name: latex.latex(e.subject) for e in exportables.bench()}
    assert typesetting.overfull(typesetting.pdflatex(together(made), tmp_path)) == []
