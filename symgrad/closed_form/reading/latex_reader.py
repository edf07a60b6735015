"""LaTeX read as one sympy expression, or refused: nothing is guessed, dropped or evaluated as code.

sympy's own parsers read ``\\pi`` and ``e`` as variables, give ``\\varphi`` and ``\\phi`` one name, drop what they take
for spacing and choose among several readings; so this one is symgrad's. What mathematicians write in two meanings
(``\\sin x y``, ``1/2x``, ``f(x)``, ``\\sin^{-1} x``) is an error that shows the place and what to write instead.
"""

from __future__ import annotations

import math
from typing import Any

import sympy

from ...errors import ArgumentError, SymgradError
from ..deadline import TimeIsUp, within_calls
from ..latex_tree import NotLatex, Part, tree
from .latex_marks import mark_behind
from .latex_names import Names
from .latex_source import Source, begins_factor, is_command, is_fenced_row, is_function, is_letter
from .latex_words import (
    BRACKETS,
    COMPARISONS,
    FUNCTIONS,
    GREEK,
    KNOWN,
    MATRICES,
    NORMS,
    OF_BRACKETS,
    OF_LETTERS,
    SEVERAL,
    WORDS,
)

#: calls that reading may take
_MAX_CALLS = 7_500_000
#: brackets inside of brackets
_DEEPEST = 40


def read_latex(text: str, symbols: frozenset[str] = frozenset()) -> Any:
    """The sympy expression that ``text`` means; ``symbols`` are names that are variables whatever they look like.

    >>> read_latex(r"\\frac{1}{2} x^{2} e^{-\\lambda t}")
    x**2*exp(-lambda*t)/2
    """
    if not isinstance(text, str):
        raise ArgumentError(f"from_latex: the LaTeX must be text, got a {type(text).__name__}.")
    source = Source(text)
    try:
        with within_calls(_MAX_CALLS):
            return _Reader(source, symbols).row(tree(source.mathematics))
    except SymgradError:
        raise
    except NotLatex as error:
        raise source.error(str(error), error.start, error.end) from None
    except (
        TypeError,
        ValueError,
        ArithmeticError,
        RecursionError,
        NotImplementedError,
    ) as error:  # what sympy refuses to put together
        raise ArgumentError(f"from_latex: sympy refuses it: {error}") from error
    except TimeIsUp:
        raise ArgumentError("from_latex: sympy works too long on it; give it in smaller parts.") from None


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


class _Reader(Names):
    """Descends through the parts of rows, no deeper than brackets may be nested."""

    def __init__(self, source: Source, symbols: frozenset[str]) -> None:
        super().__init__(source, symbols)
        self._depth = 0
        self._bars = 0

    def row(self, row: Part) -> Any:
        """What a row means."""
        (made,) = self._values(row, False)
        return made

    def _values(self, row: Part, many: bool) -> list[Any]:
        bars, self._bars = self._bars, 0
        with self._inside(self._source.parts(row)):
            made = self._listed(many)
        self._bars = bars
        return made

    def _listed(self, many: bool) -> list[Any]:
        """A sum; several between commas, where there may be ``many``."""
        values = [self._sum()]
        while many and self._is(","):
            self._take()
            values.append(self._sum())
        return values

    # sums and products

    def _sum(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"brackets are nested deeper than {_DEEPEST}", self._next)
        terms = []
        while not terms or self._is("+", "-"):
            negative = self._take().text == "-" if self._is("+", "-") else False
            if terms and self._is("+", "-"):
                raise self._error("two signs in a row; write brackets", self._next)
            term = self._product()
            terms.append(-term if negative else term)
        self._depth -= 1
        if len(terms) == 1:
            return terms[0]
        if any(getattr(t, "is_Matrix", False) for t in terms):
            raise self._error("sums of matrices are not read; add their elements", self._last)
        return sympy.Add(*terms)

    def _product(self) -> Any:
        value, loose = self._factor()
        factors, slashed = [value], False
        while True:
            part = self._next
            if self._is("*", r"\cdot", r"\times"):
                self._take()
            elif self._is("/", r"\div"):
                self._take()
                if slashed or loose:
                    raise self._error(r"'/' here has two readings; write \frac or brackets", part)
                value, loose = self._factor()
                factors, slashed = [_times(factors) / value], True
                continue
            elif not begins_factor(part):
                return _times(factors)
            elif loose and not is_function(part):
                raise self._error("does this belong to the function before it? Write brackets", part)
            elif part.kind == "number" and self._source.text[self._last.end - 1].isdigit():
                raise self._error("two numbers in a row", part)
            if slashed:
                raise self._error(r"a product after '/' has two readings; write \frac or brackets", part)
            value, loose = self._factor()
            factors.append(value)

    # powers

    def _factor(self) -> tuple[Any, bool]:
        """A factor, and whether it ends with the argument of a function that has no brackets."""
        part = self._next
        made, loose = self._atom()
        if (
            self._is_bracket("(", "[", r"\{")
            and part.kind != "row"
            and getattr(made, "is_Symbol", False)
            and made.name not in self._symbols
        ):
            said = self._source.text[part.start : part.end]
            fix = f"is {said} a function or a factor? Write {said} \\cdot (…) for the product"
            raise self._error(fix, part, self._next)
        ends_with_bracket = self._last.kind in ("row", "fenced") or self._last.text in (")", "]", r"\}")
        of_function = part.text[1:] in FUNCTIONS and is_function(part) and ends_with_bracket
        while self._is("!", "^", "'", "_"):
            sign = self._next
            if sign.text == "'":
                raise self._error("a prime has several meanings; write the derivative or another name", sign)
            if sign.text == "_":
                raise self._error("an index belongs to a name", sign)
            if loose or of_function:
                fix = f"a power of the function or of its argument? Write {part.text}^2(…) or more brackets"
                raise self._error(fix, sign)
            if sign.text == "!":
                made = self._factorial(made, self._take())
                continue
            mark = mark_behind(sign.parts[0], made, self._symbols)
            if mark is not None:
                raise self._error(mark, sign)
            self._exponents += made is sympy.E
            exponent, _ = self._script()
            self._exponents -= made is sympy.E
            made = self._power(made, exponent, sign)
        return made, loose

    def _argument(self, row: Part, of: str) -> Any:
        """What a command takes: a group, or one digit, letter or Greek letter."""
        bare = None if self._source.text[row.start] == "{" else row.parts[0]
        if bare is not None and not (bare.kind == "number" or is_letter(bare) or bare.text[1:] in (*GREEK, *_NUMBERS)):
            raise self._error(f"write what belongs to '{of}' in braces", bare)
        return self.row(row)

    def _script(self) -> tuple[Any, Part]:
        """What stands above or below, and its sign."""
        sign = self._take()
        return self._argument(sign.parts[0], sign.text), sign

    def _power(self, base: Any, exponent: Any, sign: Part) -> Any:
        if getattr(base, "is_Matrix", False) or getattr(exponent, "is_Matrix", False):
            raise self._error("powers of matrices are not read", sign)
        self._check_size(base, exponent, sign)
        return sympy.Pow(base, exponent)

    def _check_size(self, base: Any, exponent: Any, sign: Part) -> None:
        """Numbers beyond the largest double are refused before sympy writes out their digits."""
        if not (base.is_number and exponent.is_number):
            return
        try:
            size = abs(complex(base)) ** float(exponent)
        except (OverflowError, ZeroDivisionError, TypeError):
            size = math.inf
        if not size < 1e300 or (size and size < 1e-300):
            raise self._error("a number of this size is not read", sign)

    def _factorial(self, made: Any, sign: Part) -> Any:
        if made.is_number and not 0 <= float(made) <= 170:
            raise self._error("a number of this size is not read", sign)
        return sympy.factorial(made)

    # atoms

    def _atom(self) -> tuple[Any, bool]:
        part = self._next
        if self._is_bracket():
            return self._bracketed()[0], False
        if self._is(*NORMS) or (part.kind == "fenced" and part.style[0] in NORMS):
            fix = "norms are not read; write \\sqrt{x_1^2 + x_2^2}, or np.linalg.norm in NumPy code"
            raise self._error(fix, part)
        read = getattr(self, f"_read_{part.kind}", None)
        if read is None or (part.kind == "sign" and not (is_letter(part) or is_command(part))):
            raise self._error(f"an operand is missing, {self._shown(part)} stands there", part)
        self._take()
        made = read(part)
        return made if isinstance(made, tuple) else (made, False)

    def _read_number(self, part: Part) -> Any:
        return sympy.Rational(part.text) if "." in part.text else sympy.Integer(part.text)

    def _read_fraction(self, part: Part) -> Any:
        top, below = part.parts
        signs = [p.text for p in below.parts[:2]]
        if [p.text for p in top.parts] == ["d"] and signs[:1] == ["d"] and len(signs) == 2 and signs[1].isalpha():
            raise self._error("a derivative is not read; pass the expression and name what to differentiate by", part)
        return self._argument(top, r"\frac") / self._argument(below, r"\frac")

    def _read_root(self, part: Part) -> Any:
        inner, degree = part.parts
        return sympy.Pow(
            self._argument(inner, r"\sqrt"), 1 / (sympy.Integer(2) if degree is None else self.row(degree))
        )

    def _read_accent(self, part: Part) -> Any:
        raise self._error(f"\\{part.text} (an accent) is not read; write it out", part)

    def _read_sign(self, part: Part) -> Any:
        if is_letter(part):
            return self._letter(part)
        name = part.text[1:]
        if name == "Gamma" and self._is_bracket("("):
            return sympy.gamma(*self._bracketed())
        if name in OF_LETTERS and name not in self._symbols and is_fenced_row(self._next):
            return OF_LETTERS[name](*self._bracketed())
        if name in GREEK:
            return self._named(name)
        if name in FUNCTIONS or name in SEVERAL:
            return self._function(part, name)
        if name in _NUMBERS:
            return _NUMBERS[name]
        what = "is not read" if name not in KNOWN else f"({KNOWN[name]}) is not read; write it out"
        raise self._error(f"{part.text} {what}", part)

    def _read_word(self, part: Part) -> Any:
        if part.style not in WORDS:
            said = f" ({KNOWN[part.style]})" if part.style in KNOWN else ""
            raise self._error(f"\\{part.style}{said} is not read; write it out", part)
        word = self._word(part)
        if part.style == "text":
            raise self._error("words are not read", part)
        if part.style != "mathit" and (word in FUNCTIONS or word in SEVERAL):
            return self._function(part, word)
        if word == "e" and part.style == "mathrm":
            return sympy.E
        if part.style == "operatorname":
            raise self._error(f"nothing says what {word} computes", part)
        if word in ("d", "i") and part.style == "mathrm":
            raise self._error(f"an upright {word} is no variable", part)
        return self._named(word)

    def _read_table(self, part: Part) -> Any:
        rows = list(part.parts)
        if len(rows) > 1 and len(rows[-1]) == 1 and not rows[-1][0].parts:  # after the last end of a row
            rows.pop()
        if part.style == "cases":
            return sympy.Piecewise(*[self._case(row, part) for row in rows])
        if part.style not in MATRICES:
            raise self._error(f"the environment {part.style} is not read", part)
        if len({len(row) for row in rows}) > 1:
            raise self._error("the rows of the matrix are not equally long", part)
        return sympy.ImmutableMatrix([[self.row(cell) for cell in row] for row in rows])

    def _case(self, cells: tuple[Part, ...], part: Part) -> tuple[Any, Any]:
        if len(cells) != 2:
            raise self._error("a case is a value and its condition", part)
        value, test = cells
        said = self._source.parts(test)
        word = self._word(said[0]) if said[0].kind == "word" and said[0].style in ("text", "mathrm") else "if"
        if word in ("otherwise", "else"):
            return self.row(value), True
        if word not in ("for", "if", "where", "when"):
            raise self._error(f"the condition {word!r} is not read", said[0])
        return self.row(value), self._condition(said[said[0].kind == "word" :])

    def _condition(self, parts: list[Part]) -> Any:
        tests = []
        with self._inside(parts):
            left = self._sum()
            while self._next.text in COMPARISONS:
                comparison = COMPARISONS[self._take().text]
                right = self._sum()
                tests.append(comparison(left, right))
                left = right
            if not tests:
                raise self._error("a condition compares two sides", self._next)
        return sympy.And(*tests)

    # functions and brackets

    def _function(self, part: Part, name: str) -> tuple[Any, bool]:
        function, power = FUNCTIONS.get(name) or SEVERAL[name], None
        if name == "log" and self._is("_"):
            base, _ = self._script()
            function = lambda x: sympy.log(x) / sympy.log(base)  # noqa: E731
        if self._is("^"):
            power, sign = self._script()
            if not (power.is_Integer and power > 0):
                raise self._error(f"the inverse function, or one over it? Write \\arc{name} or \\frac", part, sign)
        self._exponents += name == "exp"
        loose = not self._is_bracket()
        values = [self._loose_argument(name)] if loose else self._bracketed(many=name in SEVERAL)
        self._exponents -= name == "exp"
        if name == "exp":
            self._check_size(sympy.E, values[0], part)
        made = function(*values)
        return (made if power is None else made**power), loose

    def _loose_argument(self, name: str) -> Any:
        """An argument without brackets: one factor."""
        first = self._next
        if name in SEVERAL or not begins_factor(first) or is_function(first):
            raise self._error(f"write the argument of {name} in brackets", first)
        argument, _ = self._atom()
        if self._is("("):
            raise self._error("write the argument of the function in brackets", first, self._next)
        while self._is("^"):
            argument = self._power(argument, *self._script())
        return argument

    def _is_bracket(self, *kinds: str) -> bool:
        """Whether something in brackets begins here, of any kind or of these."""
        if self._next.kind == "fenced" and self._next.style[0] not in NORMS:
            return not kinds or self._next.style[0] in kinds
        return self._is(*(kinds or (*BRACKETS, "|"))) or (self._next.kind == "row" and not kinds)

    def _bracketed(self, many: bool = False) -> list[Any]:
        """What stands in brackets of any kind; between commas where it may be ``many``."""
        part = self._take()
        if is_fenced_row(part):
            (part,) = part.parts
        first, last = part.style if part.kind == "fenced" else (part.text, BRACKETS.get(part.text, "|"))
        if part.kind == "fenced" and BRACKETS.get(first, "|") != last:
            raise self._error(f"\\left{first} … \\right{last} is not read", part)
        if part.kind == "sign":
            if first == "|" and self._bars:
                raise self._error(r"does | open or close? Write \left| and \right|", part)
            outer, self._bars = self._bars, int(first == "|")
            values = self._listed(many)
            self._bars = outer
            self._expect(last)
        else:
            values = self._values(part.parts[0] if part.kind == "fenced" else part, many)
        return [OF_BRACKETS[first](*values)] if first in OF_BRACKETS else values


_NUMBERS = {"pi": sympy.pi, "infty": sympy.oo}


def _times(factors: list[Any]) -> Any:
    """The product as it was written: sympy would multiply a number into a sum."""
    if len(factors) == 2 and factors[0].is_Number and factors[1].is_Add:
        return sympy.Mul(*factors, evaluate=False)
    return sympy.Mul(*factors)
