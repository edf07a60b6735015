"""Flags: what a gradient can be asked for, and the layers of public calls that ask for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import symgrad
from symgrad.flags import FLAGS
from symgrad.flags.registry import Flag, derived_by
from symgrad.tensor import Parameter, ParameterTuple
from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.gradient import GradientFunction

from .subject import Subject

#: the public calls that make a gradient, with what each of them is
CALLS = {
    "GradOperation": "MindSpore's operator: sg.GradOperation(get_all, get_by_list, sens_param)(f) is the gradient",
    "grad": "sg.grad(f, grad_position, weights, has_aux) is the gradient, by positions and parameters",
    "value_and_grad": "as grad, and the function's value with it: (value, gradient)",
}
MODES = ("reverse", "forward")
ORDERS = (1, 2, 3)


@dataclass(frozen=True)
class Flags:
    """The state of a panel. GradOperation reads the first three flags, grad and value_and_grad the next five.

    ``trainable`` are the parameters with requires_grad, by number: whichever call takes gradients by parameters
    takes them by these. ``stopped`` are the intermediates held constant. The order is how often the gradient is
    taken, each time of the sum of the gradient before. ``others`` are flags that none of these calls read, with their
    values.
    """

    call: str = "grad"
    get_all: bool = False
    get_by_list: bool = False
    sens_param: bool = False
    grad_position: tuple[int, ...] = (0,)
    weights: bool = False
    has_aux: bool = False
    return_ids: bool = False
    mode: str = "reverse"
    trainable: tuple[int, ...] = ()
    stopped: tuple[str, ...] = ()
    order: int = 1
    others: tuple[tuple[str, Any], ...] = ()

    @property
    def takes_sens(self) -> bool:
        """True where the cotangent of the output is an argument."""
        return self.call == "GradOperation" and self.sens_param

    @property
    def by_weights(self) -> bool:
        """True where gradients by parameters are asked for."""
        return self.get_by_list if self.call == "GradOperation" else self.weights

    def positions(self, subject: Subject) -> tuple[int, ...]:
        """The arguments that are differentiated by."""
        if self.call != "GradOperation":
            return self.grad_position
        if self.get_all:
            return tuple(range(len(subject.args)))
        return () if self.get_by_list else (0,)

    def chosen(self, subject: Subject) -> tuple[Parameter, ...]:
        """The parameters that are differentiated by."""
        return tuple(subject.parameters[k] for k in self.trainable) if self.by_weights else ()


@dataclass(frozen=True)
class Layer:
    """One call of the public API on a function: ``options`` are its keywords as they are spelled, defaults left out.

    ``weights`` None: they are not named; ``positions`` None: the call decides by its flags.
    """

    call: str
    options: dict[str, Any] = field(default_factory=dict)
    positions: tuple[int, ...] | None = None
    weights: tuple[Parameter, ...] | None = None

    @property
    def position(self) -> int | tuple[int, ...] | None:
        """``grad_position`` as the call spells it: of one argument the bare gradient."""
        positions = self.positions or None
        return positions[0] if positions and len(positions) == 1 else positions

    def apply(self, function: Callable) -> GradientFunction:
        """The gradient function that the call gives."""
        if self.call == "GradOperation":
            operation = symgrad.GradOperation(**self.options)
            return operation(function) if self.weights is None else operation(function, ParameterTuple(self.weights))
        made = {"grad": symgrad.grad, "value_and_grad": symgrad.value_and_grad}[self.call]
        return made(function, self.position, self.weights, **self.options)


def layers(subject: Subject, flags: Flags) -> list[Layer]:
    """The calls that make the derivative, the innermost first.

    Inner ones give gradients alone; sens weighs the outputs of the function, so only the innermost takes it.
    """
    weights = flags.chosen(subject) if flags.by_weights else None
    positions = flags.positions(subject)
    if flags.call == "GradOperation":
        names = ("get_all", "get_by_list", "sens_param")
        layer = Layer(flags.call, {n: True for n in names if getattr(flags, n)}, weights=weights)
        outer = layer if not flags.sens_param else Layer("grad", {}, positions, weights)
        return [layer, *[outer] * (flags.order - 1)]
    kept: dict[str, Any] = {}
    if flags.has_aux:
        kept["has_aux"] = True
    if flags.mode != "reverse":
        kept["mode"] = flags.mode
    if subject.backend != "auto":
        kept["backend"] = subject.backend
    outer = kept | ({"return_ids": True} if flags.return_ids else {})
    inner = Layer("grad", kept, positions, weights)
    return [*[inner] * (flags.order - 1), Layer(flags.call, outer, positions, weights)]


def others() -> list[Flag]:
    """The flags of the panel that are no argument of the public calls, and that a control can set."""
    found = (flag for flag in FLAGS.values() if flag.gloss and (flag.derive or flag.show))
    return [flag for flag in found if (flag.is_switch or flag.choices) and not flag.many]


def meaning(keyword: str) -> Flag:
    """The flag that the public calls name so."""
    return next(flag for flag in FLAGS.values() if flag.said == keyword)


def derivative(subject: Subject, flags: Flags) -> DerivedFunction:
    """The derivative that the flags ask for, made by the calls that the code line spells.

    >>> half = derivative(Subject.of(lambda x, y: x * y, (2.0, 3.0)), Flags(grad_position=(0, 1)))
    >>> half(2.0, 3.0)
    (np.float64(3.0), np.float64(2.0))
    """
    function: Any = subject.held(flags.stopped)
    for layer in layers(subject, flags):
        function = layer.apply(function)
        if function.takes_sens:
            function.__signature__ = _signature((*subject.names, "sens"))
    return derived_by(function, dict(flags.others))


def asks_alike(left: Any, right: Any) -> bool:
    """Whether two gradients by arguments ask the same of the same function."""
    if not (isinstance(left, GradientFunction) and isinstance(right, GradientFunction)):
        return left is right
    same = all(getattr(left, name) == getattr(right, name) for name in ("flags", "backend", "bare_inputs"))
    return same and left.weights is None and asks_alike(left.fn, right.fn)


def _signature(names: Sequence[str]) -> inspect.Signature:
    """Positional arguments of these names, each once; the outer derivative calls sens by what this says."""
    made = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in dict.fromkeys(names)]
    return inspect.Signature(made)


def refusals(subject: Subject, flags: Flags) -> dict[str, str]:
    """The flags that the API would refuse for this function, each with the reason in a few words."""
    found: dict[str, str] = {}
    whole = [name for name, fine in zip(subject.names, subject.differentiable, strict=True) if not fine]
    if whole and not flags.get_all:
        found["get_all"] = f"{', '.join(whole)} {'is' if len(whole) == 1 else 'are'} not made of floats"
    if not flags.trainable and not flags.by_weights:
        reason = "no parameter has requires_grad" if subject.parameters else "the function reads no Parameter"
        found |= {"get_by_list": reason, "weights": reason}
    if subject.outputs < 2 and not flags.has_aux:
        found["has_aux"] = "the function returns one output"
    return found
