"""Names and numbers of closed forms: symbols that are safe to print, floats that read as written."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from ..program.node import Node
from ..program.program import Program
from .cases import cases, is_truth_value
from .letters import SafeName, name_latex

#: denominators that a float is read as, and characters of a decimal that is taken as it was typed
_SMALL, _TYPED = 30, 16
#: how many times a constant of mathematics a float is read as
_MAX_TIMES = 1000
#: digits of a decimal that a float is read as which is computed, and units in the last place that it may be off
_SHORT, _ROUNDED = 6, 8
_INDEX_LETTERS = "ijklmnpqrstuv"


def safe_name(label: str) -> str:
    """``label`` as a symbol name of letters, digits and underscores only; never markup or code.

    >>> safe_name("fc.weight"), safe_name("<img onerror=1>")
    ('fc_weight', 'img_onerror_1')
    """
    if isinstance(label, SafeName):
        return str(label)
    name = re.sub(r"\W+", "_", label).strip("_") or "arg"
    return f"x_{name}" if name[0].isdigit() else name


def safe_names(labels: Iterable[str]) -> list[str]:
    """``safe_name`` of each, made distinct, as names and as they are typeset.

    >>> safe_names(["a.b", "a_b", "x1", "x_1"])
    ['a_b', 'a_b_2', 'x1', 'x_1_2']
    """
    taken: set[str] = set()
    names = []
    for label in labels:
        name = base = safe_name(label)
        count = 1
        while name_latex(name) in taken:
            count += 1
            name = f"{base}_{count}"
        taken.add(name_latex(name))
        names.append(name)
    return names


def leaf_names(program: Program) -> dict[Node, str]:
    """What inputs and captured arrays are called."""
    return dict(zip(program.inputs, safe_names(program.names), strict=True)) | captured_names(program)


def captured_names(program: Program) -> dict[Node, str]:
    """What captured arrays are called, beside the inputs: by the user's names where they have one of their own."""
    held = [n for n in program.nodes if n.primitive.name == "constant"]
    taken = {name_latex(name) for name in safe_names(program.names)}
    labels = []
    for k, node in enumerate(held):
        own = node.params[0].label
        is_free = bool(own) and name_latex(safe_name(own)) not in taken
        labels.append(own if is_free else f"c_{k}")
        taken.add(name_latex(safe_name(labels[-1])))
    return dict(zip(held, safe_names([*program.names, *labels])[len(program.names) :], strict=True))


def binding_names(program: Program) -> dict[Node, str]:
    """``v_0``, ``v_1``, … for the bindings of a program, in order; another letter where an input has that one."""
    taken = {re.split(r"[_\d]", name)[0] for name in safe_names(program.names)}
    letter = next((c for c in "vwuyzabdgh" if c not in taken), "bound")
    return {n: f"{letter}_{k}" for k, n in enumerate(program.bindings)}


def symbol(name: str, dtype: np.dtype) -> sympy.Symbol:
    """The symbol of a number: a real one, unless it is complex."""
    return sympy.Symbol(name) if dtype.kind == "c" else sympy.Symbol(name, real=True)


def number(value: Any) -> sympy.Basic:
    """A Python or NumPy scalar as sympy reads it: exact where the float is a short fraction.

    So is what a reader would have written: thirds, sevenths and the like, multiples of π, √2 and their kin, to the last
    digit of a double.

    >>> number(0.5), number(2.0), number(np.sqrt(2)), number(np.pi / 2), number(1 / 3), float(number(1 - 0.9))
    (1/2, 2, sqrt(2), pi/2, 1/3, 0.1)
    """
    if isinstance(value, (bool, np.bool_)):
        return sympy.true if value else sympy.false
    if isinstance(value, (int, np.integer)):
        return sympy.Integer(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return number(value.real) + sympy.I * number(value.imag)
    value = float(value)
    if math.isnan(value):
        return sympy.nan
    if math.isinf(value):
        return sympy.oo if value > 0 else -sympy.oo
    exact = Fraction(value)
    if exact.denominator <= 64 and abs(exact.numerator) < 10**9:
        return sympy.Rational(exact.numerator, exact.denominator)
    near = exact.limit_denominator(_SMALL)
    if len(repr(value)) > _TYPED and abs(near.numerator) < _SMALL**2 and abs(float(near) - value) <= math.ulp(value):
        return sympy.Rational(near.numerator, near.denominator)  # no decimals that somebody has typed
    known = _multiple_of_constant(value)
    if known is not None:
        return known
    return sympy.Float(repr(_unrounded(value)))


def unrounded(value: Any) -> sympy.Basic:
    """The short decimal, or the whole number, that a number of sympy's is but for rounding.

    >>> unrounded(sympy.Float(0.1) * 10), float(unrounded(1 - sympy.Float(0.9)))
    (1, 0.1)
    """
    if not value.is_Float:
        return value
    plain = _unrounded(float(value))
    return sympy.Integer(int(plain)) if plain.is_integer() and abs(plain) < 1e9 else sympy.Float(repr(plain))


def _unrounded(value: float) -> float:
    """``value``, or the short decimal that it is but for rounding, such as 1 - 0.9, which is 0.09999999999999998."""
    short = float(f"{value:.{_SHORT}g}")
    return short if abs(short - value) <= _ROUNDED * math.ulp(value) else value


@functools.lru_cache(maxsize=4096)
def _multiple_of_constant(value: float) -> sympy.Expr | None:
    """The constant that ``value`` is a simple multiple of, rounded once more on its way."""
    if not 1e-99 < abs(value) < 1e99:
        return None
    constants, sizes = _known_constants()
    times = value / sizes * np.arange(1, _SMALL + 1)
    whole = np.rint(times)
    near = (np.abs(times - whole) <= 1e-15 * np.abs(times)) & (whole != 0) & (np.abs(whole) <= _MAX_TIMES)
    for k, divisor in np.argwhere(near):
        made = constants[k] * sympy.Rational(int(whole[k, divisor]), int(divisor) + 1)
        if abs(float(made) - value) <= math.ulp(value):
            return made
    return None


@functools.cache
def _known_constants() -> tuple[list[sympy.Expr], np.ndarray]:
    """Constants of formulas and their reciprocals, and a column of their sizes."""
    roots = [sympy.sqrt(k) for k in (2, 3, 5, 6, 7, 10)]
    pi = sympy.pi
    logarithms = map(sympy.log, (2, 3, 10, pi, 2 * pi))
    bases = [pi, sympy.sqrt(pi), sympy.sqrt(2 * pi), pi**2, sympy.E, *logarithms, *roots, pi / 180]
    constants = [c for base in bases for c in (base, 1 / base)]
    return constants, np.array([[float(c)] for c in constants])


class Indices:
    """Fresh index symbols ``i, j, k, …`` that no input of the program is called."""

    def __init__(self, program: Program, others: Iterable[str] = ()) -> None:
        """No index is called as what the program reads, nor as ``others``."""
        taken = {*leaf_names(program).values(), *(str(d) for n in program.inputs for d in n.shape), *others}
        self._letters = [c for c in _INDEX_LETTERS if c not in taken]
        self._count = 0
        #: what each index stays below
        self.sizes: dict[Any, Any] = {}

    def fresh(self, size: Any) -> sympy.Symbol:
        """The next index, of an axis of this size."""
        letter = self._letters[self._count % len(self._letters)]
        turn = self._count // len(self._letters)
        self._count += 1
        index = sympy.Symbol(f"{letter}_{turn}" if turn else letter, integer=True, nonnegative=True)
        self.sizes[index] = size
        return index

    def rewind(self, count: int) -> None:
        """Start over after the first ``count`` indices."""
        self._count = count


def is_condition(expr: Any) -> bool:
    """True for a truth value, which sympy keeps apart from numbers."""
    return isinstance(expr, (sympy.logic.boolalg.Boolean, bool)) and not isinstance(expr, sympy.Symbol)


def as_condition(expr: Any) -> Any:
    """``expr`` as a truth value: itself, or ``expr ≠ 0``."""
    return expr if is_condition(expr) else sympy.Ne(expr, 0)


def as_statement(expr: Any) -> Any:
    """A truth value that a formula has as a number, as a truth value again."""
    return as_condition(expr.args[0].cond if is_truth_value(expr) else expr)


def as_number(expr: Any) -> Any:
    """``expr`` as a number: a truth value counts 1 or 0."""
    return cases((1, expr), (0, True)) if is_condition(expr) else expr


_IS_FINITE = sympy.Function("isfinite", real=True)


def gated(m: Any, t: Any) -> Any:
    """``m · t`` where a zero of ``m`` wins: cases stay cases, so that nothing infinite is multiplied by 0.

    A product in which zeros of both factors win (``gate_of_both``) reads as a product.
    """
    if isinstance(m, sympy.Or) and len(m.args) == 2 and any(a.has(_IS_FINITE) for a in m.args):
        return as_number(t)
    if is_condition(m):
        return cases((as_number(t), m), (0, True))
    if isinstance(m, sympy.Piecewise):
        pairs: Any = m.args
        return cases(*[(value * as_number(t), test) for value, test in pairs])
    return m * as_number(t)


#: parts of formulas of which sympy finds the largest
_MAX_COMPARED = 30
#: operations on bits, which on truth values are connectives
_ON_TRUTH = {"bitand": sympy.And, "bitor": sympy.Or, "bitxor": sympy.Xor, "xor": sympy.Xor, "invert": sympy.Not}


def _extreme(kind: Any, values: list[Any]) -> Any:
    """The largest or the least of ``values``: long ones as they are, which sympy would compare for seconds."""
    parts = itertools.chain.from_iterable([sympy.preorder_traversal(sympy.sympify(v)) for v in values])
    if next(itertools.islice(parts, _MAX_COMPARED, None), None) is None:
        return kind(*values)
    flat = dict.fromkeys(a for v in values for a in (v.args if isinstance(v, kind) else (v,)))
    return kind(*flat, evaluate=False) if len(flat) > 1 else values[0]


def instantiate(expr: sympy.Basic, slots: tuple, values: list[Any]) -> sympy.Basic:
    """A template's formula with its slots filled in."""
    if isinstance(expr, sympy.Piecewise) and len(values) == 3:  # where: the first slot is a condition
        test, yes, no = values
        return cases((as_number(yes), as_condition(test)), (as_number(no), True))
    if isinstance(expr, (sympy.And, sympy.Or)):
        return expr.func(*map(as_condition, values))
    connective = _ON_TRUTH.get(type(expr).__name__)
    if connective is not None and all(map(is_condition, values)):
        return connective(*values)
    if expr.func is sympy.Eq and expr.args[1] == 0 and len(values) == 1:
        return sympy.Not(as_condition(values[0]))
    filled = {s: as_number(v) for s, v in zip(slots, values, strict=False)}
    if isinstance(values[0], (sympy.Max, sympy.Min)):  # of what is finite; see ``reals``
        if isinstance(expr, (sympy.Eq, sympy.Ne)) and values[1] in (sympy.oo, -sympy.oo):
            return sympy.true if isinstance(expr, sympy.Ne) else sympy.false
        if type(expr).__name__ in ("isfinite", "isnan"):
            return sympy.true if type(expr).__name__ == "isfinite" else sympy.false
    if isinstance(expr, (sympy.Max, sympy.Min)):
        return _extreme(expr.func, [filled.get(a, a) for a in expr.args])
    return sympy.sympify(expr.xreplace(filled))
