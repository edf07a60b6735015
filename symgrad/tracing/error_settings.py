"""Settings by which NumPy and Python make errors of what they compute: refused, for kernels raise and note none."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import CONTRACT
from .dispatch import refuse

_RAISING = frozenset(("raise", "call", "log"))
_ADVICE = f"Ask the values themselves, with np.where or np.isfinite. {CONTRACT}"


def refuse_errors_of_values(function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> None:
    """Refuse a call that has code go another way where a value is out of a domain, too large or no number."""
    if function is np.errstate or function is np.seterr:
        said = [v for v in (*args, *kwargs.values()) if isinstance(v, str) and v in _RAISING]
        if said:
            refuse(f"np.{function.__name__} with {said[0]!r} notes nothing of what kernels compute. {_ADVICE}")
    elif function is warnings.catch_warnings:
        if kwargs.get("record"):
            refuse(f"warnings.catch_warnings(record=True) sees none of those that kernels would give. {_ADVICE}")
    elif (function is warnings.simplefilter or function is warnings.filterwarnings) and "error" in (
        *args[:1],
        kwargs.get("action"),
    ):
        refuse(f"warnings.{function.__name__}('error') raises nothing in kernels. {_ADVICE}")
