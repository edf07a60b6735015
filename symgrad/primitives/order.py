"""The order in which the operands of a contraction are multiplied, pair by pair, found by opt_einsum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..program.dims import Dim

#: what a named dim counts as
NAMED = 1000
#: all orders of products without a sum are tried up to here: dynamic programming takes these as they come
_MAX_TRIED = 5
#: dynamic programming takes exponential time; more operands are ordered greedily
_MAX_OPTIMAL = 12


def extent(dims: Iterable[Dim]) -> float:
    """The number of elements, named dims counted as NAMED."""
    return math.prod([float(d) if isinstance(d, int) else float(NAMED) for d in dims])


@lru_cache(maxsize=4096)
def pairwise_order(
    labels: tuple[tuple[int, ...], ...], out: tuple[int, ...], sizes: tuple[Dim, ...]
) -> list[tuple[int, int]]:
    """Pairs of positions, each pair taken out and its product put at the end.

    ``labels`` are those of each operand without repeats, ``out`` those that stay (others are summed as soon as
    no other operand has them), ``sizes`` the extent of every label.
    """
    if len(labels) == 2:
        return [(0, 1)]
    from opt_einsum import contract_path

    present = {i for own in labels for i in own}
    spelled = ",".join(map(_spelled, labels)) + "->" + _spelled([i for i in out if i in present])
    shapes = [tuple(max(d, 1) if isinstance(d, int) else NAMED for d in (sizes[i] for i in own)) for own in labels]
    method = "dp" if len(labels) <= _MAX_OPTIMAL else "greedy"
    if present <= set(out) and len(labels) <= _MAX_TRIED:
        method = "optimal"
    path, _ = contract_path(spelled, *shapes, shapes=True, optimize=method)
    return [(min(step), max(step)) for step in path if len(step) == 2]


def _spelled(labels: Sequence[int]) -> str:
    from opt_einsum import get_symbol

    return "".join(map(get_symbol, labels))
