"""The parameters of ``einsum`` in a document.

``{"subscripts": "ij,j->i", "sizes": {"i": 3, "j": 2}, "call": "matmul"}``: letters count i, j, …, z, a, …, h, then
i1, j1, …; ``sizes`` has the extent of every letter, in this order. Beyond ``np.einsum`` a letter of the result that no
operand has is a broadcast, and one that stands there twice a diagonal. ``call`` names the NumPy function that the
product came from, with which its value agrees to the bit; elsewhere it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import UnsupportedOperation
from ..primitives.contraction import Labels, letters
from ..program.dims import Dim
from ..program.node import Node
from .forms import Made, Mapped, Members, OneOf, Text, Wrong
from .limits import MOST_FACTORS, MOST_LETTERS
from .sizes import SIZE, Sizes, shape_text

_LETTER = re.compile(r"([a-z])([1-9]\d?)?")
_ALPHABET = letters(tuple(range(26)))

Factors = Sequence[tuple[Node, Labels]]


def _written(params: tuple) -> dict[str, Any]:
    labels, out, sizes, call = params
    if len(labels) > MOST_FACTORS or len(sizes) > MOST_LETTERS:
        raise UnsupportedOperation(
            f"the JSON form has contractions of at most {MOST_FACTORS} operands and {MOST_LETTERS} letters, and one "
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
    if len(operands) > MOST_FACTORS:
        raise Wrong(f"{len(operands)} operands, where there may be {MOST_FACTORS}")
    if len(labels) != len(operands):
        raise Wrong(f"letters of {len(labels)} operands, and there are {len(operands)}", "subscripts")
    for own, x in zip(labels, operands, strict=True):
        if len(own) != x.ndim:
            raise Wrong(f"{letters(own)!r} does not fit an operand of shape {shape_text(x.shape)}", "subscripts")
        for i, d in zip(own, x.shape, strict=True):
            if extents[i] != d:
                message = f"{letters((i,))} is {extents[i]}, and an axis of that letter has size {d}"
                sizes.require_equal(extents[i], d, message, "subscripts")
    if call and not _CALLS[call](list(zip(operands, labels, strict=True)), out, extents):
        raise Wrong(f"this is not what {call} computes of these operands", "call")


# what the calls compute


def _distinct(*labels: Labels) -> bool:
    return all(len(set(own)) == len(own) for own in labels)


def _is_sum(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
    return len(factors) == 1 and _distinct(factors[0][1]) and out == tuple([i for i in factors[0][1] if i in out])


def _is_einsum(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
    return _distinct(out) and {i for _, own in factors for i in own}.issuperset(out)


def _is_self_dot(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
    return len(factors) == 2 and factors[0] == factors[1] and _distinct(factors[0][1]) and not out


def _is_tensordot(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
    if len(factors) != 2:
        return False
    (_, first), (_, second) = factors
    shared = set(first) & set(second)
    return _distinct(first, second) and out == tuple([i for i in (*first, *second) if i not in shared])


def _shares(axis: Callable[[Labels], int]) -> Callable[[Factors, Labels, Sequence[Dim]], bool]:
    """A product over the last axis of the first operand and ``axis`` of the second, or with a number."""

    def fits(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
        if len(factors) != 2:
            return False
        if not all(own for _, own in factors):
            return _is_tensordot(factors, out, sizes)
        (_, first), (_, second) = factors
        return (
            _is_tensordot(factors, out, sizes)
            and first[-1] == second[axis(second)]
            and len(set(first) & set(second)) == 1
        )

    return fits


def _is_vdot(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
    return len(factors) == 2 and all(len(own) == 1 for _, own in factors) and _is_dot(factors, out, sizes)


def _is_vecdot(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
    if len(factors) != 2 or not all(own for _, own in factors):
        return False
    (_, first), (_, second) = factors
    return first[-1] == second[-1] and _broadcasts(first[:-1], second[:-1], out, first[-1:], sizes)


def _is_matmul(factors: Factors, out: Labels, sizes: Sequence[Dim]) -> bool:
    if len(factors) != 2 or not all(own for _, own in factors):
        return False
    (_, first), (_, second) = factors
    inner = first[-1]
    row = first[-2:-1]
    column = second[-1:] if len(second) > 1 else ()
    ends = (*row, *column)
    lead = out[: len(out) - len(ends)]
    if second[-2 if column else -1] != inner or out[len(lead) :] != ends:
        return False
    return _broadcasts(first[:-2], second[:-2], lead, (*ends, inner), sizes)


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


_is_dot = _shares(lambda second: -2 if len(second) > 1 else 0)

_CALLS: dict[str, Callable[[Factors, Labels, Sequence[Dim]], bool]] = {
    "sum": _is_sum,
    "einsum": _is_einsum,
    "self_dot": _is_self_dot,
    "tensordot": _is_tensordot,
    "dot": _is_dot,
    "vdot": _is_vdot,
    "inner": _shares(lambda second: -1),
    "matmul": _is_matmul,
    "vecdot": _is_vecdot,
}
_SUBSCRIPTS = Text(says="{} should be as 'ij,j->i'", pattern="([a-z][0-9]{0,2}|,)*->([a-z][0-9]{0,2})*")
_LETTER_NAME = Text(3, "{} is no letter", pattern="[a-z][0-9]{0,2}")
#: the parameters of ``einsum``
CONTRACTION = Made(
    Members({"subscripts": _SUBSCRIPTS, "sizes": Mapped(_LETTER_NAME, SIZE, MOST_LETTERS)}, {"call": OneOf(*_CALLS)}),
    _read,
    _written,
)
