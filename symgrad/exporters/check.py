"""The check that an export carries: inputs, what the kernel made of them, and how far off a result may be.

Arrays of few elements are written out. Larger ones are drawn by a formula that every target can write, and of
larger results every so manyth element is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels.kernel import lower
from ..program.dims import value_of
from ..program.program import Program

#: elements of an array that are written out
MAX_WRITTEN = 1024
#: elements of all inputs up to which a check is made at all
_MAX_DRAWN = 5_000_000
#: the fractional part of the golden ratio, whose multiples spread evenly over the unit interval
GOLDEN = 0.6180339887498949
#: the arrays of a csr_array that are compared
SPARSE_PARTS = ("data", "indices", "indptr")
#: where inputs are drawn of which nothing is known
_LOW, _HIGH = 0.3, 0.9
#: sizes of named dims of which nothing is known
_SIZES = (3, 4, 5, 6, 7)


@dataclass(frozen=True)
class Given:
    """One input: its values, or the interval that they are drawn from.

    Element k in C order, counted from 0, is ``low + (high - low) * u`` with ``u = frac((k + 1) * GOLDEN)``; for
    integers ``low + floor((high - low + 1) * u)``, for truth values ``u >= 0.5``.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    values: np.ndarray | None
    low: float = 0.0
    high: float = 1.0

    def array(self) -> np.ndarray:
        """The input itself.

        >>> Given((3,), np.dtype(float), None, 1.0, 2.0).array()
        array([1.61803399, 1.23606798, 1.85410197])
        """
        if self.values is not None:
            return self.values
        u = np.mod((np.arange(math.prod(self.shape)) + 1.0) * GOLDEN, 1.0)
        if self.dtype.kind == "b":
            drawn = u >= 0.5
        elif self.dtype.kind in "fc":
            drawn = self.low + (self.high - self.low) * u * (1 + 1j if self.dtype.kind == "c" else 1)
        else:
            drawn = self.low + np.floor((self.high - self.low + 1) * u)
        return drawn.astype(self.dtype).reshape(self.shape)


@dataclass(frozen=True)
class Wanted:
    """One output: the elements ``flat[::step]`` that the kernel gave."""

    shape: tuple[int, ...]
    dtype: np.dtype
    step: int
    values: np.ndarray


@dataclass(frozen=True)
class Check:
    """What an export is run on, and what must come out.

    A result passes where every wanted element is within ``tolerance * max(1, max|wanted|)``; NaN equals NaN, and an
    infinity itself. ``residual`` is how far the derivative was from finite differences when it was exported, None
    where they were not taken, which ``differences`` says in words.
    """

    given: tuple[Given, ...]
    wanted: tuple[Wanted, ...]
    sizes: Mapping[str, int]
    tolerance: float
    residual: float | None = None
    differences: str = "not taken"


def check_of(program: Program, conditions: int, arrays: Sequence[np.ndarray] | None) -> Check | str:
    """The check of a program whose last outputs are so many ``conditions``, for ``arrays`` where they are known.

    Why there is none, in words, where no inputs are found for which the derivative is computed.
    """
    sizes = _sizes(program, arrays)
    given = [_given(n, k, sizes, arrays) for k, n in enumerate(program.inputs)]
    if sum(math.prod(g.shape) for g in given) > _MAX_DRAWN:
        return "the inputs are too large to write into it"
    drawn = any(g.values is None for g in given) or arrays is None
    where = "at drawn inputs" if drawn else "at these arguments"
    advice = "; export it with small example arrays" if drawn else ""
    try:
        with np.errstate(all="ignore"):
            results = [np.asarray(r) for r in lower(program, "numpy")(*map(_argument, given, program.inputs))]
    except (ArithmeticError, IndexError, ValueError) as error:
        return f"{where} the derivative is not defined ({type(error).__name__}){advice}"
    outputs, held = results[: len(results) - conditions], results[len(results) - conditions :]
    if not all(held):
        return f"{where} other branches are taken{advice}"
    if drawn and not all(np.all(np.isfinite(r)) for r in outputs if r.dtype.kind in "fc"):
        return f"{where} the derivative is not finite{advice}"
    return Check(tuple(given), tuple(map(wanted_of, outputs)), _by_name(sizes), _tolerance([*given, *outputs]))


def difference(got: np.ndarray, wanted: Wanted) -> float:
    """How far a result is off, relative to the largest finite element that is wanted or 1.

    >>> wanted = Wanted((2,), np.dtype(float), 1, np.array([1.0, np.nan]))
    >>> difference(np.array([1.5, np.nan]), wanted), difference(np.array([1.0, 2.0]), wanted)
    (0.5, inf)
    """
    kind = np.complex128 if np.iscomplexobj(got) or wanted.dtype.kind == "c" else np.float64
    want = wanted.values.astype(kind)
    mine = np.ravel(got)[:: wanted.step].astype(kind)
    if np.shape(got) != wanted.shape or mine.shape != want.shape:
        return math.inf
    with np.errstate(invalid="ignore"):
        same = (mine == want) | (np.isnan(mine) & np.isnan(want))
        off = np.where(same, 0.0, np.nan_to_num(np.abs(mine - want), nan=np.inf))
    scale = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0.0)))
    return float(off.max(initial=0.0)) / scale


def _sizes(program: Program, arrays: Sequence[np.ndarray] | None) -> dict:
    """What named dims are: in the arrays, or small sizes that serve the facts."""
    named = {d: None for n in program.inputs for s in n.shape for d in getattr(s, "free_symbols", ())}
    if arrays is not None:
        known = {}
        for node, array in zip(program.inputs, arrays, strict=True):
            known |= {d: m for d, m in zip(node.shape, np.shape(array), strict=True) if d in named}
        return known
    names = sorted(named, key=str)
    facts = program.graph.sizes
    made: dict = {}
    for shift in range(8):
        made = {d: _SIZES[k % len(_SIZES)] + shift for k, d in enumerate(names)}
        if facts.broken(made) is None:
            break
    return made


def _by_name(sizes: dict) -> dict[str, int]:
    return {str(d): m for d, m in sizes.items()}


def _given(node, k: int, sizes: dict, arrays: Sequence[np.ndarray] | None) -> Given:
    shape = tuple(value_of(d, sizes) for d in node.shape)
    if arrays is None:
        low, high = (0.0, 1.0) if node.dtype.kind in "iu" else (_LOW, _HIGH)
        return (
            Given(shape, node.dtype, None, low, high)
            if math.prod(shape) > MAX_WRITTEN
            else _written(Given(shape, node.dtype, None, low, high).array())
        )
    array = np.array(arrays[k], node.dtype)
    if array.size <= MAX_WRITTEN:
        return _written(array)
    finite = np.real(array[np.isfinite(array)]) if array.dtype.kind in "fc" else array
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return Given(shape, node.dtype, None, low, high)


def _written(array: np.ndarray) -> Given:
    return Given(array.shape, array.dtype, array)


def _argument(given: Given, node) -> object:
    """The input as the kernel takes it: a Python float where it was one."""
    return given.array().item() if node.weak else given.array()


def wanted_of(result: np.ndarray) -> Wanted:
    """What is kept of a result to compare with."""
    step = max(1, -(-result.size // MAX_WRITTEN))
    return Wanted(result.shape, result.dtype, step, np.ravel(result)[::step].copy())


def _tolerance(arrays: Sequence) -> float:
    """How far apart two ways of computing the same may be: sums in another order, other libraries' functions."""
    floats = [a.dtype.itemsize // (1 + (a.dtype.kind == "c")) for a in arrays if a.dtype.kind in "fc"]
    return {2: 2e-2, 4: 1e-4}.get(min(floats, default=8), 1e-9)
