"""What is made of an object once, and kept with it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Owner = TypeVar("Owner")
Made = TypeVar("Made")


def kept(make: Callable[[Owner], Made]) -> Callable[[Owner], Made]:
    """``make`` of an object, made once; what it gives stays as long as the object does.

    It stands among the attributes of the object. A dictionary with weak keys would hold it for ever where it leads back
    to the object, as a Program does that calls a function of the user's which holds the derivative.

    >>> class Table: ...
    >>> @kept
    ... def rows(table): return []
    >>> table = Table()
    >>> rows(table) is rows(table), rows(table) is rows(Table())
    (True, False)
    """

    @functools.wraps(make)
    def of(owner: Owner) -> Made:
        known: dict[Any, Any] = vars(owner).setdefault("_kept", {})
        if make not in known:
            made = make(owner)
            known[make] = None if made is owner else made  # an object that holds itself is a cycle
        found: Any = owner if known[make] is None else known[make]
        return found

    return of
