"""What ``FILE.py:NAME`` and ``package.module:NAME`` name: functions, Cells, and example arguments."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..nn import Cell
from ..transforms.derived import DerivedFunction


class Objects:
    """The objects of one command; a file is run once, however many of its objects are named."""

    def __init__(self) -> None:
        self._modules: dict[str, Any] = {}

    def function(self, spelled: str) -> Callable:
        """The function, derivative or Cell of this name."""
        found = self.named(spelled)
        if isinstance(found, type):
            raise ArgumentError(f"{spelled} is a class; name a function, or an object of the class.")
        if not callable(found):
            raise ArgumentError(f"{spelled} is a {type(found).__name__}, not a function.")
        return found

    def named(self, spelled: str) -> Any:
        """The object of this name."""
        where, colon, name = spelled.rpartition(":")
        if not colon or not name:
            raise ArgumentError(f"{spelled!r} names no object; write FILE.py:NAME or package.module:NAME.")
        if where not in self._modules:
            self._modules[where] = _module_of_file(Path(where)) if where.endswith(".py") else _module_named(where)
        module = found = self._modules[where]
        for part in name.split("."):
            if not hasattr(found, part):
                raise ArgumentError(f"{where} has no {name}; it has {', '.join(_functions(module)) or 'no functions'}.")
            found = getattr(found, part)
        return found


def _module_of_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # as an import would: pickles and dataclasses look it up
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _module_named(name: str) -> Any:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise ArgumentError(f"there is no module {name}; a file is named with its .py.") from None


def _functions(module: Any) -> list[str]:
    """What a module has that can be derived."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, (Cell, DerivedFunction))
        or (inspect.isfunction(value) and value.__module__ == module.__name__)
    ]
