"""Explanation: what a kernel does step by step, how much of it, where it runs, and why there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..primitives.contraction import EINSUM
from ..primitives.external import External
from ..primitives.scan import PART, SCAN
from ..program.node import Node
from .memory import human_bytes

_MAX_SHOWN = 40
_MAX_NAMES = 6


@dataclass(frozen=True)
class Step:
    """One step: ``operations`` on elements, the bytes of the arrays that it reads and writes, where it runs and why."""

    what: str
    shape: tuple
    operations: float
    bytes: float
    backend: str
    why: str


@dataclass(frozen=True)
class Explanation:
    """The steps of a kernel in order; ``str()`` is a table of them."""

    backend: str
    why: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        rows = [("", "step", "over", "operations", "bytes", "on", "why")]
        for k, s in enumerate(self.steps[:_MAX_SHOWN]):
            over = " × ".join(map(str, s.shape)) or "1"
            rows.append((str(k), s.what, over, _count(s.operations), human_bytes(int(s.bytes)), s.backend, s.why))
        lines = in_columns(rows)
        if len(self.steps) > _MAX_SHOWN:
            lines.append(f"… and {len(self.steps) - _MAX_SHOWN} more steps")
        total = sum(s.operations for s in self.steps)
        count = len(self.steps)
        head = f"kernel on {self.backend}: {count} step{'s' * (count != 1)}, {_count(total)} operations; {self.why}"
        return "\n".join([head, *lines])

    __repr__ = __str__


def in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, cells of one column under each other.

    >>> in_columns([("a", "bc"), ("def", "g")])
    ['a    bc', 'def  g']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _count(number: float) -> str:
    """
    >>> _count(1234567.0), _count(45678), _count(12)
    ('1.2M', '46k', '12')
    """
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size * (1 if size > 1e3 else 10):
            value = number / size
            return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"
    return f"{number:.0f}"


def named(nodes: Iterable[Node]) -> str:
    """What nodes do, in a few words.

    >>> from symgrad import trace
    >>> import numpy as np
    >>> named(trace(lambda x: np.sum(np.sin(x) * x), np.ones(3)).bindings)
    'sin, multiply, sum'
    """
    counts = Counter(operation(n) for n in nodes)
    words = [name if k == 1 else f"{k} {name}" for name, k in counts.items()]
    rest = len(words) - _MAX_NAMES
    return ", ".join(words[:_MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def operation(node: Node) -> str:
    """The name of a node's operation as a reader knows it."""
    if isinstance(node.primitive, External):
        return node.primitive.spell(node)
    if node.primitive is SCAN:
        loop = node.params[0]
        return f"{loop.length} × ({named(n for n in loop.body.bindings if n.primitive is not PART)})"
    if node.primitive is not EINSUM:
        return node.primitive.name
    labels, out, sizes, spelling = node.params
    arrays = [ls for ls in labels if ls]
    if len(arrays) == 1:
        return "sum" if any(i not in out and sizes[i] != 1 for i in arrays[0]) else "view or scale"
    summed = {i for ls in arrays for i in ls} - set(out)
    return spelling or ("contraction" if any(sizes[i] != 1 for i in summed) else "product")


def node_step(node: Node, backend: str, why: str) -> Step:
    """A node that is a step of its own; of a loop, over its steps."""
    over = tuple(node.shape)
    if node.primitive is EINSUM:
        shape = node.params[2]
        operations = _product(shape) * max(len([o for o in node.operands if o.shape]) - 1, 1)
    elif node.primitive is SCAN:
        loop = node.params[0]
        over = (loop.length,)
        operations = _product(over) * sum(node_step(n, "", "").operations for n in loop.body.bindings)
    else:
        shape = max((node, *node.operands), key=lambda n: _product(n.shape)).shape
        operations = _product(shape)
    return Step(operation(node), over, operations, bytes_of((node, *node.operands)), backend, why)


def bytes_of(nodes: Sequence[Node] | Iterable[Node]) -> float:
    """The bytes of arrays, those of named sizes left out."""
    return sum(_product(n.shape) * n.dtype.itemsize for n in dict.fromkeys(nodes) if n.shape)


def _product(shape: tuple) -> float:
    return float(math.prod(d for d in shape if isinstance(d, int)))
