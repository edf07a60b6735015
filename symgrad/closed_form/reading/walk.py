"""A sympy expression computed on arrays or traced values: each subexpression once, without recursion or eval."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from ...errors import UnsupportedOperation
from .functions import function_of

#: terms of a sum with numbers as limits that are written out
_MAX_TERMS = 200
#: letters of a subexpression that an error shows
_MAX_LETTERS = 60


class Plan(NamedTuple):
    """How to compute an expression: from the values of ``parts``, by ``combine``."""

    parts: Sequence[Any]
    combine: Callable[..., Any]


def computed(expressions: Sequence[Any], values: Mapping[Any, Any], plan: Callable[[Any], Plan | None]) -> list[Any]:
    """The value of each expression, where symbols have ``values``; ``plan`` may know more than numbers' functions."""
    known: dict[Any, Any] = dict(values)
    for whole in expressions:
        pending: list[tuple[Any, Plan | None]] = [(whole, None)]
        while pending:
            e, found = pending.pop()
            if e in known:
                continue
            if found is None:
                found = plan(e) or scalar_plan(e)
                pending.append((e, found))
                pending += [(p, None) for p in found.parts if p not in known]
                continue
            known[e] = found.combine(*[known[p] for p in found.parts])
    return [known[e] for e in expressions]


def check(expressions: Sequence[Any], known: Iterable[Any], plan: Callable[[Any], Plan | None]) -> None:
    """An UnsupportedOperation where a part of ``expressions`` cannot be computed."""
    seen = set(known)
    pending = list(expressions)
    while pending:
        e = pending.pop()
        if e not in seen:
            seen.add(e)
            pending += (plan(e) or scalar_plan(e)).parts


def refused(e: Any, why: str, fix: str) -> UnsupportedOperation:
    """An error that names the subexpression."""
    return UnsupportedOperation(f"the expression holds {spelled(e)}: {why}. {fix}")


def spelled(e: Any) -> str:
    """A subexpression as it is shown in a message: whole where it is short."""
    try:
        text = str(e)
    except (RecursionError, ValueError):  # Python writes no int of more than 4,300 digits
        text = f"{type(e).__name__}(…)"
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}…"


def scalar_plan(e: Any) -> Plan:
    """How to compute a function of numbers."""
    if isinstance(e, sympy.Basic):
        if e.is_Symbol:
            raise refused(e, "nothing says what it is", "Pass it as an argument, or substitute a value.")
        if isinstance(e, (sympy.logic.boolalg.BooleanTrue, sympy.logic.boolalg.BooleanFalse)):
            truth = bool(e)
            return Plan((), lambda: truth)
        if e.is_Number or isinstance(e, sympy.NumberSymbol):
            value = _number(e)
            return Plan((), lambda: value)
        planned = _PLANS.get(e.func)
        if planned is not None:
            return planned(e)
        is_digamma = isinstance(e, sympy.polygamma) and e.args[0] == 0
        function = function_of(sympy.digamma if is_digamma else e.func)
        if function is not None:
            return Plan(e.args[is_digamma:], _real(e, function))
    raise _unreadable(e)


def _real(e: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which gives a Python number for Python numbers, so that it stays weakly typed."""

    def combine(*values: Any) -> Any:
        if not all(type(v) in (int, float, bool) for v in values):
            return function(*values)
        with np.errstate(all="ignore"):
            made = np.asarray(function(*[np.float64(v) if type(v) is int else v for v in values])).item()
        if made != made and all(v == v for v in values):
            raise refused(e, "it is not a real number", "symgrad computes with real numbers.")
        return made

    return combine


def _number(e: Any) -> int | float:
    """A number of sympy's as Python's."""
    if e is sympy.zoo or e is sympy.nan:
        raise refused(e, "it is not a number", "Look for a division by zero.")
    if e.is_Integer and abs(int(e)) < 2**53:
        return int(e)
    if e.is_Rational:
        try:
            return int(e.p) / int(e.q)
        except OverflowError:
            raise refused(e, "it is larger than any float", "Scale the expression.") from None
    return float(e)


def _sum(e: Any) -> Plan:
    signs = [bool(t.as_coeff_Mul()[0].is_negative) for t in e.args]
    terms = sorted(zip(signs, range(len(signs)), e.args, strict=True))  # what is added, then what is taken away
    parts = [-t if negative else t for negative, _, t in terms]

    def combine(*values: Any) -> Any:
        total = -values[0] if terms[0][0] else values[0]
        for (negative, _, _), v in zip(terms[1:], values[1:], strict=True):
            total = total - v if negative else total + v
        return total

    return Plan(parts, _real(e, combine))


def _product(e: Any) -> Plan:
    above, below = [], []
    sign = 1
    for f in e.args:
        if (f.is_Rational and f.q != 1 and max(abs(f.p), f.q) < 2**53) or f is sympy.S.NegativeOne:
            sign = -sign if f.is_negative else sign
            if abs(f.p) != 1:
                above.append(sympy.Integer(abs(f.p)))
            if f.q != 1:
                below.append(sympy.Integer(f.q))
        elif f.is_Pow and f.exp.is_Number and f.exp.is_negative:
            below.append(f.base if f.exp == -1 else sympy.Pow(f.base, -f.exp, evaluate=False))
        else:
            above.append(f)
    count = len(above)

    def combine(*values: Any) -> Any:
        top = _times(values[:count])
        made = top / _times(values[count:]) if below else top
        return -made if sign < 0 else made

    return Plan([*above, *below], _real(e, combine))


def _times(values: Sequence[Any]) -> Any:
    return functools.reduce(operator.mul, values) if values else 1


def _power(e: Any) -> Plan:
    base, exponent = e.args
    if exponent.is_Number and exponent.is_negative:
        return Plan((sympy.Pow(base, -exponent, evaluate=False),), _real(e, lambda v: 1 / v))
    if exponent == 1:
        return Plan((base,), lambda v: v)
    if exponent.is_Integer and exponent < 2**31:
        n = int(exponent)
        return Plan((base,), _real(e, lambda v: v**n))
    if exponent == sympy.S.Half:
        return Plan((base,), _real(e, np.sqrt))
    if base is sympy.E:
        return Plan((exponent,), _real(e, np.exp))
    return Plan((base, exponent), _real(e, np.power))


def _cases(e: Any) -> Plan:
    parts = [x for value, test in e.args for x in (test, value)]

    def combine(*values: Any) -> Any:
        made: Any = np.nan
        for test, value in reversed(list(zip(values[::2], values[1::2], strict=True))):
            made = value if test is True else np.where(test, value, made)
        return made

    return Plan(parts, combine)


def _written_out(e: Any) -> Plan:
    """A sum or a product over whole numbers."""
    terms = [e.function]
    for k, low, high in e.limits:
        if not (low.is_Integer and high.is_Integer):
            raise refused(
                e, "its limits are not numbers", "Write it with MatrixSymbol, or substitute numbers for the limits."
            )
        if len(terms) * max(int(high) - int(low) + 1, 0) > _MAX_TERMS:
            raise refused(e, f"it has more than {_MAX_TERMS} terms", "Write it with MatrixSymbol.")
        terms = [t.xreplace({k: sympy.Integer(i)}) for t in terms for i in range(int(low), int(high) + 1)]
    if isinstance(e, sympy.Product):
        return Plan(terms, lambda *values: _times(values))
    return Plan(terms, lambda *values: functools.reduce(operator.add, values) if values else 0)


_PLANS: dict[Any, Callable[[Any], Plan]] = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.Piecewise: _cases,
    sympy.Sum: _written_out,
    sympy.Product: _written_out,
}


def _unreadable(e: Any) -> UnsupportedOperation:
    """What to do about an expression that is none of numbers."""
    if e is sympy.I:
        return refused(e, "symgrad computes with real numbers", "Take the real or the imaginary part in sympy first.")
    if isinstance(e, (sympy.Derivative, sympy.Integral, sympy.Limit, sympy.Subs)):
        return refused(e, "it is not evaluated", "Call .doit() in sympy first.")
    if isinstance(e, AppliedUndef):
        return refused(e, f"nothing says what {e.func.__name__} computes", "Substitute its formula.")
    if isinstance(e, (sympy.Indexed, sympy.IndexedBase)):
        return refused(e, "elements at indices are not read", "Write the array as a MatrixSymbol.")
    return refused(e, f"{type(e).__name__} is not read", "Rewrite it in other functions (expr.rewrite) first.")
