"""What a trace leaves out: steps of long loops, until they are put back."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, NoReturn

from ..program.node import Node, active_graph, ancestors


class TraceAgain(BaseException):
    """The trace is to be made again, ``whole`` or with steps left out; no ``except Exception`` of the user holds it."""

    def __init__(self, whole: bool) -> None:
        super().__init__()
        self.whole = whole


class Missing(NamedTuple):
    """So many steps that were not traced.

    Between the serial numbers ``before`` are the nodes of each of some steps before them, between those ``after`` the
    nodes of each step after them; ``short`` are those of the latter that depend on the steps.
    """

    steps: int
    before: tuple[int, ...]
    after: tuple[int, ...] = ()
    short: frozenset[Node] = frozenset()


class LeftOut:
    """The steps that a trace leaves out.

    ``is_tried``: it leaves out what it can, in functions whose loops become operations; ``is_purpose``: it is made for
    nothing else. ``steps`` are those that were left out, and are not put back. ``again`` is raised where it has to be
    made again, and looked at after it too: a bare ``except`` of the user may have held it.
    """

    def __init__(self) -> None:
        self.may_start_again: Callable[[], bool] = bool  # whether nothing is there that another run would find changed
        self.is_tried = False
        self.is_purpose = False
        self.is_allowed = False
        self.steps: list[Missing] = []
        self.again: TraceAgain | None = None
        self.any = False  # whether there were any
        self._is_next = False
        self._open: list[int] = []  # the numbers beyond which nodes lack steps, of loops that have not ended
        self._past: set[Node] = set()  # those that others stand for, with all steps

    def allow(self) -> int:
        """Let the function that runs next leave steps out; what ``taken`` wants to know after it."""
        self._is_next = self.is_tried
        return len(self.steps)

    @contextlib.contextmanager
    def of_function(self) -> Iterator[None]:
        """Inside runs a function of the user."""
        before = self.is_allowed
        self.is_allowed, self._is_next = self._is_next, False
        try:
            yield
        finally:
            self.is_allowed = before

    def leave(self, steps: int, before: tuple[int, ...]) -> None:
        """Leave so many steps out before what is computed next; those ``before`` have had these serial numbers."""
        self.any = True
        self._open.append(before[-1])
        self.steps.append(Missing(steps, before))

    def make_again(self, whole: bool) -> NoReturn:
        """Have the trace made again."""
        self.again = TraceAgain(whole)
        raise self.again

    def give_up(self) -> None:
        """Have the trace made again where it was made to leave out steps that it cannot leave out."""
        if self.is_purpose:
            self.make_again(whole=True)

    def end(self, after: tuple[int, ...]) -> None:
        """Note that the loop that lacks steps has come to its end; those ``after`` have these serial numbers.

        What they have computed of those ``before`` is what other steps compute that follow these, as of the same loop
        once more: it is taken out of the table of the graph, so that nothing else is taken for it.
        """
        self._open.pop()
        before = self.steps[-1].before
        table = active_graph().table
        made = [*itertools.takewhile(lambda item: item[1].serial > after[0], reversed(table.items()))]
        short: set[Node] = set()
        for key, node in reversed(made):
            if any(o in short or before[0] < o.serial < before[-1] for o in node.operands):
                short.add(node)
                del table[key]
        self.steps[-1] = self.steps[-1]._replace(after=after, short=frozenset(short))

    def taken(self, already: int, outputs: Iterable[Node]) -> list[Missing]:
        """Those that were left out after so many others, to be put back now into what ``outputs`` are made of.

        The loops must have ended, and not by an error that was caught; and nothing may be made of nodes that were left
        in other functions when the steps of these were put back.
        """
        found = self.steps[already:]
        del self.steps[already:]
        if self._open or (self._past and not self._past.isdisjoint(ancestors(outputs))):
            self.make_again(whole=True)
        self._past.update(*(missing.short for missing in found))
        return found

    def check(self, nodes: Iterable[Node]) -> None:
        """Have the trace made again where one of these nodes, which are needed, lacks steps."""
        if self.any and any(map(self._lacks_steps, nodes)):
            self.make_again(whole=True)

    def _lacks_steps(self, node: Node) -> bool:
        is_short = node in self._past or any(node in missing.short for missing in self.steps)
        return is_short or any(node.serial > number for number in self._open)
