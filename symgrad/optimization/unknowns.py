"""Unknowns in any containers as the vector that scipy.optimize asks for, and functions of them as functions of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, MissingPart
from ..signature import called_name
from ..tracing.trace import called
from ..tracing.tree import LEAF, flatten, unflatten, with_values
from ..transforms.jacobian import JacobianFunction
from ..transforms.positions import is_setting
from ..transforms.products import derived_once

#: entries of a Jacobian or Hessian up to which it is dense; of more, the part below which what is not zero is sparse
_MANY, _FEW = 10_000, 0.1


def scipy_optimize(caller: str) -> Any:
    """The module scipy.optimize, for this function."""
    try:
        import scipy.optimize
    except ImportError:
        raise MissingPart(f"{caller} calls scipy.optimize: pip install 'symgrad[sparse]'") from None
    return scipy.optimize


@dataclass(frozen=True)
class Unknowns:
    """What is sought: the arrays of a structure, one after the other in a vector.

    >>> unknowns, start = Unknowns.of({"w": np.ones((2, 2)), "b": 3}, "minimize")
    >>> start
    array([1., 1., 1., 1., 3.])
    >>> unknowns.nested(np.arange(5.0))["b"]
    np.float64(4.0)
    """

    structure: Any
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, start: Any, caller: str) -> tuple[Unknowns, np.ndarray]:
        """The unknowns that have these values, and these as a vector; a list of numbers is an array."""
        leaves, structure = _taken_apart(start)
        for leaf in leaves:
            kind = np.asarray(leaf).dtype.kind
            if kind not in "fiu":
                said = "complex numbers: take real and imaginary parts" if kind == "c" else f"a {type(leaf).__name__}"
                raise ArgumentTypeError(f"{caller} seeks real numbers, in arrays and containers; it was given {said}.")
        arrays = [np.asarray(leaf, float) for leaf in leaves]
        if not sum(a.size for a in arrays):
            raise ArgumentError(f"{caller} was given nothing to seek: the start has no element.")
        return cls(structure, tuple(a.shape for a in arrays)), np.concatenate([a.ravel() for a in arrays])

    @property
    def is_vector(self) -> bool:
        """True where the vector is what the function takes."""
        return self.structure == LEAF and len(self.shapes[0]) == 1

    def nested(self, vector: Any) -> Any:
        """The unknowns that a vector holds, traced or not."""
        if self.is_vector:
            return vector
        leaves, start = [], 0
        for shape in self.shapes:
            size = math.prod(shape)
            leaves.append(vector[start : start + size].reshape(shape) if shape else vector[start])
            start += size
        return unflatten(self.structure, leaves)

    def flat(self, values: Any, caller: str) -> np.ndarray:
        """Values for the unknowns as a vector: one number for all, or such as the unknowns are."""
        if isinstance(values, np.ndarray) and values.size == 1:
            values = values.item()  # scipy.optimize.Bounds makes an array of a number, and of a dict
        leaves, structure = _taken_apart(values)
        if structure == LEAF and not np.ndim(values):
            leaves, structure = leaves * len(self.shapes), self.structure
        try:
            parts = [np.broadcast_to(v, s).ravel() for v, s in zip(leaves, self.shapes, strict=True)]
        except ValueError:
            parts = []
        if structure != self.structure or not parts:
            raise ArgumentError(f"{caller}: bounds have two sides, each a number or such as the start is.")
        return np.concatenate(parts)


def _taken_apart(values: Any) -> tuple[list[Any], Any]:
    """The numbers and arrays among ``values``, and a structure that holds the settings beside them."""
    leaves, structure = flatten(_with_arrays(values))
    return with_values(structure, leaves, is_setting, is_setting)


def _with_arrays(value: Any) -> Any:
    """A value whose lists of numbers, inside of dicts too, are arrays."""
    if type(value) is dict:
        return {k: _with_arrays(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (int, float)) for v in value):
        return np.asarray(value, float)
    return value


def of_vector(fn: Callable, unknowns: Unknowns, reading: Callable[[Any, str], Any], caller: str) -> Callable:
    """``fn`` as a function of the vector of its unknowns and of its other arguments, its result read by ``reading``.

    For the same ``fn`` and unknowns it is the same function, so that a second call finds traces and kernels.
    """
    if not callable(fn):
        raise ArgumentTypeError(f"{caller} takes a function, got a {type(fn).__name__}.")
    return derived_once(_of_vector, fn, unknowns, reading)


def _of_vector(fn: Callable, unknowns: Unknowns, reading: Callable[[Any, str], Any]) -> Callable:
    name = called_name(fn)

    def of_unknowns(x: Any, *args: Any, **kwargs: Any) -> Any:
        return reading(called(fn, (unknowns.nested(x), *args), kwargs), name)

    of_unknowns.__name__ = name
    return of_unknowns


def in_a_row(output: Any, name: str) -> Any:
    """All numbers of a result, in a vector."""
    leaves = flatten(output)[0]
    if not leaves or any(isinstance(leaf, (str, bytes)) or leaf is None for leaf in leaves):
        raise ArgumentError(f"{name} gives no numbers; it returned {type(output).__name__}.")
    return np.concatenate([np.reshape(leaf, (-1,)) for leaf in leaves])


def as_tuple(args: Any) -> tuple:
    """Further arguments, of which one alone needs no tuple."""
    return args if isinstance(args, tuple) else (args,)


def matrix(
    kind: type[JacobianFunction], function: Callable, args: tuple, may_be_sparse: bool, backend: str
) -> tuple[Any, str]:
    """The Jacobian or Hessian of a function of a vector, sparse or not as serves for these arguments, and its size."""
    dense = derived_once(kind, function, 0, False, "auto", backend)
    rows, columns = _size(dense.result_shapes(*args)[1][0])
    said = f"{rows} × {columns}"
    if may_be_sparse and rows * columns > _MANY:
        pattern = dense.sparsity(*args)
        if pattern.density < _FEW:
            sparse = derived_once(kind, function, 0, False, "auto", backend, True)
            return sparse, f"{said}, sparse with {pattern.nnz:,} entries"
    return dense, f"{said}, dense"


def _size(shape: tuple | None) -> tuple[int, int]:
    """The rows and columns of a derivative by a vector."""
    assert shape is not None
    return math.prod(shape[:-1]), shape[-1]


def ran_on(derived: Any) -> str:
    """What a derivative ran on when it was called last."""
    latest = derived._compiled.latest
    return "" if latest is None else f", on {latest.kernel.backend}"
