"""C loops for what is no region: running sums and products, and the sums of the parts that threads have made."""

from __future__ import annotations

import numpy as np

from ...emit.c.spelling import type_of
from .form import STEP, Written

#: how a running value takes the next element in, and what it begins with
OPERATORS = {"cumsum": ("+=", 0), "cumprod": ("*=", 1)}


def scan_loops(
    name: str, shape: tuple, axis: int, reverse: bool, source: tuple, target: tuple, dtype: np.dtype
) -> Written:
    """Running values along one axis, from the end where ``reverse``; ``source`` and ``target`` are strides."""
    operator, start = OPERATORS[name]
    rank = len(shape)
    others = [k for k in range(rank) if k != axis]
    loops = {k: f"for (int64_t i{k} = 0; i{k} < d[{k}]; i{k}++)" for k in others}
    if others:
        loops[others[0]] = f"for (int64_t i{others[0]} = lo; i{others[0]} < hi; i{others[0]}++)"
    i, last = f"i{axis}", f"d[{axis}] - 1"
    along = (
        f"for (int64_t {i} = {last}; {i} >= 0; {i}--)" if reverse else f"for (int64_t {i} = 0; {i} <= {last}; {i}++)"
    )
    x, y = [f"a{n}[{' + '.join(f'i{k} * d[{rank * (n + 1) + k}]' for k in range(rank))}" for n in range(2)]
    kind = type_of(dtype)
    if axis == rank - 1:
        nest = [*loops.values(), f"{{ {kind} t = {start}; {along} {{ t {operator} {x}]; {y}] = t; }} }}"]
    else:  # a row at a time takes in the one before it
        before = f"{y} {'+' if reverse else '-'} d[{2 * rank + axis}]]"
        inner = loops.pop(others[-1])
        nest = [*loops.values(), along, "{", f"const int first = {i} == {last if reverse else 0};"]
        nest += ["#pragma omp simd", f"{inner} {y}] = (first ? {start} : {before}) {operator[0]} {x}];", "}"]
    arrays = [f"const {kind} *const a0 = (void *)p[0];", f"{kind} *const a1 = (void *)p[1];"]
    text = "\n".join([STEP, "{", *("  " + line for line in (*arrays, *nest)), "}"])
    return Written(text, (), (*shape, *source, *target), shape[others[0]] if others else 1, ())


_SIGNS = {"add": "+=", "multiply": "*="}


def combined(operation: str, target: str, value: str) -> str:
    """``target`` with ``value`` taken in; NaN stays."""
    if operation in _SIGNS:
        return f"{target} {_SIGNS[operation]} {value};"
    sign = ">" if operation == "maximum" else "<"
    return f"{{ const __typeof__({target}) e = {value}; {target} = e {sign} {target} || e != e ? e : {target}; }}"


def part_sums(count: int, chunks: int, dtype: np.dtype, operator: str, adds: bool) -> Written:
    """``count`` results from the ``chunks`` copies of each, or added to what is there."""
    kind, written = type_of(dtype), "+=" if adds else "="
    text = (
        f"{STEP}\n{{\n  const {kind} *const a0 = (void *)p[0];\n  {kind} *const a1 = (void *)p[1];\n"
        f"  for (int64_t j = 0; j < d[0]; j++) {{ {kind} t = a0[j]; "
        f"for (int k = 1; k < d[1]; k++) {{ {combined(operator, 't', 'a0[k * d[0] + j]')} }} a1[j] {written} t; }}\n}}"
    )
    return Written(text, (), (count, chunks), count, ())
