"""What a forked child has of its parent's threads: none of the locks that they held decides anything in it."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


def in_each_child(forget: Callable[[], Any]) -> None:
    """Call ``forget`` in each child that is forked from now on, before anything else of it runs."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


class Lock:
    """A lock of a module, and another one in each child: the thread that held it may be none of the child's.

    ``make`` makes it: ``threading.RLock`` where a thread that has it may take it again.
    """

    def __init__(self, make: Callable[[], Any] = threading.Lock) -> None:
        self._make = make
        self._renew()
        in_each_child(self._renew)

    def _renew(self) -> None:
        self._own = self._make()

    def __enter__(self) -> None:
        self._own.acquire()

    def __exit__(self, *exc: Any) -> None:
        self._own.release()


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """As that of newer versions of Python: no lock of all objects, which a thread of the parent may have held.

        >>> class Table:
        ...     @cached_property
        ...     def rows(self): return []
        >>> table = Table()
        >>> table.rows is table.rows
        True
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            known = vars(instance)
            if self.attrname not in known:
                known[self.attrname] = self.func(instance)
            return known[self.attrname]
