"""symgrad: symbolic differentiation of NumPy code and networks, for notebooks.

>>> import numpy as np, symgrad
>>> g = symgrad.grad(lambda x: np.sum(np.sin(x) * x))
>>> g(np.array([0.0, 1.0]))
array([0.        , 1.38177329])
"""

from .tracing import products as _products, reductions as _reductions, shaping as _shaping  # noqa: F401, I001
from .transforms.gradient import GradOperation, get_grad, grad, value_and_grad
from .transforms.jacobian import hessian, jacfwd, jacobian, jacrev
from .transforms.products import hvp, jvp, stop_gradient, symbolic, vjp
from .transforms.tracing import trace

__all__ = [
    "GradOperation",
    "get_grad",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "stop_gradient",
    "symbolic",
    "trace",
    "value_and_grad",
    "vjp",
]
