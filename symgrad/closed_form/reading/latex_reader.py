"""LaTeX read as one sympy expression, or refused: nothing is guessed, dropped or evaluated as code.

sympy's own parsers read ``\\pi`` and ``e`` as variables, give ``\\varphi`` and ``\\phi`` one name, drop what they take
for spacing and choose among several readings; so this one is symgrad's. What mathematicians write in two meanings
(``\\sin x y``, ``1/2x``, ``f(x)``, ``\\sin^{-1} x``) is an error that shows the place and what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from ...errors import ArgumentError, SymgradError
from ..deadline import TimeIsUp, within
from .latex_terms import Terms
from .latex_tokens import Source, Token
from .latex_words import BRACKETS, COMPARISONS, FUNCTIONS, GREEK, KNOWN, MATRICES, NORMS, SEVERAL, WORDS

#: seconds that reading may take
_LONGEST = 5.0


def read_latex(text: str, symbols: frozenset[str] = frozenset()) -> Any:
    """The sympy expression that ``text`` means; ``symbols`` are names that are variables whatever they look like.

    >>> read_latex(r"\\frac{1}{2} x^{2} e^{-\\lambda t}")
    x**2*exp(-lambda*t)/2
    """
    if not isinstance(text, str):
        raise ArgumentError(f"from_latex: the LaTeX must be text, got a {type(text).__name__}.")
    try:
        with within(_LONGEST):
            return _Reader(Source(text), symbols).whole()
    except SymgradError:
        raise
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:  # what sympy refuses to put together
        raise ArgumentError(f"from_latex: sympy refuses it: {error}") from error
    except TimeIsUp:
        raise ArgumentError(f"from_latex: reading takes longer than {_LONGEST:.0f} s.") from None


def read_name(text: str) -> str:
    """The name of the variable that ``text`` is, as it is written in LaTeX or as the variable is called.

    >>> read_name(r"\\theta"), read_name("x_{max}"), read_name("x_max")
    ('theta', 'x_max', 'x_max')
    """
    if not set(text) & set("\\{$"):
        return text
    made = read_latex(text, frozenset("e"))
    if not getattr(made, "is_Symbol", False):
        raise ArgumentError(f"from_latex: wrt={text!r} is not the name of a variable.")
    return made.name


class _Reader(Terms):
    """Descends through the tokens, no deeper than brackets may be nested."""

    def _command(self) -> tuple[Any, bool]:
        token = self._take()
        name = token.text[1:]
        if name == "Gamma" and self._is("(", r"\left"):
            return sympy.gamma(self._bracketed()), False
        if name in GREEK:
            return self._named(name), False
        if name in FUNCTIONS:
            return self._function(token, name)
        if name in SEVERAL:
            return self._several(token, name), False
        if name in WORDS:
            return self._worded(token)
        simple = _SIMPLE.get(name)
        if simple is None:
            what = "is not read" if name not in KNOWN else f"({KNOWN[name]}) is not read; write it out"
            raise self._error(f"{token.text} {what}", token)
        return simple(self), False

    def _worded(self, token: Token) -> tuple[Any, bool]:
        start = self._next
        word = self._word()
        if token.text == r"\text":
            raise self._error("words are not read", start)
        if word in FUNCTIONS and token.text != r"\mathit":
            return self._function(token, word)
        if word in SEVERAL and token.text != r"\mathit":
            return self._several(token, word), False
        if word == "e" and token.text == r"\mathrm":
            return sympy.E, False
        if token.text == r"\operatorname":
            raise self._error(f"nothing says what {word} computes", start)
        if word in ("d", "i") and token.text == r"\mathrm":
            raise self._error(f"an upright {word} is no variable", start)
        return self._named(word), False

    def _function(self, token: Token, name: str) -> tuple[Any, bool]:
        function, power = FUNCTIONS[name], None
        if name == "log" and self._is("_"):
            sign = self._take()
            base = self._script(sign)
            function = lambda x: sympy.log(x) / sympy.log(base)  # noqa: E731
        if self._is("^"):
            sign = self._take()
            power = self._script(sign)
            if not (power.is_Integer and power > 0):
                raise self._error(f"the inverse function, or one over it? Write \\arc{name} or \\frac", token, sign)
        self._exponents += name == "exp"
        if self._is("(", "[", "{", r"\{", "|", r"\left"):
            argument, loose = self._bracketed(), False
        else:
            if not self._begins_factor(self._next) or self._is_function(self._next):
                raise self._error(f"write the argument of {name} in brackets", self._next)
            first = self._next
            argument, _ = self._atom()
            if self._is("("):
                raise self._error("write the argument of the function in brackets", first, self._next)
            while self._is("^"):
                sign = self._take()
                argument = self._power(argument, self._script(sign), sign)
            loose = True
        if name == "exp":
            self._exponents -= 1
            self._check_size(sympy.E, argument, token)
        made = function(argument)
        return (made if power is None else made**power), loose

    def _bracketed(self) -> Any:
        """One argument in brackets of any kind."""
        if self._is("|"):
            return self._absolute()
        return self._fenced() if self._is(r"\left") else self._group(self._next.text)

    def _several(self, token: Token, name: str) -> Any:
        fenced = self._is(r"\left")
        if fenced:
            self._take()
        opening = self._next.text
        if opening not in ("(", r"\{"):
            raise self._error(f"write the arguments of {name} in brackets", self._next)
        self._take()
        values = [self._sum()]
        while self._is(","):
            self._take()
            values.append(self._sum())
        if fenced:
            self._expect(r"\right")
        self._expect(BRACKETS[opening])
        return SEVERAL[name](*values)

    def _fenced(self) -> Any:
        r"""``\left( … \right)`` and its kin."""
        self._expect(r"\left")
        token = self._take()
        if token.text in NORMS:
            raise self._norm(token)
        closing = "|" if token.text == "|" else BRACKETS.get(token.text)
        if closing is None:
            raise self._error(f"\\left{token.text} is not read", token)
        bars, self._bars = self._bars, 0
        made = self._sum()
        self._bars = bars
        self._expect(r"\right")
        self._expect(closing)
        return _FENCES.get(token.text, _same)(made)

    def _between(self, opening: str) -> Any:
        made = self._sum()
        self._expect(BRACKETS[opening])
        return _FENCES[opening](made)

    def _fraction(self) -> Any:
        token = self._next
        if token.kind == "number" and len(token.text) == 2 and token.text.isdecimal():  # as in 12 for one half
            self._take()
            return sympy.Rational(int(token.text[0]), int(token.text[1]))
        above = [t.text for t in self._tokens[self._at + 1 : self._at + 2]]
        top = self._argument()
        below = self._tokens[self._at + 1 : self._at + 3]
        if above == ["d"] and [t.kind for t in below] == ["letter", "letter"] and below[0].text == "d":
            raise self._error("a derivative is not read; pass the expression and name what to differentiate by", token)
        return top / self._argument()

    def _argument(self) -> Any:
        """What a command takes: a group, or one digit or letter."""
        token = self._next
        if token.kind == "number" and len(token.text) > 1:
            raise self._error("TeX takes the first digit alone; write braces", token)
        if self._is("{"):
            return self._group("{")
        if token.kind in ("number", "letter"):
            return self._atom()[0]
        raise self._error("write the argument in braces", token)

    def _root(self) -> Any:
        degree = sympy.Integer(2)
        if self._is("["):
            degree = self._group("[")
        return sympy.Pow(self._argument(), 1 / degree)

    def _environment(self) -> Any:
        token = self._next
        kind = self._word()
        if kind == "cases":
            return self._cases()
        if kind not in MATRICES:
            raise self._error(f"the environment {kind} is not read", token)
        rows = [[self._sum()]]
        while self._is("&", "\\\\"):
            if self._take().text == "&":
                rows[-1].append(self._sum())
            elif not self._is(r"\end"):
                rows.append([self._sum()])
        self._end(kind)
        if len({len(row) for row in rows}) > 1:
            raise self._error("the rows of the matrix are not equally long", token)
        return sympy.ImmutableMatrix(rows)

    def _end(self, kind: str) -> None:
        self._expect(r"\end")
        token = self._next
        if self._word() != kind:
            raise self._error(f"\\end{{{kind}}} is missing", token)

    def _cases(self) -> Any:
        cases = []
        while not self._is(r"\end"):
            value = self._sum()
            self._expect("&")
            cases.append((value, self._condition()))
            if not self._is("\\\\"):
                break
            self._take()
        if not cases:
            raise self._error("there is no case", self._next)
        self._end("cases")
        return sympy.Piecewise(*cases)

    def _condition(self) -> Any:
        if self._is(r"\text", r"\mathrm"):
            token = self._take()
            word = self._word()
            if word in ("otherwise", "else"):
                return True
            if word not in ("for", "if", "where", "when"):
                raise self._error(f"the condition {word!r} is not read", token)
        left = self._sum()
        tests = []
        while self._next.text in COMPARISONS and self._next.kind != "end":
            comparison = COMPARISONS[self._take().text]
            right = self._sum()
            tests.append(comparison(left, right))
            left = right
        if not tests:
            raise self._error("a condition compares two sides", self._next)
        return sympy.And(*tests)


def _same(made: Any) -> Any:
    return made


_FENCES: dict[str, Callable[[Any], Any]] = {
    "|": sympy.Abs,
    r"\lvert": sympy.Abs,
    r"\lfloor": sympy.floor,
    r"\lceil": sympy.ceiling,
}


_SIMPLE: dict[str, Callable[[Any], Any]] = {
    "pi": lambda r: sympy.pi,
    "infty": lambda r: sympy.oo,
    "frac": lambda r: r._fraction(),
    "dfrac": lambda r: r._fraction(),
    "tfrac": lambda r: r._fraction(),
    "sqrt": lambda r: r._root(),
    "lvert": lambda r: r._between(r"\lvert"),
    "lfloor": lambda r: r._between(r"\lfloor"),
    "lceil": lambda r: r._between(r"\lceil"),
    "begin": lambda r: r._environment(),
}
