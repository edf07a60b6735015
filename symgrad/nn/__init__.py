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
    CELU,
    ELU,
    GELU,
    GLU,
    Hardtanh,
    HShrink,
    HSigmoid,
    HSwish,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    SeLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmin,
    Softplus,
    SoftShrink,
    SoftSign,
    Tanh,
    Tanhshrink,
    Threshold,
    get_activation,
)
from .cell import Cell
from .containers import CellList, SequentialCell
from .layers import Dense, Dropout, Flatten
from .losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LossBase,
    MarginRankingLoss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    SoftmaxCrossEntropyWithLogits,
    TripletMarginLoss,
)
from .optimizers import SGD, Adam, Momentum, Optimizer

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SGD",
    "Adam",
    "BCELoss",
    "BCEWithLogitsLoss",
    "Cell",
    "CellList",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "Dense",
    "Dropout",
    "Flatten",
    "GaussianNLLLoss",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "LossBase",
    "MSELoss",
    "MarginRankingLoss",
    "Mish",
    "Momentum",
    "NLLLoss",
    "Optimizer",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SeLU",
    "SequentialCell",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "SoftShrink",
    "SoftSign",
    "Softmax",
    "SoftmaxCrossEntropyWithLogits",
    "Softmin",
    "Softplus",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "TripletMarginLoss",
    "get_activation",
]
