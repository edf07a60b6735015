"""Rows of results, and calls that are made at every call."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError
from symgrad.kernels.kernel import lower
from symgrad.primitives.external import Call, External, joined, split
from symgrad.primitives.primitive import input_node
from symgrad.primitives.selection import assemble
from symgrad.program.node import Graph, emit
from symgrad.program.program import Program

F64, I64 = np.dtype(np.float64), np.dtype(np.int64)


def call_of(run, dtypes=(F64,), key=("f",)):
    return Call("f", run, key, dtypes, "not declared")


def test_a_row_is_split_into_what_it_was_joined_of():
    shapes, dtypes = [(2, 3), (), (0,), (2,)], [F64, np.dtype(np.float32), F64, I64]
    with Graph() as graph:
        inputs = [input_node(f"x{k}", s, d) for k, (s, d) in enumerate(zip(shapes, dtypes, strict=True))]
        parts = split(joined(inputs, dtypes), shapes, dtypes)
        program = Program(inputs, parts, [f"x{k}" for k in range(4)], graph)
    values = [np.arange(6.0).reshape(2, 3), np.float32(7.5), np.zeros(0), np.array([3, -4])]
    for got, value, dtype in zip(lower(program, "numpy")(*values), values, dtypes, strict=True):
        np.testing.assert_array_equal(got, value)
        assert np.asarray(got).dtype == dtype


def test_pieces_that_were_put_together_are_themselves():
    with Graph():
        x, y = input_node("x", (2,), F64), input_node("y", (3,), F64)
        whole = assemble([x, y], (6,), [((0, 2, 1),), ((2, 3, 1),)])
        first, second, rest = split(whole, [(2,), (3,), (1,)], [F64] * 3)
        assert first is x
        assert second is y
        assert rest.primitive.name == "einsum"  # zeros
        overlapping = assemble([x, y], (3,), [((0, 2, 1),), ((0, 3, 1),)])
        assert split(overlapping, [(2,), (1,)], [F64] * 2)[0].primitive.name == "slice"


def test_equal_calls_are_one_node_and_others_are_not():
    external = External("f")
    with Graph():
        x = input_node("x", (2,), F64)
        made = [
            emit(external, (x,), (call_of(np.sin, key=key), ((2,),), ((2,),), ())) for key in (("a",), ("a",), ("b",))
        ]
    assert made[0] is made[1]
    assert made[0] is not made[2]


def test_examples_of_nested_maps():
    seen = []
    call = call_of(lambda values: [seen.append(tuple(map(np.shape, values))) or values[0] * values[1]])
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3)
    levels = (((False, True), 4), ((True, False), 2))
    made = External("f").evaluate((call, ((3,),), ((3,), (3,)), levels), x, y)
    np.testing.assert_array_equal(made, y[:, None] * x[None])
    assert set(seen) == {((3,), (3,))}
    with pytest.raises(ShapeError, match="where \\(2,\\) was expected"):
        External("f").evaluate((call, ((2,),), ((3,), (3,)), levels), x, y)


def test_what_depends_on_constants_alone_is_called_at_every_call():
    calls = []
    f = sg.custom(lambda x: calls.append(1) or x + len(calls))
    table = np.ones(2)
    value = sg.symbolic(lambda x: x + f(table))
    first = value(0.0)
    assert np.all(value(0.0) > first)
