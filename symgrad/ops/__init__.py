"""Operators as classes (``ops.MatMul()(x, y)``) and as functions (``ops.matmul(x, y)``), as MindSpore has them.

Each works on Tensors, ndarrays, Parameters and traced values; the elementwise ones are NumPy's ufuncs.

>>> import numpy as np
>>> from symgrad import grad, ops
>>> grad(ops.Square())(np.array([1.0, 2.0]))
array([2., 4.])
"""

from . import (
    activations,
    arrays,
    convolution,
    elementwise,
    functional,
    loops,
    losses,
    normalization,
    operator,
    pooling,
    resizing,
)
from .activations import *  # noqa: F403
from .arrays import *  # noqa: F403
from .convolution import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .functional import *  # noqa: F403
from .loops import *  # noqa: F403
from .losses import *  # noqa: F403
from .normalization import *  # noqa: F403
from .operator import *  # noqa: F403
from .pooling import *  # noqa: F403
from .resizing import *  # noqa: F403

__all__ = ["functional"]
__all__ += activations.__all__
__all__ += arrays.__all__
__all__ += convolution.__all__
__all__ += elementwise.__all__
__all__ += functional.__all__
__all__ += loops.__all__
__all__ += losses.__all__
__all__ += normalization.__all__
__all__ += operator.__all__
__all__ += pooling.__all__
__all__ += resizing.__all__
