"""Operator: a NumPy function as a class whose options are fixed when it is made, as MindSpore has them.

    @operator
    def Softmax(x, *, axis=-1): ...

declares one: the positional parameters are what it is called with, the keyword-only ones what it is made
with. ``ufunc_operator`` does it for a ufunc, and ``function_form`` gives the function to the class.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..differentiation.custom import call_with_rule
from ..errors import ArgumentTypeError, mistakes
from ..tracing.trace import current

__all__ = ["Operator"]


class Operator:
    """Base of the operators: ``Op(**options)`` makes one, calling it applies it to arrays.

    Arrays are Tensors, ndarrays, Parameters or traced values; Tensors and Parameters give Tensors. An
    unknown option, or a wrong number of arguments, is an ArgumentTypeError.

    >>> from symgrad import ops
    >>> ops.Softmax(axis=0)
    Softmax<axis=0>
    """

    #: option -> its default
    options: ClassVar[dict[str, Any]] = {}
    #: the names of the arguments of a call, and how many of them it needs
    inputs: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[int] = 0
    #: ``getter(operator)`` gives the bprop that replaces the derivative; set by ``bprop_getters``
    bprop_getter: ClassVar[Callable | None] = None
    _function: ClassVar[Callable]

    def __init__(self, *args: Any, **options: Any) -> None:
        vars(self).update(chosen(type(self).__name__, self.options, args, options))

    def __call__(self, *args: Any, **named: Any) -> Any:
        args += tuple(named.pop(n) for n in self.inputs[len(args) :] if n in named)
        if named or not self.needed <= len(args) <= len(self.inputs):
            raise ArgumentTypeError(
                f"{type(self).__name__} is called with ({', '.join(self.inputs)}), of which it needs {self.needed}; "
                f"it got {len(args)}" + (f" and {', '.join(named)}." if named else ".")
            )
        getter = type(self).bprop_getter
        with mistakes(type(self).__name__):
            if getter is None or current() is None:
                return self._compute(*args)
            return call_with_rule(f"the bprop of {type(self).__name__}", self._compute, getter(self), args)

    def _compute(self, *args: Any) -> Any:
        return type(self)._function(*args, **vars(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{', '.join(f'{k}={v!r}' for k, v in vars(self).items())}>"


def chosen(caller: str, options: Mapping[str, Any], args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The options that ``caller`` is made with, given in their order or by name; the others have their defaults."""
    made = {**options, **dict(zip(options, args, strict=False)), **named}
    wrong = [n for n in named if n not in options or n in list(options)[: len(args)]]
    missing = [n for n, value in made.items() if value is inspect.Parameter.empty]
    if wrong or missing or len(args) > len(options):
        told = ", ".join([n if v is inspect.Parameter.empty else f"{n}={v!r}" for n, v in options.items()])
        raise ArgumentTypeError(f"{caller} takes the options ({told}), each once; it got {(*args, *named)}.")
    return made


def operator(function: Callable) -> type[Operator]:
    """The operator class that ``function`` declares, under its name and with its docstring."""
    parameters = inspect.signature(function).parameters.values()
    inputs = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return _operator_class(
        function.__name__,
        function,
        function.__doc__,
        function.__module__,
        tuple(p.name for p in inputs),
        sum(p.default is p.empty for p in inputs),
        {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY},
    )


def ufunc_operator(name: str, ufunc: np.ufunc, doc: str, module: str) -> type[Operator]:
    """The operator class of a ufunc; ``doc`` says what it computes, ``module`` is where it is declared."""
    text = f"{doc}, element by element, with broadcasting (``np.{ufunc.__name__}``); it has no options."
    return _operator_class(name, ufunc, text, module, ("x", "y")[: ufunc.nin], ufunc.nin, {})


def _operator_class(name, function, doc, module, inputs, needed, options) -> type[Operator]:
    body = {
        "__doc__": doc,
        "__module__": module,
        "_function": staticmethod(function),
        "inputs": inputs,
        "needed": needed,
        "options": options,
    }
    return type(name, (Operator,), body)


def function_form(name: str, made: type[Operator]) -> Callable:
    """The function of an operator class: the arguments of the call, then its options."""

    most = len(made.inputs)

    def function(*args: Any, **named: Any) -> Any:
        options = {n: named.pop(n) for n in made.options if n in named}
        return made(*args[most:], **options)(*args[:most], **named)

    signature = ", ".join([*made.inputs, *(f"{k}={v!r}" for k, v in made.options.items())])
    function.__name__ = function.__qualname__ = name
    function.__module__ = f"{__package__}.functional"
    what, _, _ = str(made.__doc__).partition("\n\n    >>>")  # the example is that of the class
    function.__doc__ = f"``{name}({signature})`` is ``ops.{made.__name__}`` as a function.\n\n{what}"
    return function
