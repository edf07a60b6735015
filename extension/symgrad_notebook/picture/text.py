"""A diagram as text: for terminals, for Graphviz, for Mermaid."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.kernels.explanation import in_columns

from ..structure import visible
from .diagram import Box, Diagram, warned
from .spelling import short

#: lines of the text form that is saved with a notebook
_MAX_LINES, _MAX_WARNINGS = 60, 8
_SHAPES = {"input": "parallelogram", "constant": "hexagon", "result": "cds", "group": "box3d", "operation": "box"}
_BRACKETS = {"input": ("[/", "/]"), "constant": ("{{", "}}"), "result": (">", "]"), "group": ("[[", "]]")}


def terminal(diagram: Diagram) -> str:
    """The same as the picture in lines: each side's boxes with shapes and values, where values go wrong, loops."""
    lines = [diagram.summary]
    for side in diagram.sides:
        boxes = [b for b in diagram.boxes if b.side == side and b.kind != "result"]
        lines += [short(diagram.subject.heading(side), 80) + ":", *_table(boxes)]
    lines += [f"result {b.rows[0]} = {diagram.subject.name(b.nodes[0])}" for b in diagram.boxes if b.kind == "result"]
    left_out = len(lines) - _MAX_LINES
    if left_out > 0:
        lines[_MAX_LINES:] = [f"… {left_out} more lines"]
    marked = sorted((b for b in diagram.boxes if b.warning), key=lambda b: not b.origin)
    lines += [f"{'⚠' if b.origin else ' '} {b.rows[0]}: {b.warning}" for b in marked[:_MAX_WARNINGS]]
    lines += [f"  … {len(marked) - _MAX_WARNINGS} more"] if len(marked) > _MAX_WARNINGS else []
    shown = any(b.loop for b in diagram.boxes)
    lines.append(f"loop: {diagram.told_of_loops}" if shown else diagram.told_of_loops)
    return "\n".join([*lines, diagram.note] if diagram.note else lines)


def _table(boxes: list[Box]) -> Iterator[str]:
    rows = [
        (b.rows[0], " ".join(b.rows[1:]), f"loop {b.loop}" if b.loop else "", "⚠" if b.origin else "") for b in boxes
    ]
    for line in in_columns(rows):
        yield f"  {line}"


def to_dot(diagram: Diagram) -> str:
    """Graphviz's language, the sides as clusters; every label quoted."""
    lines = ["digraph program {", '  node [shape=box, style=rounded, fontname="monospace"];']
    for side in diagram.sides:
        lines.append(f"  subgraph cluster_side_{side} {{ label={_quoted(diagram.subject.heading(side))};")
        loops: dict[int, list[Box]] = {}
        for box in diagram.boxes:
            if box.side == side:
                loops.setdefault(box.loop if diagram.loops_boxed else 0, []).append(box)
        for loop, boxes in loops.items():
            if loop:
                lines.append(f'    subgraph cluster_loop_{side}_{loop} {{ label="loop {loop}"; style=dashed;')
            for b in boxes:
                rows = [*b.rows, *warned(b)]
                extra = ", style=solid" if b.kind != "operation" else ""
                extra += ", penwidth=3" if b.warning else ""
                lines.append(f"    {b.key} [label={_quoted(chr(10).join(rows))}, shape={_SHAPES[b.kind]}{extra}];")
            lines += ["    }"] if loop else []
        lines.append("  }")
    heavy = " [penwidth=2, dir=both, arrowtail=dot]"
    lines += [f"  {e.source} -> {e.target}{heavy if e.crosses else ''};" for e in diagram.edges]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    r"""A quoted string of Graphviz, whose escapes are text.

    >>> print(_quoted('"];evil\\N'))
    "\"];evil\\N"
    """
    lines = [visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'


def to_mermaid(diagram: Diagram) -> str:
    """Mermaid's language; readable to about sixty boxes."""
    lines = ["flowchart TB"]
    for side in diagram.sides:
        lines.append(f'  subgraph side{side}["{_entities(diagram.subject.heading(side))}"]')
        for b in diagram.boxes:
            if b.side == side:
                rows = [*b.rows, *warned(b), *([f"loop {b.loop}"] if b.loop else [])]
                left, right = _BRACKETS.get(b.kind, ("(", ")"))
                lines.append(f'    {b.key}{left}"{"<br>".join(map(_entities, rows))}"{right}')
        lines.append("  end")
    return "\n".join([*lines, *(f"  {e.source} {'==>' if e.crosses else '-->'} {e.target}" for e in diagram.edges)])


def _entities(text: str) -> str:
    """Text in which every sign that Mermaid or HTML could read as more is a number.

    >>> _entities('<b> "]')
    '#60;b#62; #34;#93;'
    """
    text = visible(text).replace("\n", " ")
    return "".join(c if c.isalnum() or c in " .,_=+−·…ᵀ²√Σ∂" else f"#{ord(c)};" for c in text)
