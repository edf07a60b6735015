"""The JSON form: what it says, that it is exact, and that it is the form of its schema."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import golden
import jsonschema
import numpy as np
import pytest
from cases import CASES, GOLDEN

import symgrad as sg
from symgrad.codec.document import schema
from symgrad.codec.operations import names
from symgrad.errors import UnsupportedOperation
from symgrad.loading.document import read_document
from symgrad.tracing.tree import flatten

DOCS = Path(__file__).parents[2] / "docs" / "program_schema.md"


def written(made, depth=2):
    """JSON with a line for each member, of the members of the whole too."""
    if not depth or not isinstance(made, dict):
        return json.dumps(made)
    rows = [f"{'  ' * (3 - depth)}{json.dumps(key)}: {written(value, depth - 1)}" for key, value in made.items()]
    return "{\n" + ",\n".join(rows) + "\n" + "  " * (2 - depth) + "}" + "\n" * (depth == 2)


FILE = Path(str(resources.files("symgrad.codec").joinpath("program.schema.json")))
if os.environ.get("SYMGRAD_GOLDEN") == "write":
    FILE.write_text(written(schema()), encoding="utf-8")
SCHEMA = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("name", CASES)
def test_a_document_is_of_the_schema_and_loads_as_the_same_program(name, validator, tmp_path):
    case = CASES[name]
    text = case.export("json", path=tmp_path / "it.json")
    assert (tmp_path / "it.json").read_text(encoding="utf-8") == text
    validator.validate(json.loads(text))
    subject = case.subject()
    read = read_document(text.encode()).read
    program = read.program.with_outputs((*read.program.outputs, *read.conditions))
    assert str(program) == str(subject.traced)
    for mine, theirs in zip(program.nodes, subject.traced.nodes, strict=True):
        assert mine.primitive is theirs.primitive
        assert (mine.shape, mine.dtype, mine.weak, mine.masked) == (
            theirs.shape,
            theirs.dtype,
            theirs.weak,
            theirs.masked,
        )
        if mine.primitive.name not in ("constant", "custom", "mark", "scan"):
            assert mine.params == theirs.params
    assert sg.load(tmp_path / "it.json").export("json") == text


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_derivative_gives_the_same_bits(name, tmp_path):
    case = replace(CASES[name])  # not served by a compiled kernel yet, which rounds otherwise
    case.export("json", path=tmp_path / "it.json")
    loaded = sg.load(tmp_path / "it.json")
    for args in (case.args, *case.others):
        result = loaded(*case.inputs(args))
        for got, want in zip(flatten(result)[0], case.expected(args), strict=True):
            assert np.asarray(got).dtype == want.dtype
            assert np.asarray(got).tobytes() == want.tobytes()
    assert flatten(result)[1] == flatten(case.derived._readable()(*args))[1]
    assert loaded.check()


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("json", name, CASES[name].export("json"), ".json")


def test_the_schema_is_made_of_the_forms():
    assert schema() == SCHEMA, "SYMGRAD_GOLDEN=write writes it anew"


def test_the_schema_and_the_page_know_every_operation():
    assert SCHEMA["$defs"]["operation"]["properties"]["op"]["enum"] == names()
    text = DOCS.read_text(encoding="utf-8")
    assert [name for name in names() if f"`{name}`" not in text] == []


def test_the_page_names_every_member():
    text = DOCS.read_text(encoding="utf-8")

    def keys(value):
        if isinstance(value, dict):
            yield from value.get("properties", {})
            for v in value.values():
                yield from keys(v)
        if isinstance(value, list):
            for v in value:
                yield from keys(v)

    assert [key for key in {*keys(SCHEMA)} if not re.search(rf'[`"{{ ]{key}[`":, ]', text)] == []


def test_the_example_of_the_page_is_what_is_exported():
    def loss(x, a):
        return np.sum(np.sin(x) * x) * a

    (example,) = re.findall(r"```json\n(.*?\n)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    wanted, got = (json.loads(t) for t in (example, sg.grad(loss).export("json", np.array([0.0, 1.0]), 2.0)))
    for document in (wanted, got):
        document["facts"].pop("source")
        document["header"] = [re.sub(r"source \w+|off by \S+|symgrad [\d.]+", "", line) for line in document["header"]]
        document["check"].pop("residual")
        document["check"].pop("differences")
        (value,) = document["check"].pop("wanted")
        assert value["values"] == pytest.approx([0.0, 2.7635465813520725])
        document.pop("symgrad")
    assert wanted == got
    assert read_document(example.encode()).name == "grad_loss"


def test_numbers_are_exact():
    array = np.array([0.1, 1 / 3, np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308])
    small = array[:6].astype(np.float32)
    whole = np.array([2**63 - 1, -(2**63)])

    def f(x):
        return x + array, np.add(small, 1), whole * 2, np.array([True, False]), np.arange(1000) % 7 + x[0]

    text = sg.symbolic(lambda x: [v + 0 * x[0] if v.dtype.kind == "f" else v for v in f(x)]).export("json", array)
    read = read_document(text.encode()).read.program
    mine = [np.asarray(n.params[0].value) for n in read.nodes if n.primitive.name == "constant"]
    assert any(v.dtype == np.float64 and v.tobytes() == array.tobytes() for v in mine)
    assert any(v.dtype == np.float32 for v in mine)
    assert any(v.size == 1000 for v in mine)
    assert '"base64"' in text
    assert '"nan"' in text


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("size", [0, 3, 500])
def test_captured_arrays_of_every_dtype(dtype, size):
    rng = np.random.default_rng(3)
    array = rng.integers(0, 100, (size, 2)).astype(dtype)
    text = sg.symbolic(lambda x: (x, array)).export("json", 1.0)
    (node,) = [n for n in read_document(text.encode()).read.program.nodes if n.primitive.name == "constant"]
    value = node.params[0].value
    assert value.dtype == array.dtype
    assert value.shape == array.shape
    assert value.tobytes() == array.tobytes()


def test_names_of_users_are_text_and_nothing_else():
    hostile = [
        "class",
        "a.b",
        "a_b",
        "*/",
        '"""',
        "x\ny",
        r"\input{/etc/passwd}",
        "</script>",
        "'); drop",
        "v0",
        "Δ",
        "𝔵" * 600,
    ]
    value = {name: np.array(float(k)) for k, name in enumerate(hostile)}
    text = sg.grad(lambda p: sum(v**2 for v in p.values())).export("json", value)
    document = json.loads(text)
    assert [i["label"] for i in document["inputs"]] == [f"p_{name}"[:1000] for name in hostile]
    assert all(line.isascii() and line.isprintable() for line in document["header"])
    loaded = read_document(text.encode())
    assert not any("input" in label and "\\input" in label for label in loaded.labels)


def test_what_could_not_be_loaded_is_not_written(monkeypatch):
    array = np.zeros(9_000_000)
    with pytest.raises(UnsupportedOperation, match="Make them arguments of the function"):
        sg.symbolic(lambda x: x + array).export("json", 1.0)
    monkeypatch.setattr("symgrad.codec.programs.MAX_NODES", 3)
    with pytest.raises(UnsupportedOperation, match="at most 10000 inputs and 3 nodes, and this program has 1 and 5"):
        sg.symbolic(lambda x: np.sin(np.sin(np.sin(np.sin(np.sin(x)))))).export("json", 1.0)


class Opaque:
    """Something that a function may return."""


@pytest.mark.parametrize(
    ("function", "argument", "names"),
    [
        (lambda x: (x, Opaque()), np.ones(2), "Opaque"),
        (lambda x: {Opaque(): x}, np.ones(2), "Opaque"),
        (lambda x: x * (2**70), np.ones(2), "71"),
        (lambda x: (x, 2**70), np.ones(2), "63 bits"),
        (lambda x: (x, "y" * 5000), np.ones(2), "characters"),
        (lambda x: x * 2, np.ones(2, ">f8"), ">f8"),
        (lambda x: x * 2, np.ones(2, np.longdouble), "dtype"),
    ],
)
def test_what_has_no_place_in_json_is_refused_by_name(function, argument, names):
    with pytest.raises(UnsupportedOperation, match=re.escape(names)):
        sg.symbolic(function).export("json", argument)


def test_an_operation_that_is_not_symgrads_own_is_refused():
    from symgrad.codec.programs import written_program
    from symgrad.primitives.elementwise import ELEMENTWISE, Elementwise
    from symgrad.program.node import Graph
    from symgrad.program.program import Program

    sine = ELEMENTWISE["sin"]
    try:
        mine = Elementwise("sin", np.sin, sine.expr)
    finally:
        ELEMENTWISE["sin"] = sine
    with Graph() as graph:
        from symgrad.primitives.primitive import input_node

        x = input_node("x", (), np.dtype(float))
        program = Program([x], [mine(x)], ["x"], graph)
    with pytest.raises(UnsupportedOperation, match="sin is no operation of symgrad's own"):
        written_program(program)
