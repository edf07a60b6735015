"""What a layout is: rectangles and curves in pixels, y downwards."""

from __future__ import annotations

from dataclasses import dataclass, field

Point = tuple[float, float]


@dataclass(frozen=True)
class Rectangle:
    """A box from its upper left corner, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass
class Layout:
    """``boxes`` by key, ``arrows`` by the keys of both ends as points of Bezier curves, ``sides`` and ``loops`` around
    boxes; a loop may have a part on each side."""

    width: float
    height: float
    boxes: dict[str, Rectangle] = field(default_factory=dict)
    arrows: dict[tuple[str, str], list[Point]] = field(default_factory=dict)
    sides: dict[int, Rectangle] = field(default_factory=dict)
    loops: dict[tuple[int, int], Rectangle] = field(default_factory=dict)
    engine: str = "dot"
