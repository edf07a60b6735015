"""Matrix expressions as Unicode text: ``2/n · Xᵀ(Xw − y)``; brackets where precedence asks for them.

Names are leaves of the tree and have been made safe before; nothing else in an expression is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import sympy

from ...primitives.selection import spell_range
from ..contents import in_words
from ..letters import LOWER_SIGNS, LOWERED
from ..plain_text import plain_text
from .expression import Expression, number, without_ones
from .notation import ascending, decimal

#: how a text is put around others
Spelling = Callable[..., str]
SUM, KRON, HADAMARD, PRODUCT, POSTFIX, ATOM = range(1, 7)
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_ELEMENTWISE = ("function", "power", "hadamard", "softmax")
_CONSTANT = ("ones", "all_ones")
#: functions whose powers are written sin²(x)
_RAISED = ("sigmoid", "tanh", "sin", "cos", "tan", "sinh", "cosh", "log")
_ONE = sympy.Integer(1)
#: what functions are called that have a sign
_SIGNS = {"sigmoid": "σ", "ndtr": "Φ", "density": "φ", "trace": "tr", "total": "sum"}
#: letters of constants as sympy writes them, and matrices in words
_ASCII = {"π": "pi", "e": "E"}
_WORDS = {"identity": "Id", "commutation": "Com", "unit": "unit"}


class Text:
    """Prints expressions; ``names`` are given to parts of them, and ``own`` are the user's.

    A sign that a name of the user's looks as is written in words. Subclasses override how things are spelled.
    """

    minus, plus = "−", "+"
    kron_sign, hadamard_sign, quotient_sign = "⊗", "⊙", "⊘"
    symbols: Mapping[str, str] = {
        "identity": "I",
        "ones": "𝟏",
        "all_ones": "𝟏𝟏ᵀ",
        "zero": "0",
        "commutation": "K",
        "unit": "e",
    }
    comparisons: Mapping[str, str] = {
        "greater": ">",
        "greater_equal": "≥",
        "less": "<",
        "less_equal": "≤",
        "equal": "=",
        "not_equal": "≠",
    }
    #: truth values of truth values
    connectives: Mapping[str, str] = {
        "logical_and": "{} ∧ {}",
        "logical_or": "{} ∨ {}",
        "logical_xor": "{} ⊕ {}",
        "logical_not": "¬{}",
    }
    #: truth values of numbers, where there is a sentence for them
    tests: Mapping[str, str] = {name: f"{name}({{}})" for name in ("isnan", "isinf", "isfinite", "signbit")}
    bracket: Spelling = "({})".format
    fraction: Spelling = "{} / {}".format
    transposed: Spelling = "{}ᵀ".format
    inverse: Spelling = "{}⁻¹".format
    inverse_transposed: Spelling = "{}⁻ᵀ".format
    bars: Spelling = "|{}|".format
    truth: Spelling = "[{}]".format
    norm: Spelling = "‖{}‖".format
    root: Spelling = "√({})".format
    elementwise_power: Spelling = "{}^⊙{}".format
    scalar_power: Spelling = "{}^{}".format
    exponent: Spelling = "({})".format
    convention: Spelling = "{} = 0 for {} = 0".format
    axis: Spelling = ", axis={}".format
    indexed: Spelling = "{}[{}]".format
    #: what a numerator and a denominator need no brackets above
    above, below = HADAMARD, POSTFIX

    def __init__(self, names: Mapping[Expression, str] | None = None, own: Iterable[str] = ()) -> None:
        self.names = names or {}
        self.own = frozenset(own)
        self._known: dict[Expression, tuple[str, int]] = {}  # what holds a part may ask for it several times

    def __call__(self, x: Expression, opened: bool = False) -> str:
        """``x`` printed; ``opened`` prints what a given name stands for."""
        return self._printed(x, opened)[0]

    def _printed(self, x: Expression, opened: bool = False) -> tuple[str, int]:
        """The string and its precedence; recursion is over the tree, whose depth is bounded."""
        if opened:
            return getattr(self, f"_{x.op}")(x)
        if x not in self._known:
            named = x in self.names
            self._known[x] = (self.name(self.names[x]), ATOM) if named else self._printed(x, opened=True)
        return self._known[x]

    def _within(self, x: Expression, least: int) -> str:
        text, precedence = self._printed(x)
        return text if precedence >= least else self.bracket(text)

    def denominator(self, x: Expression) -> str:
        """``x`` as it stands below a line."""
        return self._within(x, self.below)

    # spelling

    def name(self, name: str) -> str:
        """A name of the user's, or one given to a part."""
        return name

    def call(self, name: str, inside: str) -> str:
        return f"{self.spelled(name)}({inside})"

    def applied(self, name: str, inside: str) -> str:
        """A function of the user's."""
        return f"{name}({inside})"

    def spelled(self, function: str) -> str:
        """A function as it is called."""
        sign = _SIGNS.get(function, function)
        return next((text for text in (sign, function) if text not in self.own), f"np.{function}")

    def raised(self, text: str, exponent: str) -> str:
        return text + exponent.translate(_SUPERSCRIPTS)

    def lowered(self, text: str, index: str) -> str:
        return text + "".join(LOWERED.get(c, c) for c in index.replace(self.minus, "-").replace(" ", ""))

    def symbol(self, op: str) -> str:
        """A matrix that has a letter."""
        return _WORDS[op] if self.symbols[op] in self.own else self.symbols[op]

    def contents(self, array: np.ndarray) -> str:
        """What an array holds."""
        return in_words(array)

    def number(self, value: Any) -> str:
        if value.is_infinite:
            return "∞"
        plain = plain_text(value, {_ASCII.get(name, name) for name in self.own if name != "pi"})
        text = re.sub(r"\bpi\b", "π", re.sub(r"\bE\b", "e", plain) if value.has(sympy.E) else plain)
        text = re.sub(r"sqrt\((\w+)\)", r"√\1", text)
        text = re.sub(r"\*\*(\d+)", lambda m: m[1].translate(_SUPERSCRIPTS), text)
        return text.replace("**", "^").replace("*", "·").replace("-", "−")

    def ratio(self, top: Any, bottom: Any) -> str:
        """A number over a number."""
        above = self.number(top) if not top.is_Add else self.bracket(self.number(top))
        below = self.number(bottom)
        return f"{above}/{self.bracket(below) if bottom.is_Mul or bottom.is_Add else below}"

    def beside(self, before: str, after: str, dotted: bool) -> str:
        """What stands between two factors: nothing between short names, a dot after a scalar."""
        pair = before[-1:] + after[:1]
        called = pair == "tr" or any(pair in name for name in self.own)  # t·r(…) is no trace, d·x no dx
        return "" if _is_short(before) and _is_short(after) and not called else "·" if dotted else " "

    def after_number(self, value: Any, following: Expression) -> str:
        """What stands between a number and what it multiplies."""
        if value.is_Integer:
            while following.op in ("product", "scaled") and following not in self.names:
                following = following.args[0]
            return "" if _is_short(self._within(following, POSTFIX)) else " "
        return "·" if value.as_numer_denom()[1] == 1 else " · "

    # sums and products

    def _sum(self, x: Expression) -> tuple[str, int]:
        elementwise = any(_body(a).op in _ELEMENTWISE for a in x.args)
        text = ""
        for a in x.args:
            plain = elementwise and a not in self.names and _body(a).op in _CONSTANT and len(a.args) <= 1
            piece = self._signed(a.parts[0]) if plain else self._within(a, KRON)
            negative = piece.startswith(self.minus)  # which takes in all of a product
            sign = self.minus if negative else self.plus
            text += f" {sign} {piece.removeprefix(self.minus)}" if text else piece
        return text, SUM

    def _signed(self, value: Any) -> str:
        """A number, whose sign stands close to it."""
        value = decimal(value)
        if not value.could_extract_minus_sign():
            return self.number(value)
        return self.minus + (self.bracket(self.number(-value)) if value.is_Add else self.number(-value))

    def _scaled(self, x: Expression) -> tuple[str, int]:
        negative = x.data[0].could_extract_minus_sign()
        text, precedence = self._scaled_by(-x.data[0] if negative else x.data[0], x)
        return (self.minus + text, min(precedence, PRODUCT)) if negative else (text, precedence)

    def _scaled_by(self, value: Any, x: Expression) -> tuple[str, int]:
        _, scalars, bottom, body = x.parts
        value = decimal(value)
        top = [*scalars, body] if body != number(_ONE) else list(scalars)
        above, below = value.as_numer_denom()
        if bottom:
            return self.fraction(self._times(above, top, self.above), self._times(below, bottom, self.below)), PRODUCT
        if value == 1 and len(top) == 1:
            text, precedence = self._printed(top[0])
            return (text, precedence) if precedence >= KRON else (self.bracket(text), ATOM)
        if below == 1 or not top:
            return self._times(value, top, HADAMARD), PRODUCT
        rest = self._times(_ONE, top, PRODUCT)
        return self.ratio(above, below) + self.after_number(value, top[0]) + rest, PRODUCT

    def _times(self, value: Any, factors: Sequence[Expression], least: int) -> str:
        """A number and factors, scalars before arrays."""
        if not factors:
            return self.number(value)
        if value == 1 and len(factors) == 1:
            return self._within(factors[0], least)
        parts = [self._within(f, PRODUCT if f is factors[-1] and f.op != "scaled" else POSTFIX) for f in factors]
        text = "" if value == 1 else self.bracket(self.number(value)) if value.is_Add else self.number(value)
        text += "" if value == 1 else self.after_number(value, factors[0])
        for before, part in pairwise(["", *parts]):
            text += (self.beside(before, part, dotted=True) if before else "") + part
        return self.bracket(text) if least == POSTFIX else text

    def _product(self, x: Expression) -> tuple[str, int]:
        parts = []
        for a, run in groupby(x.args):
            count = sum(1 for _ in run)
            parts.append(self._within(a, POSTFIX) if count == 1 else self.raised(self._within(a, ATOM), str(count)))
        text = parts[0]
        for before, part in pairwise(parts):
            text += self.beside(before, part, dotted=False) + part
        return text, PRODUCT

    def _hadamard(self, x: Expression) -> tuple[str, int]:
        cut = len(x.args) - x.data
        parts = [self._within(a, PRODUCT) for a in x.args]
        top = f" {self.hadamard_sign} ".join(parts[:cut])
        if not x.data:
            return top, HADAMARD
        bottom = f" {self.hadamard_sign} ".join(parts[cut:])
        top = self.bracket(top) if cut > 1 else "1" if x.args[0].op in _CONSTANT else top
        is_several = x.data > 1 or x.args[-1].op == "scaled"
        return f"{top} {self.quotient_sign} {self.bracket(bottom) if is_several else bottom}", HADAMARD

    def _kron(self, x: Expression) -> tuple[str, int]:
        return f" {self.kron_sign} ".join(self._within(a, PRODUCT) for a in x.args), KRON

    def _leaf(self, x: Expression) -> tuple[str, int]:
        return self.name(x.data), ATOM

    def _number(self, x: Expression) -> tuple[str, int]:
        value = decimal(x.data)
        if value.is_Add:
            return self.number(value), SUM
        above, below = value.as_numer_denom()
        if below != 1 and not value.is_Float:
            sign = self.minus if value.could_extract_minus_sign() else ""
            return sign + self.ratio(abs(above) if above.is_number else above, below), PRODUCT
        return self._signed(value), ATOM if value.is_Atom and not value.could_extract_minus_sign() else PRODUCT

    def _symbol(self, x: Expression) -> tuple[str, int]:
        return self.symbol(x.op), PRODUCT if x.op == "all_ones" else ATOM

    def _unit(self, x: Expression) -> tuple[str, int]:
        return self.lowered(self.symbol("unit"), self.number(sympy.sympify(x.data))), ATOM

    _identity = _ones = _all_ones = _zero = _commutation = _symbol

    def _transpose(self, x: Expression) -> tuple[str, int]:
        (a,) = x.args
        if a.op == "inverse" and a not in self.names:
            return self.inverse_transposed(self._within(a.args[0], ATOM)), POSTFIX
        return self.transposed(self._within(a, ATOM)), POSTFIX

    def _inverse(self, x: Expression) -> tuple[str, int]:
        return self.inverse(self._within(x.args[0], ATOM)), POSTFIX

    def _power(self, x: Expression) -> tuple[str, int]:
        (a,), exponent = x.args, x.data
        if exponent == Fraction(1, 2):
            return self.root(self(a)), ATOM
        whole = exponent.denominator == 1 and exponent > 0
        if whole and a.op == "function" and a.data in _RAISED and a not in self.names:
            return self.raised(self.spelled(a.data), str(exponent)) + self.bracket(self(a.args[0])), ATOM
        base = self._within(a, ATOM)
        if x.is_scalar and exponent.denominator == 1:
            return self.raised(base, str(exponent)), POSTFIX
        shown = str(exponent).replace("-", self.minus)
        raised = self.scalar_power if x.is_scalar else self.elementwise_power
        return raised(base, shown if exponent.denominator == 1 else self.exponent(shown)), POSTFIX

    def _function(self, x: Expression) -> tuple[str, int]:
        if x.data == "absolute":
            return self.bars(self(x.args[0])), ATOM
        if x.data in self.comparisons or x.data in self.connectives or x.data in self.tests:
            return self.truth(self._stated(x, opened=True)), ATOM
        if x.data == "tie":
            a, b = map(self._compared, x.args)
            return self.call("where", f"[{a} = {b}], {self.ratio(_ONE, _ONE + _ONE)}, 1"), ATOM
        if x.data in ("power", "float_power"):
            base, exponent = x.args
            shown, precedence = self._printed(exponent)
            raised = self.scalar_power if x.is_scalar else self.elementwise_power
            return raised(self._within(base, ATOM), shown if precedence == ATOM else self.exponent(shown)), POSTFIX
        if x.data == "step":
            return f"[{self(x.args[0])} > 0]", ATOM
        args = [without_ones(x.args[0]), *x.args[1:]] if x.data == "where" else x.args
        shown = [self._compared(a, SUM) for a in args] if len(args) > 1 else map(self, args)
        return self.call(x.data, ", ".join(shown)), ATOM

    def _stated(self, x: Expression, opened: bool = False) -> str:
        """A truth value, or that a number is not zero, as a statement."""
        if x.op == "function" and (opened or x not in self.names):
            if x.data in self.comparisons:
                a, b = map(self._compared, x.args)
                return f"{a} {self.comparisons[x.data]} {b}"
            if x.data == "logical_not" and x.args[0].op != "function":
                return f"{self._within(x.args[0], HADAMARD)} {self.comparisons['equal']} 0"
            if x.data in self.connectives:
                return self._chained(x) or self.connectives[x.data].format(*map(self._joined, x.args))
            if x.data in self.tests:
                is_called = self.tests[x.data].endswith("({})")
                return self.tests[x.data].format(self(x.args[0]) if is_called else self._within(x.args[0], HADAMARD))
        return f"{self._within(x, HADAMARD)} {self.comparisons['not_equal']} 0"

    def _compared(self, x: Expression, least: int = KRON) -> str:
        """A side of a comparison, or of cases: a number where it is the same everywhere."""
        is_constant = x not in self.names and x.parts[-1].op in _CONSTANT and len(x.args) <= 1
        return self._signed(x.parts[0]) if is_constant else self._within(x, least)

    def _joined(self, x: Expression) -> str:
        sentences = {*self.connectives, *(name for name, said in self.tests.items() if not said.endswith("({})"))}
        is_joined = x.op == "function" and x not in self.names and x.data in sentences
        return self.bracket(self._stated(x)) if is_joined else self._stated(x)

    def _chained(self, x: Expression) -> str | None:
        """``a < x < b``, where two comparisons say so."""
        pairs = [ascending(a) for a in x.args if a not in self.names] if x.data == "logical_and" else []
        for first, second in (pairs, pairs[::-1]) if len(pairs) == 2 else ():
            if first and second and first[2] == second[0]:
                low, middle, high = map(self._compared, (first[0], first[2], second[2]))
                return f"{low} {self.comparisons[first[1]]} {middle} {self.comparisons[second[1]]} {high}"
        return None

    def _norm(self, x: Expression) -> tuple[str, int]:
        (a,) = x.args
        text = self.norm(self(a))
        if a.rows != 1 and a.columns != 1:
            text += "_F"
        return text if x.data == 1 else self.raised(text, str(x.data)), ATOM

    def _logdet(self, x: Expression) -> tuple[str, int]:
        return f"{self.spelled('log')}{self.bars(self.call('det', self(x.args[0])))}", ATOM

    def _called(self, x: Expression) -> tuple[str, int]:
        return self.call(x.op, ", ".join(map(self, x.args))), ATOM

    def _applied(self, x: Expression) -> tuple[str, int]:
        return self.applied(x.data.name, ", ".join(map(self, x.args))), ATOM

    _det = _trace = _diag = _diagonal = _total = _mean = _vec = _onehot = _called

    def _along(self, x: Expression) -> tuple[str, int]:
        name, axes = x.data if x.op == "reduction" else (x.op, x.data)
        whole = x.args[0].columns == 1 or x.args[0].rows == 1 or len(axes) == 2
        return self.call(name, self(x.args[0]) + ("" if whole else self.axis(axes[0]))), ATOM

    _softmax = _logsumexp = _reduction = _along

    def _picked(self, x: Expression) -> tuple[str, int]:
        whole, *index = x.args
        return self.indexed(self(whole), ",".join(map(self, index))), ATOM

    def _slice(self, x: Expression) -> tuple[str, int]:
        sizes = [d for d in (x.args[0].rows, x.args[0].columns) if d != 1]
        pairs = zip(x.data, sizes, strict=True)
        entries = [
            ":" if e == (0, d, 1) else spell_range(e[0], e[1], e[2], d) if isinstance(e, tuple) else str(e)
            for e, d in pairs
        ]
        return self.indexed(self._within(x.args[0], ATOM), ",".join(entries)), ATOM


def _body(x: Expression) -> Expression:
    """What is left of a summand without numbers in front and transposes."""
    x = x.parts[-1]
    return x.args[0] if x.op == "transpose" else x


def _is_short(text: str) -> bool:
    """True for one letter or one pair of brackets, with what is raised behind it."""
    bare = text.rstrip("ᵀ⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    if re.fullmatch(rf"\w[\u0300-\u036f]*[{LOWER_SIGNS}]*|𝟏|𝟏𝟏|‖[^‖]*‖|\|[^|]*\|", bare):
        return True
    depth = 0
    for k, c in enumerate(bare):
        depth += (c == "(") - (c == ")")
        if depth == 0 and k < len(bare) - 1:
            return False
    return bare.startswith("(")
