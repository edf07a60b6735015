"""What is raised behind a letter and is no power, or may be none: transposes, adjoints, conjugates."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ..latex_tree import Part, tree

#: commands that set a letter upright
_UPRIGHT = ("mathrm", "mathsf", "text", "operatorname")
#: what is raised behind a letter as a mark
_MARKS = {
    r"\top": "a transpose",
    r"\intercal": "a transpose",
    r"\dagger": "an adjoint",
    r"\ddagger": "an adjoint",
    r"\ast": "a conjugate or an adjoint",
    r"\star": "a conjugate or an adjoint",
    r"\prime": "a derivative",
    r"\circ": "a degree, or a composition,",
    r"\perp": "a complement",
}


def mark_behind(raised: Part, base: Any, symbols: Collection[str]) -> str | None:
    """Why what is ``raised`` is not read as a power of ``base``; None where it is one.

    ``T`` and ``H`` are letters where ``symbols`` has them, or where ``base`` can be no matrix.
    """
    texts = list(_texts(raised))
    upright = "upright" in texts
    texts = [t for t in texts if t != "upright"]
    if texts[:1] == ["-"]:  # the inverse of the transpose
        texts = texts[1:]
    mark, alone = texts[0] if texts else "", len(texts) == 1
    if mark in _MARKS or (mark in ("*", "+") and alone):
        return f"{_MARKS.get(mark, 'a conjugate or an adjoint')} is not read; write matrices as NumPy code"
    if mark not in ("T", "H") or mark in symbols or not alone:
        return None
    of_numbers = base.is_number or (base.is_Add and any(a.is_number for a in base.args))  # as in (1 + r)^T
    if of_numbers and not upright:
        return None
    what = "the transpose" if mark == "T" else "the adjoint"
    fix = f"Write \\exp({mark} \\log x) for the power, or name {mark} in wrt; write matrices as NumPy code"
    return f"{what}, or a power? {fix}"


def _texts(part: Part) -> Iterator[str]:
    """The signs of a part, inside of braces too; ``upright`` where a command sets them so."""
    if part.kind == "row":
        for p in part.parts:
            yield from _texts(p)
    elif part.kind == "word" and part.style in _UPRIGHT:
        yield "upright"
        yield from _texts(tree(part.text))
    elif part.kind == "word":
        yield f"\\{part.style}"
    elif part.kind != "space":
        yield {r"\rm": "upright", r"\sf": "upright"}.get(part.text, part.text)
