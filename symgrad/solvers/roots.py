"""Roots by ``scipy.optimize`` on traced values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.optimize

from ..errors import ArgumentError, UnsupportedOperation
from ..tracing.dispatch import answers_for
from ..tracing.given_arrays import array
from .closed import alone
from .implicit import Equation, solution, unknown

_NEWTON, _ROOT_SCALAR = "scipy.optimize.newton", "scipy.optimize.root_scalar"
_FSOLVE, _ROOT, _FIXED_POINT = "scipy.optimize.fsolve", "scipy.optimize.root", "scipy.optimize.fixed_point"
_CONVERGED = "The solution converged."
optimize: Any = scipy.optimize


def of_unknowns(function: Callable[..., Any], args: Any, shape: Sequence[Any] | int) -> Callable[[Any], Any]:
    """``function`` of the unknowns alone, with an array of this shape, in which its elements are."""
    args = args if isinstance(args, tuple) else (args,)
    return lambda x: np.reshape(array(function(x, *args)), shape)


def first_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` without the derivative that it gives beside its value."""
    return lambda *args: function(*args)[0]


class _Report(optimize.OptimizeResult):
    """What is known of a solution. How it was found (counts, the last steps) is known of a run alone, and refused."""

    def __missing__(self, name: str) -> Any:
        if name.startswith("_"):
            raise KeyError(name)
        raise UnsupportedOperation.here(
            f"{name!r} of a solution is not known when the function is traced: {', '.join(self)} are. Ask SciPy for it "
            "outside of the function."
        )

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]


def report(**found: Any) -> Any:
    """What is known of a solution."""
    return _Report(success=True, message=_CONVERGED, **found)


def checked(found: Any, is_found: Any, name: str, why: Any) -> Any:
    """What SciPy has found; an error where that is no solution, which has no derivative."""
    if not is_found:
        raise ArgumentError(f"{name} has found no solution: {why}")
    return found


# of one unknown


def _of_one(name: str, f: Callable, args: Any, begin: Sequence[Any], find: Callable[..., Any]) -> Any:
    return solution(name, of_unknowns(f, args, ()), np.reshape(array(begin[0]), ()), find, begin, each=True)


def _bracketing(name: str) -> Callable[..., Any]:
    def rule(f: Any, a: Any, b: Any, args: Any = (), *, full_output: Any = False, disp: Any = True, **more: Any) -> Any:
        def find(equation: Equation, a: Any, b: Any) -> Any:
            return getattr(optimize, name)(equation.value, float(a), float(b), **more)

        root = _of_one(f"scipy.optimize.{name}", f, args, (a, b), find)
        return (root, report(root=root, converged=True)) if full_output else root

    return rule


for _name in ("brentq", "brenth", "bisect", "ridder", "toms748"):
    answers_for(f"scipy.optimize.{_name}")(_bracketing(_name))


@answers_for(_NEWTON)
@alone(_NEWTON)
def _newton(func, x0, fprime=None, args=(), *, fprime2=None, x1=None, full_output=False, disp=True, **more):
    x = unknown(x0, _NEWTON)

    def find(equation: Equation, x0: Any, x1: Any = None) -> Any:
        return optimize.newton(equation.value, x0, fprime and equation.slope, x1=x1, **more)

    begin = [x] if x1 is None else [x, x1]
    root = solution(_NEWTON, of_unknowns(func, args, x.shape), x, find, begin, each=True)
    return (root, report(root=root, converged=True)) if full_output else root


@answers_for(_ROOT_SCALAR)
@alone(_ROOT_SCALAR)
def _root_scalar(f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, **more):
    names = ("a", "b") if bracket is not None else ("x0", "x1")
    begin = [v for v in (bracket if bracket is not None else (x0, x1)) if v is not None]
    if not begin:
        raise ArgumentError.here(f"{_ROOT_SCALAR}: give a bracket, or x0.")
    kind = "newton" if method == "halley" else method

    def find(equation: Equation, *begin: Any) -> Any:
        given = dict(zip(names, map(float, begin), strict=False))
        start = {"bracket": begin} if "a" in given else given
        slope = equation.slope if fprime or kind == "newton" else None
        made = optimize.root_scalar(equation.value, (), kind, fprime=slope, **start, **more)
        return checked(made.root, made.converged, _ROOT_SCALAR, made.flag)

    has_derivative = fprime is True or fprime2 is True
    root = _of_one(_ROOT_SCALAR, first_of(f) if has_derivative else f, args, begin, find)
    return report(root=root, converged=True, flag="converged")


# of several unknowns


@answers_for(_FSOLVE)
@alone(_FSOLVE)
def _fsolve(func, x0, args=(), fprime=None, full_output=0, col_deriv=0, **more):
    x = np.ravel(unknown(x0, _FSOLVE))
    equation = of_unknowns(func, args, x.shape)

    def find(of: Equation, x0: Any) -> Any:
        slope = None if fprime is None else of.slope  # a row each unknown
        made, _, flag, why = optimize.fsolve(of.value, x0, (), slope, full_output=1, col_deriv=1, **more)
        return checked(made, flag == 1, _FSOLVE, why)

    root = solution(_FSOLVE, equation, x, find, [x])
    return (root, _Report(fvec=equation(root)), 1, _CONVERGED) if full_output else root


@answers_for(_ROOT)
@alone(_ROOT)
def _root(fun, x0, args=(), method="hybr", jac=None, **more):
    x, is_flat = unknown(x0, _ROOT), method in ("hybr", "lm")
    x = np.ravel(x) if is_flat else x
    equation = of_unknowns(first_of(fun) if jac is True else fun, args, x.shape)

    def find(of: Equation, x0: Any) -> Any:
        slope = (lambda x: of.slope(x).T) if jac and is_flat else None
        made = optimize.root(of.value, x0, (), method, slope, **more)
        return checked(made.x, made.success, _ROOT, made.message)

    root = solution(_ROOT, equation, x, find, [x])
    return report(x=root, fun=equation(root))


@answers_for(_FIXED_POINT)
def _fixed_point(func, x0, args=(), **more):
    x = unknown(x0, _FIXED_POINT)
    step = of_unknowns(func, args, x.shape)

    def find(of: Equation, x0: Any) -> Any:
        return optimize.fixed_point(lambda x: x + of.value(x), x0, **more)

    return solution(_FIXED_POINT, lambda x: step(x) - x, x, find, [x])
