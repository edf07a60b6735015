"""What pickles of symgrad's objects hold beside plain attributes: a name, or nothing."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from operator import attrgetter
from typing import Any, NoReturn

from .errors import UnsupportedOperation


class Importable:
    """A callable with a ``__wrapped__`` function, in whose place a module may hold it.

    The function then cannot be imported, so the callable itself is pickled, and copied, by the name that it is found
    under, as functions are.
    """

    def __reduce_ex__(self, protocol: Any) -> Any:
        function = inspect.unwrap(self)  # type: ignore[arg-type]
        module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
        with contextlib.suppress(AttributeError, TypeError):
            if attrgetter(name)(sys.modules.get(module)) is self:  # type: ignore[arg-type]
                return imported, (module, name)
        return super().__reduce_ex__(protocol)


def imported(module: str, name: str) -> Any:
    """What a module holds under a name."""
    return attrgetter(name)(importlib.import_module(module))


class OfOneProcess:
    """Something immutable that means nothing in another process: it is its own copy, and is not pickled."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise UnsupportedOperation(
            f"a {type(self).__name__} belongs to its process and cannot be pickled; pickle the derivative that it came "
            "from, or its Program, and ask that there."
        )
