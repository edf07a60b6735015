"""A diagram with its layout as SVG that needs nothing else: shapes, arrows, tooltips and a legend.

Colours are attributes for light surroundings, and rules for dark ones that win where the reader asks for dark; the
picture has a background of its own, since an image knows nothing of the page around it. Everything that a person
wrote goes through ``escaped``.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

from .diagram import Box, Diagram, Edge
from .layout import CHARACTER, FONT, LINE, MARGIN, SMALL, SMALL_LINE, Layout, Rectangle, heading_of, is_dense, rows_of

#: colours after Okabe and Ito: told apart by everybody, light and dark; none says what no shape says
PAPER, INK, MUTED, LINES = "#ffffff", "#1f2328", "#59636e", "#8c959f"
#: the panel and the outline of each side; the last is for all further orders
SIDES = (("#eef5fb", "#0b63a5"), ("#fdf3e6", "#a85000"), ("#e9f6f0", "#00705a"), ("#f8eef5", "#963a78"))
#: the ground and the outline where values stop being finite
WARNING = ("#ffe8ec", "#b00030")

_DARK_PAPER, _DARK_INK, _DARK_MUTED, _DARK_LINES = "#1b1f24", "#e6edf3", "#9da7b3", "#7d8590"
_DARK_SIDES = (("#15222f", "#62b6ee"), ("#2a2114", "#eba13a"), ("#12281f", "#3fc79a"), ("#2b1a28", "#dd8fc4"))
_DARK_WARNING = ("#4a1120", "#ff8fa6")

_PAD = 16
#: width that front ends have room for, and how far a wider picture is made smaller for it
_COMFORTABLE, _SMALLEST = 660, 0.7
_FAMILY = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_BOX = "sg-box"


def drawn(diagram: Diagram, layout: Layout, name: str) -> str:
    """The SVG, in which ``name`` begins every id so that several pictures can stand in one page."""
    legend = list(_legend_rows(diagram, layout))
    head = 48
    texts = len(diagram.title) * FONT, len(diagram.counts) * SMALL
    width = max(layout.width, max(texts) * CHARACTER, *(w for w, _ in legend)) + 2 * _PAD
    foot = 24 * len(legend) + 10
    height = layout.height + head + foot + 2 * _PAD
    scale = 1.0 if width <= _COMFORTABLE else max(_COMFORTABLE / width, _SMALLEST)
    tagged = diagram.loops_boxed and not layout.loops  # loops that have no box of their own
    crossing = {(e.source, e.target): e for e in diagram.edges}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" class="sg-dag" role="group" '
        f'aria-labelledby="{name}-t" width="{width * scale:.0f}" height="{height * scale:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="{_FAMILY}" font-size="{FONT}">',
        f'<title id="{name}-t">{escaped(diagram.summary)}</title>',
        f"<style>{dark_rules(name)}</style>",
        f"<defs>{_marker(name, 'a', LINES)}{_marker(name, 'x', INK)}</defs>",
        f'<rect class="sg-paper" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8" '
        f'fill="{PAPER}" stroke="{LINES}"/>',
        f'<text class="sg-ink" x="{_PAD}" y="{_PAD + 10}" fill="{INK}" font-weight="bold">'
        f"{escaped(diagram.title)}</text>",
        f'<text class="sg-muted" x="{_PAD}" y="{_PAD + 28}" fill="{MUTED}" font-size="{SMALL}">'
        f"{escaped(diagram.counts)}</text>",
        f'<g transform="translate({_PAD},{_PAD + head})">',
        *(_side(diagram, side, place) for side, place in layout.sides.items()),
        *(_loop(diagram, *key, place) for key, place in layout.loops.items()),
        *(_arrow(crossing[ends], points, name) for ends, points in layout.arrows.items() if not crossing[ends].crosses),
        *(_arrow(crossing[ends], points, name) for ends, points in layout.arrows.items() if crossing[ends].crosses),
        *(_heading(diagram, side, place) for side, place in layout.sides.items()),
        *(_box(box, layout.boxes[box.key], name, tagged, is_dense(diagram)) for box in diagram.boxes),
        "</g>",
        f'<g transform="translate({_PAD},{_PAD + head + layout.height + 14:.0f})">',
        *(f'<g transform="translate(0,{24 * k})">{row}</g>' for k, (_, row) in enumerate(legend)),
        "</g></svg>",
    ]
    return "".join(parts)


def escaped(text: str) -> str:
    """``text`` as character data of SVG, without what XML does not allow."""
    return html.escape("".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text))


def _marker(name: str, kind: str, colour: str) -> str:
    css = "sg-ink" if kind == "x" else "sg-line"
    return (
        f'<marker id="{name}-{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path class="{css}-fill" d="M0 0.6L8 4L0 7.4Z" fill="{colour}"/></marker>'
    )


def _side(diagram: Diagram, side: int, place: Rectangle) -> str:
    number = min(side, len(SIDES) - 1)
    panel, colour = SIDES[number]
    return (
        f'<rect class="sg-panel{number}" x="{place.x + 3:.1f}" y="{place.y:.1f}" width="{place.width - 6:.1f}" '
        f'height="{place.height:.1f}" rx="10" fill="{panel}" stroke="{colour}" stroke-opacity="0.35"/>'
    )


def _heading(diagram: Diagram, side: int, place: Rectangle) -> str:
    """Written over the arrows, with a rim in the colour of the panel."""
    number = min(side, len(SIDES) - 1)
    panel, colour = SIDES[number]
    return (
        f'<text class="sg-text{number}" x="{place.x + 12:.1f}" y="{place.y + 19:.1f}" fill="{colour}" '
        f'stroke="{panel}" stroke-width="5" stroke-linejoin="round" paint-order="stroke" font-weight="bold">'
        f"{escaped(heading_of(diagram, side))}</text>"
    )


def _loop(diagram: Diagram, side: int, loop: int, place: Rectangle) -> str:
    dashes = "" if diagram.subject.loops.serves else ' stroke-dasharray="7 4"'
    return (
        f'<rect class="sg-loop" x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="6" fill="none" stroke="{MUTED}" stroke-width="1.4"{dashes}/>'
        f'<text class="sg-muted" x="{place.x + place.width / 2:.1f}" y="{place.y + 14:.1f}" text-anchor="middle" '
        f'font-size="{SMALL}" fill="{MUTED}">loop {loop}</text>'
    )


def _arrow(edge: Edge, points: list[tuple[float, float]], name: str) -> str:
    """A Bezier curve to the tip; what crosses the sides is dark and begins with a dot."""
    (x, y), *rest = points
    curve = f"M{x:.1f} {y:.1f}C" + " ".join(f"{a:.1f} {b:.1f}" for a, b in rest[:-1])
    curve += "L{:.1f} {:.1f}".format(*rest[-1])
    kind, css, colour, width = ("x", "sg-ink", INK, 1.7) if edge.crosses else ("a", "sg-line", LINES, 1.2)
    dot = f'<circle class="{css}-fill" cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>' if edge.crosses else ""
    return (
        f'<g class="sg-edge" data-from="{edge.source}" data-to="{edge.target}"><path class="{css}-stroke" d="{curve}" '
        f'fill="none" stroke="{colour}" stroke-width="{width}" marker-end="url(#{name}-{kind})"/>{dot}</g>'
    )


def _box(box: Box, place: Rectangle, name: str, tagged: bool, dense: bool) -> str:
    number = min(box.side, len(SIDES) - 1)
    colour = SIDES[number][1]
    shape = _shape(box, place, colour, number)
    rows = rows_of(box, dense)
    x = place.middle[0]
    y = place.y + MARGIN / 2 - 4
    texts = []
    for k, (text, size) in enumerate(rows):
        y += LINE if size == FONT else SMALL_LINE
        warns = box.warning and k == len(rows) - 1
        css, fill = ("sg-warn", WARNING[1]) if warns else ("sg-ink", INK) if k == 0 else ("sg-muted", MUTED)
        weight = ' font-weight="bold"' if warns or (k == 0 and box.kind != "operation") else ""
        texts.append(
            f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{size}" fill="{fill}"'
            f"{weight}>{escaped(text)}</text>"
        )
    if tagged and box.loop:
        texts.append(
            f'<text class="sg-muted" x="{place.x + place.width - 3:.1f}" y="{place.y - 3:.1f}" text-anchor="end" '
            f'font-size="9" fill="{MUTED}">loop {box.loop}</text>'
        )
    return (
        f'<g id="{name}-{box.key}" class="{_BOX}" data-key="{box.key}" data-kind="{box.kind}">'
        f"<title>{escaped(box.tip)}</title>{shape}{''.join(texts)}</g>"
    )


def _shape(box: Box, place: Rectangle, colour: str, side: int) -> str:
    """Inputs slant, constants have six corners, results are flags, groups are stacks, the rest rounded boxes."""
    x, y, w, h = place.x, place.y, place.width, place.height
    paint = f'class="sg-node{side}" fill="{PAPER}" stroke="{colour}"'
    line = 1.4
    if box.origin:
        paint, line = f'class="sg-origin" fill="{WARNING[0]}" stroke="{WARNING[1]}"', 3.0
    paint += f' stroke-width="{line}"' + (' stroke-dasharray="3 3"' if box.spoiled and not box.origin else "")
    if box.kind == "input":
        corners = [(x + 10, y), (x + w, y), (x + w - 10, y + h), (x, y + h)]
    elif box.kind == "constant":
        corners = [(x + 9, y), (x + w - 9, y), (x + w, y + h / 2), (x + w - 9, y + h), (x + 9, y + h), (x, y + h / 2)]
    elif box.kind == "result":
        corners = [(x, y), (x + w - 12, y), (x + w, y + h / 2), (x + w - 12, y + h), (x, y + h)]
        low, right = y + h - 3, x + w - 13.5
        inner = [(x + 3, y + 3), (right, y + 3), (x + w - 4, y + h / 2), (right, low), (x + 3, low)]
        return f'<polygon {paint} points="{_joined(corners)}"/><polygon {paint} points="{_joined(inner)}"/>'
    else:
        stack = ""
        if box.kind == "group":
            stack = f'<rect {paint} x="{x + 4:.1f}" y="{y + 4:.1f}" width="{w:.1f}" height="{h:.1f}" rx="7"/>'
        return f'{stack}<rect {paint} x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="7"/>'
    return f'<polygon {paint} points="{_joined(corners)}"/>'


def _joined(corners: list[tuple[float, float]]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)


def _legend_rows(diagram: Diagram, layout: Layout) -> Iterator[tuple[float, str]]:
    """Rows of the legend with their widths: only what the picture has."""
    samples: list[tuple[str, str]] = []
    kinds = {b.kind for b in diagram.boxes}
    for kind, word in _KINDS:
        if kind in kinds:
            sample = Box(kind, kind, 0, (), "")
            samples.append((_shape(sample, Rectangle(0, -11, 26, 16), MUTED, len(SIDES)), word))
    line = "M0 -3L24 -3"
    if any(e.crosses for e in diagram.edges):
        cross = (
            f'<path class="sg-ink-stroke" d="{line}" fill="none" stroke="{INK}" stroke-width="1.7"/>'
            f'<circle class="sg-ink-fill" cx="2" cy="-3" r="3.2" fill="{INK}"/>'
        )
        samples.append((cross, "read by the derivative"))
    yield _row(samples)
    ring = ""
    if any(b.loop for b in diagram.boxes):
        dashes = "" if diagram.subject.loops.serves else ' stroke-dasharray="5 3"'
        paint = f'class="sg-loop" fill="none" stroke="{MUTED}"{dashes}'
        ring = f'<rect {paint} x="0" y="-11" width="26" height="16" rx="4"/>'
    yield _row([(ring, diagram.told_of_loops)])
    if any(b.warning or b.spoiled for b in diagram.boxes):
        ring = (
            f'<rect class="sg-origin" x="0" y="-11" width="26" height="16" rx="4" fill="{WARNING[0]}" '
            f'stroke="{WARNING[1]}" stroke-width="3"/>'
        )
        stain = (
            f'<rect class="sg-node{len(SIDES)}" x="0" y="-11" width="26" height="16" rx="4" fill="{PAPER}" '
            f'stroke="{MUTED}" stroke-dasharray="3 3"/>'
        )
        yield _row([(ring, "⚠ NaN or infinity begins here"), (stain, "holds NaN or infinity")])
    if diagram.note:
        yield _row([("", diagram.note)])


def _row(samples: list[tuple[str, str]]) -> tuple[float, str]:
    x, parts = 0.0, []
    for sample, word in samples:
        indent = 36 if sample else 0
        parts.append(
            f'<g transform="translate({x:.1f},12)">{sample}<text class="sg-muted" x="{indent}" y="1" '
            f'font-size="{SMALL}" fill="{MUTED}">{escaped(word)}</text></g>'
        )
        x += indent + len(word) * SMALL * CHARACTER + 22
    return x, "".join(parts)


_KINDS = (
    ("input", "input"),
    ("constant", "constant"),
    ("operation", "operation"),
    ("group", "several operations"),
    ("result", "result"),
)


def dark_rules(name: str) -> str:
    """Rules for the picture whose id is ``name``, where dark is asked for: by the reader, or by ``data-theme``."""
    rules = {
        ".sg-paper": f"fill:{_DARK_PAPER}",
        ".sg-ink": f"fill:{_DARK_INK}",
        ".sg-muted": f"fill:{_DARK_MUTED}",
        ".sg-ink-fill": f"fill:{_DARK_INK}",
        ".sg-ink-stroke": f"stroke:{_DARK_INK}",
        ".sg-line-fill": f"fill:{_DARK_LINES}",
        ".sg-line-stroke": f"stroke:{_DARK_LINES}",
        ".sg-loop": f"stroke:{_DARK_MUTED}",
        ".sg-origin": f"fill:{_DARK_WARNING[0]};stroke:{_DARK_WARNING[1]}",
        ".sg-warn": f"fill:{_DARK_WARNING[1]}",
        f".sg-node{len(SIDES)}": f"fill:{_DARK_PAPER};stroke:{_DARK_MUTED}",
    }
    for k, (panel, colour) in enumerate(_DARK_SIDES):
        rules[f".sg-panel{k}"] = f"fill:{panel};stroke:{colour}"
        rules[f".sg-text{k}"] = f"fill:{colour};stroke:{panel}"
        rules[f".sg-node{k}"] = f"fill:{_DARK_PAPER};stroke:{colour}"
    chosen = "".join(f"#{name}[data-theme=dark] {where}{{{what}}}" for where, what in rules.items())
    asked = "".join(f"#{name}:not([data-theme=light]) {where}{{{what}}}" for where, what in rules.items())
    return f"{chosen}@media (prefers-color-scheme:dark){{{asked}}}"
