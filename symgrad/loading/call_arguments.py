"""The arguments of a loaded function: put in order, and checked to be what it was exported for."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..errors import ArgumentTypeError, DtypeError
from ..exporters.naming import target_names
from ..program.node import Node
from ..tensor import Tensor
from ..tracing.plain_arrays import plain_array
from .document import Document
from .emission import bound_sizes, check_sizes

#: shapes of calls that are remembered as right
_MAX_SHAPES = 1024


class CallArguments:
    """Takes the arguments of a call: one array for each input of the Program, by position or by name."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._program = document.read.program
        labels = self._program.names
        self.names = target_names(labels, {*keyword.kwlist, *keyword.softkwlist}, ascii=False)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.signature = inspect.Signature([inspect.Parameter(name, kind) for name in self.names])
        once = {label: k for k, label in enumerate(labels) if labels.count(label) == 1}
        self._places = dict(zip(self.names, range(len(labels)), strict=True)) | once
        self._right: set[tuple] = set()

    @property
    def spelled(self) -> str:
        """The inputs with their dtypes and shapes."""
        pairs = zip(self._program.names, self._program.inputs, strict=True)
        return ", ".join(f"{label}: {_kind(n)}" for label, n in pairs)

    def in_order(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple:
        """All arguments by position."""
        count = len(self.names)
        given = dict(enumerate(args))
        for name, value in kwargs.items():
            place = self._places.get(name)
            if place is None:
                self._refuse(f"{name!r} is no argument")
            if place in given:
                self._refuse(f"{name!r} is given twice")
            given[place] = value
        if len(given) != count or not all(k in given for k in range(count)):
            self._refuse(f"{len(given)} arguments are given")
        return tuple([given[k] for k in range(count)])

    def _refuse(self, problem: str) -> NoReturn:
        takes = f"{len(self.names)} argument{'s' if len(self.names) != 1 else ''}"
        raise ArgumentTypeError.here(f"{self._document.name} takes {takes}, ({self.spelled}); {problem}.")

    def arrays(self, args: tuple) -> tuple:
        """The arguments as arrays, of the dtypes and shapes that the Program is for."""
        pairs = zip(args, self._program.inputs, self._program.names, strict=True)
        arrays = tuple([self._array(value, node, label) for value, node, label in pairs])
        shapes = tuple([np.shape(a) for a in arrays])
        if shapes not in self._right:
            check_sizes(self._document, bound_sizes(self._program, shapes))
            if len(self._right) >= _MAX_SHAPES:
                self._right.clear()
            self._right.add(shapes)
        return arrays

    def _array(self, value: Any, node: Node, label: str) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            array = value if isinstance(value, Tensor) else plain_array(value, label)
            fits = array.dtype == node.dtype
        elif isinstance(value, (bool, int, float, list, tuple)):
            array = np.asarray(value)
            fits = array.dtype.kind in "biuf" and np.can_cast(array.dtype, node.dtype, "same_kind")
            array = array.astype(node.dtype) if fits else array
        else:
            raise ArgumentTypeError.here(
                f"{self._document.name}: {label} is a {type(value).__name__}; pass an array of {node.dtype}."
            )
        if not fits:
            raise DtypeError.here(
                f"{self._document.name}: {label} is of {array.dtype} and was exported for {node.dtype}; pass it as "
                f"{node.dtype}, or export the derivative for {array.dtype} too."
            )
        return float(array) if node.weak and not array.shape else array


def _kind(node: Node) -> str:
    return "float" if node.weak else f"{node.dtype.name}[{', '.join(map(str, node.shape))}]"
