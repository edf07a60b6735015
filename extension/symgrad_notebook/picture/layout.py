"""Where boxes stand and how arrows run: each side by Graphviz where it is installed, else in layers; side by side.

All is in pixels, y downwards.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .diagram import Box, Diagram, warned
from .spelling import short

Point = tuple[float, float]
Sizes = Mapping[str, tuple[float, float]]

#: width of a character over the height of the font, in the monospaced fonts that browsers have
CHARACTER = 0.602
#: sizes of the rows of a box, in pixels
FONT, SMALL, LINE, SMALL_LINE, MARGIN = 13, 11, 17, 15, 12
#: seconds after which Graphviz is given up
PATIENCE = 6.0
#: boxes from which their shapes and ranges are left to tooltips
_DENSE = 48
_LONGEST_HEADING = 40
#: around what stands on a side, and for its heading
_AROUND, _HEADING = 16.0, 36.0
#: between two sides, with room for each arrow, and how much lower each begins at least than the one before
_GAP, _WIDER, _WIDEST, _STEP = 14.0, 3.0, 70.0, 30.0

#: of a layout in layers: between boxes, between layers, and how often they are sorted
_BETWEEN, _BETWEEN_LAYERS, _SWEEPS = 18.0, 34.0, 4
#: points of a curve that are looked at
_STEPS = 24


@dataclass(frozen=True)
class Rectangle:
    """A box from its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def moved(self, x: float, y: float) -> Rectangle:
        """The same box elsewhere."""
        return Rectangle(self.x + x, self.y + y, self.width, self.height)


@dataclass
class Layout:
    """``boxes`` by key, ``arrows`` by the keys of both ends as points of Bezier curves, ``sides`` and ``loops`` around
    boxes; a loop may have a part on each side."""

    boxes: dict[str, Rectangle] = field(default_factory=dict)
    arrows: dict[tuple[str, str], list[Point]] = field(default_factory=dict)
    sides: dict[int, Rectangle] = field(default_factory=dict)
    loops: dict[tuple[int, int], Rectangle] = field(default_factory=dict)

    @property
    def width(self) -> float:
        return max(r.right for r in self._places())

    @property
    def height(self) -> float:
        return max(r.bottom for r in self._places())

    def _places(self) -> list[Rectangle]:
        return [*self.boxes.values(), *self.sides.values(), *self.loops.values()]


def heading_of(diagram: Diagram, side: int) -> str:
    """What is written above a side."""
    return short(diagram.subject.heading(side), _LONGEST_HEADING)


def rows_of(box: Box, dense: bool) -> list[tuple[str, int]]:
    """The rows of a box and the sizes of their fonts: what it is, its shape and range unless ``dense``, warnings."""
    shown = box.rows[:1] if dense and box.kind == "operation" else box.rows
    made = [(row, FONT if k == 0 else SMALL) for k, row in enumerate(shown)]
    return [*made, *((row, SMALL) for row in warned(box))]


def is_dense(diagram: Diagram) -> bool:
    """True where there are so many boxes that each says no more than what it computes."""
    return len(diagram.boxes) > _DENSE


def size_of(box: Box, dense: bool) -> tuple[float, float]:
    """Width and height of a box around its rows."""
    rows = rows_of(box, dense)
    slant = 14 if box.kind in ("input", "constant", "result") else 0
    width = max(len(text) * size * CHARACTER for text, size in rows) + 2 * MARGIN + slant
    return max(width, 56.0), sum(LINE if size == FONT else SMALL_LINE for _, size in rows) + MARGIN


def layout_of(diagram: Diagram, by_layers: bool = False) -> Layout | None:
    """The layout by Graphviz, or ``by_layers`` where it is not installed; None where Graphviz takes too long."""
    engine = None if by_layers else shutil.which("dot")
    dense = is_dense(diagram)
    sizes = {side: {b.key: size_of(b, dense) for b in diagram.boxes if b.side == side} for side in diagram.sides}
    parts: list[Layout] = []
    if engine is not None:
        graphs = [_graph(diagram, side, sizes[side]) for side in diagram.sides]
        try:
            made = _drawn_by([engine], graphs)
        except subprocess.TimeoutExpired:
            return None
        parts = [_read(graph, side) for graph, side in zip(made, diagram.sides, strict=True)] if made else []
    layout = _beside(diagram, parts or [_by_layers(diagram, sizes[side]) for side in diagram.sides])
    if engine is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):  # then they stay as they are
            _lead_around(layout, [(e.source, e.target) for e in diagram.edges if e.crosses], engine)
    return layout


def _drawn_by(command: Sequence[str], graphs: Sequence[str]) -> list[dict]:
    """What Graphviz makes of the graphs; nothing where it fails."""
    made = subprocess.run(
        [*command, "-Tjson0"], input="\n".join(graphs), capture_output=True, text=True, timeout=PATIENCE
    )
    return list(_documents(made.stdout)) if made.returncode == 0 else []


def is_hidden(layout: Layout, source: str, target: str) -> bool:
    """Whether a box stands before an arrow, which then seems to come out of it."""
    points = layout.arrows[source, target]
    others = [r for key, r in layout.boxes.items() if key not in (source, target)]
    for k in range(0, len(points) - 4, 3):
        for x, y in _along(points[k : k + 4]):
            if any(r.x < x < r.right and r.y < y < r.bottom for r in others):
                return True
    return False


def _along(curve: Sequence[Point]) -> Iterator[Point]:
    """Points of a Bezier curve."""
    for step in range(_STEPS + 1):
        t = step / _STEPS
        weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        yield tuple(sum(w * p[axis] for w, p in zip(weights, curve, strict=True)) for axis in (0, 1))  # type: ignore[misc]


def _lead_around(layout: Layout, crossing: Sequence[tuple[str, str]], engine: str) -> None:
    """Let Graphviz lead the arrows between sides that are hidden around the boxes, which stay where they are."""
    hidden = [ends for ends in crossing if is_hidden(layout, *ends)]
    if not hidden:
        return
    lines = ["digraph {", 'graph [splines=true, esep="+6"];', 'node [shape=box, fixedsize=true, label=""];']
    for key, box in layout.boxes.items():
        x, y = box.middle
        lines.append(f'{key} [pos="{x:.2f},{-y:.2f}", width={box.width / 72:.4f}, height={box.height / 72:.4f}];')
    lines += [f"{source} -> {target};" for source, target in hidden]
    made = _drawn_by([engine, "-Kneato", "-n2"], ["\n".join([*lines, "}"])])
    if made:
        led = _read(made[0], 0)
        (x, y), (new_x, new_y) = (found[next(iter(found))].middle for found in (layout.boxes, led.boxes))
        for ends, points in led.arrows.items():
            layout.arrows[ends] = [(a + x - new_x, b + y - new_y) for a, b in points]


def _graph(diagram: Diagram, side: int, sizes: Sizes) -> str:
    """The boxes of a side by key and size alone, so that nothing that users write reaches Graphviz."""
    lines = ["digraph {", "graph [nodesep=0.25, ranksep=0.4, margin=0, fontname=monospace];"]
    lines.append("node [shape=box, fixedsize=true];")
    by_loop: dict[int, list[Box]] = {}
    for box in diagram.boxes:
        if box.side == side:
            by_loop.setdefault(box.loop if diagram.loops_boxed else 0, []).append(box)
    for loop, boxes in by_loop.items():
        lines += [f'subgraph cluster_{loop} {{ margin=10; label="loop {loop}";'] if loop else []
        for box in boxes:
            width, height = sizes[box.key]
            lines.append(f"{box.key} [width={width / 72:.4f}, height={height / 72:.4f}];")
        lines += ["}"] if loop else []
    lines += [f"{e.source} -> {e.target};" for e in diagram.edges if e.source in sizes and e.target in sizes]
    return "\n".join([*lines, "}"])


def _documents(text: str) -> Iterator[dict]:
    """The JSON documents that stand one after another."""
    decoder, text = json.JSONDecoder(), text.strip()
    while text:
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:].lstrip()


def _read(graph: dict, side: int) -> Layout:
    """Graphviz's JSON of a side, whose y grows upwards."""
    layout = Layout()
    height = float(graph["bb"].split(",")[3])
    objects = graph.get("objects", [])
    for thing in objects:
        if "pos" in thing:
            x, y = map(float, thing["pos"].split(","))
            w, h = 72 * float(thing["width"]), 72 * float(thing["height"])
            layout.boxes[thing["name"]] = Rectangle(x - w / 2, height - y - h / 2, w, h)
        else:
            left, low, right, high = map(float, thing["bb"].split(","))
            loop = int(thing["name"].removeprefix("cluster_"))
            layout.loops[side, loop] = Rectangle(left, height - high, right - left, high - low)
    for edge in graph.get("edges", []):
        ends = objects[edge["tail"]]["name"], objects[edge["head"]]["name"]
        points = [part.split(",") for part in edge["pos"].split()]
        points.sort(key=lambda p: p[0] == "e")  # the tip of the arrow, which comes first, is drawn last
        layout.arrows[ends] = [(float(x), height - float(y)) for *_, x, y in points]
    return layout


def _by_layers(diagram: Diagram, sizes: Sizes) -> Layout:
    """The boxes of a side in layers; loops are told by numbers alone."""
    ends = [(e.source, e.target) for e in diagram.edges if e.source in sizes and e.target in sizes]
    boxes = {key: Rectangle(*corner, *sizes[key]) for key, corner in layered(sizes, ends).items()}
    layout = Layout(boxes)
    for a, b in ends:
        (x, _), (right, _) = boxes[a].middle, boxes[b].middle
        y, low = boxes[a].bottom, boxes[b].y
        bend = max((low - y) / 2, 20.0)
        layout.arrows[a, b] = [(x, y), (x, y + bend), (right, low - bend), (right, low - 6), (right, low)]
    return layout


def layered(size: Sizes, edges: Sequence[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """The upper left corner of each box, from its width and height.

    ``size`` names the boxes in an order in which most edges go forwards; an edge that goes back does not count.

    >>> layered({"a": (10, 10), "b": (30, 10)}, [("a", "b")])
    {'a': (10.0, 0.0), 'b': (0.0, 44.0)}
    """
    place = {key: k for k, key in enumerate(size)}
    above: dict[str, list[str]] = {key: [] for key in size}
    below: dict[str, list[str]] = {key: [] for key in size}
    for a, b in edges:
        if place[a] < place[b]:
            above[b].append(a)
            below[a].append(b)
    layer: dict[str, int] = {}
    for key in size:
        layer[key] = max((layer[o] + 1 for o in above[key]), default=0)
    rows: list[list[str]] = [[] for _ in range(max(layer.values()) + 1)]
    for key, k in layer.items():
        rows[k].append(key)
    _sort(rows, above, below)
    widths = [sum(size[key][0] for key in row) + _BETWEEN * (len(row) - 1) for row in rows]
    corners: dict[str, tuple[float, float]] = {}
    y = 0.0
    for row, width in zip(rows, widths, strict=True):
        x = (max(widths) - width) / 2
        for key in row:
            corners[key] = (x, y)
            x += size[key][0] + _BETWEEN
        y += max(size[key][1] for key in row) + _BETWEEN_LAYERS
    return corners


def _sort(rows: Sequence[list[str]], above: Mapping[str, list[str]], below: Mapping[str, list[str]]) -> None:
    """Order each row by the middle of its neighbours, from above and from below in turn."""
    position = {key: (i + 0.5) / len(row) for row in rows for i, key in enumerate(row)}
    for sweep in range(_SWEEPS):
        near = below if sweep % 2 else above

        def middle(key: str) -> float:
            found = [position[o] for o in near[key]]  # noqa: B023
            return sum(found) / len(found) if found else position[key]

        for row in reversed(rows) if sweep % 2 else rows:
            row.sort(key=middle)
            position.update({key: (i + 0.5) / len(row) for i, key in enumerate(row)})


def _beside(diagram: Diagram, parts: list[Layout]) -> Layout:
    """The sides in one layout, each to the right of those before it and no higher than the first box that it reads."""
    made = Layout()
    gap = _GAP + min(_WIDER * sum(e.crosses for e in diagram.edges), _WIDEST)
    for side, part in zip(diagram.sides, parts, strict=True):
        left = top = 0.0
        if made.sides:
            read = [made.boxes[e.source].y for e in diagram.edges if e.target in part.boxes and e.source in made.boxes]
            left = made.width + gap
            top = max(min(read, default=0.0) - _HEADING, max(r.y for r in made.sides.values()) + _STEP)
        x, y = left + _AROUND, top + _HEADING
        made.boxes |= {key: place.moved(x, y) for key, place in part.boxes.items()}
        made.loops |= {key: place.moved(x, y) for key, place in part.loops.items()}
        made.arrows |= {ends: [(a + x, b + y) for a, b in points] for ends, points in part.arrows.items()}
        heading = len(heading_of(diagram, side)) * FONT * CHARACTER
        made.sides[side] = Rectangle(
            left, top, max(part.width, heading) + 2 * _AROUND, part.height + _HEADING + _AROUND
        )
    for e in diagram.edges:
        if (e.source, e.target) not in made.arrows:
            made.arrows[e.source, e.target] = _across(made.boxes[e.source], made.boxes[e.target])
    return made


def _across(a: Rectangle, b: Rectangle) -> list[Point]:
    """From the right of one box to the left of another."""
    start, end = (a.right, a.middle[1]), (b.x, b.middle[1])
    bend = max((end[0] - start[0]) / 2, 30.0)
    return [start, (start[0] + bend, start[1]), (end[0] - bend, end[1]), (end[0] - 0.5, end[1]), end]
