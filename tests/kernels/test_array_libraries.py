"""Kernels of array libraries give what NumPy's give; those that are exported too are tried as exports."""

from __future__ import annotations

import cupy_stand_in
import exportables
import pytest
from every_operation import with_signs

import symgrad as sg
from symgrad.errors import BackendError, DtypeError
from symgrad.kernels.array_libraries import LIBRARIES, LibraryKernel


@pytest.fixture
def cupy(monkeypatch):
    return cupy_stand_in.install(monkeypatch)


@pytest.mark.parametrize("kind", ["elementwise", "single", "function", "odd"])
def test_every_operation_and_its_derivative_by_cupy(cupy, kind):
    for e in exportables.programs_of([kind], with_signs):
        kernel = LibraryKernel(e.subject.program, LIBRARIES["cupy"])
        given = [a.item() if n.weak else cupy.asarray(a) for a, n in zip(e.inputs, e.subject.program.inputs)]
        e.agrees([result.get() for result in kernel(*given)], scaled=False)


def test_benchmarks_by_cupy(cupy):
    for e in exportables.bench():
        kernel = LibraryKernel(e.subject.program, LIBRARIES["cupy"])
        e.agrees([result.get() for result in kernel(*map(cupy.asarray, e.inputs))])


def test_cupy_without_a_device_says_so(cupy, monkeypatch):
    def refuse(*args):
        raise cupy.cuda.runtime.CUDARuntimeError("cudaErrorNoDevice")

    monkeypatch.setattr(cupy, "asarray", refuse)
    with pytest.raises(BackendError, match="cupy finds no device to compute on: cudaErrorNoDevice"):
        sg.grad(lambda x: x**2, backend="cupy")(1.0)


def test_a_dtype_that_cupy_has_no_name_for_is_refused(cupy):
    x = cupy.asarray([1.0])
    x._held = x._held.astype("longdouble")
    with pytest.raises(DtypeError, match="arrays of cupy of dtype"):
        sg.grad(lambda x: x**2)(x)
