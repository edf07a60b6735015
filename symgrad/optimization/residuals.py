"""Systems of equations: least squares, roots and fits, with their Jacobians."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..signature import called_name
from ..tracebacks import briefly
from ..tracing.tree import is_nested
from ..transforms.gradient import grad
from ..transforms.jacobian import JacobianFunction
from ..transforms.products import SymbolicFunction, derived_once, symbolic
from .unknowns import Unknowns, as_tuple, in_a_row, matrix, of_vector, ran_on, scipy_optimize

#: the methods of scipy.optimize.root that take a Jacobian
_JACOBIAN = ("hybr", "lm")


@briefly
def least_squares(
    fun: Callable,
    x0: Any,
    args: Any = (),
    *,
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    loss: Any = "linear",
    kwargs: dict[str, Any] | None = None,
    backend: str = "auto",
    **options: Any,
) -> Any:
    """``scipy.optimize.least_squares`` of the residuals ``fun(x, *args, **kwargs)``, with their Jacobian.

    ``x0`` and ``x`` are a number, an array of any shape, or containers of these, and so are the two sides of ``bounds``
    (or one number for all); residuals may be of any shape and in containers too. Their Jacobian is sparse where more
    than nine entries in ten are zero and it is large. ``loss`` may be a function of the squared residuals, element by
    element: its two derivatives, which SciPy asks for, are taken too. All else is as in SciPy.

    Gives SciPy's ``OptimizeResult`` with ``x`` and ``grad`` such as ``x0`` is, and ``used``, which says what was
    derived.

    >>> import numpy as np, symgrad as sg
    >>> t = np.linspace(0.0, 3.0, 20)
    >>> def residuals(p, t, y):
    ...     return p["height"] * np.exp(-p["rate"] * t) - y
    >>> found = sg.least_squares(residuals, {"height": 1.0, "rate": 1.0}, (t, 2 * np.exp(-0.7 * t)))
    >>> {name: round(float(value), 6) for name, value in found.x.items()}
    {'height': 2.0, 'rate': 0.7}
    >>> print(found.used.split(",")[0])
    residuals
    """
    optimize = scipy_optimize("least_squares")
    unknowns, start = Unknowns.of(x0, "least_squares")
    args, kwargs = as_tuple(args), kwargs or {}
    residuals = of_vector(functools.partial(fun, **kwargs) if kwargs else fun, unknowns, in_a_row, "least_squares")
    function = derived_once(SymbolicFunction, residuals, backend)
    jacobian, size = matrix(JacobianFunction, residuals, (start, *args), method != "lm", backend)
    sides = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    result = optimize.least_squares(
        function,
        start,
        jacobian,
        tuple(unknowns.flat(side, "least_squares") for side in sides),
        method,
        loss=_with_derivatives(loss) if callable(loss) else loss,
        args=args,
        **options,
    )
    result.x, result.grad = unknowns.nested(result.x), unknowns.nested(result.grad)
    result.used = f"residuals{ran_on(function)}\nJacobian {size}{ran_on(jacobian)}"
    return result


@briefly
def root(fun: Callable, x0: Any, args: Any = (), *, method: str = "hybr", backend: str = "auto", **options: Any) -> Any:
    """``scipy.optimize.root`` of ``fun(x, *args)``, with its Jacobian where the method takes one (``hybr`` and ``lm``).

    ``x0`` and ``x`` are a number, an array of any shape, or containers of these; what ``fun`` gives has as many
    numbers, in any shape. All else is as in SciPy. Gives SciPy's ``OptimizeResult`` with ``x`` such as ``x0`` is, and
    ``used``, which says what was derived.

    >>> import numpy as np, symgrad as sg
    >>> found = sg.root(lambda x: [x[0] + 2 * x[1] - 2, x[0] ** 2 + 4 * x[1] ** 2 - 4], np.array([1.0, 2.0]))
    >>> np.abs(found.x).round(8)
    array([0., 1.])
    """
    optimize = scipy_optimize("root")
    unknowns, start = Unknowns.of(x0, "root")
    args = as_tuple(args)
    system = of_vector(fun, unknowns, in_a_row, "root")
    function = derived_once(SymbolicFunction, system, backend)
    said, given = [("residuals", function)], {}
    if method in _JACOBIAN:
        given["jac"], size = matrix(JacobianFunction, system, (start, *args), False, backend)
        said.append((f"Jacobian {size}", given["jac"]))
    result = optimize.root(function, start, args, method=method, **given, **options)
    result.x = unknowns.nested(result.x)
    result.used = "\n".join(f"{text}{ran_on(derived)}" for text, derived in said)
    return result


@briefly
def curve_fit(f: Callable, xdata: Any, ydata: Any, p0: Any = None, *, backend: str = "auto", **options: Any) -> Any:
    """``scipy.optimize.curve_fit`` of the model ``f(xdata, *parameters)``, with its Jacobian.

    Where ``p0`` is an array of several axes, a dict or another container but a tuple or list, the model is
    ``f(xdata, parameters)`` of one such; else as in SciPy, where its parameters are numbers, ones to begin with. Gives
    what SciPy gives: the parameters, such as ``p0`` is, and their covariance by the vector of them.

    >>> import numpy as np, symgrad as sg
    >>> t = np.linspace(0.0, 3.0, 20)
    >>> fitted, covariance = sg.curve_fit(lambda t, a, k: a * np.exp(-k * t), t, 2 * np.exp(-0.7 * t))
    >>> fitted.round(6), covariance.shape
    (array([2. , 0.7]), (2, 2))
    """
    optimize = scipy_optimize("curve_fit")
    own: dict[str, Any] = {}
    if is_nested(p0) and not isinstance(p0, (list, tuple)):
        unknowns, start = Unknowns.of(p0, "curve_fit")
        own["p0"] = start
        model: Callable = of_vector(derived_once(_swapped, f), unknowns, in_a_row, "curve_fit")
    else:
        unknowns = None
        own["p0"] = p0
        model = derived_once(_of_vector, f)
    value = derived_once(SymbolicFunction, model, backend)
    jacobian = derived_once(JacobianFunction, model, 0, False, "auto", backend)

    @functools.wraps(f)  # whose parameters scipy counts
    def of_parameters(x: Any, *parameters: float) -> Any:
        return value(np.array(parameters), x)

    found = optimize.curve_fit(
        of_parameters, xdata, ydata, jac=lambda x, *p: jacobian(np.array(p), x), **own, **options
    )
    return found if unknowns is None else (unknowns.nested(found[0]), *found[1:])


def _swapped(f: Callable) -> Callable:
    @functools.wraps(f)
    def of_parameters(parameters: Any, x: Any) -> Any:
        return f(x, parameters)

    return of_parameters


def _of_vector(f: Callable) -> Callable:
    """The model as a function of the vector of its parameters."""

    def of_parameters(parameters: Any, x: Any) -> Any:
        return in_a_row(f(x, *[parameters[k] for k in range(len(parameters))]), called_name(f))

    return of_parameters


def _with_derivatives(loss: Callable) -> Callable:
    """A loss as SciPy asks for it: with its first and second derivative, element by element."""
    first = grad(loss)
    parts = [symbolic(loss), first, grad(first)]
    return lambda z: np.stack([part(z) for part in parts])
