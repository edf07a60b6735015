"""From nodes to boxes: the box of one node, of several, of results; and the arrows between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from symgrad.kernels.explanation import named
from symgrad.program.node import Node

from ..structure import visible
from .diagram import Box, Edge
from .spelling import cut, short
from .subject import Subject, is_leaf

_LONGEST_ROW = 44


def node_box(subject: Subject, node: Node) -> Box:
    """The box of one node."""
    finding = subject.findings.get(node)
    span = finding.span if finding else ""
    name = short(subject.label[node], _LONGEST_ROW)
    full = name if is_leaf(node) else f"{name} = {subject.formula(node)}"
    tip = [full, f"{node.dtype}{list(node.shape)}" + (f", {span}" if span else "")]
    if finding and finding.sample.size > 1:
        tip.append(finding.text)
    warning, begins, spoiled = _warning(subject, [node])
    loop = subject.loops.number.get(node, 0)
    tip += [warning, f"in loop {loop}" if loop else "", subject.place(node)]
    return Box(
        key=f"n{subject.number[node]}",
        kind=_kind(node),
        side=subject.side[node],
        rows=tuple(filter(None, (cut(full, _LONGEST_ROW), ": ".join(filter(None, (_dims(node), span)))))),
        tip=visible("\n".join(filter(None, tip))),
        loop=loop,
        warning=warning,
        origin=begins,
        spoiled=spoiled,
        nodes=(node,),
    )


def group_box(subject: Subject, nodes: Sequence[Node], head: str = "", loop: int = 0) -> Box:
    """One box for several nodes: ``head`` says what operations have in common, leaves are counted."""
    first, last = nodes[0], nodes[-1]
    ends = f"{subject.name(first)} … {subject.name(last)}"
    if is_leaf(first):
        rows = f"{len(nodes)} {_kind(first)}s", short(ends, _LONGEST_ROW)
    else:
        rows = head or ends, f"{len(nodes)} operations: {named(nodes)}"
    warning, begins, spoiled = _warning(subject, nodes)
    return Box(
        key=f"gn{subject.number[first]}",
        kind=_kind(first) if is_leaf(first) else "group",
        side=subject.side[first],
        rows=(cut(rows[0], _LONGEST_ROW), cut(rows[1], _LONGEST_ROW)),
        tip=visible("\n".join(filter(None, (*rows, warning)))),
        loop=loop,
        warning=warning,
        origin=begins,
        spoiled=spoiled,
        nodes=tuple(nodes),
    )


def result_box(subject: Subject, key: str, results: Sequence[tuple[str, Node]]) -> Box:
    """The box of one array of the result, or of several."""
    name, node = results[0]
    if len(results) > 1:
        rows = (f"{len(results)} results", short(f"{name} … {results[-1][0]}", _LONGEST_ROW))
        tip = "\n".join(rows)
    else:
        rows = tuple(filter(None, (short(name, _LONGEST_ROW), _dims(node))))
        tip = f"the result {name} is {subject.name(node)}, {node.dtype}{list(node.shape)}"
        tip += f"\n{finding.text}" if (finding := subject.findings.get(node)) else ""
    nodes = tuple(n for _, n in results)
    *_, spoiled = _warning(subject, nodes)
    return Box(key, "result", subject.side.get(node, 0), rows, visible(tip), spoiled=spoiled, nodes=nodes)


def edges_between(subject: Subject, key: Mapping[Node, str], ends: Sequence[str]) -> list[Edge]:
    """The arrows between boxes: ``key`` is that of each node, ``ends`` those of the results."""
    counts: Counter[tuple[str, str]] = Counter()
    crossing: set[tuple[str, str]] = set()
    for node in subject.shown:
        for o in dict.fromkeys(node.operands):
            if o in key and key[o] != key[node]:
                counts[key[o], key[node]] += 1
                if subject.side[o] != subject.side[node]:
                    crossing.add((key[o], key[node]))
    for (_, node), end in zip(subject.results, ends, strict=True):
        counts[key[node], end] += 1
    return [Edge(*pair, count, pair in crossing) for pair, count in counts.items()]


def _kind(node: Node) -> str:
    name = node.primitive.name
    return "operation" if not is_leaf(node) else "input" if name == "input" else "constant"


def _dims(node: Node) -> str:
    """Shape and dtype, of which float64 and the shape of a scalar go without saying."""
    shape = "[" + ", ".join(map(str, node.shape)) + "]" if node.shape else ""
    return shape if node.dtype == "float64" else f"{node.dtype}{shape}"


def _warning(subject: Subject, nodes: Sequence[Node]) -> tuple[str, bool, bool]:
    """What went wrong in these nodes; whether it began here and spoils the result; whether a value is not finite."""
    findings = [subject.findings[n] for n in nodes if n in subject.findings]
    spoiled = any(not f.finite for f in findings)
    origins = sorted((f for f in findings if f.origin), key=lambda f: not (f.first and f.reaches))
    if not origins:
        return "", False, spoiled
    more = f" (and {len(origins) - 1} more)" if len(origins) > 1 else ""
    masked = "" if any(f.reaches for f in origins) else ", masked later"
    return f"{origins[0].origin}{more}{masked}", origins[0].first and origins[0].reaches, True
