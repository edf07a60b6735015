"""Example arguments for a trace: from ``--at``, from defaults, from the notebook; nothing is evaluated."""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.flags.derivative import argument_names
from symgrad.named_dims import declaration_of, parameters_of
from symgrad.program.dims import is_named, value_of
from symgrad.tracing.tree import flatten, tree_map


def example_arguments(
    function: Callable, at: str | None, namespace: dict[str, Any], positions: Collection[int], along: bool = False
) -> tuple[list[Any], list[str]]:
    """A value for each argument, and the names of those for which ones stand in.

    Last is the direction, called ``v`` in ``at`` or in the notebook, of a derivative that is ``along`` one.

    A value comes from ``at``, else from the argument's default, else from the variable of that name in
    the notebook; else it is an array of ones of the shape that the function declares, or 1.0 where it says ``float``.
    An ArgumentError asks for what has neither value nor shape: a formula for a number would be taken for one of arrays.
    Whole numbers become floats at ``positions``, those that are differentiated by; other variables and defaults stay as
    they are, so that sizes and axes are whole. Numbers in ``at`` stay whole where the default is, or ``int`` is
    annotated.
    """
    names = argument_names(function)
    defaults = {p.name: p.default for p in parameters_of(function) if p.default is not inspect.Parameter.empty}
    annotations = {p.name: p.annotation for p in parameters_of(function)}
    whole = {name for name, value in defaults.items() if isinstance(value, int)}
    whole |= {name for name, kind in annotations.items() if kind in (int, "int")}
    given = parsed_values(at, namespace, whole) if at else {}
    directions = [_direction(names, given, namespace)] if along else []
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise ArgumentError(f"--at gives {', '.join(unknown)}; the function takes {', '.join(names)}.")
    values: list[Any] = []
    assumed: list[str] = []
    for k, name in enumerate(names):
        if name in given:
            value = given[name]
        elif name in defaults and (k not in positions or is_example(defaults[name])):
            value = defaults[name]
        elif is_example(namespace.get(name)):
            value = namespace[name]
        else:
            value = 1.0
            assumed.append(name)
        values.append(tree_map(_floating, value) if k in positions else value)
    declaration = declaration_of(function) if assumed else None
    trees: Sequence[Any] = [None] * len(names)
    if declaration is not None:
        trees, _ = declaration.shapes(values, {})
        values = _as_declared(values, trees, [name in assumed for name in names])
    missing = [
        name
        for name, tree in zip(names, trees, strict=True)
        if name in assumed and tree is None and annotations[name] not in (float, "float")
    ]
    if missing:
        raise ArgumentError(_asked(missing))
    return [*values, *directions], assumed


def _direction(names: Sequence[str], given: dict[str, Any], namespace: dict[str, Any]) -> Any:
    """What a derivative is along, which is taken out of what is ``given``."""
    name = next(name for name in ("v", "direction", "_v") if name not in names)
    value = given.pop(name, namespace.get(name))
    if not is_example(value):
        raise ArgumentError(
            f"a derivative along a direction needs one, in the shape of what it is by; give it as {name}: "
            f'--at "{names[0]}=[1.0, 2.0], {name}=[0.0, 1.0]", or assign {name} in the notebook.'
        )
    return tree_map(_floating, value)


def _asked(missing: Sequence[str]) -> str:
    """What to give for arguments that have neither a value nor a shape."""
    first = missing[0]
    they, them = ("has", first) if len(missing) == 1 else ("have", "them")
    at = ", ".join(f"{name}=2.0" for name in missing)
    return (
        f"{' and '.join(missing)} {they} no value here; give an example, a number or an array: "
        f'--at "{at}" or --at "{first}=[1.0, 2.0]", or assign {them} in the notebook. '
        f'Or say what it is in the function: {first}: float is a number, {first}: sg.Array["n"] a vector.'
    )


def _as_declared(values: Sequence[Any], trees: Sequence[Any], missing: Sequence[bool]) -> list[Any]:
    """``values`` with ones of the declared shapes where one is missing; sizes are those of the others, or 3, 4, …"""
    sizes: dict[Any, int] = {}
    for value, tree, made_up in zip(values, trees, missing, strict=True):
        leaves = [] if made_up or tree is None else zip(flatten(value)[0], flatten(tree)[0], strict=False)
        for leaf, declared in leaves:
            sizes.update({d: n for d, n in zip(declared.shape, np.shape(leaf), strict=False) if is_named(d)})
    fresh = itertools.count(3)

    def ones(declared: Any) -> np.ndarray:
        for d in declared.shape:
            for name in d.free_symbols if is_named(d) else ():
                if name not in sizes:
                    sizes[name] = next(fresh)
        return np.ones([value_of(d, sizes) if is_named(d) else d for d in declared.shape])

    return [
        tree_map(ones, tree) if made_up and tree is not None else value
        for value, tree, made_up in zip(values, trees, missing, strict=True)
    ]


def argument_values(
    function: Callable, texts: Sequence[str], namespace: dict[str, Any], positions: Collection[int]
) -> list[Any]:
    """The arguments of ``%grad f x 2.0``, each a literal or a name of the notebook.

    Whole numbers become floats at ``positions``, those that are differentiated by, and stay whole elsewhere.
    """
    names = argument_names(function)
    if len(texts) < sum(1 for p in parameters_of(function) if p.name in names and p.default is inspect.Parameter.empty):
        raise ArgumentError(f"the function takes {', '.join(names)}; give a value or a variable for each.")
    values = [named_value(text, namespace, "the argument", whole=True) for text in texts]
    return [tree_map(_floating, v) if k in positions else v for k, v in enumerate(values)]


def named_function(name: str, namespace: dict[str, Any]) -> Callable | None:
    """The function that a name of the notebook stands for, such as ``f`` or ``np.sin``; None where there is none."""
    first, *rest = name.split(".")
    found = namespace.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found if callable(found) else None


def given_names(wrt: str | None, at: str | None) -> list[str]:
    """The names that ``--wrt`` and ``--at`` mention, whatever they stand for."""
    found = [part.strip() for part in (wrt or "").split(",") if part.strip()]
    with contextlib.suppress(SyntaxError, ValueError):
        call = ast.parse(f"_({at or ''})", mode="eval").body
        found += [str(k.arg) for k in call.keywords] if isinstance(call, ast.Call) else []
    return found


def is_example(value: Any) -> bool:
    leaves, _ = flatten(value)
    return bool(leaves) and all(isinstance(v, (int, float, complex, np.ndarray, np.number)) for v in leaves)


def _floating(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def parsed_values(text: str, namespace: dict[str, Any], whole: Collection[str] = ()) -> dict[str, Any]:
    """``x=[1.0, 2.0], y=name`` as values: literals, or names of the notebook; nothing is evaluated.

    Literal numbers are floats, but for the names in ``whole``: an int would be written into the formula.

    >>> parsed_values("x=[1, 2.5], y=2, n=3, size=z", {"z": 4}, whole={"n"})
    {'x': array([1. , 2.5]), 'y': 2.0, 'n': 3, 'size': 4}
    """
    try:
        call = ast.parse(f"_({text})", mode="eval").body
    except (SyntaxError, ValueError):  # ValueError: null bytes
        call = None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise ArgumentError(f"--at is {text!r}; write it as 'x=[1.0, 2.0], y=name'.")
    return {str(k.arg): _value(k.value, namespace, k.arg in whole) for k in call.keywords}


def named_value(text: str, namespace: dict[str, Any], what: str = "--sens", whole: bool = False) -> Any:
    """One literal or name of the notebook; whole numbers become floats unless they may be ``whole``."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ArgumentError(f"{what} is {text!r}; give a literal or the name of a variable.") from None
    value = _value(node, namespace, whole)
    return value if whole else tree_map(_floating, value)


def _value(node: ast.expr, namespace: dict[str, Any], whole: bool = False) -> Any:
    if isinstance(node, ast.Name):
        if node.id not in namespace:
            raise ArgumentError(f"there is no variable {node.id!r} in the notebook.")
        return namespace[node.id]
    try:
        value = _as_arrays(ast.literal_eval(node))
        return value if whole else tree_map(_floating, value)
    except (ValueError, TypeError):  # TypeError: {[]: 1}
        raise ArgumentError(
            f"{ast.unparse(node)!r} is neither a literal nor a name; assign it to a variable first."
        ) from None


def _as_arrays(value: Any) -> Any:
    """A literal with its lists of numbers as arrays of floats or complex numbers, inside dicts too."""
    if isinstance(value, dict):
        return {k: _as_arrays(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and value and is_example(value):
        return np.asarray(value) + 0.0  # whole numbers as floats
    return value
