"""Containers: the classes whose instances hold data, and how these are taken apart and put together.

Dataclasses, attrs classes, ``types.SimpleNamespace``, and the user's own lists, tuples and dicts are known by what they
are, other classes by ``register``.
An object of symgrad's own is none, nor is what holds more than its attributes.
"""

from __future__ import annotations

import functools
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..errors import ArgumentTypeError
from .guards import MISSING
from .instances import hides_content, read_slot, slots
from .libraries import is_library


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
    if issubclass(kind, (list, tuple, dict)) and not (is_library(kind.__module__) or hasattr(kind, "_fields")):
        return _by_items(kind)
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
        _set_all(made, parts, places)
        return made

    return Container(take_apart, put_together)


def _set_all(made: Any, attributes: Mapping[str, Any], places: Mapping[str, Any]) -> None:
    """Give a new instance its attributes, past what its class would do of it."""
    for name, value in attributes.items():
        place = places.get(name)
        if place is None:
            made.__dict__[name] = value
        else:
            place.__set__(made, value)


class Attribute(str):
    """The name of an attribute among the keys of a dict."""


_ITS_OWN = Attribute("__dict__")
_FACTORY = Attribute("default_factory")


def _plain(kind: type) -> Any:
    """The dict of Python's that a class is derived from, which says how its items are held."""
    return OrderedDict if issubclass(kind, OrderedDict) else dict


def _by_items(kind: type) -> Container:
    """A container whose parts are the items of a list, tuple or dict of the user's, and its attributes."""
    own, new = _by_attributes(kind), cast(Any, kind).__new__

    def take_apart(value: Any) -> dict[Any, Any]:
        is_its_own = getattr(value, "__dict__", None) is value  # whose keys are its attributes
        attributes = {Attribute(name): v for name, v in ({} if is_its_own else own.take_apart(value)).items()}
        attributes |= {_ITS_OWN: True} if is_its_own else {}
        if isinstance(value, defaultdict):
            attributes[_FACTORY] = value.default_factory
        items = dict(_plain(kind).items(value)) if isinstance(value, dict) else dict(enumerate(value))
        if not items.keys().isdisjoint(attributes):
            raise ArgumentTypeError(f"a {kind.__name__} has an attribute that is called as one of its keys.")
        return items | attributes

    def put_together(parts: dict[Any, Any]) -> Any:
        items = {key: v for key, v in parts.items() if type(key) is not Attribute}
        made: Any = tuple.__new__(kind, items.values()) if issubclass(kind, tuple) else new(kind)
        if issubclass(kind, list):
            list.extend(made, items.values())
        elif issubclass(kind, dict):
            for key, v in items.items():
                _plain(kind).__setitem__(made, key, v)
        if issubclass(kind, defaultdict):
            made.default_factory = parts[_FACTORY]
        if _ITS_OWN in parts:
            made.__dict__ = made
        else:
            own_parts = {str(key): v for key, v in parts.items() if type(key) is Attribute and key != _FACTORY}
            _set_all(made, own_parts, slots(kind))
        return made

    return Container(take_apart, put_together)
