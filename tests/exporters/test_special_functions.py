"""The functions that SciPy alone computes, in modules of array libraries; what is lacking is refused by name."""

from __future__ import annotations

import contextlib
import os
import sys

import array_modules
import exportables
import numpy as np
import pytest
from every_operation import Call
from operands import draw

import symgrad as sg
from symgrad.emit.arrays.dialect import NUMPY
from symgrad.emit.arrays.jax import JAX
from symgrad.emit.arrays.torch import TORCH
from symgrad.errors import UnsupportedOperation

special = pytest.importorskip("scipy.special")
records = pytest.importorskip("symgrad.primitives.special")
DIALECTS = {"python": NUMPY, "jax": JAX, "torch": TORCH}
FORMATS = [pytest.param(f, marks=pytest.mark.needs("torch") if f == "torch" else ()) for f in DIALECTS]


def call(name, size):
    operation = records.OPERATIONS[name]
    rng = np.random.default_rng(11)
    args = [draw(rng, interval, (size,)) for interval in records.DOMAINS[name]]
    return Call(name, "odd", 0, _traced(operation), tuple(args))


def _traced(operation):
    """The function that a user calls, of which the operation is one result."""
    ufunc, place = getattr(operation.ufunc, "ufunc", None), getattr(operation.ufunc, "place", None)
    return operation.ufunc if ufunc is None else lambda *args: ufunc(*args)[place]


@pytest.mark.parametrize("tried", FORMATS)
def test_what_a_library_has_gives_what_the_kernel_gives(tried):
    if tried != "python" and not os.environ.get("CI"):
        pytest.importorskip(tried)
    library = array_modules.library_of(tried)
    known = [n for n, operation in records.OPERATIONS.items() if DIALECTS[tried].function(operation, "f") is not None]
    assert len(known) > (150 if tried == "python" else 20)
    calls = [call(name, 2) for name in known]
    with sys.modules["jax"].enable_x64(True) if tried == "jax" else contextlib.nullcontext():
        for k in range(0, len(calls), 30):
            library.compare(exportables.together(f"special_{k}", tuple(calls[k : k + 30])), scaled=False)


@pytest.mark.parametrize("format", ["c", "numba", "julia", "fortran", "jax", "torch", "onnx"])
def test_what_a_target_lacks_is_refused_by_name(format):
    lacking = [
        n
        for n in records.OPERATIONS
        if format not in DIALECTS or not DIALECTS[format].function(records.OPERATIONS[n], "f")
    ]
    for name in lacking[::12]:
        made = call(name, 2)
        with pytest.raises(UnsupportedOperation, match=rf"\b{name}\b"):
            sg.symbolic(made.function).export(format, *made.args)
