"""The parameters of ``einsum`` in a document.

``{"subscripts": "ij,j->i", "sizes": {"i": 3, "j": 2}, "call": "matmul"}``: letters count i, j, …, z, a, …, h, then
i1, j1, …; ``sizes`` has the extent of every letter, in this order. Beyond ``np.einsum`` a letter of the result that no
operand has is a broadcast, and one that stands there twice a diagonal. ``call`` names the NumPy function that the
product came from, with which its value agrees to the bit; elsewhere it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..errors import UnsupportedOperation
from ..primitives.contraction import Labels
from ..primitives.spelling import letters
from ..program.dims import Dim
from ..program.node import Node
from .forms import Made, Mapped, Members, OneOf, Text, Wrong
from .limits import MAX_FACTORS, MAX_LETTERS
from .sizes import SIZE, Sizes, shape_text

_LETTER = re.compile(r"([a-z])([1-9]\d?)?")
_ALPHABET = letters(tuple(range(26)))


def _written(params: tuple) -> dict[str, Any]:
    labels, out, sizes, call = params
    if len(labels) > MAX_FACTORS or len(sizes) > MAX_LETTERS:
        raise UnsupportedOperation(
            f"the JSON form has contractions of at most {MAX_FACTORS} operands and {MAX_LETTERS} letters, and one "
            f"here has {len(labels)} and {len(sizes)}; contract fewer arrays at once."
        )
    subscripts = ",".join(map(letters, labels)) + "->" + letters(out)
    return {"subscripts": subscripts, "sizes": {letters((k,)): d for k, d in enumerate(sizes)}, "call": call}


def _read(members: dict[str, Any], known: Any) -> tuple:
    text, sizes = members["subscripts"], members["sizes"]
    for k, letter in enumerate(sizes):
        if letter != letters((k,)):
            raise Wrong(f"letter number {k} is {letters((k,))!r}", "sizes", letter)
    left, right = text.split("->")
    labels = tuple([_labels(own, len(sizes)) for own in left.split(",")])
    return labels, _labels(right, len(sizes)), tuple(sizes.values()), members.get("call", "")


def _labels(text: str, count: int) -> Labels:
    found = []
    for letter, number in _LETTER.findall(text):
        found.append(_ALPHABET.index(letter) + 26 * int(number or 0))
        if found[-1] >= count:
            raise Wrong(f"{letter}{number} has no size", "subscripts")
    if letters(tuple(found)) != text:
        raise Wrong(f"{text[:80]!r} is not how its letters are written", "subscripts")
    return tuple(found)


def fits_contraction(params: tuple, operands: tuple[Node, ...], sizes: Sizes) -> None:
    """The letters are those of the operands' axes, and the call computes what they say."""
    labels, out, extents, call = params
    if len(operands) > MAX_FACTORS:
        raise Wrong(f"{len(operands)} operands, where there may be {MAX_FACTORS}")
    if len(labels) != len(operands):
        raise Wrong(f"letters of {len(labels)} operands, and there are {len(operands)}", "subscripts")
    for own, x in zip(labels, operands, strict=True):
        if len(own) != x.ndim:
            raise Wrong(f"{letters(own)!r} does not fit an operand of shape {shape_text(x.shape)}", "subscripts")
        for i, d in zip(own, x.shape, strict=True):
            if extents[i] != d:
                message = f"{letters((i,))} is {extents[i]}, and an axis of that letter has size {d}"
                sizes.require_equal(extents[i], d, message, "subscripts")
    if call and not _computes(call, operands, labels, out, extents):
        raise Wrong(f"this is not what {call} computes of these operands", "call")


def _computes(call: str, operands: Sequence[Node], labels: Sequence[Labels], out: Labels, sizes: Sequence[Dim]) -> bool:
    """Whether NumPy's function computes what the letters say."""
    if call == "einsum":
        return _are_distinct(out) and {i for own in labels for i in own}.issuperset(out)
    if not all(map(_are_distinct, labels)):
        return False
    if call == "sum":
        return len(labels) == 1 and out == tuple([i for i in labels[0] if i in out])
    if len(labels) != 2:
        return False
    first, second = labels
    if call == "self_dot":
        return operands[0] is operands[1] and first == second and not out
    shared = {*first} & {*second}
    is_outer = out == tuple([i for i in (*first, *second) if i not in shared])
    if call == "tensordot" or not (first and second):
        return is_outer and call in ("tensordot", "dot", "inner")
    takes_last = call in ("inner", "vecdot") or len(second) == 1
    if first[-1] != second[-1 if takes_last else -2]:
        return False
    if call == "vdot" and len(first) + len(second) > 2:
        return False
    if call in ("dot", "inner", "vdot"):
        return is_outer and len(shared) == 1
    own = 1 if call == "vecdot" else 2  # the axes of a vector, or of a matrix; those before them are broadcast
    ends = () if call == "vecdot" else (*first[-2:-1], *(() if takes_last else second[-1:]))
    split = len(out) - len(ends)
    lead = out[:split]
    return out[split:] == ends and _broadcasts(first[:-own], second[:-own], lead, (*ends, first[-1]), sizes)


def _are_distinct(labels: Labels) -> bool:
    return len(set(labels)) == len(labels)


def _broadcasts(first: Labels, second: Labels, out: Labels, others: Labels, sizes: Sequence[Dim]) -> bool:
    """Whether axes that align from the right are broadcast to ``out``; ``others`` are the letters of other axes."""
    if len(out) != max(len(first), len(second)):
        return False
    met: list[int] = list(others)
    for k in range(1, len(out) + 1):
        column = [own[-k] for own in (first, second) if len(own) >= k]
        if out[-k] not in column and sizes[out[-k]] != 1:
            return False
        if any(i != out[-k] and sizes[i] != 1 for i in column):
            return False
        met += {out[-k], *column}
    return len(set(met)) == len(met)


_CALLS = ("sum", "einsum", "self_dot", "tensordot", "dot", "vdot", "inner", "matmul", "vecdot")
_SUBSCRIPTS = Text(says="{} should be as 'ij,j->i'", pattern="([a-z][0-9]{0,2}|,)*->([a-z][0-9]{0,2})*")
_LETTER_NAME = Text(3, "{} is no letter", pattern="[a-z][0-9]{0,2}")
#: the parameters of ``einsum``
CONTRACTION = Made(
    Members({"subscripts": _SUBSCRIPTS, "sizes": Mapped(_LETTER_NAME, SIZE, MAX_LETTERS)}, {"call": OneOf(*_CALLS)}),
    _read,
    _written,
)
