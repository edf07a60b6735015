"""Sums, products, powers and names in LaTeX; what its commands mean is ``latex_reader``'s."""

from __future__ import annotations

import math
from typing import Any

import sympy

from ...errors import ArgumentError
from .latex_marks import mark_behind
from .latex_tokens import Source, Token
from .latex_words import BRACKETS, CLOSING, COMPARISONS, FUNCTIONS, GREEK, NORMS, SEVERAL, WORDS

#: brackets inside of brackets
_DEEPEST = 40


class Terms:
    """Descends through the tokens, no deeper than brackets may be nested."""

    def __init__(self, source: Source, symbols: frozenset[str]) -> None:
        self._source = source
        self._tokens = source.tokens
        self._at = 0
        self._depth = 0
        self._bars = 0
        #: how many exponents of e stand around what is read
        self._exponents = 0
        self._symbols = symbols

    # tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def _is(self, *texts: str) -> bool:
        return self._next.kind != "end" and self._next.text in texts

    def _expect(self, text: str) -> None:
        if not self._is(text):
            shown = self._next.text or "the end"
            raise self._error(f"{text!r} is missing, {shown!r} stands there", self._next)
        self._take()

    def _error(self, message: str, token: Token, last: Token | None = None) -> ArgumentError:
        return self._source.error(message, token.start, (last or token).end)

    # sums and products

    def whole(self) -> Any:
        made = self._sum()
        if self._next.kind != "end":
            token = self._next
            if token.text in COMPARISONS:
                raise self._error("an equation or a comparison is no expression; pass one side of it", token)
            raise self._error(f"{token.text!r} has nothing to belong to", token)
        return made

    def _sum(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"brackets are nested deeper than {_DEEPEST}", self._next)
        sign = self._take().text if self._is("+", "-") else "+"
        terms = [self._signed(sign, self._product())]
        while self._is("+", "-"):
            sign = self._take().text
            if self._is("+", "-"):
                raise self._error("two signs in a row; write brackets", self._next)
            terms.append(self._signed(sign, self._product()))
        self._depth -= 1
        if len(terms) == 1:
            return terms[0]
        if any(getattr(t, "is_Matrix", False) for t in terms):
            raise self._error("sums of matrices are not read; add their elements", self._tokens[self._at - 1])
        return sympy.Add(*terms)

    def _signed(self, sign: str, term: Any) -> Any:
        return -term if sign == "-" else term

    def _product(self) -> Any:
        value, loose = self._factor()
        factors, slashed = [value], False
        while True:
            token = self._next
            if self._is("*", r"\cdot", r"\times"):
                self._take()
            elif self._is("/", r"\div"):
                self._take()
                if slashed or loose:
                    raise self._error(r"'/' here has two readings; write \frac or brackets", token)
                value, loose = self._factor()
                factors, slashed = [_times(factors) / value], True
                continue
            elif not self._begins_factor(token):
                return _times(factors)
            elif loose and not self._is_function(token):
                raise self._error("does this belong to the function before it? Write brackets", token)
            elif token.kind == "number" and self._tokens[self._at - 1].kind == "number":
                raise self._error("two numbers in a row", token)
            if slashed:
                raise self._error(r"a product after '/' has two readings; write \frac or brackets", token)
            value, loose = self._factor()
            factors.append(value)

    def _begins_factor(self, token: Token) -> bool:
        if token.kind in ("number", "letter"):
            return True
        if token.kind == "command":
            return token.text not in COMPARISONS and token.text not in CLOSING
        return token.text in ("(", "[", "{", r"\{") and token.kind != "end"

    def _is_function(self, token: Token) -> bool:
        return token.kind == "command" and (token.text[1:] in FUNCTIONS or token.text in (r"\frac", r"\sqrt"))

    # powers

    def _factor(self) -> tuple[Any, bool]:
        """A factor, and whether it ends with the argument of a function that has no brackets."""
        token = self._next
        made, loose = self._atom()
        named = self._tokens[self._at - 1]
        if (
            self._is("(", "[", r"\left", r"\{")
            and getattr(made, "is_Symbol", False)
            and not token.text == "{"
            and made.name not in self._symbols
        ):
            raise self._error(
                f"is {token.text} a function or a factor? Write {token.text} \\cdot (…) for the product",
                token,
                self._next,
            )
        while self._is("!", "^", "'", "_"):
            sign = self._take()
            if sign.text == "'":
                raise self._error("a prime has several meanings; write the derivative or another name", sign)
            if sign.text == "_":
                raise self._error("an index belongs to a name", sign)
            if loose or self._called(token, named):
                raise self._error(
                    f"a power of the function or of its argument? Write {token.text}^2(…) or more brackets",
                    sign,
                )
            if sign.text == "!":
                made = self._factorial(made, sign)
                continue
            mark = mark_behind(self._tokens[self._at :], made, self._symbols)
            if mark is not None:
                raise self._error(mark[0], sign, mark[1])
            self._exponents += made is sympy.E
            exponent = self._script(sign)
            self._exponents -= made is sympy.E
            if self._is("^"):
                raise self._error("two exponents; write brackets", self._next)
            made = self._power(made, exponent, sign)
        return made, loose

    def _called(self, token: Token, last: Token) -> bool:
        return self._is_function(token) and token.text[1:] in FUNCTIONS and last.text in (")", "]", r"\}", "}")

    def _script(self, sign: Token) -> Any:
        """What stands above: a group, or one digit, letter or command."""
        token = self._next
        if self._is("{"):
            return self._group("{")
        if token.kind == "number":
            if len(token.text) > 1:
                raise self._error(f"TeX raises the first digit alone; write {sign.text}{{{token.text}}}", token)
            self._take()
            return sympy.Integer(token.text)
        if token.kind == "letter" or (token.kind == "command" and token.text[1:] in (*GREEK, "pi", "infty")):
            made, _ = self._atom()
            return made
        raise self._error(f"write what belongs to '{sign.text}' in braces", token)

    def _power(self, base: Any, exponent: Any, sign: Token) -> Any:
        if getattr(base, "is_Matrix", False) or getattr(exponent, "is_Matrix", False):
            raise self._error("powers of matrices are not read", sign)
        self._check_size(base, exponent, sign)
        return sympy.Pow(base, exponent)

    def _check_size(self, base: Any, exponent: Any, sign: Token) -> None:
        """Numbers beyond the largest double are refused before sympy writes out their digits."""
        if not (base.is_number and exponent.is_number):
            return
        try:
            size = abs(complex(base)) ** float(exponent)
        except (OverflowError, ZeroDivisionError, TypeError):
            size = math.inf
        if not size < 1e300 or (size and size < 1e-300):
            raise self._error("a number of this size is not read", sign)

    def _factorial(self, made: Any, sign: Token) -> Any:
        if made.is_number and not 0 <= float(made) <= 170:
            raise self._error("a number of this size is not read", sign)
        return sympy.factorial(made)

    # atoms

    def _atom(self) -> tuple[Any, bool]:
        token = self._next
        if token.kind == "number":
            self._take()
            return (sympy.Rational(token.text) if "." in token.text else sympy.Integer(token.text)), False
        if token.kind == "letter":
            return self._letter(), False
        if self._is("(", "[", "{", r"\{"):
            return self._group(token.text), False
        if self._is("|"):
            return self._absolute(), False
        if self._is(r"\left"):
            return self._fenced(), False
        if self._is(*NORMS):
            raise self._norm(token)
        if token.kind == "command":
            return self._command()
        shown = token.text or "the end"
        raise self._error(f"an operand is missing, {shown!r} stands there", token)

    def _group(self, opening: str) -> Any:
        self._expect(opening)
        bars, self._bars = self._bars, 0
        made = self._sum()
        self._bars = bars
        self._expect(BRACKETS[opening])
        return made

    def _absolute(self) -> Any:
        if self._bars:
            raise self._error(r"does | open or close? Write \left| and \right|", self._next)
        self._expect("|")
        self._bars += 1
        made = self._sum()
        self._bars -= 1
        self._expect("|")
        return sympy.Abs(made)

    def _norm(self, token: Token) -> ArgumentError:
        return self._error("norms are not read; write \\sqrt{x_1^2 + x_2^2}, or np.linalg.norm in NumPy code", token)

    def _letter(self) -> Any:
        token = self._take()
        run = token.text
        at = self._at
        while self._tokens[at].kind == "letter" and self._tokens[at].start == self._tokens[at - 1].end:
            run += self._tokens[at].text
            at += 1
        word = next((f for f in sorted((*FUNCTIONS, *SEVERAL, "sqrt", "det"), key=len, reverse=True) if f in run), None)
        if word is not None:
            raise self._error(
                f"{run} would be a product of letters; write \\{word} for the function, \\mathit{{{run}}} for a name",
                token,
                self._tokens[at - 1],
            )
        if token.text == "e" and "e" not in self._symbols and not self._is("_"):
            return sympy.E
        if token.text == "i" and self._exponents and "i" not in self._symbols and not self._is("_"):
            raise self._error(
                "above e, is i the imaginary unit, which symgrad does not compute with, or a variable? "
                "Name i in wrt or call it otherwise for a variable",
                token,
            )
        return self._named(token.text)

    def _named(self, base: str) -> Any:
        """A variable, with its index."""
        if not self._is("_"):
            return sympy.Symbol(base)
        self._take()
        token = self._next
        if not self._is("{"):
            if token.kind == "number" and len(token.text) > 1:
                raise self._error(f"TeX lowers the first digit alone; write _{{{token.text}}}", token)
            return sympy.Symbol(f"{base}_{self._index_part()}")
        self._take()
        parts = [self._index_part()]
        while not self._is("}"):
            between = self._tokens[self._at - 1].kind == "letter" and self._next.kind in ("letter", "number")
            if self._is(","):
                self._take()
                parts += ["_", self._index_part()]
            elif between:
                parts.append(self._index_part())
            else:
                raise self._error("an index is letters, digits or a Greek letter", self._next)
        self._take()
        return sympy.Symbol(f"{base}_{''.join(parts)}")

    def _index_part(self) -> str:
        token = self._take()
        if token.kind in ("letter", "number") and "." not in token.text:
            return token.text
        if token.kind == "command" and token.text[1:] in GREEK:
            return token.text[1:]
        if token.kind == "command" and token.text[1:] in WORDS:
            return self._word()
        raise self._error("an index is letters, digits or a Greek letter", token)

    def _word(self) -> str:
        """The letters in braces."""
        self._expect("{")
        made = ""
        while self._next.kind in ("letter", "number") or (made and self._is("_")):
            made += self._take().text
        if not made or not made[0].isalpha() or not made.isidentifier():
            raise self._error("a name of letters is missing", self._next)
        self._expect("}")
        return made

    def _command(self) -> tuple[Any, bool]:
        """What a command means, and whether it ends with the argument of a function that has no brackets."""
        raise NotImplementedError

    def _fenced(self) -> Any:
        r"""``\left( … \right)`` and its kin."""
        raise NotImplementedError


def _times(factors: list[Any]) -> Any:
    """The product as it was written: sympy would multiply a number into a sum."""
    if len(factors) == 2 and factors[0].is_Number and factors[1].is_Add:
        return sympy.Mul(*factors, evaluate=False)
    return sympy.Mul(*factors)
