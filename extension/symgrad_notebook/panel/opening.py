"""What a panel begins with: the function below a derivative, the flags that made it, and the arguments it is given."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import Parameter
from typing import Any

from symgrad.errors import ArgumentError, SymgradError
from symgrad.named_dims import is_shapes, parameters_of
from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.gradient import GradientFunction
from symgrad.transforms.jacobian import JacobianFunction
from symgrad.transforms.products import SymbolicFunction

from .flags import ORDERS, Flags
from .subject import Subject

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Opening:
    """A subject, the flags that a panel on it begins with, and the sens it was called with, if any."""

    subject: Subject
    flags: Flags
    sens: Any = None


def opening(derived: DerivedFunction, args: tuple, kwargs: Mapping[str, Any]) -> Opening:
    """How a panel on ``derived`` begins, called as ``derived`` itself; sens may be left out.

    A gradient begins with its own flags, a gradient of the same kind of gradient with order 2 or 3, a Jacobian or
    Hessian with the gradient by the same arguments. Raises ArgumentError for other derivatives, and without arrays.

    >>> import symgrad
    >>> opening(symgrad.grad(symgrad.grad(lambda x: x**3)), (2.0,), {}).flags.order
    2
    """
    gradients = _layers(derived)
    given, own, sens = args, dict(kwargs), None
    function: Any = gradients[-1].fn if gradients else derived.fn
    needed = [p for p in parameters_of(function) if p.default is p.empty and p.kind in _POSITIONAL]
    if gradients and gradients[-1].takes_sens:
        if "sens" in own:
            sens = own.pop("sens")
        elif len(args) > len(needed):  # one that is left out weighs every output by one
            args, sens = args[:-1], args[-1]
    if is_shapes(args, own) or len(args) < len(needed):
        raise ArgumentError("the panel shows values: pass it arrays, as you pass them to the gradient: g.panel(x, y).")
    weights = (gradients[0].weights or ()) if gradients else ()
    traced = None
    is_called = sens is not None or not (gradients and gradients[-1].takes_sens)
    if is_called and not weights and derived.declaration is None:  # with named dims the trace knows no sizes
        with contextlib.suppress(SymgradError):  # the panel says what is wrong, and has the flags to put it right
            traced, _ = derived._recorded(given, dict(kwargs))
    subject = Subject.of(function, args, own, weights, derived.backend, traced)
    trainable = [k for k, p in enumerate(subject.parameters) if any(p is w for w in weights) or not weights]
    flags = Flags(trainable=tuple(k for k in trainable if weights or subject.parameters[k].requires_grad))
    if gradients:
        return Opening(subject, _flags_of(gradients, flags, len(args)), sens)
    if isinstance(derived, JacobianFunction):
        return Opening(subject, replace(flags, grad_position=derived.positions, has_aux=derived.has_aux))
    return Opening(subject, flags)


def _layers(derived: DerivedFunction) -> list[GradientFunction]:
    """A gradient and the gradients of the same kind below it, the outermost first."""
    if not isinstance(derived, GradientFunction):
        if not isinstance(derived, (JacobianFunction, SymbolicFunction)):
            raise ArgumentError(
                f"panel: {derived.__name__} is no gradient; open it on sg.grad(f) or sg.GradOperation()(f)."
            )
        return []
    found = [derived]
    while len(found) < len(ORDERS):
        below = found[-1].fn
        if not isinstance(below, GradientFunction) or _kind(below) != _kind(derived) or found[-1].takes_sens:
            break
        found.append(below)
    return found


def _kind(gradient: GradientFunction) -> tuple:
    weights = tuple(id(w) for w in gradient.weights or ())
    return gradient.positions, gradient.all_inputs, weights, gradient.mode == "forward"


def _flags_of(gradients: list[GradientFunction], flags: Flags, count: int) -> Flags:
    top, inner = gradients[0], gradients[-1]
    flags = replace(flags, order=len(gradients))
    if inner.takes_sens or top.all_inputs:
        get_all = top.all_inputs or top.positions not in (None, (0,)) or (top.positions == (0,) and not top.bare_inputs)
        by_list = top.weights is not None
        return replace(
            flags,
            call="GradOperation",
            get_all=get_all or (by_list and top.positions is not None),
            get_by_list=by_list,
            sens_param=inner.takes_sens,
            grad_position=tuple(range(count)) if top.all_inputs else top.positions or (),
        )
    return replace(
        flags,
        call="value_and_grad" if top.with_value else "grad",
        grad_position=top.positions or (),
        weights=top.weights is not None,
        has_aux=inner.has_aux,
        return_ids=top.return_ids,
        mode="forward" if top.mode == "forward" else "reverse",
    )
