"""What is raised behind a letter and is no power, or may be none: transposes, adjoints, conjugates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from .latex_tokens import Token

#: commands that set a letter upright
UPRIGHT = (r"\mathrm", r"\mathsf", r"\text", r"\rm", r"\sf", r"\operatorname")
#: what is raised behind a letter as a mark
MARKS = {
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


def mark_behind(rest: Sequence[Token], base: Any, symbols: Collection[str]) -> tuple[str, Token] | None:
    """Why ``rest``, the tokens after ``^``, is not read as a power of ``base``, and where; None where it is one.

    ``T`` and ``H`` are letters where ``symbols`` has them, or where ``base`` can be no matrix.
    """
    count = next(k for k, t in enumerate(rest) if t.text not in ("{", *UPRIGHT))
    opened = [t.text for t in rest[:count]]
    mark, after = rest[count], rest[min(count + 1, len(rest) - 1)]
    if mark.text == "-" and opened:  # the inverse of the transpose
        mark, after = after, rest[min(count + 2, len(rest) - 1)]
    alone = not opened or after.text == "}"
    if mark.text in MARKS or (mark.text in ("*", "+") and alone):
        said = MARKS.get(mark.text, "a conjugate or an adjoint")
        return f"{said} is not read; write matrices as NumPy code", mark
    if mark.kind != "letter" or mark.text not in ("T", "H") or mark.text in symbols or not alone:
        return None
    of_numbers = base.is_number or (base.is_Add and any(a.is_number for a in base.args))  # as in (1 + r)^T
    if of_numbers and not any(t in UPRIGHT for t in opened):
        return None
    what = "the transpose" if mark.text == "T" else "the adjoint"
    fix = f"Write \\exp({mark.text} \\log x) for the power, or name {mark.text} in wrt; write matrices as NumPy code"
    return f"{what}, or a power? {fix}", mark
