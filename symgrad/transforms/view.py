"""View: a method that lives in a module of its own, so that what few calls need is not imported for all."""

from __future__ import annotations

import importlib
from types import MethodType
from typing import Any

from ..tracebacks import briefly


class View:
    """Stands in a class for the function of its name in ``module``, and gives way to it when it is first asked for.

    >>> from symgrad.transforms.derived import DerivedFunction
    >>> DerivedFunction.closed_form.__module__
    'symgrad.transforms.shown'
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: Any, kind: type) -> Any:
        function = briefly(getattr(importlib.import_module(self._module, __package__), self._name))
        setattr(self._owner, self._name, function)
        return function if instance is None else MethodType(function, instance)
