"""Elementwise operations as ONNX operators: on their domains, in both precisions, and where numbers end."""

from __future__ import annotations

import re

import exportables
import numpy as np
import pytest
from every_operation import ELEMENTWISE, calls
from onnx_models import exported, run, same

from symgrad.errors import UnsupportedOperation
from symgrad.exporters import onnx_model

#: operations that no model holds
REFUSED = {"digamma", "gammaln", "zeta"}


def left_out(call):
    """What the format refuses by name: functions, dtypes, and powers of integers."""
    if call.operation in REFUSED or {"float16", "int8", "uint8", "uint32"} & call.dtypes:
        return True
    return call.operation == "power" and not any(d.startswith("float") for d in call.dtypes)


@pytest.mark.parametrize("kind", ["elementwise", "single"])
def test_values_and_first_derivatives(kind):
    for e in exportables.programs_of([kind], left_out):
        for got, want, of in zip(run(onnx_model.model(e.subject), e.inputs), e.wanted, e.of, strict=True):
            same(got, want, 1e-10 if of.startswith("the derivative") else 1e-11, 1e-4, of)


@pytest.mark.parametrize("kind", ["odd", "extreme", "limits"])
def test_edges(kind):
    """Infinities, NaN, zeros, numbers that overflow; whole numbers of all sizes and truth values."""
    for e in exportables.programs_of([kind], left_out):
        for got, want, of in zip(run(onnx_model.model(e.subject), e.inputs), e.wanted, e.of, strict=True):
            assert got.dtype == want.dtype, of
            if got.dtype.kind == "f":
                near = np.finfo(got.dtype).eps if of.startswith("logaddexp") else 0.0  # terms may cancel
                close = 3e-13 if got.dtype == np.float64 else 3e-6
                np.testing.assert_allclose(got, want, rtol=close, atol=near, err_msg=of)
            else:
                np.testing.assert_array_equal(got, want, of)


@pytest.mark.parametrize("name", sorted(REFUSED - {"zeta"}))
def test_functions_without_an_operator_are_refused(name):
    with pytest.raises(UnsupportedOperation, match=f"onnx: {name} has no operator"):
        exported(lambda x: ELEMENTWISE[name].ufunc(x), np.ones(2))


def test_what_is_left_out_is_refused_by_name():
    kinds = ("elementwise", "single", "odd", "limits", "extreme")
    for call in calls(kinds, lambda call: not left_out(call) or call.nth > 4):
        with pytest.raises(UnsupportedOperation) as caught:
            onnx_model.model(exportables.together("refused", (call,)).subject)
        said = "onnx: (arrays of|a power of|(digamma|gammaln|zeta) has no operator)"
        assert re.match(said, str(caught.value)), (call, caught.value)
