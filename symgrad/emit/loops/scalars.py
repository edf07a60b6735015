"""Elementwise functions in the loop language: which operation, in which dtypes; synonyms are spelled out here, once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import UnsupportedOperation
from ...primitives.elementwise import Elementwise
from ...program.node import Node
from .language import OPERATIONS, Apply, Cast, Expression, Literal, Name, Size

BOOL, I64, F64, F32 = (np.dtype(t) for t in (np.bool_, np.int64, np.float64, np.float32))
#: exponents up to which a power is a product
_MAX_FACTORS = 4
_LOGICAL = ("logical_and", "logical_or", "logical_xor", "logical_not")
_WHOLE = ("floor", "ceil", "trunc", "rint")


def constant(value: object, dtype: np.dtype) -> Literal:
    """A literal of a dtype.

    >>> constant(1, np.dtype(np.float64))
    Literal(value=1.0, dtype=dtype('float64'))
    """
    return Literal(dtype.type(value).item(), dtype)


def cast(e: Expression, dtype: np.dtype) -> Expression:
    """An expression in a dtype; a literal, a size or a change of a change is made there at once."""
    if e.dtype == dtype:
        return e
    if isinstance(e, Literal):
        if dtype.kind in "iu" and e.value != (int(e.value) if math.isfinite(e.value) else None):
            return Cast(e, dtype)
        return constant(e.value, dtype)
    if isinstance(e, Size) and dtype.kind != "b":
        return Size(e.dim, dtype)
    return Cast(e, dtype)


def checked(node: Node) -> Node:
    """The node, whose dtype the loop language has."""
    dtype = node.dtype
    if dtype.kind not in "biuf" or (dtype.kind == "f" and dtype not in (F32, F64)):
        raise UnsupportedOperation(
            f"{node.primitive.name} in {dtype} has no form in loops; cast to float32 or float64 in the function."
        )
    return node


def loop_dtypes(node: Node) -> tuple[np.dtype, ...]:
    """The dtypes in which a template node takes its operands."""
    assert isinstance(node.primitive, Elementwise)
    return node.primitive.loop_dtypes(node.operands)[:-1]


def elementwise(node: Node, operands: Sequence[Expression]) -> Expression:
    """The value of a template node."""
    name, made = node.primitive.name, node.dtype
    loop = loop_dtypes(node)
    if any(d.kind == "f" and d not in (F32, F64) for d in loop):
        raise UnsupportedOperation(f"{name} in {loop[0]} has no form in loops; cast to float32 or float64 first.")
    if name == "where":
        return Apply("where", (cast(operands[0], BOOL), cast(operands[1], made), cast(operands[2], made)), made)
    if name in _LOGICAL:
        return Apply(name, tuple([cast(o, BOOL) for o in operands]), BOOL)
    values = tuple([cast(o, d) for o, d in zip(operands, loop, strict=True)])
    return cast(_computed(name, node, values, loop), made)


def _computed(name: str, node: Node, values: tuple[Expression, ...], loop: tuple[np.dtype, ...]) -> Expression:
    """The operation in the dtypes of its loop."""
    first, own = values[0], loop[0]
    floating = own.kind == "f"
    if name in ("conjugate", "positive") or (not floating and name in _WHOLE):
        return first
    if name == "square":
        return _product([first, first], own)
    if name == "reciprocal" and floating:
        return Apply("divide", (constant(1, own), first), own)
    if not floating and name in ("isnan", "isinf", "isfinite"):
        return constant(name == "isfinite", BOOL)
    if own.kind in "bu" and name == "absolute":
        return first
    if name == "power":
        found = _power(node, values, own)
        if found is not None:
            return found
    if own == BOOL and name in ("add", "multiply", "maximum", "minimum", "fmax", "fmin"):
        return Apply("logical_or" if name in ("add", "maximum", "fmax") else "logical_and", values, BOOL)
    if own == BOOL and name in ("bitwise_and", "bitwise_or", "bitwise_xor", "invert"):
        return Apply(name.replace("bitwise", "logical").replace("invert", "logical_not"), values, BOOL)
    if not floating and name in ("fmax", "fmin"):
        name = name.replace("f", "") + "imum"
    if name not in OPERATIONS:
        raise UnsupportedOperation(f"{node.primitive.name} has no form in loops; export it as python or json.")
    return Apply(name, values, node.dtype if node.dtype.kind == "b" else _result(name, loop))


def _result(name: str, loop: tuple[np.dtype, ...]) -> np.dtype:
    """The dtype of an operation; of ldexp, whose operands are of two kinds, that of the first."""
    return loop[0]


def _power(node: Node, values: tuple[Expression, ...], own: np.dtype) -> Expression | None:
    """A power by a small whole number as products."""
    exponent = values[1]
    if not isinstance(exponent, Literal):
        return None
    if exponent.value == -1 and own.kind == "f":
        return Apply("divide", (constant(1, own), values[0]), own)
    if exponent.value in range(1, _MAX_FACTORS + 1):
        return _product([values[0]] * int(exponent.value), own)
    return None


def _product(factors: Sequence[Expression], dtype: np.dtype) -> Expression:
    """The factors multiplied from the left, truth values as NumPy has them."""
    made = factors[0]
    for f in factors[1:]:
        made = Apply("logical_and" if dtype == BOOL else "multiply", (made, f), dtype)
    return made


def product(factors: Sequence[Expression], dtype: np.dtype) -> Expression:
    """The product of factors cast to a dtype: ones are left out, minus one is a sign."""
    cast_ones = [cast(f, dtype) for f in factors]
    kept = [f for f in cast_ones if not (isinstance(f, Literal) and f.value == 1)]
    negative = dtype != BOOL and any(isinstance(f, Literal) and f.value == -1 for f in kept)
    if negative:
        found = next(k for k, f in enumerate(kept) if isinstance(f, Literal) and f.value == -1)
        kept = kept[:found] + kept[found + 1 :]
    if not kept:
        return constant(-1 if negative else 1, dtype)
    if negative:
        kept[0] = Apply("negative", (kept[0],), dtype)
    return _product(kept, dtype)


def gated(m: Expression, t: Expression, dtype: np.dtype) -> Expression:
    """``m · t`` where ``m`` is not zero, else 0."""
    if m.dtype == BOOL:
        return Apply("where", (m, cast(t, dtype), constant(0, dtype)), dtype)
    held = Apply("not_equal", (m, constant(0, m.dtype)), BOOL)
    multiplied = Apply("multiply", (cast(m, dtype), cast(t, dtype)), dtype)
    return Apply("where", (held, multiplied, constant(0, dtype)), dtype)


def is_named(e: Expression) -> bool:
    """True for what may be written twice without being computed twice."""
    return isinstance(e, (Name, Literal, Size))
