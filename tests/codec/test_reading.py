"""What a document must not say: each a LoadError that names the place."""

import copy
import json
import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import LoadError
from symgrad.loading.document import read_document

F8 = {"dtype": "float64"}


def document(inputs, *nodes, outputs=None, sizes=(), conditions=()):
    """A document of these inputs, ``(shape, dtype)`` each, and nodes, which are numbered here."""
    made_inputs = [{"number": k, "label": f"x{k}", "shape": s, "dtype": d} for k, (s, d) in enumerate(inputs)]
    made = [{"number": len(inputs) + k, **n} for k, n in enumerate(nodes)]
    outputs = [len(inputs) + len(nodes) - 1] if outputs is None else outputs
    return {
        "format": "symgrad program",
        "version": 1,
        "symgrad": "0.1.0",
        "name": "f",
        "title": "the value of f",
        "header": ["a line"],
        "facts": {"function": "f", "source": "unknown", "flags": "none", "operations": ["sin"]},
        "inputs": made_inputs,
        "nodes": made,
        "outputs": outputs,
        "conditions": list(conditions),
        "sizes": list(sizes),
        "labels": ["f"] * len(outputs),
        "result": {"tuple": [{"output": k} for k in range(len(outputs))]},
        "check": {"none": "not needed"},
    }


def read(made):
    return read_document(json.dumps(made).encode())


def node(op, operands, shape, dtype="float64", **more):
    return {"op": op, "operands": operands, "shape": shape, "dtype": dtype, **more}


def op(name, operands, parameters, shape, dtype="float64"):
    return node(name, operands, shape, dtype, parameters=parameters)


X3, X23 = ([3], "float64"), ([2, 3], "float64")


def test_the_smallest_documents():
    assert str(read(document([X3], node("sin", [0], [3]))).read.program).startswith("program(x0: float64[3])")
    assert read(document([X3], outputs=[0])).read.program.outputs
    assert read(document([], outputs=[])).read.program.outputs == ()


SLICE = {"start": 0, "length": 3, "step": 1}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        # nodes
        (document([X3], node("sin", [0], [4])), "nodes[0].shape: the shape of this node is [3]"),
        (document([X3], node("sin", [0], [3], "float32")), "nodes[0].dtype: the dtype of this node is float64"),
        (document([X3], node("sin", [0], [3], "complex256")), "nodes[0].dtype: 'complex256' should be one of"),
        (document([X3], node("sin", [0], [3], weak=True)), "nodes[0].weak: this node is not weak"),
        (document([X3], node("sin", [0, 0], [3])), "nodes[0].operands: sin has 1 operands, and there are 2"),
        (document([X3], node("sin", [1], [3])), "nodes[0].operands[0]: 1 should be from 0 to 0"),
        (document([X3], node("sin", [-1], [3])), "nodes[0].operands[0]: -1 should be from 0 to 0"),
        (document([X3], node("sin", [True], [3])), "nodes[0].operands[0]: true should be a whole number"),
        (document([X3], node("sin", [0.0], [3])), "nodes[0].operands[0]: 0.0 should be a whole number"),
        (document([X3], node("system", [0], [3])), "nodes[0].op: there is no operation 'system'"),
        (document([X3], node("input", [], [3])), "nodes[0].op: there is no operation 'input'"),
        (document([X3], node("__class__", [0], [3])), "nodes[0].op: there is no operation '__class__'"),
        (document([X3], op("sin", [0], {"out": 1}, [3])), "nodes[0].parameters: 'out' is unknown here"),
        (document([X3], op("sin", [0], {}, [3])), "nodes[0].parameters: without parameters"),
        (document([X3], {"number": 1, **node("sin", [0], [3]), "x": 1}), "nodes[0]: 'x' is unknown here"),
        (document([X3], node("bitwise_and", [0, 0], [3])), "nodes[0]: bitwise_and is not defined for these operands"),
        (document([X3, X23], node("matmul", [0, 1], [3])), "there is no operation 'matmul'"),
        (document([X3, ([4], "float64")], node("add", [0, 1], [3])), "nodes[0]: add is not defined"),
        (document([X3] * 2, node("add", [0, 1], [3]), outputs=[5]), "outputs[0]: 5 should be from 0 to 2"),
        (document([X3], node("sin", [0], [3]), conditions=[1]), "conditions[0]: a condition is one truth value"),
        # leaves
        (document([], {"op": "literal", "value": 1, "shape": [], **F8}), "nodes[0].dtype: this node is weak"),
        (document([], {"op": "literal", "value": True, "shape": [], **F8, "weak": True}), "nodes[0].value: true"),
        (document([], {"op": "literal", "value": 10**19, "shape": [], "dtype": "int64"}), "nodes[0].value: 1000"),
        (document([], {"op": "constant", "value": [1], "shape": [1], **F8}), "nodes[0]: 'value' is unknown here"),
        (document([], {"op": "constant", "values": [1], "shape": [2], **F8}), "nodes[0].values: 1 elements"),
        (document([], {"op": "constant", "values": ["1"], "shape": [1], **F8}), "nodes[0].values[0]: '1' should be"),
        (document([], {"op": "constant", "values": [256], "shape": [1], "dtype": "uint8"}), "values[0]: 256 should be"),
        (document([], {"op": "constant", "values": [0.1], "shape": [1], "dtype": "float32"}), "values[0]: 0.1 is no"),
        (document([], {"op": "constant", "base64": "!!", "shape": [1], **F8}), "nodes[0].base64: is not base64"),
        (document([], {"op": "constant", "base64": "AAAA", "shape": [1], **F8}), "nodes[0].base64: 3 bytes"),
        (document([], {"op": "constant", "base64": "Ag==", "shape": [1], "dtype": "bool"}), "a truth value is a byte"),
        (document([], {"op": "constant", "shape": [0], **F8}), "nodes[0]: the elements should stand in one of"),
        (document([], {"op": "constant", "values": [], "shape": ["n"], **F8}), "sizes that are numbers"),
        (document([], {"op": "dim", "size": 3, "shape": [], "dtype": "int64"}), "nodes[0].size: should be an expr"),
        # inputs
        (document([([2**40, 2**40], "float64")], outputs=[0]), "inputs[0].shape: an array of shape"),
        (document([([-1], "float64")], outputs=[0]), "inputs[0].shape[0]: -1 should be from 0"),
        (document([([1] * 65, "float64")], outputs=[0]), "inputs[0].shape: 65 items"),
        (document([([{"add": ["n", 1]}], "float64")], outputs=[0]), "no axis has the size 'n' alone"),
        (document([(["n"], "float64")], outputs=[0], sizes=[{"size": "n", "is": "even"}]), "sizes[0].is: 'even'"),
        (document([(["n"], "float64")], outputs=[0], sizes=[{"size": 3, "is": "zero"}]), "sizes[0].size: a fact"),
        (document([(["n"], "float64")], outputs=[0], sizes=[{"size": "k", "is": "zero"}]), "the size 'k' alone"),
        # axes
        (document([X23], op("cumprod", [0], {"axis": 2, "reverse": False}, [2, 3])), "parameters.axis: axis 2, and"),
        (document([X23], op("cumsum", [0], {"axis": 2, "reverse": False}, [2, 3])), "parameters.axis: axis 2, and"),
        (document([X23], op("cumsum", [0], {"axis": -1, "reverse": False}, [2, 3])), "parameters.axis: -1 should"),
        (document([X23], op("cumsum", [0], {"axis": 1, "reverse": 0}, [2, 3])), "parameters.reverse: 0 should be true"),
        (document([X23], op("max", [0], {"axes": [0, 0]}, [3])), "parameters.axes: an axis stands twice"),
        (document([([0, 3], "float64")], op("max", [0], {"axes": [0]}, [3])), "nothing stands along axis 0"),
        (document([([0], "float64")], op("argmax", [0], {"axis": 0}, [], "int64")), "nothing stands along this axis"),
        (document([X3], op("argsort", [0], {}, [3], "int64")), "parameters: without parameters"),
        (document([X3], node("argsort", [0], [3], "int64")), "nodes[0].parameters: 'axis' is missing"),
        # shapes and slices
        (
            document([X23], op("reshape", [0], {"shape": [7]}, [7])),
            "shape: [2,3] cannot be given the shape [7]",
        ),
        (document([X3], op("slice", [0], {"slice": [{"at": 3}]}, [])), "slice[0]: 3 is outside of an axis of size 3"),
        (document([X3], op("slice", [0], {"slice": [{"at": -1}]}, [])), "slice[0]: -1 is outside of an axis"),
        (document([X3], op("slice", [0], {"slice": []}, [3])), "parameters.slice: entries for 0 axes"),
        (document([X3], op("slice", [0], {"slice": [SLICE | {"start": 1}]}, [3])), "a slice to 3 is outside"),
        (document([X3], op("slice", [0], {"slice": [SLICE | {"step": -1}]}, [3])), "a slice from -2 is outside"),
        (document([X3], op("slice", [0], {"slice": [SLICE | {"step": 0}]}, [3])), "step: a step cannot be 0"),
        (
            document([X3], op("slice", [0], {"slice": [SLICE | {"step": 2**39}]}, [3])),
            "is outside of an axis of size 3",
        ),
        (document([X3], op("slice", [0], {"slice": [SLICE | {"at": 1}]}, [3])), "'start' is unknown here"),
        (
            document([X3], op("assemble", [0], {"shape": [4], "slices": [[SLICE | {"length": 2}]]}, [4])),
            "slices[0]: a slice and its operand should have the same shape; they have [2] and [3]",
        ),
        (document([X3], op("assemble", [0], {"shape": [4], "slices": []}, [4])), "0 slices for 1 operands"),
        (document([X3], op("assemble", [], {"shape": [4], "slices": []}, [4])), "assemble has 1 to 10000 operands"),
        # by index
        (document([X3, X3], op("gather", [0, 1], {"axis": 0}, [3])), "should hold whole numbers, and is of float64"),
        (document([X3, ([2], "bool")], op("gather", [0, 1], {"axis": 0}, [2])), "whole numbers, and is of bool"),
        (document([X3, ([2], "int64")], op("scatter", [0, 1], {"axis": 0, "size": 9}, [9])), "the index and the axes"),
        (document([X3, ([2], "int64")], op("scatter", [0, 1], {"axis": 1, "size": 9}, [9])), "do not fit an operand"),
        (document([X3, X23], op("concatenate", [0, 1], {"axis": 0}, [3])), "cannot stand one after another"),
        (document([X23, ([2, 4], "float64")], op("concatenate", [0, 1], {"axis": 0}, [4, 3])), "but for axis 0"),
        (document([X3], op("searchsorted", [0, 0], {"side": "middle"}, [3], "int64")), "side: 'middle' should be one"),
        (document([X23, X3], op("searchsorted", [0, 1], {"side": "left"}, [3], "int64")), "needs knots along one axis"),
        # linear algebra
        (document([X3], node("inverse", [0], [3])), "nodes[0].parameters: needs square matrices"),
        (document([X23], node("determinant", [0], [])), "needs square matrices, and the operand has the shape [2,3]"),
        (document([([3, 3], "float16")], node("inverse", [0], [3, 3])), "linear algebra has no float16"),
        (document([([3, 3], "float64"), ([4], "float64")], node("solve", [0, 1], [4])), "but for columns the operands"),
        (document([([3, 3], "float64"), ([], "float64")], node("solve", [0, 1], [])), "cannot solve shape [3,3]"),
        (document([X23, X3], node("convolve", [0, 1], [4])), "needs vectors, and an operand has the shape [2,3]"),
        (document([([0], "float64"), X3], node("convolve", [0, 1], [2])), "needs vectors that are not empty"),
        # contractions
        (document([X23], op("einsum", [0], {"subscripts": "ij->k", "sizes": {"i": 2, "j": 3}}, [2])), "k has no size"),
        (document([X23], op("einsum", [0], {"subscripts": "ij->j", "sizes": {"i": 2, "j": 4}}, [4])), "j is 4, and"),
        (document([X23], op("einsum", [0], {"subscripts": "i->i", "sizes": {"i": 2}}, [2])), "'i' does not fit"),
        (
            document([X23], op("einsum", [0], {"subscripts": "ij,i->", "sizes": {"i": 2, "j": 3}}, [])),
            "2 operands, and",
        ),
        (document([X23], op("einsum", [0], {"subscripts": "ij", "sizes": {"i": 2, "j": 3}}, [2])), "should be as"),
        (document([X23], op("einsum", [0], {"subscripts": "i0j->j", "sizes": {"i": 2, "j": 3}}, [3])), "not how its"),
        (
            document([X23], op("einsum", [0], {"subscripts": "ij->j", "sizes": {"j": 2, "i": 3}}, [3])),
            "letter number 0",
        ),
        (document([X23], op("einsum", [0], {"subscripts": "..j->j", "sizes": {"i": 2}}, [3])), "should be as"),
        (
            document(
                [X23], op("einsum", [0], {"subscripts": "ij->j", "sizes": {"i": 2, "j": 3}, "call": "os.system"}, [3])
            ),
            "call: 'os.system' should be one of",
        ),
    ],
)
def test_what_a_document_must_not_say(made, message):
    with pytest.raises(LoadError, match=re.escape(message)):
        read(made)


PAIR = [X23, ([3, 4], "float64")]


@pytest.mark.parametrize(
    ("inputs", "subscripts", "sizes", "call", "fits"),
    [
        (PAIR, "ij,jk->ik", (2, 3, 4), "matmul", True),
        (PAIR, "ij,jk->ki", (2, 3, 4), "matmul", False),
        (PAIR, "ij,jk->ik", (2, 3, 4), "dot", True),
        (PAIR, "ij,jk->ik", (2, 3, 4), "tensordot", True),
        (PAIR, "ij,jk->ik", (2, 3, 4), "einsum", True),
        (PAIR, "ij,jk->ik", (2, 3, 4), "inner", False),
        (PAIR, "ij,jk->ik", (2, 3, 4), "sum", False),
        (PAIR, "ij,jk->ik", (2, 3, 4), "self_dot", False),
        (PAIR, "ij,jk->ik", (2, 3, 4), "vecdot", False),
        ([X23], "ij->i", (2, 3), "sum", True),
        ([X23], "ij->ji", (2, 3), "sum", False),
        ([X23], "ij->iji", (2, 3), "einsum", False),
        ([X3], "i->ij", (3, 2), "einsum", False),
        ([X3, X3], "i,i->", (3,), "self_dot", False),
        ([X3, X3], "i,i->", (3,), "inner", True),
        ([X3, X3], "i,i->", (3,), "vdot", True),
        ([X23, X23], "ij,ij->", (2, 3), "vdot", False),
        ([([], "float64"), X3], ",i->i", (3,), "dot", True),
        ([([], "float64"), X3], ",i->", (3,), "dot", False),
        ([X3, X3], "i,i->i", (3,), "dot", False),
        ([X3, X3], "i,j->", (3, 3), "tensordot", False),
        ([X23, X3], "ij,j->i", (2, 3), "vecdot", True),
        ([X23, X3], "ij,j->i", (2, 3), "inner", True),
        ([X23, ([1, 3], "float64")], "ij,kj->i", (2, 3, 1), "vecdot", True),
        ([X23, ([2, 3], "float64")], "ij,kj->i", (2, 3, 2), "vecdot", False),
    ],
)
def test_a_call_is_what_the_letters_say(inputs, subscripts, sizes, call, fits):
    parameters = {"subscripts": subscripts, "sizes": dict(zip("ijk", sizes)), "call": call}
    out = [parameters["sizes"][letter] for letter in subscripts.split("->")[1]]
    made = document(inputs, op("einsum", list(range(len(inputs))), parameters, out))
    if fits:
        assert read(made)
    else:
        with pytest.raises(LoadError, match=f"is not what {call} computes of these operands"):
            read(made)


def test_named_sizes_that_only_a_call_can_tell_are_asked_then():
    made = document([(["n"], "float64")], op("slice", [0], {"slice": [SLICE]}, [3]))
    (fact,) = read(made).read.required
    assert str(fact[0]) == "n - 3"
    equal = document(
        [(["n"], "float64"), (["m"], "float64")],
        op("einsum", [0, 1], {"subscripts": "i,i->", "sizes": {"i": "n"}}, []),
    )
    (fact,) = read(equal).read.required
    assert str(fact[0]) in ("n - m", "-m + n")
    with pytest.raises(LoadError, match="a slice from -1"):
        read(document([(["n"], "float64")], op("slice", [0], {"slice": [SLICE | {"start": -1}]}, [3])))


GOOD = json.loads(
    sg.value_and_grad(lambda w, X: np.sum(np.tanh(X[1:] @ w))).export("json", np.ones(2), np.arange(6.0).reshape(3, 2))
)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "png", "the document: is no exported program"),
        (["version"], 2, "this symgrad reads version 1"),
        (["version"], 1.0, "this symgrad reads version 1"),
        (["version"], True, "this symgrad reads version 1"),
        (["name"], "class", "name: 'class' cannot be the name of a function"),
        (["name"], "a b", "name: 'a b' cannot be"),
        (["title"], 'x"""', "title: should be letters"),
        (["title"], "a\nb", "title: should be letters"),
        (["header"], ["a\nb"], "header[0]: should be one line of printable ASCII"),
        (["facts", "source"], "../../etc", "facts.source: should be hexadecimal"),
        (["facts", "flags"], "a\nb", "facts.flags: should be one line"),
        (["facts", "operations"], ["A B"], "facts.operations[0]: should be the name"),
        (["facts", "function"], "f\n", "facts.function: should be letters"),
        (["labels"], ["f"], "labels: 1 items, where there may be 2 to 2"),
        (["labels", 0], r"\input{/etc/passwd}", "labels[0]: should be LaTeX of a name"),
        (["labels", 0], "}", "labels[0]: should be LaTeX"),
        (["labels", 0], "a$b", "labels[0]: should be LaTeX"),
        (["labels", 0], "<script>", "labels[0]: should be LaTeX"),
        (["result"], {"output": 0}, "result: each of the 2 outputs should stand here once"),
        (["result"], {"tuple": [{"output": 1}, {"output": 0}]}, "should stand here once, in order"),
        (["result"], {"exec": "x"}, "result: 'exec' should be one of"),
        (["result"], {"dict": [["a", {"output": 0}], ["a", {"output": 1}]]}, "result.dict: a key stands twice"),
        (["result"], {"named": ["P", ["__init__", {"output": 0}]]}, "'__init__' cannot be the name of a field"),
        (["result"], {"named": ["a b"]}, "'a b' cannot be the name of a field"),
        (["inputs", 0, "label"], "\ud800", "inputs[0].label: a text with half a surrogate pair"),
        (["inputs", 0, "label"], "x" * 1001, "inputs[0].label: a text of 1001 characters"),
        (["inputs", 0, "number"], 1, "inputs[0].number: values are numbered in order, and this one is 0"),
        (["inputs", 0, "weak"], True, "inputs[0].weak: only a Python float is weak"),
        (["nodes", 0, "number"], 9, "nodes[0].number: values are numbered in order"),
        (["nodes"], {}, "nodes: an object should be a list"),
        (["check"], {"none": 5}, "check.none: 5 should be a text"),
        (["check", "tolerance"], 7, "check.tolerance: should be from 0 to 1"),
        (["check", "tolerance"], "nan", "check.tolerance: should be from 0 to 1"),
        (["check", "given", 0, "shape"], [3], "check.given[0].shape: the shape should be [2]"),
        (["check", "given", 0, "dtype"], "int64", "check.given[0].dtype: the input is of float64"),
        (["check", "given"], [], "check.given: 0 items"),
        (["check", "wanted", 1, "step"], 0, "check.wanted[1].step: 0 should be from 1"),
        (["check", "wanted", 1, "values"], [1], "check.wanted[1].values: 1 elements, where there should be 2"),
        (["check", "sizes"], {"n": 3}, "check.sizes: should have a size for each of no named dims"),
        (["unknown"], 1, "the document: 'unknown' is unknown here"),
    ],
)
def test_the_envelope(path, value, message):
    made = copy.deepcopy(GOOD)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(LoadError, match=re.escape(message)):
        read(made)


@pytest.mark.parametrize("key", GOOD)
def test_every_member_is_needed(key):
    with pytest.raises(LoadError, match=r"is missing|is no exported program|reads version"):
        read({k: v for k, v in GOOD.items() if k != key})


def test_values_that_a_check_draws_are_bounded():
    made = document([([10_000, 10_000], "float64")], outputs=[0])
    drawn = {"shape": [10_000, 10_000], **F8, "low": 0, "high": 1}
    wanted = {"shape": [10_000, 10_000], **F8, "step": 10**8, "values": [0.5]}
    made["check"] = {
        "given": [drawn],
        "wanted": [wanted],
        "sizes": {},
        "tolerance": 1e-9,
        "residual": None,
        "differences": "none",
    }
    with pytest.raises(LoadError, match="more than 5000000 elements"):
        read(made)
    made["check"]["given"][0]["low"] = "inf"
    with pytest.raises(LoadError, match="numbers are drawn from between two"):
        read(made)


# --- loops ----------------------------------------------------------------------------------------------------------

CARRY, ELEMENT, CONSTANT = (
    {"number": k, "label": name, "shape": shape, **F8}
    for k, (name, shape) in enumerate([("c", [3]), ("x", []), ("a", [])])
)
#: two steps, each of which gives c * x and keeps c
STEP = {
    "inputs": [CARRY, ELEMENT, CONSTANT],
    "nodes": [{"number": 3, **node("multiply", [0, 1], [3])}],
    "outputs": [3, 0],
}
LOOP = {"body": STEP, "carries": 1, "elements": 1, "length": 2, "finals": [0], "reverse": False, "stores": True}


def looped(*part, **changed):
    """A loop over ``x0[3]``, ``x1[2]`` and ``x2[]``, with other parameters."""
    scan = op("scan", [0, 1, 2], LOOP | changed, [9])
    return document([X3, ([2], "float64"), ([], "float64")], scan, *part)


def stepped(**changed):
    """The same with another body."""
    return looped(body=STEP | changed)


def part(start, shape, dtype="float64"):
    return op("part", [3], {"start": start, "shape": shape, "dtype": dtype}, shape, dtype)


def test_a_loop():
    program = read(looped(part(0, [3]), part(3, [2, 3]))).read.program
    assert "scan[2](x0, x1, x2)" in str(program)
    assert "v0 = multiply(c, x)" in str(program)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (looped(carries=2), "nodes[0].parameters"),
        (looped(carries=3, elements=1), "3 carries and 1 elements, and the body has 3 inputs"),
        (looped(carries=3, elements=0), "parameters.carries: 3 carries, and the body has 2 outputs"),
        (looped(elements=0), "nodes[0].parameters"),
        (looped(length=3), "operand 1 and what the body takes should have the same shape; they have [2] and [3]"),
        (looped(length=-1), "length: -1 should be from 0"),
        (looped(elements=0, length="n"), "length: a length with names"),
        (looped(finals=[0, 0]), "finals: should be numbers of the 1 carries, each once"),
        (looped(finals=[1]), "finals: should be numbers of the 1 carries, each once"),
        (looped(reverse=1), "reverse: 1 should be true or false"),
        (looped(more=1), "'more' is unknown here"),
        (looped(base={"loop": 0, "operands": [], "pieces": []}), "base.loop: should be the number of a loop before"),
        (stepped(outputs=[1, 0]), "body.outputs[0]: carry 0 is float64[3] and after a step float64[]"),
        (stepped(outputs=[7]), "body.outputs[0]: 7 should be from 0 to 3"),
        (stepped(outputs=[]), "carries: 1 carries, and the body has 0 outputs"),
        (stepped(nodes=[{"number": 4, **node("sin", [0], [3])}]), "body.nodes[0].number: values are numbered in order"),
        (stepped(nodes=[{"number": 3, **node("sin", [0], [2])}]), "body.nodes[0].shape: the shape of this node is [3]"),
        (stepped(nodes=[{"number": 3, **node("sin", [3], [3])}]), "body.nodes[0].operands[0]"),
        (stepped(nodes=[{"number": 3, **node("exec", [0], [3])}]), "body.nodes[0].op: there is no operation 'exec'"),
        (stepped(inputs=[CARRY, ELEMENT]), "nodes[0]"),
        (stepped(inputs=[CARRY, ELEMENT, CONSTANT | {"masked": 2}]), "inputs[2].masked: 2 should be true or false"),
        (looped(part(1, [3])), "nodes[1].parameters: this is no result of the loop"),
        (looped(part(0, [2])), "nodes[1].parameters: this is no result of the loop"),
        (looped(part(0, [3], "float32")), "nodes[1].parameters: this is no result of the loop"),
        (looped(part("n", [3])), "nodes[1].parameters: this is no result of the loop"),
        (document([X23], op("part", [0], {"start": 0, "shape": [2], **F8}, [2])), "needs a row"),
        (
            document([X3], op("part", [0], {"start": 2, "shape": [2], **F8}, [2])),
            "[2] from 2 on does not fit a row of 3",
        ),
        (document([X3], op("part", [0], {"start": -1, "shape": [2], **F8}, [2])), "[2] from -1 on does not fit"),
        (document([X3], op("row", [0], {"starts": [1], "size": 3, "batch": 0}, [3])), "[3] from 1 on does not fit"),
        (document([X3], op("row", [0], {"starts": [], "size": 3, "batch": 0}, [3])), "0 starts for 1 operands"),
        (document([X3], op("row", [0], {"starts": [0], "size": 3, "batch": 2}, [3])), "2 leading axes, and operand 0"),
        (document([X3], op("row", [], {"starts": [], "size": 3, "batch": 0}, [3])), "row has 1 to"),
    ],
)
def test_what_must_not_be_said_of_a_loop(made, message):
    with pytest.raises(LoadError, match=re.escape(message)):
        read(made)


def test_bodies_within_bodies_are_bounded():
    made = looped()
    for _ in range(40):
        inner = made["nodes"][0]
        made = stepped(nodes=[{**inner, "number": 3}])
    with pytest.raises(LoadError, match="more than 40 deep"):
        read(made)
