"""``scipy.integrate.solve_ivp`` and ``odeint`` on traced values: the steps that SciPy takes, as a loop.

At each call SciPy finds when steps are taken, by the values of that call. With these times the solution is a loop of
Runge-Kutta steps, which is differentiated as it is: the derivative of the computed solution with its steps held (Bock's
internal differentiation). So that these are short enough for derivatives too, SciPy solves for one of them beside the
solution: along a direction in which all that the solution begins with, and reads, has a part.

One trace serves as many steps as it has room for; steps that are left over are of no length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.integrate

from ..errors import ArgumentError, ShapeError, TracingError, UnsupportedArguments
from ..primitives.functions import less_equal
from ..tracing.dispatch import answers_for
from ..tracing.external_calls import known_values
from ..tracing.given_arrays import array
from ..tracing.local_array import holds_traced
from ..tracing.trace import as_node, running
from ..transforms.loops import scan
from .closed import Closed, alone, held, is_known
from .implicit import unknown
from .roots import report
from .runge_kutta import Explicit, Radau, Rates

_SOLVE_IVP, _ODEINT = "scipy.integrate.solve_ivp", "scipy.integrate.odeint"
#: of the methods of SciPy, which one takes the steps here
_METHODS = {name: name for name in ("RK23", "RK45", "DOP853", "Radau")} | {"BDF": "Radau", "LSODA": "DOP853"}
_ODEINT_TOLERANCE = 1.49012e-8
#: how often the rates are asked for at most
_MOST_CALLS = 200_000
_integrate: Any = scipy.integrate


class _Solution:
    """The solution of ``dy/dt = rates(t, y)`` that is ``y`` at the first of two times; ``name`` is SciPy's function."""

    def __init__(self, name: str, rates: Rates, span: Sequence[Any], y: Any, method: str, given: dict) -> None:
        kind = _METHODS.get(method)
        if kind is None:
            raise UnsupportedArguments.here(f"{name}: method={method!r} is none of {', '.join(map(repr, _METHODS))}.")
        self._method = Radau() if kind == "Radau" else Explicit(getattr(_integrate, kind))
        self._start, self._end = (t if holds_traced(t) else np.float64(t) for t in span)
        closed = Closed(rates, [self._start * 1.0, y], ["t", "y"])
        if closed.shape != as_node(y).shape:
            raise ShapeError.here(f"{name}: the rates have the shape {closed.shape}, and y has {y.shape}.")
        self._found = _Times(name, closed, [self._start, self._end, y, *closed.operands], {"method": kind, **given})
        shares, self._count = self._found.steps()
        times = self._at(shares)
        self._times, self._ends, self._lengths = times[:-1], times[1:], self._at(shares[1:]) - self._at(shares[:-1])
        self._states, self._kept = self._taken(lambda t, y: closed(t, y, *closed.operands), y)

    def _at(self, shares: Any) -> Any:
        return self._start + (self._end - self._start) * shares

    def _taken(self, rates: Rates, y: Any) -> tuple[Any, Any]:
        """The states at all times, a row each, and what the solution between them is made of."""

        def step(carry: Any, x: Any) -> tuple[Any, Any]:
            y, rate, kept = self._method.step(rates, x[0], carry[0], carry[1], x[1])
            return (y, rate), (y, kept)

        begin = y, self._method.begin(rates, self._start, y)
        _, (ends, kept) = scan(step, begin, (self._times, self._lengths))
        return np.concatenate([np.reshape(y, (1, *y.shape)), ends]), kept

    def times(self) -> Any:
        """When SciPy takes its steps."""
        return self._at(self._found.of_scipy())

    def __call__(self, t: Any) -> Any:
        """The solution at ``t``, a number or an array, as SciPy gives it: a column each time."""
        points = np.ravel(array(t) * 1.0)
        sign = 1.0 if self._end >= self._start else -1.0
        place = np.clip(np.searchsorted(sign * self._ends, sign * points), 0, self._count - 1)
        h = self._lengths[place]
        share = (points - self._times[place]) / np.where(h == 0.0, 1.0, h)
        rows = self._method.between([k[place] for k in self._kept], self._states[place], h[:, None], share)
        return rows.T if np.ndim(t) else rows[0]


class _Times:
    """When steps are taken, found at each call by SciPy: shares of the span, the first 0 and the last 1.

    ``operands`` are both times, ``y``, and what the rates read.
    """

    def __init__(self, name: str, closed: Closed, operands: Sequence[Any], given: dict[str, Any]) -> None:
        self._name, self._closed, self._given = name, closed, given
        self._nodes = list(map(as_node, operands))
        known = known_values(running(), self._nodes)
        if known is None:
            raise TracingError.here(
                f"{name}: how many steps there are depends on values that nobody knows while the function is traced, "
                "as with named dims. Drop these, or write the steps of a Runge-Kutta method in symgrad.scan."
            )
        self._known = known
        self._has_values = all(map(running().has_value, self._nodes))
        #: the arguments of the rates that a derivative may be taken by: y and what is traced of what they read
        read = enumerate(closed.operands, 2)
        self._moving = [1, *[k for k, v in read if as_node(v).differentiable and not is_known(v)]]

    def steps(self) -> tuple[Any, Any]:
        """The times of steps with room for more, which are 1, and how many there are."""
        count = len(self._solved(True, self._known)) - 1
        room = count + count // 4 + 8
        room = room if self._has_values else 2 * room

        def taken(*values: Any) -> tuple[Any, Any]:
            shares = self._solved(True, values)
            if len(shares) > room + 1 and not self._has_values:
                raise ArgumentError(
                    f"{self._name}: one example takes {len(shares) - 1} steps where the first one takes {count}; one "
                    "program serves them all, and has no room for so many. Call it for one after the other."
                )
            made = np.ones(room + 1)
            made[: len(shares)] = shares[: room + 1]
            return made, len(shares) - 1

        shares, taken_now = held("times_of_steps", taken, ((room + 1,), ()), self._nodes)
        if self._has_values:
            running().guard(less_equal(as_node(taken_now), as_node(float(room))))
        return shares, taken_now.astype(np.int64)

    def of_scipy(self) -> Any:
        """The times of SciPy's own steps; a call that takes another number has another trace."""
        count = len(self._solved(False, self._known))

        def taken(*values: Any) -> tuple[Any, Any]:
            shares = self._solved(False, values)
            return np.resize(shares, count), len(shares)

        shares, taken_now = held("times_of_steps", taken, ((count,), ()), self._nodes)
        running().guard(as_node(taken_now))
        return shares

    def _solved(self, with_derivative: bool, values: Sequence[Any]) -> np.ndarray:
        """The times, where SciPy solves for the solution alone, or for a derivative beside it."""
        start, end, y, *read = values
        begin, rates, given = y, self._rates(read), dict(self._given)
        if with_derivative:
            arguments = [start, y, *read]
            directions = [_direction(arguments[k]) for k in self._moving]
            begin = np.concatenate([y, directions[0]])
            rates = self._rates_of_both(rates, read, directions[1:], len(y))
            if np.ndim(given.get("atol", 0.0)):
                given["atol"] = np.tile(given["atol"], 2)
        made = _integrate.solve_ivp(self._limited(rates), (float(start), float(end)), begin, **given)
        if not made.success:
            raise ArgumentError(f"{self._name} has found no solution: {made.message}")
        return (made.t - made.t[0]) / (made.t[-1] - made.t[0] or 1.0)

    def _rates(self, read: Sequence[Any]) -> Rates:
        kernel = self._closed.kernel()
        return lambda t, y: kernel(np.float64(t), y, *read)

    def _rates_of_both(self, rates: Rates, read: Sequence[Any], directions: Sequence[Any], count: int) -> Rates:
        along = self._closed.kernel(self._closed.directional(self._moving))

        def both(t: Any, z: Any) -> Any:
            y, tangent = z[:count], z[count:]
            return np.concatenate([rates(t, y), along(np.float64(t), y, *read, tangent, *directions)])

        return both

    def _limited(self, rates: Rates) -> Rates:
        asked = 0

        def limited(t: Any, y: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked > _MOST_CALLS:
                raise ArgumentError(
                    f"{self._name}: {_MOST_CALLS} evaluations of the rates do not reach the end. Equations that are "
                    "stiff want scipy.integrate.solve_ivp with method='Radau'."
                )
            return rates(t, y)

        return limited


def _direction(value: Any) -> np.ndarray:
    """A tangent in which each element has a part, as large as it is."""
    size = np.abs(np.asarray(value, np.float64))
    return np.where(size > 0, size, 1.0) * np.cos(1.0 + np.arange(size.size)).reshape(size.shape)


def _of_rows(fun: Callable[..., Any], args: Any, shape: Any) -> Rates:
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    return lambda t, y: np.reshape(array(fun(t, y, *args)) * 1.0, shape)


@answers_for(_SOLVE_IVP)
@alone(_SOLVE_IVP)
def _solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False, args=None, **options
):
    if events is not None:
        raise UnsupportedArguments.here(
            f"{_SOLVE_IVP} with events has no derivative rule in symgrad. Solve up to a time that is an unknown, and "
            "find that by scipy.optimize.brentq of the event."
        )
    y = np.ravel(unknown(y0, _SOLVE_IVP))
    method = method if isinstance(method, str) else method.__name__
    rates = _of_rows((lambda t, y, *a: fun(t, y[:, None], *a)) if vectorized else fun, args, y.shape)
    given = {k: v for k, v in options.items() if k in ("rtol", "atol", "max_step", "first_step")}
    made = _Solution(_SOLVE_IVP, rates, t_span, y, method, given)
    times = made.times() if t_eval is None else t_eval
    return report(t=times, y=made(times), sol=made if dense_output else None, t_events=None, y_events=None, status=0)


@answers_for(_ODEINT)
@alone(_ODEINT)
def _odeint(func, y0, t, args=(), *, tfirst=False, full_output=0, rtol=None, atol=None, **_):
    if full_output:
        raise UnsupportedArguments.here(f"{_ODEINT} with full_output has no derivative rule in symgrad; leave it out.")
    y = np.ravel(unknown(y0, _ODEINT))
    rates = _of_rows(func if tfirst else lambda t, y, *a: func(y, t, *a), args, y.shape)
    tolerances = {"rtol": rtol, "atol": atol}
    given = {k: _ODEINT_TOLERANCE if v is None else v for k, v in tolerances.items()}
    return _Solution(_ODEINT, rates, (t[0], t[-1]), y, "LSODA", given)(t).T
