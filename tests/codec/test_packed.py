"""Nodes are written down exactly, and read as the same nodes or not at all."""

import json

import numpy as np
import pytest
from derived_programs import pullback, pushforward
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import SMOOTH, random_program
from registered import distinct

import symgrad
from symgrad.codec import operations
from symgrad.codec.packed import Damaged, decoded, encoded, name_of
from symgrad.differentiation.jacobian import jacobian_terms
from symgrad.differentiation.structure.structured_tangents import dense
from symgrad.errors import TracingError, UnsupportedOperation
from symgrad.kernels.kernel import lower
from symgrad.primitives.identity import custom, mark
from symgrad.primitives.primitive import (
    INPUT,
    CapturedArray,
    Leaf,
    Primitive,
    constant,
    dim_value,
    input_node,
    literal,
    made_constant,
)
from symgrad.program.dims import named_dim
from symgrad.program.node import Graph, ancestors, emit
from symgrad.program.program import Program
from symgrad.program.verify import verify
from symgrad.tracing.declare import CASES, Given

# --- records --------------------------------------------------------------------------------------------------------


@given(st.booleans() | st.integers(1 - 2**63, 2**63 - 1) | st.floats(allow_nan=False))
def test_scalars_are_read_as_they_were(value):
    with Graph():
        node = literal(value)
        content = encoded([], [node], [node], {})
    with Graph():
        (again,) = decoded(content, [])
    assert again.params == node.params
    assert repr(again.params) == repr(node.params)  # 1 is not True, and -0.0 is not 0.0


def test_what_has_no_exact_record_is_refused():
    def refused(make):
        with Graph():
            x = input_node("x", (2, 2), np.dtype(float))
            number = {x: 0}
            node = make(x)
            with pytest.raises(UnsupportedOperation):
                encoded([], [node], [node], number)

    refused(lambda x: literal(2**64))
    refused(lambda x: literal(float("nan")))
    refused(lambda x: constant(CapturedArray(np.ones(2, ">f8"))))
    refused(lambda x: constant(CapturedArray(np.ones(2, np.longdouble))))
    refused(lambda x: constant(CapturedArray(np.ones(2**17 + 1))))
    refused(lambda x: mark(x))
    refused(lambda x: dim_value(named_dim("n")))
    refused(lambda x: custom(x, [x], lambda *_: [None]))
    refused(lambda x: made_constant(("table", object()), lambda: np.ones(2)))


def test_operations_have_names_of_their_own():
    import symgrad.primitives.special  # noqa: F401
    from symgrad.primitives.elementwise import ELEMENTWISE

    assert all(operations.own_operation(name).primitive is template for name, template in ELEMENTWISE.items())
    assert all(operations.own_operation(name).primitive.name == name for name in operations.names())
    assert not any(isinstance(operations.own_operation(name).primitive, Leaf) for name in operations.names())
    assert operations.own_operation("input") is None
    assert operations.own_operation("no such operation") is None


# --- names ----------------------------------------------------------------------------------------------------------


def name(fn, *args):
    """The name of what ``fn`` traces to."""
    program = symgrad.trace(fn, *args)
    return name_of(ancestors([*program.outputs, *program.inputs]), {})


X, Y = np.linspace(0.5, 1.5, 6).reshape(2, 3), np.linspace(-1.0, 1.0, 6).reshape(2, 3)
ALIKE = [
    (lambda x: np.sum(x * 2.0), X),
    (lambda x: np.sum(x * 3.0), X),
    (lambda x: np.sum(x * 2), X),
    (lambda x: np.sum(x * -0.0), X),
    (lambda x: np.sum(x * 0.0), X),
    (lambda x: np.sum(x * 2.0), X.astype(np.float32)),
    (lambda x: np.sum(x * 2.0), X.T.copy()),
    (lambda x: np.sum(x * 2.0), X[0]),
    (lambda x: x * 2.0, 1.0),
    (lambda x: x * 2.0, np.float64(1.0)),
    (lambda x: np.sum(x * 2.0, axis=0), X),
    (lambda x: np.sum(x * 2.0, axis=1), X),
    (lambda x: np.sum(2.0 - x), X),
    (lambda x: np.sum(x - 2.0), X),
    (lambda x: np.sum(np.sin(x) * 2.0), X),
    (lambda x: np.sum(x * Y), X),
    (lambda x: np.sum(x * Y.astype(np.float32)), X),
    (lambda x: np.sum(x * Y[:1]), X),
    (lambda x: x[np.array([0, 1])], X),
    (lambda x: x[np.array([1, 0])], X),
    (lambda x: x[:, 1:], X),
    (lambda x: x[:, :2], X),
    (lambda x: x * np.array(2.0), X),
    (lambda x: x * np.array(3.0), X),
    (lambda x: symgrad.stop_gradient(x) * 2.0, X),
    (lambda x: x.astype(np.float32), X),
    (lambda x: np.sum(x, axis=0), X),
]


def test_different_programs_have_different_names_and_equal_ones_the_same():
    names = [name(*case) for case in ALIKE]
    assert len(set(names)) == len(ALIKE)
    assert names == [name(*case) for case in ALIKE]


def test_which_operand_is_which_is_part_of_a_name():
    assert name(lambda x, y: x - y, X, Y) != name(lambda x, y: y - x, X, Y)
    assert name(lambda x: x * Y + Y, X) != name(lambda x: x * Y + X, X)  # one captured array, two


def test_values_of_captured_floats_are_no_part_of_a_name():
    assert name(lambda x: x * Y, X) == name(lambda x: x * X, X)


def test_the_users_own_rules_have_no_name():
    class Squared(symgrad.nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (2 * x * dout,)

    with pytest.raises(UnsupportedOperation, match="a rule of the user's"):
        name(Squared(), X)
    with pytest.raises(UnsupportedOperation):
        name_of(symgrad.trace(lambda x: x * 2, "n").nodes, {})


def test_an_operation_that_is_not_symgrads_has_no_name():
    class Doubled(Primitive):
        name = "sin"  # another one of this name, too

        def infer(self, operands, params):
            return operands[0].shape, operands[0].dtype, False

    program = symgrad.trace(lambda x: x, X)
    with program.graph:
        node = emit(Doubled(), (program.inputs[0],))
    with pytest.raises(UnsupportedOperation, match="no operation of symgrad's own"):
        name_of([program.inputs[0], node], {})


def rule_cases():
    for function, cases in distinct(CASES).items():
        for case in cases:
            arrays = [k for k, a in enumerate(case.args) if not isinstance(a, Given)]
            if len(arrays) > 1 or any(isinstance(a, list) for a in case.args):
                yield pytest.param(function, case, id=f"{function.__name__}-{case}")


def jacobian(program):
    with program.graph:
        for mode in ("forward", "reverse"):
            for row, o in zip(jacobian_terms(program.outputs, program.inputs, mode), program.outputs, strict=True):
                for terms, w in zip(row, program.inputs, strict=True):
                    dense(terms, o.shape + w.shape)


class Sealed(CapturedArray):
    """A captured array that nobody may look into."""

    __slots__ = ()

    def __init__(self):
        pass

    @property
    def value(self):
        raise AssertionError("a derivative looked at the values of a captured array")


@pytest.mark.parametrize(("function", "case"), list(rule_cases()))
@pytest.mark.parametrize("derive", [pullback, pushforward, jacobian])
def test_no_rule_looks_at_values_that_are_no_part_of_a_name(function, case, derive):
    """The first array is differentiated by, the others are captured."""
    drawn = case.draw(np.random.default_rng(7))
    at = next(k for k, a in enumerate(case.args) if not isinstance(a, Given))
    listed = isinstance(drawn[at], list)

    def fn(x):
        args = [*drawn]
        args[at] = [x, *drawn[at][1:]] if listed else x
        return case.of_drawn(function)(*args, **case.kwargs)

    program = symgrad.trace(fn, drawn[at][0] if listed else drawn[at])
    floats = [o for o in program.outputs if o.dtype.kind == "f"]
    for node in program.nodes:
        if node.primitive.name == "constant" and node.shape and node.dtype.kind == "f":
            node.params = (Sealed(),)
    derive(program.with_outputs(floats))


# --- round trips ----------------------------------------------------------------------------------------------------


def derived(program, derive):
    """What ``derive`` adds to a program, as it is stored: the derived program, and the bytes."""
    base = ancestors([*program.outputs, *program.inputs])
    number = {}
    name_of(base, number)
    known = set(program.graph.table.values())
    made = derive(program)
    fresh = made.inputs[len(program.inputs) :]
    number |= {n: len(number) + k for k, n in enumerate(fresh)}
    others = [n for n in ancestors(made.outputs) if n not in number]
    found, new = [n for n in others if n in known], [n for n in others if n not in known]
    with program.graph:
        return made, encoded(found, new, made.outputs, number)


def reread(program, content, like):
    """The program that the bytes say, among the nodes of another trace of the same function."""
    fresh = [type(n)(INPUT, (), n.params, n.shape, n.dtype, n.weak) for n in like.inputs[len(program.inputs) :]]
    base = [*ancestors([*program.outputs, *program.inputs]), *fresh]
    with program.graph:
        outputs = [o for o in decoded(content, base) if o is not None]
        return Program((*program.inputs, *fresh), outputs, like.names, program.graph)


@given(st.integers(0, 2**16), st.sampled_from([pullback, pushforward]))
@settings(max_examples=60)
def test_derivatives_of_random_programs_are_read_as_they_were_written(seed, derive):
    program = random_program(seed, SMOOTH)
    traced = lambda: symgrad.trace(program.function, *program.point())  # noqa: E731
    try:
        first, second = traced(), traced()
    except TracingError:  # not every step is traced
        return
    made, content = derived(first, derive)
    again = verify(reread(second, content, made))
    assert str(again) == str(made)
    assert [n.masked for n in again.nodes] == [n.masked for n in made.nodes]
    kernels = [lower(p, "numpy") for p in (again, made)]  # what a derivation leaves in its graph may order them anew
    operations = [sorted(n.primitive.name for n in kernel.program.nodes) for kernel in kernels]
    assert operations[0] == operations[1]
    flows = made.inputs[len(first.inputs) :]  # drawn; an index among the inputs proper must stay within its array
    point = [
        *program.point(),
        *[np.asarray(np.random.default_rng(seed).normal(size=n.shape)).astype(n.dtype) for n in flows],
    ]
    for now, then in zip(*(kernel(*point) for kernel in kernels), strict=True):
        np.testing.assert_array_equal(now, then)
    _, rewritten = derived(traced(), derive)
    assert rewritten == content


def test_arrays_that_derivatives_make_are_read_with_their_names():
    fn = lambda x: np.convolve(x, np.arange(1.0, 4.0)) + np.sum(np.linalg.cholesky(np.eye(2) * x[0]))  # noqa: E731
    x = np.linspace(1.0, 2.0, 5)
    first, second = symgrad.trace(fn, x), symgrad.trace(fn, x)
    made, content = derived(first, pullback)
    assert b"halved triangle" in content
    again = reread(second, content, made)
    pulled = pullback(second)  # finds the arrays that were read
    assert str(again) == str(made)
    names = lambda p: {id(n) for n in p.nodes if n.primitive.name == "constant"}  # noqa: E731
    assert names(pulled) == names(again)


# --- damage ---------------------------------------------------------------------------------------------------------


def spoiled():
    """Ways in which bytes can be wrong: each a change of the fields and of the stream."""

    def record(key, value):
        def change(fields, stream):
            fields["records"][0][key] = value

        return change

    def field(key, value):
        return lambda fields, stream: fields.__setitem__(key, value)

    def number(value, at):
        return lambda fields, stream: stream.__setitem__(at, value)

    yield "unknown operation", record("op", "system")
    yield "operation of no text", record("op", ["sin"])
    yield "a leaf", record("op", "input")
    yield "a mark", record("op", "mark")
    yield "a rule", record("op", "custom")
    yield "another arity", record("operands", 3)
    yield "arity of no number", record("operands", "1")
    yield "no operands", record("operands", 0)
    yield "parameters of another kind", record("parameters", {"axis": 1})
    yield "parameters of no object", record("parameters", 7)
    yield "a parameter of no kind", record("parameters", {"pickle": "gASVBAAA"})
    yield "another shape", record("shape", [7])
    yield "shape of no list", record("shape", 7)
    yield "another dtype", record("dtype", "float32")
    yield "objects", record("dtype", "object")
    yield "not weak or weak", record("weak", 1)
    yield "weak", record("weak", True)
    yield "an unknown member", record("masked", True)
    yield "a key of no constant", record("key", ["table"])
    yield "records of no list", field("records", {})
    yield "a record of no object", field("records", [7])
    yield "found where it is not", field("found", 3)
    yield "found less than none", field("found", -1)
    yield "results below the first", field("results", [-1])
    yield "results above the last", field("results", [10**6])
    yield "results of no number", field("results", [0.0])
    yield "no results", lambda fields, stream: fields.pop("results")
    yield "operand above the last", number(10**6, 1)
    yield "kind above the last", number(10**6, 0)
    yield "operand itself", lambda fields, stream: stream.__setitem__(1, NODES)
    yield "one number more", lambda fields, stream: stream.append(0)


x = np.array([0.3, 0.4])
NODES = len(ancestors(symgrad.trace(lambda x: np.sin(x) * x, x).outputs)) + 1


@pytest.mark.parametrize("change", [pytest.param(change, id=id) for id, change in spoiled()])
def test_wrong_bytes_are_damaged(change):
    first, second = (symgrad.trace(lambda x: np.sin(x) * x, x) for _ in range(2))
    made, content = derived(first, pullback)
    head, _, stream = content.partition(b"\n")
    fields, numbers = json.loads(head), np.frombuffer(stream, "<u4").tolist()
    assert str(reread(second, json.dumps(fields).encode() + b"\n" + stream, made)) == str(made)
    change(fields, numbers)
    with pytest.raises(Damaged):
        reread(second, json.dumps(fields).encode() + b"\n" + np.array(numbers, "<u4").tobytes(), made)


def test_cut_and_foreign_bytes_are_damaged():
    first, second = (symgrad.trace(lambda x: np.sin(x) * x, x) for _ in range(2))
    made, content = derived(first, pullback)
    for end in range(len(content) - 1):
        if (len(content) - end) % 4 or end < content.index(b"\n"):
            with pytest.raises(Damaged):
                reread(second, content[:end], made)
    for other in (
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        b"null\n",
        b"\x80\x04K\x01.",
        b'{"records":[],"found":0,"results":[99]}\n',
    ):
        with pytest.raises(Damaged):
            reread(second, other, made)


WEAK = {"shape": [], "dtype": "float64", "weak": True}


@pytest.mark.parametrize(
    "record",
    [
        {"op": "literal", "value": "0.50", **WEAK},
        {"op": "literal", "value": "__import__('os')", **WEAK},
        {"op": "literal", "value": True, **WEAK},
        {"op": "literal", "value": 0.5, "operands": 1, **WEAK},
        {"op": "literal", "value": 0.5, **WEAK, "dtype": "float32"},
        {"op": "literal", "value": 0.5, "shape": [], "dtype": "float64"},
        {"op": "literal", "value": "yes", **WEAK, "dtype": "bool"},
        {"op": "constant", "base64": "AAAA", "shape": [1], "dtype": "float64"},
        {"op": "constant", "base64": "####", "shape": [], "dtype": "float64"},
        {"op": "constant", "values": [0.0], "shape": [2], "dtype": "float64"},
        {"op": "constant", "values": [0.0], "shape": [1], "dtype": "float64", "key": {"a": 1}},
        {"op": "dim", "size": "n", "shape": [], "dtype": "int64", "weak": True},
    ],
    ids=str,
)
def test_wrong_leaves_are_damaged(record):
    head = json.dumps({"records": [record], "found": 0, "results": [0]}).encode()
    with Graph(), pytest.raises(Damaged):
        decoded(head + b"\n" + bytes(4), [])


def test_an_array_of_a_name_must_be_the_one_of_the_graph():
    record = {"op": "constant", "values": [0.0, 0.0], "shape": [2], "dtype": "float64", "key": ["table", 2]}
    content = json.dumps({"records": [record], "found": 0, "results": [0]}).encode() + b"\n" + bytes(4)
    with Graph() as graph:
        (first,), (second,) = decoded(content, []), decoded(content, [])
        assert first is second is graph.table["table", 2]
        other = content.replace(b"[0.0, 0.0]", b"[0.0, 1.0]")
        with pytest.raises(Damaged):
            decoded(other, [])
