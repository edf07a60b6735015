"""What a click on a box says: formulas, shape, value, source line; one box at a time, when it is asked for."""

from __future__ import annotations

from symgrad.closed_form.choice import formulas
from symgrad.errors import SymgradError
from symgrad.program.node import Node

from ..structure import visible
from .diagram import Box, Diagram
from .subject import Subject, is_leaf

#: operations and characters of a closed form that is still read at a click
_BUDGET, _MAX_CHARACTERS = 400, 600
#: nodes of a group that are listed
_MAX_LISTED = 12

Row = tuple[str, str]


def details(diagram: Diagram, key: str) -> list[Row]:
    """Pairs of a word and a text about the box with this key; none where there is no such box."""
    box = next((b for b in diagram.boxes if b.key == key), None)
    if box is None:
        return []
    rows = _of_node(diagram.subject, box) if len(box.nodes) == 1 else _of_group(diagram.subject, box)
    return [(word, visible(text)) for word, text in rows if text]


def _of_node(subject: Subject, box: Box) -> list[Row]:
    (node,) = box.nodes
    finding = subject.findings.get(node)
    name = subject.name(node)
    rows = [("result", box.rows[0])] if box.kind == "result" else []
    if not is_leaf(node) and not node.is_literal:
        rows += [("operation", f"{name} = {subject.formula(node)}"), ("formula", _closed_form(subject, node))]
    else:
        rows.append((node.primitive.name, name))
    rows.append(("shape", f"{tuple(node.shape)}, {node.dtype}"))
    if finding is None:
        rows.append(("value", "not computed: too large, or made of what is"))
    else:
        kept = finding.sample.size
        rows.append(("value", finding.text if kept else ""))
        rows.append(("range", finding.span if kept > 1 else ""))
        rows.append(("finite", _told(finding.nans, finding.infinities)))
    rows.append(("here", box.warning))
    rows.append(("line", subject.place(node)))
    rows.append(("side", subject.heading(subject.side[node]) if node in subject.side else ""))
    loop = subject.loops.number.get(node)
    rows.append((f"loop {loop}", subject.loops.told) if loop else ("loop", ""))
    return rows


def _told(nans: int, infinities: int) -> str:
    parts = [f"{count} {word}" for word, count in (("NaN", nans), ("infinite", infinities)) if count]
    return f"no: {', '.join(parts)}" if parts else "yes"


def _closed_form(subject: Subject, node: Node) -> str:
    """The node in terms of the inputs where that is short, else in terms of what it computes from."""
    program = subject.program.with_outputs([node])
    try:
        made = formulas(program, _BUDGET, _MAX_CHARACTERS)
    except SymgradError:
        return ""
    if made.kind != "let-bound":
        return "\n".join(made.text_rows([subject.name(node)]))
    count = len(program.bindings)
    return f"{subject.name(node)} = {subject.formula(node)}, in terms of inputs too long: {count} operations"


def _of_group(subject: Subject, box: Box) -> list[Row]:
    first = box.nodes[0]
    if box.kind == "result":
        return [("results", "\n".join(name for name, node in subject.results if node in box.nodes))]
    if is_leaf(first):
        return [(box.kind, _listed([subject.name(n) for n in box.nodes]))]
    lines = list(dict.fromkeys(filter(None, (subject.place(n) for n in box.nodes))))
    warned = [n for n in box.nodes if (f := subject.findings.get(n)) and f.origin]
    here = [f"{subject.name(n)} = {subject.formula(n)}: {subject.findings[n].origin}" for n in warned]
    loops = dict.fromkeys(subject.loops.number[n] for n in box.nodes if n in subject.loops.number)
    return [
        ("group", "\n".join(box.rows)),
        ("operations", _listed([f"{subject.name(n)} = {subject.formula(n)}" for n in box.nodes])),
        ("here", _listed(here)),
        ("lines", _listed(lines)),
        ("side", subject.heading(subject.side[first])),
        ("loops", f"{len(loops)}: {subject.loops.told}" if loops else ""),
    ]


def _listed(texts: list[str]) -> str:
    more = len(texts) - _MAX_LISTED
    return "\n".join([*texts[:_MAX_LISTED], *([f"… {more} more"] if more > 0 else [])])
