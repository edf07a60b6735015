"""Loops as textbooks have them, with examples of their arguments."""

import numpy as np

from symgrad import fori_loop, scan

RNG = np.random.default_rng(7)
#: many steps, which nobody writes out
STEPS = 200


def rnn(W, U, b, h, x, y):
    def step(h, example):
        x, y = example
        h = np.tanh(h @ W + x @ U + b)
        return h, np.sum((h - y) ** 2)

    _, losses = scan(step, h, (x, y))
    return np.sum(losses)


def euler(theta, u):
    """Lotka and Volterra's predators and prey, by explicit Euler; how far they are from (1, 2) in the end."""

    def step(u, _):
        prey, predators = u
        du = np.stack(
            [theta[0] * prey - theta[1] * prey * predators, theta[2] * prey * predators - theta[3] * predators]
        )
        return u + 0.01 * du, None

    u, _ = scan(step, u, length=STEPS)
    return np.sum((u - np.array([1.0, 2.0])) ** 2)


def pendulums(k, u):
    """Many damped oscillators, each by explicit Euler, with a stiffness of its own."""

    def step(state, _):
        u, v = state
        return (u + 0.01 * v, v - 0.01 * (k * np.sin(u) + 0.1 * v)), None

    (u, v), _ = scan(step, (u, np.zeros_like(u)), length=STEPS)
    return np.sum(u**2 + v**2)


def newton(a):
    """The root of x³ + x = a."""

    def f(x):
        return x**3 + x - a

    def slope(x):
        return 3 * x**2 + 1

    return fori_loop(0, 20, lambda i, x: x - f(x) / slope(x), 1.0)


def heron(a):
    return fori_loop(0, 8, lambda i, x: x - (x**2 - a) / (2 * x), a)


def kalman(F, H, Q, R, m, P, y):
    """The log likelihood of observations."""

    def step(state, y):
        m, P = state
        m_p = F @ m
        P_p = F @ P @ F.T + Q
        e = y - H @ m_p
        S = H @ P_p @ H.T + R
        K = P_p @ H.T @ np.linalg.inv(S)
        likelihood = -0.5 * (e @ np.linalg.solve(S, e) + np.linalg.slogdet(S)[1])
        return (m_p + K @ e, P_p - K @ H @ P_p), likelihood

    _, likelihoods = scan(step, (m, P), y)
    return np.sum(likelihoods)


def _spd(n, scale=1.0):
    made = RNG.normal(size=(n, n))
    return scale * (made @ made.T / n + np.eye(n))


#: by name: the function, what it is differentiated by, and examples of its arguments
CASES = {
    "rnn": (
        rnn,
        (0, 1, 2, 3, 4),
        (
            0.4 * RNG.normal(size=(4, 4)),
            RNG.normal(size=(3, 4)),
            RNG.normal(size=4),
            np.zeros(4),
            RNG.normal(size=(STEPS, 3)),
            RNG.normal(size=(STEPS, 4)),
        ),
    ),
    "euler": (euler, (0,), (np.array([1.0, 0.5, 0.3, 0.8]), np.array([1.5, 1.0]))),
    "pendulums": (pendulums, (0,), (1.0 + RNG.random(5), RNG.normal(size=5))),
    "newton": (newton, (0,), (3.0,)),
    "heron": (heron, (0,), (2.0,)),
    "kalman": (
        kalman,
        (0, 3),
        (
            np.array([[1.0, 0.1], [-0.1, 0.9]]),
            np.array([[1.0, 0.0], [0.5, 1.0]]),
            _spd(2, 0.1),
            _spd(2, 0.5),
            np.zeros(2),
            _spd(2),
            RNG.normal(size=(50, 2)),
        ),
    ),
}
