"""Activations as cells: each holds its operator of ``symgrad.ops``."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import ops
from ..errors import ArgumentError
from .cell import Cell


class Activation(Cell):
    """Base of the activations; the options are those of the operator.

    >>> import numpy as np
    >>> Softmax(axis=0)(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """

    operator_class: ClassVar[type[ops.Operator]] = ops.Operator

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()
        self.operator = self.operator_class(*args, **options)

    def construct(self, x):
        return self.operator(x)

    def extend_repr(self) -> str:
        return ", ".join(f"{k}={v!r}" for k, v in vars(self.operator).items())


def _activation(name: str, operator_class: type[ops.Operator]) -> type[Activation]:
    told = (operator_class.__doc__ or "").partition("\n")[0]
    doc = f"``ops.{operator_class.__name__}`` as a cell, with its options: {told}"
    return type(name, (Activation,), {"operator_class": operator_class, "__doc__": doc, "__module__": __name__})


ELU = _activation("ELU", ops.Elu)
GELU = _activation("GELU", ops.GeLU)
LeakyReLU = _activation("LeakyReLU", ops.LeakyReLU)
LogSoftmax = _activation("LogSoftmax", ops.LogSoftmax)
ReLU = _activation("ReLU", ops.ReLU)
Sigmoid = _activation("Sigmoid", ops.Sigmoid)
Softmax = _activation("Softmax", ops.Softmax)
Softplus = _activation("Softplus", ops.Softplus)
Tanh = _activation("Tanh", ops.Tanh)

_BY_NAME = {c.__name__.lower(): c for c in (ELU, GELU, LeakyReLU, LogSoftmax, ReLU, Sigmoid, Softmax, Softplus, Tanh)}


def get_activation(name: str) -> Activation:
    """The activation of this name, with its default options; an unknown name is an ArgumentError.

    >>> get_activation("relu")
    ReLU<>
    """
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ArgumentError(f"there is no activation {name!r}; there are {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]()
