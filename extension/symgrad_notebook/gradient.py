"""The gradient function that a ``%%grad`` cell makes, by names of arguments instead of positions."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from symgrad.errors import ArgumentError
from symgrad.nn import Cell
from symgrad.transforms.gradient import GradientFunction
from symgrad.transforms.positions import checked_positions, checked_weights


def gradient_of(
    function: Callable,
    wrt: str | None = None,
    *,
    position: str | None = None,
    takes_sens: bool = False,
    mode: str = "reverse",
) -> GradientFunction:
    """The gradient of ``function`` by the arguments and parameters that ``wrt`` names, with commas.

    ``position`` counts the arguments instead, from 0; without either it is taken by the first. One
    argument gives a bare gradient, several a tuple; parameters of a Cell give a tuple of their own, as
    ``symgrad.grad`` does. ``takes_sens``: the cotangent of the output is the last argument, or ``sens=``.

    >>> gradient_of(lambda x, y: x * y, "y, x")(2.0, 3.0)
    (np.float64(2.0), np.float64(3.0))
    """
    if wrt is not None and position is not None:
        raise ArgumentError("give wrt or position, not both: they say the same.")
    if wrt is not None:
        positions, weights = _named(function, wrt)
    else:
        positions, weights = _counted(function, position or "0"), ()
    return GradientFunction(
        function,
        checked_positions(positions or None),
        checked_weights(weights or None),
        bare_inputs=len(positions) == 1,
        bare_weights=False,
        takes_sens=takes_sens,
        mode=mode,
    )


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


def _named(function: Callable, wrt: str) -> tuple[tuple[int, ...], tuple]:
    names = argument_names(function)
    weights = {p.name: p for p in function.trainable_params()} if isinstance(function, Cell) else {}
    positions, chosen = [], []
    for name in _parts(wrt, "wrt"):
        if name in names:
            positions.append(names.index(name))
        elif name in weights:
            chosen.append(weights[name])
        else:
            raise ArgumentError(f"wrt names {name!r}; there is {', '.join([*names, *weights]) or 'nothing'} to choose.")
    return tuple(positions), tuple(chosen)


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
