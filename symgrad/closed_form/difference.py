"""Is the difference of two closed forms zero? By sympy's algebra, within a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from ..errors import ClosedFormTooLarge
from ..program.dims import is_concrete
from ..program.program import Program
from .budget import fits, without_loops
from .deadline import TimeIsUp, within
from .entries import entry_forms
from .index_form import index_forms

#: elements whose differences are simplified
_MAX_ELEMENTS = 64
#: operations of terms that are put over one denominator
_MAX_OPERATIONS = 400


def proved_equal(pairs: Iterable[tuple[Any, Any]], seconds: float) -> bool:
    """True where sympy shows every pair to be the same; False where it does not within the time.

    >>> x = sympy.Symbol("x", real=True)
    >>> proved_equal([(sympy.sin(x) ** 2, 1 - sympy.cos(x) ** 2)], 60.0), proved_equal([(x, abs(x))], 60.0)
    (True, False)
    """
    return _proved(lambda: all(_same(left, right) for left, right in pairs), seconds)


def _proved(check: Callable[[], bool], seconds: float) -> bool:
    """What ``check`` says; False where it takes longer, or where it fails."""
    try:
        with within(seconds):
            return check()
    except TimeIsUp:
        return False
    except (TypeError, ValueError, ArithmeticError, NotImplementedError, RecursionError, AttributeError):
        return False  # sympy's own algorithms fail in many ways; then nothing is proved


def _same(left: Any, right: Any) -> bool:
    if left == right:
        return not sympy.sympify(left).has(sympy.nan)
    difference = sympy.sympify(left) - sympy.sympify(right)
    return vanishes(difference) or any(step(difference) == 0 for step in (sympy.expand, sympy.together, sympy.simplify))


def vanishes(e: Any) -> bool:
    """True where ``e`` is a sum of rational functions of exponentials that cancel: ``exp(-z)`` is one over ``exp(z)``.

    Terms are put over one denominator only with those that hold the same exponentials, as the samples of a loss do, so
    the work grows with their number and not with the product of their denominators. False says nothing.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> vanishes(1 / (1 + sympy.exp(-x)) - sympy.exp(x) / (1 + sympy.exp(x)))
    True
    """
    rational = _in_exponentials(sympy.expand_mul(e, deep=False))
    groups: dict[frozenset, list[Any]] = {}
    for term in sympy.Add.make_args(sympy.expand_mul(rational, deep=False)):
        groups.setdefault(frozenset(term.atoms(_Exponential)), []).append(term)
    left = [_reduced(sympy.Add(*terms)) for terms in _joined(groups)]
    return sympy.expand(sympy.Add(*left)) == 0


def _reduced(e: Any) -> Any:
    """``e`` over one denominator in lowest terms, where that is soon done."""
    if e == 0 or not e.atoms(_Exponential) or e.count_ops() > _MAX_OPERATIONS:
        return e
    above, below = sympy.fraction(sympy.together(e))
    above = sympy.expand(above)
    return above if above == 0 else sympy.cancel(above / below)


def _joined(groups: dict[frozenset, list[Any]]) -> list[list[Any]]:
    """The terms by the exponentials that they hold, terms with several of them with all that share one."""
    made: list[tuple[set, list[Any]]] = []
    for own, terms in sorted(groups.items(), key=lambda g: -len(g[0])):
        shared = [g for g in made if not own.isdisjoint(g[0])]
        made = [g for g in made if g not in shared]
        made.append((set(own).union(*(g[0] for g in shared)), [*terms, *(t for g in shared for t in g[1])]))
    return [terms for _, terms in made]


class _Exponential(sympy.Dummy):
    """Stands for an exponential, which is positive."""


def _in_exponentials(e: Any) -> Any:
    """``e`` with one symbol for each ``exp(z)`` and its powers."""
    exponents: dict[Any, tuple[Any, Any]] = {}
    multiples: dict[Any, list[Any]] = {}
    for found in e.atoms(sympy.exp):
        exponent = sympy.expand(found.args[0])
        first = exponent.as_ordered_terms()[0]
        factor = first.as_coeff_Mul()[0]
        if not factor.is_Rational or factor == 0:
            continue
        core = sympy.expand(exponent / factor)
        exponents[found] = core, factor
        multiples.setdefault(core, []).append(factor)
    symbols = {core: (_Exponential(positive=True), math.lcm(*[int(f.q) for f in fs])) for core, fs in multiples.items()}
    return e.xreplace({f: symbols[core][0] ** (k * symbols[core][1]) for f, (core, k) in exponents.items()})


def element_pairs(left: Program, right: Program | Sequence[np.ndarray]) -> list[tuple[Any, Any]] | None:
    """The elements of the outputs, side by side, in the same symbols; None where they cannot be written out.

    ``right`` is a program of the same inputs, or the elements themselves.
    """
    if not is_concrete(tuple(d for n in (*left.inputs, *left.outputs) for d in n.shape)) or not _is_small(left):
        return None
    if isinstance(right, Program):
        if [n.shape for n in right.outputs] != [n.shape for n in left.outputs] or not _is_small(right):
            return None
        right = Program(
            right.inputs, right.outputs, left.names, right.graph
        )  # the same symbols, whatever it calls them
    try:
        ours = entry_forms(without_loops(left))
        theirs = entry_forms(without_loops(right)) if isinstance(right, Program) else right
    except (TypeError, ClosedFormTooLarge):  # an index that is computed from values, or cases of cases
        return None
    return [pair for a, b in zip(ours, theirs, strict=True) for pair in zip(a.ravel(), np.ravel(b), strict=True)]


def _is_small(program: Program) -> bool:
    count = sum(int(np.prod(n.shape)) for n in program.outputs)
    return count <= _MAX_ELEMENTS and fits(program, True)


def same_at_all_indices(left: Program, right: Program, seconds: float) -> bool:
    """True where both have formulas at free indices that are the same, which holds for every size.

    They are where sums over the same indices have summands whose difference vanishes.
    """
    shapes = [[n.shape for n in nodes] for p in (left, right) for nodes in (p.inputs, p.outputs)]
    if shapes[:2] != shapes[2:] or not (fits(left, False) and fits(right, False)):
        return False
    left, right = without_loops(left), without_loops(right)
    right = Program(right.inputs, right.outputs, left.names, right.graph)
    if any(n.primitive.name == "constant" for p in (left, right) for n in p.nodes):
        return False  # captured arrays have names there, and no values

    def same() -> bool:
        pairs = zip(index_forms(left), index_forms(right), strict=True)
        return all(a[0] == b[0] and (a[1] == b[1] or _same_sums(a[1], b[1])) for a, b in pairs)

    return _proved(same, seconds)


def _same_sums(left: Any, right: Any) -> bool:
    """Whether the summands cancel, of all sums over the same indices."""
    difference = _bound_alike(sympy.expand_mul(left, deep=False) - sympy.expand_mul(right, deep=False))
    if difference.has(sympy.nan):
        return False
    summands: dict[Any, list[Any]] = {}
    for term in sympy.Add.make_args(sympy.expand_mul(difference, deep=False)):
        factors = sympy.Mul.make_args(term)
        total = next((f for f in factors if isinstance(f, sympy.Sum)), None)
        if total is None:
            summands.setdefault(None, []).append(term)
        else:
            rest = [f for f in factors if f is not total]
            body: Any = total.function
            summands.setdefault(total.limits, []).append(sympy.Mul(*rest, body))
    return all(vanishes(sympy.Add(*terms)) for terms in summands.values())


def _bound_alike(e: Any) -> Any:
    """``e`` with bound indices called by how deep they stand, so that equal sums are the same."""
    image: dict[Any, Any] = {}
    total: Any
    depth: dict[Any, int] = {}
    for total in sorted(e.atoms(sympy.Sum), key=lambda s: s.count_ops()):  # what is inside of another comes first
        inner = total.function.xreplace(image)
        level = 1 + max((depth[s] for s in inner.atoms(sympy.Sum) if s in depth), default=0)
        names: dict[Any, Any] = {
            k: sympy.Symbol(f"index {level} {at}", integer=True, nonnegative=True)
            for at, (k, _, _) in enumerate(total.limits)
        }
        limits = [(names[k], *(sympy.sympify(b).xreplace(names) for b in bounds)) for k, *bounds in total.limits]
        image[total] = sympy.Sum(inner.xreplace(names), *limits)
        depth[image[total]] = level
    return e.xreplace(image)
