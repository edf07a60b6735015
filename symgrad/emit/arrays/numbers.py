"""Numbers, dtypes and shapes as Python source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def numpy_dtype(dtype: np.dtype) -> str:
    """A dtype as ``np`` knows it.

    >>> numpy_dtype(np.dtype(bool)), numpy_dtype(np.dtype(np.float32))
    ('np.bool_', 'np.float32')
    """
    if dtype == np.longdouble and dtype != np.float64:
        return "np.longdouble"
    return f"np.{'bool_' if dtype.kind == 'b' else dtype.name}"


def number(value: Any) -> str:
    """A NumPy or Python scalar, exactly.

    >>> number(np.float32(0.1)), number(np.nan), number(-np.inf), number(np.True_), number(-0.0)
    ('0.1', 'np.nan', '-np.inf', 'True', '-0.0')
    >>> number(2j), number(1 - 2j)
    ('2.0j', 'complex(1.0, -2.0)')
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        first, second = number(value.real), number(value.imag)
        is_short = first == "0.0" and np.isfinite(value) and not second.startswith("-")
        return f"{second}j" if is_short else f"complex({first}, {second})"
    if np.isnan(value):
        return "np.nan"
    if np.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value) if isinstance(value, float) and type(value) is float else str(value)


def shape_text(shape: Sequence[Any]) -> str:
    """A shape for comments, whose dims are spelled by their own names.

    >>> shape_text((2, 3)), shape_text(())
    ('(2, 3)', '()')
    """
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
