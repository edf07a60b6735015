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

from . import (
    activations,
    attention,
    cell,
    containers,
    convolutions,
    embedding,
    layers,
    losses,
    normalization,
    optimizers,
    pooling,
    recurrent,
    resizing,
)
from .activations import *  # noqa: F403
from .attention import *  # noqa: F403
from .cell import *  # noqa: F403
from .containers import *  # noqa: F403
from .convolutions import *  # noqa: F403
from .embedding import *  # noqa: F403
from .layers import *  # noqa: F403
from .losses import *  # noqa: F403
from .normalization import *  # noqa: F403
from .optimizers import *  # noqa: F403
from .pooling import *  # noqa: F403
from .recurrent import *  # noqa: F403
from .resizing import *  # noqa: F403

__all__ = []
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += cell.__all__
__all__ += containers.__all__
__all__ += convolutions.__all__
__all__ += embedding.__all__
__all__ += layers.__all__
__all__ += losses.__all__
__all__ += normalization.__all__
__all__ += optimizers.__all__
__all__ += pooling.__all__
__all__ += recurrent.__all__
__all__ += resizing.__all__
