"""symgrad: symbolic differentiation of NumPy code and networks, for notebooks.

>>> import numpy as np, symgrad
>>> g = symgrad.grad(lambda x: np.sum(np.sin(x) * x))
>>> g(np.array([0.0, 1.0]))
array([0.        , 1.38177329])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import context, dtype
from .codec import pickling as _pickling  # noqa: F401
from .context import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    debug,
    get_auto_parallel_context,
    get_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
    set_context,
)
from .dtype import (
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .named_dims import Array, named
from .tensor import Parameter, ParameterTuple, Tensor
from .tracing import labelled_datasets as _labelled_datasets  # noqa: F401
from .tracing import numpy_functions as _numpy_functions  # noqa: F401
from .transforms.gradient import GradOperation, get_grad, grad, value_and_grad
from .transforms.intermediates import intermediates, stopping
from .transforms.jacobian import hessian, jacfwd, jacobian, jacrev
from .transforms.products import hvp, jvp, stop_gradient, symbolic, vjp
from .transforms.tracing import trace
from .version import VERSION as __version__

if TYPE_CHECKING:
    from . import amp, extend, nn, ops
    from .custom_functions import custom
    from .loading import load
    from .optimization import curve_fit, least_squares, minimize, root
    from .testing.contract import check
    from .transforms.branches import cond
    from .transforms.expressions import from_latex, from_sympy
    from .transforms.loops import checkpoint, fori_loop, scan, while_loop
    from .transforms.taylor import directional, jet, taylor
    from .transforms.vector_calculus import curl, divergence, laplacian
    from .transforms.vmap import vmap
    from .watching import progress

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "Array",
    "GradOperation",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "__version__",
    "amp",
    "bool_",
    "check",
    "checkpoint",
    "cond",
    "context",
    "curl",
    "curve_fit",
    "custom",
    "debug",
    "directional",
    "divergence",
    "dtype",
    "extend",
    "float16",
    "float32",
    "float64",
    "fori_loop",
    "from_latex",
    "from_sympy",
    "get_auto_parallel_context",
    "get_context",
    "get_grad",
    "grad",
    "hessian",
    "hvp",
    "int8",
    "int16",
    "int32",
    "int64",
    "intermediates",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jet",
    "jvp",
    "laplacian",
    "least_squares",
    "load",
    "minimize",
    "named",
    "nn",
    "ops",
    "progress",
    "reset_auto_parallel_context",
    "root",
    "scan",
    "set_auto_parallel_context",
    "set_context",
    "stop_gradient",
    "stopping",
    "symbolic",
    "taylor",
    "trace",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]

#: what is imported when it is asked for: a name -> the module that has it, or is it
_LATER = {
    **{name: f".{name}" for name in ("amp", "extend", "nn", "ops")},
    "check": ".testing.contract",
    "cond": ".transforms.branches",
    "custom": ".custom_functions",
    "load": ".loading",
    **dict.fromkeys(("curve_fit", "least_squares", "minimize", "root"), ".optimization"),
    **dict.fromkeys(("from_latex", "from_sympy"), ".transforms.expressions"),
    **dict.fromkeys(("checkpoint", "fori_loop", "scan", "while_loop"), ".transforms.loops"),
    **dict.fromkeys(("directional", "jet", "taylor"), ".transforms.taylor"),
    **dict.fromkeys(("curl", "divergence", "laplacian"), ".transforms.vector_calculus"),
    "progress": ".watching",
    "vmap": ".transforms.vmap",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'symgrad' has no attribute {name!r}")
    module = importlib.import_module(_LATER[name], __name__)
    globals()[name] = found = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def load_ipython_extension(shell: object) -> None:
    """``%load_ext symgrad``: register the magics of ``symgrad_notebook``, imported here and nowhere else."""
    try:
        import symgrad_notebook
    except ModuleNotFoundError as error:
        if error.name not in ("symgrad_notebook", "IPython"):
            raise
        raise ImportError(f"%load_ext symgrad needs {error.name}: pip install 'symgrad[notebook]'") from None

    symgrad_notebook.load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """``%unload_ext symgrad``: leave nothing of them."""
    import symgrad_notebook

    symgrad_notebook.unload_ipython_extension(shell)
