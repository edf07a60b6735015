"""The NumPy source of a Program, node by node: which lines of the kernel compute what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..program.node import Node
from ..program.program import Program
from .numpy_backend import Writer


class _Spelling(Writer):
    """A Writer that remembers which lines each node took."""

    def __init__(self, program: Program, sizes: Mapping[Any, int] | None = None) -> None:
        super().__init__(program, sizes)
        self.spelled: dict[Node, list[str]] = {}

    def statement(self, node: Any) -> None:
        before = len(self.lines)
        super().statement(node)
        if len(self.lines) > before:
            self.spelled[node] = self.lines[before:]


def spelled(program: Program) -> dict[Node, list[str]]:
    """The lines of the NumPy kernel that compute each node.

    >>> import numpy as np, symgrad
    >>> for lines in spelled(symgrad.grad(lambda x: np.sum(np.sin(x) * x)).program(np.ones(3))).values():
    ...     print(lines)
    ['v1 = np.sin(v0)']
    ['v2 = np.cos(v0)']
    ['v3 = np.multiply(v2, v0)']
    ['v4 = np.add(v1, v3)']
    """
    writer = _Spelling(program)
    writer.write()
    return writer.spelled
