"""C loops for what is no region: running sums, and the sums of the parts that threads have made."""

from __future__ import annotations

import numpy as np

from .loops import Written, combined
from .spelling import HELD, STORED


def scan_loops(shape: tuple, axis: int, reverse: bool, source: tuple, target: tuple, dtype: np.dtype) -> Written:
    """Running sums along one axis, from the end where ``reverse``; ``source`` and ``target`` are strides."""
    rank = len(shape)
    loops = [f"for (int64_t i{k} = 0; i{k} < d[{k}]; i{k}++)" for k in range(rank) if k != axis]
    i = f"i{axis}"
    count = f"for (int64_t {i} = 0; {i} < d[{axis}]; {i}++)"
    if reverse:
        count = f"for (int64_t {i} = d[{axis}] - 1; {i} >= 0; {i}--)"
    at = [" + ".join(f"i{k} * d[{rank * (n + 1) + k}]" for k in range(rank)) for n in range(2)]
    kind = STORED[dtype]
    text = (
        f"  const {kind} *const a0 = (void *)p[0];\n  {kind} *const a1 = (void *)p[1];\n"
        f"  {' '.join(loops)} {{ {HELD[dtype]} t = 0; {count} {{ t += a0[{at[0]}]; a1[{at[1]}] = t; }} }}"
    )
    return Written(text, (*shape, *source, *target), 1, ())


def part_sums(count: int, chunks: int, dtype: np.dtype, operator: str, adds: bool) -> Written:
    """``count`` results from the ``chunks`` copies of each that threads have made, or added to what is there."""
    kind, written = STORED[dtype], "+=" if adds else "="
    text = (
        f"  const {kind} *const a0 = (void *)p[0];\n  {kind} *const a1 = (void *)p[1];\n"
        f"  for (int64_t j = 0; j < d[0]; j++) {{ {kind} t = a0[j]; "
        f"for (int k = 1; k < {chunks}; k++) {{ {combined(operator, 't', 'a0[k * d[0] + j]')} }} a1[j] {written} t; }}"
    )
    return Written(text, (count,), count, ())
