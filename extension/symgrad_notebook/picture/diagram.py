"""Diagram: boxes and arrows, before anybody knows where they stand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from symgrad.program.node import Node

from ..structure import visible
from .spelling import cut, short
from .subject import Subject, is_leaf

_LONGEST_ROW, _LONGEST_TITLE = 44, 60


@dataclass(frozen=True)
class Box:
    """``kind`` is input, constant, operation, group or result; ``rows`` is what stands in it, ``tip`` what hovers.

    ``warning`` says what went wrong here; ``origin`` where it began here and spoils the result. ``spoiled`` is True
    where the value is not finite.
    """

    key: str
    kind: str
    side: int
    rows: tuple[str, ...]
    tip: str
    loop: int = 0
    warning: str = ""
    origin: bool = False
    spoiled: bool = False
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Edge:
    """``count`` values go from ``source`` to ``target``, which are keys; ``crosses`` from one side to another."""

    source: str
    target: str
    count: int
    crosses: bool


@dataclass(frozen=True)
class Diagram:
    """The boxes in the program's order; ``by`` is what they are folded by, ``note`` says how many are."""

    subject: Subject
    boxes: list[Box]
    edges: list[Edge]
    by: str = "operation"
    note: str = ""
    loops_boxed: bool = field(default=True)

    @property
    def sides(self) -> list[int]:
        """The sides that have boxes."""
        return sorted({b.side for b in self.boxes})

    @property
    def told_of_loops(self) -> str:
        """What a loop is; how many there are, where this diagram does not show them."""
        loops = self.subject.loops
        if not loops.number or any(b.loop for b in self.boxes):
            return loops.told
        return f"{max(loops.number.values())} loops are not shown here; folded by loop they are"

    @property
    def title(self) -> str:
        """What the picture is of."""
        return short(self.subject.title, _LONGEST_TITLE)

    @property
    def counts(self) -> str:
        """How many operations, on which side, which kernel."""
        counts = Counter(self.subject.side[n] for n in self.subject.program.bindings)
        total = sum(counts.values())
        own = [f"{counts[0]} of the function", *(f"{counts[k]} of {_whose(k)}" for k in sorted(counts) if k)]
        split = f" ({', '.join(own)})" if set(counts) - {0} else ""
        return f"{total} operation{'s' * (total != 1)}{split}, kernel on {self.subject.backend}"

    @property
    def summary(self) -> str:
        """Both in one line."""
        return f"{self.title}: {self.counts}"


def _whose(side: int) -> str:
    return {1: "its derivative", 2: "its second derivative"}.get(side, f"derivative {side}")


def dims(node: Node) -> str:
    """Shape and dtype, of which float64 and the shape of a scalar go without saying."""
    shape = "[" + ", ".join(map(str, node.shape)) + "]" if node.shape else ""
    return shape if node.dtype == "float64" else f"{node.dtype}{shape}"


def unfolded(subject: Subject) -> Diagram:
    """A box for each node and each result."""
    boxes = [node_box(subject, n) for n in subject.shown]
    key = {n: b.key for n, b in zip(subject.shown, boxes, strict=True)}
    return Diagram(subject, boxes + result_boxes(subject), edges_between(subject, key))


def node_box(subject: Subject, node: Node) -> Box:
    """The box of one node."""
    finding = subject.findings.get(node)
    span = finding.span if finding else ""
    name = short(subject.label[node], _LONGEST_ROW)
    kind = node.primitive.name if is_leaf(node) else "operation"
    full = name if kind != "operation" else f"{name} = {subject.formula(node)}"
    tip = [full, f"{node.dtype}{list(node.shape)}" + (f", {span}" if span else "")]
    if finding and finding.sample.size > 1:
        tip.append(finding.text)
    warning = ""
    if finding and finding.origin:
        warning = finding.origin + ("" if finding.reaches else ", masked later")
        tip.append(warning)
    loop = subject.loops.number.get(node, 0)
    tip += [f"in loop {loop}"] if loop else []
    tip += [place] if (place := subject.place(node)) else []
    return Box(
        key=key_of(subject, node),
        kind="constant" if kind == "dim" else kind,
        side=subject.side[node],
        rows=tuple(filter(None, (cut(full, _LONGEST_ROW), ": ".join(filter(None, (dims(node), span)))))),
        tip=visible("\n".join(tip)),
        loop=loop,
        warning=warning,
        origin=bool(finding and finding.first and finding.reaches),
        spoiled=bool(finding and not finding.finite),
        nodes=(node,),
    )


def key_of(subject: Subject, node: Node) -> str:
    """The key of a node's box: ``n`` and its number in the program."""
    return f"n{subject.number[node]}"


def result_boxes(subject: Subject) -> list[Box]:
    """A box for each array of the result."""
    made = []
    for k, (name, node) in enumerate(subject.results):
        finding = subject.findings.get(node)
        tip = f"the result {name} is {subject.name(node)}, {node.dtype}{list(node.shape)}"
        tip += f"\n{finding.text}" if finding else ""
        spoiled = bool(finding and not finding.finite)
        rows = (short(name, _LONGEST_ROW), dims(node)) if dims(node) else (short(name, _LONGEST_ROW),)
        made.append(
            Box(f"r{k}", "result", subject.side.get(node, 0), rows, visible(tip), spoiled=spoiled, nodes=(node,))
        )
    return made


def edges_between(subject: Subject, key: dict[Node, str], results: dict[int, str] | None = None) -> list[Edge]:
    """The arrows between boxes, ``key`` of each node's; ``results`` are those of the results where they are folded."""
    counts: Counter[tuple[str, str]] = Counter()
    crossing: set[tuple[str, str]] = set()
    for node in subject.shown:
        for o in dict.fromkeys(node.operands):
            if o in key and key[o] != key[node]:
                counts[key[o], key[node]] += 1
                if subject.side[o] != subject.side[node]:
                    crossing.add((key[o], key[node]))
    for k, (_, node) in enumerate(subject.results):
        counts[key[node], (results or {}).get(k, f"r{k}")] += 1
    return [Edge(*pair, count, pair in crossing) for pair, count in counts.items()]


def warned(box: Box) -> list[str]:
    """The row that says what went wrong in a box, where something did."""
    return [f"{'⚠ ' if box.origin else ''}{box.warning}"] if box.warning else []
