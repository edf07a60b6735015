"""The derivative that a ``%%grad`` cell makes, by names of arguments instead of positions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn import Cell
from symgrad.tensor import Parameter
from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.gradient import GradientFunction
from symgrad.transforms.jacobian import HessianFunction, JacobianFunction
from symgrad.transforms.positions import checked_positions, checked_weights

#: derivatives of the derivative that are worth reading
_MOST_ORDERS = 8


def derivative_of(
    function: Callable,
    wrt: str | None = None,
    *,
    position: str | None = None,
    weights: str | None = None,
    get_all: bool = False,
    by_list: bool = False,
    takes_sens: bool = False,
    has_aux: bool = False,
    order: int = 1,
    jacobian: bool = False,
    hessian: bool = False,
    sparse: bool = False,
    mode: str = "auto",
    backend: str = "auto",
) -> DerivedFunction:
    """The derivative of ``function`` by the arguments and parameters that ``wrt`` names, with commas.

    ``position`` counts the arguments instead, from 0; ``weights`` names parameters of a Cell (``all`` of them);
    ``get_all`` takes every argument, ``by_list`` every trainable parameter; without any of these it is taken by the
    first argument. One argument gives a bare gradient, several a tuple; parameters a tuple of their own, as
    ``symgrad.grad`` does. ``takes_sens``: the cotangent of the output is the last argument, or ``sens=``. ``order``
    derives so often, each time of the summed output. ``jacobian`` and ``hessian`` give these, by arguments alone,
    ``sparse`` as scipy.sparse. Raises ArgumentError for what does not go together.

    >>> derivative_of(lambda x, y: x * y, "y, x")(2.0, 3.0)
    (np.float64(2.0), np.float64(3.0))
    >>> derivative_of(lambda x: x**3, order=2)(2.0)
    np.float64(12.0)
    """
    _check_together(jacobian, hessian, sparse, order, takes_sens, bool(weights) or by_list)
    positions, chosen = _chosen(function, wrt, position, weights, get_all, by_list)
    if jacobian or hessian:
        if chosen:
            raise ArgumentError(
                f"wrt names the parameter {chosen[0].name!r}; jacobian and hessian are taken by arguments: pass the "
                "parameter's value as an argument."
            )
        kind = JacobianFunction if jacobian else HessianFunction
        by = positions[0] if len(positions) == 1 else positions
        return kind(function, by, has_aux, mode, backend, sparse)
    made: Any = function
    for _ in range(order):
        made = GradientFunction(
            made,
            checked_positions(positions or None),
            checked_weights(chosen or None),
            bare_inputs=len(positions) == 1 and not get_all,
            bare_weights=False,
            has_aux=has_aux,
            takes_sens=takes_sens,
            mode=mode,
            backend=backend,
        )
    return made


def _check_together(jacobian: bool, hessian: bool, sparse: bool, order: int, takes_sens: bool, weights: bool) -> None:
    """An ArgumentError for flags that contradict each other."""
    if not 1 <= order <= _MOST_ORDERS:
        raise ArgumentError(f"order is {order}; give 1 to {_MOST_ORDERS}.")
    if jacobian and hessian:
        raise ArgumentError("give jacobian or hessian, not both.")
    whole = "jacobian" if jacobian else "hessian"
    if sparse and not (jacobian or hessian):
        raise ArgumentError("sparse is for jacobian and hessian; a gradient has the shape of what it is taken by.")
    if not (jacobian or hessian):
        if order > 1 and takes_sens:
            raise ArgumentError("sens weighs the outputs of a first derivative; leave it out with order above 1.")
        return
    if order > 1:
        raise ArgumentError(f"order is for gradients; {whole} is one derivative. Leave one of them out.")
    if takes_sens:
        raise ArgumentError(f"sens is the cotangent of a gradient; {whole} takes all of them. Leave one of them out.")
    if weights:
        raise ArgumentError(f"{whole} is taken by arguments; pass the parameters' values as arguments.")


def argument_names(function: Callable) -> list[str]:
    """The positional arguments of a function, or of a Cell's construct.

    >>> argument_names(lambda x, y=1, *, k=2: x)
    ['x', 'y']
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters(function) if p.kind in kinds]


def parameters(function: Callable) -> list[inspect.Parameter]:
    """What the signature of a function, or of a Cell's construct, says."""
    target = function.construct if isinstance(function, Cell) else function
    return list(inspect.signature(target).parameters.values())


def _chosen(
    function: Callable, wrt: str | None, position: str | None, weights: str | None, get_all: bool, by_list: bool
) -> tuple[tuple[int, ...], tuple[Parameter, ...]]:
    """The positions and the parameters to differentiate by."""
    if wrt is not None and position is not None:
        raise ArgumentError("give wrt or position, not both: they say the same.")
    if get_all and (wrt is not None or position is not None):
        raise ArgumentError("get_all takes every argument; leave out wrt and position.")
    if by_list and weights is not None:
        raise ArgumentError("by_list takes every parameter; leave out weights, or leave out by_list.")
    positions: tuple[int, ...] = ()
    chosen: tuple[Parameter, ...] = ()
    if weights is not None or by_list:
        chosen = _weights(function, "all" if by_list else str(weights))
    if get_all:
        positions = _counted(function, ",".join(map(str, range(len(argument_names(function))))))
    elif wrt is not None:
        positions, named = _named(function, wrt)
        chosen = (*chosen, *(p for p in named if not any(p is c for c in chosen)))
    elif position is not None or not chosen:
        positions = _counted(function, position or "0")
    return positions, chosen


def _named(function: Callable, wrt: str) -> tuple[tuple[int, ...], tuple[Parameter, ...]]:
    names = argument_names(function)
    weights = _trainable(function)
    positions, chosen = [], []
    for name in _parts(wrt, "wrt"):
        if name in names:
            positions.append(names.index(name))
        elif name in weights:
            chosen.append(weights[name])
        else:
            raise ArgumentError(f"wrt names {name!r}; there is {', '.join([*names, *weights]) or 'nothing'} to choose.")
    return tuple(positions), tuple(chosen)


def _weights(function: Callable, text: str) -> tuple[Parameter, ...]:
    known = _trainable(function)
    if not known:
        raise ArgumentError(
            "weights are the trainable parameters of a Cell, and there are none; use wrt for arguments."
        )
    if text.strip() == "all":
        return tuple(known.values())
    parts = _parts(text, "weights")
    unknown = [part for part in parts if part not in known]
    if unknown:
        raise ArgumentError(f"weights names {unknown[0]!r}; there is {', '.join(known)} to choose.")
    return tuple([known[part] for part in parts])


def _trainable(function: Callable) -> dict[str, Parameter]:
    return {p.name: p for p in function.trainable_params()} if isinstance(function, Cell) else {}


def _counted(function: Callable, position: str) -> tuple[int, ...]:
    names = argument_names(function)
    if not names:
        raise ArgumentError("the function has no named argument to differentiate by; write `def f(x): …`.")
    parts = _parts(position, "position")
    if not all(part.isdecimal() and int(part) < len(names) for part in parts):
        raise ArgumentError(f"position is {position!r}; count the {len(names)} arguments from 0, with commas.")
    return tuple(map(int, parts))


def _parts(text: str, what: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise ArgumentError(f"{what} is {text!r}; write it with single commas, such as 'x,y'.")
    return parts
