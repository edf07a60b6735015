"""Sizes in a document, and what must be true of them.

    size     = integer | name | {"add": [term, …]} | {"mul": [term, …]} | {"pow": [name or add, exponent]}
    term     = size | {"rational": [numerator, denominator]}
    exponent = an integer from -8 to 8, neither 0 nor 1

A name is a Python identifier; it stands for a positive integer. ``n*(n - 1)/2`` is
``{"mul": [{"rational": [1, 2]}, "n", {"add": ["n", -1]}]}``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy

from ..errors import UnsupportedOperation
from ..program.dims import Dim, Shape, is_named, named_dim, normal, value_of
from ..program.facts import HOLDS, spelled_fact
from .forms import Form, Listed, Made, Tagged, Text, Whole, Wrong, described, pair
from .limits import (
    LARGEST_EXPONENT,
    LARGEST_SIZE,
    MAX_AXES,
    MAX_BITS,
    MAX_DIM_SIGNS,
    MAX_ELEMENTS,
    MAX_NAMES,
    MAX_SIGNS_OF_DIMS,
    MAX_TERMS,
    MAX_TERMS_COMPARED,
)

Fact = tuple[sympy.Expr, str]


class _Term(Form):
    """A size, or a part of one, as sympy's expression."""

    def read(self, value, known=None):  # recursion is bounded as the nesting of the document is
        assert known is not None
        if type(value) is int:
            return sympy.Integer(_NUMBER.read(value))
        if type(value) is str:
            return known.named(_NAME.read(value))
        if type(value) is not dict:
            raise Wrong("a size is a whole number, a name, or an object with one of add, mul, pow and rational")
        kind, parts = _EXPRESSION.read(value, known)
        try:
            return _combined(kind, parts)
        except Wrong as wrong:
            raise wrong.within(kind) from None

    def schema(self, defs):
        return {"oneOf": [form.schema(defs) for form in (_NUMBER, _NAME, _EXPRESSION)]}


def _combined(kind: str, parts: tuple) -> sympy.Expr:
    if kind == "rational":
        return sympy.Rational(*parts)
    if kind == "pow":
        base, power = parts
        if power in (0, 1) or not isinstance(base, _BASES):
            raise Wrong("a power is of a name or a sum, with an exponent that is neither 0 nor 1")
        made = base**power
    else:
        made = (sympy.Add if kind == "add" else sympy.Mul)(*parts)
    if terms(made) > MAX_TERMS:
        raise Wrong(f"multiplied out this size has more than {MAX_TERMS} terms")
    for number in made.atoms(sympy.Rational):
        if max(abs(int(number.p)).bit_length(), int(number.q).bit_length()) > MAX_BITS:
            raise Wrong(f"this size holds a number of more than {MAX_BITS} bits")
    return made


_BASES = (sympy.Symbol, sympy.Add)
_NUMBER = Whole(-LARGEST_SIZE, LARGEST_SIZE)
_NAME = Text(says="{} cannot be the name of a size; it should be a Python identifier", fits=str.isidentifier)
_TERM = _Term().named("size")
_TERMS = Listed(_TERM, MAX_DIM_SIGNS, 2)
_POWER = pair(_TERM, Whole(-LARGEST_EXPONENT, LARGEST_EXPONENT))
_EXPRESSION = Tagged({"add": _TERMS, "mul": _TERMS, "pow": _POWER, "rational": pair(_NUMBER, Whole(1, LARGEST_SIZE))})


class Size(Form):
    """A size, or a place on an axis: at least ``low`` where it is a number."""

    def __init__(self, low: int) -> None:
        self._numbers = Whole(low, LARGEST_SIZE)

    def write(self, value):
        return value if type(value) is int else written_dim(value)

    def read(self, value, known=None):
        assert known is not None
        return self._numbers.read(value) if type(value) is int else known.dim(value)

    def schema(self, defs):
        return described(_TERM, defs)


def _shape(shape: Shape, known: Any) -> Shape:
    """A shape of an array that a machine could hold."""
    if math.prod([max(d, 1) for d in shape if isinstance(d, int)]) > MAX_ELEMENTS:
        raise Wrong(f"an array of shape {shape_text(shape)} has more than {MAX_ELEMENTS} elements")
    return shape


SIZE, PLACE = Size(0), Size(-LARGEST_SIZE)
SHAPE = Made(Listed(SIZE, MAX_AXES), _shape, tuple).named("shape")


def written_dim(dim: Dim) -> Any:
    """A size as JSON.

    >>> n = named_dim("n")
    >>> written_dim(n * (n - 1) / 2)
    {'mul': [{'rational': [1, 2]}, 'n', {'add': [-1, 'n']}]}
    """
    if isinstance(dim, int):
        return dim
    if isinstance(dim, sympy.Symbol):
        return dim.name
    if isinstance(dim, sympy.Integer):
        return int(dim)
    if isinstance(dim, sympy.Rational):
        return {"rational": [int(dim.p), int(dim.q)]}
    if isinstance(dim, (sympy.Add, sympy.Mul)):
        return {"add" if isinstance(dim, sympy.Add) else "mul": [written_dim(a) for a in dim.args]}
    if isinstance(dim, sympy.Pow) and isinstance(dim.exp, sympy.Integer) and isinstance(dim.base, _BASES):
        return {"pow": [written_dim(dim.base), int(dim.exp)]}
    raise UnsupportedOperation(
        f"the JSON form has sums, products and powers of named dims, and a size here is {dim}; give sizes in place of "
        "the names, then all of them are numbers."
    )


class Sizes:
    """What is known of sizes while a document is read: those that were met, of which equal ones are read once.

    ``open`` are facts that only the sizes of a call can tell.
    """

    def __init__(self) -> None:
        #: name -> the named dim, for all that were met
        self.names: dict[str, sympy.Symbol] = {}
        self.open: dict[Fact, None] = {}
        self._known: dict[str, Dim] = {}
        self._met = self._compared = 0
        self._normal: dict[Any, Dim] = {}
        self._settled: set[tuple[Any, str]] = set()

    def named(self, name: str) -> sympy.Symbol:
        """The named dim of this name."""
        if name not in self.names:
            if len(self.names) >= MAX_NAMES:
                raise Wrong(f"more than {MAX_NAMES} names of sizes")
            self.names[name] = named_dim(name)
        return self.names[name]

    def dim(self, value: Any) -> Dim:
        """The size that is no number."""
        if type(value) is str:
            return _TERM.read(value, self)
        signs = _signs(value)
        if type(value) is not dict or signs > MAX_DIM_SIGNS:
            raise Wrong(f"should be a whole number, a name, or an expression of at most {MAX_DIM_SIGNS} signs")
        key = repr(value)
        if key not in self._known:
            self._met += signs
            if self._met > MAX_SIGNS_OF_DIMS:
                raise Wrong(f"the sizes of this document have more than {MAX_SIGNS_OF_DIMS} signs together")
            made = _TERM.read(value, self)
            if made.is_Rational and not made.is_Integer:
                raise Wrong(f"a size cannot be {made}")
            self._known[key] = int(made) if made.is_Integer else made
        return self._known[key]

    def require_nonnegative(self, dim: Dim, message: str, *place: str | int) -> None:
        """``dim`` is at least 0; ``message`` says of ``place`` what is wrong where it is not."""
        self._require(dim, "nonnegative", message, place)

    def require_equal(self, left: Dim, right: Dim, message: str, *place: str | int) -> None:
        """Two sizes are the same."""
        if left != right:
            self._require(left - right, "zero", message, place)

    def require_alike(self, left: Shape, right: Shape, what: str, *place: str | int) -> None:
        """Two shapes are the same."""
        message = f"{what} should have the same shape; they have {shape_text(left)} and {shape_text(right)}"
        if len(left) != len(right):
            raise Wrong(message, *place)
        for a, b in zip(left, right, strict=True):
            self.require_equal(a, b, message, *place)

    def _require(self, dim: Dim, sign: str, message: str, place: tuple) -> None:
        if (dim, sign) in self._settled:
            return
        known = self._holds(dim, sign)
        if known is False:
            raise Wrong(message, *place)
        if known is None:
            self.open[self._normal[dim], sign] = None
        self._settled.add((dim, sign))

    def _holds(self, dim: Dim, sign: str) -> bool | None:
        if is_named(dim):
            if dim not in self._normal:
                self._compared += terms(dim)
                if self._compared > MAX_TERMS_COMPARED:
                    raise Wrong(f"the sizes of this document have more than {MAX_TERMS_COMPARED} terms to compare")
                self._normal[dim] = normal(dim)
            dim = self._normal[dim]
        if not is_named(dim):
            return HOLDS[sign](dim)
        return dim.is_zero if sign == "zero" else dim.is_nonnegative


def _signs(value: Any) -> int:
    """The signs of an expression, counted no further than is needed."""
    count, pending = 0, [value]
    while pending and count <= MAX_DIM_SIGNS:
        v = pending.pop()
        count += 1
        if type(v) is dict:
            pending += v.values()
        elif type(v) is list:
            pending += v
    return count


def terms(dim: Dim) -> int:
    """At most how many terms a size has when it is multiplied out.

    >>> n, m = named_dim("n"), named_dim("m")
    >>> terms((n + m) ** 2), terms((n + 1) * (m + 1)), terms(3)
    (3, 4, 1)
    """
    if isinstance(dim, sympy.Add):
        return sum(map(terms, dim.args))
    if isinstance(dim, sympy.Mul):
        return math.prod(map(terms, dim.args))
    if isinstance(dim, sympy.Pow):
        inner = terms(dim.base)
        return math.comb(inner + abs(int(dim.exp)) - 1, abs(int(dim.exp)))
    return 1


def multiplied(shape: Shape) -> Dim:
    """The number of elements."""
    total: Dim = 1
    count = 1
    for d in shape:
        count *= terms(d)
        if count > MAX_TERMS:
            raise Wrong(f"multiplied out this number of elements has more than {MAX_TERMS} terms")
        total = total * d
    return total


def first_broken(facts: Iterable[Fact], sizes: Mapping[sympy.Symbol, int]) -> str | None:
    """The first of the facts that is not so for these sizes, as text; None where all are."""
    return next((spelled_fact(dim, sign) for dim, sign in facts if not HOLDS[sign](value_of(dim, sizes))), None)


def shape_text(shape: Sequence[Dim]) -> str:
    """A shape as the text form of a Program has it."""
    return "[" + ",".join(map(str, shape)) + "]"
