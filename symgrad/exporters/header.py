"""The header that every export begins with: what it is, where it comes from, what it holds for."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from ..primitives.conventions import CONVENTIONS
from ..program.facts import spelled_fact
from ..version import VERSION
from .arguments import origins_of
from .sparse_results import described
from .subject import Subject

_WIDTH = 96


def lines(subject: Subject, origins: bool = True) -> list[str]:
    """The header as lines of printable ASCII that may stand in a comment of any language.

    With ``origins`` it says of inputs that are no arguments themselves where they come from.
    """
    return [harmless(line) for line in _wrapped(subject, origins_of(subject) if origins else {})]


def python_comment(subject: Subject) -> list[str]:
    """The header as comments of Python."""
    return [f"# {line}" for line in lines(subject)]


def conventions(subject: Subject) -> list[str]:
    """What was chosen where the function has no derivative, as far as it concerns its operations."""
    return [text for names, text in CONVENTIONS.items() if not subject.facts.primitives.isdisjoint(names)]


def _wrapped(subject: Subject, origins: Mapping[int, str]) -> list[str]:
    program, facts = subject.program, subject.facts
    counts = ", ".join(f"{n} {name}" for name, n in sorted(program.operation_counts().items()))
    kinds = [_kind(program.outputs[o]) if isinstance(o, int) else described(o) for o in subject.outcomes]
    said = [
        f"{subject.title}, derived by symgrad {VERSION}",
        f"function: {facts.function}, SHA-256 of its source {facts.source_hash}",
        f"flags: {facts.flags}",
        f"inputs: {', '.join(_inputs(subject, origins)) or 'none'}",
        f"outputs: {', '.join(kinds) or 'none'}",
        *([_sparse(subject)] if subject.as_sparse or subject.assembled else []),
        *[f"convention: {text}" for text in conventions(subject)],
        f"operations: {counts or 'none'}",
    ]
    sizes = " and ".join(spelled_fact(*fact) for fact in program.graph.sizes.facts)
    if sizes:
        said.append(f"holds where: {sizes}")
    if subject.conditions:
        count = len(subject.conditions)
        held = "1 condition is checked" if count == 1 else f"{count} conditions are checked"
        said.append(f"holds for the branches that the example took: {held}")
    said.append(_checked(subject))
    return [row for line in said for row in textwrap.wrap(line, _WIDTH, subsequent_indent="    ") or [""]]


def _inputs(subject: Subject, origins: Mapping[int, str]) -> list[str]:
    """Each input: its name, where it comes from if that is known, and what it is."""
    program = subject.program
    return [
        f"{label}{f' ({origins[k]})' if k in origins else ''}: {_kind(node)}"
        for k, (label, node) in enumerate(zip(program.names, program.inputs, strict=True))
    ]


def _sparse(subject: Subject) -> str:
    if subject.assembled:
        return "sparse: nothing but the entries that the structure has is computed"
    return "sparse: the derivative was asked for as sparse, and is a dense array here"


def _checked(subject: Subject) -> str:
    check = subject.check
    if check is None:
        return f"check: none, {subject.unchecked}"
    values = sum(w.values.size for w in check.wanted)
    at = f" at {', '.join(f'{d} = {m}' for d, m in check.sizes.items())}" if check.sizes else ""
    return (
        f"check: {values} {'value' if values == 1 else 'values'}{at} to {check.tolerance:.0e}; "
        f"finite differences: {check.differences}"
    )


def _kind(node) -> str:
    kind = {"f": "float", "c": "complex"}.get(node.dtype.kind, "") if node.weak else ""
    kind = kind or node.dtype.name
    return f"{kind}[{', '.join(map(str, node.shape))}]" if node.shape else kind


def harmless(line: str) -> str:
    """Printable ASCII without what ends a comment or a text, or begins a command, in any of the languages."""
    for sign, ascii in (("**", "^"), ("*", " "), ("≥", ">="), ("≤", "<="), ("≠", "<>")):
        line = line.replace(sign, ascii)
    return re.sub(r"-{2,}", "-", re.sub(r"[^ A-Za-z0-9_.,:;()\[\]=<>+/^-]", "_", line))
