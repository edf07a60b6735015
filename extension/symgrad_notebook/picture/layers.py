"""A layout without Graphviz: each side in layers by the longest way to a box, neighbours above one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_GAP, _BETWEEN_LAYERS, _BETWEEN_SIDES, _MARGIN, _HEADING = 18.0, 34.0, 28.0, 18.0, 30.0
_SWEEPS = 4

Size = tuple[float, float]


def layered(
    side: Mapping[str, int], size: Mapping[str, Size], edges: Sequence[tuple[str, str]]
) -> tuple[dict[str, tuple[float, float]], dict[int, tuple[float, float, float, float]]]:
    """The upper left corner of each box, and the rectangle around each side.

    ``side`` names the boxes in an order in which most edges go forwards; an edge that goes back does not count.

    >>> corners, around = layered({"a": 0, "b": 0}, {"a": (10, 10), "b": (10, 10)}, [("a", "b")])
    >>> corners["a"][0] == corners["b"][0], corners["a"][1] < corners["b"][1]
    (True, True)
    """
    place = {key: k for k, key in enumerate(side)}
    above: dict[str, list[str]] = {key: [] for key in side}
    below: dict[str, list[str]] = {key: [] for key in side}
    for a, b in edges:
        if place[a] < place[b]:
            above[b].append(a)
            below[a].append(b)
    layer: dict[str, int] = {}
    for key in side:
        layer[key] = max((layer[o] + 1 for o in above[key]), default=0)
    tall: dict[int, float] = {}
    for key in side:
        tall[layer[key]] = max(tall.get(layer[key], 0.0), size[key][1])
    top = {0: _MARGIN + _HEADING}
    for k in range(max(tall, default=0)):
        top[k + 1] = top[k] + tall[k] + _BETWEEN_LAYERS
    corners: dict[str, tuple[float, float]] = {}
    around: dict[int, tuple[float, float, float, float]] = {}
    left = 0.0
    for k in sorted(set(side.values())):
        rows: dict[int, list[str]] = {}
        for key in side:
            if side[key] == k:
                rows.setdefault(layer[key], []).append(key)
        _sort(rows, above, below)
        width = max(_width(row, size) for row in rows.values())
        for number, row in rows.items():
            x = left + _MARGIN + (width - _width(row, size)) / 2
            for key in row:
                corners[key] = (x, top[number])
                x += size[key][0] + _GAP
        last = max(rows)
        around[k] = (left, top[min(rows)] - _MARGIN - _HEADING, width + 2 * _MARGIN, 0.0)
        around[k] = (*around[k][:3], top[last] + tall[last] + _MARGIN - around[k][1])
        left += width + 2 * _MARGIN + _BETWEEN_SIDES
    return corners, around


def _width(row: Sequence[str], size: Mapping[str, Size]) -> float:
    return sum(size[key][0] for key in row) + _GAP * (len(row) - 1)


def _sort(rows: dict[int, list[str]], above: Mapping[str, list[str]], below: Mapping[str, list[str]]) -> None:
    """Order each row by the middle of its neighbours, from above and from below in turn."""
    position = {key: (i + 0.5) / len(row) for row in rows.values() for i, key in enumerate(row)}
    for sweep in range(_SWEEPS):
        near = below if sweep % 2 else above
        for number in sorted(rows, reverse=bool(sweep % 2)):
            row = rows[number]

            def middle(key: str) -> float:
                found = [position[o] for o in near[key] if o in position]  # noqa: B023
                return sum(found) / len(found) if found else position[key]

            row.sort(key=middle)
            position.update({key: (i + 0.5) / len(row) for i, key in enumerate(row)})
