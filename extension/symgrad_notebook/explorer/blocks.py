"""The blocks of a Jacobian or Hessian: one for each output and each input, with the names of their elements."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.compiled import argument_names
from symgrad.errors import BackendError, ResultTooLarge
from symgrad.kernels.sparsity import Sparsity
from symgrad.program.dims import value_of
from symgrad.program.forks import cached_property
from symgrad.tracing.tree import flatten
from symgrad.transforms.jacobian import HessianFunction, JacobianFunction

from ..structure import leaf_names
from .pooling import DenseEntries, Entries, SparseEntries, Window
from .scale import Scale, scale_of

#: entries of a block above which it is computed sparse: an array of them takes 128 MB
_MAX_DENSE = 2**24


@dataclass(frozen=True)
class Axis:
    """An array whose elements are the rows or the columns of a block."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    def index(self, k: int) -> tuple[int, ...]:
        """The index of element ``k``, counted row by row."""
        return tuple(int(i) for i in np.unravel_index(k, self.shape)) if self.shape else ()

    def element(self, k: int) -> str:
        """Element ``k`` as Python writes it.

        >>> Axis("out", (2, 3)).element(5), Axis("loss", ()).element(0)
        ('out[1, 2]', 'loss')
        """
        return f"{self.name}[{', '.join(map(str, self.index(k)))}]" if self.shape else self.name


@dataclass(frozen=True)
class Block:
    """One array of the result: ``out`` by ``by``. ``number`` counts the arrays, as ``entry(output=)`` does."""

    number: int
    out: Axis
    by: Axis
    entries: Entries

    @property
    def shape(self) -> tuple[int, int]:
        """Elements of the output and elements of the input."""
        return self.out.size, self.by.size

    @property
    def whole(self) -> Window:
        """All of it."""
        return Window(0, self.out.size, 0, self.by.size)

    def index(self, row: int, column: int) -> tuple[int, ...]:
        """The index of an entry in the array of shape out + in."""
        return self.out.index(row) + self.by.index(column)

    def title(self, row: int, column: int) -> str:
        """What an entry is called: ``out[1, 2] by q[3]``."""
        return f"{self.out.element(row)} by {self.by.element(column)}"

    @cached_property
    def linear(self) -> Scale:
        """The scale from zero to the largest magnitude."""
        return scale_of(self.entries.finite, is_log=False)

    @cached_property
    def log(self) -> Scale:
        """The scale by the logarithm of the magnitude."""
        return dataclasses.replace(self.linear, is_log=True)


def blocks_of(derivative: JacobianFunction, args: tuple, kwargs: dict[str, Any]) -> list[Block]:
    """The blocks at these arguments, row by row of ``[out][in]``.

    >>> import symgrad
    >>> f = lambda p, q: {"sum": p["a"] + q, "two": (q * q,)}
    >>> found = blocks_of(symgrad.jacobian(f, (0, 1)), ({"a": np.ones(2)}, np.ones(2)), {})
    >>> [f"{b.out.name} by {b.by.name}" for b in found]
    ["out['sum'] by p['a']", "out['sum'] by q", "out['two'][0] by p['a']", "out['two'][0] by q"]
    """
    outs, ins = _axes(derivative, args, kwargs)
    values = _values(derivative, args, kwargs, [(o.size, i.size) for o in outs for i in ins])
    pairs = [(o, i) for o in outs for i in ins]
    return [Block(k, o, i, e) for k, ((o, i), e) in enumerate(zip(pairs, values, strict=True))]


def _axes(derivative: JacobianFunction, args: tuple, kwargs: dict[str, Any]) -> tuple[list[Axis], list[Axis]]:
    """The arrays that the derivative is of, and those it is taken by."""
    structure, shapes = derivative.result_shapes(*args, **kwargs)
    if derivative.has_aux:
        structure = structure[1][0]
    names = argument_names(derivative.fn, len(args))
    found = [flatten(args[p]) for p in derivative.positions]
    ins = [
        Axis(name, np.shape(leaf))
        for p, (leaves, own) in zip(derivative.positions, found, strict=True)
        for name, leaf in zip(leaf_names(own, names[p]), leaves, strict=True)
    ]
    if isinstance(derivative, HessianFunction):
        return [Axis(f"∂f/∂{i.name}", i.shape) for i in ins], ins
    inner = found[0][1] if derivative.bare else ("tuple", tuple(own for _, own in found))
    sizes = derivative._compiled.sizes(args, kwargs)
    outs = []
    for name, shape in zip(leaf_names(structure, "out", inner), shapes[:: len(ins)], strict=False):
        own = (shape or ())[: len(shape or ()) - len(ins[0].shape)]
        outs.append(Axis(name, tuple(value_of(d, sizes) for d in own)))
    return outs, ins


def _values(
    derivative: JacobianFunction, args: tuple, kwargs: dict[str, Any], shapes: list[tuple[int, int]]
) -> list[Entries]:
    """The entries of each block; large ones as ``scipy.sparse``, where that is installed and holds them."""
    if derivative.sparse or any(rows * columns > _MAX_DENSE for rows, columns in shapes):
        try:
            return [SparseEntries(m) for m in _leaves(derivative._with(sparse=True), args, kwargs)]
        except (BackendError, ResultTooLarge):
            if derivative.sparse:
                raise
    arrays = [
        np.asarray(leaf).reshape(shape)
        for leaf, shape in zip(_leaves(derivative._with(sparse=False), args, kwargs), shapes, strict=True)
    ]
    if all(a.all() for a in arrays):  # no zero at all, so none by structure, which takes longer to find out
        return [DenseEntries(a, None) for a in arrays]
    patterns: list[Sparsity] = flatten(derivative.sparsity(*args, **kwargs))[0]
    return [DenseEntries(a, None if p.density == 1 else p.toarray()) for a, p in zip(arrays, patterns, strict=True)]


def _leaves(derivative: JacobianFunction, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
    result = derivative(*args, **kwargs)
    result = result[0] if derivative.has_aux else result
    return [result] if hasattr(result, "tocoo") else flatten(result)[0]
