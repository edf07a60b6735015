"""Names for what occurs more than once: r for a residual, p for probabilities, as people call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .expression import Expression
from .printing import Text

#: shorter text than this is written out at each use
_SHORTEST = 8
_MAX_NAMES = 6
_POOLS = {
    "probability": "pqs",
    "residual": "red",
    "linear": "zuv",
    "matrix": "MGQ",
    "layer": "HGQ",
    "probability matrix": "PQS",
    "scalar": "cst",
    "other": "hga",
}


def named_parts(x: Expression, taken: Iterable[str], given: Mapping[Expression, str]) -> dict[Expression, str]:
    """The parts of ``x`` that get a name, outermost last; those that have one beside it are called so."""
    taken = {*taken, *given.values()}
    names = {e: given[e] for e in x.walk() if e in given and not _is_statement(e)}
    while len(names) < _MAX_NAMES:
        best = _worth_most(x, names)
        if best is None:
            break
        names[best] = given[best] if best in given else _fresh(_kind(best), taken)
    return {part: names[part] for part in sorted(names, key=lambda e: sum(1 for _ in e.walk()))}


def reads_given(x: Expression, names: Mapping[Expression, str], given: Mapping[Expression, str]) -> bool:
    """Whether something in ``x`` that has no name there is given one elsewhere."""
    return any(e in given and e not in names and not _is_statement(e) for e in x.walk())


def _is_statement(x: Expression) -> bool:
    """A comparison, which says more than its name."""
    return x.op == "function" and x.data in Text.comparisons


def is_named(x: Expression) -> bool:
    """Whether ``x`` is long enough to get a name where it occurs more than once."""
    return len(Text()(x)) >= _SHORTEST


def _worth_most(x: Expression, names: dict[Expression, str]) -> Expression | None:
    count: Counter[Expression] = Counter()
    stack = [x, *names]
    while stack:
        e = stack.pop()
        for a in e.args:
            count[a] += 1
            if a not in names and count[a] <= 64:
                stack.append(a)
    printed = Text(names)
    best, saved = None, 0
    for e, uses in count.items():
        if uses < 2 or e in names or e.op in ("leaf", "transpose", "number", "scaled"):
            continue
        length = len(printed(e))
        gain = (uses - 1) * (length - 2)
        if length >= _SHORTEST and gain > saved:
            best, saved = e, gain
    return best


def _kind(x: Expression) -> str:
    if x.is_scalar:
        return "scalar"
    if x.op == "softmax" or (x.op == "function" and x.data == "sigmoid"):
        return "probability" if x.columns == 1 else "probability matrix"
    if x.columns != 1:
        return "layer" if x.op == "function" else "matrix"
    if x.op == "sum" and any(a.op == "scaled" and a.data[0].could_extract_minus_sign() for a in x.args):
        return "residual"
    return "linear" if x.op in ("sum", "product") else "other"


def _fresh(kind: str, taken: set[str]) -> str:
    for turn in ("", *map(str, range(1, 100))):
        for letter in _POOLS[kind]:
            if letter + turn not in taken:
                taken.add(letter + turn)
                return letter + turn
    raise AssertionError("a hundred names are taken")
