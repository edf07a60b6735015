"""The expression tree of a form: what is printed and evaluated.

Every expression is a matrix of ``rows`` by ``columns``; a vector is a column, a scalar one by one. The functions
here build expressions and keep them as a person would write them: no double transposes, products flat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from ...program.dims import Dim
from ..symbols import unrounded


@dataclass(frozen=True)
class Expression:
    """``op`` applied to ``args``; ``data`` is what else the operation needs to know."""

    op: str
    args: tuple[Expression, ...] = ()
    data: Any = None
    rows: Dim = 1
    columns: Dim = 1
    #: how many transposes, and how many names of arrays, it is written with
    turns: int = field(default=0, compare=False, repr=False)
    leaves: int = field(default=0, compare=False, repr=False)
    _hash: int = field(default=0, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args, self.data, self.rows, self.columns)))
        object.__setattr__(self, "turns", sum(a.turns for a in self.args) + (self.op == "transpose"))
        object.__setattr__(self, "leaves", sum(a.leaves for a in self.args) + (self.op == "leaf"))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_scalar(self) -> bool:
        return self.rows == 1 and self.columns == 1

    @property
    def parts(self) -> tuple[Any, tuple[Expression, ...], tuple[Expression, ...], Expression]:
        """The number and the scalars in front, those below the line, and what they scale."""
        if self.op != "scaled":
            return _ONE, (), (), self
        coefficient, over = self.data
        cut = len(self.args) - 1 - over
        return coefficient, self.args[:cut], self.args[cut:-1], self.args[-1]

    def walk(self) -> Iterator[Expression]:
        """This expression and all inside it, each use of a shared one."""
        stack: list[Expression] = [self]
        while stack:
            e = stack.pop()
            yield e
            stack += e.args


_ONE = sympy.Integer(1)
#: operations that are done alike on rows and columns
_ALIKE = ("sum", "power", "hadamard", "function", "inverse")


def replaced(x: Expression, parts: Mapping[Expression, Expression]) -> Expression:
    """``x`` with others in place of some of its parts; recursion is over the tree, whose depth is bounded."""
    if x in parts:
        return parts[x]
    args = tuple([replaced(a, parts) for a in x.args])
    return x if args == x.args else replace(x, args=args)


def held(x: Expression) -> Expression:
    """``x`` as one piece until it is ``released``, whose sign is not turned."""
    return Expression("held", (x,), None, x.rows, x.columns)


def released(x: Expression) -> Expression:
    """``x`` without what was held; recursion is over the tree, whose depth is bounded."""
    args = tuple(map(released, x.args))
    return args[0] if x.op == "held" else x if args == x.args else replace(x, args=args)


def leaf(name: str, rows: Dim = 1, columns: Dim = 1) -> Expression:
    """A named array."""
    return Expression("leaf", (), name, rows, columns)


def number(value: Any) -> Expression:
    """A number, or a formula in named dims."""
    return Expression("number", (), sympy.sympify(value))


def ones(rows: Dim) -> Expression:
    """The vector of ones."""
    return number(1) if rows == 1 else Expression("ones", (), None, rows)


def identity(rows: Dim) -> Expression:
    """The identity matrix."""
    return Expression("identity", (), None, rows, rows)


def call(op: str, args: Sequence[Expression], data: Any = None, rows: Dim = 1, columns: Dim = 1) -> Expression:
    """Any other operation."""
    return Expression(op, tuple(args), data, rows, columns)


@lru_cache(maxsize=4096)
def transpose(x: Expression) -> Expression:
    """``xᵀ``, moved inside where that is no longer."""
    if x.is_scalar or x.op in ("diag", "identity"):
        return x
    if x.op == "transpose":
        return x.args[0]
    if x.op in ("all_ones", "zero"):
        return Expression(x.op, (), None, x.columns, x.rows)
    if x.op == "product":
        return product([transpose(a) for a in reversed(x.args)])
    if x.op == "scaled":
        coefficient, top, bottom, body = x.parts
        return scaled(coefficient, top, bottom, transpose(body))
    turned = [transpose(a) for a in x.args]
    if x.op == "softmax" and turned[0].turns <= x.turns:
        return Expression("softmax", tuple(turned), turned_axes(x.data), x.columns, x.rows)
    if x.op in _ALIKE and Counter(turned) == Counter(x.args) and (x.op == "sum" or turned == list(x.args)):
        return x  # symmetric
    if x.op in _ALIKE and x.op != "inverse" and sum(a.turns for a in turned) <= x.turns:
        return Expression(x.op, tuple(turned), x.data, x.columns, x.rows)
    return Expression("transpose", (x,), None, x.columns, x.rows)


def turned_axes(axes: tuple[int, ...]) -> tuple[int, ...]:
    """Axes of a matrix, as those of its transpose."""
    return tuple(sorted(1 - k for k in axes))


def product(factors: Iterable[Expression]) -> Expression:
    """The matrix product; numbers and scalars move to the front, identities vanish."""
    coefficient: Any = _ONE
    top: list[Expression] = []
    bottom: list[Expression] = []
    chain: list[Expression] = []
    pending = list(factors)
    rows, columns = pending[0].rows, pending[-1].columns
    while pending:
        number_in_front, above, below, f = pending.pop(0).parts
        coefficient = coefficient * number_in_front
        top += above
        bottom += below
        if f.op == "product":
            pending[:0] = f.args
        elif f.op == "number":
            coefficient = coefficient * f.data
        elif f.op != "identity" or not (chain or pending):
            chain.append(f)
    while len(chain) > 1 and any(f.is_scalar for f in chain):  # a scalar factor commutes
        k = next(k for k, f in enumerate(chain) if f.is_scalar)
        top.append(chain.pop(k))
    for k in range(len(chain) - 1, 0, -1):
        chain[k - 1 : k + 1] = _picked(chain[k - 1], chain[k])
    ends = chain[0].op == "transpose" and chain[0].args[0].op == "ones" if chain else False
    if ends and len(chain) > 2 and chain[-1].op == "ones":
        return scaled(coefficient, top, bottom, summed(product(chain[1:-1])))
    if not chain:
        body = identity(rows) if rows != 1 else number(1)
    else:
        body = chain[0] if len(chain) == 1 else Expression("product", tuple(chain), None, rows, columns)
    return scaled(coefficient, top, bottom, body)


def _picked(a: Expression, b: Expression) -> list[Expression]:
    """``onehot(y) A`` as ``A[y]``, and the transpose of that; two other factors as they are.

    That of a number is the column of the only row.
    """
    if a.op == "onehot" and b.op == "leaf" and a.columns != 1:
        return [call("picked", [b, *a.args], None, a.rows, b.columns)]
    if a.op == "transpose" and a.args[0].op == "onehot" and b.op == "leaf" and a.rows == 1:
        return [call("picked", [b, *a.args[0].args], None, 1, b.columns)]
    if a.op == "picked" and a.rows == 1 and b.op == "onehot" and b.columns == 1:
        return [call("picked", [*a.args, *b.args])]
    if a.op == b.op == "transpose":
        turned = _picked(b.args[0], a.args[0])
        return [a, b] if len(turned) > 1 else [transpose(turned[0])]
    return [a, b]


def summed(x: Expression) -> Expression:
    """The sum of all elements; numbers and scalars in front."""
    coefficient, top, bottom, body = x.parts
    return scaled(coefficient, top, bottom, call("total", [body]))


def scaled(coefficient: Any, top: Sequence[Expression], bottom: Sequence[Expression], body: Expression) -> Expression:
    """``coefficient · top / bottom · body`` with scalar expressions in front; its last argument is the body."""
    given, top, bottom = (*top, body), [], [*bottom]
    for x in given:
        inner, above, below, body = x.parts
        coefficient, top, bottom = coefficient * inner, [*top, *above, body], [*bottom, *below]
    *top, body = top
    if body.op == "number":
        coefficient = coefficient * body.data
        if not top and not bottom:
            return number(coefficient)
        *top, body = top or [number(1)]
        if body.op == "scaled":
            return scaled(coefficient, top, bottom, body)
    coefficient, (*top, body) = _averaged(unrounded(coefficient), [*top, body])
    if coefficient.could_extract_minus_sign():
        coefficient, body = _flipped(coefficient, body)
    if coefficient == 1 and not top and not bottom:
        return body
    bottom = sorted(bottom, key=lambda e: sorted(str(v.data) for v in e.walk() if v.op == "leaf"))
    return Expression("scaled", (*top, *bottom, body), (coefficient, len(bottom)), body.rows, body.columns)


def _averaged(coefficient: Any, factors: Sequence[Expression]) -> tuple[Any, list[Expression]]:
    """Sums as means where the number in front is over as many as are added up."""
    made = []
    for x in factors:
        if x.op in ("total", "mean"):
            (a,) = x.args
            count = sympy.sympify(a.rows * a.columns)
            plain = coefficient / count if x.op == "mean" else coefficient
            averaged = plain * count
            x = call("mean" if _denominator(plain) == _denominator(averaged) * count else "total", [a])
            coefficient = averaged if x.op == "mean" else plain
        made.append(x)
    return coefficient, made


def _denominator(value: Any) -> Any:
    return value.as_numer_denom()[1]


def _flipped(coefficient: Any, body: Expression) -> tuple[Any, Expression]:
    """``−(b − a)`` as ``a − b``, also where the sum is a factor of a product."""
    turned = _turned(body)
    return (coefficient, body) if turned is None else (-coefficient, turned)


def _turned(x: Expression) -> Expression | None:
    """``−x`` where a factor of ``x`` is a difference; among factors of elements one of values, not ``1 − h``."""
    if x.op == "sum":
        differs = any(_sign(a) < 0 for a in x.args)
        return total([scaled(sympy.Integer(-1), [], [], a) for a in x.args]) if differs else None
    if x.op not in ("product", "hadamard", "total", "mean", "transpose"):
        return None
    for k, f in enumerate(x.args[: len(x.args) - (x.data or 0)] if x.op == "hadamard" else x.args):
        alone = sum(f in (g, transpose(g)) for g in x.args) == 1
        constant = x.op == "hadamard" and f.op == "sum" and not all(a.leaves for a in f.args)
        turned = None if constant or not alone else _turned(f)
        if turned is not None:
            return replace(x, args=(*x.args[:k], turned, *x.args[k + 1 :]))
    return None


def _sign(x: Expression) -> int:
    value = x.data if x.op == "number" else x.parts[0]
    return -1 if value.could_extract_minus_sign() else 1


def total(terms: Sequence[Expression]) -> Expression:
    """The sum of terms, in the order that people write: positive ones first, identities and plain numbers last."""
    terms = [scaled(_ONE * k, [], [], x) for x, k in Counter(x for x in terms if x.op != "zero").items()] or terms[:1]
    if len(terms) == 1:
        return terms[0]

    def late(x: Expression) -> tuple:
        body = x.parts[-1]
        return _sign(x) < 0, body.op == "identity", body.op == "transpose", x.op == "scaled" and len(x.args) > 1

    ordered = sorted(terms, key=late)
    return Expression("sum", tuple(ordered), None, terms[0].rows, terms[0].columns)


def hadamard(top: Sequence[Expression], bottom: Sequence[Expression] = ()) -> Expression:
    """The elementwise product of ``top`` over that of ``bottom``; numbers and scalars in front."""
    coefficient: Any = _ONE
    scalars: list[Expression] = []
    below: list[Expression] = []
    arrays: list[Expression] = []
    rows, columns = next((x.rows, x.columns) for x in (*top, *bottom))
    for x in top:
        number_in_front, above, under, x = x.parts
        coefficient = coefficient * number_in_front
        scalars += above
        below += under
        arrays += x.args if x.op == "hadamard" and not x.data else (x,)
    if len(arrays) > 1:
        arrays = [x for x in arrays if x.op != "ones"] or arrays[:1]
    arrays = [power(x, Fraction(k)) for x, k in Counter(arrays).items()]
    bottom = [power(x, Fraction(k)) for x, k in Counter(bottom).items()]
    if len(arrays) == 1 and not bottom:
        return scaled(coefficient, scalars, below, arrays[0])
    if not arrays:
        arrays = [_all_ones(rows, columns)]
    arrays.sort(key=lambda x: x.op == "sum")
    body = Expression("hadamard", (*arrays, *bottom), len(bottom), rows, columns)
    return scaled(coefficient, scalars, below, body)


def without_ones(x: Expression) -> Expression:
    """``c`` where ``x`` is ``c·𝟏``, the same truth everywhere; else ``x``."""
    coefficient, top, bottom, body = x.parts
    return scaled(coefficient, top, bottom, number(_ONE)) if top and body.op in ("ones", "all_ones") else x


def _all_ones(rows: Dim, columns: Dim) -> Expression:
    return ones(rows) if columns == 1 else product([ones(rows), transpose(ones(columns))])


def power(x: Expression, exponent: Fraction) -> Expression:
    """``x`` to a power, elementwise."""
    if exponent == 1:
        return x
    if x.op == "number":
        return number(x.data ** sympy.Rational(exponent))
    if x.op == "zero" and exponent > 0:
        return x
    if x.op in ("norm", "power") and (x.op == "norm" or x.is_scalar):
        return power(x.args[0], x.data * exponent) if x.op == "power" else norm(x.args[0], x.data * exponent)
    if x.op == "function" and x.data == "exp":
        inner = scaled(sympy.Rational(exponent), [], [], x.args[0])
        return call("function", [inner], "exp", x.rows, x.columns)
    if x.op == "transpose":
        return transpose(power(x.args[0], exponent))
    return Expression("power", (x,), exponent, x.rows, x.columns)


def norm(x: Expression, exponent: Fraction) -> Expression:
    """The norm of ``x`` to a power; of the differences from one value it is ``‖x − μ𝟏‖``."""
    turned = _turned(x) if x.op == "sum" and x.args[0].leaves and not x.args[0].parts[-1].leaves else None
    return call("norm", [x if turned is None else turned], exponent)


def diag(v: Expression) -> Expression:
    """The diagonal matrix of a vector."""
    if v.op == "ones":
        return identity(v.rows)
    coefficient, top, bottom, body = v.parts
    if body is not v:
        return scaled(coefficient, top, bottom, diag(body))
    return Expression("diag", (v,), None, v.rows, v.rows)


def vec(x: Expression) -> Expression:
    """The entries of a matrix row by row, as a column."""
    return call("vec", [x], None, x.rows * x.columns)


def kron(a: Expression, b: Expression) -> Expression:
    """The Kronecker product; numbers and scalars in front."""
    (m, top, bottom, a), (n, above, below, b) = a.parts, b.parts
    whole = Expression("kron", (a, b), None, a.rows * b.rows, a.columns * b.columns)
    return scaled(m * n, [*top, *above], [*bottom, *below], whole)
