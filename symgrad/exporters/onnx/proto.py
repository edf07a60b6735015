"""A Graph as a ModelProto, with what it says of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...program.dims import Shape, is_named
from ...version import VERSION
from ..check import Check
from ..header import lines
from ..naming import target_names
from ..subject import Subject
from .graph import Graph
from .steps import DTYPES, OPSET, Inner, Step, Value, needed

if TYPE_CHECKING:
    from onnx import NodeProto, ValueInfoProto

#: the version of the file format that came with the opset
_IR_VERSION = 8


def serialized(subject: Subject, g: Graph, results: Sequence[Value], renamed: Mapping[str, str]) -> bytes:
    """The model with these ``results``, checked; ``renamed`` says what tensors are called in it."""
    from onnx import checker, helper, numpy_helper

    steps = needed(g.steps, [k for k, v in renamed.items() if v in {r.name for r in results}])
    read = {name for step in steps for name in step.read}
    constants = [numpy_helper.from_array(a, name) for name, a in g.initializers.items() if name in read]
    dims = _dim_names([*g.inputs, *results])
    nodes = _nodes(steps, renamed, dims)
    head = lines(subject)
    graph = helper.make_graph(
        nodes,
        subject.name,
        [_described(x, dims) for x in g.inputs],
        [_described(x, dims) for x in results],
        constants,
    )
    made = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name="symgrad",
        producer_version=VERSION,
        doc_string="\n".join(head),
    )
    facts = {"symgrad_header": "\n".join(head)}
    if subject.check is not None:
        named = [[x.name for x in g.inputs], [x.name for x in results]]
        facts["symgrad_check"] = json.dumps(_block(subject.check, *named), allow_nan=False)
    helper.set_model_props(made, facts)
    checker.check_model(made, full_check=True)
    return made.SerializeToString()


def _nodes(steps: Sequence[Step], renamed: Mapping[str, str], dims: Mapping[Any, Any]) -> list[NodeProto]:
    """The nodes that the steps are."""
    from onnx import helper

    nodes = []
    for step in steps:
        ends = [[renamed.get(n, n) for n in names] for names in (step.inputs, step.outputs)]
        name, attributes = ends[1][-1], step.attributes
        inner = attributes.get("body")
        if isinstance(inner, Inner):
            own = _nodes(inner.steps, renamed, dims)
            given, made = ([_described(v, dims) for v in values] for values in (inner.inputs, inner.outputs))
            attributes = attributes | {"body": helper.make_graph(own, f"{name}_step", given, made)}
        nodes.append(helper.make_node(step.operator, *ends, name=name, **attributes))
    return nodes


def _dim_names(values: Sequence[Value]) -> dict[Any, Any]:
    """Named dims under names that are identifiers."""
    import sympy

    symbols = dict.fromkeys(s for x in values for d in x.shape if is_named(d) for s in sorted(d.free_symbols, key=str))
    names = target_names(map(str, symbols), ())
    return {s: sympy.Symbol(n, integer=True, positive=True) for s, n in zip(symbols, names, strict=True)}


def _described(x: Value, dims: Mapping[Any, Any]) -> ValueInfoProto:
    from onnx import helper

    shape: Shape = tuple(str(d.xreplace(dims)) if is_named(d) else int(d) for d in x.shape)
    return helper.make_tensor_value_info(x.name, DTYPES[x.dtype], shape)


def _block(check: Check, inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, Any]:
    """The check as JSON has it."""
    return {
        "tolerance": check.tolerance,
        "sizes": dict(check.sizes),
        "residual": check.residual,
        "inputs": {
            name: {
                "shape": list(x.shape),
                "dtype": x.dtype.name,
                "values": None if x.values is None else _texts(x.values),
                "low": x.low,
                "high": x.high,
            }
            for name, x in zip(inputs, check.given, strict=True)
        },
        "outputs": {
            name: {"shape": list(x.shape), "dtype": x.dtype.name, "step": x.step, "values": _texts(x.values)}
            for name, x in zip(outputs, check.wanted, strict=True)
        },
    }


def _texts(values: np.ndarray) -> list[str]:
    """Numbers that read back as they are; truth values as 0 and 1."""
    plain = values.astype(np.int64) if values.dtype.kind == "b" else values
    return [repr(v) for v in np.ravel(plain).tolist()]
