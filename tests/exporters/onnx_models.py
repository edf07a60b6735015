"""ONNX models for their tests: made beside their kernels, checked by the official checker, run by onnxruntime."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from exportables import unchecked

import symgrad as sg
from symgrad.exporters import onnx_model
from symgrad.kernels.kernel import lower

if not os.environ.get("CI"):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(4)


def run(model, arrays) -> list[np.ndarray]:
    """The results of a model in onnxruntime."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    given = {i.name: np.asarray(a) for i, a in zip(session.get_inputs(), arrays, strict=True)}
    return [np.asarray(made) for made in session.run(None, given)]


class Exported:
    """A derivative as a model, made without a check, beside its kernel."""

    def __init__(self, derived: Any, args: tuple) -> None:
        self.subject = unchecked(derived, args)
        self.model = onnx_model.model(self.subject)

    def compare(self, *arrays, bound=1e-11, of_single=1e-5):
        """Results have the shapes and dtypes of the kernel's, and its values."""
        with np.errstate(all="ignore"):
            wanted = lower(self.subject.program, "numpy")(*arrays)
        for got, want in zip(run(self.model, arrays), map(np.asarray, wanted), strict=True):
            same(got, want, bound, of_single)


def same(got, want, bound=1e-11, of_single=1e-5, what=""):
    assert got.shape == want.shape, what
    assert got.dtype == want.dtype, what
    limit = of_single if want.dtype == np.float32 else bound
    np.testing.assert_allclose(got, want, rtol=limit, atol=limit, err_msg=what)


def exported(function, *args):
    return Exported(sg.symbolic(function, backend="numpy"), args)


def infers_what_it_declares(model):
    """Shape inference, told nothing of the results, finds the types and known dims that are declared."""
    made = onnx.load_from_string(model)
    onnx.checker.check_model(made, full_check=True)
    declared = {o.name: o.type.tensor_type for o in made.graph.output}
    bare = onnx.ModelProto.FromString(model)
    for o in bare.graph.output:
        o.type.tensor_type.ClearField("shape")
    for o in onnx.shape_inference.infer_shapes(bare, strict_mode=True, data_prop=True).graph.output:
        found, said = o.type.tensor_type, declared[o.name]
        assert found.elem_type == said.elem_type
        if found.HasField("shape"):
            assert len(found.shape.dim) == len(said.shape.dim)
            for a, b in zip(found.shape.dim, said.shape.dim, strict=True):
                assert not (a.HasField("dim_value") and b.HasField("dim_value")) or a.dim_value == b.dim_value
