"""A derivative as an ONNX model: the standard domain at opset 18, made with the ``onnx`` package.

Inputs and outputs keep their dtypes (float64, float32, int64, int32 and bool) and their names, as far as these are
identifiers; named dims are dynamic axes. CapturedArray arrays are initializers. Where a branch of the function would be
another one, or NumPy would raise for the matrix or the sizes, floats of the result are NaN and whole numbers the
smallest there is.

What the model is stands in its ``doc_string``; its ``metadata_props`` hold the same lines under ``symgrad_header``, and
under ``symgrad_check`` JSON: ``inputs`` and ``outputs`` by name with ``shape``, ``dtype`` and ``values`` (numbers as
text, in C order; of an output every ``step``-th one), and the ``tolerance``. Large inputs have no values but an
interval, ``low`` to ``high``, that they are drawn from. This checks a model with nothing but onnxruntime and NumPy:

    import json, math
    import numpy as np, onnxruntime

    def check(path):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        block = json.loads(session.get_modelmeta().custom_metadata_map["symgrad_check"])

        def given(g):
            if g["values"] is not None:
                return np.array([float(v) if "f" in g["dtype"] else int(v) for v in g["values"]])
            u = np.mod((np.arange(math.prod(g["shape"])) + 1.0) * 0.6180339887498949, 1.0)
            if g["dtype"] == "bool":
                return u >= 0.5
            if "f" in g["dtype"]:
                return g["low"] + (g["high"] - g["low"]) * u
            return g["low"] + np.floor((g["high"] - g["low"] + 1) * u)

        feeds = {n: given(g).astype(g["dtype"]).reshape(g["shape"]) for n, g in block["inputs"].items()}
        worst = 0.0
        for got, wanted in zip(session.run(list(block["outputs"]), feeds), block["outputs"].values(), strict=True):
            want = np.array([float(v) for v in wanted["values"]])
            mine = np.ravel(got)[:: wanted["step"]].astype(float)
            scale = max(1.0, np.max(np.abs(want), where=np.isfinite(want), initial=0.0))
            same = (mine == want) | (np.isnan(mine) & np.isnan(want))
            with np.errstate(invalid="ignore"):
                worst = max(worst, np.max(np.where(same, 0.0, np.abs(mine - want) / scale), initial=0.0))
        verdict = "pass" if worst <= block["tolerance"] else "FAIL"
        print(f"{path}: {verdict} (largest difference {worst:.1e}, allowed {block['tolerance']:.0e})")
        return verdict == "pass"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..errors import ArgumentError, MissingPart, UnsupportedOperation
from ..passes.elementary import in_elementary
from ..passes.unrolling import parted
from ..primitives.scan import PART, SCAN
from ..program.node import Node
from .naming import target_names
from .onnx.graph import Graph
from .onnx.loops import repeated
from .onnx.proto import serialized
from .onnx.steps import BOOL, Value, xp
from .onnx.structural import leaf, written
from .subject import Subject


def model(subject: Subject) -> bytes:
    """The derivative as a serialized ModelProto that ``onnx.checker`` has passed.

    >>> import onnx, symgrad
    >>> made = onnx.load_from_string(symgrad.grad(lambda x: x**3).export("onnx", 2.0))
    >>> [node.op_type for node in made.graph.node], made.graph.output[0].name
    (['Mul', 'Mul'], 'df_dx')
    """
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise MissingPart("an ONNX model is made with the onnx package: pip install 'symgrad[onnx]'") from None
    program = subject.program
    if not program.outputs:
        raise ArgumentError("onnx: the result holds no array, so there is nothing that a model could compute.")
    names = target_names([*program.names, *subject.output_names], ())
    inputs, outputs = names[: len(program.inputs)], names[len(program.inputs) :]
    g = Graph(program.inputs, inputs, names)
    guarded = in_elementary(parted(subject.guarded), ())
    values, renamed = _computed(g, guarded.nodes)
    made = [values[n] for n in guarded.outputs]
    count = len(program.outputs)
    results = _poisoned(g, made[:count], [*_facts(g, subject), *made[count:], *g.conditions])
    for value, name in zip(results, outputs, strict=True):
        if g.is_given(value) or renamed.get(value.name) in outputs:
            value = g.copy(value)
        renamed[value.name] = name
    return serialized(subject, g, [replace(v, name=n) for n, v in zip(outputs, results, strict=True)], renamed)


def _computed(g: Graph, nodes: Sequence[Node]) -> tuple[dict[Node, Value], dict[str, str]]:
    """The value of each node, and what the last step of each binding is called."""
    values = dict(zip(g.nodes, g.inputs, strict=True))
    renamed: dict[str, str] = {}
    pieces: dict[Node, dict[tuple, Value]] = {}
    count = 0
    for node in nodes:
        if node.primitive.name == "input":
            continue
        if node.is_leaf:
            values[node] = leaf(g, node)
            continue
        if node.primitive is PART:
            values[node] = pieces[node.operands[0]][node.params]
            continue
        name = f"v{count}"
        count += 1
        g.begin(name)
        if node.primitive is SCAN:
            pieces[node] = repeated(g, node, [values[o] for o in node.operands], partial(_compute, g))
            continue
        made = values[node] = written(g, node, [values[o] for o in node.operands])
        if made.name.startswith(f"{name}_"):
            renamed[made.name] = name
    return values, renamed


def _compute(g: Graph, nodes: Sequence[Node], values: dict[Node, Value]) -> None:
    """The value of each node of a step."""
    pieces: dict[Node, dict[tuple, Value]] = {}
    for node in nodes:
        if node in values:
            continue
        operands = [] if node.primitive is PART else [values[o] for o in node.operands if o in values]
        if node.is_leaf:
            values[node] = leaf(g, node)
        elif node.primitive is PART:
            values[node] = pieces[node.operands[0]][node.params]
        elif node.primitive is SCAN:
            pieces[node] = repeated(g, node, operands, partial(_compute, g))
        else:
            values[node] = written(g, node, operands)


def _facts(g: Graph, subject: Subject) -> list[Value]:
    """What the derivation takes for granted about sizes, as truth values."""
    g.begin("size_holds")
    facts = dict.fromkeys([*subject.program.graph.sizes.facts, *g.facts])
    holding = {"zero": xp.equal, "not zero": xp.not_equal, "nonnegative": xp.greater_equal}
    return [g.reshape(holding[sign](g.dim(dim), 0), ()) for dim, sign in facts]


def _poisoned(g: Graph, results: Sequence[Value], holding: Sequence[Value]) -> list[Value]:
    """Results that are no numbers where one of the conditions does not hold."""
    if not holding:
        return list(results)
    g.begin("holds")
    all_hold = holding[0]
    for holds in dict.fromkeys(holding[1:]):
        all_hold = all_hold & holds
    g.begin("result")
    made = []
    for value in results:
        if value.dtype == BOOL:
            raise UnsupportedOperation(
                "onnx: the function branches on values, or raises for some, and a truth value of the result cannot say "
                "that it did; return it as a float."
            )
        poison = np.nan if value.is_float else np.iinfo(value.dtype).min
        made.append(xp.where(all_hold, value, poison))
    return made
