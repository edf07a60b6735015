"""Modules of whole arrays run without symgrad, and give what the kernel gives, whatever library they are for."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import array_modules
import array_programs
import exportables
import pytest
from every_operation import Call, nothing, with_signs
from exportables import exportable
from hypothesis import given, settings


@dataclass(frozen=True)
class Tried:
    """How much of a format is tried."""

    package: str = "numpy"
    examples: int = 40
    bindings: int = 10_000
    leaving_out: Callable[[Call], bool] = nothing


def slow_in_xla(call: Call) -> bool:
    """XLA compiles for long: it gets one broadcast and one case of each, and odd values of two kinds."""
    return call.nth > (1 if call.kind == "odd" else 0) or call.kind == "single" or call.is_composed


FORMATS = {
    "python": Tried(examples=60),
    "numexpr": Tried(leaving_out=lambda call: call.is_composed),
    "torch": Tried("torch", leaving_out=with_signs),
    "jax": Tried("jax", examples=5, bindings=2_000, leaving_out=slow_in_xla),
}


@pytest.fixture(
    scope="module", params=[pytest.param(f, marks=pytest.mark.needs("torch") if f == "torch" else ()) for f in FORMATS]
)
def tried(request):
    package = FORMATS[request.param].package
    if not os.environ.get("CI"):
        pytest.importorskip(package)
    importlib.import_module(package)
    return request.param


@pytest.fixture(autouse=True)
def float64(tried):
    with sys.modules["jax"].enable_x64(True) if tried == "jax" else contextlib.nullcontext():
        yield


@pytest.fixture(scope="module")
def library(tried):
    return array_modules.library_of(tried)


def test_every_case_runs_alone(tried, tmp_path):
    array_modules.run_alone(tried, FORMATS[tried].package, tmp_path)


@pytest.mark.parametrize("kind", ["elementwise", "single", "function", "odd"])
def test_every_operation_and_its_derivative(library, tried, kind):
    for e in exportables.programs_of([kind], FORMATS[tried].leaving_out):
        library.compare(e, scaled=False)


def test_random_programs(library, tried):
    @given(array_programs.programs())
    @settings(max_examples=FORMATS[tried].examples)
    def run(program):
        library.compare(exportable("random", *array_programs.random_gradient(program)), program)

    run()


def test_benchmarks(library):
    for e in exportables.bench():
        library.compare(e)


def test_hostile_names(library):
    for name in array_programs.HOSTILE:
        library.compare(exportable("", *array_programs.hostile(name)), name)


def test_long_programs(library, tried):
    library.compare(exportables.long_program(FORMATS[tried].bindings))


@pytest.mark.parametrize("sizes", [(1, 1), (0, 2), (3, 0), (7, 4)])
def test_named_dims_serve_every_size(library, sizes):
    array_modules.compare_named(library, sizes)
