"""Instances: what an object holds, and where Python cannot look."""

from __future__ import annotations

import types
from typing import Any

from .guards import MISSING
from .libraries import is_library

_HEAP_TYPE = 1 << 9  # of ``__flags__``
_POINTER = object.__basicsize__ // 2


def attributes_of(value: Any) -> dict[str, Any]:
    """What an instance holds under a name, in slots too."""
    return {**getattr(value, "__dict__", {}), **{n: read_slot(value, slot) for n, slot in slots(type(value)).items()}}


def is_used_up(value: Any) -> bool:
    """Whether a value is used up as it is read: an iterator of C."""
    kind = type(value)
    return hasattr(kind, "__next__") and (not kind.__flags__ & _HEAP_TYPE or is_library(kind.__module__))


def hides_content(kind: type) -> bool:
    """Whether instances hold more than their attributes."""
    references = len(slots(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ > object.__basicsize__ + references * _POINTER or kind.__itemsize__ > 0


def slots(kind: type) -> dict[str, Any]:
    """The attributes that have a place of their own, inherited and private ones too."""
    classes = [vars(c) for c in reversed(kind.__mro__) if "__slots__" in vars(c)]
    return {n: m for members in classes for n, m in members.items() if isinstance(m, types.MemberDescriptorType)}


def read_slot(holder: Any, slot: Any) -> Any:
    try:
        return slot.__get__(holder)
    except AttributeError:
        return MISSING
