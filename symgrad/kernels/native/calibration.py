"""What functions cost on this machine, an element, on NumPy and compiled: measured once, kept in the disk cache.

Until it has been measured, costs of a common machine serve. Measuring takes about a second, most of it the compiler's,
and is done by the thread that builds kernels, after the first of them.
"""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import disk_cache
from ...primitives.elementwise import TEMPLATES
from ...primitives.primitive import input_node
from ...program.node import Graph
from ...program.program import Program
from .compiler import toolchain

#: measured, a function or more of each kind
MEASURED = (
    "add", "multiply", "divide", "sqrt", "maximum", "power", "hypot", "exp", "expm1", "log", "log1p", "log2", "sin",
    "cos", "tan", "tanh", "sinh", "cosh", "arcsin", "arctan", "arctan2", "arcsinh", "cbrt", "where", "logaddexp",
)  # fmt: skip
#: functions so cheap that a loop is measured with several of them, since a loop of one is all memory
_CHEAP = {"add": 8, "multiply": 8, "divide": 8, "sqrt": 4, "maximum": 8}
_ELEMENTS = 4096
_TIMES = 5


@dataclass(frozen=True)
class Costs:
    """Nanoseconds an element, by the name of the template."""

    numpy: Mapping[str, float]
    native: Mapping[str, float]


COMMON = Costs(
    {
        "add": 0.4, "multiply": 0.4, "divide": 1.0, "sqrt": 1.5, "maximum": 0.4, "power": 16.0, "hypot": 10.0,
        "exp": 6.0, "expm1": 10.0, "log": 5.0, "log1p": 10.0, "log2": 6.0, "sin": 11.0, "cos": 14.0, "tan": 22.0,
        "tanh": 15.0,
        "sinh": 18.0, "cosh": 16.0, "arcsin": 15.0, "arctan": 15.0, "arctan2": 25.0, "arcsinh": 25.0, "cbrt": 20.0,
        "where": 2.5, "logaddexp": 28.0,
    },
    {
        "add": 0.2, "multiply": 0.2, "divide": 0.7, "sqrt": 1.2, "maximum": 0.3, "power": 6.0, "hypot": 2.5, "exp": 2.0,
        "expm1": 2.0, "log": 2.0, "log1p": 2.7, "log2": 2.2, "sin": 1.6, "cos": 2.0, "tan": 3.2, "tanh": 4.0,
        "sinh": 4.0, "cosh": 3.5, "arcsin": 3.0, "arctan": 3.0, "arctan2": 5.0, "arcsinh": 5.0, "cbrt": 4.0,
        "where": 0.4, "logaddexp": 6.0,
    },
)  # fmt: skip


@functools.lru_cache(maxsize=1)
def _known() -> list[Costs]:
    """The costs found in the disk cache, at most one."""
    kept = disk_cache.load("calibration", _key())
    costs = None if kept is None else _decoded(kept)
    return [] if costs is None else [costs]


def costs() -> Costs:
    """The costs of this machine, or the common ones as long as these are not known."""
    known = _known()
    return known[0] if known else COMMON


def calibrate(build: Callable[..., list[Any]]) -> None:
    """Measure what is not known; ``build`` compiles programs."""
    if _known() or toolchain() is None:
        return
    kernels = build(*[_program(name) for name in MEASURED])
    numpy, native = {}, {}
    for name, kernel in zip(MEASURED, kernels, strict=True):
        if kernel is None:
            return
        arrays, ufunc, out = _operands(name), TEMPLATES[name].ufunc, np.empty(_ELEMENTS)
        if isinstance(ufunc, np.ufunc):
            numpy[name] = _measured(lambda f=ufunc, a=arrays, o=out: f(*a, out=o))
        else:
            numpy[name] = _measured(lambda f=ufunc, a=arrays: f(*a))
        native[name] = _measured(lambda k=kernel, a=arrays: k.call(*a)) / _CHEAP.get(name, 1)
    found = Costs(numpy, native)
    _known().append(found)
    disk_cache.store("calibration", _key(), json.dumps({"numpy": numpy, "native": native}).encode())


def _key() -> str:
    chain = toolchain(asks=False)
    return disk_cache.key("costs", np.__version__, chain.identity if chain else "", *MEASURED)


def _decoded(content: bytes) -> Costs | None:
    """Costs as they were stored; None where they are anything else."""
    try:
        told = json.loads(content)
        numpy, native = [{name: float(told[kind][name]) for name in MEASURED} for kind in ("numpy", "native")]
    except (ValueError, TypeError, KeyError):
        return None
    sound = all(math.isfinite(v) and v > 0 for v in (*numpy.values(), *native.values()))
    return Costs(numpy, native) if sound else None


def _operands(name: str) -> list[np.ndarray]:
    x = np.linspace(0.1, 0.9, _ELEMENTS)
    template = TEMPLATES[name]
    return [x > 0.5, x, x[::-1].copy()] if template.arity == 3 else [x, x[::-1].copy()][: template.arity]


def _program(name: str) -> Program:
    graph = Graph()
    with graph:
        inputs = [input_node(f"x{k}", a.shape, a.dtype) for k, a in enumerate(_operands(name))]
        made = TEMPLATES[name](*inputs)
        for _ in range(_CHEAP.get(name, 1) - 1):
            made = TEMPLATES[name](made, *inputs[1:])
        return Program(inputs, [made], [n.params[0] for n in inputs], graph)


def _measured(run: Callable[[], Any]) -> float:
    """Nanoseconds an element of the fastest of a few runs."""
    best = math.inf
    for _ in range(_TIMES):
        began = time.perf_counter_ns()
        run()
        best = min(best, time.perf_counter_ns() - began)
    return max(best, 1) / _ELEMENTS
