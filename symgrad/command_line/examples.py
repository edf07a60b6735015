"""The example arguments of a command: values that are written out, files of arrays, objects of a module, shapes."""

from __future__ import annotations

import argparse
import inspect
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..named_dims import declaration_of, is_shapes, parameters_of
from ..tracing.tree import flatten, tree_map
from ..transforms.derived import DerivedFunction
from .objects import Objects

_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def examples(
    function: Callable, options: argparse.Namespace, derived: DerivedFunction, objects: Objects
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a derivative by position and by name: a value or a shape for each without a default.

    None where the function declares its shapes. Whole numbers that are written out become floats where ``derived`` is
    taken by them.
    """
    args, kwargs = _of_function(function, options, getattr(derived, "positions", None) or (), objects)
    sens = getattr(options, "sens", None)
    if sens is not None:
        kwargs["sens"] = _shape("sens", sens) if is_shapes(args, kwargs) else _value("sens", sens, objects)
    return args, kwargs


def _of_function(
    function: Callable, options: argparse.Namespace, positions: Sequence[int], objects: Objects
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of the function itself."""
    names = [p.name for p in parameters_of(function)]
    if options.args is not None:
        if options.at or options.shape:
            raise ArgumentError("--args gives every argument; leave out --at and --shape.")
        given = _example(options, objects)
        if not isinstance(given, Mapping):
            return _in_order(function, list(given) if isinstance(given, (tuple, list)) else [given], options), {}
        unknown = [name for name in given if name not in names]
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters_of(function)):
            raise ArgumentError(
                f"--args {options.args} has {unknown[0]!r}: the function takes {', '.join(names) or 'no names'}."
            )
        return _placed(function, given)
    values = {name: _value(name, text, objects) for name, text in _named(options.at, names, "--at")}
    shapes = {name: _shape(name, text) for name, text in _named(options.shape, names, "--shape")}
    if not values and not shapes and declaration_of(function) is not None:
        return [], {}
    if values and shapes:
        raise ArgumentError("--at and --shape do not go together: give every argument a value, or every one a shape.")
    floating = {names[k] for k in positions if k < len(names)}
    made = {name: tree_map(_floating, v) if name in floating else v for name, v in values.items()}
    return _placed(function, made or shapes)


def _example(options: argparse.Namespace, objects: Objects) -> Any:
    """What ``--args`` names: the arguments, or what a function without arguments gives."""
    name = options.args if ":" in options.args else f"{options.function.rpartition(':')[0]}:{options.args}"
    found = objects.named(name)
    return found() if inspect.isfunction(found) else found


def _in_order(function: Callable, given: list[Any], options: argparse.Namespace) -> list[Any]:
    """Arguments by position; an ArgumentError where there are too few."""
    needed = [p.name for p in parameters_of(function) if p.kind not in _OPEN and p.default is p.empty]
    if len(given) < len(needed):
        raise ArgumentError(f"--args {options.args} has no value for {needed[len(given)]}: give {', '.join(needed)}.")
    return given


def _placed(function: Callable, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """``given`` by position as far as no argument is left out, the others by name."""
    args: list[Any] = []
    parameters = [p for p in parameters_of(function) if p.kind not in _OPEN]
    kwargs = dict(given)
    for parameter in parameters:
        if parameter.name in given:
            if parameter.kind in _PLACED and len(args) == parameters.index(parameter):
                args.append(kwargs.pop(parameter.name))
        elif parameter.default is parameter.empty:
            raise ArgumentError(
                f"the argument {parameter.name} has no value; add --at {parameter.name}=…, or --shape "
                f"'{parameter.name}=…' for every argument ('' is a number), or name an object with --args."
            )
    return args, kwargs


def _named(given: Sequence[str], names: Sequence[str], flag: str) -> list[tuple[str, str]]:
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            raise ArgumentError(f"{flag} {text}: write NAME=… with one of {', '.join(names) or 'no names'}.")
        pairs.append((name, value))
    return pairs


def _value(name: str, text: str, objects: Objects) -> Any:
    """JSON, arrays for lists; or what a file of arrays or a module holds."""
    if text.startswith("@"):
        if ":" in text and not text.endswith((".npy", ".npz")):
            return objects.named(text[1:])
        try:
            found = np.load(text[1:], allow_pickle=False)
            return found if isinstance(found, np.ndarray) else dict(found)
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ArgumentError(f"--at {name}={text}: {error}") from None
    try:
        value = json.loads(text)
    except ValueError:
        raise ArgumentError(
            f"--at {name}={text} is no JSON; write numbers, lists and objects, such as 0.5 or [[1, 2]]."
        ) from None
    return _arrays(value, f"--at {name}={text}")


def _arrays(value: Any, said: str) -> Any:
    """JSON with an array for each list of numbers; objects, and lists of them, stay as they are."""
    if isinstance(value, dict):
        return {key: _arrays(v, said) for key, v in value.items()}
    if not isinstance(value, list):
        return value
    if any(isinstance(v, dict) for v in value):
        return [_arrays(v, said) for v in value]
    try:
        array = np.array(value)
    except ValueError:
        raise ArgumentError(f"{said}: the rows differ in length; an array needs rows of one length.") from None
    if array.dtype.kind not in "bif":
        raise ArgumentError(f"{said} is no array of numbers.")
    return array


def _shape(name: str, text: str) -> Any:
    """A shape as text, or JSON of them for an argument that is nested."""
    if not text.startswith(("{", "[")):
        return text
    try:
        tree = json.loads(text)
    except ValueError:
        raise ArgumentError(
            f'--shape {name}={text} is no JSON; write dims, or an object such as {{"w": "n d"}}.'
        ) from None
    if not all(isinstance(leaf, str) for leaf in flatten(tree)[0]):
        raise ArgumentError(f'--shape {name}={text}: write a text for each array, such as {{"w": "n d"}}.')
    return tree


def _floating(value: Any) -> Any:
    """A whole number as a float: what is differentiated by."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "i":
        return value.astype(float)
    return float(value) if type(value) is int else value
