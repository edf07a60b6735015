"""Minimization: a function, with its gradient, its Hessian or the products with it, and those of its constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..tracebacks import briefly
from ..tracing.tree import is_nested
from ..transforms.gradient import GradientFunction, value_and_grad
from ..transforms.jacobian import HessianFunction, JacobianFunction
from ..transforms.products import SymbolicFunction, derived_once, hvp
from .unknowns import Unknowns, as_tuple, in_a_row, matrix, of_vector, ran_on, scipy_optimize

#: the methods of scipy.optimize.minimize that take a gradient
_GRADIENT = {"cg", "bfgs", "l-bfgs-b", "tnc", "slsqp"}
#: those that take the Hessian, and those that take products with it too
_HESSIAN = {"dogleg", "trust-exact"}
_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
#: unknowns up to which a method that takes both is given the Hessian
_FEW_UNKNOWNS = 200


@briefly
def minimize(
    fun: Callable,
    x0: Any,
    args: Any = (),
    *,
    method: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable | None = None,
    options: dict[str, Any] | None = None,
    backend: str = "auto",
) -> Any:
    """``scipy.optimize.minimize`` of ``fun(x, *args)``, with all the derivatives that the method can use.

    ``x0`` and ``x`` are a number, an array of any shape, or containers of these: tuples, dicts, dataclasses; ``bounds``
    are pairs for a vector, or ``scipy.optimize.Bounds`` whose ``lb`` and ``ub`` are numbers or such as ``x0`` is.
    Constraints are dicts or ``NonlinearConstraint`` of functions of ``x``, which get Jacobians (and Hessians for
    ``trust-constr``) too, where they bring none of their own, or ``LinearConstraint``. Methods that take a Hessian are
    given it, sparse where that serves, or products with it where there are more than 200 unknowns. All else is as in
    SciPy.

    Gives SciPy's ``OptimizeResult`` with ``x`` and ``jac`` such as ``x0`` is, and ``used``, which says what was
    derived. ArgumentError where ``fun`` does not give one number; what cannot be traced is refused as in ``grad``.

    >>> import numpy as np, symgrad as sg
    >>> def rosenbrock(x, a):
    ...     return np.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> found = sg.minimize(rosenbrock, np.zeros(5), args=100.0, method="trust-exact")
    >>> found.x.round(6), found.nit < 30
    (array([1., 1., 1., 1., 1.]), True)
    >>> def misfit(p, t):
    ...     return np.mean((p["slope"] * t + p["at0"] - 3 * t - 1) ** 2)
    >>> line = sg.minimize(misfit, {"slope": 0, "at0": 0}, np.arange(4.0))
    >>> {name: round(float(value), 4) for name, value in line.x.items()}
    {'slope': 3.0, 'at0': 1.0}
    """
    optimize = scipy_optimize("minimize")
    unknowns, start = Unknowns.of(x0, "minimize")
    args = as_tuple(args)
    objective = of_vector(fun, unknowns, _one_number, "minimize")
    listed = constraints if isinstance(constraints, (list, tuple)) else [constraints]
    chosen = method or ("SLSQP" if listed else "BFGS" if bounds is None else "L-BFGS-B")
    name = chosen.lower() if isinstance(chosen, str) else ""
    said: list[tuple[str, Any]] = []
    given: dict[str, Any] = {}
    if name in _GRADIENT | _HESSIAN | _PRODUCTS or callable(chosen):
        function: Any = derived_once(_value_and_grad, objective, backend)
        given["jac"] = True
        said.append(("value and gradient", function))
    else:
        function = derived_once(SymbolicFunction, objective, backend)
        said.append((f"value; {chosen} takes no gradient", function))
    if name in _HESSIAN | _PRODUCTS:
        hessian, size = matrix(HessianFunction, objective, (start, *args), name == "trust-constr", backend)
        if name in _PRODUCTS and len(start) > _FEW_UNKNOWNS and not hessian.sparse:
            hessian, size = hvp(objective, backend=backend), "times a vector, which is not built"
        given["hess" if isinstance(hessian, HessianFunction) else "hessp"] = hessian
        said.append((f"Hessian {size}", hessian))
    own = [_constraint(c, k, unknowns, start, name, backend, said) for k, c in enumerate(listed)]
    result = optimize.minimize(
        function,
        start,
        args,
        method=chosen,
        bounds=_bounds(bounds, unknowns),
        constraints=own,
        tol=tol,
        callback=callback if callback is None or unknowns.is_vector else _of_unknowns(callback, unknowns),
        options=options,
        **given,
    )
    result.x = unknowns.nested(result.x)
    if isinstance(result.get("jac"), np.ndarray) and result.jac.shape == start.shape:
        result.jac = unknowns.nested(result.jac)
    result.used = "\n".join(f"{text}{ran_on(derived)}" for text, derived in said)
    return result


def _value_and_grad(objective: Callable, backend: str) -> GradientFunction:
    return value_and_grad(objective, backend=backend)


def _one_number(output: Any, name: str) -> Any:
    shape = None if is_nested(output) or type(output) in (str, type(None)) else np.shape(output)
    if shape is None or any(n != 1 for n in shape):
        gives = f"a {type(output).__name__}" if shape is None else f"shape {shape}"
        raise ArgumentError(
            f"{name} gives {gives}; minimize needs one number. The sum of squares of many is for least_squares."
        )
    return np.reshape(output, ())


def _bounds(bounds: Any, unknowns: Unknowns) -> Any:
    """Bounds on the vector."""
    if not hasattr(bounds, "lb"):
        return bounds
    lower, upper = (unknowns.flat(side, "minimize") for side in (bounds.lb, bounds.ub))
    return type(bounds)(lower, upper, bounds.keep_feasible)


def _of_unknowns(callback: Callable, unknowns: Unknowns) -> Callable:
    def called_back(x: np.ndarray, *state: Any) -> Any:
        return callback(unknowns.nested(x), *state)

    return called_back


def _constraint(
    constraint: Any,
    number: int,
    unknowns: Unknowns,
    start: np.ndarray,
    method: str,
    backend: str,
    said: list[tuple[str, Any]],
) -> Any:
    """A constraint on the vector, with derivatives where it has none."""
    if isinstance(constraint, dict):
        function = of_vector(constraint["fun"], unknowns, in_a_row, "minimize")
        args = as_tuple(constraint.get("args", ()))
        own = {**constraint, "fun": derived_once(SymbolicFunction, function, backend), "args": args}
        if constraint.get("jac") is None:
            own["jac"], size = matrix(JacobianFunction, function, (start, *args), False, backend)
            said.append((f"constraint {number}: Jacobian {size}", own["jac"]))
        return own
    if not hasattr(constraint, "fun"):
        return constraint
    function = of_vector(constraint.fun, unknowns, in_a_row, "minimize")
    values = derived_once(SymbolicFunction, function, backend)
    jacobian = constraint.jac
    if not callable(jacobian):
        jacobian, size = matrix(JacobianFunction, function, (start,), method == "trust-constr", backend)
        said.append((f"constraint {number}: Jacobian {size}", jacobian))
    second = constraint.hess
    if not callable(second) and method == "trust-constr":

        def weighed(x: Any, v: Any) -> Any:
            return np.sum(v * function(x))

        multipliers = np.ones(values.result_shapes(start)[1][0] or ())
        second, size = matrix(HessianFunction, weighed, (start, multipliers), True, backend)
        said.append((f"constraint {number}: Hessian {size}", second))
    return type(constraint)(values, constraint.lb, constraint.ub, jacobian, second, constraint.keep_feasible)
