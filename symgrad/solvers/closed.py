"""A user's function of values that a solver gives it, as a program of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..custom_functions import custom
from ..differentiation.bodies import cut_out
from ..differentiation.forward import forward_sweep
from ..errors import CONTRACT, is_library
from ..kernels.kernel import lower
from ..primitives.contraction import identity
from ..primitives.external import one_of, zeros_like, zeros_of
from ..primitives.functions import add
from ..primitives.identity import stop_gradient
from ..primitives.primitive import input_node
from ..program.interpret import interpreted
from ..program.node import Node, ancestors, emit_again
from ..program.program import Program
from ..signature import called_name
from ..tracing.dispatch import refuse
from ..tracing.guards import cell_content
from ..tracing.instances import is_used_up
from ..tracing.local_array import LocalArray
from ..tracing.local_names import code_of
from ..tracing.step_values import end_step, step_value
from ..tracing.straight import changes_its_own
from ..tracing.trace import array_node, as_node, called
from ..tracing.trace_guards import TraceGuards
from ..tracing.tracer import Tracer

_CHANGES = (
    "{} changes what is outside of it (a counter, a list). A solver calls it as often as values make it, and a trace "
    f"once: have it give what it computes, and nothing else. {CONTRACT}"
)
_NOT_CALLED = (
    "{} may change what is outside of it (a counter, a list) or print, and {} is not solved when the function is "
    f"traced. Slopes symgrad derives itself: leave it out. {CONTRACT}"
)
#: how deep functions of the user's are looked for in those that stand around them
_DEPTH = 3


def _users(function: Any, depth: int) -> Iterator[Any]:
    """The functions, methods and callable objects of the user's that a solver was given, inside of what calls them."""
    if isinstance(function, partial):
        inside: list[Any] = [function.func, *function.args]
    elif isinstance(function, MethodType):
        if _is_users(function.__func__):
            yield function
            return
        inside = [function.__func__]
    elif type(function) is FunctionType:
        if _is_users(function):
            yield function
            return
        inside = list(map(cell_content, function.__closure__ or ()))
    else:
        if _is_users(getattr(type(function), "__call__", None)):  # noqa: B004
            yield function
        return
    for value in inside if depth < _DEPTH else ():
        yield from _users(value, depth + 1)


def _is_users(function: Any) -> bool:
    return type(function) is FunctionType and not is_library(function.__code__.co_filename)


def alone(solver: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A rule of a ``solver`` whose first argument is the one function that may have effects.

    Others that it is given (slopes, what is told of each step) are not called in a trace.
    """

    def declared(rule: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(rule)
        def answer(*args: Any, **kwargs: Any) -> Any:
            for given in (*args[1:], *kwargs.values()):
                own = [given] if type(given) is BuiltinFunctionType else _users(given, 0)
                if any(map(_may_change, own)):
                    refuse(_NOT_CALLED.format(called_name(given), solver))
            return rule(*args, **kwargs)

        return answer

    return declared


def _may_change(function: Any) -> bool:
    """Whether a function may have effects, by its source and all that it can reach."""
    code = code_of(function)
    return (code is not None and not changes_its_own(code, False)) or TraceGuards(function).has_effects


class _Watched:
    """What one of these functions can change, as it was before its run."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self._guards = TraceGuards(function)
        held = list(map(cell_content, getattr(function, "__closure__", None) or ()))
        self._takes = any(map(is_used_up, held))
        self._arrays = [v for v in held if type(v) is LocalArray]
        self._held = list(map(as_node, self._arrays))

    def has_changed(self) -> bool:
        """Whether the run has changed what is outside, drawn random numbers, or may have taken items of iterators."""
        written = any(as_node(v) is not node for v, node in zip(self._arrays, self._held, strict=True))
        return written or self._takes or self._guards.has_taken() or not self._guards.unchanged()


class Closed:
    """``function`` of arrays such as ``starts``, which gives one array.

    What it reads of the running trace are ``operands``, arguments after its own.
    """

    def __init__(self, function: Callable[..., Any], starts: Sequence[Any], names: Sequence[str]) -> None:
        given = [step_value(name, array_node(v)) for name, v in zip(names, starts, strict=True)]
        watched = list(map(_Watched, _users(function, 0)))
        made = array_node(called(function, map(Tracer, given), {}))
        for own in watched:
            if own.has_changed():
                refuse(_CHANGES.format(called_name(own.function)))
        self.program, constants, _ = cut_out(given, [], [made], names)
        self.shape = made.shape
        end_step(given)
        self.operands = [Tracer(n) for n in constants]
        self._made: dict[Any, Program] = {}
        self._kernels: dict[Program, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Its value in the running trace."""
        return _on(self.program, arguments)

    def slope(self, *arguments: Any, each: bool) -> Any:
        """Its derivative by the first argument in the running trace; see ``derivative``."""
        return _on(self.derivative(each), arguments)

    def kernel(self, program: Program | None = None) -> Callable[..., Any]:
        """It, or one of the programs made of it, on plain arrays."""
        program = self.program if program is None else program
        if program not in self._kernels:
            call = lower(program).call
            self._kernels[program] = lambda *arguments: call(*arguments)[0]
        return self._kernels[program]

    def derivative(self, each: bool) -> Program:
        """The derivative by the first argument, first the axes of that; ``each``: element by element."""
        x = self.program.inputs[0]
        if each not in self._made:
            with self.program.graph:
                seed = _ones_like(x) if each or not x.ndim else identity(x.shape)
                (made,) = forward_sweep(self.program.outputs, {x: seed}, 0 if each else x.ndim)
                shape = x.shape if each else (*x.shape, *self.shape)
                self._made[each] = self.program.with_outputs([made or zeros_of(shape, x.dtype)])
        return self._made[each]

    def directional(self, along: Sequence[int]) -> Program:
        """The derivative along tangents of these arguments, which are arguments after all others."""
        key = tuple(along)
        if key not in self._made:
            inputs = [self.program.inputs[k] for k in along]
            with self.program.graph as graph:
                tangents = [input_node(f"d{k}", n.shape, n.dtype) for k, n in zip(along, inputs, strict=True)]
                (made,) = forward_sweep(self.program.outputs, dict(zip(inputs, tangents, strict=True)))
                output = zeros_like(self.program.outputs[0]) if made is None else made
            names = [*self.program.names, *[f"d{k}" for k in along]]
            self._made[key] = Program([*self.program.inputs, *tangents], [output], names, graph)
        return self._made[key]


def _ones_like(x: Node) -> Node:
    return add(zeros_like(x), one_of(x.dtype))


def _on(program: Program, arguments: Sequence[Any]) -> Any:
    in_this_graph = lambda node, operands: emit_again(node, tuple(operands))  # noqa: E731
    return Tracer(interpreted(program, [as_node(v) for v in arguments], in_this_graph)[0])


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of arrays, which is not run again for those of the latest call: branches and results ask alike."""
    latest: list[Any] = [None, None]

    def asked(*values: Any) -> Any:
        key = [(np.shape(v), np.asarray(v).tobytes()) for v in values]
        if latest[0] != key:
            latest[:] = key, function(*values)
        return latest[1]

    return asked


def held(name: str, function: Callable[..., Any], shapes: Sequence[Any], nodes: Sequence[Node]) -> list[Any]:
    """What ``function`` of plain arrays gives at each call, arrays of these shapes, which have no derivative."""
    made = custom(remembered(function), name=name, shape=lambda *_: shapes)(*map(Tracer, nodes))
    return [Tracer(stop_gradient(as_node(v))) for v in made]


def is_known(value: Any) -> bool:
    """Whether it does not depend on what the traced function is given."""
    return not any(n.primitive.name in ("input", "dim") for n in ancestors([as_node(value)]))
