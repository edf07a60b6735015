"""The recurrences of loops and of their gradients, to the letter: adjoints as a textbook has them."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import sympy
from recurring import CASES

import symgrad as sg
from symgrad import fori_loop, scan
from symgrad.errors import ClosedFormTooLarge

EXPECTED = pathlib.Path(__file__).parent / "expected"


@pytest.mark.parametrize("name", CASES)
def test_functions_and_gradients_are_told_step_by_step(name):
    function, positions, args = CASES[name]
    blocks = (EXPECTED / f"{name}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    for derived, (text, latex) in zip(
        (sg.symbolic(function), sg.grad(function, positions)), (blocks[:2], blocks[2:]), strict=True
    ):
        for found in (derived.closed_form(*args), derived.closed_form(*args, form="recurrence")):
            assert found.text == str(found) == repr(found) == text
            assert found.rows[1] == latex.splitlines()
            assert found._repr_latex_() == rf"$\displaystyle {found.latex}$"
        assert derived.formulas(*args).kind == "recurrence"
        assert derived.latex_rows(*args) == latex.splitlines()


def told(fn, *args):
    return str(sg.symbolic(fn).closed_form(*args, form="recurrence")).splitlines()


def test_few_steps_are_listed():
    assert told(lambda x: fori_loop(0, 1, lambda i, v: np.sin(v), x), 1.0)[1] == "vₜ₊₁ = sin(vₜ)   (t = 0)"
    assert told(lambda x: fori_loop(0, 2, lambda i, v: np.sin(v), x), 1.0)[1] == "vₜ₊₁ = sin(vₜ)   (t = 0, 1)"
    assert told(lambda x: fori_loop(0, 0, lambda i, v: np.sin(v), x), 1.0) == ["f = x"]


def test_steps_may_go_backwards():
    lines = told(lambda x: scan(lambda c, x: (c * x, c), 1.0, x, reverse=True)[0], np.ones(5))
    assert lines == ["c₅ = 1", "cₜ = cₜ₊₁xₜ   (t = 4, …, 0)", "f = c₀"]


def test_results_of_each_step_are_rows():
    lines = told(lambda x: scan(lambda c, x: (np.sin(c), c * x), 1.0, x)[1] ** 2, np.ones(5))
    assert lines[1:] == ["cₜ₊₁ = sin(cₜ)", "fₜ = cₜ²xₜ²   (t = 0, …, 4)"]


def test_the_number_of_a_step_and_those_before_and_after_it():
    assert "cₜ₊₁ = cₜ(3 + t)" in told(lambda x: fori_loop(3, 9, lambda i, c: c * i, x), 1.0)[1]
    lines = told(lambda x: scan(lambda c, p: (c + p[0] * p[1], None), 0.5, (x[2:], x[:-2]))[0], np.ones(6))
    assert lines == ["f = 1/2 + Σₜ xₜ₊₂xₜ   (t = 0, …, 3)"]


def test_names_are_those_of_the_users_function():
    def step(carry, obs):
        mean, spread = carry
        gain = spread / (spread + 1.0)
        return (mean + gain * (obs - mean), spread - gain * spread), None

    lines = told(lambda m, ys: scan(step, (m, 1.0), ys)[0][0], 0.5, np.ones(9))
    assert lines[:2] == ["mean₀ = m", "spread₀ = 1"]
    assert lines[-1] == "f = mean₉"
    assert any("yₜ" in line for line in lines)
    assert any(line.startswith("gainₜ = ") for line in lines)


def test_python_loops_that_are_found_are_told_too():
    def heron(a):
        x = a
        for _ in range(30):
            x = x - (x * x - a) / (2 * x)
        return x

    found = sg.grad(heron).formulas(2.0)
    assert found.kind == "recurrence"
    assert found.text_rows(["g"])[-2:] == [
        "λₜ = 1/2 · λₜ₊₁(1 − a / xₜ²)   (t = 29, …, 0)",
        "g = λ₀ + Σₜ λₜ₊₁ / (2xₜ)",
    ]


def test_loops_of_a_few_steps_are_told_in_the_names_of_the_users_locals():
    def likelihood(a, q, r, ys):
        m, P, ll = 0.0, 1.0, 0.0
        for y in ys:
            m = a * m
            P = a * a * P + q
            S = P + r
            e = y - m
            ll = ll - 0.5 * (np.log(S) + e * e / S)
            K = P / S
            m = m + K * e
            P = (1 - K) * P
        return ll

    rows = sg.grad(likelihood, (0, 1, 2)).formulas(0.9, 0.1, 0.2, np.ones(5)).text_rows(["a", "q", "r"])
    lefts = [row.partition(" = ")[0] for row in rows]
    assert lefts[:2] == ["m₀", "P₀"]
    assert {"eₜ", "Sₜ", "Kₜ", "mₜ₊₁", "Pₜ₊₁", "λ_mₜ", "λ_Pₜ"} < set(lefts)
    assert "eₜ = yₜ − cₜ" in rows  # every step is in the loop, the first and the last too


def test_three_steps_are_told_unless_their_formula_is_short():
    def heron(a):
        x = a
        for _ in range(4):
            x = 0.5 * (x + a / x)
        return x

    def logistic(x):
        for _ in range(3):
            x = 4 * x * (1 - x)
        return x

    assert sg.grad(heron).formulas(2.0).text_rows(["g"])[3:] == [
        "λₜ = 1/2 · λₜ₊₁(1 − a / xₜ²)   (t = 3, …, 0)",
        "g = λ₀ + Σₜ λₜ₊₁ / (2xₜ)",
    ]
    assert str(sg.grad(heron).closed_form(2.0)).endswith("∂f/∂a = λ₀ + Σₜ λₜ₊₁ / (2xₜ)")
    assert sg.grad(logistic).formulas(0.3).kind == "entries"
    assert sg.grad(logistic).closed_form(0.3).evalf(subs={sympy.Symbol("x", real=True): 0.3}) == pytest.approx(
        sg.grad(logistic)(0.3)
    )


def test_a_stencil_on_a_ring():
    def heat(u, k):
        for _ in range(6):
            u = u + k * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
        return np.sum(u**2)

    rows = sg.grad(heat, (0, 1)).formulas(np.ones(20), 0.2).text_rows(["gu", "gk"])
    assert rows[:3] == [
        "u₀ = u",
        "rₜ[i] = uₜ[(i + 1) % 20] + uₜ[(i - 1) % 20] - 2*uₜ[i]",
        "uₜ₊₁ = uₜ + krₜ   (t = 0, …, 5)",
    ]
    assert rows[-2:] == ["gu = λ₀", "gk = Σₜ λₜ₊₁ᵀrₜ"]


def test_a_method_of_runge_and_kutta():
    def runge(y0, k):
        y, h = y0, 0.1
        for _ in range(6):
            k1 = -k * np.sin(y)
            k2 = -k * np.sin(y + h / 2 * k1)
            k3 = -k * np.sin(y + h / 2 * k2)
            k4 = -k * np.sin(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return np.sum(y**2)

    args = np.array([0.3, 0.2]), 1.5
    rows = sg.grad(runge, (0, 1)).formulas(*args).text_rows(["gy", "gk"])
    assert rows[:2] == ["k1ₜ = −k·sin(yₜ)", "rₜ = yₜ + 1/20 · k1ₜ"]
    assert rows[-2] == "gy = λ₀"
    assert sg.grad(runge, (0, 1)).agreement(*args).recurrence < 1e-12


def test_layers_with_weights_of_their_own_are_no_loop():
    def network(A, B, C, D, x):
        h = np.tanh(A @ x) + 0.1
        h = np.tanh(B @ h) + 0.1
        h = np.tanh(C @ h) + 0.1
        h = np.tanh(D @ h) + 0.1
        return np.sum(h)

    found = sg.grad(network).formulas(*[np.eye(2)] * 4, np.ones(2))
    assert found.kind != "recurrence"


def test_an_entry_is_counted_from_0():
    def longest(x):
        seen = []
        for _ in range(10):
            x = x + 0.1 * np.sin(x)
            seen.append(x)
        return seen[4] * seen[9]

    rows = sg.grad(longest).formulas(0.3).text_rows(["g"])
    assert rows[1:4] == [
        "xₜ₊₁ = xₜ + 1/10 · sin(xₜ)   (t = 0, …, 9)",
        "λ₁₀ = x₅",  # what is appended first is x₁, and has the index 0
        "s = x₁₀e₄",
    ]


def test_steps_that_read_two_steps_back():
    def swapped(a0, b0):
        a, b = a0, b0
        for _ in range(10):
            a, b = b, a + np.tanh(b)
        return a * b

    rows = sg.grad(swapped, (0, 1)).formulas(0.3, 0.2).text_rows(["ga", "gb"])
    assert rows[2:6] == ["sₜ₊₁ = bₜ + tanh(sₜ)", "bₜ₊₁ = sₜ   (t = 0, …, 8)", "λ_s₉ = b₉", "λ_b₉ = s₉"]
    assert "λ_sₜ = λ_bₜ₊₁ + λ_sₜ₊₁·(1 − tanh²(sₜ))" in rows


def test_values_in_a_list_or_an_array_are_called_as_that_is():
    def appended(a):
        x = [1.0, 0.5]
        for _ in range(12):
            x.append(a * x[-1] + 0.2 * np.sin(x[-2]))
        return x[-1]

    def written(a):
        x = np.zeros(14)
        x[:2] = 1.0, 0.5
        for t in range(12):
            x[t + 2] = a * x[t + 1] + 0.2 * np.sin(x[t])
        return x[-1]

    for function in (appended, written):
        rows = sg.grad(function).formulas(0.5).text_rows(["g"])
        assert rows[2:4] == ["xₜ₊₁ = 1/5 · sin(sₜ) + axₜ", "sₜ₊₁ = xₜ   (t = 0, …, 9)"]
        assert rows[-1].endswith("Σₜ xₜ·λ_xₜ₊₁")


def test_numbers_that_differ_by_step_are_listed():
    def shrinking(x, k):
        for t in range(1, 11):
            x = x - k / np.sqrt(t) * np.sin(x)
        return x

    rows = sg.grad(shrinking).formulas(0.3, 0.2).text_rows(["g"])
    assert rows[1] == "xₜ₊₁ = xₜ − k·sin(xₜ) / sₜ   (t = 0, …, 9)"
    assert rows[-1].startswith("s = [1., 1.4142, 1.7321")


def test_numbers_are_listed_where_their_name_stands_beside_another_too():
    def adam(slope, x):
        m = v = 0.0
        for t in range(1, 6):
            g = slope * x
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            x = x - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
        return x**2

    lines = sg.grad(adam).formulas(1.5, 2.0).text_rows(["g"])
    assert {line.split(" = ")[1] for line in lines if "[" in line} == {
        "[0.1, 0.19, 0.271, 0.3439]",
        "[0.01, 0.0199, 0.0297, 0.0394]",
    }


def test_backpropagation_through_time():
    def network(W, U, b, xs):
        h = np.tanh(xs[0] @ U + b)
        for t in range(1, len(xs)):
            h = np.tanh(h @ W + xs[t] @ U + b)
        return np.sum(h**2)

    args = np.ones((3, 3)), np.ones((2, 3)), np.ones(3), np.ones((6, 4, 2))
    rows = sg.grad(network, (0, 1, 2)).formulas(*args).text_rows(["gW", "gU", "gb"])
    assert rows[:2] == ["h₀ = tanh(x₀U + 𝟏bᵀ)", "hₜ₊₁ = tanh(hₜW + xₜ₊₁U + 𝟏bᵀ)   (t = 0, …, 4)"]
    assert "λₜ = ΔₜWᵀ   (t = 4, …, 0)" in rows
    assert "gW = Σₜ hₜᵀΔₜ" in rows


def test_what_has_no_loop_or_too_many_lines_is_refused():
    with pytest.raises(ClosedFormTooLarge, match="there is no recurrence"):
        sg.grad(np.sin).closed_form(1.0, form="recurrence")
    function, positions, args = CASES["kalman"]
    with pytest.raises(ClosedFormTooLarge, match="there is no recurrence"):
        sg.grad(function, positions).closed_form(*args, form="recurrence", budget=10)


def heat(u):
    u = u.copy()
    for _ in range(40):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def test_the_adjoint_of_a_stencil_is_told_from_end_to_end():
    gradient = sg.grad(heat).closed_form(np.ones(40), form="recurrence")
    assert str(gradient).splitlines() == [
        "u₀ = u",
        "uₜ₊₁ = [u[0], 1/5 · (3 uₜ[1:39] + uₜ[2:40] + uₜ[0:38]), u[39]]   (t = 0, …, 39)",
        "λ₄₀ = 2u₄₀",
        "λₜ[i] = Piecewise((0.2*λₜ₊₁[1], i < 1), (0.6*λₜ₊₁[1] + 0.2*λₜ₊₁[2], i < 2), "
        "(0.2*λₜ₊₁[i + 1] + 0.2*λₜ₊₁[i - 1] + 0.6*λₜ₊₁[i], i < 38), (0.2*λₜ₊₁[37] + 0.6*λₜ₊₁[38], i < 39), "
        "(0.2*λₜ₊₁[38], True))   (t = 39, …, 0)",
        "∂f/∂u = λ₀ + Σₜ (λₜ₊₁[0]·e₀ + λₜ₊₁[39]·e₃₉)",
    ]


def kalman(F, H, Q, R, m, P, ys):
    ll = 0.0
    for y in ys:
        m = F @ m
        P = F @ P @ F.T + Q
        v = y - H @ m
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        m = m + K @ v
        P = P - K @ S @ K.T
        ll = ll - 0.5 * (v @ np.linalg.solve(S, v) + np.linalg.slogdet(S)[1])
    return ll


MODEL = (np.eye(2) * 0.9, np.eye(2), np.eye(2) * 0.1, np.eye(2) * 0.2, np.zeros(2), np.eye(2))


@pytest.mark.parametrize(
    "fn", [kalman, lambda F, H, Q, R, m, P, ys: kalman(F, H, Q, R, m, P, ys)], ids=["own", "called"]
)
def test_a_kalman_filter_is_told_once_and_in_its_own_names(fn):
    derived = sg.grad(fn, ("F", "Q"))
    args = (*MODEL, np.sin(np.arange(40.0)).reshape(20, 2))
    rows = derived.formulas(*args).text_rows(["∂F", "∂Q"])
    forward = [row for row in rows if row.partition(" = ")[0] in ("vₜ", "Sₜ", "Kₜ", "mₜ₊₁", "Pₜ₊₁")]
    assert len(forward) == 5
    assert "Kₜ = MₜHᵀSₜ⁻¹" in rows
    assert "∂Q = Σₜ Ωₜ" in rows
    assert len(rows) < 22
    assert derived.agreement(*args).recurrence < 1e-12


def local_level(q, r, y):
    m, P, ll = 0.0, 1.0, 0.0
    for t in range(len(y)):
        P = P + q
        S = P + r
        K = P / S
        e = y[t] - m
        ll = ll - 0.5 * (np.log(2 * np.pi * S) + e**2 / S)
        m = m + K * e
        P = (1 - K) * P
    return ll


def test_what_a_carry_is_after_a_step_is_called_so_in_sums():
    derived, args = sg.grad(local_level, (0, 1)), (0.1, 0.2, np.sin(np.arange(12.0)))
    rows = derived.formulas(*args).text_rows(["∂q", "∂r"])
    assert rows[-2:] == ["∂q = Σₜ λ_Pₜ", "∂r = Σₜ δₜ"]
    assert derived.agreement(*args).recurrence < 1e-12


def predators(z, p):
    a, b, c, d = p
    x, y = z
    cost = 0.0
    for _ in range(20):
        dx, dy = a * x - b * x * y, c * x * y - d * y
        x, y = x + 0.01 * dx, y + 0.01 * dy
        cost = cost + (x - 1) ** 2 + (y - 2) ** 2
    return cost


def test_what_is_read_often_has_a_name_and_unit_vectors_are_a_vector():
    derived, args = sg.grad(predators, 1), (np.array([2.0, 1.0]), np.array([1.0, 0.5, 0.3, 0.4]))
    rows = derived.formulas(*args).text_rows(["∂p"])
    assert "δₜ = 2yₜ₊₁ + λ_yₜ₊₁ − 4" in rows
    assert rows[-1] == "∂p = Σₜ [xₜ*εₜ/100, -xₜ*yₜ*εₜ/100, xₜ*yₜ*δₜ/100, -yₜ*δₜ/100]"
    assert derived.agreement(*args).recurrence < 1e-12


def test_the_first_step_is_one_of_them_though_it_reads_the_parameters_first():
    def explicit(z, p):
        def slope(z):
            x, y = z
            return np.array([p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y])

        for _ in range(20):
            z = z + 0.01 * slope(z)
        return np.sum(z**2)

    derived, args = sg.grad(explicit), (np.array([2.0, 1.0]), np.array([1.0, 0.5, 0.3, 0.4]))
    rows = derived.formulas(*args).text_rows(["∂z"])
    assert rows[0] == "z₀ = z"
    assert rows[2].endswith("(t = 0, …, 19)")
    assert rows[-1] == "∂z = λ₀"
    assert derived.agreement(*args).recurrence < 1e-12


def test_the_rows_of_pairs_are_picked_once():
    def lennard_jones(X):
        energy = 0.0
        for i in range(len(X)):
            for j in range(i):
                s = 1 / np.sum((X[i] - X[j]) ** 2) ** 3
                energy = energy + 4 * (s**2 - s)
        return energy

    derived, X = sg.grad(lennard_jones), np.random.default_rng(0).normal(size=(4, 3))
    rows = derived.formulas(X).text_rows(["∂X"])
    assert rows[:2] == ["h = X[c]", "u = X[w]"]
    assert rows[-3:] == ["∂X = onehot(c)ᵀ z + onehot(w)ᵀ v", "c = [1, 2, 2, 3, 3, 3]", "w = [0, 0, 1, 0, 1, 2]"]
    assert derived.agreement(X).recurrence < 1e-12


def variances(w, a, b):
    r = np.sin(np.arange(20.0)) + 0.5
    s = [w / (1 - a - b)]
    for t in range(1, 20):
        s.append(w + a * r[t - 1] ** 2 + b * s[t - 1])
    s = np.array(s)
    return np.sum(np.log(s) + r**2 / s)


def test_an_array_of_all_that_a_carry_was_is_called_as_that():
    derived = sg.grad(variances, (0, 1, 2))
    made = str(derived.formulas(0.1, 0.1, 0.8)).split("\n")
    assert made[:5] == [
        "s₀ = w / (1 − a − b)",
        "sₜ₊₁ = w + azₜ + bsₜ   (t = 0, …, 18)",
        "λ₁₉ = 1 / s₁₉ − 0.422340387639305 / s₁₉²",
        "δₜ = λₜ₊₁ + where([t < 18], 1 / sₜ₊₁ − cₜ₊₁ / sₜ₊₁², 0)",
        "λₜ = bδₜ   (t = 18, …, 0)",
    ]
    assert made[5] == "∂f/∂w = (λ₀ + 1 / s₀ − 1 / (4s₀²)) / (1 − a − b) + Σₜ δₜ"
    assert derived.agreement(0.1, 0.1, 0.8).worst < 1e-12


def test_a_sequence_beside_its_first_value():
    """What is called y0 is no element of y."""

    def misfit(phi, y0, y):
        x = [y0]
        for _ in range(20):
            x.append(np.tanh(phi * x[-1]))
        return np.sum((np.array(x) - y) ** 2)

    args = (0.9, 0.5, np.linspace(0.5, 0.0, 21))
    derived = sg.grad(misfit, (0, 1, 2))
    assert str(derived.formulas(*args)).split("\n") == [
        "x₀ = y0",
        "xₜ₊₁ = tanh(phi·xₜ)   (t = 0, …, 19)",
        "λ₂₀ = 2*x₂₀ - 2*y[20]",
        "s[i] = Piecewise((2*x[i + 1] - 2*y[i + 1], i < 19), (0, True))",
        "λₜ = phi·(1 − xₜ₊₁²)(λₜ₊₁ + sₜ)   (t = 19, …, 0)",
        "∂f/∂phi = Σₜ xₜ(1 − xₜ₊₁²)(λₜ₊₁ + sₜ)",
        "∂f/∂y0 = λ₀ + 2*(x₀ - y[0])",
        "∂f/∂y = 2(y − x)",
    ]
    assert derived.agreement(*args).worst < 1e-12


def oscillator(x0, k, y):
    xs = [x0]
    for _ in range(20):
        x = xs[-1]
        xs.append(x + 0.1 * np.array([x[1], -k * x[0]]))
    return np.sum((np.array(xs)[:, 0] - y) ** 2)


def test_what_a_column_of_a_trajectory_is_compared_with_flows_back_in_each_step():
    args = (np.array([1.0, 0.5]), 2.0, np.cos(np.arange(21.0)))
    derived = sg.grad(oscillator, (0, 1))
    assert str(derived.formulas(*args)).split("\n") == [
        "x0ₜ₊₁ = x0ₜ + x1ₜ/10",
        "x1ₜ₊₁ = x1ₜ - k*x0ₜ/10   (t = 0, …, 19)",
        "λ0₂₀ = 2*x0₂₀ - 2*y20",
        "λ1₂₀ = 0",
        "δ0ₜ = λ0ₜ₊₁ + Piecewise((2*(x0ₜ₊₁ - yₜ₊₁), t < 19), (0, True))",
        "δ1ₜ = λ1ₜ₊₁",
        "λ0ₜ = δ0ₜ - k*δ1ₜ/10",
        "λ1ₜ = δ0ₜ/10 + δ1ₜ   (t = 19, …, 0)",
        "∂f/∂x0 = λ₀ + 2(x₀[0] − y[0])e₀",
        "∂f/∂k = Σₜ -x0ₜ*δ1ₜ/10",
    ]
    assert derived.agreement(*args).worst < 1e-12


@pytest.mark.parametrize("make", [lambda r: np.zeros(len(r)), np.zeros_like, np.empty_like])
def test_an_array_that_is_filled_is_one_of_the_functions_own(make):
    def fn(p, r):
        s = make(r)
        s[0] = np.var(r)
        for t in range(1, len(r)):
            s[t] = p[0] + p[1] * r[t - 1] ** 2 + p[2] * s[t - 1]
        return np.sum(np.log(s) + r**2 / s)

    args = (np.array([0.1, 0.1, 0.8]), np.sin(np.arange(20.0)))
    shown = str(sg.grad(fn).formulas(*args)).split("\n")
    assert shown[1] == "sₜ₊₁ = p0 + p1*rₜ**2 + p2*sₜ   (t = 0, …, 18)"
    assert shown[-1] == "∂f/∂p = Σₜ [δₜ, rₜ**2*δₜ, sₜ*δₜ]"


def test_an_entry_is_told_from_a_stage_of_that_name():
    def turning(w):
        inertia = np.array([1.0, 2.0, 3.0])
        for _ in range(10):
            k = np.cross(inertia * w, w) / inertia
            v = w + 0.01 * k
            k2 = np.cross(inertia * v, v) / inertia
            w = w + 0.02 * k2
        return np.sum(w)

    shown = str(sg.grad(turning).formulas(np.ones(3)))
    assert "kₜ[2] = r0ₜ*w1ₜ/3 - r1ₜ*w0ₜ/3" in shown
    assert "wₜ₊₁ = wₜ + 1/50 · k2ₜ" in shown


def test_masks_that_are_read_are_told_and_no_letter_means_two_things():
    def swapped(u0):
        a, b = u0.copy(), np.zeros_like(u0)
        for _ in range(5):
            b[1:-1] = 0.5 * (a[:-2] + a[2:])
            b[0] = a[0]
            a, b = b, a
        return a @ a

    shown = str(sg.grad(swapped).formulas(np.ones(6)))
    assert "c_0" not in shown
    assert shown.endswith("c = [True, False, False, False, False, False]")

    def noisy(t, e):
        s = total = 0.0
        for v in e:
            s = t[0] + t[1] * np.tanh(s) + v
            total = total + np.abs(s)
        return total

    assert "sᵣ₊₁ = eᵣ₊₁ + t0 + t1*tanh(sᵣ)" in str(sg.grad(noisy).formulas(np.ones(2), np.linspace(0.1, 0.9, 9)))


def test_windows_of_a_grid_are_told_by_their_places():
    def wave(u, c):
        v = np.zeros_like(u)
        for _ in range(10):
            lap = np.zeros_like(u)
            lap[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
            v = v + 0.1 * c * lap
            u = u + 0.1 * v
        return np.sum(u**2)

    made = str(sg.grad(wave).formulas(np.ones((6, 6)), 0.5))
    assert " at [2:6,1:5])   (t = 9, …, 0)" in made
    assert "assemble" not in made
    assert "slice" not in made


def test_one_entry_of_each_state_is_compared_with_data():
    def kinetics(k, y):
        x, out = np.array([1.0, 0.0]), []
        for _ in range(25):
            x = x + 0.1 * np.array([-k[0] * x[0], k[0] * x[0] - k[1] * x[1]])
            out.append(x[1])
        return np.sum((np.array(out) - y) ** 2)

    args = (np.array([0.5, 0.2]), np.sin(np.arange(25.0)))
    derived = sg.grad(kinetics)
    shown = str(derived.formulas(*args))
    assert "λ₂₄ = 2(x₂₄[1] − y[24])e₁" in shown
    assert "λ1ₜ = λ1ₜ₊₁*(1 - k1/10) + 2*(x1ₜ - yₜ)   (t = 23, …, 0)" in shown
    assert derived.agreement(*args).worst < 1e-12


def test_states_that_are_stacked_are_compared_row_by_row():
    def network(A, x, Y):
        xs = []
        for _ in range(15):
            x = np.tanh(A @ x)
            xs.append(x)
        return np.sum((np.stack(xs) - Y) ** 2)

    args = 0.9 * np.eye(2), np.ones(2), np.sin(np.arange(30.0)).reshape(15, 2)
    derived = sg.grad(network, (0, 1))
    assert str(derived.formulas(*args)).split("\n") == [
        "x₀ = x",
        "xₜ₊₁ = tanh(Axₜ)   (t = 0, …, 14)",
        "λ₁₅ = 2(x₁₅ − Y[14,:])",
        "δₜ = (1 − xₜ₊₁^⊙2) ⊙ (λₜ₊₁ + where([t < 14], 2(xₜ₊₁ − Yₜ), 0))",
        "λₜ = Aᵀδₜ   (t = 14, …, 0)",
        "∂f/∂A = Σₜ δₜxₜᵀ",
        "∂f/∂x = λ₀",
    ]
    assert derived.agreement(*args).worst < 1e-12


def test_states_that_are_rows_of_a_matrix():
    def states(A, x0):
        xs = np.zeros((15, 2))
        xs[0] = x0
        for t in range(1, 15):
            xs[t] = A @ xs[t - 1]
        return np.sum(xs**2)

    args = 0.9 * np.eye(2), np.ones(2)
    derived = sg.grad(states, (0, 1))
    assert str(derived.formulas(*args)).split("\n") == [
        "xs₀ = x0",
        "xsₜ₊₁ = A xsₜ   (t = 0, …, 13)",
        "λ₁₄ = 2 xs₁₄",
        "δₜ = λₜ₊₁ + where([t < 13], 2 xsₜ₊₁, 0)",
        "λₜ = Aᵀδₜ   (t = 13, …, 0)",
        "∂f/∂A = Σₜ δₜ xsₜᵀ",
        "∂f/∂x0 = 2 xs₀ + λ₀",
    ]
    assert derived.agreement(*args).worst < 1e-12


@pytest.mark.parametrize(
    "told",
    [
        lambda X, Xs: np.stack([X.T, *[Z.T for Z in Xs]]),
        lambda X, Xs: np.stack([X.T, *Xs[:-1], Xs[-1].T]),
        lambda X, Xs: np.array([X.sum(), *[Z.sum() for Z in Xs]])[:, None, None],
        lambda X, Xs: np.array([Xs[-1].reshape(-1)[1], Xs[-1].ravel()[2:].sum()])[:, None, None],
    ],
)
def test_what_is_made_of_states_is_no_array_of_them(told):
    """Turned or added up, they are other values of the same shape."""

    def fn(A, X):
        first, Xs = X, []
        for _ in range(12):
            X = np.tanh(A @ X)
            Xs.append(X)
        return np.sum((told(first, Xs) - np.arange(4.0).reshape(2, 2)) ** 2)

    A = np.array([[0.5, 0.2], [-0.3, 0.7]])
    assert sg.grad(fn, (0, 1)).agreement(A, A + 1.0).worst < 1e-12
