"""A layout without Graphviz: boxes in layers by the longest way to each, neighbours above one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_GAP, _BETWEEN_LAYERS = 18.0, 34.0
_SWEEPS = 4


def layered(
    size: Mapping[str, tuple[float, float]], edges: Sequence[tuple[str, str]]
) -> dict[str, tuple[float, float]]:
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
    widths = [sum(size[key][0] for key in row) + _GAP * (len(row) - 1) for row in rows]
    corners: dict[str, tuple[float, float]] = {}
    y = 0.0
    for row, width in zip(rows, widths, strict=True):
        x = (max(widths) - width) / 2
        for key in row:
            corners[key] = (x, y)
            x += size[key][0] + _GAP
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
