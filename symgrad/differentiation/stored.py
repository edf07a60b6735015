"""A derivation that another process has made is read instead of made again.

Deriving by many directions, or what was derived before, takes several times as long as reading what it gives, so that
is kept in the disk cache where programs are long: under the exact spelling of the nodes it is derived from, of what is
derived, and of the code that does it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from itertools import islice

import numpy as np
import sympy

from .. import disk_cache
from ..codec.packed import Damaged, decoded, encoded, name_of
from ..errors import UnsupportedOperation, apart_from_refusals
from ..primitives.contraction import EINSUM
from ..program.collector import collector_paused
from ..program.node import Node, active_graph, ancestors

#: nodes that a sweep goes through, from which on a file may be read in less time
PAYS_FROM = 400
#: nodes below a derivation for each that it flows through; more take longer to spell
_MAX_BELOW = 4
#: what derives besides symgrad itself, which every key holds
_VERSIONS = f"python {sys.version} numpy {np.__version__} sympy {sympy.__version__} {sys.byteorder}"

Results = list[Node | None]


def pays(nodes: Collection[Node], batch: int) -> bool:
    """Whether what a sweep through these nodes gives is read in less time than it is derived in.

    Not where a flow without ``batch`` axes goes through the nodes of a function itself: to make a node then takes no
    longer than to read it, and naming all of them comes on top. What derivatives multiply is spelled as no call.
    """
    return len(nodes) >= PAYS_FROM and (batch > 0 or any(n.primitive is EINSUM and not n.params[3] for n in nodes))


@collector_paused()
def recalled(
    what: str,
    outputs: Sequence[Node],
    flows: Sequence[Node | None],
    wrt: Sequence[Node],
    through: int,
    derive: Callable[[], Results],
) -> Results:
    """``derive()``, or the same nodes without deriving them.

    ``what`` it is, of ``outputs`` by ``wrt``, with ``flows`` along either; it takes as long as a sweep ``through`` so
    many nodes. It must be a function of these nodes and of symgrad's source alone.
    """
    if through < PAYS_FROM or active_graph().is_recorded or disk_cache.cache_folder() is None:
        return derive()
    given = [*outputs, *flows, *wrt]
    base = ancestors([n for n in given if n is not None])
    if len(base) > _MAX_BELOW * through:
        return derive()
    number: dict[Node, int] = {}
    try:
        with apart_from_refusals():  # the function that is traced is derived all the same
            name = name_of(base, number)
    except UnsupportedOperation:
        return derive()
    question = f"{what} {len(outputs)} {len(flows)} {[None if n is None else number[n] for n in given]}"
    key = disk_cache.key(_VERSIONS, question, name)
    content = disk_cache.load("programs", key)
    found = None if content is None else _read(content, base)
    return _derived(key, number, derive) if found is None else found


def _read(content: bytes, base: Sequence[Node]) -> Results | None:
    """What was stored; None, and nothing of it in the graph, where it cannot be read."""
    table = active_graph().table
    before = len(table)
    try:
        return decoded(content, base)
    except Damaged:
        for entry in list(islice(table, before, None)):
            del table[entry]
        return None


def _derived(key: str, number: dict[Node, int], derive: Callable[[], Results]) -> Results:
    """What ``derive`` makes, stored under ``key``."""
    graph = active_graph()
    before, facts = len(graph.table), len(graph.sizes.facts)
    results = derive()
    if len(graph.sizes.facts) != facts:
        return results
    added = set(islice(graph.table.values(), before, None))
    others = [n for n in ancestors([n for n in results if n is not None]) if n not in number]
    found = [n for n in others if n not in added]
    made = [n for n in others if n in added]
    try:
        with apart_from_refusals():
            content = encoded(found, made, results, number)
    except UnsupportedOperation:
        return results
    disk_cache.store("programs", key, content)
    kept = set(made)
    # the graph is left as it is where the results are read
    for entry in [entry for entry, node in islice(graph.table.items(), before, None) if node not in kept]:
        del graph.table[entry]
    return results
