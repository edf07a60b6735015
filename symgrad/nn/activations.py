"""Activations as cells of the operators of ``symgrad.ops``."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..errors import ArgumentError
from ..tensor import Parameter
from .cell import Cell
from .cell_of import cell_of
from .initializers import initial

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SeLU",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "SoftSign",
    "Softmax",
    "Softmin",
    "Softplus",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "get_activation",
]


CELU = cell_of("CELU", ops.CeLU)
ELU = cell_of("ELU", ops.Elu)
GLU = cell_of("GLU", ops.GLU)
HShrink = cell_of("HShrink", ops.HShrink)
HSigmoid = cell_of("HSigmoid", ops.HSigmoid)
HSwish = cell_of("HSwish", ops.HSwish)
Hardtanh = cell_of("Hardtanh", ops.Hardtanh)
LeakyReLU = cell_of("LeakyReLU", ops.LeakyReLU)
LogSigmoid = cell_of("LogSigmoid", ops.LogSigmoid)
LogSoftmax = cell_of("LogSoftmax", ops.LogSoftmax)
Mish = cell_of("Mish", ops.Mish)
ReLU = cell_of("ReLU", ops.ReLU)
ReLU6 = cell_of("ReLU6", ops.ReLU6)
SeLU = cell_of("SeLU", ops.SeLU)
SiLU = cell_of("SiLU", ops.SiLU)
Sigmoid = cell_of("Sigmoid", ops.Sigmoid)
SoftShrink = cell_of("SoftShrink", ops.SoftShrink)
Softmax = cell_of("Softmax", ops.Softmax)
Softmin = cell_of("Softmin", ops.Softmin)
Softplus = cell_of("Softplus", ops.Softplus)
SoftSign = cell_of("SoftSign", ops.Softsign)
Tanh = cell_of("Tanh", ops.Tanh)
Tanhshrink = cell_of("Tanhshrink", ops.Tanhshrink)


GELU = cell_of(
    "GELU",
    lambda x, approximate=True: ops.gelu(x, "tanh" if approximate else "none"),
    told="``x·Φ(x)``, Φ the normal distribution in its tanh approximation, or exact with ``approximate=False``.",
)
Threshold = cell_of(
    "Threshold",
    lambda x, threshold, value: ops.threshold(x, threshold, value),
    told="``x`` where it is above ``threshold`` and ``value`` elsewhere.",
)


class PReLU(Cell):
    """``x`` above 0 and ``w·x`` up to it; the weights ``w``, one or one for each ``channel``, are learned.

    >>> import numpy as np
    >>> PReLU()(np.array([-4.0, 4.0], np.float32))
    Tensor(shape=[2], dtype=Float32, value= [-1.00000000e+00,  4.00000000e+00])
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        self.w = Parameter(initial(w, (channel,)))

    def construct(self, x):
        return ops.prelu(x, self.w)


#: name -> activation, where it has no arguments that it needs
_BY_NAME = {n.lower(): globals()[n] for n in __all__ if n not in ("Threshold", "get_activation")}


def get_activation(name: str) -> Cell:
    """The activation of this name, with its default options; an unknown name is an ArgumentError.

    >>> get_activation("relu")
    ReLU<>
    """
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ArgumentError(f"there is no activation {name!r}; there are {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]()
