"""View: a method that lives in a module of its own, so that what few calls need is not imported for all."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

from ..tracebacks import briefly


class View:
    """Stands in a class for the function of its name in ``module``, and gives way to it when it is first asked for.

    The function is given the arguments of a derivative as its rules know them, whatever names they were passed by.

    >>> from symgrad.transforms.derived import DerivedFunction
    >>> DerivedFunction.closed_form.__module__
    'symgrad.transforms.shown'
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: Any, kind: type) -> Any:
        function = briefly(_ordering(getattr(importlib.import_module(self._module, __package__), self._name)))
        setattr(self._owner, self._name, function)
        return function if instance is None else MethodType(function, instance)


def _ordering(function: Callable) -> Callable:
    """``function`` of a derivative, of what else it takes, and of the arguments, which it is given in order."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):  # it takes none
        return function
    first = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    options = {*first, *[p.name for p in parameters if p.kind is p.KEYWORD_ONLY]}

    @functools.wraps(function)
    def method(derived: Any, *args: Any, **kwargs: Any) -> Any:
        own = {name: value for name, value in kwargs.items() if name not in options}
        count = len([name for name in first if name not in kwargs])
        if not own or len(args) < count:
            return function(derived, *args, **kwargs)
        ordered, named = derived._in_order(args[count:], own)
        rest = iter(args)
        begun = [kwargs[name] if name in kwargs else next(rest) for name in first]
        said = {name: value for name, value in kwargs.items() if name in options.difference(first)}
        return function(derived, *begun, *ordered, **said, **named)

    return method
