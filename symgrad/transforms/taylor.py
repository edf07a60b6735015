"""directional, jet and taylor: derivatives along a line or a curve, to any order, by Taylor mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..closed_form.labels import label_text
from ..closed_form.latex import expression_latex, symbol_latex
from ..differentiation.series import derivatives_along
from ..errors import ArgumentError, ArgumentTypeError
from ..primitives.functions import divide
from ..primitives.primitive import literal
from ..program.forks import cached_property
from ..program.node import Node
from ..tracebacks import briefly
from ..tracing.tracer import Tracer
from ..tracing.tree import flatten, tree_map, unflatten
from .derived import P, finished, numbered
from .gradient import partial_latex
from .positions import Positions, checked_function
from .products import AlongInputs, as_tuple, derived_once, direction_name, vectors
from .run import Run
from .vector_calculus import FieldDerivative

#: the highest order: what it takes grows with its square
_MAX_ORDER = 40


def _checked_order(order: Any, least: int) -> int:
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or not least <= order <= _MAX_ORDER:
        raise ArgumentError(f"order={order!r} must be a whole number, {least} to {_MAX_ORDER}.")
    return int(order)


def _nested(run: Run, orders: Sequence[Sequence[Node | None]]) -> list[Any]:
    """The derivatives of the outputs, order by order, in the structure of the outputs."""
    return [
        unflatten(run.structure, [Tracer(finished(n, o)) for n, o in zip(own, run.outputs, strict=True)])
        for own in orders
    ]


class _AlongDirection(FieldDerivative[P]):
    """What is taken along a direction: the last argument, or 1 by a number where ``takes_v`` is False."""

    takes_v = True

    def _split(self, args: tuple) -> tuple[tuple, Any]:
        return (args[:-1], args[-1]) if self.takes_v else (args, 1.0)

    def _check(self, args, kwargs):
        if self.takes_v and len(args) < 2:
            raise ArgumentTypeError(f"{self.__name__}: pass the arguments of the function, and the direction last.")
        super()._check(self._split(args)[0], kwargs)

    def _shapes(self, args, kwargs):
        own, v = self._split(args)
        by_place, by_name = super()._shapes(own, kwargs)
        return [*by_place, *([tree_map(lambda _: None, v)] if self.takes_v else [])], by_name

    def _argument_names(self, count, kwargs):
        own = super()._argument_names(count - self.takes_v, kwargs)
        return [*own, direction_name(own)] if self.takes_v else own

    def _named_arguments(self, args):
        return super()._named_arguments(self._split(args)[0])

    def _along(self, args: tuple, kwargs: dict[str, Any], fresh: bool, order: int) -> tuple[Run, list[list]]:
        """The function, and the derivatives of each output up to ``order``."""
        own, v = self._split(args)
        run = self._run(own, kwargs, fresh)
        line = {w: [d] for w, d in zip(run.wrt, vectors(v, run.wrt, self.__name__), strict=True)}
        return run, derivatives_along(run.outputs, line, order)


class DirectionalFunction(_AlongDirection[P]):
    """The derivative along a direction, which is the last argument; made by ``directional``."""

    verb = "directional"

    def __init__(self, fn: Callable, grad_position: Any, order: int, backend: str) -> None:
        self.order = _checked_order(order, 1)
        super().__init__(fn, grad_position, backend)

    @property
    def flags(self):
        return {**super().flags, "order": self.order}

    def _derive(self, args, kwargs, fresh):
        run, found = self._along(args, kwargs, fresh, self.order)
        return _nested(run, [[own[-1] for own in found]])[0]

    def labels(self, entry):
        v = direction_name([name for own in entry.argument_names[:-1] for name in own])
        return [partial_latex(symbol_latex(v), self.order, f) for f in super().labels(entry)]


class TaylorFunction(_AlongDirection[P]):
    """The coefficients of a function along a line, from the value on; made by ``taylor``."""

    verb = "taylor"

    def __init__(self, fn: Callable, grad_position: Any, order: int, takes_v: bool, backend: str) -> None:
        self.order = _checked_order(order, 0)
        self.takes_v = takes_v
        super().__init__(fn, grad_position, backend)

    @property
    def flags(self):
        return {**super().flags, "order": self.order}

    def _check(self, args, kwargs):
        super()._check(args, kwargs)
        if not self.takes_v and any(map(np.ndim, args[: 1 + max(self.positions)])):
            raise ArgumentError(f"{self.__name__}: x is an array; say along which direction: taylor(f, x, order, v).")

    def _derive(self, args, kwargs, fresh):
        run, found = self._along(args, kwargs, fresh, self.order)
        orders = [run.outputs, *zip(*found, strict=True)]
        return _nested(run, [[n and _over(n, math.factorial(k)) for n in own] for k, own in enumerate(orders)])

    def labels(self, entry):
        return numbered("c", len(entry.program.outputs))


def _over(n: Node, count: int) -> Node:
    return n if count == 1 else divide(n, literal(count))


class _Jet(AlongInputs):
    verb = "jet"

    def _derive(self, args, kwargs, fresh):
        run = self._run(args, kwargs, fresh)
        curve = self._curve(args[1], run)
        found = derivatives_along(run.outputs, dict(zip(run.wrt, curve, strict=True)), len(curve[0]))
        return run.output, _nested(run, list(zip(*found, strict=True)))

    def _curve(self, series: Sequence[Any], run: Run) -> list[tuple[Node, ...]]:
        """The derivatives of each input along the curve."""
        if len(series) != len(run.inputs.nodes) or not all(isinstance(own, (tuple, list)) for own in series):
            raise ArgumentError(
                f"{self.__name__}: series holds one list an input, of its first derivative, its second and so on."
            )
        if len({len(own) for own in series}) != 1 or not series[0]:
            raise ArgumentError(f"{self.__name__}: the lists in series must have one length, 1 or more.")
        orders = [vectors(own, run.wrt, self.__name__) for own in zip(*series, strict=True)]
        return list(zip(*orders, strict=True))

    def _shape_along(self, inputs, v, declared):
        return tree_map(lambda _: None, v)


@briefly
def directional(
    fn: Callable[P, Any], grad_position: Positions = 0, *, order: int = 1, backend: str = "auto"
) -> DirectionalFunction[P]:
    """The derivative along a direction: a function of the arguments and then of ``v``, which is not normalised.

    ``v`` has the shape of the argument that ``grad_position`` names, and is a tuple for a tuple of positions. The
    result has the shape of the output: ``J v``, for ``order=2`` ``vᵀHv``, and so on, up to order 40, by Taylor mode.

    >>> import numpy as np
    >>> slope = directional(lambda x: x[0] ** 2 * x[1])
    >>> slope(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    np.float64(4.0)
    >>> directional(lambda x: np.exp(2 * x), order=5)(0.0, 1.0)
    np.float64(32.0)
    """
    return DirectionalFunction(checked_function(fn), grad_position, order, backend)


@briefly
def jet(fn: Callable, inputs: Any, series: Any, *, backend: str = "auto") -> tuple:
    """``(out, derivatives)`` along a curve: the output, and its first, second, … derivative, as many as are given.

    ``inputs`` is an array or a tuple of the arguments, the curve's point at 0; ``series`` the list of the curve's own
    derivatives there, or a tuple of one list an argument (derivatives, not coefficients of a series, as JAX has it). A
    straight line has zeros from the second on. Griewank and Walther, "Evaluating Derivatives", 2008, chapter 13.

    >>> import numpy as np
    >>> out, (first, second) = jet(np.sin, 0.0, [1.0, 0.0])
    >>> float(out), float(first), float(second)
    (0.0, 1.0, 0.0)
    """
    many = isinstance(inputs, (tuple, list))
    made = derived_once(_Jet, checked_function(fn), False, backend)
    return made(as_tuple(inputs), tuple(series) if many else (series,))


@briefly
def taylor(fn: Callable, x: Any, order: int, v: Any = None, *, backend: str = "auto") -> Taylor:
    """The Taylor polynomial of ``fn`` about ``x``: ``fn(x + h·v) ≈ Σₖ cₖ hᵏ`` up to ``order``, at most 40.

    ``v`` is the direction, 1 where it is left out and ``x`` is a number. The result has ``coefficients``, is a function
    of ``h``, and shows its coefficients as formulas of ``x``: ``str``, ``closed_form()``, ``latex()``.

    >>> import numpy as np
    >>> series = taylor(np.log, 2.0, 3)
    >>> print(series)
    log(x) + h/x - h**2/(2*x**2) + h**3/(3*x**3)
    >>> np.round(series.coefficients, 4)
    array([ 0.6931,  0.5   , -0.125 ,  0.0417])
    >>> bool(abs(series(0.1) - np.log(2.1)) < 1e-5)
    True
    """
    made = derived_once(TaylorFunction, checked_function(fn), 0, _checked_order(order, 0), v is not None, backend)
    args = (x,) if v is None else (x, v)
    made._check(args, {})
    return Taylor(made, args)


@dataclass(frozen=True, repr=False)
class Taylor:
    """A Taylor polynomial; made by ``taylor``.

    ``function`` gives the coefficients for any ``args``, and has the exports of every derivative.
    """

    function: TaylorFunction
    args: tuple

    @cached_property
    def coefficients(self) -> Any:
        """The coefficients from the value on, along a first axis; a list of them where there are several outputs."""
        found = self.function(*self.args)
        return np.stack(found) if isinstance(found[0], (np.ndarray, np.generic)) else found

    def __call__(self, h: float) -> Any:
        """The polynomial at the number ``h``."""
        orders = [flatten(c) for c in self.coefficients]
        structure = orders[0][1]
        series = zip(*[leaves for leaves, _ in orders], strict=True)
        return unflatten(structure, [sum(c * h**k for k, c in enumerate(own)) for own in series])

    def closed_form(self) -> Any:
        """The polynomial as sympy, in ``h``; an array of them where the function gives one."""
        step = sympy.Symbol(self._step, real=True)
        terms = [c * step**k for k, c in enumerate(self.function.closed_form(*self.args))]
        return sum(terms[1:], terms[0])

    def latex(self) -> str:
        """The polynomial as LaTeX; its coefficients, where they are no short formulas of a number."""
        terms = self._terms
        return self.function.latex(*self.args) if terms is None else _joined(map(expression_latex, terms))

    @cached_property
    def _terms(self) -> list[sympy.Expr] | None:
        """The terms from the lowest on, where the function gives one number."""
        found = self.function.formulas(*self.args)
        if found.kind != "entries" or len(found.forms) != self.function.order + 1 or any(map(np.ndim, found.forms)):
            return None
        step = sympy.Symbol(self._step, real=True)
        return [np.asarray(c).item() * step**k for k, c in enumerate(found.forms) if c]

    @property
    def _step(self) -> str:
        names = self.function.program(*self.args).names
        return next(name for name in ("h", "dx", "step") if name not in names)

    def __repr__(self) -> str:
        terms = self._terms
        if terms is not None:
            return _joined(map(str, terms))
        names = list(map(label_text, numbered("c", len(self.function.program(*self.args).outputs))))
        return "\n".join(self.function.formulas(*self.args).text_rows(names))

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


def _joined(terms: Iterable[str]) -> str:
    """A sum, its terms in their order."""
    signed = [f"- {t[1:].lstrip()}" if t.startswith("-") else f"+ {t}" for t in terms] or ["+ 0"]
    first = signed[0]
    return " ".join([first[2:] if first.startswith("+") else f"-{first[2:]}", *signed[1:]])
