"""equals: whether two derivatives agree, by algebra where sympy can tell, else at many points."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SymgradError
from ..program.program import Program
from .compared import Other, examples_of
from .comparison import Comparison, Equality
from .rounding import rounding_of
from .sample_points import Point, points

if TYPE_CHECKING:
    from .derived import DerivedFunction

#: part of the time that algebra has in any case; what the points leave is its too
_FOR_ALGEBRA = 0.4


def equals(derived: DerivedFunction, other: Any, *args: Any, seconds: float = 5.0, **kwargs: Any) -> Equality:
    """Whether this derivative agrees with ``other``, for arguments like these (or shapes as text).

    ``other`` is another derivative, a function of the same arguments (a gradient by hand), or sympy expressions in
    the entries that ``closed_form`` uses, in the structure of the result. Where sympy can show within the time that
    the difference of the formulas is 0, they are ``equal``; otherwise both are computed at many points, of several
    sizes where dims are named: near the arguments, spread over the plausible domains, near kinks and at special
    values. They ``agree`` there, which is no proof, or ``differ``, with a ``counterexample``. An ``if`` reads the
    result as true or false.

    >>> import numpy as np
    >>> from symgrad import grad
    >>> grad(lambda x: np.sum(x**2)).equals(lambda x: 2 * x, "n")
    equal: the difference of the formulas simplifies to 0
    >>> grad(lambda x: np.log(1 + np.exp(x))).equals(lambda x: np.exp(x) / (1 + np.exp(x)), 0.5).equal
    True
    >>> grad(lambda x: x**3).equals(lambda x: 3 * x * abs(x), 2.0).counterexample.args[0] < 0
    True
    """
    start = time.monotonic()
    derived = derived._readable()
    entry = derived._entry(args, kwargs)
    examples = examples_of(derived, entry, args, kwargs)
    leaves, structure = examples.leaves()
    right = Other(other, entry)
    programs = [entry.readable, *right.programs(examples)]
    count = len(entry.argument_names) - len(entry.keywords)
    names = [*derived._argument_names(count, dict.fromkeys(entry.keywords)), *entry.keywords]

    def rounding(point: Point) -> list[np.ndarray] | None:
        own = rounding_of(derived._compiled, point.args, point.kwargs)
        other = right.rounding(point)
        if own is None or other is None or len(own) != len(other):
            return None
        return [a + b if a.shape == b.shape else np.full(a.shape, np.inf) for a, b in zip(own, other, strict=True)]

    comparison = Comparison(derived, right, names, rounding)
    for point in points(leaves, structure, _constants(programs)):
        comparison.add(point)
        if comparison.is_settled or time.monotonic() > start + seconds * (1 - _FOR_ALGEBRA):
            break
    proved = (
        not comparison.is_refuted
        and right.is_comparable(entry)
        and _proved(entry.readable, right, max(seconds * _FOR_ALGEBRA, start + seconds - time.monotonic()))
    )
    return comparison.decided(proved)


def _proved(program: Program, other: Other, seconds: float) -> bool:
    try:
        return other.proof(program, seconds)
    except SymgradError:  # a form that is too large, or has no formula
        return False


def _constants(programs: Sequence[Program]) -> list[float]:
    """Numbers that the programs compare with, and other numbers in them."""
    found = {
        abs(float(n.params[0]))
        for p in programs
        for n in p.every_node
        if n.is_literal and not isinstance(n.params[0], bool) and np.isfinite(n.params[0])
    }
    return [s * c for c in sorted(found) if 0 < c < 1e6 for s in (1.0, -1.0)][:64]
