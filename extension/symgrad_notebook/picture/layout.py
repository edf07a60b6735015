"""Where boxes stand and how arrows run: Graphviz where it is installed, else layers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace

from .beside import beside
from .diagram import Box, Diagram, warned
from .layers import layered
from .placed import Layout, Point, Rectangle
from .spelling import short

#: width of a character over the height of the font, in the monospaced fonts that browsers have
CHARACTER = 0.602
#: sizes of the rows of a box, in pixels
FONT, SMALL, LINE, SMALL_LINE, MARGIN = 13, 11, 17, 15, 12
#: seconds after which Graphviz is given up
PATIENCE = 6.0
#: boxes from which their shapes and ranges are left to tooltips
_DENSE = 48
_LABEL_SIZE, _LONGEST_HEADING = 13, 40


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
    sizes = {b.key: size_of(b, is_dense(diagram)) for b in diagram.boxes}
    if engine is None:
        return _by_layers(diagram, sizes)
    try:
        made = subprocess.run(
            [engine, "-Tjson0"], input=_graph(diagram, sizes), capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return None
    return beside(diagram, _read(json.loads(made.stdout))) if made.returncode == 0 else _by_layers(diagram, sizes)


def _graph(diagram: Diagram, sizes: dict[str, tuple[float, float]]) -> str:
    """The boxes by key and size alone, so that nothing that users write reaches Graphviz."""
    lines = [
        "digraph {",
        f"graph [newrank=true, nodesep=0.25, ranksep=0.4, margin=0, fontsize={_LABEL_SIZE}, fontname=monospace];",
        "node [shape=box, fixedsize=true];",
    ]
    for side in diagram.sides:
        heading = "x" * len(heading_of(diagram, side))
        lines.append(f'subgraph cluster_side_{side} {{ margin=16; labeljust=l; label="{heading}";')
        by_loop: dict[int, list[Box]] = {}
        for box in diagram.boxes:
            if box.side == side:
                by_loop.setdefault(box.loop if diagram.loops_boxed else 0, []).append(box)
        for loop, boxes in by_loop.items():
            lines += [f'subgraph cluster_loop_{side}_{loop} {{ margin=10; label="loop {loop}";'] if loop else []
            for box in boxes:
                width, height = sizes[box.key]
                lines.append(f"{box.key} [width={width / 72:.4f}, height={height / 72:.4f}];")
            lines += ["}"] if loop else []
        lines.append("}")
    lines += [f"{e.source} -> {e.target};" for e in diagram.edges]
    return "\n".join([*lines, "}"])


def _read(graph: dict) -> Layout:
    """Graphviz's JSON, whose y grows upwards."""
    _, _, width, height = map(float, graph["bb"].split(","))
    layout = Layout(width, height)
    objects = graph.get("objects", [])
    for thing in objects:
        if "pos" in thing:
            x, y = map(float, thing["pos"].split(","))
            w, h = 72 * float(thing["width"]), 72 * float(thing["height"])
            layout.boxes[thing["name"]] = Rectangle(x - w / 2, height - y - h / 2, w, h)
        else:
            left, low, right, high = map(float, thing["bb"].split(","))
            around = Rectangle(left, height - high, right - left, high - low)
            _, kind, *numbers = thing["name"].split("_")
            if kind == "side":
                layout.sides[int(numbers[0])] = around
            else:
                layout.loops[int(numbers[0]), int(numbers[1])] = around
    for edge in graph.get("edges", []):
        ends = objects[edge["tail"]]["name"], objects[edge["head"]]["name"]
        layout.arrows[ends] = [(x, height - y) for x, y in _curve(edge["pos"])]
    return _function_first(layout)


def _function_first(layout: Layout) -> Layout:
    """The layout, or its mirror image where the function would stand to the right of its derivative."""
    middles = [layout.sides[side].middle[0] for side in sorted(layout.sides)]
    if len(middles) < 2 or middles[0] <= sum(middles[1:]) / len(middles[1:]):
        return layout

    def mirrored(place: Rectangle) -> Rectangle:
        return replace(place, x=layout.width - place.x - place.width)

    return replace(
        layout,
        boxes={key: mirrored(r) for key, r in layout.boxes.items()},
        sides={key: mirrored(r) for key, r in layout.sides.items()},
        loops={key: mirrored(r) for key, r in layout.loops.items()},
        arrows={ends: [(layout.width - x, y) for x, y in points] for ends, points in layout.arrows.items()},
    )


def _curve(text: str) -> list[Point]:
    """A spline of Graphviz: control points, and at the end the tip of the arrow."""
    points = list(_points(text))
    tip = [p for head, p in points if head == "e"]
    return [p for head, p in points if not head] + tip


def _points(text: str) -> Iterator[tuple[str, Point]]:
    for part in text.split():
        *head, x, y = part.split(",")
        yield "".join(head), (float(x), float(y))


def _by_layers(diagram: Diagram, sizes: dict[str, tuple[float, float]]) -> Layout:
    """The sides next to one another, each in layers; loops are told by numbers alone."""
    corners, around = layered(
        {b.key: b.side for b in diagram.boxes}, sizes, [(e.source, e.target) for e in diagram.edges]
    )
    boxes = {k: Rectangle(*corners[k], *sizes[k]) for k in corners}
    sides = {side: Rectangle(*place) for side, place in around.items()}
    width = max(r.x + r.width for r in sides.values())
    layout = Layout(width, max(r.y + r.height for r in sides.values()), boxes, sides=sides, engine="layers")
    for e in diagram.edges:
        a, b = boxes[e.source], boxes[e.target]
        start, end = (a.middle[0], a.y + a.height), (b.middle[0], b.y)
        bend = max((end[1] - start[1]) / 2, 20.0)
        layout.arrows[e.source, e.target] = [
            start,
            (start[0], start[1] + bend),
            (end[0], end[1] - bend),
            (end[0], end[1] - 6),
            end,
        ]
    return layout
