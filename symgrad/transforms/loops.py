"""Loops as operations: scan, fori_loop and while_loop, and checkpoint.

A loop is traced once, whatever its length; its derivatives are loops, derived once (``differentiation.loops``).
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..compiled import is_tracing
from ..differentiation.bodies import loop_of
from ..errors import ArgumentError, ArgumentTypeError, ShapeError
from ..pickling import Importable
from ..primitives.primitive import dim_value
from ..primitives.scan import results_of
from ..primitives.shaping import reshape
from ..program.dims import Dim, is_named, normal
from ..tracing.sizes import Size, whole
from ..tracing.step_values import end_step, step_value
from ..tracing.trace import array_node, as_node, called, is_traced, running
from ..tracing.tracer import Tracer
from .nested import Nested
from .positions import checked_flag, checked_function
from .traced_loops import TracedLoop, not_a_pair, other_structure

Carry = TypeVar("Carry")


def scan(
    step: Callable[[Carry, Any], tuple[Carry, Any]],
    carry: Carry,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    checkpoint: int | str | None = None,
) -> tuple[Carry, Any]:
    """The last carry and all ``y`` of ``carry, y = step(carry, x)``, for each ``x`` along the first axis of ``xs``.

    ``carry``, ``xs`` and ``y`` are arrays, or nested tuples, lists, dicts and dataclasses of them; ``xs`` may be None
    where ``length`` is given. A carry keeps its structure, shapes and dtypes from step to step; an integer that becomes
    a float begins as one, and a Python number as an array of the dtype that the step gives it. ``reverse``: the last
    element comes first, and each ``y`` stands where its ``x`` does. ``checkpoint``: what the reverse sweep keeps of the
    steps; None keeps what it reads, an int the carries of each so many steps, ``"sqrt"`` those of each √length, from
    which the others are computed again.

    Inside of what is differentiated or mapped the step is traced once (or again where a dtype has to be found), for
    all steps: what else it does, such as printing or appending to a list, happens then alone. A choice between values
    is made by ``np.where`` or ``cond`` there. Elsewhere the steps run as they are, one after the other.

    Raises ShapeError where a carry changes its shape or an array of ``xs`` has no axis, ArgumentTypeError where a carry
    changes its structure or dtype or a step gives no pair, and ArgumentError for arrays of different lengths.

    >>> import numpy as np
    >>> from symgrad import grad
    >>> scan(lambda c, x: (c + x, c * x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 2., 9.]))
    >>> grad(lambda a: scan(lambda c, x: (a * c + x, None), 0.0, np.arange(200.0))[0])(0.5)
    np.float64(784.0)
    """
    checked_function(step)
    checked_flag("reverse", reverse)
    every = _checkpoint(checkpoint)
    if not is_tracing((carry, xs)):
        return _run(step, carry, xs, _length(xs, length, "scan"), reverse)
    count, code = _length(xs, length, "scan"), (step, 0, 1)
    traced = TracedLoop("scan", lambda c, x: called(step, (c, x), {}), carry, xs, count, code)
    return traced.results(reverse, every)


def fori_loop(lower: int, upper: int, body: Callable[[int, Carry], Carry], carry: Carry) -> Carry:
    """``for i in range(lower, upper): carry = body(i, carry)``, and the last carry.

    The carry and ``body`` are as those of ``scan``. Traced, ``i`` is an array too: ``x[i]`` works, ``range(i)`` does
    not.

    >>> fori_loop(1, 4, lambda i, c: c * i, 1.0)
    6.0
    """
    checked_function(body)
    first, last = _bound(lower, "lower"), _bound(upper, "upper")
    if not is_tracing(carry):
        carry = _begun(carry)
        for i in range(first, last):
            carry = body(i, carry)
        return carry
    length = normal(last - first)
    if is_named(length):
        return _counted(first, length, body, carry)
    counters = np.arange(first, last) if isinstance(first, int) else Tracer(dim_value(first)) + np.arange(length)
    count, code = max(length, 0), (body, 1, 0)
    traced = TracedLoop("fori_loop", lambda c, i: (called(body, (i, c), {}), None), carry, counters, count, code)
    return traced.results()[0]


def _counted(first: Dim, length: Dim, body: Callable, carry: Any) -> Any:
    """``fori_loop`` of a named length, of which no array of the counters is made: it counts as it goes."""
    if not running().assumes(length, "nonnegative"):
        return carry

    def step(c: Any, _: Any) -> Any:
        return (c[0] + 1, called(body, c, {})), None

    start = Tracer(array_node(Tracer(dim_value(first))))
    return TracedLoop("fori_loop", step, (start, carry), None, length).results()[0][1]


def while_loop(condition: Callable[[Carry], Any], body: Callable[[Carry], Carry], carry: Carry) -> Carry:
    """``while condition(carry): carry = body(carry)``, and the last carry.

    The carry and ``body`` are as those of ``scan``. Inside of what is differentiated the number of steps is found with
    the values of the call: the trace serves calls that take as many, others are traced anew. Where these values are not
    known (named dims, examples of ``vmap``, a step of another loop) it is a TracingError: take ``fori_loop`` with a
    length that is enough, and ``np.where(condition, new, old)``.

    >>> from symgrad import grad
    >>> def newton(a):
    ...     return while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2, a)
    >>> round(newton(2.0), 6), round(grad(newton)(2.0), 6)
    (1.414214, np.float64(0.353553))
    """
    checked_function(condition)
    checked_function(body)
    if not is_tracing(carry):
        carry = _begun(carry)
        while condition(carry):
            carry = body(carry)
        return carry

    def until(c: Any, _: Any) -> tuple[Any, Any]:
        goes_on = _truth(called(condition, (c,), {}))
        return called(body, (c,), {}), goes_on

    count = TracedLoop("while_loop", until, carry).counted()
    if not count:
        return carry
    code = (body, 0, 1)
    traced = TracedLoop("while_loop", lambda c, _: (called(body, (c,), {}), None), carry, None, count, code)
    return traced.results()[0]


def checkpoint(fn: Callable) -> Checkpointed:
    """``fn``, of whose values a reverse sweep stores none: it computes them again from the arguments.

    That takes the time of ``fn`` once more and no memory for what it computes on its way. Arrays that ``fn`` reads from
    around it are stored as they are. Forward mode, and calls outside of what is differentiated, are as without it.

    >>> from symgrad import grad
    >>> grad(checkpoint(lambda x: np.exp(np.sin(x))))(0.0)
    np.float64(1.0)
    """
    return Checkpointed(checked_function(fn))


class Checkpointed(Importable):
    """A function whose values are computed again; made by ``checkpoint``."""

    def __init__(self, fn: Callable) -> None:
        self.fn = fn
        self.__wrapped__ = fn
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)
        self.__doc__ = fn.__doc__

    def _guarded(self) -> dict[str, Any]:
        return {"fn": self.fn}

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = Nested.of((args, kwargs), _is_stored)
        if not given.arrays or not is_tracing((args, kwargs)):
            return self.fn(*args, **kwargs)
        nodes = [as_node(v) for v in given.arrays]
        labels = given.labels("x")
        items = [step_value(name, n) for name, n in zip(labels, nodes, strict=True)]
        trace = running()
        trace.outside.update(zip(items, map(trace.from_outside, nodes), strict=True))
        own, named = given.filled(map(Tracer, items))
        made = Nested.of(called(self.fn, own, named))
        loop, constants = loop_of([], items, [array_node(v) for v in made.arrays], labels, 1, stores=False)
        results = results_of(loop, [*(reshape(n, (1, *n.shape)) for n in nodes), *constants])
        end_step(items)
        return made.filled([Tracer(reshape(r, r.shape[1:])) for r in results])


def _is_stored(leaf: Any) -> bool:
    """Whether a leaf is a traced array; a Python number gives way to the dtypes that it meets, and stays outside."""
    return is_traced(leaf) and not isinstance(leaf, Size) and not as_node(leaf).weak


# arguments


def _checkpoint(value: Any) -> int | str | None:
    if value is None or (isinstance(value, str) and value == "sqrt"):
        return value
    if isinstance(value, (bool, str)) or not hasattr(value, "__index__"):
        raise ArgumentTypeError.here(f"scan: checkpoint is None, 'sqrt' or a number of steps, not {value!r}.")
    steps = operator.index(value)
    if steps < 1:
        raise ArgumentError.here(f"scan: checkpoint is a number of steps from 1 on, and it is {steps}.")
    return steps


def _bound(value: Any, name: str) -> Dim:
    if isinstance(value, bool) or not (isinstance(value, Size) or hasattr(value, "__index__")):
        raise ArgumentTypeError.here(
            f"fori_loop: {name} is a whole number, as range takes it, not a {type(value).__name__}."
        )
    return whole(value)


def _length(xs: Any, length: Any, caller: str) -> Dim:
    """The steps of a loop."""
    arrays = Nested.of(xs).arrays
    shapes = [as_node(v).shape if is_traced(v) else np.shape(v) for v in arrays]
    if not all(shapes):
        raise ShapeError.here(
            f"{caller}: every array of xs needs a first axis, along which the steps go, and there is a number; "
            "make an array of a list of numbers (np.array(xs))."
        )
    sizes: list[Dim] = [shape[0] for shape in shapes]
    if length is not None:
        if isinstance(length, bool) or not (isinstance(length, Size) or hasattr(length, "__index__")):
            raise ArgumentTypeError.here(f"{caller}: length is a whole number of steps, not a {type(length).__name__}.")
        sizes.insert(0, whole(length))
    if not sizes:
        raise ArgumentError.here(f"{caller}: give xs, or the length where there are none.")
    if any(normal(n - sizes[0]) != 0 for n in sizes):
        listed = " and ".join(map(str, dict.fromkeys(sizes)))
        raise ArgumentError.here(f"{caller}: the arrays of xs and length must agree, and they are {listed}.")
    if not is_named(sizes[0]) and sizes[0] < 0:
        raise ArgumentError.here(f"{caller}: the length is {sizes[0]}; it cannot be negative.")
    return sizes[0]


def _truth(value: Any) -> Any:
    """What a condition gives, as one truth value."""
    node = as_node(value)
    if node.shape:
        raise ShapeError.here(
            f"while_loop: the condition gave an array of shape {node.shape}, and it takes one truth value; use "
            "np.all or np.any."
        )
    return value if node.dtype.kind == "b" else np.not_equal(value, 0)


# steps as they are


def _run(step: Callable, carry: Any, xs: Any, count: int, reverse: bool) -> tuple[Any, Any]:
    """The steps one after the other; what a step writes into is its own."""
    begun, arrays = Nested.of(carry), Nested.of(xs)
    carry = _begun(carry)
    kept: list[Nested] = []
    for t in range(count - 1, -1, -1) if reverse else range(count):
        result = step(carry, arrays.filled([_own(v[t]) for v in arrays.arrays]))
        if not isinstance(result, tuple) or len(result) != 2:
            raise not_a_pair("scan", result)
        carry = result[0]
        if not Nested.of(carry).is_like(begun):
            raise other_structure("scan")
        y = Nested.of(result[1])
        kept.append(y._replace(arrays=[_own(v) for v in y.arrays]))
    if not kept:
        return carry, _kept_of_none(step, carry, xs)
    if reverse:
        kept.reverse()
    if not all(y.is_like(kept[0]) for y in kept):
        raise ArgumentTypeError.here("scan: what a step keeps has another structure than that of the others.")
    columns = zip(*[y.arrays for y in kept], strict=True)
    return carry, kept[0].filled([np.stack(column) for column in columns])


def _begun(carry: Carry) -> Carry:
    """What the first step is given, and may write into."""
    nested = Nested.of(carry)
    return nested.filled(map(_own, nested.arrays))


def _own(value: Any) -> Any:
    """An array that nobody else has; a number as it is."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _kept_of_none(step: Callable, carry: Any, xs: Any) -> Any:
    """What no step has kept: arrays without elements, of the shapes that a step would keep."""
    from .products import symbolic  # it imports what imports this

    return symbolic(lambda c, v: scan(step, c, v, None if Nested.of(v).arrays else 0)[1], backend="numpy")(carry, xs)
