"""Settings by which NumPy and Python make errors of what they compute: refused, for kernels raise and note none.

They are refused where they are set, which is the user's line, and where something is computed under others than at the
start of the trace: a decorator, a manager that was made elsewhere or code of a library has set these.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy._core import umath

from ..errors import CONTRACT, is_asked_by_library
from .dispatch import refuse

_RAISING = frozenset(("raise", "call", "log"))
#: NumPy's settings in this context, one object as long as nobody sets others; a copy of them where it has no such
_numpys = getattr(getattr(umath, "_extobj_contextvar", None), "get", np.geterr)
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


class Settings:
    """The settings at the start of a trace."""

    def __init__(self) -> None:
        self._now = _now()
        self._errors = np.geterr()
        self._filters = tuple(warnings.filters)

    def refuse_others(self) -> None:
        """Refuse to compute where errors are raised or noted that were not at the start."""
        now = _now()
        if now == self._now or is_asked_by_library():  # what a library is told is its own affair
            return
        said = [v for k, v in np.geterr().items() if v in _RAISING and v != self._errors[k]]
        if said:
            refuse(f"np.errstate or np.seterr with {said[0]!r} notes nothing of what kernels compute. {_ADVICE}")
        if any(f[0] == "error" for f in warnings.filters if f not in self._filters):
            refuse(f"a filter that makes errors of warnings raises nothing in kernels. {_ADVICE}")
        if now[2:] != self._now[2:]:
            refuse(f"what takes warnings to look at them sees none of those that kernels would give. {_ADVICE}")


def _now() -> tuple[Any, ...]:
    shown = warnings.showwarning, getattr(warnings, "_showwarnmsg_impl", None)
    return _numpys(), (id(warnings.filters), len(warnings.filters)), *shown
