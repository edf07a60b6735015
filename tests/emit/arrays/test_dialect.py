"""The dialects: what they list is there, and what they do not list their libraries call as NumPy does."""

from __future__ import annotations

import importlib
import re
import string

import numpy as np
import pytest

import symgrad
import symgrad.primitives.special  # its functions are among the templates
from symgrad.emit.arrays.cupy import CUPY
from symgrad.emit.arrays.dialect import CALLS, NUMPY, OPERATORS
from symgrad.emit.arrays.jax import JAX
from symgrad.emit.arrays.torch import TORCH
from symgrad.emit.arrays.writer import ArrayWriter
from symgrad.errors import UnsupportedOperation
from symgrad.primitives.elementwise import ELEMENTWISE, Elementwise

DIALECTS = [
    pytest.param((NUMPY, {"np": "numpy", "special": "scipy.special"}), id="numpy"),
    pytest.param((JAX, {"jnp": "jax.numpy", "special": "jax.scipy.special"}), id="jax"),
    pytest.param((TORCH, {"torch": "torch"}), id="torch", marks=pytest.mark.needs("torch")),
    pytest.param((CUPY, {"cp": "cupy", "special": "cupyx.scipy.special"}), id="cupy", marks=pytest.mark.needs("cupy")),
]


@pytest.fixture(params=DIALECTS)
def dialect(request):
    return request.param


def test_what_is_listed_is_there(dialect):
    own, _ = dialect
    assert own.own.keys() <= {*CALLS, "expm", "logm", "sqrtm", "sylvester"}  # SciPy's, which not every library has
    for table in (own.functions, own.whole, own.truth):
        assert table.keys() <= {*ELEMENTWISE, *symgrad.primitives.special.OPERATIONS}
    called = {name for text in (*own.calls.values(), *own.functions.values()) for name in re.findall(r"\b_\w+", text)}
    assert {name for name in called if not name.startswith("_on_")} <= own.helpers.keys()
    assert "_on_diagonal" in own.helpers


def test_every_elementwise_function_has_a_call_that_its_library_knows(dialect):
    own, modules = dialect
    for template in ELEMENTWISE.values():
        for kind in "fib":
            spelled = own.function(template, kind)
            assert spelled is not None, template.name
            fields = {int(field) for _, field, _, _ in string.Formatter().parse(spelled) if field}
            unread = {1} if template.name == "squared_sech" else set()  # which derivatives alone take
            assert fields | unread == set(range(template.arity)), template.name
            for library, path in re.findall(r"(?<![\w.])(\w+)\.([\w.]+)\(", spelled):
                found = importlib.import_module(modules[library])
                for name in path.split("."):
                    found = getattr(found, name)


@pytest.mark.parametrize("dialect", DIALECTS[1:], indirect=True)
def test_the_special_functions_that_are_listed_are_there(dialect):
    own, modules = dialect
    found = importlib.import_module(own.special if own is TORCH else modules["special"])
    assert own.special_has
    assert [name for name in own.special_has if not hasattr(found, name)] == []


def test_signs_are_for_readers_alone():
    assert NUMPY.function(ELEMENTWISE["add"], "f") == OPERATORS["add"]
    assert NUMPY.function(ELEMENTWISE["add"], "f", operators=False) == "np.add({0}, {1})"


def test_a_function_of_no_library_is_refused_by_name():
    own = Elementwise("own_function", np.frompyfunc(lambda a: a, 1, 1), None, arity=1)
    assert all(dialect.function(own, "f") is None for dialect in (NUMPY, JAX, TORCH, CUPY))
    program = symgrad.trace(np.sin, np.ones(2))
    writer = ArrayWriter(program, {program.inputs[0]: "x"}, {}, NUMPY)
    with pytest.raises(UnsupportedOperation, match="own_function has no function in NumPy or SciPy"):
        writer.elementwise(program.outputs[0], own)
