"""Activations as cells: each holds its operator of ``symgrad.ops``."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import ops
from ..errors import ArgumentError
from ..tensor import Parameter
from .cell import Cell
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


CELU = _activation("CELU", ops.CeLU)
ELU = _activation("ELU", ops.Elu)
GLU = _activation("GLU", ops.GLU)
HShrink = _activation("HShrink", ops.HShrink)
HSigmoid = _activation("HSigmoid", ops.HSigmoid)
HSwish = _activation("HSwish", ops.HSwish)
Hardtanh = _activation("Hardtanh", ops.Hardtanh)
LeakyReLU = _activation("LeakyReLU", ops.LeakyReLU)
LogSigmoid = _activation("LogSigmoid", ops.LogSigmoid)
LogSoftmax = _activation("LogSoftmax", ops.LogSoftmax)
Mish = _activation("Mish", ops.Mish)
ReLU = _activation("ReLU", ops.ReLU)
ReLU6 = _activation("ReLU6", ops.ReLU6)
SeLU = _activation("SeLU", ops.SeLU)
SiLU = _activation("SiLU", ops.SiLU)
Sigmoid = _activation("Sigmoid", ops.Sigmoid)
SoftShrink = _activation("SoftShrink", ops.SoftShrink)
Softmax = _activation("Softmax", ops.Softmax)
Softmin = _activation("Softmin", ops.Softmin)
Softplus = _activation("Softplus", ops.Softplus)
SoftSign = _activation("SoftSign", ops.Softsign)
Tanh = _activation("Tanh", ops.Tanh)
Tanhshrink = _activation("Tanhshrink", ops.Tanhshrink)


class GELU(Cell):
    """``ops.gelu`` as a cell: in its tanh approximation, or exact with ``approximate=False``.

    >>> import numpy as np
    >>> GELU()(np.array([0.0, 10.0]))
    array([ 0., 10.])
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, x):
        return ops.gelu(x, "tanh" if self.approximate else "none")


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


class Threshold(Cell):
    """``x`` where it is above ``threshold`` and ``value`` elsewhere.

    >>> import numpy as np
    >>> Threshold(1.0, 0.0)(np.array([0.5, 2.0]))
    array([0., 2.])
    """

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value

    def construct(self, x):
        return ops.threshold(x, self.threshold, self.value)


#: name -> activation, where it has no arguments that it needs
_BY_NAME: dict[str, Any] = {
    c.__name__.lower(): c
    for c in (CELU, ELU, GELU, GLU, HShrink, HSigmoid, HSwish, Hardtanh, LeakyReLU, LogSigmoid, LogSoftmax, Mish, PReLU)
}
_BY_NAME |= {
    c.__name__.lower(): c
    for c in (ReLU, ReLU6, SeLU, SiLU, Sigmoid, SoftShrink, SoftSign, Softmax, Softmin, Softplus, Tanh, Tanhshrink)
}


def get_activation(name: str) -> Cell:
    """The activation of this name, with its default options; an unknown name is an ArgumentError.

    >>> get_activation("relu")
    ReLU<>
    """
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ArgumentError(f"there is no activation {name!r}; there are {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]()
