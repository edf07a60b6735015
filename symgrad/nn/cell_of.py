"""Cells that are made with the options of a function of arrays, and apply it."""

from __future__ import annotations

import inspect
from typing import Any

from .. import ops
from ..ops.operator import chosen
from .cell import Cell


def cell_of(
    name: str,
    function: Any,
    *,
    inputs: int = 1,
    order: str | None = None,
    base: type[Cell] = Cell,
    told: str | None = None,
    **defaults: Any,
) -> Any:
    """A cell of ``function``, which may be an operator: made with what this takes behind ``inputs`` arrays.

    ``order`` is that of the options where it is not the function's, ``told`` says what the cell does where its own
    docstring does not, and ``defaults`` take the place of the function's.
    """
    is_operator = isinstance(function, type) and issubclass(function, ops.Operator)
    if is_operator:
        known, arrays = function.options, function.inputs
    else:
        known = {p.name: p.default for p in list(inspect.signature(function).parameters.values())[inputs:]}
        arrays = list(inspect.signature(function).parameters)[:inputs]
    options = {n: defaults.get(n, known[n]) for n in (order.split() if order else known)}

    def __init__(self: Cell, *args: Any, **named: Any) -> None:
        made = chosen(name, options, args, named)
        base.__init__(self, *[made[n] for n in inspect.signature(base).parameters if n in made])
        for option, value in made.items():
            setattr(self, option, value)

    def construct(self: Cell, *given: Any) -> Any:
        own = {n: getattr(self, n) for n in options}
        return function(**own)(*given) if is_operator else function(*given, **own)

    seen = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("self", *arrays)]
    construct.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined]

    def extend_repr(self: Cell) -> str:
        return ", ".join([f"{n}={getattr(self, n)!r}" for n in options if getattr(self, n) is not None])

    if told is None:
        what = str(function.__doc__).partition("\n\n    >>>")[0]
        told = f"``ops.{function.__name__}`` as a cell, made with ({', '.join(options)}): {what}"
    methods = {"__init__": __init__, "construct": construct, "extend_repr": extend_repr}
    return type(name, (base,), {**methods, "__doc__": told, "__module__": __package__})
