"""Whether two formulas are equal at points, in so many digits that rounding is no excuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import sympy

#: digits, and those where few are left of large numbers
_DIGITS, _MORE = 50, 300


def are_equal(names: Sequence[sympy.Symbol], old: Any, new: Any, near: Sequence, far: Sequence) -> bool:
    """Whether ``old`` and ``new`` are equal at all points ``near``, and at those ``far`` away where ``old`` is real.

    Far away a square root or an arc takes the other sign or turn. Functions that are known by name alone are not equal.

    >>> x = sympy.Symbol("x", real=True)
    >>> are_equal([x], sympy.sqrt((x + 3) ** 2), x + 3, [[0.5]], [[7.0]])
    True
    >>> are_equal([x], sympy.sqrt((x + 3) ** 2), x + 3, [[0.5]], [[-7.0]])
    False
    """
    try:
        both = sympy.lambdify(names, [old, new], "mpmath")
        with mpmath.workdps(_DIGITS):
            return all(_agree(*both(*_exact(point))) for point in near) and all(_agree_far(both, p) for p in far)
    except (NameError, TypeError, ValueError, ArithmeticError, AttributeError, SyntaxError):
        return False


def _exact(point: Sequence) -> list[Any]:
    return [mpmath.mpf(str(value)) for value in point]


def _agree(old: Any, new: Any) -> bool:
    return bool(abs(old - new) <= mpmath.mpf(10) ** (10 - _DIGITS) * (1 + abs(old)))


def _agree_far(both: Callable, point: Sequence) -> bool:
    """``_agree`` at a point where the old one is a real number, in more digits where few are left of large numbers."""
    for digits in (_DIGITS, _MORE):
        with mpmath.workdps(digits):
            try:
                old, new = both(*_exact(point))
            except (ValueError, ArithmeticError):
                return True  # a pole
            is_lost = abs(old) > mpmath.mpf(10) ** _DIGITS  # what is left of such may be nothing but rounding
            if is_lost or not mpmath.isfinite(old) or mpmath.im(old) != 0 or _agree(old, new):
                return True
    return False
