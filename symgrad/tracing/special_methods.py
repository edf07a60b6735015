"""Special methods of users' classes, their calls followed: Python calls these itself, for ``abs(v)`` or ``for x in v``.

While a trace that follows calls is running, the classes that the function can reach have special methods that do so,
and after it their own again. In another thread, where no trace is running, these do what the class's own do.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType

from ..errors import is_library
from .calls import followed
from .libraries import is_library as is_library_module

#: that make a class or an instance, unmake one, or say what its attributes are
_LEFT = frozenset(
    (
        *("__new__", "__init__", "__init_subclass__", "__class_getitem__", "__set_name__", "__del__"),
        *("__getattr__", "__getattribute__", "__setattr__", "__delattr__"),
    )
)
#: of which Python takes no other value than one of this type
_PLAIN = {"__bool__": bool, "__len__": int, "__index__": int, "__int__": int, "__hash__": int}
_lock = threading.Lock()
#: class -> how many traces follow its methods, its own ones, and what stands in their place
_followed: dict[type, tuple[int, dict[str, FunctionType], dict[str, Callable]]] = {}


@contextmanager
def followed_methods(classes: Iterable[type]) -> Iterator[None]:
    """Inside, the special methods of ``classes``, and of what these derive from, are followed."""
    own = {c for cls in classes for c in cls.__mro__ if not is_library_module(c.__module__)}
    taken: list[type] = []
    try:
        for cls in own:
            with _lock:
                taken.append(cls)
                _take(cls)
        yield
    finally:
        for cls in taken:
            with _lock:
                _give_back(cls)


def _take(cls: type) -> None:
    count, own, given = _followed.get(cls, (0, {}, {}))
    if not count:
        own = {name: method for name, method in vars(cls).items() if _is_special(name, method)}
        given = {name: _following(name, method) for name, method in own.items()}
    _followed[cls] = count + 1, own, given
    if not count:
        for name, method in given.items():
            type.__setattr__(cls, name, method)


def _give_back(cls: type) -> None:
    count, own, given = _followed.pop(cls)
    if count > 1:
        _followed[cls] = count - 1, own, given
        return
    for name, method in own.items():
        if vars(cls).get(name) is given[name]:  # the class has no other since
            type.__setattr__(cls, name, method)


def _following(name: str, method: FunctionType) -> Callable:
    inside, kind = followed(method), _PLAIN.get(name)
    return inside if kind is None else functools.wraps(method)(lambda *args: kind(inside(*args)))


def _is_special(name: str, method: object) -> bool:
    is_named = name.startswith("__") and name.endswith("__") and name not in _LEFT
    return is_named and type(method) is FunctionType and not is_library(method.__code__.co_filename)
