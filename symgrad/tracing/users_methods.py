"""Special methods and properties of users' classes, their calls followed where Python or a library calls them.

Python does for ``abs(v)``, ``for x in v`` or ``v.a = x``. A method with a name of its own stays what it is, for it may
be kept and compared.

While a trace that follows calls is running, the classes that the function can reach have ones that do so, and after it
their own again. In another thread, where no trace is running, these do what the class's own do.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from ..errors import is_library
from .calls import followed
from .libraries import is_library as is_library_module
from .stand_ins import LOCK, OF_CLASSES, StandIns

#: that make a class or an instance, unmake one, or are asked at every step
_LEFT = frozenset(
    ("__new__", "__init__", "__init_subclass__", "__class_getitem__", "__set_name__", "__del__", "__getattribute__")
)
#: of which Python takes no other value than one of this type
_PLAIN = {"__bool__": bool, "__len__": int, "__index__": int, "__int__": int, "__hash__": int}


@contextmanager
def followed_methods(classes: Iterable[type]) -> Iterator[None]:
    """Inside, special methods and properties of ``classes``, and of what these derive from, are followed."""
    own = {c for cls in classes for c in cls.__mro__ if not is_library_module(c.__module__)}
    taken: list[type] = []
    try:
        for cls in own:
            with LOCK:
                taken.append(cls)
                _take(cls)
        yield
    finally:
        for cls in taken:
            with LOCK:
                _give_back(cls)


def _take(cls: type) -> None:
    count, own, given = OF_CLASSES.get(cls, StandIns(0, {}, {}))
    if not count:
        given = {name: made for name, own in vars(cls).items() if (made := _following(name, own)) is not None}
        own = {name: vars(cls)[name] for name in given}
    OF_CLASSES[cls] = StandIns(count + 1, own, given)
    if not count:
        for name, method in given.items():
            type.__setattr__(cls, name, method)


def _give_back(cls: type) -> None:
    count, own, given = OF_CLASSES.pop(cls)
    if count > 1:
        OF_CLASSES[cls] = StandIns(count - 1, own, given)
        return
    for name, method in own.items():
        if vars(cls).get(name) is given[name]:  # the class has no other since
            type.__setattr__(cls, name, method)


def _following(name: str, own: Any) -> Any:
    """What stands in the place of an attribute of a class, if anything."""
    if type(own) is property:
        return property(*map(_as_followed, (own.fget, own.fset, own.fdel)), doc=own.__doc__)
    if name in _LEFT or not (name.startswith("__") and name.endswith("__") and _is_users(own)):
        return None
    kind, method = _PLAIN.get(name), followed(own)
    return method if kind is None else functools.wraps(own)(lambda *args: kind(method(*args)))


def _as_followed(function: Any) -> Any:
    return followed(function) if _is_users(function) else function


def _is_users(function: Any) -> bool:
    return type(function) is FunctionType and not is_library(function.__code__.co_filename)
