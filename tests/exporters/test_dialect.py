"""Patterns, places and functions that numba and Julia share."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.emit.loops.language import Apply, Array, Assign, Element, Index, Literal, Loop, Name
from symgrad.emit.loops.reading import Routine
from symgrad.errors import UnsupportedOperation
from symgrad.exporters.dialect import Dialect, Functions, Pattern, Text
from symgrad.exporters.julia.printing import Body as Julia
from symgrad.exporters.numba.printing import Body as Numba
from symgrad.program.dims import named_dim

F64 = np.dtype(float)
N = named_dim("n")


def written(source, *operands):
    return Pattern.of(source).filled(operands)


def test_parentheses_stand_where_they_change_something():
    total = written("{0} + {1}", Text("a"), Text("b"))
    assert written("{0} * {1}", total, Text("c")).source == "(a + b) * c"
    assert written("{0} + {1}", total, total).source == "a + b + (a + b)"
    assert written("{0} + {1}", Text("c"), written("-{0}", Text("a"))).source == "c + (-a)"
    assert written("-{0}", written("-{0}", Text("a"))).source == "-(-a)"
    assert written("np.sin({0})", total).source == "np.sin(a + b)"
    assert written("{0}^{1}", written("-{0}", Text("a")), total).source == "(-a)^(a + b)"
    assert written("not {0}", written("{0} < {1}", total, Text("c"))).source == "not (a + b < c)"
    either = written("{0} or {1}", Text("p"), Text("q"))
    assert written("{0} and {1}", either, Text("r")).source == "(p or q) and r"
    assert written("{0} / {1}", Text("a"), written("{0} * {1}", Text("b"), Text("c"))).source == "a / (b * c)"
    choice = written("{1} if {0} else {2}", either, Text("a"), total)
    assert choice.source == "a if p or q else a + b"
    assert written("{1} if {0} else {2}", either, choice, choice).source == (
        "(a if p or q else a + b) if p or q else (a if p or q else a + b)"
    )
    assert written("{0} == {1}", written("{0} < {1}", Text("a"), Text("b")), Text("c")).source == "(a < b) == c"


def body(language) -> Dialect:
    row = Index(0, (("i", 1),))
    nest = [Loop("i", N, [Assign(Element(Array("x", (N,), F64, "output"), (row,)), Literal(0.0, F64))])]
    return language(Routine({N: "rows"}, (), (), (), nest))


def test_counters_count_from_one_and_looked_up_indices_from_zero():
    julia, numba = body(Julia), body(Numba)

    def places(index):
        array = Array("x", (N,), F64, "output")
        return [b.source(Element(array, (index,))).removeprefix("x[").removesuffix("]") for b in (julia, numba)]

    assert places(Index(0, (("i", 1),))) == ["i", "i"]
    assert places(Index(3, (("i", -2),))) == ["6 - 2*i", "3 - 2*i"]
    assert places(Index(0, (("v3", 1),))) == ["v3 + 1", "v3"]
    assert places(Index(N - 1, (("i", -1),))) == ["-i + rows + 1", "-i + rows - 1"]
    assert places(Index()) == ["1", "0"]
    assert julia.dim(N * (N - 1) / 2) == "div(rows*(rows - 1), 2)"
    assert numba.dim(N * (N - 1) / 2) == "(rows*(rows - 1))//(2)"
    assert (julia.dim(N**2), numba.dim(N**2), julia.dim(0)) == ("rows^2", "rows**2", "0")


def test_what_no_table_has_is_refused_by_name():
    half = Name("x", np.dtype(np.complex128))
    with pytest.raises(UnsupportedOperation, match="sin of complex128 has no form in Julia"):
        body(Julia).source(Apply("sin", (half,), half.dtype))


def test_functions_come_with_what_they_call():
    text = "# b does it\nfunction a(x)\n  y = b(x)\nend\n\nfunction b(x)\nend\n\nfunction c(x)\nend\n"
    functions = Functions(text)
    assert [t.split("(")[0].split()[-1] for t in functions.called_in("x = a(1)")] == ["a", "b"]
    assert functions.called_in("c(2)") == ["function c(x)\nend"]


def test_results_are_called_what_they_are_in_formulas():
    f = sg.hessian(lambda x, y: np.sum(x**2 * y), (0, 1))
    text = f.export("julia", np.ones(2), np.ones(2))
    assert "return d2f_dx2, " in text
