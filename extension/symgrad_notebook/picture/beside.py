"""Sides that Graphviz put below one another, moved next to one another: the function left, derivatives to its right."""

from __future__ import annotations

from dataclasses import replace

from .diagram import Diagram
from .placed import Layout, Point, Rectangle

#: between two sides, with room for each arrow, and how much lower each begins at least than the one before
_GAP, _WIDER, _WIDEST, _STEP = 14.0, 3.0, 70.0, 30.0


def beside(diagram: Diagram, layout: Layout) -> Layout:
    """The layout with every side to the right of those before it; arrows between sides that moved are drawn anew."""
    moves: dict[int, Point] = {}
    sides: dict[int, Rectangle] = {}
    for side in sorted(layout.sides):
        place = layout.sides[side]
        right = max((r.x + r.width for r in sides.values()), default=0.0)
        if sides and place.x < right - 1:
            top = max(_highest_source(diagram, layout, side), max(r.y for r in sides.values()) + _STEP)
            gap = _GAP + min(_WIDER * sum(e.crosses for e in diagram.edges), _WIDEST)
            moves[side] = right + gap - place.x, min(top - place.y, 0.0)
        sides[side] = _moved(place, moves.get(side))
    if not moves:
        return layout
    home = {b.key: b.side for b in diagram.boxes}
    boxes = {key: _moved(place, moves.get(home[key])) for key, place in layout.boxes.items()}
    arrows = {}
    for (a, b), points in layout.arrows.items():
        if home[a] == home[b]:
            dx, dy = moves.get(home[a], (0.0, 0.0))
            arrows[a, b] = [(x + dx, y + dy) for x, y in points]
        else:
            arrows[a, b] = points if not {home[a], home[b]} & moves.keys() else _across(boxes[a], boxes[b])
    return replace(
        layout,
        width=max(r.x + r.width for r in sides.values()),
        height=max(r.y + r.height for r in sides.values()),
        boxes=boxes,
        arrows=arrows,
        sides=sides,
        loops={key: _moved(place, moves.get(key[0])) for key, place in layout.loops.items()},
    )


def _highest_source(diagram: Diagram, layout: Layout, side: int) -> float:
    """The height of the first box that ``side`` reads from another one."""
    home = {b.key: b.side for b in diagram.boxes}
    read = (layout.boxes[e.source].y for e in diagram.edges if e.crosses and home[e.target] == side)
    return min(read, default=layout.sides[side].y)


def _moved(place: Rectangle, by: Point | None) -> Rectangle:
    return place if by is None else replace(place, x=place.x + by[0], y=place.y + by[1])


def _across(a: Rectangle, b: Rectangle) -> list[Point]:
    """From the right of one box to the left of another."""
    start, end = (a.x + a.width, a.middle[1]), (b.x, b.middle[1])
    bend = max((end[0] - start[0]) / 2, 30.0)
    return [start, (start[0] + bend, start[1]), (end[0] - bend, end[1]), (end[0] - 0.5, end[1]), end]
