"""What rules are given, as traced arrays: arrays, numbers, lists of either, arrays that the function has made."""

from __future__ import annotations

from typing import Any

import numpy as np

from .making import array_of
from .trace import array_node
from .tracer import Tracer


def array(value: Any) -> Any:
    """A traced array of what is given."""
    return Tracer(array_node(array_of(value) if isinstance(value, (list, tuple, np.poly1d)) else value))


def floats(value: Any) -> Any:
    """A traced array of floats, in the precision that they have."""
    made = array(value)
    return made if made.dtype.kind == "f" else made.astype(float)
