"""How a function that SciPy alone computes is declared: its name, its formula, its partial derivatives, its domain.

Partial derivatives are functions of ``Value``, in Python's operators and ``fn``, which has every operation by its name:

    declare("dawsn", sympy.sqrt(sympy.pi) / 2 * sympy.exp(-A**2) * sympy.erfi(A), [lambda x: 1 - 2 * x * fn.dawsn(x)])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import sympy
from scipy import special

from ...errors import UnsupportedOperation
from ...program.node import Node
from .. import functions as f
from ..contraction import gate
from ..elementwise import ELEMENTWISE, SLOTS, Elementwise, Partial, register_function
from ..primitive import literal

A, B, C, D = SLOTS
POSITIVE, FRACTION = (0.3, 5.0), (0.15, 0.85)
#: name -> operation, and name -> the intervals that its tests draw operands from; those of SciPy alone
OPERATIONS: dict[str, Elementwise] = {}
DOMAINS: dict[str, tuple[tuple[float, float], ...]] = {}
#: ufunc that gives several results -> the operations that compute them, one each
SEVERAL: dict[np.ufunc, tuple[Elementwise, ...]] = {}

Rule = Callable[..., Any]


class Value(np.lib.mixins.NDArrayOperatorsMixin):
    """A node with Python's operators, each the operation of the ufunc that NumPy has for it."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any) -> Value:
        if ufunc is np.power and type(operands[1]) is int and operands[1] == 2:
            return fn.square(operands[0])
        return getattr(fn, ufunc.__name__)(*operands)


class _Functions:
    """Every operation by its name, of values and numbers."""

    def __getattr__(self, name: str) -> Callable[..., Value]:
        operation = OPERATIONS.get(name) or ELEMENTWISE.get(name)
        if operation is None:
            raise AttributeError(f"there is no operation {name}")
        return lambda *args: Value(operation(*map(_node, args)))


fn = _Functions()


def _node(value: Any) -> Node:
    return value.node if isinstance(value, Value) else literal(value)


def gated(factor: Value, value: Any) -> Value:
    """``factor · value``, 0 where the factor is, whatever the value is there; the factor may be a condition."""
    return Value(gate(factor.node, _node(value)))


class Component:
    """One result of a ufunc that gives several."""

    nout = 1

    def __init__(self, ufunc: np.ufunc, place: int) -> None:
        self.ufunc, self.place = ufunc, place
        self.nin, self.__name__ = ufunc.nin, ufunc.__name__

    def __call__(self, *operands: Any) -> Any:
        return self.ufunc(*operands)[self.place]

    def resolve_dtypes(self, dtypes: tuple[np.dtype | type | None, ...]) -> tuple[np.dtype, ...]:
        """As a ufunc of one result has it."""
        made = self.ufunc.resolve_dtypes((*dtypes[: self.nin], *[None] * self.ufunc.nout))
        return (*made[: self.nin], made[self.nin + self.place])


def declare(
    name: str,
    formula: Any = None,
    partials: Sequence[Rule | None] | None = None,
    domain: Sequence[tuple[float, float]] = (),
    *,
    ufunc: Any = None,
    arity: int = 0,
) -> Elementwise:
    """Add a function of SciPy; without ``formula`` it has its name alone, without ``partials`` sympy's.

    A partial that is ``None`` is not known, or not known to SciPy's functions: it is refused where it is asked for.
    ``ufunc`` is what computes it, where that has another name; ``arity`` how many operands that takes, where it is
    a function of Python.
    """
    ufunc = ufunc or getattr(special, name)
    arity = arity or ufunc.nin
    named = f.opaque(name, arity)
    called = ufunc.__name__
    rules = None if partials is None else tuple([_partial(called, k, p) for k, p in enumerate(partials)])
    operation = Elementwise(name, ufunc, named if formula is None else formula, rules, arity=arity)
    OPERATIONS[name] = operation
    DOMAINS[name] = tuple(domain) or (f.ANY,) * arity
    for known in (named, formula):
        if isinstance(known, sympy.Function) and known.args == SLOTS[:arity]:
            register_function(known.func, operation)
    return operation


def declare_parts(name: str, parts: Sequence[str], partials: Sequence[Sequence[Rule | None]], *domain: Any) -> None:
    """Add a function of several results: one operation each, with their partials."""
    ufunc = getattr(special, name)
    SEVERAL[ufunc] = tuple(
        declare(f"{name}_{part}", None, rules, domain, ufunc=Component(ufunc, place))
        for place, (part, rules) in enumerate(zip(parts, partials, strict=True))
    )


def flat(*_: Value) -> int:
    """The partial derivative of a step."""
    return 0


def _partial(name: str, place: int, rule: Rule | None) -> Partial | None:
    if rule is flat:
        return None
    if rule is None:
        return Refusal(name, place)

    def partial(*operands: Node) -> Node:
        if any(o.is_complex for o in operands):
            raise UnsupportedOperation.here(
                f"scipy.special.{name} of complex numbers has no derivative rule in symgrad, only of real ones. "
                f"Say what the derivative is: symgrad.custom(scipy.special.{name}, vjp=…)."
            )
        return _node(rule(*map(Value, operands)))

    return partial


class Refusal:
    """The partial derivative that nobody has written: it is refused where it is asked for."""

    def __init__(self, name: str, place: int) -> None:
        self.name, self.place = name, place

    def __call__(self, *_: Node) -> NoReturn:
        at = ("first", "second", "third", "fourth")[self.place]
        raise UnsupportedOperation.here(
            f"scipy.special.{self.name} has no derivative rule in symgrad by its {at} argument. Differentiate by "
            "the others and pass this one as a constant, or say what the derivative is: "
            f"symgrad.custom(scipy.special.{self.name}, vjp=…)."
        )
