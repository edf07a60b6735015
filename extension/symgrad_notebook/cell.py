"""What a ``%%grad`` cell says: the function it defines, what to differentiate by, and example arguments."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.nn import Cell


def defined_function(source: str, namespace: dict[str, Any]) -> tuple[str, Callable]:
    """The last function or Cell that ``source`` defines or assigns, after it has run in ``namespace``.

    A Cell class that takes no arguments is instantiated.
    """
    for name in reversed(_bound_names(source)):
        value = namespace.get(name)
        if isinstance(value, type) and issubclass(value, Cell):
            return name, _instance(name, value)
        if isinstance(value, Cell) or inspect.isfunction(value):
            return name, value
    raise ArgumentError("%%grad: the cell defines no function and no Cell; write `def f(x): …` in it.")


def _bound_names(source: str) -> list[str]:
    names = []
    for statement in ast.parse(source).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names.append(statement.name)
        elif isinstance(statement, ast.Assign):
            names += [t.id for t in statement.targets if isinstance(t, ast.Name)]
    return names


def _instance(name: str, cell: type) -> Cell:
    try:
        inspect.signature(cell).bind()
    except TypeError:
        raise ArgumentError(
            f"%%grad: the Cell {name} takes arguments; make one in the cell, as its last line: `net = {name}(…)`."
        ) from None
    return cell()


def argument_names(function: Callable) -> list[str]:
    """The positional arguments of a function, or of a Cell's construct."""
    target = function.construct if isinstance(function, Cell) else function
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(target).parameters.values() if p.kind in kinds]


def chosen(function: Callable, wrt: str | None) -> tuple[tuple[int, ...] | None, tuple | None]:
    """Positions and weights that ``--wrt`` names; the first argument where it names nothing."""
    names = argument_names(function)
    if wrt is None:
        if not names:
            raise ArgumentError("%%grad: the function takes no arguments to differentiate by.")
        return (0,), None
    weights = {p.name: p for p in function.trainable_params()} if isinstance(function, Cell) else {}
    positions, parameters = [], []
    for name in [part.strip() for part in wrt.split(",") if part.strip()]:
        if name in names:
            positions.append(names.index(name))
        elif name in weights:
            parameters.append(weights[name])
        else:
            known = ", ".join([*names, *weights])
            raise ArgumentError(f"%%grad: --wrt names {name!r}; the function has {known}.")
    return tuple(positions) or None, tuple(parameters) or None


def example_arguments(function: Callable, at: str | None, namespace: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """Values to trace with, and the names of the arguments for which 1.0 had to be assumed.

    They come from ``--at``, else from variables of the notebook with the argument's name, else from defaults.
    """
    given = parsed_values(at, namespace) if at else {}
    target = function.construct if isinstance(function, Cell) else function
    parameters = inspect.signature(target).parameters
    names = argument_names(function)
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise ArgumentError(f"%%grad: --at gives {', '.join(unknown)}; the function takes {', '.join(names)}.")
    values, assumed = [], []
    for name in names:
        if name in given:
            values.append(given[name])
        elif _is_example(namespace.get(name)):
            values.append(namespace[name])
        elif parameters[name].default is not inspect.Parameter.empty:
            values.append(parameters[name].default)
        else:
            values.append(1.0)
            assumed.append(name)
    return values, assumed


def _is_example(value: Any) -> bool:
    return isinstance(value, (float, np.ndarray, np.floating))


def parsed_values(text: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """``x=[1.0, 2.0], y=name`` as values: literals, or names of the notebook; nothing is evaluated.

    >>> parsed_values("x=[1, 2.5], y=z", {"z": 3.0})
    {'x': array([1. , 2.5]), 'y': 3.0}
    """
    try:
        call = ast.parse(f"_({text})", mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise ArgumentError(f"%%grad: cannot read {text!r}; write it as 'x=[1.0, 2.0], y=name'.")
    return {str(k.arg): _value(k.value, namespace) for k in call.keywords}


def named_value(text: str, namespace: dict[str, Any]) -> Any:
    """One literal or name of the notebook, as ``--sens`` takes it."""
    return parsed_values(f"value={text}", namespace)["value"]


def _value(node: ast.expr, namespace: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        if node.id not in namespace:
            raise ArgumentError(f"%%grad: there is no variable {node.id!r} in the notebook.")
        return namespace[node.id]
    try:
        value = ast.literal_eval(node)
    except ValueError:
        raise ArgumentError(
            f"%%grad: {ast.unparse(node)!r} is neither a literal nor a name; assign it to a variable first."
        ) from None
    if isinstance(value, (list, tuple)) and _is_numeric(value):
        return np.asarray(value, dtype=float)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _is_numeric(value: Sequence[Any]) -> bool:
    return all(_is_numeric(v) if isinstance(v, (list, tuple)) else isinstance(v, (int, float)) for v in value)
