"""Formulas of special functions are as accurate as SciPy's own, at special values and in float32 too."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.passes.elementary import FORMULAS, in_elementary
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.primitive import input_node
from symgrad.primitives.special import OPERATIONS
from symgrad.program.interpret import interpreted
from symgrad.program.node import Graph
from symgrad.program.program import Program

RECORDS = {**OPERATIONS, **ELEMENTWISE}
POINTS = np.concatenate(
    [np.linspace(-30, 30, 2001), 10.0 ** np.linspace(-12, 8, 201), -(10.0 ** np.linspace(-12, 1.4, 201))]
)
ODD = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan])


def _computed(name, *given):
    graph = Graph()
    with graph:
        inputs = [input_node(f"x{k}", a.shape, a.dtype) for k, a in enumerate(given)]
        made = RECORDS[name](*inputs)
    program = in_elementary(Program(inputs, [made], [f"x{k}" for k in range(len(given))], graph), ())
    assert name not in {n.primitive.name for n in program.nodes}
    (result,) = interpreted(program, given)
    with np.errstate(all="ignore"):
        want = RECORDS[name].ufunc(*given)
    assert result.dtype == want.dtype
    np.testing.assert_array_equal(np.isnan(result), np.isnan(want))
    return result, want


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_formulas_lose_no_digits(name):
    given = (POINTS, np.roll(POINTS, 700))[: RECORDS[name].arity]
    got, want = _computed(name, *given)
    normal = np.isfinite(want) & (np.abs(want) > 1e-290)
    cancels = name.startswith("logaddexp") or name in ("cosm1", "kl_div")  # SciPy's own terms in the last two
    near = 4 * np.finfo(float).eps if cancels else 0.0
    np.testing.assert_allclose(got[normal], want[normal], rtol=1e-13, atol=near)


@pytest.mark.parametrize("name", sorted(FORMULAS))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_special_values_are_scipys(name, dtype):
    pairs = np.meshgrid(ODD, ODD)[: RECORDS[name].arity] if RECORDS[name].arity == 2 else [ODD]
    got, want = _computed(name, *[p.astype(dtype) for p in pairs])
    np.testing.assert_allclose(got, want, rtol=20 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


OF_WHOLE = {"floor_divide", "remainder"}


@pytest.mark.parametrize("name", sorted(FORMULAS.keys() - OF_WHOLE))
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool])
def test_whole_numbers_are_computed_as_floats(name, dtype):
    given = [np.array([0, 1, 1, 0]).astype(dtype), np.array([1, 0, 1, 0]).astype(dtype)][: RECORDS[name].arity]
    got, want = _computed(name, *given)
    np.testing.assert_allclose(got, want, rtol=1e-2 if want.dtype == np.float16 else 1e-6)


def test_what_a_target_knows_stays():
    program = sg.symbolic(lambda x: np.logaddexp(x, 1.0)).program(np.ones(2))
    assert in_elementary(program, {"logaddexp"}) is program
    assert in_elementary(program, ()) is not program


@pytest.mark.parametrize("function", [np.floor_divide, np.remainder])
def test_divisions_of_whole_numbers_stay(function):
    program = sg.symbolic(function).program(np.array([5, 6]), np.array([2, 3]))
    assert in_elementary(program, ()) is program


def test_the_graph_of_the_program_stays_as_it_is():
    program = sg.symbolic(lambda x: np.logaddexp(x, 1.0)).program(np.ones(2))
    known = len(program.graph.table)
    made = in_elementary(program, ())
    assert len(program.graph.table) == known
    assert made.graph is not program.graph
    assert made.graph.sizes is program.graph.sizes
