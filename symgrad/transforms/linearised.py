"""A Jacobian as structured terms, and what these become: dense blocks, or lists of entries."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

from ..differentiation.colored import colored_term
from ..differentiation.structure.index_maps import Unsolved
from ..differentiation.structure.structured_tangents import StructuredTangent, dense
from ..kernels.sparse import SparseBlock, scipy_sparse
from ..primitives.elementwise import conjugated
from ..program.dims import is_concrete
from ..program.forks import cached_property
from ..program.node import Node, originating
from ..tracing.trace import running
from .complex_numbers import block_dtype, jacobian_mode
from .derived import finished_as
from .modes import Choice, chosen
from .run import Run

if TYPE_CHECKING:
    from .contributions import Flow
    from .jacobian import JacobianFunction

#: entries for each element of the output and input beyond which a pattern is looked for
_MANY = 16


class Linearised:
    """A Jacobian as terms, derived where these are asked for: of ``outputs`` by ``wrt``."""

    def __init__(self, derived: JacobianFunction, run: Run) -> None:
        self.run = run
        self.wrt = run.wrt
        self.flows: dict[int, Flow] = {}  # of the blocks that were asked for contributions
        self._derived = derived

    @cached_property
    def outputs(self) -> list[Node]:
        """What the rows are the derivatives of."""
        return self._derived._differentiated(self.run)

    @cached_property
    def symmetric(self) -> bool:
        """True where the Jacobian is its own transpose."""
        return self._derived._is_symmetric(self.run)

    @cached_property
    def choice(self) -> Choice:
        """The terms, derived the way that was asked for or is cheapest."""
        return self._chosen(every=False)

    def shown(self, terms: list[StructuredTangent], source: Node) -> list[StructuredTangent]:
        """Terms by ``source`` as the result has them."""
        if self._derived.holomorphic or not source.is_complex:
            return terms
        return [t.having(value=conjugated(t.value)) for t in terms]

    @cached_property
    def every_way(self) -> Choice:
        """The same where the other ways are derived too."""
        return self.choice if self._derived.mode not in ("forward", "reverse") else self._chosen(every=True)

    def _chosen(self, every: bool) -> Choice:
        derived = self._derived
        mode = jacobian_mode(self.outputs, self.wrt, derived.mode, derived.holomorphic, derived.__name__)
        return chosen(self.outputs, self.wrt, mode, self.symmetric, every)


def dense_blocks(found: Linearised) -> list[Node | None]:
    """Each block, row by row, as an array of shape out + in."""
    blocks = []
    for row, o in zip(found.choice.table, originating(found.outputs), strict=True):
        for terms, w in zip(row, found.wrt, strict=True):
            shape = o.shape + w.shape
            blocks.append(finished_as(dense(found.shown(terms, w), shape), shape, block_dtype(o, w)))
    return blocks


def sparse_cells(found: Linearised) -> list[list[Any]]:
    """Each block as what assembles it sparse."""
    return [
        [
            SparseBlock(
                _listed(found.shown(terms, w), o, w, found.symmetric and len(found.wrt) == 1),
                o.shape,
                w.shape,
                block_dtype(o, w),
            )
            for terms, w in zip(row, found.wrt, strict=True)
        ]
        for row, o in zip(found.choice.table, found.outputs, strict=True)
    ]


def _listed(terms: list[StructuredTangent], output: Node, source: Node, symmetric: bool) -> list[StructuredTangent]:
    """``terms``, or the colored list of entries where they hold far more than the pattern has."""
    if not is_concrete((*output.shape, *source.shape)):
        return terms
    entries = sum(math.prod(k.size for k in t.counters) for t in terms)
    if entries < _MANY * (math.prod(output.shape) + math.prod(source.shape)):
        return terms
    scipy_sparse()
    trace = running()
    with contextlib.suppress(Unsolved):
        made = colored_term(output, source, trace.guard, symmetric and output.shape == source.shape, entries)
        return terms if made is None else [made]
    return terms
