"""Cases in closed forms, only where sympy is soon done with them.

sympy moves cases out of the conditions of other cases and out of sums, and writes each combination of them on its
own: their number is exponential in that of the cases. It is counted before anything is built.
"""

from __future__ import annotations

import math
from typing import Any

import sympy
from sympy.core.relational import Relational

from ..errors import ClosedFormTooLarge
from .bound import OverIndices

#: combinations of cases that sympy may write out, in a condition or in a sum
MAX_COMBINATIONS = 32
_BINDING = (OverIndices, sympy.Sum, sympy.Product)


def cases(*pairs: tuple[Any, Any]) -> Any:
    """``sympy.Piecewise`` of pairs of a value and its condition; raises ClosedFormTooLarge where that takes too long.

    >>> x = sympy.Symbol("x")
    >>> cases((x, x > 0), (0, True))
    Piecewise((x, x > 0), (0, True))
    """
    for _, test in pairs:
        if isinstance(test, sympy.Basic) and test.has(sympy.Piecewise):
            if any(part.has(sympy.Piecewise) for part in test.atoms(*_BINDING)):
                raise too_many_cases()  # sympy would move them out of what binds their indices
            _check([test])
    return sympy.Piecewise(*[(value, _exact(test)) for value, test in pairs])


def _exact(test: Any) -> Any:
    """A condition that compares with 0 where decimals stand on both sides, for sympy turns such to and fro."""
    compared = test.atoms(Relational) if isinstance(test, sympy.Basic) else ()
    mixed = [c for c in compared if c.has(sympy.Float) and all(side.free_symbols for side in c.args)]
    return test.xreplace({c: c.func(_difference(*c.args), 0) for c in mixed}) if mixed else test


def _difference(left: Any, right: Any) -> Any:
    """``left - right`` in whole numbers."""
    _, difference = sympy.nsimplify(left - right, rational=True).as_content_primitive()
    return difference


def in_two_cases(expression: Any) -> Any:
    """``expression`` with one pair of cases where a sum has values under a condition and others under its opposite.

    >>> x = sympy.Symbol("x", real=True)
    >>> in_two_cases(x * sympy.Piecewise((1, x > 0), (0, True)) + sympy.Piecewise((2, x <= 0), (0, True)))
    Piecewise((x, x > 0), (2, True))
    """
    if not (expression.is_Add or expression.is_Mul) or not expression.has(sympy.Piecewise):
        return expression
    if expression.is_Mul:
        return sympy.Mul(*map(in_two_cases, expression.args))
    sides: dict[Any, list[Any]] = {}
    rest = []
    for term in expression.args:
        factors = sympy.Mul.make_args(term)
        found = [f for f in factors if isinstance(f, sympy.Piecewise)]
        pairs: Any = found[0].args if len(found) == 1 else ()
        if len(pairs) == 2 and pairs[1] == (0, True):
            value = sympy.Mul(*[pairs[0].expr if f is found[0] else f for f in factors])
            sides.setdefault(pairs[0].cond, []).append(value)
        else:
            rest.append(term)
    if not any(sympy.Not(test) in sides for test in sides):
        return expression
    made = []
    while sides:
        test = next(iter(sides))
        value, other = (sympy.Add(*sides.pop(t, [])) for t in (test, sympy.Not(test)))
        made.append(sympy.Piecewise((value, test), (other, True)))
    return sympy.Add(*rest, *made)


def is_truth_value(expr: Any) -> bool:
    """True for a truth value as a number, as ``as_number`` writes it."""
    return (
        isinstance(expr, sympy.Piecewise)
        and len(expr.args) == 2
        and (
            expr.args[0].expr == 1 and expr.args[1] == (0, True)  # type: ignore[attr-defined]
        )
    )


def within_cases(expression: Any) -> Any:
    """``expression`` with the factors of what is 0 but in one case in that case.

    >>> x = sympy.Symbol("x", real=True)
    >>> within_cases(2 * x * sympy.Piecewise((1 / (2 * x**2), x > 0), (0, True)))
    Piecewise((1/x, x > 0), (0, True))
    """
    if expression.is_Add:
        return sympy.Add(*map(within_cases, expression.args))
    if isinstance(expression, sympy.Piecewise) and not is_truth_value(expression):
        cases: Any = expression.args
        value, test = within_cases(cases[0].expr), cases[0].cond
        inner = _only_case(value)
        if inner is not None and _only_case(expression) is not None:
            return sympy.Piecewise((inner.expr, sympy.And(test, inner.cond)), cases[1])
        return sympy.Piecewise((value, test), *[(within_cases(v), t) for v, t in cases[1:]])
    factors = sympy.Mul.make_args(expression)
    for factor in factors if len(factors) > 1 else ():
        only = _only_case(factor)
        if only is not None:
            value = sympy.Mul(only.expr, *[f for f in factors if f is not factor])
            return within_cases(sympy.Piecewise((value, only.cond), (0, True)))
    return expression


def _only_case(expression: Any) -> Any:
    """The value and the condition of what is 0 elsewhere, and no truth value; None for others."""
    pairs: Any = expression.args if isinstance(expression, sympy.Piecewise) else ()
    return pairs[0] if len(pairs) == 2 and pairs[1] == (0, True) and not is_truth_value(expression) else None


def over(kind: Any, element: Any, limits: tuple) -> Any:
    """A ``sympy.Sum`` or ``sympy.Product`` over one index; raises ClosedFormTooLarge where that takes too long."""
    element = sympy.sympify(element)
    _check(_outermost(element, limits[0]))
    return kind(element, limits)


def too_many_cases() -> ClosedFormTooLarge:
    """The error for a form that sympy would need minutes for."""
    return ClosedFormTooLarge(
        "sympy cannot write this form: it has cases within nested sums, or within the conditions of cases. "
        'Ask for form="matrix", or form="entries" with small arrays; formulas() shows the form that is read fastest, '
        "program() the let-bound one."
    )


def _outermost(element: Any, index: sympy.Symbol) -> list[Any]:
    """The cases in a summand that its index decides."""
    found: list[Any] = []
    pending = [element]
    while pending:
        part = pending.pop()
        if isinstance(part, sympy.Piecewise):
            if part.has(index):
                found.append(part)
        else:
            pending += part.args
    return found


def _check(parts: list[Any]) -> None:
    counted: dict[Any, int] = {}
    for part in parts:
        _count(part, counted)
    if _side_by_side(parts, counted) > MAX_COMBINATIONS:
        raise too_many_cases()


def _count(expression: Any, counted: dict[Any, int]) -> None:
    """How many cases sympy writes an expression and its parts as, where the cases come outermost."""
    for part in sympy.postorder_traversal(expression):
        if part in counted:
            continue
        if isinstance(part, sympy.Piecewise):
            pairs: Any = part.args
            if any(test.has(sympy.ITE) for _, test in pairs):
                raise too_many_cases()  # which sympy simplifies before, by all of its algorithms
            counted[part] = sum(counted[value] for value, _ in pairs)
        else:
            counted[part] = _side_by_side(part.args, counted)


def _side_by_side(parts: Any, counted: dict[Any, int]) -> int:
    """The combinations of the cases of several parts; those with the same conditions go together."""
    combined: dict[Any, int] = {}
    for part in parts:
        key = tuple(pair.args[1] for pair in part.args) if isinstance(part, sympy.Piecewise) else part
        combined[key] = max(counted[part], combined.get(key, 0))
    return min(math.prod(combined.values()), 10**6)
