"""The derivative that flags ask for, by names of arguments instead of positions."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError
from ..named_dims import parameters_of
from ..nn import Cell
from ..tensor import Parameter
from ..transforms.derived import DerivedFunction
from ..transforms.gradient import GradientFunction
from ..transforms.jacobian import HessianFunction, JacobianFunction
from ..transforms.positions import checked_positions, checked_weights
from ..transforms.products import symbolic
from ..transforms.taylor import DirectionalFunction, TaylorFunction
from ..transforms.vector_calculus import CurlFunction, DivergenceFunction, LaplacianFunction

#: the kinds that are taken by arguments alone, each a switch of its own
BY_ARGUMENTS = ("jacobian", "hessian", "laplacian", "divergence", "curl", "directional")
#: the kinds of derivatives, as the functions that make them are called
KINDS = ("grad", "value_and_grad", *BY_ARGUMENTS)
_FIELDS = {"laplacian": LaplacianFunction, "divergence": DivergenceFunction, "curl": CurlFunction}

#: derivatives of the derivative that are worth reading
_MAX_ORDERS = 8


def derivative_of(
    function: Callable,
    wrt: str | None = None,
    *,
    position: str | None = None,
    weights: str | None = None,
    get_all: bool = False,
    by_list: bool = False,
    sens: Any = False,
    has_aux: bool = False,
    return_ids: bool = False,
    holomorphic: bool = False,
    order: int = 1,
    kind: str = "grad",
    taylor: int | None = None,
    sparse: bool = False,
    mode: str = "auto",
    backend: str = "auto",
    at: tuple[Sequence[Any], Mapping[str, Any]] | None = None,
    **switches: bool,
) -> DerivedFunction:
    """The derivative of ``function`` by the arguments and parameters that ``wrt`` names, with commas.

    ``position`` counts the arguments instead, from 0, as ``wrt`` may too; ``weights`` names parameters of a Cell
    (``all``: the trainable ones); ``get_all`` takes every argument, ``by_list`` every trainable parameter; without any
    of these it is taken by the first argument. One argument gives a bare gradient, several a tuple; parameters a tuple
    of their own, as ``symgrad.grad`` does. ``sens``: the cotangent of the output is the last argument, or ``sens=``.
    ``order`` derives so often, each time of the summed output; ``directional``, whose last argument is the direction,
    along it. With example arguments ``at``, by position and by name, nothing is summed that nobody asked to: where the
    function gives one number for several, order 2 is the Hessian, 3 its Jacobian. ``kind`` is one of ``KINDS``;
    ``jacobian=True``, ``laplacian=True`` and so on (``BY_ARGUMENTS``) say the same, and are taken by arguments alone,
    the first two ``sparse`` as scipy.sparse. ``taylor``: the coefficients by a number up to this order. Raises
    ArgumentError for what does not go together.

    >>> derivative_of(lambda x, y: x * y, "y, x")(2.0, 3.0)
    (np.float64(2.0), np.float64(3.0))
    >>> derivative_of(lambda x: x**3, order=2)(2.0)
    np.float64(12.0)
    """
    kind = _kind(kind, switches if taylor is None else {**switches, "taylor": True})
    whole = kind in BY_ARGUMENTS or kind == "taylor"
    _check_together(kind, whole, sparse, order, sens is not False, bool(weights) or by_list, return_ids, holomorphic)
    positions, chosen = _chosen(function, wrt, position, weights, get_all, by_list)
    if whole:
        if chosen:
            raise ArgumentError(
                f"wrt names the parameter {chosen[0].name!r}; {kind} is taken by arguments: pass the parameter's value "
                "as an argument."
            )
        by = positions[0] if len(positions) == 1 else positions
        if kind in ("jacobian", "hessian"):
            made_by = JacobianFunction if kind == "jacobian" else HessianFunction
            return made_by(function, by, has_aux, mode, backend, sparse)
        if has_aux or mode != "auto":
            raise ArgumentError(f"{kind} has no {'aux' if has_aux else 'mode'}; leave it out.")
        if kind == "directional":
            return DirectionalFunction(function, by, order, backend)
        if taylor is not None:
            return TaylorFunction(function, by, taylor, False, backend)
        return _FIELDS[kind](function, by, backend)
    made: Any = function
    of_arguments = kind == "grad" and not (chosen or return_ids or holomorphic)
    if order > 1 and at is not None and of_arguments and _is_one_number_by_several(function, positions, at):
        by = positions[0] if len(positions) == 1 and not get_all else positions
        made = HessianFunction(made, by, has_aux, mode, backend)
        for _ in range(order - 2):
            made = JacobianFunction(made, by, has_aux, mode, backend)
        return made
    for k in range(order):
        outermost = k == order - 1
        made = GradientFunction(
            made,
            checked_positions(positions or None, made),
            checked_weights(chosen or None),
            bare_inputs=len(positions) == 1 and not get_all,
            bare_weights=False,
            has_aux=has_aux,
            return_ids=return_ids and outermost,
            with_value=kind == "value_and_grad" and outermost,
            takes_sens=sens is not False,
            mode=mode,
            backend=backend,
            holomorphic=holomorphic,
        )
    return made


def _is_one_number_by_several(
    function: Callable, positions: tuple[int, ...], at: tuple[Sequence[Any], Mapping[str, Any]]
) -> bool:
    """Whether the first output for these arguments is a single number, and is derived by more than one."""
    with contextlib.redirect_stdout(io.StringIO()):  # what the function prints comes once, when it is derived
        entry = symbolic(function)._readable()._entry(tuple(at[0]), dict(at[1]))
    shapes = {name: node.shape for name, node in zip(entry.program.names, entry.program.inputs, strict=True)}
    by = [shapes[name] for p in positions for name in entry.argument_names[p]]
    return entry.shapes[:1] == [()] and by != [()]


def _kind(kind: str, switches: Mapping[str, bool]) -> str:
    """The one kind that is asked for."""
    if kind not in KINDS:
        raise ArgumentError(f"kind={kind!r} is unknown; choose one of {', '.join(KINDS)}.")
    unknown = [name for name in switches if name not in (*BY_ARGUMENTS, "taylor")]
    if unknown:
        raise ArgumentTypeError(f"derivative_of has no argument {unknown[0]!r}.")
    named = [name for name, given in switches.items() if given]
    if len(named) > 1:
        raise ArgumentError(f"give {' or '.join(named[:2])}, not both.")
    if named and kind not in ("grad", named[0]):
        raise ArgumentError(f"give {named[0]} or kind={kind}, not both.")
    return named[0] if named else kind


def _check_together(
    kind: str,
    whole: bool,
    sparse: bool,
    order: int,
    takes_sens: bool,
    weights: bool,
    return_ids: bool,
    holomorphic: bool,
) -> None:
    """An ArgumentError for flags that contradict each other; ``whole``: the kind is no gradient."""
    if not 1 <= order <= _MAX_ORDERS:
        raise ArgumentError(f"order is {order}; give 1 to {_MAX_ORDERS}.")
    if sparse and kind not in ("jacobian", "hessian"):
        raise ArgumentError("sparse is for jacobian and hessian; a gradient has the shape of what it is taken by.")
    if not whole:
        if order > 1 and takes_sens:
            raise ArgumentError("sens weighs the outputs of a first derivative; leave it out with order above 1.")
        return
    if order > 1 and kind != "directional":
        raise ArgumentError(f"order is for gradients; {kind} is one derivative. Leave one of them out.")
    if takes_sens:
        raise ArgumentError(f"sens is the cotangent of a gradient; {kind} takes all of them. Leave one of them out.")
    if return_ids:
        raise ArgumentError(f"return_ids is for gradients; the blocks of {kind} are in their order. Leave it out.")
    if weights:
        raise ArgumentError(f"{kind} is taken by arguments; pass the parameters' values as arguments.")
    if holomorphic:
        raise ArgumentError(f"holomorphic is for gradients; {kind} is over real numbers. Leave one of them out.")


def argument_names(function: Callable) -> list[str]:
    """The positional arguments of a function, or of a Cell's construct.

    >>> argument_names(lambda x, y=1, *, k=2: x)
    ['x', 'y']
    """
    return [p.name for p in parameters_of(function) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


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
        positions = _counted(function, position)
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
        elif name.isdecimal() and names:
            positions += _counted(function, name)
        else:
            raise ArgumentError(f"wrt names {name!r}; there is {', '.join([*names, *weights]) or 'nothing'} to choose.")
    return tuple(positions), tuple(chosen)


def _weights(function: Callable, text: str) -> tuple[Parameter, ...]:
    known, every = _trainable(function), _parameters(function)
    wants_all = text.strip() == "all"
    if not (known if wants_all else every):
        raise ArgumentError(
            "there are no weights here: they are the trainable parameters of a Cell, or of Cells that the function "
            "names; use wrt for arguments."
        )
    if wants_all:
        return tuple(known.values())
    parts = _parts(text, "weights")
    unknown = [part for part in parts if part not in every]
    if unknown:
        raise ArgumentError(f"weights names {unknown[0]!r}; there is {', '.join(known)} to choose.")
    return tuple([every[part] for part in parts])


def _trainable(function: Callable) -> dict[str, Parameter]:
    return {name: p for name, p in _parameters(function).items() if p.requires_grad}


def _parameters(function: Callable) -> dict[str, Parameter]:
    """The parameters of the Cell that a function is, or of those that it names; by Cell too where two are alike."""
    if isinstance(function, Cell):
        return {p.name: p for p in function.get_parameters()}
    if not inspect.isfunction(function):
        return {}
    outside = inspect.getclosurevars(function)
    cells = {name: v for name, v in {**outside.globals, **outside.nonlocals}.items() if isinstance(v, Cell)}
    own = {(p.name, id(p)): (cell, p) for cell, held in cells.items() for p in held.get_parameters()}
    times = Counter(name for name, _ in own)
    return {p.name if times[p.name] == 1 else f"{cell}.{p.name}": p for cell, p in own.values()}


def _counted(function: Callable, position: str | None) -> tuple[int, ...]:
    names = argument_names(function)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters_of(function))
    if not names and not (takes_any and position):
        raise ArgumentError("the function has no named argument to differentiate by; write `def f(x): …`.")
    parts = _parts(position or "0", "position")
    if not all(part.isdecimal() and (takes_any or int(part) < len(names)) for part in parts):
        raise ArgumentError(f"position is {position!r}; count the {len(names)} arguments from 0, with commas.")
    return tuple(map(int, parts))


def _parts(text: str, what: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise ArgumentError(f"{what} is {text!r}; write it with single commas, such as 'x,y'.")
    return parts
