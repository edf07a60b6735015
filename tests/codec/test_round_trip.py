"""Program → JSON → Program is exact: every operation, every benchmark, random programs, and their derivatives."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import structure
import sympy
import workloads
from derived_programs import pullback, pushforward
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import CASES as LOOPS
from looping import LOOPING
from operands import draw
from registered import distinct

import symgrad as sg
import symgrad.primitives.special
from symgrad.codec.forms import Members
from symgrad.codec.limits import MAX_LOOPS_WITHIN
from symgrad.codec.operations import SPECIAL, names
from symgrad.codec.programs import PROGRAM, read_program, written_program
from symgrad.codec.sizes import written_dim
from symgrad.errors import UnsupportedOperation
from symgrad.kernels.kernel import lower
from symgrad.loading.document import read_document
from symgrad.passes.loops import pruned_loops
from symgrad.primitives.elementwise import ELEMENTWISE
from symgrad.primitives.functions import DOMAINS
from symgrad.primitives.primitive import input_node
from symgrad.program.dims import named_dim
from symgrad.program.node import Graph
from symgrad.program.program import Program
from symgrad.tracing.declare import CASES, Given
from symgrad.transforms.loops import fori_loop

SHAPES = {
    1: [((),), ((2, 3),), ((0,),)],
    2: [((2, 3), (3,)), ((2, 1), (1, 3)), ((), ())],
    3: [((2, 3), (2, 3), (2, 3)), ((2, 1), (3,), ())],
}


def again(program: Program) -> Program:
    """The Program that is read from what is written of ``program``, which it must be in every particular."""
    members = json.loads(json.dumps(written_program(program), allow_nan=False))
    read = read_program(Members(PROGRAM), members)[0].program
    assert str(read) == str(program)
    assert len(read.nodes) == len(program.nodes)
    for mine, theirs in zip(_in_order(read), _in_order(program), strict=True):
        assert mine.primitive is theirs.primitive
        assert (mine.shape, mine.dtype, mine.weak, mine.masked) == (
            theirs.shape,
            theirs.dtype,
            theirs.weak,
            theirs.masked,
        )
    assert written_program(read) == written_program(program)
    return read


def _in_order(program: Program) -> list:
    return [*program.inputs, *(n for n in program.nodes if n.primitive.name != "input")]


def same_values(program: Program, arrays: list[Any]) -> None:
    """The kernels of ``program`` and of what is read again give the same bits."""
    read = again(program)
    with np.errstate(all="ignore"):
        try:
            wanted = lower(program, "numpy")(*arrays)
        except np.linalg.LinAlgError:
            return
        got = lower(read, "numpy")(*arrays)
    for mine, theirs in zip(got, wanted, strict=True):
        assert type(mine) is type(theirs)
        assert np.asarray(mine).dtype == np.asarray(theirs).dtype
        assert np.array_equal(mine, theirs, equal_nan=np.asarray(theirs).dtype.kind == "f")


def all_orders(program: Program, arrays: list[Any]) -> None:
    """``program``, its derivatives in both modes, and one of the second order."""
    same_values(program, arrays)
    if not any(n.dtype.kind == "f" for n in program.outputs) or not any(n.dtype.kind == "f" for n in program.inputs):
        return
    floats = [a for a, n in zip(arrays, program.inputs, strict=True) if n.dtype.kind == "f"]
    pulled, pushed = pullback(program), pushforward(program)
    same_values(pushed, [*arrays, *floats])
    sens = [np.ones(n.shape, n.dtype) for n in program.outputs]
    same_values(pulled, [*arrays, *sens])
    again(pushforward(pulled))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_functions(name):
    rng = np.random.default_rng(5)
    for shapes in SHAPES[ELEMENTWISE[name].arity]:
        arrays = [draw(rng, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)]
        with Graph() as graph:
            inputs = [input_node(label, a.shape, a.dtype) for label, a in zip("abc", arrays)]
            program = Program(inputs, [ELEMENTWISE[name](*inputs)], "abc"[: len(inputs)], graph)
        all_orders(program, arrays)


@pytest.mark.parametrize("function", distinct(CASES), ids=lambda function: function.__name__)
def test_numpys_functions(function):
    rng = np.random.default_rng(5)
    for case in CASES[function]:
        args = case.draw(rng)
        drawn = [not isinstance(own, Given) for own in case.args]
        places = [k for k, a in enumerate(args) if drawn[k] and isinstance(a, np.ndarray)]
        computed = case.of_drawn(function)

        def run(*arrays, args=args, places=places, computed=computed, kwargs=case.kwargs):
            filled = list(args)
            for k, array in zip(places, arrays, strict=True):
                filled[k] = array
            return computed(*filled, **kwargs)

        arrays = [args[k] for k in places]
        all_orders(sg.trace(run, *arrays), arrays)


WORKLOADS = {**workloads.WORKLOADS, **structure.WORKLOADS}


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads(name):
    workload = WORKLOADS[name]
    args = workload.args(**workload.small)
    derive = {"value_and_grad": sg.value_and_grad, "jacobian": sg.jacobian, "hessian": sg.hessian}[workload.verb]
    derived = derive(lambda *xs: workload.fn(np, *xs), workload.wrt)
    entry, leaves = derived._readable()._compiled.served(*args)
    same_values(entry.program, list(leaves))
    same_values(entry.readable, list(leaves))


@pytest.mark.parametrize(("name", "which"), LOOPS)
def test_loops(name, which):
    case = LOOPING[name]
    entry, arrays = case.derivatives()[which]._served(case.arguments, {})
    same_values(entry.program, list(arrays))
    same_values(entry.readable, list(arrays))
    if which == "value":
        all_orders(entry.program, list(arrays))
        derived = [pullback(p) for p in (entry.program, again(entry.program))]
        assert derived[0].operation_counts() == derived[1].operation_counts()
    # of two loops that compute the same one is left where they are read, too
    assert len(pruned_loops(again(entry.program)).nodes) == len(pruned_loops(entry.program).nodes)


def test_loops_within_loops_are_read_as_deep_as_they_are_written():
    def deep(x, levels):
        return fori_loop(0, 2, lambda i, c: deep(c, levels - 1), x) if levels else np.sin(x)

    document = sg.symbolic(lambda x: deep(x, MAX_LOOPS_WITHIN)).export("json", 1.0)
    (found,) = lower(read_document(document.encode()).read.program)(1.0)
    assert found == deep(1.0, MAX_LOOPS_WITHIN)
    with pytest.raises(UnsupportedOperation, match="6 loops within one another"):
        sg.symbolic(lambda x: deep(x, MAX_LOOPS_WITHIN + 1)).export("json", 1.0)


UNARY = [np.sin, np.tanh, lambda a: a**3, lambda a: np.flip(a) - a.T.T, lambda a: np.where(a > 0.1, a * 2, np.sin(a))]
UNARY += [lambda a: np.cumsum(a, axis=0) if a.ndim else -a, lambda a: np.concatenate([a[1:], a[:1]]) if a.ndim else a]
UNARY += [lambda a: np.sort(a, axis=-1) if a.ndim else a, lambda a: a.astype(np.float32) * np.float32(2)]
BINARY = [np.add, np.maximum, lambda a, b: a / (1.5 + b**2), lambda a, b: a * np.vdot(b, b), np.hypot, np.less]


@settings(max_examples=25)
@given(st.data())
def test_random_programs(data):
    shapes = data.draw(st.lists(st.sampled_from([(), (3,), (1, 3), (2, 1), (2, 3)]), min_size=1, max_size=3))
    steps = []
    for k in range(data.draw(st.integers(1, 8))):
        at = st.integers(0, len(shapes) + k - 1)
        table, count = data.draw(st.sampled_from([(UNARY, 1), (BINARY, 2)]))
        steps.append((data.draw(st.sampled_from(table)), [data.draw(at) for _ in range(count)]))

    def run(*xs):
        values = list(xs)
        for operation, at in steps:
            values.append(operation(*[values[k] * 1.0 for k in at]))
        return values[-1], values[-2]

    rng = np.random.default_rng(1)
    arrays = [np.asarray(rng.normal(size=shape)) for shape in shapes]
    all_orders(sg.trace(run, *arrays), arrays)


@pytest.mark.parametrize("shapes", [("n d", "d"), ("n 3", "3"), ("n n", "n")])
def test_named_dims(shapes):
    def run(X, w):
        return np.sum(np.tanh(X @ w)[1:] * np.arange(2.0)[0]), np.reshape(X * X.size, -1)

    program = sg.trace(run, *shapes)
    again(program)
    again(pullback(program))
    again(pushforward(pullback(program)))


def test_facts_on_sizes():
    program = sg.trace(lambda x, y: np.sum(x[:5] * x[2:7]) + np.sum(y[: x.size - 1]), "n", "m")
    assert len(program.graph.sizes.facts) > 1
    assert again(program).graph.sizes.facts == program.graph.sizes.facts


def test_an_expression_of_sizes_that_has_no_place_is_refused():
    with pytest.raises(UnsupportedOperation, match="floor"):
        written_dim(sympy.floor(named_dim("n") / 2))


def test_scipys_functions_are_those_that_symgrad_has():
    assert {t.name for t in symgrad.primitives.special.EVERY} == SPECIAL
    assert {*names()} >= SPECIAL


def test_names_are_sorted():
    assert all(a < b for a, b in pairwise(names()))


def test_long_programs():
    def deep(x):
        for _ in range(2_500):
            x = np.sin(x) * 1.5
        return x

    program = sg.trace(deep, np.ones(3))
    assert len(again(program).nodes) > 5_000
