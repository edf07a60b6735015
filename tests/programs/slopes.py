"""Values, gradients and Hessians of plain functions by differences, of functions that compute in float64 alone."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.tracing.tree import flatten, is_nested, unflatten

#: the larger, the less rounding counts; the smaller, the less the terms that extrapolation leaves
_STEPS = (2.0**-5, 2.0**-7, 2.0**-9)
_JACOBIAN_STEPS = (2.0**-8, 2.0**-9, 2.0**-10)


def leaves(value: Any) -> Iterator[np.ndarray]:
    """The numbers in what a function gave, one array after the other."""
    for leaf in flatten(value)[0]:
        if not isinstance(leaf, (str, type(None))):
            yield np.asarray(leaf)


def total(value: Any) -> float:
    """The sum of all floats in what a function gave."""
    return float(sum(np.sum(leaf) for leaf in leaves(value) if leaf.dtype.kind == "f"))


def run(function: Callable, args: Sequence[Any]) -> Any:
    """What the plain function gives, which leaves the arguments alone."""
    return function(*copy.deepcopy(list(args)))


def gradients(function: Callable, args: Sequence[Any], wrt: Sequence[int]) -> list[np.ndarray]:
    """The derivative of the sum of what ``function`` gives, by each element of the arguments in ``wrt``."""
    found = []
    for position in wrt:
        if is_nested(args[position]):
            found += _by_parts(function, args, position)
            continue
        x = np.asarray(args[position], float)
        slope = np.empty(x.shape)
        for index in np.ndindex(x.shape):
            slope[index] = _slope(
                lambda by, p=position, i=index: _moved(function, args, p, i, by), max(1, abs(x[index]))
            )
        found.append(slope)
    return found


def _by_parts(function: Callable, args: Sequence[Any], position: int) -> list[np.ndarray]:
    """The derivative by each array and float of an argument that holds several."""
    parts, structure = flatten(args[position])
    rest = (*args[:position], *args[position + 1 :])

    def of_parts(*given: Any) -> Any:
        parts, others = given[: len(given) - len(rest)], given[len(given) - len(rest) :]
        return function(*others[:position], unflatten(structure, list(parts)), *others[position:])

    floats = [k for k, part in enumerate(parts) if np.asarray(part).dtype.kind == "f"]
    return gradients(of_parts, (*parts, *rest), floats)


def jacobian(function: Callable, x: np.ndarray) -> np.ndarray:
    """The derivative of an array by each element of ``x``, which have the last axes."""
    shape = np.shape(run(function, [x]))
    made = np.empty((*shape, *x.shape))
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = max(1, abs(x[index]))
        levels = [(run(function, [x + h * step]) - run(function, [x - h * step])) / (2 * h) for h in _JACOBIAN_STEPS]
        once = [b + (b - a) / 3 for a, b in itertools.pairwise(levels)]
        made[(..., *index)] = (once[1] + (once[1] - once[0]) / 15) / step[index]
    return made


def hessian(function: Callable, x: np.ndarray) -> np.ndarray:
    """The second derivatives of a scalar function of one vector."""
    n, made = x.size, np.empty((x.size, x.size))
    for i in range(n):
        for j in range(i + 1):

            def along(step: float, i: int = i, j: int = j) -> float:
                """The mixed central difference; on the diagonal the second one, of double the step."""
                moves = np.zeros((4, n))
                for row, (a, b) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
                    moves[row, i] += a * step * max(1, abs(x[i]))
                    moves[row, j] += b * step * max(1, abs(x[j]))
                pp, pm, mp, mm = (total(run(function, [x + m])) for m in moves)
                return (pp - pm - mp + mm) / (4 * step**2 * max(1, abs(x[i])) * max(1, abs(x[j])))

            made[i, j] = made[j, i] = _settled(along)
    return made


def _moved(function: Callable, args: Sequence[Any], position: int, index: tuple, by: float) -> float:
    moved = list(args)
    x = np.array(args[position], float)
    x[index] += by
    kind = type(args[position])
    moved[position] = kind(x) if kind in (int, float) else x.tolist() if kind is list else x
    if isinstance(args[position], np.generic):
        moved[position] = np.float64(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return total(run(function, moved))


def _slope(function: Callable[[float], float], scale: float) -> float:
    return _settled(lambda step: (function(step * scale) - function(-step * scale)) / (2 * step * scale))


def _settled(difference: Callable[[float], float]) -> float:
    """Differences at several steps, each extrapolated twice (Richardson): the one that has settled best."""
    best, error = np.nan, np.inf
    for step in _STEPS:
        first, second, third = (difference(step / 2**k) for k in range(3))
        once, again = second + (second - first) / 3, third + (third - second) / 3
        if not abs(again - once) >= error:
            best, error = again + (again - once) / 15, abs(again - once)
    return best
