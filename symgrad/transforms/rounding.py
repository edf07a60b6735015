"""How far rounding may have moved what a Program computes: it is run again with every rounding done otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..compiled import CompiledFunction
from ..errors import SymgradError
from ..passes.sizes import at_sizes
from ..passes.unrolling import unrolled
from ..primitives.elementwise import COMPARISONS
from ..program.dims import is_concrete, is_named
from ..program.interpret import evaluated, interpreted
from ..program.node import Node
from ..program.program import Program

#: runs with other roundings, and how many units in the last place a result moves in each: so many that two of them
#: seldom move alike, which would hide how much their difference is worth
_RUNS = 4
_UNITS = 32.0
#: bits of a number that arithmetic with few more leaves exact
_FEW_BITS = 20
#: what gives one of its operands, or nothing that is rounded
_EXACT = {
    *("slice", "gather", "concatenate", "reshape", "mark", "stop_gradient", "max", "min", "maximum", "minimum", "fmax"),
    *("fmin", "where", "negative", "positive", "absolute", "conjugate", "sign", "floor", "ceil", "trunc", "rint"),
    *("heaviside", "determinant_sign"),
}
#: what is exact for numbers of few bits where the result has few bits
_ARITHMETIC = {
    *("add", "subtract", "multiply", "divide", "square", "reciprocal", "gate", "einsum", "cumsum", "prod", "convolve"),
    *("cumprod", "assemble", "scatter", "cast", "power", "float_power", "sqrt"),
}


def rounding_of(compiled: CompiledFunction, args: tuple, kwargs: dict[str, Any]) -> list[np.ndarray] | None:
    """The rounding in each array that ``compiled`` gives for these arguments; None where it cannot be traced."""
    try:
        entry, leaves = compiled.served(*args, **kwargs)
        program = entry.readable
        arrays = [np.asarray(a) for a in entry.arguments(leaves)]
        moved = spread(program, arrays)
    except (SymgradError, ArithmeticError, TypeError, ValueError, AttributeError, np.linalg.LinAlgError):
        return None
    return entry.arrays_of(moved)


def spread(program: Program, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """How far the elements of each output move where each operation gives some units in the last place more or less.

    So do inputs where they are used. But numbers of few bits stay exact in arithmetic, so ties and kinks stay where
    they are, and equal numbers in one array move alike. Infinite where it is for rounding to say whether the element
    is finite at all.

    >>> import symgrad
    >>> program = symgrad.trace(lambda x: (1 - np.cos(x)) / x**2, 1.0)
    >>> [bool(spread(program, [np.array(x)])[0] > 1e-12) for x in (1.0, 1e-4)]
    [False, True]
    """
    sizes = {
        d: size
        for node, array in zip(program.inputs, arrays, strict=True)
        for d, size in zip(node.shape, array.shape, strict=True)
        if is_named(d) and d.is_Symbol
    }
    if not all(is_concrete(n.shape) for n in program.nodes):
        program = at_sizes(program, sizes)
    program = unrolled(program)  # each step rounds on its own
    exact = {n for n, a in zip(program.inputs, arrays, strict=True) if _all_few(a)}
    ties: dict[Node, tuple[np.ndarray, np.ndarray]] = {}
    wanted = interpreted(program, arrays, partial(_noted, exact, ties))
    moved = [np.zeros(np.shape(w)) for w in wanted]
    with np.errstate(all="ignore"):
        for k in range(_RUNS):
            found = interpreted(program, arrays, _Otherwise(program, exact, ties, k))
            for m, f, w in zip(moved, found, wanted, strict=True):
                defined = np.isfinite(f), np.isfinite(w)
                apart = np.where(defined[0] & defined[1], np.abs(np.asarray(f, float) - np.asarray(w, float)), 0.0)
                np.maximum(m, np.where(defined[0] == defined[1], apart, np.inf), out=m)
    return moved


def _rounds(node: Node) -> bool:
    return node.dtype.kind == "f" and node.primitive.name not in _EXACT


def _noted(exact: set[Node], ties: dict[Node, tuple[Any, Any]], node: Node, operands: list[Any]) -> Any:
    """The value as it is; what is exact is noted, and where a comparison is of equal numbers."""
    value = evaluated(node, operands)
    if node.primitive.name in COMPARISONS:
        ties[node] = np.equal(*operands), value
    plain = node.is_leaf or not _rounds(node) or (node.primitive.name in _ARITHMETIC and _all_few(value))
    if plain and all(o in exact for o in node.operands):
        exact.add(node)
    return value


class _Otherwise:
    """One run in which all that is rounded is rounded otherwise."""

    def __init__(
        self, program: Program, exact: set[Node], ties: Mapping[Node, tuple[np.ndarray, np.ndarray]], run: int
    ) -> None:
        self._salt = {n: (_RUNS * k + run) * 1009 for k, n in enumerate(program.nodes)}
        self._exact = exact
        self._ties = ties
        self._moved: set[Node] = set()

    def __call__(self, node: Node, operands: list[Any]) -> Any:
        moves = not node.is_leaf and _rounds(node) and node not in self._exact
        if not moves:
            if any(o in self._moved for o in node.operands):
                self._moved.add(node)
            made = evaluated(node, operands)
            if node in self._ties:  # an array and its maximum are equal in each rounding
                is_tie, value = self._ties[node]
                made = np.where(is_tie, value, made)
            return made
        self._moved.add(node)
        salt = self._salt[node]
        used = [
            v if o in self._moved or o in self._exact or o.dtype.kind != "f" else _used(o, v, salt + at)
            for at, (o, v) in enumerate(zip(node.operands, operands, strict=True))
        ]
        return _otherwise(evaluated(node, used), node.dtype, salt + len(operands))


def _used(node: Node, value: Any, salt: int) -> Any:
    """What was not rounded yet, where it is used; what people wrote down, such as an exponent, stays as it is."""
    return np.where(_are_few(np.asarray(value, np.float64)), value, _otherwise(value, node.dtype, salt))


def _all_few(values: Any) -> bool:
    """True where every number has few bits, as people's own have, and small counts."""
    values = np.asarray(values)
    return values.dtype.kind != "f" or bool(_are_few(values.astype(np.float64)).all())


def _are_few(values: np.ndarray) -> np.ndarray:
    bits = np.ldexp(np.frexp(values)[0], _FEW_BITS)
    return (bits == np.rint(bits)) | ~np.isfinite(values)


def _otherwise(values: Any, dtype: np.dtype, salt: int) -> Any:
    """``values`` as if they were rounded otherwise, each by what it is and a salt, so equal ones move alike."""
    if dtype.kind != "f":
        return values
    wide = np.asarray(values, np.float64)
    bits = wide.view(np.uint64) + np.uint64(salt * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # as splitmix64 mixes
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    part = (bits ^ (bits >> np.uint64(31))).astype(np.float64) / 2.0**63 - 1
    return (wide * (1 + _UNITS * float(np.finfo(dtype).eps) * part)).astype(dtype)
