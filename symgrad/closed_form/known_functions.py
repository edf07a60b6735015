"""Functions that formulas have a letter for: the logistic function σ, the normal distribution Φ and its density φ."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

_LETTERS = ("σ", "Φ", "φ")
_HALF_SQUARE = sympy.Rational(-1, 2)


def with_letters(expression: Any, taken: Collection[str]) -> Any:
    """``expression`` with σ, Φ and φ, but for those letters (in LaTeX) that are ``taken``.

    >>> u = sympy.Symbol("u")
    >>> with_letters(1 / (1 + sympy.exp(-u)), ())
    σ(u)
    >>> with_letters(sympy.exp(-u) / (1 + sympy.exp(-u)) ** 2, ())
    (1 - σ(u))*σ(u)
    >>> with_letters(1 + sympy.erf(sympy.sqrt(2) * u / 2), ())
    2*Φ(u)
    >>> with_letters(sympy.erf(sympy.sqrt(2) * u / 2) - 1, ())
    -2*Φ(-u)
    >>> with_letters(sympy.exp(-(u**2) / 2) / sympy.sqrt(2 * sympy.pi), ())
    φ(u)
    """
    if not hasattr(expression, "replace"):
        return expression
    made = expression
    for letter, (kind, replaced) in _KNOWN.items():
        if letter not in taken and made.has(kind):
            made = made.replace(lambda e: replaced(e) is not None, replaced)  # noqa: B023
    if r"\sigma" not in taken:
        made = _complemented(made)
        made = made.replace(lambda e: _falling(e) is not None, _falling) if made.has(sympy.exp) else made
    return made if made is expression else made.replace(lambda e: e.is_Mul, _reduced)


def _reduced(e: Any) -> Any:
    """A product with the numbers of its sums of letters taken out: ``(2 Φ(u) + 4 v) w/4`` is ``(Φ(u) + 2 v) w/2``."""
    parts = [
        factor.primitive() if factor.is_Add and _has_letter(factor) else (sympy.S.One, factor) for factor in e.args
    ]
    content = sympy.prod([number for number, _ in parts])
    return e if content == 1 else sympy.Mul(content, *[factor for _, factor in parts])


def _has_letter(e: Any) -> bool:
    return any(str(f.func) in _LETTERS for f in e.atoms(AppliedUndef))


def _logistic(e: Any) -> Any:
    """Powers of ``1/(1 + exp(−u))``."""
    found = _falling(e)
    return found if found is not None and e.base.args[1].exp.could_extract_minus_sign() else None


def _complemented(expression: Any) -> Any:
    """``exp(−u) σ(u)`` as ``1 − σ(u)``, and ``1/(1 + exp(u))`` where ``σ(u)`` occurs too."""
    made = expression
    for sigma in [f for f in expression.atoms(AppliedUndef) if str(f.func) == _LETTERS[0]]:
        (u,) = sigma.args
        less, rest = sympy.exp(-u), 1 - sigma

        def product(e: Any, sigma: Any = sigma, less: Any = less, rest: Any = rest) -> Any:
            if 1 + less in e.args:
                return e / (1 + less) / sigma
            return e / less / sigma * rest if less in e.args else e

        made = made.replace(lambda e, sigma=sigma: e.is_Mul and any(_is_power_of(x, sigma) for x in e.args), product)
        made = made.xreplace({(1 + sympy.exp(u)) ** -k: rest**k for k in (1, 2)})
    return made


def _is_power_of(e: Any, base: Any) -> bool:
    own, exponent = e.as_base_exp()
    return own == base and exponent.is_Integer and exponent >= 1


def _falling(e: Any) -> Any:
    """Powers of ``1/(1 + exp(u))``, which are ``σ(−u)``."""
    if not (getattr(e, "is_Pow", False) and e.exp.is_Integer and e.exp.is_negative and _is_one_and_exp(e.base)):
        return None
    return sympy.Function("σ")(-e.base.args[1].exp) ** -e.exp


def _distribution(e: Any) -> Any:
    """``c ± c erf(u/√2)`` among summands, which is ``2c Φ(±u)``."""
    if not getattr(e, "is_Add", False):
        return None
    number, _ = e.as_coeff_Add()
    for term in e.args if number else ():
        factor, inner = term.as_coeff_Mul()
        if factor in (number, -number) and isinstance(inner, sympy.erf):
            argument = factor / number * sympy.sqrt(2) * inner.args[0]
            return e - number - term + 2 * number * sympy.Function("Φ")(argument)
    return None


def _density(e: Any) -> Any:
    """``exp(−u²/2)/√π`` among factors, which is ``√2 φ(u)``."""
    root = sympy.pi**_HALF_SQUARE
    if not getattr(e, "is_Mul", False) or root not in e.args:
        return None
    for factor in e.args:
        if isinstance(factor, sympy.exp):
            square: Any = factor.exp / _HALF_SQUARE
            if square.is_Pow and square.exp == 2:
                return e / factor / root * sympy.sqrt(2) * sympy.Function("φ")(square.base)
    return None


def _is_one_and_exp(e: Any) -> bool:
    return e.is_Add and len(e.args) == 2 and e.args[0] == 1 and isinstance(e.args[1], sympy.exp)


#: a letter in LaTeX -> what occurs where it may stand, and what has it in place of a part; None for other parts
_KNOWN: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    r"\sigma": (sympy.exp, _logistic),
    r"\Phi": (sympy.erf, _distribution),
    r"\phi": (sympy.exp, _density),
}
