"""Sizes in a document: a number, a name, or sums, products and powers of them.

    size     = integer | name | {"add": [term, …]} | {"mul": [term, …]} | {"pow": [name or add, exponent]}
    term     = size | {"rational": [numerator, denominator]}
    exponent = an integer from -8 to 8, neither 0 nor 1

A name is a Python identifier; it stands for a positive integer. ``n*(n - 1)/2`` is
``{"mul": [{"rational": [1, 2]}, "n", {"add": ["n", -1]}]}``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import sympy

from ..errors import UnsupportedOperation
from ..program.dims import Dim, named_dim
from .field import Field
from .limits import (
    LARGEST_EXPONENT,
    LARGEST_SIZE,
    LONGEST_NAME,
    MOST_BITS,
    MOST_DIM_SIGNS,
    MOST_NAMES,
    MOST_SIGNS_OF_DIMS,
    MOST_TERMS,
)


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
    if isinstance(dim, sympy.Add):
        return {"add": [written_dim(a) for a in dim.args]}
    if isinstance(dim, sympy.Mul):
        return {"mul": [written_dim(a) for a in dim.args]}
    if isinstance(dim, sympy.Pow) and isinstance(dim.exp, sympy.Integer) and isinstance(dim.base, _BASES):
        return {"pow": [written_dim(dim.base), int(dim.exp)]}
    raise UnsupportedOperation(
        f"the JSON form has sums, products and powers of named dims, and a size here is {dim}; give sizes in place of "
        "the names, then all of them are numbers."
    )


_BASES = (sympy.Symbol, sympy.Add)
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"add": sympy.Add, "mul": sympy.Mul}


class Dims:
    """Reads sizes; equal ones are read once."""

    def __init__(self) -> None:
        self._known: dict[str, Dim] = {}
        self._met = 0
        #: name -> the named dim, for all that were met
        self.names: dict[str, sympy.Symbol] = {}

    def size(self, field: Field) -> Dim:
        """The size of an axis, or a place on one, at least 0 where it is a number."""
        if type(field.value) is int:
            return field.whole(0, LARGEST_SIZE)
        return self.whole(field)

    def whole(self, field: Field) -> Dim:
        """A size, a place, or a difference of these."""
        value = field.value
        if type(value) is int:
            return field.whole(-LARGEST_SIZE, LARGEST_SIZE)
        if type(value) is str:
            return self._name(field)
        signs = _signs(value)
        if type(value) is not dict or signs > MOST_DIM_SIGNS:
            field.fail(f"should be a whole number, a name, or an expression of at most {MOST_DIM_SIGNS} signs")
        key = repr(value)
        if key not in self._known:
            self._met += signs
            if self._met > MOST_SIGNS_OF_DIMS:
                field.fail(f"the sizes of this document have more than {MOST_SIGNS_OF_DIMS} signs together")
            made = self._expression(field)
            if made.is_Rational and not made.is_Integer:
                field.fail(f"a size cannot be {made}")
            self._known[key] = int(made) if made.is_Integer else made
        return self._known[key]

    def _name(self, field: Field) -> sympy.Symbol:
        name = field.text(LONGEST_NAME)
        if not name.isidentifier():
            field.fail(f"{name!r} cannot be the name of a size; it should be a Python identifier")
        if name not in self.names:
            if len(self.names) >= MOST_NAMES:
                field.fail(f"more than {MOST_NAMES} names of sizes")
            self.names[name] = named_dim(name)
        return self.names[name]

    def _expression(self, field: Field) -> sympy.Expr:  # recursion is bounded as the nesting of the document is
        value = field.value
        if type(value) is int:
            return sympy.Integer(field.whole(-LARGEST_SIZE, LARGEST_SIZE))
        if type(value) is str:
            return self._name(field)
        ((kind, inner),) = self._only_member(field)
        if kind == "rational":
            top, bottom = inner.items(2, 2)
            return sympy.Rational(top.whole(-LARGEST_SIZE, LARGEST_SIZE), bottom.whole(1, LARGEST_SIZE))
        if kind == "pow":
            base, exponent = inner.items(2, 2)
            power = exponent.whole(-LARGEST_EXPONENT, LARGEST_EXPONENT)
            made = self._expression(base)
            if power in (0, 1) or not isinstance(made, _BASES):
                inner.fail("a power is of a name or a sum, with an exponent that is neither 0 nor 1")
            return self._bounded(inner, made**power)
        terms = [self._expression(term) for term in inner.items(MOST_DIM_SIGNS, 2)]
        return self._bounded(inner, _FUNCTIONS[kind](*terms))

    def _only_member(self, field: Field) -> list[tuple[str, Field]]:
        if type(field.value) is not dict or len(field.value) != 1:
            field.fail("a size is a whole number, a name, or an object with one of add, mul, pow and rational")
        (key,) = field.value
        if key not in ("add", "mul", "pow", "rational"):
            field.fail(f"{key[:80]!r} should be one of add, mul, pow and rational")
        return list(field.pairs(1))

    def _bounded(self, field: Field, made: sympy.Expr) -> sympy.Expr:
        if terms(made) > MOST_TERMS:
            field.fail(f"multiplied out this size has more than {MOST_TERMS} terms")
        for number in made.atoms(sympy.Rational):
            if max(abs(int(number.p)).bit_length(), int(number.q).bit_length()) > MOST_BITS:
                field.fail(f"this size holds a number of more than {MOST_BITS} bits")
        return made


def _signs(value: Any) -> int:
    """The signs of an expression, counted no further than is needed."""
    count, pending = 0, [value]
    while pending and count <= MOST_DIM_SIGNS:
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
