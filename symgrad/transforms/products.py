"""jvp, vjp, hvp: products with the Jacobian and the Hessian, and stop_gradient."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count
from typing import Any

from ..compiled import CompiledFunction, is_tracing
from ..differentiation.forward import forward_sweep
from ..errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ..kernels.array_libraries import is_dask, library_of
from ..named_dims import argument_names, parameters_of
from ..primitives import identity
from ..primitives.casting import cast
from ..program.forks import cached_property
from ..program.node import Node
from ..tracebacks import briefly
from ..tracing.trace import as_node, called, current
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, nesting, tree_map, unflatten
from .complex_numbers import check_gradient, pulled_back
from .derived import DerivedFunction, P, finished
from .positions import check_differentiable, checked_flag, checked_function, checked_sens, data_of, split_aux
from .pullback import Pullback
from .run import Run, run_of, seeds_of_sum


def vectors(v: Any, nodes: Sequence[Node], caller: str) -> list[Node]:
    """The tangent of each input from what is given along the inputs, of its shape and dtype."""
    leaves, _ = data_of(v)
    if len(leaves) != len(nodes):
        raise ArgumentError(f"{caller}: v holds {len(leaves)} arrays for {len(nodes)} inputs; pass one for each.")
    found = []
    for leaf, node in zip(leaves, nodes, strict=True):
        tangent = as_node(leaf)
        if tangent.shape != node.shape:
            raise ShapeError(f"{caller}: v has shape {tangent.shape} and its input has shape {node.shape}.")
        if tangent.is_complex and not node.is_complex:
            raise DtypeError(f"{caller}: v is complex and its input is real; pass a real v.")
        found.append(cast(tangent, node.dtype))
    return found


class AlongInputs(DerivedFunction[P]):
    """A derivative that is called with the tuple of inputs and something along them."""

    def __init__(self, fn: Callable, has_aux: bool, backend: str) -> None:
        self.has_aux = has_aux
        super().__init__(fn, backend)

    def _run(self, args, kwargs, fresh):
        inputs, _ = args
        return run_of(self, inputs, {}, range(len(inputs)), fresh)

    def _check(self, args, kwargs):
        for k, value in enumerate(args[0]):
            check_differentiable(value, f"input {k}", self.__name__)

    def _shapes(self, args, kwargs):
        assert self.declaration is not None
        inputs, v = args
        by_place, _ = self.declaration.shapes(inputs, {})
        declared = tuple([tree_map(_nothing, x) if d is None else d for x, d in zip(inputs, by_place, strict=True)])
        return (declared, self._shape_along(inputs, v, declared)), {}

    def _argument_names(self, count, kwargs):
        names = argument_names(self.fn, 2)
        return [names[0] if len(parameters_of(self.fn)) == 1 else "inputs", "v"][:count]

    def _named_arguments(self, args):
        return super()._named_arguments(args[0])

    def _shape_along(self, inputs: tuple, v: Any, declared: tuple) -> Any:
        """What ``v`` declares: the shapes of the inputs."""
        if nesting(flatten(v)[1]) != nesting(flatten(declared)[1]):
            return tree_map(_nothing, v)
        return tree_map(lambda d: d and replace(d, label=f"v of {d.label}"), declared)


def _nothing(_: Any) -> None:
    return None


class _Pushforward(AlongInputs):
    verb = "jvp"

    def _run(self, args, kwargs, fresh):
        run = super()._run(args, kwargs, fresh)
        return replace(run, tangents=vectors(args[1], run.wrt, self.__name__), modes=("forward",))

    def _result(self, run):
        flows = forward_sweep(run.outputs, dict(zip(run.wrt, run.tangents, strict=True)))
        pushed = unflatten(run.structure, [Tracer(finished(t, o)) for t, o in zip(flows, run.outputs, strict=True)])
        return (run.output[0], pushed, run.aux) if self.has_aux else (run.output, pushed)


class _Pullback(AlongInputs):
    verb = "vjp"

    def _run(self, args, kwargs, fresh):
        run = super()._run(args, kwargs, fresh)
        return replace(run, seeds=checked_sens(args[1], run.outputs, self.__name__), modes=("reverse",))

    def _result(self, run):
        flows = pulled_back(run.outputs, run.seeds, run.wrt)
        return tuple(run.inputs.nested([Tracer(finished(g, n)) for g, n in zip(flows, run.wrt, strict=True)]))

    @cached_property
    def _primal(self) -> CompiledFunction:
        return derived_once(SymbolicFunction, self.fn, self.backend)._compiled  # the trace that vjp has made

    def _shape_along(self, inputs, v, declared):
        return self._output_shapes("v", v, inputs, {}, self.has_aux)


def _traced_pullback(derived: _Pullback, run: Run) -> Callable[[Any], tuple]:
    def pullback(v: Any) -> tuple:
        return derived._result(replace(run, seeds=checked_sens(v, run.outputs, derived.__name__)))

    return pullback


class SymbolicFunction(DerivedFunction[P]):
    """A function as it is, traced and compiled: it runs, and shows its Program, formula and kernel."""

    verb = "symbolic"
    _letter = ""  # that of the function

    def _derive(self, args, kwargs, fresh):
        return self._value(args, kwargs)


class _HessianProduct(AlongInputs):
    verb = "hvp"

    def _run(self, args, kwargs, fresh):
        run = super()._run(args, kwargs, fresh)
        tangents = vectors(args[1], run.wrt, self.__name__)
        seeds = seeds_of_sum(run.outputs)
        return replace(run, seeds=seeds, tangents=tangents, modes=("forward",), twice=True, summed=True)

    def _result(self, run):
        check_gradient(run.outputs, run.wrt, False, self.__name__)
        pulled = pulled_back(run.outputs, run.seeds, run.wrt)
        gradients = [finished(g, n) for g, n in zip(pulled, run.wrt, strict=True)]
        flows = forward_sweep(gradients, dict(zip(run.wrt, run.tangents, strict=True)))
        return tuple(run.inputs.nested([Tracer(finished(t, n)) for t, n in zip(flows, run.wrt, strict=True)]))


class _ProductFunction(DerivedFunction[P]):
    """The product by the first argument, as a function of it, of a vector and of the other arguments."""

    verb = "hvp"
    _letter = "Hv"

    def __init__(self, fn: Callable, backend: str) -> None:
        super().__init__(fn, backend)
        first, *others = parameters_of(fn) or [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)]
        names = {first.name, *(p.name for p in others)}
        vector = first.replace(name=direction_name(names))
        if first.kind in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
            own = [p.replace(default=p.empty) for p in (first, vector)]
            self.__signature__ = inspect.Signature([*own, *others])

    def _argument_names(self, count, kwargs):
        return argument_names(self, count)

    def _shapes(self, args, kwargs):
        x, _, *others = self._split(args)
        (first, *rest), by_name = super()._shapes((x, *others), kwargs)
        return [first, tree_map(lambda d: d and replace(d, label=f"v of {d.label}"), first), *rest], by_name

    def _named_arguments(self, args):
        return args, self._shapes(args, {})[0]

    def _split(self, args):
        if len(args) < 2:
            raise ArgumentTypeError(f"{self.__name__} takes the first argument, a vector, and the other arguments.")
        return args

    def _derive(self, args, kwargs, fresh):
        x, v, *others = self._split(args)
        return hvp(lambda at: called(self.fn, (at, *others), kwargs), x, v)


def direction_name(names: Collection[str]) -> str:
    """What a direction is called beside arguments of these names."""
    return next(n for n in chain(("v", "direction"), (f"direction{k}" for k in count(2))) if n not in names)


def derived_once(kind: Callable, fn: Callable, *options: Any) -> Any:
    """What ``kind`` makes of ``fn``, made once; what was not asked for longest is forgotten."""
    try:
        hash(fn)
    except TypeError:
        return kind(fn, *options)
    return _made(kind, fn, *options)


@lru_cache(maxsize=64)
def _made(kind: Callable, fn: Callable, *options: Any) -> Any:
    return kind(fn, *options)


def as_tuple(inputs: Any) -> tuple:
    """Inputs as a tuple of arguments."""
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


@briefly
def symbolic(fn: Callable[P, Any], *, backend: str = "auto") -> SymbolicFunction[P]:
    """``fn`` itself, traced: called it runs as a kernel, and ``.program``, ``.closed_form``, ``.latex`` show it.

    >>> import numpy as np
    >>> symbolic(lambda x: np.exp(-x) * x).closed_form(1.0)
    x*exp(-x)
    """
    return SymbolicFunction(checked_function(fn), backend)


@briefly
def jvp(fn: Callable, inputs: Any, v: Any, has_aux: bool = False, *, backend: str = "auto") -> tuple:
    """``(out, J v)``: the output and the Jacobian times ``v``, by one forward sweep.

    ``inputs`` is an array or a tuple of the arguments, ``v`` the same with their shapes. With ``has_aux``
    only the first output is differentiated and the result is ``(out, J v, aux)``. ``jacobian(fn).steps(…,
    mode="forward")`` shows it step by step, for any ``v``.

    >>> import numpy as np
    >>> jvp(np.sin, 0.0, 2.0)
    (np.float64(0.0), np.float64(2.0))
    """
    made = derived_once(_Pushforward, checked_function(fn), checked_flag("has_aux", has_aux), backend)
    return made(as_tuple(inputs), as_tuple(v))


@briefly
def vjp(fn: Callable, *inputs: Any, has_aux: bool = False, backend: str = "auto") -> tuple:
    """``(out, pullback)``: ``pullback(v)`` is the tuple of ``vᵀ J``, one entry an input.

    ``v`` has the output's shape (a tuple for several outputs). With ``has_aux`` only the first output is
    differentiated and the result is ``(out, pullback, aux)``. ``pullback.steps(v)`` shows it step by step, and it has
    the other methods of a derivative too, such as ``pullback.closed_form(v)`` and ``pullback.export("python", v)``.

    >>> import numpy as np
    >>> out, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> pullback(1.0)
    (np.float64(3.0), np.float64(2.0))
    """
    checked_function(fn)
    checked_flag("has_aux", has_aux)
    leaves, _ = flatten(inputs)
    if library_of(leaves) is None and not any(map(is_dask, leaves)):  # of these the pullback knows when it is called
        for k, value in enumerate(inputs):
            check_differentiable(value, f"input {k}", "vjp")
    if is_tracing(inputs):
        derived = _Pullback(fn, has_aux, backend)
        run = run_of(derived, inputs, {}, range(len(inputs)), fresh=False)
        output, pullback = run.output, _traced_pullback(derived, run)
    else:
        output = derived_once(SymbolicFunction, fn, backend)(*inputs)
        pullback = Pullback(derived_once(_Pullback, fn, has_aux, backend), inputs, output)
    main, aux = split_aux(output, has_aux, "vjp")
    return (main, pullback, aux) if has_aux else (main, pullback)


@briefly
def hvp(fn: Callable, inputs: Any = None, v: Any = None, *, backend: str = "auto") -> Any:
    """``H v``: the Hessian of the summed output times ``v``, forward over reverse, no Hessian built.

    ``inputs`` and ``v`` are arrays, or tuples of them; the result is bare for one array, a tuple for a
    tuple, each of its input's shape and dtype. ``hvp(fn)`` is a function ``(x, v, *args)`` of the first argument, of a
    vector, and of the other arguments: the ``hessp`` of scipy.optimize.

    >>> import numpy as np
    >>> hvp(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    >>> hvp(lambda x, a: np.sum(a * x**3))(np.array([1.0, 2.0]), np.array([1.0, 0.0]), 0.5)
    array([3., 0.])
    """
    if inputs is None and v is None:
        return derived_once(_ProductFunction, checked_function(fn), backend)
    made = derived_once(_HessianProduct, checked_function(fn), False, backend)
    result = made(as_tuple(inputs), as_tuple(v))
    return result if isinstance(inputs, (tuple, list)) else result[0]


def stop_gradient(value: Any) -> Any:
    """``value``, held constant by every derivative; arrays, or tuples, lists and dicts of them.

    >>> from symgrad import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    if current() is None:
        return value
    return tree_map(lambda v: Tracer(identity.stop_gradient(as_node(v))), value)
