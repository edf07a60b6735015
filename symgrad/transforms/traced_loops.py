"""A loop in the running trace: its step is traced once, on values that stand for those of every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..differentiation.bodies import loop_of
from ..differentiation.segments import checkpointed
from ..errors import ArgumentTypeError, ShapeError, TracingError
from ..primitives import functions as f
from ..primitives.casting import cast
from ..primitives.external import zeros_of
from ..primitives.loop import Loop
from ..primitives.scan import results_of
from ..program.dims import Dim, is_named
from ..program.interpret import interpreted
from ..program.node import Node, ancestors
from ..tracing.step_names import argument_labels, local_variables
from ..tracing.step_values import end_step, step_element, step_value
from ..tracing.trace import array_node, as_node, running
from ..tracing.tracer import Tracer
from .nested import Nested

#: what a step makes of the carry and its element of xs: the next carry and what is kept
Step = Callable[[Any, Any], tuple[Any, Any]]


class TracedStep(NamedTuple):
    """One step: what it is given, what is carried on, what is kept of it, and the names of values in it."""

    given: list[Node]
    items: list[Node]
    nexts: list[Node]
    kept: Nested
    called: dict[Node, str]

    def end(self) -> None:
        """Nobody uses its values any more."""
        end_step([*self.given, *self.items])

    @property
    def outputs(self) -> list[Node]:
        """What the body of the loop gives."""
        return [*self.nexts, *map(array_node, self.kept.arrays)]


class TracedLoop:
    """A loop that begins with ``carry``, of which each step is given an element of the arrays in ``xs``."""

    def __init__(
        self,
        caller: str,
        step: Step,
        carry: Any,
        xs: Any = None,
        length: Dim | None = None,
        code: tuple[Callable, int, int] | None = None,
    ) -> None:
        """``code`` is the user's function that names are taken from, with the places of the carry and of ``x``."""
        self.caller = caller
        self._step = step
        self._code = code
        self._carry, self._xs = Nested.of(carry), Nested.of(xs)
        self._arrays = [array_node(v) for v in self._xs.arrays]
        self._length = length
        if is_named(length) and not self._arrays:
            self._arrays.append(zeros_of((length,), np.dtype(np.float64)))  # the length is read off an array
        self._starts = [array_node(v) for v in self._carry.arrays]
        labels = [*self._called(self._carry, 0, "carry"), *self._called(self._xs, 1, "x")]
        count = len(self._starts) + len(self._arrays)
        self._labels = [*labels, *["step"] * (count - len(labels))]

    def results(self, reverse: bool = False, checkpoint: int | str | None = None) -> tuple[Any, Any]:
        """The last carry, and what is kept of all steps."""
        step = self._traced()
        loop, constants = loop_of(
            step.given, step.items, step.outputs, self._labels, self._length, reverse, called=step.called
        )
        operands = [*self._starts, *self._arrays, *constants]
        made = results_of(loop, operands) if checkpoint is None else checkpointed(loop, operands, checkpoint)
        step.end()
        results = [Tracer(n) for n in made]
        return self._carry.filled(results), step.kept.filled(results[len(self._starts) :])

    def counted(self) -> int:
        """The steps that are taken while what they keep is true; calls that take another number have another trace."""
        step = self._traced()
        (goes_on,) = step.outputs[len(self._starts) :]
        running_on, taken = step_value("goes_on", as_node(np.True_)), step_value("taken", as_node(np.int64(0)))
        more = f.logical_and(running_on, goes_on)
        given, outputs = [*step.given, running_on, taken], [*step.nexts, more, f.add(taken, cast(more, taken.dtype))]
        labels = [*self._labels[: len(self._starts)], "goes_on", "taken"]
        loop, constants = loop_of(given, [], outputs, labels, 0)
        begun = [*self._starts, as_node(np.True_), as_node(np.int64(0)), *constants]
        loop, places = loop.giving((len(outputs) - 1,))
        operands = [begun[k] for k in places]
        step.end()
        end_step([running_on, taken])
        trace = running()
        if not all(map(trace.has_value, operands)):
            raise TracingError.here(_UNKNOWN)
        count = _steps_taken(loop, [trace.value_of(o) for o in operands])
        if any(n.primitive.name == "input" for n in ancestors(operands)):
            # with other values it may never end, so no more steps are counted than tell the difference
            (node,) = results_of(loop.like(loop.body, length=count + 1), operands)
            trace.values[node] = np.int64(count)
            trace.guard(node)
        return count

    # one step

    def _called(self, own: Nested, which: int, otherwise: str) -> list[str]:
        """What the arrays of an argument of the step are called."""
        if self._code is None:
            return own.labels(otherwise)
        fn, *places = self._code
        return own.arrays_of(argument_labels(fn, places[which], own.structure, otherwise))

    def _traced(self) -> TracedStep:
        """The step on carries of the dtypes that it keeps."""
        step = self._once()
        if self._meets_shorter(step):
            step.end()
            self._take_dtypes(self._once(weakly=True))
            step = self._once()
        while True:
            wider = self._widened(step)
            if not wider:
                break
            step.end()
            for k, dtype in wider.items():
                self._starts[k] = cast(self._starts[k], dtype)
            step = self._once()
        for name, n, s in zip(self._labels, step.nexts, self._starts, strict=False):
            if n.shape != s.shape:
                raise ShapeError.here(
                    f"{self.caller}: {name} has shape {s.shape} and after a step {n.shape}; it must keep its "
                    "shape. Begin with an array of the shape that a step gives, such as np.zeros(shape)."
                )
        return step

    def _once(self, weakly: bool = False) -> TracedStep:
        """The step, traced; ``weakly``: what begins as a Python number is one in the step too."""
        weak = [weakly and as_node(v).weak for v in self._carry.arrays]
        labels = iter(self._labels)
        given = [step_value(next(labels), n, w) for n, w in zip(self._starts, weak, strict=True)]
        items = [step_element(next(labels), n) for n in self._arrays]
        carry, x = (own.filled(map(Tracer, nodes)) for own, nodes in ((self._carry, given), (self._xs, items)))
        with local_variables(None if self._code is None else self._code[0]) as variables:
            result = self._step(carry, x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise not_a_pair(self.caller, result)
        after = Nested.of(result[0])
        if not after.is_like(self._carry):
            raise other_structure(self.caller)
        nexts = [as_node(v) for v in after.arrays] if weakly else [array_node(v) for v in after.arrays]
        called = {v._symgrad_node: name for name, v in variables.items() if type(v) is Tracer}
        return TracedStep(given, items, nexts, Nested.of(result[1]), called)

    def _meets_shorter(self, step: TracedStep) -> bool:
        """Whether a Python number that is carried may give way to the dtype of what it meets."""
        if not any(as_node(v).weak for v in self._carry.arrays):
            return False
        first = min([n.serial for n in step.given])
        made = [n for n in ancestors(step.outputs) if n.serial > first]
        return any(o.dtype.itemsize < 8 and o.dtype.kind in "fiu" for n in made for o in (n, *n.operands))

    def _take_dtypes(self, step: TracedStep) -> None:
        """Begin what are Python numbers with the dtypes that the step gives them."""
        for k, (value, n) in enumerate(zip(self._carry.arrays, step.nexts, strict=True)):
            start = as_node(value)
            if start.weak and not n.weak:
                self._starts[k] = cast(array_node(value), np.result_type(n.dtype, start.dtype.type(0).item()))
        step.end()

    def _widened(self, step: TracedStep) -> dict[int, np.dtype]:
        """The dtypes of carries that begin as integers and become floats, or as real numbers and become complex."""
        wider = {}
        for k, (name, n, s) in enumerate(zip(self._labels, step.nexts, self._starts, strict=False)):
            if n.dtype == s.dtype:
                continue
            if not (n.differentiable and s.dtype.kind in ("iuf" if n.is_complex else "iu")):
                raise ArgumentTypeError.here(
                    f"{self.caller}: {name} has dtype {s.dtype} and after a step {n.dtype}; it must keep its "
                    f"dtype. Begin with it as {n.dtype}, or give it back by astype({s.dtype})."
                )
            wider[k] = np.result_type(n.dtype, s.dtype)
        return wider


def _steps_taken(loop: Loop, values: Sequence[Any]) -> int:
    """How many steps the last carry counts until it counts no more."""
    carried, constants = list(values[: loop.carries]), values[loop.carries :]
    taken = 0
    while True:
        carried = interpreted(loop.body, [*carried, *constants])
        if carried[-1] == taken:
            return taken
        taken += 1


def not_a_pair(caller: str, result: Any) -> ArgumentTypeError:
    """A step has given something else."""
    return ArgumentTypeError.here(
        f"{caller}: a step gives a pair, the next carry and what is kept of it (None for nothing), and it gave "
        f"{'a tuple of ' + str(len(result)) if isinstance(result, tuple) else 'a ' + type(result).__name__}."
    )


def other_structure(caller: str) -> ArgumentTypeError:
    """A step has given a carry that the next one cannot take."""
    return ArgumentTypeError.here(
        f"{caller}: a step gives a carry of another structure than it is given: the same tuples, lists and dicts "
        "with the same keys in the same order, None and settings where they stand; return it built alike."
    )


_UNKNOWN = (
    "while_loop: how many steps there are depends on values that nobody knows while the function is traced: inside a "
    "step of another loop or a vmap, or with named dims. Use fori_loop or scan with a length that is enough, and carry "
    "on with np.where(condition, new, old)."
)
