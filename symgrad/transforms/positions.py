"""Arguments of a derivative: positions, weights, flags and sens are checked before anything is traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, shortened
from ..kernels.array_libraries import library_of
from ..named_dims import parameters_of
from ..primitives.casting import cast
from ..primitives.identity import mark
from ..program.node import Node
from ..tensor import Parameter
from ..tracing.python_numbers import held_like
from ..tracing.trace import as_node, running
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, leaf_labels, replaced, with_values

#: arguments that a derivative is by: a position, a name, or several of these
Positions = int | str | tuple[int | str, ...]


def checked_flag(name: str, value: Any) -> bool:
    """``value`` where it is a bool."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name} must be True or False, got {value!r}.")
    return value


def checked_function(fn: Any) -> Any:
    """``fn`` where it can be called."""
    if not callable(fn):
        raise ArgumentTypeError(f"fn must be a function or a Cell, got a {type(fn).__name__}.")
    return fn


def named_once(grad_position: Any, argnums: Any, wrt: Any) -> Any:
    """What a derivative is by, however it was named: ``argnums`` as in JAX, ``wrt`` by names, or ``grad_position``."""
    given = [value for value in (argnums, wrt) if value is not None]
    if len(given) > 1 or (given and grad_position != 0):
        raise ArgumentError("grad_position, argnums and wrt say the same; give one of them.")
    return given[0] if given else grad_position


def checked_positions(grad_position: Any, fn: Callable) -> tuple[int, ...] | None:
    """Positions, or names of arguments of ``fn``, as a tuple of distinct non-negative ints; None stays None."""
    if grad_position is None:
        return None
    bare = isinstance(grad_position, (str, int, np.integer)) and not isinstance(grad_position, bool)
    given = (grad_position,) if bare else grad_position
    if not isinstance(given, (tuple, list)):
        raise ArgumentTypeError(
            f"grad_position must be an int, the name of an argument or a tuple of these, got {grad_position!r}."
        )
    if not given:
        raise ArgumentError("grad_position is an empty tuple; name at least one position, or pass None with weights.")
    given = [_position_of(p, fn) if isinstance(p, str) else p for p in given]
    for p in given:
        if isinstance(p, bool) or not isinstance(p, (int, np.integer)):
            raise ArgumentTypeError(f"grad_position must hold ints and names, got {p!r}.")
        if p < 0:
            raise ArgumentError(f"grad_position {p} is negative; count positions from 0.")
    if len(set(given)) != len(given):
        raise ArgumentError(f"grad_position {tuple(given)} names a position twice.")
    return tuple(int(p) for p in given)


def _placed(fn: Callable) -> list[inspect.Parameter]:
    """The parameters that have a position."""
    return [p for p in parameters_of(fn) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def in_order(
    fn: Callable, positions: Sequence[int], args: tuple, kwargs: dict[str, Any]
) -> tuple[tuple, dict[str, Any]]:
    """The arguments, those at ``positions`` without their names; as they are where some of these are left out."""
    last = max(positions, default=-1)
    if last < len(args):
        return args, kwargs
    ordered, named = list(args), dict(kwargs)
    for p in _placed(fn)[len(args) : last + 1]:
        if p.name not in named and p.default is p.empty:
            _check_names(fn, named)
            return args, kwargs  # the rules say what is missing
        ordered.append(named.pop(p.name, p.default))
    return tuple(ordered), named


def _check_names(fn: Callable, names: Iterable[str]) -> None:
    """An error for a name that is none of the function's arguments."""
    taken = parameters_of(fn)
    if any(p.kind is p.VAR_KEYWORD for p in taken):
        return
    for name in names:
        if name not in {"sens", *[p.name for p in taken]}:
            _position_of(name, fn)


def _position_of(name: str, fn: Callable) -> int:
    positional = [p.name for p in _placed(fn)]
    if name in positional:
        return positional.index(name)
    if name in [p.name for p in parameters_of(fn) if p.kind is p.KEYWORD_ONLY]:
        raise ArgumentError(f"{name} is passed by keyword alone; {_by_position(name, fn)}")
    known = ", ".join(positional) or "none by name"
    if any(p.kind is p.VAR_KEYWORD for p in parameters_of(fn)) and name.isidentifier():
        raise ArgumentError(f"the function names no argument {shortened(name)!r}; {_by_position(name, fn)}")
    raise ArgumentError(f"the function has no argument {shortened(name)!r}; its arguments are {known}.")


def _by_position(name: str, fn: Callable) -> str:
    own, others = shortened(name), ", ".join([p.name for p in _placed(fn)])
    call = f"{shortened(getattr(fn, '__name__', 'f'))}({others + ', ' if others else ''}{own}={own})"
    return (
        "derivatives are by arguments that have a position. Derive a function in which it has one: "
        f"lambda {own}{', ' + others if others else ''}: {call}."
    )


def checked_weights(weights: Any) -> tuple[Parameter, ...] | None:
    """Weights as a tuple of distinct Parameters; None stays None."""
    if weights is None:
        return None
    given = (weights,) if isinstance(weights, Parameter) else weights
    if not isinstance(given, (tuple, list)) or not all(isinstance(w, Parameter) for w in given):
        raise ArgumentTypeError("weights must be a Parameter, or a list, tuple or ParameterTuple of Parameters.")
    if not given:
        raise ArgumentError("weights is empty: there is no parameter to differentiate by.")
    if len({id(w) for w in given}) != len(given):
        raise ArgumentError("weights names a parameter twice.")
    return tuple(given)


def check_arguments(args: Sequence[Any], positions: Sequence[int], caller: str) -> None:
    """Errors for positions beyond the arguments and arguments that have no derivative."""
    if positions and not args:
        raise ArgumentError(
            f"{caller}: no arguments are given; pass arrays, or shapes such as 'm n' where formulas are asked for."
        )
    for p in positions:
        if p >= len(args):
            raise ArgumentError(
                f"{caller}: grad_position {p} is out of range; the function was called with {len(args)} "
                f"positional argument{'s' if len(args) != 1 else ''}."
            )
        check_differentiable(args[p], f"argument {p}", caller)


def is_data(leaf: Any) -> bool:
    """Whether a field of an object holds data, not a setting: a float, a complex number or an array."""
    return isinstance(leaf, (float, complex, np.ndarray, np.generic, Tracer))


def is_setting(leaf: Any) -> bool:
    """Whether what stands in a tuple, a list or a dict is text, a choice or a function, which no number replaces."""
    return leaf is None or isinstance(leaf, (str, bytes, bool, Enum)) or callable(leaf)


def data_of(value: Any, is_setting: Callable[[Any], bool] = is_setting) -> tuple[list[Any], Any]:
    """The leaves of ``value`` and its structure, which keeps the settings: fields of objects that are no data, too."""
    leaves, structure = flatten(value)
    return with_values(structure, leaves, lambda leaf: not is_data(leaf), is_setting)


def check_differentiable(value: Any, what: str, caller: str) -> None:
    """A DtypeError where ``value`` is not made of floats."""
    leaves, structure = data_of(value)
    if not leaves:
        raise ArgumentError(f"{caller}: {what} holds no array to differentiate by.")
    for leaf, label in zip(leaves, leaf_labels("", structure), strict=True):
        said = f"{what}, at {shortened(label[1:])}," if label else what
        if not isinstance(leaf, (int, float, complex, np.ndarray, np.generic, Tracer)) or isinstance(leaf, bool):
            library = library_of([leaf])
            if library is not None:
                raise DtypeError(f"{caller}: {said} is an array of {library.name}; pass numpy.asarray of it here.")
            raise DtypeError(
                f"{caller}: {said} is a {type(leaf).__name__} and cannot be differentiated by; pass floats, float "
                "arrays, or dataclasses of them (symgrad.extend.container registers other classes), or leave it out of "
                "grad_position."
            )
        dtype = np.dtype(getattr(leaf, "dtype", type(leaf)))
        if dtype.kind not in "fc":
            fix = "1.0 instead of 1" if isinstance(leaf, int) else "x.astype(float)"
            kept = "; a whole number that is a setting is a field of a dataclass" if label else ""
            raise DtypeError(
                f"{caller}: {said} has dtype {dtype} and cannot be differentiated by; pass floats ({fix}), "
                f"or leave it out of grad_position{kept}."
            )


def mark_argument(value: Any, fresh: bool) -> tuple[Any, list[Node], Any]:
    """The argument under names of its own: the traced value, its nodes and its structure."""
    leaves, structure = data_of(value)
    nodes = [as_node(v) if fresh else mark(as_node(v)) for v in leaves]
    running().differentiate_by(nodes, fresh)
    made = [held_like(Tracer(n), v) for n, v in zip(nodes, leaves, strict=True)]
    return replaced(value, structure, made), nodes, structure


def output_nodes(value: Any, caller: str) -> tuple[list[Node], Any]:
    """The nodes of a function's output and their structure."""
    leaves, structure = data_of(value, is_setting=lambda _: False)
    for leaf in leaves:
        if leaf is None or isinstance(leaf, str):
            raise ArgumentTypeError.here(
                f"{caller}: the function returned {leaf!r}; return the array to differentiate."
            )
    nodes = [as_node(float(v) if type(v) is int else v) for v in leaves]  # a branch may return 0
    if not any(n.differentiable for n in nodes):
        raise DtypeError(f"{caller}: the function's output has no float or complex dtype, so it has no derivative.")
    return nodes, structure


def split_aux(value: Any, has_aux: bool, caller: str) -> tuple[Any, tuple]:
    """The output to differentiate and the others."""
    if not has_aux:
        return value, ()
    if not isinstance(value, (tuple, list)) or len(value) < 2:
        raise ArgumentError(f"{caller}: has_aux=True needs a function with two outputs or more; it returned one.")
    return value[0], tuple(value[1:])


def checked_sens(sens: Any, outputs: Sequence[Node], caller: str) -> list[Node]:
    """The sensitivity of each output, of the output's shape and dtype."""
    leaves, _ = data_of(sens)
    if len(leaves) != len(outputs):
        raise ArgumentTypeError(
            f"{caller}: sens holds {len(leaves)} arrays and the function has {len(outputs)} outputs; pass a tuple "
            "with one for each."
        )
    nodes = []
    for leaf, output in zip(leaves, outputs, strict=True):
        node = as_node(leaf)
        if node.shape != output.shape:
            raise ShapeError(
                f"{caller}: sens has shape {node.shape} and the output has shape {output.shape}; they must be the same."
            )
        nodes.append(cast(node, output.dtype))
    return nodes
