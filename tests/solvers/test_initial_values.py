"""Solutions of initial value problems: derivatives by parameters, beginnings, times and spans."""

from __future__ import annotations

import numpy as np
import pytest
from solvers.test_roots import difference

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError, TracingError, UnsupportedOperation

integrate = pytest.importorskip("scipy.integrate")
TIMES = np.linspace(0.0, 2.0, 7)
FINE = {"rtol": 1e-9, "atol": 1e-11}


def lotka_volterra(t, y, a):
    return [a * y[0] - y[0] * y[1], -y[1] + y[0] * y[1]]


def pendulum(y, t, k):
    return [y[1], -k * np.sin(y[0]) - 0.1 * y[1] * t]


def solved(begin=(1.0, 2.0), span=(0.0, 2.0), a=1.2, **settings):
    return integrate.solve_ivp(lotka_volterra, span, begin, args=(a,), **{**FINE, **settings})


SOLUTIONS = {
    "by a parameter": lambda a: np.sum(solved(a=a, t_eval=TIMES).y ** 2),
    "at SciPy's times": lambda a: solved(a=a).y[:, -1].sum(),
    "those times": lambda a: solved(a=a).t[-1] * a,
    "by the beginning": lambda a: np.sum(solved([1.0, a], t_eval=TIMES).y[0]),
    "by the end": lambda a: solved(span=(0.0, a)).y[0, -1],
    "by the begin of the span": lambda a: solved(span=(a - 2, 2.0)).y[0, -1],
    "by a time between": lambda a: np.sum(solved(dense_output=True).sol(a / 2)),
    "by times between": lambda a: np.sum(solved(t_eval=TIMES * a / 3).y[1]),
    "backwards": lambda a: solved(span=(2, 0), a=a, t_eval=TIMES[::-1]).y[:, -1].sum(),
    "of one": lambda a: integrate.solve_ivp(lambda t, y: -a * y + np.sin(a * t), (0, 2), [1.0], **FINE).y[0, -1],
    "vectorized": lambda a: integrate.solve_ivp(
        lambda t, y: np.array([[a], [2.0]]) * y, (0, 1), [1.0, 1.0], vectorized=True, **FINE
    ).y[0, -1],
    "RK23": lambda a: np.sum(solved(a=a, t_eval=TIMES, method="RK23", rtol=1e-7).y),
    "DOP853": lambda a: np.sum(solved(a=a, t_eval=TIMES, method="DOP853").y[0]),
    "Radau": lambda a: np.sum(solved(a=a, t_eval=TIMES, method="Radau", rtol=1e-7).y),
    "BDF": lambda a: np.sum(solved(a=a, t_eval=TIMES, method=integrate.BDF, rtol=1e-7).y),
    "LSODA": lambda a: np.sum(solved(a=a, t_eval=TIMES, method="LSODA").y),
    "odeint": lambda a: np.sum(integrate.odeint(pendulum, [1.0, 0.0], TIMES, (a,), rtol=1e-11, atol=1e-11)[:, 0]),
    "odeint, time first": lambda a: np.sum(integrate.odeint(lotka_volterra, [1.0, 2.0], TIMES, (a,), tfirst=True)),
}


#: one of each way to the second derivative, which takes long
CURVED = ("by a parameter", "by the end", "by a time between", "DOP853", "Radau", "odeint")


@pytest.mark.parametrize("name", SOLUTIONS)
def test_value_and_derivatives_in_both_modes(name):
    solution = SOLUTIONS[name]
    value, slope = sg.value_and_grad(solution)(1.7)
    np.testing.assert_allclose(value, solution(1.7), rtol=2e-6)
    np.testing.assert_allclose(slope, difference(solution, 1.7, 0.02), rtol=1e-5, atol=1e-6)
    gradient = sg.grad(solution)
    np.testing.assert_allclose(gradient(1.3), difference(solution, 1.3, 0.02), rtol=1e-5, atol=1e-6)
    if name in CURVED:
        np.testing.assert_allclose(sg.grad(gradient)(1.7), difference(gradient, 1.7, 0.02), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(sg.jacfwd(solution)(1.7), slope, rtol=1e-10, atol=1e-12)


def test_shapes_and_times_are_those_of_scipy():
    wanted = solved(rtol=1e-3)
    found = sg.jacobian(lambda y: integrate.solve_ivp(lotka_volterra, (0, 2), y, args=(1.2,)).y)(np.array([1.0, 2.0]))
    assert found.shape == (*wanted.y.shape, 2)
    times = sg.value_and_grad(lambda a: solved(a=a, rtol=1e-3).t * a)(1.0)[0]
    np.testing.assert_allclose(times, solved(a=1.0, rtol=1e-3).t, rtol=1e-14)
    rows = sg.value_and_grad(lambda a: integrate.odeint(pendulum, [1.0, 0.0], TIMES, (a,)))(2.0)[0]
    np.testing.assert_allclose(rows, integrate.odeint(pendulum, [1.0, 0.0], TIMES, (2.0,)), rtol=1e-6, atol=1e-7)


def test_steps_are_short_enough_for_derivatives_where_the_solution_stands_still():
    """At an equilibrium, and where what drives it has the factor 0, SciPy's own steps are as long as the span."""
    at_rest = lambda a: solved(a=a, t_eval=[2.0]).y[0, 0]  # noqa: E731
    np.testing.assert_allclose(sg.grad(at_rest)(2.0), difference(at_rest, 2.0, 0.02), rtol=1e-5)
    driven = lambda k: integrate.solve_ivp(lambda t, y: k * np.cos(40 * t) + 0 * y, (0, 2), [1.0], **FINE).y[0, -1]  # noqa: E731
    np.testing.assert_allclose(sg.grad(driven)(0.0), np.sin(80.0) / 40, rtol=1e-6)


def test_other_values_take_more_steps_than_the_first_ones():
    swing = lambda k: np.sum(integrate.odeint(pendulum, [1.0, 0.0], TIMES, (k,))[:, 0])  # noqa: E731
    gradient = sg.grad(swing)
    for k in (1.0, 400.0, 2.0):
        np.testing.assert_allclose(gradient(k), difference(swing, k, 1e-3 * k), rtol=2e-4)


def test_vmap_has_room_for_twice_as_many_steps():
    swing = lambda k: integrate.odeint(pendulum, [1.0, 0.0], TIMES, (k,))[-1, 0]  # noqa: E731
    points = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(sg.vmap(sg.grad(swing))(points), [sg.grad(swing)(k) for k in points], rtol=1e-9)
    with pytest.raises(ArgumentError, match=r"takes \d+ steps where the first one takes"):
        sg.vmap(sg.grad(swing))(np.array([1.0, 2000.0]))


@pytest.mark.parametrize("backend", ["numpy", "numexpr", "native"])
def test_backends_and_steps_of_large_arrays(backend):
    """A diffusion of 3,000 places, whose solution at each is known."""
    place = np.arange(1.0, 3001.0) / 3000

    def end(k):
        return integrate.solve_ivp(lambda t, y: -k * place * y, (0, 1), np.ones(3000), t_eval=[0.5, 1.0], **FINE).y

    gradient = sg.grad(lambda k: np.sum(end(k)), backend=backend)
    wanted = -np.sum(place * (0.5 * np.exp(-0.5 * 3 * place) + np.exp(-3 * place)))
    np.testing.assert_allclose(gradient(3.0), wanted, rtol=1e-9)


def test_a_stiff_equation_is_for_radau(monkeypatch):
    def stiff(a, method):
        rates = lambda t, y: -1e6 * (y - a * np.cos(t))  # noqa: E731
        return integrate.solve_ivp(rates, (0, 1), [0.0], method, t_eval=[1.0], rtol=1e-6).y[0, 0]

    wanted = (1e12 * np.cos(1.0) + 1e6 * np.sin(1.0)) / (1e12 + 1)
    np.testing.assert_allclose(sg.grad(lambda a: stiff(a, "Radau"))(2.0), wanted, rtol=1e-5)
    monkeypatch.setattr("symgrad.solvers.initial_values._MOST_CALLS", 1000)
    with pytest.raises(ArgumentError, match="method='Radau'"):
        sg.grad(lambda a: stiff(a, "RK45"))(2.0)


def test_an_empty_span():
    np.testing.assert_allclose(sg.grad(lambda a: solved([1.0, a], span=(0, 0), t_eval=[0.0]).y[1, 0])(2.0), 1.0)


def test_what_cannot_be_solved_names_the_line_and_the_way_out():
    event = lambda t, y: y[0]  # noqa: E731
    for wrong, error, said in [
        (
            lambda a: integrate.solve_ivp(lambda t, y: a * y, (0, 1), [1.0], events=event).y[0, -1],
            UnsupportedOperation,
            "brentq",
        ),
        (
            lambda a: integrate.solve_ivp(lambda t, y: a * y, (0, 1), [1.0], method="Euler").y[0, -1],
            UnsupportedOperation,
            "RK45",
        ),
        (lambda a: integrate.solve_ivp(lambda t, y: [a, a], (0, 1), [1.0]).y[0, -1], ShapeError, "reshape"),
        (lambda a: integrate.odeint(pendulum, [1.0, 0], TIMES, (a,), full_output=1)[0], UnsupportedOperation, "leave"),
    ]:
        with pytest.raises(error, match=said) as refused:
            sg.grad(wrong)(1.0)
        assert __file__ in str(refused.value)
    with pytest.raises(ArgumentError, match="has found no solution"):
        sg.grad(lambda a: integrate.solve_ivp(lambda t, y: a * y**2, (0, 9), [1.0]).y[0, -1])(2.0)


def test_sizes_by_names_have_no_steps():
    def end(y: sg.Array["n"]):  # noqa: F821, UP037
        return np.sum(integrate.solve_ivp(lambda t, y: -y, (0, 1), y).y)

    with pytest.raises(TracingError, match=r"symgrad\.scan"):
        sg.grad(end)(np.ones(3))
