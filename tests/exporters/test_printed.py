"""Patterns, places and names of Julia, by the printers of sympy."""

import numpy as np
import pytest
from sympy.printing.fortran import FCodePrinter
from sympy.printing.julia import JuliaCodePrinter

import symgrad as sg
from symgrad.exporters.loops.language import Apply, Array, Assign, Element, Index, Literal, Loop, Routine
from symgrad.exporters.printed import ATOM, Pattern, Places, Procedures, Text, folded, printed
from symgrad.program.dims import named_dim

FORTRAN = FCodePrinter({"source_format": "free", "human": False, "name_mangling": False})
JULIA = JuliaCodePrinter({"human": False})
F64, BOOL = np.dtype(float), np.dtype(bool)
N = named_dim("n")


def written(source, *operands):
    return Pattern.of(source).filled(operands)


def test_parentheses_stand_where_they_change_something():
    total = written("{0} + {1}", Text("a"), Text("b"))
    assert written("{0}*{1}", total, Text("c")).source == "(a + b)*c"
    assert written("{0} + {1}", total, total).source == "a + b + (a + b)"
    assert written("{0} + {1}", Text("c"), written("-{0}", Text("a"))).source == "c + (-a)"
    assert written("-{0}", written("-{0}", Text("a"))).source == "-(-a)"
    assert written("sin({0})", total).source == "sin(a + b)"
    assert written("{0}^{1}", written("-{0}", Text("a")), total).source == "(-a)^(a + b)"
    assert written(".not. {0}", written("{0} < {1}", total, Text("c"))).source == ".not. (a + b < c)"
    assert (
        written("{0} .and. {1}", written("{0} .or. {1}", Text("p"), Text("q")), Text("r")).source
        == "(p .or. q) .and. r"
    )
    assert written("{0}/{1}", Text("a"), written("{0}*{1}", Text("b"), Text("c"))).source == "a/(b*c)"


@pytest.mark.parametrize(
    ("operation", "fortran", "julia"),
    [
        ("add", "{0} + {1}", "{0} + {1}"),
        ("multiply", "{0}*{1}", "{0} * {1}"),
        ("power", "{0}**{1}", "{0} ^ {1}"),
        ("arcsinh", "asinh({0})", "asinh({0})"),
        ("logical_and", "{0} .and. {1}", "{0} && {1}"),
        ("logical_not", ".not. {0}", "!{0}"),
        ("not_equal", "{0} /= {1}", "{0} != {1}"),
    ],
)
def test_formulas_are_those_of_the_printers(operation, fortran, julia):
    assert (printed(operation, FORTRAN), printed(operation, JULIA)) == (fortran, julia)


def places():
    row = Index(0, (("i", 1),))
    body = [Loop("i", N, [Assign(Element(_array(), (row,)), Literal(0.0, F64))])]
    return Places(Routine({N: "rows"}, (), (), (), body), str, str)


def _array():
    return Array("x", (N,), F64, "output")


def test_counters_count_from_one_and_looked_up_indices_from_zero():
    p = places()
    assert p.place(Index(0, (("i", 1),))).source == "i"
    assert p.place(Index(3, (("i", -2),))).source == "-2*i + 6"
    assert p.place(Index(0, (("v3", 1),))).source == "v3 + 1"
    assert p.counted(Index(0, (("i", 1),))).source == "i - 1"
    assert p.place(Index(N - 1, (("i", -1),))).source == "-i + rows + 1"
    assert p.place(Index()) == Text("1", ATOM)
    assert p.dim(0).source == "0"


def test_operations_on_literals_alone_are_computed():
    zero, one = Literal(0.0, F64), Literal(1.0, F64)
    assert folded(Apply("divide", (one, zero), F64)) == np.inf
    assert folded(Apply("greater", (one, zero), BOOL)) is True
    assert folded(Apply("where", (Literal(True, BOOL), one, zero), F64)) is None


def test_procedures_come_with_what_they_call():
    found = Procedures("! b does it\nfunction a(x)\n  y = b(x)\nend\n\nfunction b(x)\nend\n\nfunction c(x)\nend\n")
    assert found.needed(["a"]) == ["a", "b"]
    assert found.needed(["c"]) == ["c"]


def test_results_are_called_what_they_are_in_formulas():
    f = sg.hessian(lambda x, y: np.sum(x**2 * y), (0, 1))
    text = f.export("julia", np.ones(2), np.ones(2))
    assert "return d2f_dx2, " in text
