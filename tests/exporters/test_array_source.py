"""Modules of whole arrays run without symgrad, and give what the kernel gives, whatever library they are for."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from dataclasses import dataclass

import array_modules
import array_programs
import pytest
from hypothesis import given, settings


@dataclass(frozen=True)
class Tried:
    """How much of a format is tried: XLA compiles for long."""

    package: str = "numpy"
    examples: int = 40
    kinds: int | None = None
    cases: int | None = None
    bindings: int = 10_000


FORMATS = {
    "python": Tried(examples=60),
    "numexpr": Tried(),
    "torch": Tried("torch"),
    "jax": Tried("jax", examples=5, kinds=2, cases=1, bindings=2_000),
}


@pytest.fixture(scope="module", params=FORMATS)
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


@pytest.mark.parametrize("names", array_modules.chunks(array_modules.ELEMENTWISE, 12), ids=lambda names: names[0])
def test_elementwise(library, tried, names):
    library.compare_elementwise(names, FORMATS[tried].kinds)


@pytest.mark.parametrize("functions", array_modules.chunks(array_modules.WHOLE_ARRAY, 20))
def test_functions(library, tried, functions):
    library.compare_functions(functions, FORMATS[tried].cases)


def test_random_programs(library, tried):
    @given(array_programs.programs())
    @settings(max_examples=FORMATS[tried].examples, deadline=None)
    def run(program):
        library.compare(*array_programs.random_gradient(program), what=program)

    run()


@pytest.mark.parametrize("name", array_programs.BENCH)
def test_benchmarks(library, name):
    library.compare(*array_programs.bench(name), what=name)


@pytest.mark.parametrize("name", array_programs.HOSTILE)
def test_hostile_names(library, name):
    library.compare(*array_programs.hostile(name), what=name)


def test_long_programs(library, tried):
    library.compare(*array_programs.long_program(FORMATS[tried].bindings))


@pytest.mark.parametrize("sizes", [(1, 1), (0, 2), (3, 0), (7, 4)])
def test_named_dims_serve_every_size(library, sizes):
    array_modules.compare_named(library, sizes)
