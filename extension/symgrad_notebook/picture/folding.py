"""Folding: a long program as a few boxes, by the user's lines, by the kernel's loops, or by stretches of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace

from symgrad.errors import ArgumentError
from symgrad.kernels.explanation import named
from symgrad.program.node import Node

from ..structure import visible
from .diagram import Box, Diagram, edges_between, key_of, node_box, result_boxes, unfolded
from .spelling import cut, short
from .subject import Subject, is_leaf, told_line

#: boxes that are still read one by one
MOST_BOXES = 120
#: inputs, constants or results of a side that stand on their own in a folded diagram
_MOST_LEAVES = 12
#: stretches that a side is cut into
_STRETCHES = 12
_LONGEST_ROW = 44

#: what a diagram may be folded by; "operation" folds nothing
FOLDS = ("operation", "line", "loop", "stretch")


def folded(subject: Subject, by: str = "auto") -> Diagram:
    """The diagram with one box for each line, loop or stretch, or one each operation.

    ``auto`` folds what would have more than MOST_BOXES boxes, in the first way that gives fewer.
    """
    if by == "auto":
        if len(subject.shown) + len(subject.results) <= MOST_BOXES:
            return unfolded(subject)
        known = sum(n in subject.line for n in subject.program.bindings)
        ways = FOLDS[1:] if 2 * known >= len(subject.program.bindings) else FOLDS[2:]
        made = (folded(subject, way) for way in ways)
        return next(d for d in made if len(d.boxes) <= MOST_BOXES or d.by == FOLDS[-1])
    if by not in FOLDS:
        raise ArgumentError(f"by={by!r} is unknown; choose one of {', '.join(map(repr, ('auto', *FOLDS)))}.")
    return unfolded(subject) if by == "operation" else _grouped(subject, by)


def _grouped(subject: Subject, by: str) -> Diagram:
    group = _GROUPINGS[by](subject)
    members: dict[Hashable, list[Node]] = {}
    crowded = _crowded(subject)
    for node in subject.shown:
        kind = (subject.side[node], node.primitive.name)
        place = (kind if kind in crowded else node) if is_leaf(node) else group(node)
        members.setdefault(place, []).append(node)
    boxes = []
    key: dict[Node, str] = {}
    for place, nodes in members.items():
        box = node_box(subject, nodes[0]) if len(nodes) == 1 else _group_box(subject, nodes, by, place)
        boxes.append(box)
        key.update((n, box.key) for n in nodes)
    results = result_boxes(subject)
    ends: dict[int, str] = {}
    if len(results) > _MOST_LEAVES:
        results, ends = _folded_results(results)
    count = len(subject.program.bindings)
    groups = len({key[n] for n in subject.program.bindings})
    note = f"{count} operations folded into {groups} box{'es' * (groups != 1)} by {by}"
    return Diagram(subject, boxes + results, edges_between(subject, key, ends), by, note, loops_boxed=False)


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


_GROUPINGS = {"line": _by_line, "loop": _by_loop, "stretch": _by_stretch}


def _crowded(subject: Subject) -> set[tuple[int, str]]:
    """The sides and kinds of leaves of which there are too many."""
    counts = Counter((subject.side[n], n.primitive.name) for n in subject.shown if is_leaf(n))
    return {kind for kind, count in counts.items() if count > _MOST_LEAVES}


def _group_box(subject: Subject, nodes: list[Node], by: str, place: Hashable) -> Box:
    """One box for several nodes."""
    first, last = nodes[0], nodes[-1]
    if is_leaf(first):
        kind = "input" if first.primitive.name == "input" else "constant"
        rows = (f"{len(nodes)} {kind}s", short(f"{subject.name(first)} … {subject.name(last)}", _LONGEST_ROW))
        box = Box("g" + key_of(subject, first), kind, subject.side[first], rows, "\n".join(rows), nodes=tuple(nodes))
    else:
        does = f"{len(nodes)} operations: {named(nodes)}"
        if by == "line":
            line = place[1]  # type: ignore[index]
            head = told_line(line) if line is not None else "sums of what lines contribute"
        elif by == "loop":
            head = f"loop {place[1]}"  # type: ignore[index]
        else:
            head = f"{subject.name(first)} … {subject.name(last)}"
        box = Box(
            key="g" + key_of(subject, first),
            kind="group",
            side=subject.side[first],
            rows=(cut(head, _LONGEST_ROW), cut(does, _LONGEST_ROW)),
            tip=visible(f"{head}\n{does}"),
            loop=place[1] if by == "loop" else 0,  # type: ignore[index]
            nodes=tuple(nodes),
        )
    findings = [subject.findings[n] for n in nodes if n in subject.findings]
    origins = sorted((f for f in findings if f.origin), key=lambda f: not (f.first and f.reaches))
    if not origins:
        return replace(box, spoiled=any(not f.finite for f in findings))
    more = f" (and {len(origins) - 1} more)" if len(origins) > 1 else ""
    warning = f"{origins[0].origin}{more}" + ("" if any(f.reaches for f in origins) else ", masked later")
    begins = origins[0].first and origins[0].reaches
    return replace(box, spoiled=True, warning=warning, origin=begins, tip=f"{box.tip}\n{warning}")


def _folded_results(results: list[Box]) -> tuple[list[Box], dict[int, str]]:
    """One box for all results of a side, and where each result is."""
    sides: dict[int, list[Box]] = {}
    ends = {}
    for k, box in enumerate(results):
        sides.setdefault(box.side, []).append(box)
        ends[k] = f"gr{box.side}"
    made = []
    for side, boxes in sides.items():
        rows = (f"{len(boxes)} results", short(f"{boxes[0].rows[0]} … {boxes[-1].rows[0]}", _LONGEST_ROW))
        nodes = tuple(n for b in boxes for n in b.nodes)
        spoiled = any(b.spoiled for b in boxes)
        made.append(Box(f"gr{side}", "result", side, rows, "\n".join(rows), spoiled=spoiled, nodes=nodes))
    return made, ends
