"""LaTeX of sympy expressions: operations as mathematics, and names of several letters set as one word."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

from .cases import is_truth_value
from .known_functions import with_letters
from .letters import GREEK, name_latex
from .plain_text import added_first
from .positions import around


def typeset(expression: Any, names: Iterable[str] = ()) -> str:
    r"""LaTeX of a sympy expression.

    Constants and functions that would look as one of its symbols does, or as one of ``names`` beside it, are written
    in words.

    >>> import sympy
    >>> typeset(sympy.Symbol("sens1") * sympy.Symbol("theta") * sympy.Symbol("x_2"))
    '\\mathit{sens}_{1} \\, \\theta x_{2}'
    >>> typeset(sympy.exp(sympy.Symbol("x"))), typeset(sympy.exp(sympy.Symbol("e")))
    ('e^{x}', '\\operatorname{exp}\\left(e\\right)')
    >>> typeset(sympy.Symbol("rate") * sympy.Symbol("time"))
    '\\mathit{rate} \\, \\mathit{time}'
    >>> typeset(1 / (1 + sympy.exp(-sympy.Symbol("z"))))
    '\\sigma{\\left(z \\right)}'
    """
    made = _Printer({"inv_trig_style": "full", "imaginary_unit": "ri"})
    made.letters = _letters(expression, names)
    return made.whole(_signs_outside(with_letters(expression, made.letters)))


def _signs_outside(expression: Any) -> Any:
    r"""``−Σ a`` where ``Σ −a`` stands, which reads as the end of an empty sum.

    >>> k, x = sympy.Symbol("k"), sympy.IndexedBase("x")
    >>> typeset(1 + sympy.Sum(-x[k], (k, 0, 3)))
    '1 - \\sum_{k=0}^{3} {x}_{k}'
    """
    if not hasattr(expression, "replace") or not expression.has(sympy.Sum):
        return expression
    return expression.replace(
        lambda e: isinstance(e, sympy.Sum) and e.function.is_Mul and e.function.could_extract_minus_sign(),
        lambda e: -e.func(-e.function, *e.limits),
    )


def lettered(expression: Any, names: Iterable[str] = ()) -> Any:
    """``expression`` with the functions that ``typeset`` has letters for.

    >>> import sympy
    >>> lettered(1 / (1 + sympy.exp(-sympy.Symbol("z"))))
    σ(z)
    """
    return with_letters(expression, _letters(expression, names))


def _letters(expression: Any, names: Iterable[str]) -> set[str]:
    own = getattr(expression, "free_symbols", ())
    return {initial(name_latex(name)) for name in (*names, *(str(s) for s in own))}


def initial(latex: str) -> str:
    """The letter or the command that LaTeX begins with."""
    found = re.match(r"\\[A-Za-z]+|.", latex)
    return "" if found is None else found[0]


def element(latex: str, indices: Sequence[str]) -> str:
    """An element of the array of this name; an index behind another one stands in brackets: v_{3}[0] is not v_{30}."""
    place = ",".join(indices)
    return f"{latex}[{place}]" if "_" in latex else f"{{{latex}}}_{{{place}}}"


def cases(rows: Iterable[tuple[str, str]]) -> str:
    """Values under one another, each with when it holds; empty for all others."""
    made = []
    for value, test in rows:
        guard = "{}" if value.startswith("[") else ""  # a bracket would be read as a length behind the line above
        when = rf"\text{{for}}\: {test}" if test else r"\text{otherwise}"
        made.append(f"{guard}{value} & {when}")
    return r"\begin{cases} " + r" \\".join(made) + r" \end{cases}"


def is_word(latex: str) -> bool:
    """True for a name of several letters, beside which another one needs a space."""
    return latex.startswith(r"\mathit{")


def _log(base: str) -> Callable[..., str]:
    return lambda p, a: rf"\log_{{{base}}}{{\left({p._print(a)} \right)}}"


def _opened(p: Any, a: Any) -> str:
    """``a`` as an operand, in brackets where it is more than a letter or a number."""
    made = p._print(a)
    plain = a.is_Symbol or isinstance(a, sympy.Indexed) or is_truth_value(a) or (a.is_Atom and not a.is_negative)
    return made if plain else rf"\left({made}\right)"


def _called(letter: str) -> Callable[..., str]:
    return lambda p, a: rf"\{letter}{{\left({p._print(a)} \right)}}"


#: what stands below and above a name
_SCRIPTS = r"(?:[_^]\{(?:[^{}]|\{[^{}]*\})*\})*"
_WORD = rf"\\mathit\{{\w+\}}{_SCRIPTS}"
_NAME = rf"(?:{_WORD}|(?:(?<![A-Za-z\\])[A-Za-z]|\\(?:{'|'.join(GREEK)})(?![A-Za-z])){_SCRIPTS})"
#: two names of which one has several letters
_WORDS_SIDE_BY_SIDE = re.compile(rf"({_WORD}) (?={_NAME})|({_NAME}) (?={_WORD})")

#: operations that are mathematics of one piece
_CLOSED: dict[str, Callable[..., str]] = {
    "Cbrt": lambda p, a: rf"\sqrt[3]{{{p._print(a)}}}",
    "hypot": lambda p, a, b: rf"\sqrt{{{p.squared(a)} + {p.squared(b)}}}",
    "log1p": lambda p, a: rf"\log{{\left({p.parenthesize(a, PRECEDENCE['Add'])} + 1 \right)}}",
    "log2": _log("2"),
    "log10": _log("10"),
    "logaddexp": lambda p, a, b: rf"\log{{\left({p.power_of_e(a)} + {p.power_of_e(b)} \right)}}",
    "logaddexp2": lambda p, a, b: rf"\log_{{2}}{{\left(2^{{{p._print(a)}}} + 2^{{{p._print(b)}}} \right)}}",
    "re": lambda p, a: rf"\operatorname{{Re}}{{\left({p._print(a)} \right)}}",
    "im": lambda p, a: rf"\operatorname{{Im}}{{\left({p._print(a)} \right)}}",
    "conjugate": lambda p, a: rf"\overline{{{p._print(a)}}}",
    "positive": lambda p, a: _opened(p, a),
    **{letter: _called(name) for letter, name in {"σ": "sigma", "Φ": "Phi", "φ": "phi"}.items()},
    "atan2": lambda p, a, b: rf"\operatorname{{atan2}}{{\left({p._print(a)}, {p._print(b)} \right)}}",
    "round": lambda p, a: rf"\operatorname{{round}}{{\left({p._print(a)} \right)}}",
}
#: operations that are sums, powers or cases, in brackets inside of others
_OPEN: dict[str, Callable[..., str]] = {
    "exp2": lambda p, a: f"2^{{{p._print(a)}}}",
    "expm1": lambda p, a: f"e^{{{p._print(a)}}} - 1",
    "fmod": lambda p, a, b: (
        rf"{p.parenthesize(a, PRECEDENCE['Add'])} - {_opened(p, b)} "
        rf"\operatorname{{trunc}}{{\left(\frac{{{p._print(a)}}}{{{p._print(b)}}} \right)}}"
    ),
    "heaviside": lambda p, a, b: (
        rf"\begin{{cases}} 0 & \text{{for}}\: {p._print(a)} < 0 \\{p._print(b)} & \text{{for}}\: {p._print(a)} = 0 "
        r"\\1 & \text{otherwise} \end{cases}"
    ),
    "bitand": lambda p, a, b: rf"{_opened(p, a)} \mathbin{{\&}} {_opened(p, b)}",
    "bitor": lambda p, a, b: rf"{_opened(p, a)} \mathbin{{|}} {_opened(p, b)}",
    "bitxor": lambda p, a, b: rf"{_opened(p, a)} \oplus {_opened(p, b)}",
    "invert": lambda p, a: rf"\mathord{{\sim}} {_opened(p, a)}",
}
#: what is true or false of numbers, as a statement
_STATEMENTS: dict[str, Callable[..., str]] = {
    "isfinite": lambda p, a: rf"\left|{{{p._print(a)}}}\right| < \infty",
    "isinf": lambda p, a: rf"\left|{{{p._print(a)}}}\right| = \infty",
    "isnan": lambda p, a: rf"{_opened(p, a)} \text{{ is not a number}}",
    "xor": lambda p, a, b: rf"\left({p.stated(a)}\right) \oplus \left({p.stated(b)}\right)",
}


#: operations that begin as their first operand does
_WITH_OPERAND_FIRST = ("positive", "fmod", "bitand", "bitor", "bitxor", "Mod", "factorial")
#: constants, as they are computed where a name looks as their own does
_CONSTANTS = {sympy.pi: r"\arccos\left(-1\right)", sympy.E: r"\operatorname{exp}\left(1\right)"}


class _Printer(LatexPrinter):
    """sympy's, with symgrad's operations; a truth value as a number is ``[statement]``, 1 where it is true."""

    #: what names of the user's begin with
    letters: Collection[str] = ()

    def _print(self, expr: Any, **kwargs: Any) -> str:
        made = super()._print(expr, **kwargs)
        if made in self.letters and expr in _CONSTANTS:
            return _CONSTANTS[expr]
        clashes = self.letters and isinstance(expr, sympy.Function) and initial(made) in self.letters
        if clashes and (type(expr).__name__ in _WITH_OPERAND_FIRST or type(expr).__name__ in _STATEMENTS):
            return made
        return self._in_words(expr, kwargs.get("exp")) if clashes else made

    def _in_words(self, expr: Any, exp: str | None) -> str:
        if isinstance(expr, sympy.KroneckerDelta):
            return rf"\left[{' = '.join(map(self._print, expr.args))}\right]"
        name = type(expr).__name__.replace("_", r"\_")
        made = rf"\operatorname{{{name}}}\left({', '.join(map(self._print, expr.args))}\right)"
        return made if exp is None else rf"{{{made}}}^{{{exp}}}"

    def power_of_e(self, a: Any) -> str:
        return "1" if a == 0 else self._print(sympy.exp(a, evaluate=False))

    def whole(self, expression: Any) -> str:
        """An expression on its own, which needs no brackets."""
        name = type(expression).__name__
        if name not in _OPEN:
            return self.doprint(expression)
        made = _OPEN[name](self, *expression.args)
        clashes = name not in _WITH_OPERAND_FIRST and initial(made) in self.letters
        return self._in_words(expression, None) if clashes else made

    def squared(self, a: Any) -> str:
        return self._print(sympy.Pow(a, 2, evaluate=False))

    def stated(self, a: Any) -> str:
        """A number as a statement: it is not zero."""
        if is_truth_value(a):
            return self._print(a.args[0].cond)
        if type(a).__name__ in _STATEMENTS:
            return _STATEMENTS[type(a).__name__](self, *a.args)
        return rf"{self._print(a)} \neq 0"

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return added_first(super()._as_ordered_terms(expr, order))

    def _print_Mul(self, expr: Any) -> str:
        return _WORDS_SIDE_BY_SIDE.sub(r"\1\2 \\, ", super()._print_Mul(expr))

    def _needs_add_brackets(self, expr: Any) -> bool:
        """In a sum, cases too: what stands behind them would be read as part of the last condition."""
        return expr.is_Piecewise or super()._needs_add_brackets(_without_places(expr))

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        return name_latex(expr.name)

    def _print_Float(self, expr: Any) -> str:
        """``10^{-5}`` and twice it without a point, where sympy writes 1.0 and 2.0 in front."""
        made = super()._print_Float(expr)
        number, sign, power = made.partition(r" \cdot ")
        number = number.removesuffix(".0")
        return {"1": power, "-1": f"-{power}"}.get(number, f"{number}{sign}{power}") if sign else made

    def _print_Indexed(self, expr: Any) -> str:
        return element(self._print(expr.base), list(map(self._place, expr.indices)))

    def _place(self, index: Any) -> str:
        if not isinstance(index, sympy.Mod):
            return self._print(index)
        place, size = around(index)
        return rf"{self.parenthesize(place, PRECEDENCE['Mul'])} \bmod {self.parenthesize(size, PRECEDENCE['Mul'])}"

    def _print_Function(self, expr: Any, exp: str | None = None) -> str:
        name = type(expr).__name__
        if name in _STATEMENTS:
            made = rf"\left[{_STATEMENTS[name](self, *expr.args)}\right]"
        elif name in _CLOSED:
            made = _CLOSED[name](self, *expr.args)
        elif name in _OPEN:
            made = rf"\left({_OPEN[name](self, *expr.args)}\right)"
        else:
            return super()._print_Function(expr, exp)
        return made if exp is None else rf"{{{made}}}^{{{exp}}}"

    _print_re = _print_im = _print_Function  # sympy has names of its own

    def _print_polygamma(self, expr: Any, exp: str | None = None) -> str:
        order, a = expr.args
        above = "" if order == 0 else rf"^{{\left({self._print(order)}\right)}}"
        made = rf"\psi{above}{{\left({self._print(a)} \right)}}"
        return made if exp is None else rf"{{{made}}}^{{{exp}}}"

    def _print_ITE(self, expr: Any) -> str:
        test, yes, no = expr.args
        return self._print(sympy.Or(sympy.And(test, yes), sympy.And(sympy.Not(test), no)))

    def _print_And(self, expr: Any, char: str | None = None) -> str:
        """Two bounds of one quantity are told at once: ``0 < x < 1``."""
        tests = sorted(expr.args, key=sympy.default_sort_key)
        for below, above in itertools.permutations(tests, 2):
            first, second = _ascending(below), _ascending(above)
            if first and second and first[2] == second[0]:
                low, middle, high = map(self._print, (first[0], first[2], second[2]))
                chain = f"{low} {first[1]} {middle} {second[1]} {high}"
                rest = [test for test in tests if test not in (below, above)]
                return rf"{chain} \wedge {self._print(sympy.And(*rest))}" if rest else chain
        return super()._print_And(expr)

    def _print_Unequality(self, expr: Any) -> str:
        a, b = expr.args
        stated = b == 0 and (is_truth_value(a) or type(a).__name__ in _STATEMENTS)
        return self.stated(a) if stated else self._print_Relational(expr)

    def _print_Equality(self, expr: Any) -> str:
        a, b = expr.args
        stated = b == 0 and (is_truth_value(a) or type(a).__name__ in _STATEMENTS)
        return rf"\neg \left({self.stated(a)}\right)" if stated else self._print_Relational(expr)

    def _print_Piecewise(self, expr: Any, exp: str | None = None) -> str:
        if is_truth_value(expr):
            made = rf"\left[{self._print(expr.args[0].cond)}\right]"
            return made if exp is None else rf"{made}^{{{exp}}}"
        rows = [(self.whole(value), "" if test == sympy.true else self._print(test)) for value, test in _cases(expr)]
        made = cases(rows)
        return made if exp is None else rf"\left({made}\right)^{{{exp}}}"

    def _print_Sum(self, expr: Any) -> str:
        return self._over(r"\sum", expr)

    def _print_Product(self, expr: Any) -> str:
        return self._over(r"\prod", expr)

    def _over(self, sign: str, expr: Any) -> str:
        """A sum or product, one sign an index, the outermost first."""
        signs = []
        for limits in reversed(expr.limits):
            index, low, high = map(self._print, limits)
            signs.append(f"{sign}_{{{index}={low}}}^{{{high}}}")
        body = self._print(expr.function)
        inner = rf"\left({body}\right)" if expr.function.is_Add else body
        return " ".join([*signs, inner])

    def _needs_mul_brackets(self, expr: Any, first: bool = False, last: bool = False) -> bool:
        return not is_truth_value(expr) and super()._needs_mul_brackets(_without_places(expr), first, last)


def _ascending(test: Any) -> tuple[Any, str, Any] | None:
    """The lesser side, the sign and the greater side; None for what says of no sides which is less."""
    if not isinstance(test, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)):
        return None
    return test.lts, "<" if isinstance(test, (sympy.Lt, sympy.Gt)) else r"\leq", test.gts


def _without_places(expr: Any) -> Any:
    """``expr`` for sympy, which puts brackets around all that has a ``mod`` in it: in an index it needs none."""
    return expr.replace(sympy.Indexed, lambda base, *_: base) if expr.has(sympy.Mod) else expr


def _cases(expr: Any) -> list[tuple[Any, Any]]:
    """The cases of a Piecewise, those of one within another beside them."""
    found = []
    for value, test in expr.args:
        factor, inner = _factored(value)
        if inner is not None:
            found += [(factor * v, _both(test, condition)) for v, condition in inner[:-1]]
            value = factor * inner[-1].expr
        found.append((value, test))
    return found


def _factored(value: Any) -> tuple[Any, Any]:
    """A factor, and the cases that it multiplies, which end with all others; None where there are none."""
    factors = sympy.Mul.make_args(value)
    cases: list[Any] = [f for f in factors if isinstance(f, sympy.Piecewise) and not is_truth_value(f)]
    if len(cases) != 1 or cases[0].args[-1].cond != sympy.true:
        return value, None
    return sympy.Mul(*[f for f in factors if f is not cases[0]]), cases[0].args


def _both(test: Any, other: Any) -> Any:
    """``test`` and ``other``: a tie where ``test`` allows ties."""
    if isinstance(test, (sympy.Ge, sympy.Le)) and isinstance(other, sympy.Eq) and set(test.args) == set(other.args):
        return other
    return sympy.And(test, other)
