"""What several equations read has a line and a name of its own, where it is long enough to be worth one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ...program.interpret import rebuilt
from ...program.node import Node, ancestors
from ..derivation.lines import inputs_of, reading_cost
from ..derivation.naming import Name
from ..latex import MAX_LINES
from .equations import Equation, Range, Total, depth_of
from .naming import at_step
from .unfolding import NoRecurrence, Unfolding
from .writing import is_whole, length_of

#: characters from which a formula is not written twice, and those that a name for a number must save
_SHORTEST, _SHORTEST_NUMBER = 8, 32
#: and that of what the user has a name for, read once or more often
_CALLED_ONCE, _CALLED = 20, 3
#: operations of a line where a formula is cut into several, then where it is still too long
_LONGEST = (10, 3, 1)


def shared(unfolding: Unfolding) -> list[Equation]:
    """The equations, with lines for what several of them read. Raises NoRecurrence where nobody would read them all."""
    with unfolding.graph:
        return _Sharing(unfolding).equations


class _Sharing:
    def __init__(self, unfolding: Unfolding) -> None:
        self._unfolding = unfolding
        #: lines that do not stand yet; they do before what reads them
        self._lines: dict[Node, Equation] = {}
        given = [*unfolding.equations, *unfolding.definitions.values()]
        nodes = ancestors([n for e in given for n in e.value.roots])
        uses = Counter(o for n in nodes for o in dict.fromkeys(n.operands))
        uses.update([n for e in given for n in e.value.roots])
        own = {root for e in given for root in e.value.roots if e.value.summand is None}
        image: dict[Node, Node] = {}
        for node in nodes:
            made = image[node] = rebuilt(node, [image[o] for o in node.operands])
            if node not in own and reading_cost(node) and self._is_worth_a_line(node, made, uses[node]):
                image[node] = self._named(made, unfolding.called.get(node))
        for node, line in unfolding.definitions.items():
            self._lines[node] = self._on(line, image)
        told = [self._on(e, image) for e in unfolding.equations]
        self._lines |= {e.target: e for e in told if isinstance(e.target, Node)}
        self.equations: list[Equation] = []
        for e in told:
            if not isinstance(e.target, Node) or self._lines.pop(e.target, None) is not None:
                self._place(e, len(self.equations), None)

    def _on(self, equation: Equation, image: Mapping[Node, Node]) -> Equation:
        """An equation in terms of what has a line of its own."""
        rest, over, summand = equation.value
        value = Total(rest and self._cut(image[rest]), over, summand and self._cut(image[summand]))
        return equation._replace(value=value)

    def _is_worth_a_line(self, node: Node, made: Node, uses: int) -> bool:
        if node in self._unfolding.called:
            return length_of(made, self._unfolding) >= (_CALLED if uses > 1 else _CALLED_ONCE)
        if uses < 2 or not inputs_of(made):
            return False
        length = length_of(made, self._unfolding)
        return length >= _SHORTEST if node.shape else length * (uses - 1) >= _SHORTEST_NUMBER

    def _cut(self, root: Node) -> Node:
        """``root``, in several lines where it is too long for one."""
        for most in _LONGEST:
            if root.is_leaf or is_whole(root, self._unfolding):
                break
            root = self._cut_into(root, most)
        return root

    def _cut_into(self, root: Node, most: int) -> Node:
        """``root`` in terms of lines of about ``most`` operations."""
        count: dict[Node, int] = {}
        image: dict[Node, Node] = {}
        for node in ancestors([root]):
            image[node] = rebuilt(node, [image[o] for o in node.operands])
            count[node] = 0 if node.is_leaf else 1 + sum(count[o] for o in dict.fromkeys(node.operands))
            if node is not root and count[node] > most and reading_cost(node):
                image[node] = self._named(image[node], self._unfolding.called.get(node))
                count[node] = 0
        return image[root]

    def _named(self, node: Node, called: str | None) -> Node:
        if len(self._lines) > MAX_LINES:
            raise NoRecurrence
        unfolding = self._unfolding
        sources = inputs_of(node)
        ranges = [unfolding.ranges[n] for n in sources if n in unfolding.ranges]
        steps = max(ranges, key=lambda r: r.depth, default=None)
        back = any(n in unfolding.back for n in sources)
        base = unfolding.bases.shared(node.shape, back, called)
        made = unfolding.named(Name(base) if steps is None else at_step(base, steps), node.shape, node.dtype, steps)
        if back:
            unfolding.back.add(made)
        self._lines[made] = Equation(made, Total(node), steps)
        return made

    def _place(self, equation: Equation, place: int, reader: Equation | None) -> None:
        """The equation at this place, or before the loop there that its reader stands in and it does not.

        The lines that it reads stand before it.
        """
        depth = depth_of(equation.steps)
        chain = [] if reader is None or reader.steps is None else reader.steps.chain()
        while place and len(chain) > depth and chain[depth] in _chain(self.equations[place - 1]):
            place -= 1
        read = [n for n in inputs_of(*equation.value.roots) if n in self._lines]
        for node in sorted(read, key=lambda n: depth_of(self._lines[n].steps)):
            line = self._lines.pop(node, None)  # which one of the others may have read
            if line is not None:
                count = len(self.equations)
                self._place(line._replace(steps=_common(equation.steps, line.steps)), place, equation)
                place += len(self.equations) - count
        self.equations.insert(place, equation)


def _chain(equation: Equation) -> list[Range]:
    return [] if equation.steps is None else equation.steps.chain()


def _common(outer: Range | None, own: Range | None) -> Range | None:
    """The steps of a line: those of its reader, or of a loop that this stands in, where they are the same."""
    while outer is not None and own is not None and not (outer.agrees(own) and outer.depth == own.depth):
        outer = outer.outer
    return own if outer is None or own is None else outer
