"""grad, value_and_grad and GradOperation: reverse mode with MindSpore's return structure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..compiled import Shapes
from ..differentiation.reverse import reverse_sweep
from ..errors import ArgumentError, ArgumentTypeError, UnusedWeightWarning, shortened
from ..named_dims import parameters_of
from ..primitives.identity import mark
from ..program.node import Node
from ..tensor import Parameter
from ..trace_entry import Result
from ..tracebacks import briefly
from ..tracing.trace import running
from ..tracing.tracer import Tracer
from .complex_numbers import check_gradient, pulled_back, pushed_back
from .derived import DerivedFunction, P, finished, numbered
from .positions import (
    Positions,
    check_arguments,
    checked_flag,
    checked_function,
    checked_positions,
    checked_sens,
    checked_weights,
    named_once,
)
from .run import run_of, seeds_of_sum

_MODES = ("auto", "reverse", "forward")
_MAX_KEPT = 32  # gradient functions that a GradOperation remembers


class GradientFunction(DerivedFunction[P]):
    """The gradient of a function of arrays; made by ``grad``, ``value_and_grad`` and ``GradOperation``."""

    def __init__(
        self,
        fn: Callable,
        positions: tuple[int, ...] | None,
        weights: tuple[Parameter, ...] | None,
        *,
        bare_inputs: bool,
        bare_weights: bool,
        has_aux: bool = False,
        return_ids: bool = False,
        with_value: bool = False,
        takes_sens: bool = False,
        all_inputs: bool = False,
        mode: str = "auto",
        backend: str = "auto",
        holomorphic: bool = False,
    ) -> None:
        if not isinstance(mode, str) or mode not in _MODES:
            raise ArgumentError(f"mode={mode!r} is unknown; choose one of {', '.join(map(repr, _MODES))}.")
        self.positions = positions
        self.weights = weights
        self.bare_inputs = bare_inputs
        self.bare_weights = bare_weights
        self.has_aux = has_aux
        self.return_ids = return_ids
        self.with_value = with_value
        self.takes_sens = takes_sens
        self.all_inputs = all_inputs
        self.mode = mode
        self.holomorphic = holomorphic
        self._needed = _positional_count(fn) if takes_sens else None
        super().__init__(fn, backend)

    verb = "grad"

    def _chosen(self, args: tuple) -> tuple[int, ...]:
        return tuple(range(len(args))) if self.all_inputs else self.positions or ()

    def _split_sens(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any], Any]:
        if not self.takes_sens:
            if "sens" in kwargs:
                raise ArgumentTypeError("sens was passed to a gradient that takes none; build it with sens_param=True.")
            return args, kwargs, None
        if "sens" in kwargs:
            return args, {k: v for k, v in kwargs.items() if k != "sens"}, kwargs["sens"]
        if not args or (self._needed is not None and len(args) <= self._needed):
            raise ArgumentTypeError(
                f"sens_param=True: the gradient takes the function's arguments and then sens, of the output's shape; "
                f"it got {len(args)} argument{'s' if len(args) != 1 else ''}. Pass sens last, or as sens=…."
            )
        return args[:-1], kwargs, args[-1]

    def _check(self, args: tuple, kwargs: dict[str, Any]) -> None:
        args, _, _ = self._split_sens(args, kwargs)
        check_arguments(args, self._chosen(args), self.__name__)

    def _shapes(self, args: tuple, kwargs: dict[str, Any]) -> Shapes:
        assert self.declaration is not None
        own, named, sens = self._split_sens(args, kwargs)
        by_place, by_name = self.declaration.shapes(own, named)
        if self.takes_sens:
            declared = self._output_shapes("sens", sens, own, named, self.has_aux)
            if "sens" in kwargs:
                return by_place, {**by_name, "sens": declared}
            by_place = [*by_place, declared]
        return by_place, by_name

    def _run(self, args, kwargs, fresh):
        args, kwargs, sens = self._split_sens(args, kwargs)
        weights = {id(w): running().parameter(w) for w in self.weights or ()}
        if not fresh:  # what was computed from a weight outside of fn is a constant to this derivative
            weights = {key: mark(n) for key, n in weights.items()}
        run = run_of(self, args, kwargs, self._chosen(args), fresh, weights)
        if self.takes_sens:
            return replace(run, seeds=checked_sens(sens, run.outputs, self.__name__), modes=("reverse",))
        check_gradient(run.outputs, run.wrt, self.holomorphic, self.__name__)
        return replace(run, seeds=seeds_of_sum(run.outputs), summed=True)

    def _result(self, run):
        if self.mode == "forward":
            flows = pushed_back(run.outputs, run.seeds, run.wrt, self.holomorphic)
        else:
            flows = (reverse_sweep if self.holomorphic else pulled_back)(run.outputs, run.seeds, run.wrt)
        self._warn_of_unused(flows[len(flows) - len(run.weights) :])
        done = [Tracer(finished(g, n)) for g, n in zip(flows, run.wrt, strict=True)]
        count = len(done) - len(run.weights)
        gradient = self._shaped(run.inputs.nested(done[:count]), done[count:])
        if self.with_value:
            return (run.output, gradient)
        return (gradient, run.aux) if self.has_aux else gradient

    @property
    def flags(self) -> dict[str, Any]:
        by: Any = "all" if self.all_inputs else self.positions
        if not self.all_inputs and self.bare_inputs and self.positions:
            by = self.positions[0]
        said: dict[str, Any] = {"grad_position": by}
        if self.weights is not None:
            said["weights"] = "; ".join(w.name for w in self.weights)
        named = ("with_value", "has_aux", "return_ids", "holomorphic")
        said |= {name: True for name in named if getattr(self, name)}
        return said | ({"sens_param": True} if self.takes_sens else {}) | {"mode": self.mode}

    def labels(self, entry: Result) -> list[str]:
        """``f`` for values, ``∂f/∂x`` for gradients, in the order of the outputs."""
        by_input = [n for p in self.inputs_of(entry) for n in entry.argument_names[p]]
        # the gradient of a gradient is that of its sum, which is the second derivative of a number alone
        order = self.order if not any(o.shape for o in entry.program.outputs) else 1
        from ..closed_form.latex import input_latex, symbol_latex  # slow to import

        f, shown = self.letter(entry), input_latex(entry.program)
        of = r"\Sigma\nabla " * (self.nesting - order) + f
        by = [*by_input, *(w.name for w in self.weights or ())]
        gradients = [partial_latex(shown.get(n) or symbol_latex(n), order, of) for n in by]
        others = len(entry.program.outputs) - len(gradients)
        value = f if self.nesting == 1 else r"\Sigma\nabla " * (self.nesting - 2) + rf"\nabla {f}"
        word = r"\mathrm{aux}" if self.has_aux and not self.with_value else value
        values = numbered(word, others)
        return values + gradients if self.with_value else gradients + values

    def inputs_of(self, entry: Result) -> Sequence[int]:
        """The positions of the arguments that it is taken by."""
        if not self.all_inputs:
            return self.positions or ()
        return range(len(entry.argument_names) - len(entry.keywords) - self._takes_sens_last(entry.keywords))

    def _takes_sens_last(self, keywords: Iterable[str]) -> bool:
        return self.takes_sens and "sens" not in keywords

    def _argument_names(self, count: int, kwargs: Mapping[str, Any]) -> Sequence[str]:
        if not (count and self._takes_sens_last(kwargs)):
            return super()._argument_names(count, kwargs)
        return [*super()._argument_names(count - 1, kwargs), "sens"]

    @property
    def order(self) -> int:
        """How often it derives by the same one argument: 2 for ``grad(grad(f))``."""
        inner = self.fn
        alone = self.bare_inputs and not (self.weights or self.has_aux or self.takes_sens or self.return_ids)
        if not (alone and isinstance(inner, GradientFunction)) or inner.positions != self.positions:
            return 1
        return 1 + inner.order if inner._is_bare else 1

    @property
    def _is_bare(self) -> bool:
        """Whether it gives the gradient by one argument, and nothing with it."""
        return self.bare_inputs and not (self.weights or self.has_aux or self.takes_sens or self.with_value)

    @property
    def is_plain(self) -> bool:
        """Whether it gives one gradient alone, and is of no other, which would be summed."""
        return self._is_bare and not self.return_ids and self.nesting == 1

    @property
    def nesting(self) -> int:
        """How many gradients it is of one another: each but the last is summed before the next is taken."""
        return 1 + self.fn.nesting if isinstance(self.fn, GradientFunction) else 1

    def _warn_of_unused(self, flows: list[Node | None]) -> None:
        for weight, flow in zip(self.weights or (), flows, strict=True):
            if flow is None:
                warnings.warn(
                    f"the output does not depend on the weight {shortened(weight.name)!r}, so its gradient is zero. "
                    "Where the function reads it, it must not do so through np.asarray, which hides it from the trace.",
                    UnusedWeightWarning,
                    stacklevel=2,
                )

    def _shaped(self, inputs: list, weights: list) -> Any:
        if self.return_ids:
            positions = range(len(inputs)) if self.all_inputs else self.positions or ()
            inputs = [(p, g) for p, g in zip(positions, inputs, strict=True)]
            weights = [(w.name, g) for w, g in zip(self.weights or (), weights, strict=True)]
        by_weight = weights[0] if self.bare_weights else tuple(weights)
        if not self.positions and not self.all_inputs:
            return by_weight
        by_input = inputs[0] if self.bare_inputs else tuple(inputs)
        return by_input if self.weights is None else (by_input, by_weight)


def partial_latex(by: str, order: int = 1, of: str = "f") -> str:
    """The derivative ``∂f/∂x`` of ``of`` by ``by``, all in LaTeX."""
    if order == 1:
        return rf"\frac{{\partial {of}}}{{\partial {by}}}"
    return rf"\frac{{\partial^{{{order}}} {of}}}{{\partial {by}^{{{order}}}}}"


def _positional_count(fn: Callable) -> int | None:
    """How many positional arguments ``fn`` needs; None where it takes any number."""
    parameters = parameters_of(fn)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(1 for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty)


@briefly
def grad(
    fn: Callable[P, Any],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    *,
    argnums: Positions | None = None,
    wrt: Positions | None = None,
    mode: str = "auto",
    backend: str = "auto",
    holomorphic: bool = False,
) -> GradientFunction[P]:
    """The gradient of the sum over all elements of all outputs of ``fn``.

    ``grad_position`` an int, or the name of an argument, gives the bare gradient by it, a tuple of these a tuple
    (``argnums=1`` and ``wrt="y"`` say the same); ``weights`` a list of Parameters adds a tuple of theirs
    (``(by_inputs, by_weights)``), a single Parameter a bare one. ``has_aux``: only the first output is differentiated,
    and the result is ``(gradient, aux)``. ``return_ids``: each gradient g is ``(id, g)``, id its position or the
    parameter's name.
    ``mode``: ``reverse`` (also ``auto``) or ``forward``; the same numbers. Each gradient has the shape and
    dtype of what it is taken by. That by a complex argument is ``∂f/∂Re + i ∂f/∂Im``, of an output that is real;
    ``holomorphic=True`` gives the complex derivative of a holomorphic function of complex arguments.

    Raises ArgumentError and ArgumentTypeError for bad positions and flags, DtypeError for integers.

    >>> import numpy as np
    >>> g = grad(lambda x, y: np.sum(np.sin(x) * y), (0, 1))
    >>> g(np.zeros(2), np.array([3.0, 4.0]))
    (array([3., 4.]), array([0., 0.]))
    """
    return _gradient(
        fn, named_once(grad_position, argnums, wrt), weights, has_aux, return_ids, mode, backend, holomorphic, False
    )


@briefly
def value_and_grad(
    fn: Callable[P, Any],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    *,
    argnums: Positions | None = None,
    wrt: Positions | None = None,
    mode: str = "auto",
    backend: str = "auto",
    holomorphic: bool = False,
) -> GradientFunction[P]:
    """``(output, gradient)`` in one kernel; the arguments and the gradient are those of ``grad``.

    With ``has_aux`` the output is the whole tuple ``(out, aux, …)`` and only ``out`` is differentiated.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (np.float64(9.0), np.float64(6.0))
    """
    return _gradient(
        fn, named_once(grad_position, argnums, wrt), weights, has_aux, return_ids, mode, backend, holomorphic, True
    )


def _gradient(
    fn, grad_position, weights, has_aux, return_ids, mode, backend, holomorphic, with_value
) -> GradientFunction:
    if grad_position is None and weights is None:
        raise ArgumentError("`grad_position` and `weight` can not be None at the same time.")
    return GradientFunction(
        checked_function(fn),
        checked_positions(grad_position, checked_function(fn)),
        checked_weights(weights),
        bare_inputs=not isinstance(grad_position, (tuple, list)),
        bare_weights=isinstance(weights, Parameter),
        has_aux=checked_flag("has_aux", has_aux),
        return_ids=checked_flag("return_ids", return_ids),
        with_value=with_value,
        mode=mode,
        backend=backend,
        holomorphic=checked_flag("holomorphic", holomorphic),
    )


def get_grad(gradients: Any, identifier: int | str | Parameter) -> Any:
    """The gradient with this id among those that ``return_ids=True`` gave.

    >>> g = grad(lambda x, y: x * y, (0, 1), return_ids=True)(2.0, 3.0)
    >>> get_grad(g, 1)
    np.float64(2.0)
    """
    wanted = identifier.name if isinstance(identifier, Parameter) else identifier
    pending = [gradients]
    while pending:
        value = pending.pop()
        if isinstance(value, (tuple, list)):
            if len(value) == 2 and isinstance(value[0], (int, str)) and not isinstance(value[1], (tuple, list)):
                if type(value[0]) is type(wanted) and value[0] == wanted:
                    return value[1]
            else:
                pending += reversed(value)
    raise ArgumentError(f"there is no gradient with the id {wanted!r}; was return_ids=True given?")


class GradOperation:
    """MindSpore's gradient operator: ``GradOperation(get_all, get_by_list, sens_param)(net[, params])``.

    By default the bare gradient by the first input. ``get_all``: a tuple, by all inputs. ``get_by_list``:
    a tuple by the parameters given; with both, ``(by_inputs, by_parameters)``. ``sens_param``: the last
    argument (or ``sens=``) is the cotangent of the output, of its shape, a tuple for several outputs.

    >>> GradOperation(get_all=True)(lambda x, y: x * y)(2.0, 3.0)
    (np.float64(3.0), np.float64(2.0))
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        self.get_all = checked_flag("get_all", get_all)
        self.get_by_list = checked_flag("get_by_list", get_by_list)
        self.sens_param = checked_flag("sens_param", sens_param)
        self._made: dict[Any, GradientFunction] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_made": {}}

    def _guarded(self) -> dict[str, Any]:
        return {"get_all": self.get_all, "get_by_list": self.get_by_list, "sens_param": self.sens_param}

    def __call__(self, fn: Callable, weights: Any = None) -> GradientFunction:
        checked_function(fn)
        if self.get_by_list and weights is None:
            trainable = getattr(fn, "trainable_params", None)
            if trainable is None:
                raise ArgumentTypeError(
                    "get_by_list=True needs the parameters: op(net, ParameterTuple(net.trainable_params()))."
                )
            weights = trainable()
        chosen = checked_weights(weights) if self.get_by_list else None
        key = (id(fn), tuple(map(id, chosen or ())))
        made = self._made.get(key)
        if made is None or made.fn is not fn:
            while len(self._made) >= _MAX_KEPT:
                self._made.pop(next(iter(self._made)))
            made = self._made[key] = GradientFunction(
                fn,
                None if self.get_all or self.get_by_list else (0,),
                chosen,
                bare_inputs=not self.get_all and not self.get_by_list,
                bare_weights=False,
                takes_sens=self.sens_param,
                all_inputs=self.get_all,
            )
        return made
