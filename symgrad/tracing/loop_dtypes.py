"""The dtypes that NumPy's loops compute in where a call asks for one of its results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError
from ..primitives.casting import cast
from ..program.node import Node
from .trace import as_node

#: numbers of Python, by the kinds of their dtypes
PYTHON_SCALARS: dict[str, type] = {"c": complex, "f": float, "i": int, "u": int, "b": bool}


def for_dtype(ufunc: np.ufunc, inputs: tuple, dtype: Any) -> list[Node]:
    """The inputs in the dtypes of the loop by which NumPy computes results of ``dtype``."""
    nodes = [as_node(v) for v in inputs]
    kinds: Any = [PYTHON_SCALARS[n.dtype.kind] if n.weak else n.dtype for n in nodes]
    signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    try:
        loop = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), signature=signature)
    except TypeError as error:
        raise ArgumentTypeError.here(f"np.{ufunc.__name__}(dtype={np.dtype(dtype)}): {error}") from None
    return [cast(n, kind) for n, kind in zip(nodes, loop, strict=False)]
