"""What a document keeps of a rule that the user declared: its name. The value goes on, its derivative is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ..errors import UnsupportedOperation
from ..primitives.batching import Batching
from ..program.node import Node
from .forms import Made, Text


class LostRule:
    """The rule of a ``custom`` node that was read from a document."""

    def __init__(self, name: str, count: int = 0) -> None:
        """``count`` is that of the sources, where the rule is one for many examples."""
        self.name = name
        self.count = count

    def vjp(self, node: Node, key: int, ct: Node, batch: int) -> Node | None:
        """The cotangent, which nobody knows."""
        self._refuse()

    def jvp(self, node: Node, key: int, tangent: Node, batch: int) -> Node | None:
        """The tangent, which nobody knows."""
        self._refuse()

    def linear(self, node: Node, key: int, forward: bool) -> tuple[Node, Node | None, bool]:
        """The linear map, which nobody knows."""
        self._refuse()

    #: no sweep goes through it
    is_entered = False
    #: it takes no values that it has no gradient for
    values: Sequence[Node] = ()

    def free(self, flow: Node) -> Node:
        """What ``linear`` would be followed by."""
        self._refuse()

    def lifted(self, node: Node, batched: Sequence[bool], over: Batching) -> LostRule:
        """The rule of many examples is lost too."""
        return LostRule(self.name, len(batched))

    def _refuse(self) -> NoReturn:
        raise UnsupportedOperation(
            f"the derivative of {self.name} is a rule that its function declared, and a document holds values, not "
            "rules: what was loaded runs, and cannot be differentiated through it. Export the derivative that you need "
            "from the function itself."
        )


#: the name of a rule
RULE = Made(Text(200), lambda name, known: LostRule(name), lambda rule: str(rule.name)[:200])
