"""Containers: the classes whose instances hold data, and how these are taken apart and put together.

Dataclasses, attrs classes and ``types.SimpleNamespace`` are known by what they are, other classes by ``register``.
An object of symgrad's own is none, nor is what holds more than its attributes.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .guards import MISSING
from .instances import hides_content, read_slot, slots


@dataclass(frozen=True)
class Container:
    """What gives the parts of an instance by name, and what makes an instance of parts of these names."""

    take_apart: Callable[[Any], Mapping[str, Any]]
    put_together: Callable[[dict[str, Any]], Any]
    #: parts that nothing is differentiated by, arrays too; where there are any, the object is one array to vmap
    fixed: frozenset[str] = frozenset()
    #: the part that is called as the object is
    itself: str = ""


_registered: dict[type, Container] = {}
#: what knows the classes of a library
families: list[Callable[[type], Container | None]] = []


def register(kind: type, own: Container | None = None) -> None:
    """Know the instances of ``kind`` as containers; by their attributes where nothing else is said."""
    _registered[kind] = own or _by_attributes(kind)
    container.cache_clear()


@functools.lru_cache(maxsize=1024)
def container(kind: type) -> Container | None:
    """How the instances of a class are taken apart; None for those of other classes, which are leaves."""
    known = _registered.get(kind)
    if known is not None:
        return known
    if _holds_data(kind):
        return _by_attributes(kind)
    return next((own for own in (find(kind) for find in families) if own is not None), None)


def _holds_data(kind: type) -> bool:
    if issubclass(kind, types.SimpleNamespace):
        return True
    if not (hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__attrs_attrs__")):
        return False
    if kind.__module__.partition(".")[0] in ("symgrad", "symgrad_notebook"):
        return False
    if all(hasattr(kind, name) for name in ("__array__", "__getitem__", "shape", "dtype")):  # an array, as Zarr's
        return False
    return not (issubclass(kind, (type, np.ndarray)) or hasattr(kind, "_guarded") or hides_content(kind))


def _by_attributes(kind: type) -> Container:
    """A container whose parts are the attributes of each instance; one that is made runs none of the user's code.

    What a ``cached_property`` keeps is computed from the others, so it is left out.
    """
    cached = {n for c in kind.__mro__ for n, m in vars(c).items() if isinstance(m, functools.cached_property)}
    places = {n: place for n, place in slots(kind).items() if n not in cached}
    fields = getattr(kind, "__attrs_attrs__", None)
    if fields is not None:  # attrs keeps cached properties in slots
        names = {field.name for field in fields}
        places = {n: place for n, place in places.items() if n in names}
    new = types.SimpleNamespace.__new__ if issubclass(kind, types.SimpleNamespace) else object.__new__

    def take_apart(value: Any) -> dict[str, Any]:
        held = {n: v for n, v in getattr(value, "__dict__", {}).items() if n not in cached}
        for name, place in places.items():
            part = read_slot(value, place)
            if part is not MISSING:
                held[name] = part
        return held

    def put_together(parts: dict[str, Any]) -> Any:
        made = new(kind)
        for name, part in parts.items():
            place = places.get(name)
            if place is None:
                made.__dict__[name] = part
            else:
                place.__set__(made, part)
        return made

    return Container(take_apart, put_together)
