"""Long loops: those of which steps are left out, of functions of a vector, a matrix and rows."""

import numpy as np

N = 400
_rng = np.random.default_rng(0)
A = np.linalg.qr(_rng.normal(size=(3, 3)))[0] * 1.02
H = _rng.normal(size=3)
XS = _rng.normal(size=(N, 3)) * 0.3
WIDTH = A * 0.5


def step(h, x):
    return np.tanh(WIDTH @ h + x)


def halved(h, factor=0.9):
    made = factor * h
    return made, made.sum()


def runge_kutta(f, y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    return y + h / 6 * (k1 + 4 * k2 + k3)


def oscillator(y):
    return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])


class Cell:
    gain = 0.9

    def __init__(self):
        self.matrix = A

    def advance(self, h, x):
        return np.sin(self.matrix @ h) * self.gain + x


CELL = Cell()


def by_place(h, a, xs):
    for t in range(len(xs)):
        h = np.sin(a @ h + xs[t])
    return h.sum()


def rows(h, a, xs):
    for x in xs:
        h = np.sin(a @ h + x)
    return h.sum()


def before_and_sum(h, a, xs):
    total = 0.0
    for t in range(1, N):
        h = np.sin(a @ h + xs[t - 1])
        total += (h**2).sum() * xs[t, 0]
    return total


def backwards(h, a, xs):
    n = len(xs)
    for t in range(n):
        h = np.sin(a @ h + xs[n - 1 - t])
    return h.sum()


def down(h, a, xs):
    for t in range(N - 1, -1, -1):
        h = np.sin(a @ h + xs[t])
    return h.sum()


def every_other(h, a, xs):
    for t in range(0, N, 2):
        h = np.sin(a @ h + xs[t])
    return h.sum()


def two_back(h, a, xs):
    u, v = h, h * 2
    for t in range(2, N):
        u, v = v, np.sin(a @ u + 0.1 * v) + xs[t - 2]
    return (u * v).sum()


def by_function(h, a, xs):
    for t in range(N):
        h = step(h, xs[t])
    return h.sum()


def by_method(h, a, xs):
    for t in range(N):
        h = CELL.advance(h, xs[t])
    return h.sum()


def by_lambda(h, a, xs):
    f = lambda h: np.cos(a @ h)  # noqa: E731
    for _ in range(N):
        h = f(h)
    return h.sum()


def by_members(h, a, xs):
    given = {"a": a, "more": [1, a]}
    for t in range(N):
        h = np.sin(given["a"] @ h + given["more"][1] @ xs[t])
    return h.sum()


def of_two_results(h, a, xs):
    total = 0.0
    for _ in range(N):
        h, part = halved(h)
        total = total + part
    return total


def of_a_function_of_a_function(h, a, xs):
    for _ in range(N):
        h = runge_kutta(oscillator, h[:2], 0.01)
    return h.sum()


def updated(h, a, xs):
    x = h
    for _ in range(N):
        x += 0.01 * np.sin(a @ x)
    return (x * h).sum()


def constant_inside(h, a, xs):
    for t in range(N):
        rate = 0.5
        h = np.sin(a @ h + rate * xs[t])
    return h.sum()


def kalman(h, a, xs):
    p, m, likelihood = np.eye(3), h, 0.0
    for t in range(N):
        m, p = a @ m, a @ p @ a.T + 0.1 * np.eye(3)
        s = p[0, 0] + 0.5
        gain, v = p[:, 0] / s, xs[t, 0] - m[0]
        m, p = m + gain * v, p - np.outer(gain, p[0])
        likelihood = likelihood - 0.5 * (np.log(s) + v**2 / s)
    return likelihood


def inside_of_others(h, a, xs):
    for i in range(3):
        for t in range(N // 4):
            h = np.sin(a @ h + xs[t])
        h = h * xs[i]
    return h.sum()


def one_after_the_other(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    for t in range(N):
        h = np.cos(h - xs[t]) + 0.5 * h
    return h.sum()


def number_of_the_last(h, a, xs):
    for t in range(N):
        h = np.sin(a @ h + xs[t])
    return (h * t).sum()


def stale_view(h, a, xs):
    m = np.sin(np.array([h[0], h[1], h[2], h[0]])).reshape(2, 2)
    for t in range(N):
        v = m.T.reshape(-1)
        w = v * 2
        m *= 0.99
        h = np.sin(a @ h + w[0] + xs[t])
    return h.sum()
