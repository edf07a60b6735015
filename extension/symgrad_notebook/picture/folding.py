"""Folding: a long program as a few boxes, by the user's lines, by the kernel's loops, or by stretches of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.program.node import Node

from .boxes import edges_between, group_box, node_box, result_box
from .diagram import Diagram
from .subject import Subject, is_leaf, told_line

#: boxes that are still read one by one
MAX_BOXES = 120
#: inputs, constants or results of a side that stand on their own in a folded diagram
_MAX_LEAVES = 12
#: stretches that a side is cut into
_STRETCHES = 12

#: what a diagram may be folded by; "operation" folds nothing
FOLDS = ("operation", "line", "loop", "stretch")


def folded(subject: Subject, by: str = "auto") -> Diagram:
    """The diagram with one box for each line, loop or stretch, or one each operation.

    ``auto`` folds what would have more than MAX_BOXES boxes, in the first way that gives fewer.
    """
    if by == "auto":
        if len(subject.shown) + len(subject.results) <= MAX_BOXES:
            return folded(subject, "operation")
        known = sum(n in subject.line for n in subject.program.bindings)
        ways = FOLDS[1:] if 2 * known >= len(subject.program.bindings) else FOLDS[2:]
        made = (folded(subject, way) for way in ways)
        return next(d for d in made if len(d.boxes) <= MAX_BOXES or d.by == FOLDS[-1])
    if by not in FOLDS:
        raise ArgumentError(f"by={by!r} is unknown; choose one of {', '.join(map(repr, ('auto', *FOLDS)))}.")
    group = _GROUPINGS[by](subject)
    whole = by == "operation"
    crowded = set() if whole else _crowded(subject)
    members: dict[Hashable, list[Node]] = {}
    for node in subject.shown:
        kind = (subject.side[node], node.primitive.name)
        place = (kind if kind in crowded else node) if is_leaf(node) else group(node)
        members.setdefault(place, []).append(node)
    boxes = []
    key: dict[Node, str] = {}
    for place, nodes in members.items():
        if len(nodes) == 1:
            box = node_box(subject, nodes[0])
        else:
            head, loop = ("", 0) if is_leaf(nodes[0]) else _HEADS[by](place)
            box = group_box(subject, nodes, head, loop)
        boxes.append(box)
        key.update((n, box.key) for n in nodes)
    results: dict[str, list[tuple[str, Node]]] = {}
    ends = []
    for k, (name, node) in enumerate(subject.results):
        apart = whole or len(subject.results) <= _MAX_LEAVES
        ends.append(f"r{k}" if apart else f"gr{subject.side.get(node, 0)}")
        results.setdefault(ends[-1], []).append((name, node))
    boxes += [result_box(subject, end, held) for end, held in results.items()]
    edges = edges_between(subject, key, ends)
    if whole:
        return Diagram(subject, boxes, edges)
    count = len(subject.program.bindings)
    groups = len({key[n] for n in subject.program.bindings})
    note = f"{count} operations folded into {groups} box{'es' * (groups != 1)} by {by}"
    return Diagram(subject, boxes, edges, by, note, loops_boxed=False)


def _by_line(subject: Subject) -> Callable[[Node], Hashable]:
    """The line of each node; one without a line goes with what it computes from."""
    line: dict[Node, Hashable] = {}
    for node in subject.program.bindings:
        side = subject.side[node]
        near = (line[o][1] for o in node.operands if o in line and line[o][0] == side)  # type: ignore[index]
        line[node] = (side, subject.line.get(node) or next(near, None))
    return line.__getitem__


def _by_loop(subject: Subject) -> Callable[[Node], Hashable]:
    number = subject.loops.number
    return lambda node: (subject.side[node], number[node]) if node in number else node


def _by_stretch(subject: Subject) -> Callable[[Node], Hashable]:
    """Runs of equal length of each side, so that arrows within a side go one way."""
    totals = Counter(subject.side[n] for n in subject.program.bindings)
    seen: Counter[int] = Counter()
    run: dict[Node, Hashable] = {}
    for node in subject.program.bindings:
        side = subject.side[node]
        run[node] = (side, seen[side] * _STRETCHES // totals[side])
        seen[side] += 1
    return run.__getitem__


_GROUPINGS: dict[str, Callable[[Subject], Callable[[Node], Hashable]]] = {
    "operation": lambda subject: lambda node: node,
    "line": _by_line,
    "loop": _by_loop,
    "stretch": _by_stretch,
}
#: what is written above the operations of a group, by its place, and the loop that it is
_HEADS: dict[str, Callable[[Any], tuple[str, int]]] = {
    "line": lambda place: (told_line(place[1]) if place[1] is not None else "sums of what lines contribute", 0),
    "loop": lambda place: (f"loop {place[1]}", place[1]),
    "stretch": lambda place: ("", 0),
}


def _crowded(subject: Subject) -> set[tuple[int, str]]:
    """The sides and kinds of leaves of which there are too many."""
    counts = Counter((subject.side[n], n.primitive.name) for n in subject.shown if is_leaf(n))
    return {kind for kind, count in counts.items() if count > _MAX_LEAVES}
