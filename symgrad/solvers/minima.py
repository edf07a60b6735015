"""Minima by ``scipy.optimize`` on traced values: where the gradient is zero, or points out of the bounds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, UnsupportedArguments
from ..tracing.dispatch import answers_for
from ..tracing.given_arrays import array
from ..tracing.local_array import holds_traced
from .closed import Closed, alone
from .implicit import Equation, solution, unknown
from .roots import checked, first_of, of_unknowns, optimize, report

#: methods of minimize that take no gradient, and those that want second derivatives
_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_BY_HESSIAN = ("newton-cg", "dogleg", "trust-ncg", "trust-krylov", "trust-exact")
#: how far Newton's step may lead from a minimum, as a share of it, and at least
_FAR, _NEAR = 0.01, 1e-6
_MINIMIZE, _MINIMIZE_SCALAR = "scipy.optimize.minimize", "scipy.optimize.minimize_scalar"
_LEAST_SQUARES, _CURVE_FIT = "scipy.optimize.least_squares", "scipy.optimize.curve_fit"
_NNLS = "scipy.optimize.nnls"

Sides = tuple[Any, Any]


class _Problem:
    """A function of ``x`` that is to be made small, or residuals the sum of whose squares is, between two sides."""

    def __init__(self, name: str, function: Callable[[Any], Any], x: Any, sides: Sides | None) -> None:
        self.name, self.x, self.sides = name, x, sides
        self.closed = Closed(function, [x], ["x"])

    def slope(self, x: Any) -> Any:
        """The derivative at ``x``, a row each unknown where there are residuals."""
        return self.closed.slope(x, *self.closed.operands, each=False)

    def gradient(self, x: Any) -> Any:
        """That of what is made small: half the sum of squares of residuals."""
        return self.slope(x) @ self.closed(x, *self.closed.operands) if self.closed.shape else self.slope(x)

    def equation(self, x: Any) -> Any:
        """What is zero at the minimum: the step against the gradient, as far as the sides allow it."""
        gradient = self.gradient(x)
        return gradient if self.sides is None else x - np.clip(x - gradient, *self.sides)

    def minimum(self, find: Callable[..., Any], begin: Sequence[Any]) -> Any:
        """What ``find(function, its derivative, that of the equation, *begin, *sides)`` finds, on plain arrays."""
        count, begin = len(self.closed.operands), [*begin, *(self.sides or ())]

        def found(equation: Equation, *values: Any) -> Any:
            def on(kernel: Callable[..., Any]) -> Callable[[Any], Any]:
                return lambda x: kernel(np.asarray(x, self.x.dtype).reshape(self.x.shape), *values[:count])

            own = self.closed
            slope = own.kernel(own.derivative(each=False))
            made = find(on(own.kernel()), on(slope), equation.slope, *values[count:])
            return self._checked(equation, made)

        return solution(self.name, self.equation, self.x, found, [*self.closed.operands, *begin])

    def _checked(self, equation: Equation, made: Any) -> Any:
        """What SciPy has found; an error where that is far from a minimum, where no derivative is right."""
        x = np.reshape(made.x, self.x.shape)
        try:
            step = np.linalg.solve(equation.slope(x).reshape(x.size, x.size).T, np.ravel(equation.value(x)))
        except np.linalg.LinAlgError:
            return checked(x, made.success, self.name, made.message)
        if np.max(np.abs(step), initial=0) > max(_FAR * np.max(np.abs(x), initial=0), _NEAR):
            raise ArgumentError(
                f"{self.name} has stopped where a step of Newton's method would move on by {np.max(np.abs(step)):.2g}, "
                f"and there no derivative is right ({made.message}). Give a smaller tol, or another method."
            )
        return x


def _sides(bounds: Any, x: Any) -> Sides | None:
    """The lower and the upper bounds of unknowns; None where there are none."""
    if bounds is None:
        return None
    low, high = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    if not holds_traced((low, high)) and np.all(np.isneginf(low)) and np.all(np.isposinf(high)):
        return None
    return tuple(np.broadcast_to(array(side) * 1.0, x.shape) for side in (low, high))  # type: ignore[return-value]


@answers_for(_MINIMIZE)
@alone(_MINIMIZE)
def _minimize(
    fun,
    x0,
    args=(),
    method=None,
    jac=None,
    hess=None,
    hessp=None,
    bounds=None,
    constraints=(),
    tol=None,
    callback=None,
    options=None,
):
    if not isinstance(constraints, (tuple, list)) or constraints:
        raise UnsupportedArguments.here(
            f"{_MINIMIZE} with constraints has no derivative rule in symgrad. Write equations of the unknowns and "
            "their multipliers, and solve these by scipy.optimize.root."
        )
    x = np.ravel(unknown(x0, _MINIMIZE))
    if bounds is not None and not hasattr(bounds, "lb"):
        pairs = list(bounds)
        bounds = [-np.inf if low is None else low for low, _ in pairs], [np.inf if b is None else b for _, b in pairs]
    own = of_unknowns(first_of(fun) if jac is True else fun, args, ())
    problem, kind = _Problem(_MINIMIZE, own, x, _sides(bounds, x)), str(method or "").lower()

    def find(value: Any, gradient: Any, second: Any, x0: Any, *sides: Any) -> Any:
        given = {} if kind in _WITHOUT_GRADIENT else {"jac": gradient}
        if kind in _BY_HESSIAN:
            given["hess"] = second
        bounds = optimize.Bounds(*sides) if sides else None
        more = {"bounds": bounds, "tol": tol, "callback": callback, "options": options, **given}
        return optimize.minimize(value, x0, (), method, **more)

    found = problem.minimum(find, [x])
    return report(x=found, fun=own(found), jac=problem.gradient(found))


@answers_for(_MINIMIZE_SCALAR)
def _minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    own, x = of_unknowns(fun, args, ()), unknown(0.0, _MINIMIZE_SCALAR)
    problem, bracket = _Problem(_MINIMIZE_SCALAR, own, x, _sides(bounds, x)), bracket or ()

    def find(value: Any, gradient: Any, second: Any, *begin: Any) -> Any:
        between, sides = begin[: len(bracket)], begin[len(bracket) :]
        more = {"bracket": between or None, "bounds": sides or None, "method": method, "tol": tol, "options": options}
        return optimize.minimize_scalar(value, **more)

    found = problem.minimum(find, bracket)
    return report(x=found, fun=own(found))


@answers_for(_LEAST_SQUARES)
@alone(_LEAST_SQUARES)
def _least_squares(
    fun,
    x0,
    jac="2-point",
    bounds=(-np.inf, np.inf),
    method="trf",
    ftol=1e-8,
    xtol=1e-8,
    gtol=1e-8,
    x_scale=None,
    loss="linear",
    f_scale=1.0,
    diff_step=None,
    tr_solver=None,
    tr_options=None,
    jac_sparsity=None,
    max_nfev=None,
    verbose=0,
    args=(),
    kwargs=None,
    **_,
):
    if loss != "linear":
        raise UnsupportedArguments.here(
            f"{_LEAST_SQUARES} with loss={loss!r} has no derivative rule in symgrad. Write the sum of the losses, and "
            "take scipy.optimize.minimize of it."
        )
    x, more = np.ravel(unknown(x0, _LEAST_SQUARES)), kwargs or {}
    residuals = of_unknowns(functools.partial(fun, **more), args, -1)
    problem = _Problem(_LEAST_SQUARES, residuals, x, _sides(bounds, x))

    def find(value: Any, slope: Any, second: Any, x0: Any, *sides: Any) -> Any:
        more = {"bounds": sides} if sides else {}
        limits = {"ftol": ftol, "xtol": xtol, "gtol": gtol, "max_nfev": max_nfev, "verbose": verbose}
        scale = {} if x_scale is None else {"x_scale": x_scale}
        return optimize.least_squares(value, x0, lambda x: slope(x).T, method=method, **limits, **scale, **more)

    found = problem.minimum(find, [x])
    left = residuals(found)
    return report(x=found, fun=left, jac=problem.slope(found).T, cost=np.sum(left**2) / 2)


@answers_for(_NNLS)
def _nnls(A, b, maxiter=None):
    A, b = array(A) * 1.0, array(b) * 1.0
    x = unknown(np.zeros(A.shape[1]), _NNLS)
    problem = _Problem(_NNLS, lambda x: A @ x - b, x, _sides((0.0, np.inf), x))

    def find(value: Any, slope: Any, second: Any, x0: Any, *sides: Any) -> Any:
        return report(x=optimize.nnls(slope(x0).T, -value(x0), maxiter=maxiter)[0])

    found = problem.minimum(find, [x])
    return found, np.linalg.norm(A @ found - b)


@answers_for(_CURVE_FIT)
@alone(_CURVE_FIT)
def _curve_fit(
    f,
    xdata,
    ydata,
    p0=None,
    sigma=None,
    absolute_sigma=False,
    check_finite=None,
    bounds=(-np.inf, np.inf),
    method=None,
    jac=None,
    *,
    full_output=False,
    nan_policy=None,
    **settings,
):
    if full_output or (sigma is not None and np.ndim(sigma) > 1):
        raise UnsupportedArguments.here(
            f"{_CURVE_FIT} with full_output or a matrix sigma has no derivative rule in symgrad; take "
            "scipy.optimize.least_squares of the residuals."
        )
    count = len(inspect.signature(f).parameters) - 1 if p0 is None else np.size(p0)
    x = np.ravel(unknown(np.ones(count) if p0 is None else p0, _CURVE_FIT))
    scale = 1.0 if sigma is None else sigma

    def residuals(p: Any) -> Any:
        return np.ravel((array(f(xdata, *[p[k] for k in range(count)])) - array(ydata)) / scale)

    problem = _Problem(_CURVE_FIT, residuals, x, _sides(bounds, x))

    def find(value: Any, slope: Any, second: Any, x0: Any, *sides: Any) -> Any:
        ways = {"method": method or ("trf" if sides else "lm"), **({"bounds": sides} if sides else {})}
        return optimize.least_squares(value, x0, lambda x: slope(x).T, **ways, **settings)

    found = problem.minimum(find, [x])
    slope, left = problem.slope(found), residuals(found)
    spread = np.linalg.inv(slope @ slope.T)
    return found, spread if absolute_sigma else spread * (np.sum(left**2) / (left.size - count))
