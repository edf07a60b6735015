"""What stands in the place of methods of users' classes while traces that follow calls are running, in any thread.

What is remembered of a class, and put back into it, is its own.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..program.forks import Lock, in_each_child
from .trace import current


class StandIns(NamedTuple):
    """How many traces follow the methods of a class, its own ones, and what stands in their place."""

    traces: int
    own: dict[str, Any]
    given: dict[str, Any]


#: the classes whose methods are followed now
OF_CLASSES: dict[type, StandIns] = {}
#: held by what changes them, or a class with them
LOCK = Lock(threading.RLock)


def own_members(cls: type) -> Mapping[str, Any]:
    """What a class holds, its own methods in the place of what stands in for them."""
    stand_ins = OF_CLASSES.get(cls)
    if stand_ins is None:
        return vars(cls)
    _, own, given = stand_ins
    return {name: own[name] if name in given and given[name] is v else v for name, v in vars(cls).items()}


def _forget() -> None:
    """In a child that was forked: no class is followed for the traces of the threads that it has not."""
    if current() is not None:
        return
    for cls, (_, own, given) in OF_CLASSES.items():
        for name, method in own.items():
            if vars(cls).get(name) is given[name]:
                type.__setattr__(cls, name, method)
    OF_CLASSES.clear()


in_each_child(_forget)
