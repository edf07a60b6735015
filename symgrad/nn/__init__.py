"""Networks: Cell, layers, activations, losses and optimizers, as MindSpore has them.

>>> import numpy as np
>>> from symgrad import nn, value_and_grad
>>> net = nn.SequentialCell(nn.Dense(2, 1, weight_init="ones", bias_init="zeros"), nn.Sigmoid())
>>> loss = nn.BCELoss()
>>> step = nn.SGD(net.trainable_params(), learning_rate=0.5)
>>> x, y = np.array([[1.0, -1.0]], np.float32), np.array([[1.0]], np.float32)
>>> value, gradients = value_and_grad(lambda x, y: loss(net(x), y), None, net.trainable_params())(x, y)
>>> step(gradients)
>>> print(net[0].weight)
[[1.25 0.75]]
"""

from .activations import (
    ELU,
    GELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    Softmax,
    Softplus,
    Tanh,
    get_activation,
)
from .cell import Cell
from .containers import CellList, SequentialCell
from .layers import Dense, Dropout, Flatten
from .losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    L1Loss,
    LossBase,
    MSELoss,
    SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits,
)
from .optimizers import SGD, Adam, Momentum, Optimizer

__all__ = [
    "ELU",
    "GELU",
    "SGD",
    "Adam",
    "BCELoss",
    "BCEWithLogitsLoss",
    "Cell",
    "CellList",
    "CrossEntropyLoss",
    "Dense",
    "Dropout",
    "Flatten",
    "L1Loss",
    "LeakyReLU",
    "LogSoftmax",
    "LossBase",
    "MSELoss",
    "Momentum",
    "Optimizer",
    "ReLU",
    "SequentialCell",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "SoftmaxCrossEntropyWithLogits",
    "Softplus",
    "Tanh",
    "get_activation",
]
