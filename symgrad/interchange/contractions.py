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

from ..primitives.contraction import Labels, letters
from ..program.dims import Dim
from ..program.node import Node
from .dims import Dims, written_dim
from .field import Field
from .limits import MOST_FACTORS, MOST_LETTERS
from .requirements import Requirements, shape_text

_LETTER = re.compile(r"([a-z])([1-9]\d?)?")
_SPELLED = re.compile(r"(?:[a-z][0-9]{0,2}|,)*->(?:[a-z][0-9]{0,2})*")
_ALPHABET = letters(tuple(range(26)))

Factors = Sequence[tuple[Node, Labels]]


def written_contraction(params: tuple) -> dict[str, Any]:
    """The parameters as JSON."""
    labels, out, sizes, call = params
    made: dict[str, Any] = {
        "subscripts": ",".join(map(letters, labels)) + "->" + letters(out),
        "sizes": {letters((k,)): written_dim(d) for k, d in enumerate(sizes)},
    }
    return made | ({"call": call} if call else {})


def read_contraction(field: Field, operands: tuple[Node, ...], dims: Dims, require: Requirements) -> tuple:
    """The parameters, which fit the operands."""
    members = field.members(("subscripts", "sizes"), ("call",))
    spelled = members["subscripts"]
    if len(operands) > MOST_FACTORS:
        field.fail(f"{len(operands)} operands, where there may be {MOST_FACTORS}")
    sizes: list[Dim] = []
    for k, (letter, size) in enumerate(members["sizes"].pairs(MOST_LETTERS)):
        if letter != letters((k,)):
            size.fail(f"letter number {k} is {letters((k,))!r}")
        sizes.append(dims.size(size))
    text = spelled.text()
    if not _SPELLED.fullmatch(text):
        spelled.fail(f"{text[:80]!r} should be as 'ij,j->i'")
    left, right = text.split("->")
    labels = tuple([_labels(spelled, own, len(sizes)) for own in left.split(",")])
    out = _labels(spelled, right, len(sizes))
    if len(labels) != len(operands):
        spelled.fail(f"letters of {len(labels)} operands, and there are {len(operands)}")
    for own, x in zip(labels, operands, strict=True):
        if len(own) != x.ndim:
            spelled.fail(f"{letters(own)!r} does not fit an operand of shape {shape_text(x.shape)}")
        for i, d in zip(own, x.shape, strict=True):
            require.equal(
                spelled, sizes[i], d, f"{letters((i,))} is {sizes[i]}, and an axis of that letter has size {d}"
            )
    call = ""
    if "call" in members:
        call = members["call"].one_of(_CALLS)
        if not _CALLS[call](list(zip(operands, labels, strict=True)), out, sizes):
            members["call"].fail(f"{text[:80]!r} is not what {call} computes of these operands")
    return labels, out, tuple(sizes), call


def _labels(field: Field, text: str, count: int) -> Labels:
    found = []
    for letter, number in _LETTER.findall(text):
        found.append(_ALPHABET.index(letter) + 26 * int(number or 0))
        if found[-1] >= count:
            field.fail(f"{letter}{number} has no size")
    if letters(tuple(found)) != text:
        field.fail(f"{text[:80]!r} is not how its letters are written")
    return tuple(found)


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
