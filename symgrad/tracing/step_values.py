"""What a step of a loop is given while it is traced: values that differ from step to step, and end with it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any, NoReturn

from ..errors import TracingError
from ..primitives.loop import STEP
from ..program.node import Node, active_graph

_GONE = (
    "a value from inside a step of scan (fori_loop, while_loop) is used outside of it, where it has no value: there is "
    "one for each step. Return it from the step, in the carry or as what the step keeps, and use what the loop gives."
)


def step_value(label: str, begin: Node, weak: bool = False) -> Node:
    """A fresh value that a step is given, the first one ``begin``."""
    return Node(STEP, (), (label, begin, False), begin.shape, begin.dtype, weak)


def step_element(label: str, every: Node) -> Node:
    """A fresh element that a step is given, one of ``every``."""
    return Node(STEP, (), (label, every, True), every.shape[1:], every.dtype)


def end_step(given: Iterable[Node]) -> None:
    """The step that was given these has been traced: whoever still holds what it computed can no longer use it."""
    ended = set(given)
    if not ended:
        return
    table = active_graph().table
    first = min(n.serial for n in ended)
    made = [*takewhile(lambda item: item[1].serial > first, reversed(table.items()))]
    for key, node in reversed(made):
        if not ended.isdisjoint(node.operands):
            ended.add(node)
            del table[key]
    for node in ended:
        node.shape = _GONE_SHAPE


class _Gone:
    """The shape of a value whose step has ended: whatever is computed of the value asks for it."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise TracingError.here(_GONE)

    __iter__ = __len__ = __bool__ = __getitem__ = __eq__ = __ne__ = __hash__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = __int__ = __index__ = _refuse


_GONE_SHAPE: Any = _Gone()
