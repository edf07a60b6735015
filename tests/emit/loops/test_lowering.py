"""What loops are made of a program: how many nests, which arrays, in which order."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.emit.loops import COUNTERS, OPERATIONS, lower, named_dims
from symgrad.emit.loops.contractions import loops_for
from symgrad.emit.loops.language import Allocate, Apply, Call, Fill, Let, Loop, Require, Update
from symgrad.emit.loops.reading import parts, read_by
from symgrad.emit.loops.views import view_of, whole
from symgrad.errors import UnsupportedOperation
from symgrad.passes.elementary import FORMULAS
from symgrad.primitives.elementwise import ELEMENTWISE


def routine_of(derived, *args, **options):
    program = derived.program(*args)
    dims = {d: f"size_{d}" for d in named_dims(program)}
    names = [f"in_{k}" for k in range(len(program.inputs))]
    return lower(program, names, [f"out_{k}" for k in range(len(program.outputs))], dims, **options)


def all_of(routine, kind):
    return [s for s in routine.statements() if isinstance(s, kind)]


def test_a_chain_of_functions_is_one_loop_without_memory():
    routine = routine_of(sg.symbolic(lambda x: np.sum(np.exp(-(np.sin(x) ** 2)) * x)), "n")
    assert len(all_of(routine, Loop)) == 1
    assert not all_of(routine, Allocate)
    assert routine.statuses() == []


def test_views_cost_nothing():
    routine = routine_of(sg.symbolic(lambda x: x.T[1:, ::-1] + np.reshape(x, (6, 4)).T[1:]), np.ones((6, 4)))
    assert len(all_of(routine, Loop)) == 2
    assert not all_of(routine, Allocate)


def test_what_one_later_nest_reads_is_computed_there():
    routine = routine_of(sg.symbolic(lambda x, y: np.tanh(x) * np.sum(np.exp(y))), "n", "m")
    assert not all_of(routine, Allocate)


def test_sums_over_rows_walk_through_memory():
    for derived, order in ((lambda a, x: a @ x, [0, 1]), (lambda a, y: y @ a, [0, 1])):
        routine = routine_of(sg.symbolic(derived), np.ones((3, 3)), np.ones(3))
        (outer, inner) = all_of(routine, Loop)[:2]
        assert [outer.counter, inner.counter] == [COUNTERS[k] for k in order]
    assert all_of(routine, Fill)  # the columns' sums are added to row by row
    columns = routine_of(sg.symbolic(lambda a, x: a @ x), np.ones((3, 3)), np.ones(3), row_major=False)
    assert all_of(columns, Fill)


def test_products_of_three_matrices_are_taken_in_pairs():
    routine = routine_of(sg.hessian(lambda x, a: np.sum((a @ x) ** 2)), "n", "m n")
    assert max(len(all_of(routine, Loop)), 3) < 12
    program = sg.symbolic(lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c)).program("n m", "m k", "k p")
    dims = {d: str(d) for d in named_dims(program)}
    made = lower(program, ["a", "b", "c"], ["out"], dims)
    depth = [s for s in made.statements() if isinstance(s, Update)]
    assert len(depth) == 2


def test_every_operation_of_the_registry_has_a_form_or_is_refused_by_name():
    known = {*OPERATIONS, "conjugate", "positive", "square", *FORMULAS}
    assert set(ELEMENTWISE) - {"real", "imag"} <= known  # loops are of real numbers
    used = set()
    for derived in (sg.symbolic(lambda x: np.where(x > 0, np.sqrt(x), np.sign(x))),):
        for s in routine_of(derived, np.ones(3)).statements():
            used |= {p.operation for e in read_by(s) for p in parts(e) if isinstance(p, Apply)}
    assert used == {"greater", "sqrt", "sign", "where"}
    with pytest.raises(UnsupportedOperation, match="float16"):
        routine_of(sg.symbolic(lambda x: x + x), np.ones(2, np.float16))


def test_statuses_are_those_that_can_be():
    solve = routine_of(sg.symbolic(np.linalg.solve), np.eye(2), np.ones(2))
    assert solve.statuses() == ["memory", "singular"]
    assert all_of(solve, Call)
    assert routine_of(sg.symbolic(lambda a, i: a[i]), np.ones(2), np.array([1])).statuses() == ["index"]
    assert routine_of(sg.symbolic(lambda a: a[0]), "n").statuses() == ["size"]
    assert routine_of(sg.symbolic(lambda a: a[np.array([0, 1])]), np.ones(2)).statuses() == []


def test_names_that_are_taken_are_not_counters():
    program = sg.symbolic(lambda x: np.sin(x)).program("i")
    (dim,) = named_dims(program)
    made = lower(program, ["j"], ["k"], {dim: "i"}, taken=["l"])
    assert [s.counter for s in all_of(made, Loop)] == ["p"]


def test_nothing_is_computed_that_nobody_reads():
    routine = routine_of(sg.symbolic(lambda x: np.sum(np.zeros((0, 3)) * x)), np.ones(3))
    assert not all_of(routine, Loop)
    read = routine.names_read()
    assert all(s.name in read for s in all_of(routine, Let))


def test_a_view_of_a_view_reads_the_source():
    program = sg.symbolic(lambda x: x[1:, ::2].T[0]).program(np.ones((4, 6)))
    (x,) = program.inputs
    views = {x: whole(x)}
    for node in program.bindings:
        found = view_of(node, views)
        assert found is not None
        views[node] = found
    last = views[program.outputs[0]]
    assert last.root is x
    assert [(i.offset, i.terms) for i in last.places] == [(1, ((0, 1),)), (0, ())]


def test_the_loop_that_runs_innermost():
    n = 8
    a, b = (whole(node) for node in sg.symbolic(lambda a, b: a @ b).program(np.ones((n, n)), np.ones((n, n))).inputs)
    assert loops_for([a, b], [(0, 1), (1, 2)], (0, 2), (n, n, n), True).labels == (0, 1, 2)
    assert loops_for([a, b], [(0, 1), (2, 1)], (0, 2), (n, n, n), True).labels == (0, 2, 1)


def test_arrays_of_nothing_are_not_allocated():
    empty = np.zeros((0, 3))
    function = sg.symbolic(lambda z: np.sin(z) + np.cos(np.concatenate([z, z])[:0]))
    assert not all_of(routine_of(function, empty), Allocate)


def test_truth_values_are_no_negative_exponents():
    power = sg.symbolic(lambda a, b: a**b)
    asked = [isinstance(s, Require) for s in routine_of(power, np.array([2]), np.array([3])).statements()]
    assert any(asked)
    flags = np.array([True, False])
    assert not any(isinstance(s, Require) for s in routine_of(power, flags, flags).statements())
