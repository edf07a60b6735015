"""Functions with a derivative of one's own: any function, also one that calls C, Fortran or another process.

Declared as JAX's ``custom_jvp`` and ``custom_vjp`` are, without residuals: a rule that has a parameter ``out`` is given
the value too. As in ChainRules.jl one of both rules is enough, because each is the transpose of the other.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .compiled import is_tracing
from .custom_outcomes import (
    Outcome,
    Part,
    linear_leaves,
    nesting,
    outcome_like,
    outcome_of,
    outcome_of_shapes,
    static_key,
)
from .differentiation.custom import Rule
from .differentiation.ruled_calls import Row, RuledCall, Rules, float_sources, handles, is_float, is_traced, picked
from .errors import ArgumentError, ArgumentTypeError, MissingDerivative, ShapeError, TracingError
from .pickling import Importable
from .primitives.external import Call, External, row, split
from .primitives.identity import custom as with_rule
from .program.node import Node, active_graph, emit
from .tracing.external_calls import Operand, called, known_values
from .tracing.trace import as_followed, as_node, running
from .tracing.tracer import Tracer
from .tracing.tree import flatten, unflatten

__all__ = ["CustomFunction", "custom"]

#: what a custom function has from the function; not its module, which says whose code runs
_OF_FUNCTION = ("__name__", "__qualname__", "__doc__")


class CustomFunction(Importable):
    """A function with a derivative of its own; made by ``custom``."""

    def __init__(
        self,
        function: Callable[..., Any],
        jvp: Callable[..., Any] | None,
        vjp: Callable[..., Any] | None,
        name: str | None,
        shape: Callable[..., Any] | None,
        vectorized: bool,
    ) -> None:
        functools.update_wrapper(self, function, _OF_FUNCTION, ())  # type: ignore[arg-type]
        self.__name__ = name or _name_of(function)
        self._function = function
        self.jvp = jvp
        self.vjp = vjp
        self._shape = shape
        self._vectorized = vectorized
        self._primitive = External(self.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value on arrays, which is the function's own; in a traced function a traced value."""
        if not is_tracing((args, kwargs)):
            return self._function(*args, **kwargs)
        args, kwargs = self.bound(args, kwargs)
        return self._traced(args, kwargs, Part(self.__name__))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    @property
    def __signature__(self) -> inspect.Signature:
        """That of the function, where it says; of a method, which has this one's attributes, Python drops ``self``."""
        try:
            return inspect.signature(self._function)
        except ValueError as error:  # written in C
            raise AttributeError(str(error)) from None

    def __repr__(self) -> str:
        return f"<custom function {self.__name__}>"

    def check(self, *args: Any, order: int = 1, tolerance: float = 1e-5, seed: int = 0, **kwargs: Any) -> None:
        """Compare each rule with finite differences at these arguments, and raise ``symgrad.testing.CheckFailed``.

        The message names the rule, the argument and the difference, which fails above ``tolerance``, relative to the
        largest entry or 1. With ``order=2`` second derivatives are compared with second differences too.

        >>> import numpy as np, symgrad
        >>> cube = symgrad.custom(lambda x: x**3, vjp=lambda primals, ct: 3 * primals[0] * ct, name="cube")
        >>> cube.check(np.array([1.0, 2.0]))
        Traceback (most recent call last):
        symgrad.testing.check.CheckFailed: cube: the vjp by argument x, along a direction: ...
        """
        from .testing.declared import check_declared

        check_declared(self, args, kwargs, order, tolerance, seed)

    def only(self, rule: str) -> CustomFunction:
        """The same function with one of its rules, ``"jvp"`` or ``"vjp"``."""
        rules = {"jvp": None, "vjp": None, rule: getattr(self, rule)}
        return CustomFunction(
            self._function, **rules, name=self.__name__, shape=self._shape, vectorized=self._vectorized
        )

    def _guarded(self) -> dict[str, Any]:
        """What traces depend on: the rules, which are traced. The function runs at every call as it is."""
        return {"jvp": self.jvp, "vjp": self.vjp, "shape": self._shape}

    @property
    def is_ruled(self) -> bool:
        """Whether it declares a derivative."""
        return self.jvp is not None or self.vjp is not None

    # a call in a traced function

    def bound(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments by position, one for each parameter that may be; others by name."""
        try:
            bound = inspect.signature(self._function).bind(*args, **kwargs)
        except ValueError:  # written in C, without a signature
            return args, kwargs
        except TypeError as error:
            raise ArgumentTypeError.here(f"{self.__name__}: {error}") from None
        if not _is_ufunc(self._function):  # whose many options are none of the arguments
            bound.apply_defaults()
        return bound.args, bound.kwargs

    def _traced(self, args: tuple, kwargs: dict[str, Any], part: Part, known: Outcome | None = None) -> Any:
        """What a call gives in the running trace; ``known`` where that is known before."""
        leaves, structure = flatten((args, kwargs))
        for name, value in kwargs.items():
            if float_sources(flatten(value)[0]):
                raise ArgumentTypeError.here(
                    f"{self.__name__}: {name} can be passed by name alone, so it has no derivative."
                )
        nodes = {k: as_node(v) for k, v in enumerate(leaves) if is_traced(v)}
        place = {k: Operand(i, nodes[k].weak) for i, k in enumerate(nodes)}
        filled = [place.get(k, v) for k, v in enumerate(leaves)]

        def returned(values: Sequence[Any]) -> Any:
            return called(self.__name__, lambda own: self._applied(structure, own), filled, values)

        operands = tuple(nodes.values())
        first = None
        outcome = known
        if outcome is None and self._shape is not None:
            outcome = outcome_of_shapes(self.__name__, self._shape, structure, leaves, operands)
        elif outcome is None:
            values = known_values(running(), operands)
            if values is None:
                raise ShapeError.here(f"{self.__name__}: {_NO_SHAPE}")
            first = returned(values)
            outcome = outcome_of(self.__name__, self.is_ruled, first, operands)
        call = Call(
            self.__name__,
            lambda values: outcome.pick(returned(values)),
            (self, structure, tuple(map(static_key, filled)), outcome.structure, outcome.places, part),
            outcome.dtypes,
            part.undeclared(self.__name__),
            [place[k].place for k in linear_leaves(args, part) if k in place],
            self._vectorized,
        )
        made = emit(self._primitive, operands, (call, outcome.shapes, tuple([o.shape for o in operands]), ()))
        if first is not None and all(map(running().has_value, operands)):
            running().values[made] = row(call, outcome.pick(first), outcome.shapes)
        return self._ruled(made, args, kwargs, outcome, part)

    def _applied(self, structure: Any, leaves: Sequence[Any]) -> Any:
        args, kwargs = unflatten(structure, leaves)
        return self._function(*args, **kwargs)

    def _ruled(self, made: Node, args: tuple, kwargs: dict[str, Any], outcome: Outcome, part: Part) -> Any:
        """The results, whose derivatives are those that are declared."""
        leaves, structure = flatten(args)
        sources = float_sources(leaves)
        if not (sources and made.differentiable and self.is_ruled):
            return outcome.of_arrays(list(map(Tracer, split(made, outcome.shapes, outcome.dtypes))))
        table, key = active_graph().table, ("ruled", made)
        if key not in table:  # else the same call has been met, whose rules need to run once
            rules = _RulesOf(self, kwargs, tuple(sources), part).declared
            call = RuledCall(rules, handles(leaves, structure), tuple(sources))
            values = tuple(split(made, outcome.shapes, outcome.dtypes))
            table[key] = with_rule(made, list(sources.values()), Rule(call, Row(outcome.places, values)))
            results = split(table[key], outcome.shapes, outcome.dtypes)
            call.outputs = outcome.of_arrays(list(map(Tracer, results)))
        return outcome.of_arrays(list(map(Tracer, split(table[key], outcome.shapes, outcome.dtypes))))


class _RulesOf:
    """The rules of one call in a trace, by the values of which derivatives are taken."""

    def __init__(self, custom: CustomFunction, kwargs: dict[str, Any], positions: tuple[int, ...], part: Part) -> None:
        self._custom = custom
        self._kwargs = kwargs
        self._positions = positions
        self._part = part

    @property
    def declared(self) -> Rules:
        """The rules as the sweeps call them."""
        name, own = self._custom.__name__, self._custom
        return Rules(
            f"the vjp of {name}" if own.vjp is not None else "",
            None if own.vjp is None else self._pull,
            f"the jvp of {name}" if own.jvp is not None else "",
            None if own.jvp is None else self._push,
            "the cotangent",
            own,
        )

    def _pull(self, primals: tuple, outputs: Any, cotangents: Any) -> Any:
        leaves, structure = flatten(primals)
        likes = [as_node(leaves[k]) for k in self._positions]
        skeleton = unflatten(structure, [None] * len(leaves))

        def pick(returned: Any) -> list[Any]:
            whole = self._whole(returned, primals)
            return [g for _, _, g in picked(whole, skeleton, self._positions, f"the vjp of {self._custom.__name__}")]

        outcome = outcome_like(likes, structure, len(leaves), self._positions, pick)
        return self._whole(self._run("vjp", (primals, cotangents), outputs, outcome), primals)

    def _whole(self, returned: Any, primals: tuple) -> Any:
        """The gradients, one for each argument; those of a rule are never None for what the rule is linear in."""
        whole = _for_each(returned, primals)
        if self._part.order and isinstance(whole, (tuple, list)) and len(whole) > 1 and whole[1] is None:
            name = self._custom.__name__
            raise ArgumentTypeError(
                f"the vjp of {name}, which is the {self._part.kind} of {self._part.of}, gave None for what {name} is "
                "linear in. Give the gradient by it too; zeros where it is zero."
            )
        return whole

    def _push(self, primals: tuple, outputs: Any, tangents: tuple) -> Any:
        leaves, structure = flatten(outputs)
        places = tuple([k for k, v in enumerate(leaves) if is_traced(v) and as_node(v).differentiable])
        likes = [as_node(leaves[k]) for k in places]

        def pick(returned: Any) -> list[Any]:
            given, own = flatten(returned)
            if own != structure and returned is not None:
                name = self._custom.__name__
                raise ArgumentTypeError(f"the jvp of {name} gave {nesting(own)}; {name} gives {nesting(structure)}.")
            return [None if returned is None else given[k] for k in places]

        outcome = outcome_like(likes, structure, len(leaves), places, pick)
        return self._run("jvp", (primals, tangents), outputs, outcome)

    def _run(self, kind: str, args: tuple, outputs: Any, outcome: Outcome) -> Any:
        """What a rule gives: one that is a custom function itself runs as it is, others are traced."""
        rule = getattr(self._custom, kind)
        if _takes_out(rule):
            args = (*args, outputs)
        of = self._part.of if self._part.order else self._custom.__name__
        if isinstance(rule, CustomFunction):
            part = Part(of, self._part.order + 1, kind)
            return rule._traced(*rule.bound(args, self._kwargs), part, outcome)
        try:
            return as_followed(rule)(*args, **self._kwargs)
        except MissingDerivative:
            raise
        except (TracingError, TypeError, AttributeError, *_ctypes_errors()) as error:
            name = self._custom.__name__
            raise TracingError(
                f"the {kind} of {name} cannot be traced: {error}\n  A rule is traced as functions are. One that calls "
                "C, Fortran or another library runs as it is where it is a custom function itself: "
                f"{kind}=sg.custom(rule)."
            ) from error


def custom(
    function: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | None = None,
    vjp: Callable[..., Any] | None = None,
    name: str | None = None,
    shape: Callable[..., Any] | None = None,
    vectorized: bool = False,
) -> Any:
    """A function whose derivative is declared: any function, also one that calls C, Fortran or another process.

    It takes arrays, numbers and anything else, and gives an array or a tuple of them, in which an int counts as a float
    (``np.int64(n)`` does not). It is never traced: it runs as it is, on plain arrays, at every call. It has to give the
    same for the same arguments, and leaves these alone.

    ``jvp(primals, tangents)`` gives the tangent of the result, ``vjp(primals, cotangent)`` a tuple with the gradient of
    each argument: None for zero, and the gradient alone where one argument alone has floats. ``primals`` are all
    arguments by position, defaults and the ``self`` of a method too. A tangent is None for what is no float; tangent
    and cotangent are tuples where the result is one. A rule with a third parameter ``out`` is given the result.

    One rule is enough: the other mode is its transpose. Rules are traced, so write them in NumPy, and they have
    derivatives of every order. A rule that cannot be traced is a ``custom`` function itself,
    ``vjp=sg.custom(adjoint)``: it has the derivatives that it declares, and further ones are a MissingDerivative.
    The mode that it does not serve then calls it once for each element.

    ``name`` is what formulas, programs and errors call it. ``shape(…)``, of the same arguments with shapes in place of
    arrays, gives the shape of the result, or a tuple of shapes: without it the function is called once more, to see.
    Arrays of named dims need it. ``vmap`` calls the function for one example after the other, or once where it is
    ``vectorized``: where its arrays may have further leading axes. ``.check(…)`` compares the rules with finite
    differences.

    >>> import math, numpy as np, symgrad as sg
    >>> @sg.custom(vjp=lambda primals, ct: ct * np.cos(primals[0]))
    ... def sine(x):
    ...     return np.vectorize(math.sin)(x)
    >>> sg.grad(lambda x: sine(x) ** 2)(np.array([0.0, 0.5]))
    array([0.        , 0.84147098])
    >>> sine.check(np.array([0.0, 0.5]))
    """
    if function is None:
        return functools.partial(custom, jvp=jvp, vjp=vjp, name=name, shape=shape, vectorized=vectorized)
    for what, given in {"it": function, "jvp": jvp, "vjp": vjp, "shape": shape}.items():
        if not callable(given) and (given is not None or what == "it"):
            raise ArgumentTypeError.here(f"sg.custom: {what} is a {type(given).__name__}; a function is expected.")
    if name is not None and not (isinstance(name, str) and name.isidentifier()):
        raise ArgumentError.here(f"sg.custom: {name!r} is no name; take letters, digits and _, a letter first.")
    for what, rule in (("jvp", jvp), ("vjp", vjp)):
        if rule is not None:
            _check_rule(what, rule, function)
    return CustomFunction(function, jvp, vjp, name, shape, vectorized)


_NO_SHAPE = (
    "the shape of its result is not known, because its arguments have no values while it is traced. Say it with "
    "sg.custom(…, shape=…), a function of the same arguments with shapes in place of arrays."
)


def _check_rule(what: str, rule: Callable[..., Any], function: Callable[..., Any]) -> None:
    try:
        own = [] if _is_ufunc(function) else inspect.signature(function).parameters.values()
        by_name = {p.name: None for p in own if p.kind is p.KEYWORD_ONLY}
        inspect.signature(rule).bind(*((), ()) + (((),) if _takes_out(rule) else ()), **by_name)
    except ValueError:  # written in C, without a signature
        return
    except TypeError as error:
        along = "tangents" if what == "jvp" else "cotangent"
        raise ArgumentTypeError.here(
            f"sg.custom: {what} is called as {what}(primals, {along}) or {what}(primals, {along}, out): {error}."
        ) from None


def _is_ufunc(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return isinstance(function, np.ufunc)


def _takes_out(rule: Callable[..., Any]) -> bool:
    try:
        return "out" in inspect.signature(rule).parameters
    except ValueError:
        return False


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(inspect.unwrap(function), "__name__", None) or getattr(
        getattr(function, "func", None), "__name__", type(function).__name__
    )
    return name if name.isidentifier() else "custom"


def _for_each(returned: Any, primals: tuple) -> Any:
    """The gradients, one for each argument: where one argument alone has floats its gradient may stand alone."""
    if isinstance(returned, (tuple, list)):
        return returned
    floats = [any(map(is_float, flatten(primal)[0])) for primal in primals]
    return tuple([returned if own else None for own in floats]) if sum(floats) == 1 else returned


def _ctypes_errors() -> tuple[type[Exception], ...]:
    """What ``ctypes`` raises of arguments that it does not take, where it is imported."""
    library = sys.modules.get("ctypes")
    return () if library is None else (library.ArgumentError,)
