"""Results that would not fit this machine's memory are refused before anything is computed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from ..errors import ResultTooLarge
from ..primitives.scan import SCAN
from ..program.dims import Shape, is_concrete, size, value_of
from ..program.node import Node
from ..program.program import Program

#: where Linux says what a container may use
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_limit() -> float:
    """Bytes of memory that this process may use, as far as the system or Dask says; infinite where neither does."""
    return min(_of_system(), _of_worker())


def _of_worker() -> float:
    """What the worker of Dask may use on which this runs; infinite elsewhere, and where it has no limit."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return float("inf")
    try:
        worker = distributed.get_worker()
    except ValueError:  # no task runs in this thread
        return float("inf")
    return float(worker.memory_manager.memory_limit or "inf")


@lru_cache(maxsize=1)
def _of_system() -> float:
    limits = [float("inf")]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
    for path in _LIMITS:
        try:
            text = Path(path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            limits.append(float(text))
    return min(limits)


def require_memory(program: Program, sizes: Mapping[sympy.Symbol, int] | None = None) -> None:
    """A ResultTooLarge where an array of ``program`` alone is larger than the memory there is.

    Arrays of named dims are looked at where ``sizes`` says what these are.
    """
    limit = memory_limit()
    if all(array_bytes(*kind, sizes) <= limit for kind in {(n.dtype, n.shape) for n in program.every_node}):
        return
    # the results of a loop are arrays, each of which is a node of its own; the row of them is none
    arrays = [n for n in program.every_node if not n.is_leaf and n.primitive is not SCAN]
    largest = max(arrays, key=lambda n: array_bytes(n.dtype, n.shape, sizes), default=None)
    if largest is not None and array_bytes(largest.dtype, largest.shape, sizes) > limit:
        raise ResultTooLarge(_message(program.outputs, largest, _known_shape(largest.shape, sizes), limit))


def _known_shape(shape: Shape, sizes: Mapping[sympy.Symbol, int] | None) -> Shape:
    return shape if sizes is None or is_concrete(shape) else tuple([value_of(d, sizes) for d in shape])


def array_bytes(dtype: np.dtype, shape: Shape, sizes: Mapping[sympy.Symbol, int] | None = None) -> int:
    """The memory of an array; 0 where it has named dims that ``sizes`` says nothing of."""
    shape = _known_shape(shape, sizes)
    return dtype.itemsize * size(shape) if is_concrete(shape) else 0


def _message(outputs: Sequence[Node], largest: Node, shape: Shape, limit: float) -> str:
    what = "the result" if largest in outputs else "an array on the way to the result"
    shown = " × ".join(map(str, shape))
    return (
        f"{what} of shape {shown} would take {human_bytes(array_bytes(largest.dtype, shape))}, and this process has "
        f"{human_bytes(limit)}. Ask for it with sparse=True, which holds only the entries that are not zero by "
        "structure, or for its products: jvp(f, (x,), (v,)), vjp(f, x)[1](v), and hvp(f, (x,), (v,)) for a Hessian."
    )


def human_bytes(count: float) -> str:
    """A number of bytes as a person reads it.

    >>> human_bytes(8e12), human_bytes(512)
    ('7.28 TiB', '512 B')
    """
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024 or unit == "PiB":
            return f"{count:.3g} {unit}"
        count /= 1024
    raise AssertionError
