"""Programs: the text form, the picture, and the verifier that catches broken ones."""

import shutil
import subprocess

import numpy as np
import pytest

import symgrad
from symgrad.errors import ProgramError, UnsupportedOperation
from symgrad.primitives import functions as f
from symgrad.primitives.elementwise import Elementwise
from symgrad.primitives.primitive import CapturedArray, constant, input_node
from symgrad.primitives.scan import results_of
from symgrad.program.node import Graph, Node, emit
from symgrad.program.program import Program
from symgrad.program.verify import verify
from symgrad.transforms.loops import fori_loop, scan

X = np.ones((2, 3))


def test_text_form():
    c = np.arange(3.0)
    program = symgrad.trace(lambda x, k: (np.sin(x) * c + 2.0 * k, x.sum()), X, 1.5)
    assert str(program).splitlines() == [
        "program(x: float64[2,3], k: float64[]) {",
        "  c0 = constant: float64[3]",
        "  v0 = sin(x)  # float64[2,3]",
        "  v1 = multiply(v0, c0)  # float64[2,3]",
        "  v2 = multiply(2.0, k)",
        "  v3 = add(v1, v2)  # float64[2,3]",
        "  v4 = einsum[ij->](x)",
        "} -> v3, v4",
    ]
    assert repr(program) == str(program)


def test_the_body_of_a_loop_stands_below_it():
    def step(c, y):
        return fori_loop(0, 2, lambda i, d: np.sin(d), c) * y, c

    program = symgrad.symbolic(lambda x: scan(step, np.ones(3), x)).program(X)
    assert str(program).splitlines() == [
        "program(x: float64[2,3]) {",
        "  c0 = constant: float64[3]",
        "  v0 = scan[2](c0, x)  # float64[9]",
        "    step(c: float64[3], y: float64[3]) {",
        "      v0 = scan[2](c)  # float64[3]",
        "        step(d: float64[3]) {",
        "          v0 = sin(d)  # float64[3]",
        "        } -> v0",
        "      v1 = part[0](v0)  # float64[3]",
        "      v2 = multiply(v1, y)  # float64[3]",
        "    } -> v2, c",
        "  v1 = part[0](v0)  # float64[3]",
        "  v2 = part[1](v0)  # float64[2,3]",
        "} -> v1, v2",
    ]
    assert program.dot().count("subgraph") == 2
    assert [n.primitive.name for n in program.every_node].count("sin") == 1


def test_names_of_nested_arguments_and_repeated_outputs():
    program = symgrad.trace(lambda p, *rest: (p["a"], p["a"], rest[0]), {"a": X, "b": X}, X)
    assert str(program).splitlines()[0] == "program(p_a: float64[2,3], p_b: float64[2,3], x1: float64[2,3]) {"
    assert str(program).splitlines()[-1] == "} -> p_a, p_a, x1"


def test_equal_expressions_are_one_binding():
    program = symgrad.trace(lambda x: np.sin(x) * np.cos(x) + np.sin(x) / np.cos(x), X)
    assert program.operation_counts() == {"sin": 1, "cos": 1, "multiply": 1, "divide": 1, "add": 1}


def test_what_is_not_needed_is_not_there():
    program = symgrad.trace(lambda x: (np.exp(x), np.sin(x))[1], X)
    assert program.operation_counts() == {"sin": 1}


def test_dot_lists_nodes_and_edges():
    lines = symgrad.trace(lambda x: np.sin(x) * x, X).dot().splitlines()
    assert lines[0] == "digraph program {"
    assert lines[-1] == "}"
    assert '  n0 [label="x: [2,3]", style=filled, fillcolor=lightblue];' in lines
    assert '  n2 [label="v1 = multiply [2,3]", penwidth=2];' in lines
    assert {"  n0 -> n1;", "  n1 -> n2;", "  n0 -> n2;"} <= set(lines)


def test_hostile_names_are_escaped_in_pictures():
    source = symgrad.trace(lambda x: np.sin(x), X)
    program = Program(source.inputs, source.outputs, ['"];<script>&\n\\'], source.graph)
    assert r'label="\"];<script>&\n\\: [2,3]"' in program.dot()
    assert "<script>" not in program.svg()


@pytest.mark.parametrize("with_graphviz", [pytest.param(True, marks=pytest.mark.needs("dot")), False])
def test_svg(monkeypatch, with_graphviz):
    if not with_graphviz:
        monkeypatch.setattr(shutil, "which", lambda name: None)
    picture = symgrad.trace(lambda x: np.sin(x), X).svg()
    assert picture.startswith("<svg")
    assert picture.rstrip().endswith("</svg>")
    assert "sin" in picture


def build(make):
    """A program over one input ``x`` of shape (2, 3), its outputs made by ``make(x)``."""
    graph = Graph()
    with graph:
        x = input_node("x", (2, 3), np.dtype(np.float64))
        return Program([x], make(x), ["x"], graph)


def test_verify_returns_what_is_sound():
    program = build(lambda x: [f.add(f.sin(x), 1.0), constant(CapturedArray(np.ones(2)))])
    assert verify(program) is program


def forged(node, **changed):
    """A node like ``node`` with other attributes."""
    kept = {k: changed.get(k, getattr(node, k)) for k in ("primitive", "operands", "params", "shape", "dtype", "weak")}
    return Node(**kept)


BROKEN = {
    "a wrong shape": (lambda x: [forged(f.sin(x), shape=(3, 2))], r"should be float64\[2, 3\]"),
    "a wrong dtype": (lambda x: [forged(f.sin(x), dtype=np.dtype(np.float32))], "should be float64"),
    "a wrong weakness": (lambda x: [forged(f.sin(x), weak=True)], "should be float64"),
    "a duplicate": (lambda x: [f.sin(x), forged(f.sin(x))], "its key stands twice"),
    "a free input": (lambda x: [f.add(x, input_node("y", (2, 3), x.dtype))], "is not an input of the program"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_verify_finds(name):
    make, message = BROKEN[name]
    with pytest.raises(ProgramError, match=message):
        verify(build(make))


def test_verify_finds_an_operand_that_stands_later():
    graph = Graph()
    with graph:
        x = input_node("x", (2, 3), np.dtype(np.float64))
        first = f.sin(x)
        later = f.cos(x)
        first.operands = (later,)
        with pytest.raises(ProgramError, match="before its operand"):
            verify(Program([x], [first], ["x"], graph))


def test_verify_finds_inputs_that_stand_twice_and_names_that_do_not_match():
    program = build(lambda x: [f.sin(x)])
    with pytest.raises(ProgramError, match="stands twice"):
        verify(Program(program.inputs * 2, program.outputs, ["x", "x"], program.graph))
    with pytest.raises(ProgramError, match="names do not match"):
        verify(Program(program.inputs, program.outputs, [], program.graph))


def test_nodes_are_interned_in_their_graph():
    with Graph():
        x = input_node("x", (3,), np.dtype(np.float64))
        assert f.sin(x) is f.sin(x)
        assert f.sin(x) is not f.sin(input_node("x", (3,), np.dtype(np.float64)))
        assert isinstance(f.sin, Elementwise)
        assert emit(f.sin, (x,)) is f.sin(x)
        with Graph():
            inner = f.sin(x)
        assert inner is not f.sin(x)


def test_a_picture_that_takes_too_long_is_refused(monkeypatch):
    def slow(*args, timeout, **kwargs):
        raise subprocess.TimeoutExpired(args, timeout)

    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", slow)
    with pytest.raises(UnsupportedOperation, match="no picture of 2 nodes in 30 s; export dot"):
        symgrad.trace(lambda x: np.sin(x), X).svg()


def test_inputs_called_as_bindings_are_told_from_them():
    captured = np.arange(3.0)
    program = symgrad.trace(lambda v0, c1, w: np.sin(v0) * captured * c1 * w, X, X, X)
    assert len(set(program.labels.values())) == len(program.labels)
    assert "u0 = sin(v0)" in str(program)
    assert "C0 = constant" in str(program)


@pytest.mark.needs("dot")
def test_large_pictures_are_drawn_in_a_hurry():
    def chain(x):
        for k in range(50):  # no steps that repeat (Thue and Morse), so none are a loop
            x = (np.sin, np.cos)[k.bit_count() % 2](x) * 1.01 + x
        return x

    picture = symgrad.grad(lambda x: np.sum(chain(x))).program(X).svg()
    assert picture.count("<ellipse") + picture.count("<polygon") > 300


def test_a_broken_body_of_a_loop_is_found():
    program = symgrad.trace(lambda x: fori_loop(0, 2, lambda i, c: np.sin(c), x), X)
    (loop,) = {n.params[0] for n in program.nodes if n.primitive.name == "scan"}
    stranger = input_node("x", (2, 3), np.dtype(float))
    with loop.body.graph:
        body = loop.body.with_outputs([f.sin(stranger)])
    with program.graph:
        counters = constant(CapturedArray(np.arange(2)))
        broken = program.with_outputs(results_of(loop.like(body), [*program.inputs, counters]))
    with pytest.raises(ProgramError, match="not an input"):
        verify(broken)
