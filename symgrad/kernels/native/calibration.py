"""What functions cost on this machine, an element, on NumPy and compiled: measured once, kept in the disk cache.

Until it has been measured, costs of a common machine serve. Measuring takes about a second, most of it the compiler's,
and is done by the thread that builds kernels, after the first of them.

The machine may be busy meanwhile, the interpreter too. So it is the processor's time of this thread that is measured,
on arrays so short that NumPy does not give the interpreter's lock away; of many short runs, in rounds that lie apart,
the fastest counts; and what a machine can hardly take is not believed.
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
from ...primitives.elementwise import ELEMENTWISE, Elementwise
from ...primitives.primitive import input_node
from ...program.node import Graph
from ...program.program import Program
from ...version import VERSION
from .compiler import toolchain

#: measured, a function or more of each kind
MEASURED = (
    "add", "multiply", "divide", "sqrt", "maximum", "power", "hypot", "exp", "expm1", "log", "log1p", "log2", "sin",
    "cos", "tan", "tanh", "sinh", "cosh", "arcsin", "arctan", "arctan2", "arcsinh", "cbrt", "where", "logaddexp",
)  # fmt: skip
#: functions so cheap that a loop is measured with several of them, since a loop of one is all memory
_CHEAP = {"add": 8, "multiply": 8, "divide": 8, "sqrt": 4, "maximum": 8}
#: elements of two arrays, whose difference is the price of elements alone; NumPy keeps the lock for up to 500
_FEW, _MANY = 64, 480
#: rounds over all functions, runs of each in a round, calls of a run
_ROUNDS, _RUNS, _CALLS = 3, 8, 16
#: how many times dearer or cheaper than on a common machine a function may be to be believed
_PLAUSIBLE = 12.0

#: the processor's time of this thread; where there is none, waits are what is not believed
clock = getattr(time, "thread_time_ns", time.perf_counter_ns)


@dataclass(frozen=True)
class Costs:
    """Nanoseconds an element, by the name of the template."""

    numpy: Mapping[str, float]
    native: Mapping[str, float]


COMMON = Costs({n: ELEMENTWISE[n].costs[0] for n in MEASURED}, {n: ELEMENTWISE[n].costs[1] for n in MEASURED})
#: what an operation costs on a common machine -> what is measured and costs the same
_LIKE = {ELEMENTWISE[name].costs: name for name in reversed(MEASURED)}


def costs_of(operation: Elementwise, known: Costs) -> tuple[float, float]:
    """What an element costs, by NumPy and compiled; what is not measured costs as what elsewhere costs the same."""
    name = operation.name if operation.name in known.numpy else _LIKE.get(operation.costs)
    return operation.costs if name is None else (known.numpy[name], known.native[name])


@functools.lru_cache(maxsize=1)
def _known() -> list[Costs]:
    """The costs that this process goes by, at most one: found in the disk cache, or measured."""
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
    names = [(name, count) for name in MEASURED for count in (_FEW, _MANY)]
    kernels = build(*[_program(*name) for name in names])
    if None in kernels:
        return
    numpy = _measured({name: _numpy_call(*name) for name in names})
    native = _measured({n: functools.partial(k.call, *_operands(*n)) for n, k in zip(names, kernels, strict=True)})
    found = _believed(Costs(numpy, {name: cost / _CHEAP.get(name, 1) for name, cost in native.items()}))
    _known().append(found or COMMON)
    if found is not None:
        content = json.dumps({"numpy": found.numpy, "native": found.native})
        disk_cache.store("calibration", _key(), content.encode())


def _numpy_call(name: str, count: int) -> Callable[[], Any]:
    ufunc = ELEMENTWISE[name].ufunc
    out = {"out": np.empty(count)} if isinstance(ufunc, np.ufunc) else {}
    return functools.partial(ufunc, *_operands(name, count), **out)


def _measured(calls: Mapping[tuple[str, int], Callable[[], Any]]) -> dict[str, float]:
    """Nanoseconds an element, by the name, from calls on ``_FEW`` and on ``_MANY`` elements."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(_ROUNDS):
        for key, call in calls.items():
            for _ in range(_RUNS):
                began = clock()
                for _ in range(_CALLS):
                    call()
                best[key] = min(best[key], (clock() - began) / _CALLS)
    return {name: (best[name, _MANY] - best[name, _FEW]) / (_MANY - _FEW) for name in MEASURED}


def _believed(found: Costs) -> Costs | None:
    """``found``, where a function's costs cannot be the common ones instead; None where that is so of most."""
    pairs = ((found.numpy, COMMON.numpy), (found.native, COMMON.native))
    doubtful = [n for n in MEASURED if not all(c[n] / _PLAUSIBLE <= f[n] <= c[n] * _PLAUSIBLE for f, c in pairs)]
    if len(doubtful) > len(MEASURED) // 2:
        return None
    numpy, native = [{**f, **{n: c[n] for n in doubtful}} for f, c in pairs]
    return Costs(numpy, native)


def _key() -> str:
    chain = toolchain(asks=False)
    return disk_cache.content_key("costs", VERSION, np.__version__, chain.identity if chain else "", *MEASURED)


def _decoded(content: bytes) -> Costs | None:
    """Costs as they were stored; None where they are anything else."""
    try:
        told = json.loads(content)
        numpy, native = [{name: float(told[kind][name]) for name in MEASURED} for kind in ("numpy", "native")]
    except (ValueError, TypeError, KeyError):
        return None
    return _believed(Costs(numpy, native))


def _operands(name: str, count: int) -> list[np.ndarray]:
    x = np.linspace(0.1, 0.9, count)
    template = ELEMENTWISE[name]
    return [x > 0.5, x, x[::-1].copy()] if template.arity == 3 else [x, x[::-1].copy()][: template.arity]


def _program(name: str, count: int) -> Program:
    graph = Graph()
    with graph:
        inputs = [input_node(f"x{k}", a.shape, a.dtype) for k, a in enumerate(_operands(name, count))]
        made = ELEMENTWISE[name](*inputs)
        for _ in range(_CHEAP.get(name, 1) - 1):
            made = ELEMENTWISE[name](made, *inputs[1:])
        return Program(inputs, [made], [n.params[0] for n in inputs], graph)
