"""Derivatives as textbooks print them: what is derived, at which arguments, and the textbook's formula.

The formulas are in LaTeX, in the names of the code; how long they are is what a shown formula is compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import symgrad as sg

RNG = np.random.default_rng(5)


@dataclass(frozen=True)
class Derivative:
    """``derived`` at ``args``, and each of its results as a textbook has it."""

    field: str
    derived: Any
    args: tuple[Any, ...]
    textbook: tuple[str, ...]


BOOK: dict[str, Derivative] = {}


def derivative(
    field: str, name: str, fn: Callable, args: tuple, *textbook: str, by: Any = 0, of: Any = sg.grad
) -> None:
    BOOK[name] = Derivative(field, of(fn, by), args, textbook)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def positive(*shape: int) -> np.ndarray:
    return RNG.uniform(0.2, 0.9, shape)


def definite(n: int) -> np.ndarray:
    a = normal(n, n)
    return a @ a.T + n * np.eye(n)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / np.sum(e)


# calculus of one variable

derivative("calculus", "power", lambda x: x**5, (2.0,), "5x^{4}")
derivative("calculus", "product", lambda x: x * np.sin(x), (2.0,), r"\sin(x) + x\cos(x)")
derivative("calculus", "quotient", lambda x: np.sin(x) / x, (2.0,), r"\frac{x\cos(x) - \sin(x)}{x^{2}}")
derivative("calculus", "chain", lambda x: np.exp(-(x**2)), (2.0,), r"-2xe^{-x^{2}}")
derivative("calculus", "logarithm of cosine", lambda x: np.log(np.cos(x)), (0.5,), r"-\tan(x)")
derivative("calculus", "logarithm of cosh", lambda x: np.log(np.cosh(x)), (0.5,), r"\tanh(x)")
derivative("calculus", "tanh", np.tanh, (0.5,), r"1 - \tanh^{2}(x)")
derivative("calculus", "arctangent", np.arctan, (0.5,), r"\frac{1}{1 + x^{2}}")
derivative("calculus", "root", lambda x: np.sqrt(1 + x**2), (0.5,), r"\frac{x}{\sqrt{1 + x^{2}}}")
derivative("calculus", "x to the x", lambda x: x**x, (0.5,), r"x^{x}(1 + \log(x))")
derivative("calculus", "logistic", lambda x: 1 / (1 + np.exp(-x)), (0.5,), r"\sigma(x)(1 - \sigma(x))")
derivative("calculus", "rational", lambda x: (1 - x) / (1 + x), (0.5,), r"-\frac{2}{(1 + x)^{2}}")

# matrix calculus

derivative("matrices", "square", lambda w: np.sum(w**2), (normal(10),), "2w")
derivative("matrices", "square in the plane", lambda w: np.sum(w**2), (normal(2),), "2w")
derivative("matrices", "linear", lambda x, a: a @ x, (normal(3), normal(3)), "a")
derivative("matrices", "quadratic form", lambda x, A: x @ A @ x, (normal(3), normal(3, 3)), r"(A + A^{\top})x")
derivative(
    "matrices", "quadratic form in the plane", lambda x, A: x @ A @ x, (normal(2), normal(2, 2)), r"(A + A^{\top})x"
)
derivative("matrices", "norm", lambda x: np.sqrt(np.sum(x**2)), (normal(4),), r"\frac{x}{\|x\|}")
derivative("matrices", "trace of a product", lambda X, A: np.trace(A @ X), (normal(3, 3), normal(3, 3)), r"A^{\top}")
derivative("matrices", "trace of a square", lambda X: np.trace(X.T @ X), (normal(4, 3),), "2X")
derivative("matrices", "determinant", lambda A: np.linalg.det(A), (definite(4),), r"\det(A)A^{-\top}")
derivative("matrices", "log determinant", lambda A: np.log(np.linalg.det(A)), (definite(4),), r"A^{-\top}")
derivative("matrices", "log determinant by slogdet", lambda A: np.linalg.slogdet(A)[1], (definite(4),), r"A^{-\top}")
derivative("matrices", "bilinear", lambda X, a, b: a @ X @ b, (normal(3, 4), normal(3), normal(4)), r"ab^{\top}")
derivative(
    "matrices",
    "inverse form",
    lambda A, b: b @ np.linalg.inv(A) @ b,
    (definite(4), normal(4)),
    r"-A^{-\top}bb^{\top}A^{-\top}",
)
derivative(
    "matrices", "Frobenius distance", lambda A, B: np.sum((A - B) ** 2) / 2, (normal(3, 4), normal(3, 4)), "A - B"
)
derivative(
    "matrices",
    "Rayleigh quotient",
    lambda x, A: (x @ A @ x) / (x @ x),
    (normal(4), definite(4)),
    r"\frac{(A + A^{\top})x}{\|x\|^{2}} - \frac{2x^{\top}Ax}{\|x\|^{4}}x",
)
derivative(
    "matrices",
    "Hessian of a quadratic form",
    lambda x, A: x @ A @ x,
    (normal(4), normal(4, 4)),
    r"A + A^{\top}",
    of=sg.hessian,
)
derivative("matrices", "linear map", lambda x, A: A @ x, (normal(4), normal(3, 4)), "A", of=sg.jacobian)

# statistics and machine learning

derivative(
    "learning",
    "least squares",
    lambda w, X, y: np.sum((X @ w - y) ** 2) / 2,
    (normal(3), normal(20, 3), normal(20)),
    r"X^{\top}(Xw - y)",
)
derivative(
    "learning",
    "mean square error",
    lambda w, X, y: np.mean((X @ w - y) ** 2),
    (normal(3), normal(20, 3), normal(20)),
    r"\frac{1}{10}X^{\top}(Xw - y)",
)
derivative(
    "learning",
    "ridge",
    lambda w, X, y, lam: np.sum((y - X @ w) ** 2) + lam * np.sum(w**2),
    (normal(3), normal(20, 3), normal(20), 0.1),
    r"2X^{\top}(Xw - y) + 2\lambda w",
)
derivative(
    "learning",
    "Hessian of least squares",
    lambda w, X, y: np.sum((X @ w - y) ** 2) / 2,
    (normal(3), normal(20, 3), normal(20)),
    r"X^{\top}X",
    of=sg.hessian,
)
derivative(
    "learning",
    "logistic loss",
    lambda w, X, y: np.sum(np.log1p(np.exp(X @ w)) - y * (X @ w)),
    (normal(3), normal(20, 3), positive(20)),
    r"X^{\top}(\sigma(Xw) - y)",
)


_SOFTMAX = r",\quad p = \operatorname{softmax}(z)"


def cross_entropy(z, y):
    p = sigmoid(z)
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


derivative("learning", "cross entropy by its probabilities", cross_entropy, (normal(6), positive(6)), r"\sigma(z) - y")
derivative(
    "learning",
    "logistic regression by its probabilities",
    lambda w, b, X, y: cross_entropy(X @ w + b, y) / 20,
    (normal(3), 0.3, normal(20, 3), positive(20)),
    r"\frac{1}{20}X^{\top}(p - y),\quad p = \sigma(Xw + b)",
)
derivative(
    "learning",
    "cross entropy by labels",
    lambda z, y: -np.mean(np.log(np.exp(z) / np.exp(z).sum(axis=1, keepdims=True))[np.arange(len(y)), y]),
    (normal(10, 4), np.arange(10) % 4),
    r"\frac{1}{10}(\operatorname{softmax}(z,\; \text{axis} = 1) - \operatorname{onehot}(y))",
)
derivative(
    "learning",
    "matrix factorisation",
    lambda U, V, i, j, r: 0.5 * np.sum((np.sum(U[i] * V[j], axis=1) - r) ** 2),
    (normal(4, 2), normal(5, 2), np.arange(8) % 4, np.arange(8) % 5, normal(8)),
    r"A^{\top}\operatorname{diag}((AU \odot BV)\mathbf{1} - r)BV,"
    r"\quad A = \operatorname{onehot}(i),\quad B = \operatorname{onehot}(j)",
)
derivative("learning", "cross entropy of one", cross_entropy, (0.3, 1.0), r"\sigma(z) - y")
derivative(
    "learning",
    "softmax",
    lambda z: softmax(z),
    (normal(5),),
    r"\operatorname{diag}(p) - pp^{\top}" + _SOFTMAX,
    of=sg.jacobian,
)
derivative(
    "learning",
    "softmax cross entropy",
    lambda z, y: -np.sum(y * np.log(softmax(z))),
    (normal(5), positive(5)),
    r"\operatorname{softmax}(z)\sum_{i}y_{i} - y",
)
derivative("learning", "log-sum-exp", lambda z: np.log(np.sum(np.exp(z))), (normal(5),), r"\operatorname{softmax}(z)")
derivative(
    "learning",
    "Hessian of log-sum-exp",
    lambda z: np.log(np.sum(np.exp(z))),
    (normal(5),),
    r"\operatorname{diag}(p) - pp^{\top}" + _SOFTMAX,
    of=sg.hessian,
)
derivative("learning", "softplus", lambda x: np.log(1 + np.exp(x)), (0.4,), r"\sigma(x)")
derivative("learning", "rectifier", lambda x: np.maximum(x, 0.0), (0.4,), r"[x > 0]")
derivative("learning", "swish", lambda x: x * sigmoid(x), (0.4,), r"\sigma(x)(1 + x(1 - \sigma(x)))")
derivative(
    "learning",
    "hidden layer",
    lambda W, x, b, v: v @ np.tanh(W @ x + b),
    (normal(4, 3), normal(3), normal(4), normal(4)),
    r"\left(v \odot (1 - \tanh^{2}(Wx + b))\right)x^{\top}",
)
derivative(
    "statistics",
    "Gaussian log-likelihood by its mean",
    lambda mu, x, sigma: np.sum(-((x - mu) ** 2) / (2 * sigma**2) - np.log(sigma)),
    (0.3, normal(20), 0.7),
    r"\frac{1}{\sigma^{2}}\sum_{i}(x_{i} - \mu)",
)
derivative(
    "statistics",
    "Gaussian log-likelihood by its deviation",
    lambda sigma, x, mu: np.sum(-((x - mu) ** 2) / (2 * sigma**2) - np.log(sigma)),
    (0.7, normal(20), 0.3),
    r"\frac{1}{\sigma^{3}}\sum_{i}(x_{i} - \mu)^{2} - \frac{20}{\sigma}",
)
derivative(
    "statistics",
    "multivariate normal by its mean",
    lambda mu, x, S: -0.5 * (x - mu) @ np.linalg.inv(S) @ (x - mu),
    (normal(3), normal(3), definite(3)),
    r"\frac{1}{2}(S^{-1} + S^{-\top})(x - \mu)",
)
derivative(
    "statistics",
    "Poisson regression",
    lambda w, X, y: np.sum(np.exp(X @ w) - y * (X @ w)),
    (normal(3), normal(20, 3), positive(20)),
    r"X^{\top}(e^{Xw} - y)",
)
derivative(
    "statistics",
    "binomial log-likelihood",
    lambda p, k, n: k * np.log(p) + (n - k) * np.log(1 - p),
    (0.3, 4.0, 10.0),
    r"\frac{k}{p} - \frac{n - k}{1 - p}",
)
derivative(
    "statistics",
    "exponential log-likelihood",
    lambda lam, x: np.sum(np.log(lam) - lam * x),
    (0.3, positive(20)),
    r"\frac{20}{\lambda} - \sum_{i}x_{i}",
)
derivative(
    "statistics",
    "a mean for each group",
    lambda a, g, y: 0.5 * np.sum((y - a[g]) ** 2),
    (normal(3), np.arange(8) % 3, normal(8)),
    r"G^{\top}(Ga - y),\quad G = \operatorname{onehot}(g)",
)
derivative(
    "statistics",
    "Bradley and Terry",
    lambda s, w, v: -np.sum(np.log(sigmoid(s[w] - s[v]))),
    (normal(4), np.array([1, 2, 0]), np.array([3, 0, 1])),
    r"D^{\top}\sigma(Ds),\quad D = \operatorname{onehot}(v) - \operatorname{onehot}(w)",
)
derivative("statistics", "entropy", lambda p: -np.sum(p * np.log(p)), (positive(5),), r"-\log(p) - 1")
derivative(
    "statistics",
    "Kullback and Leibler",
    lambda p, q: np.sum(p * np.log(p / q)),
    (positive(5), positive(5)),
    r"\log(p \oslash q) + 1",
)


def gaussian_process(h, s, X, y):
    D = (X[:, None] - X[None, :]) ** 2
    K = np.exp(-D / (2 * h**2)) + s**2 * np.eye(len(X))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ a + np.sum(np.log(np.diag(L)))


derivative(
    "statistics",
    "Gaussian process",
    gaussian_process,
    (1.3, 0.4, np.arange(5.0), normal(5)),
    r"\frac{1}{2} \operatorname{tr}\left((K^{-1} - a a^{\top}) (K - s^{2} I) \odot \frac{D}{h^{3}}\right), "
    r"K = \exp\left(-\frac{D}{2 h^{2}}\right) + s^{2} I, D_{ij} = (X_{i} - X_{j})^{2}, a = K^{-1} y",
    r"s \operatorname{tr}\left(K^{-1} - a a^{\top}\right)",
    by=(0, 1),
)
derivative("statistics", "variance", lambda x: np.var(x), (normal(10),), r"\frac{1}{5}(x - \bar{x}\mathbf{1})")

# physics

derivative("physics", "harmonic energy", lambda x, k: k * x**2 / 2, (0.3, 2.0), "kx")
derivative("physics", "gravity", lambda r, G, m, M: -G * m * M / r, (2.0, 1.0, 1.0, 1.0), r"\frac{GMm}{r^{2}}")
derivative("physics", "gravity in space", lambda x: -1 / np.sqrt(x @ x), (normal(3),), r"\frac{x}{\|x\|^{3}}")
derivative(
    "physics",
    "Lennard-Jones",
    lambda r, eps, sigma: 4 * eps * ((sigma / r) ** 12 - (sigma / r) ** 6),
    (1.5, 0.3, 1.0),
    r"4\epsilon\left(\frac{6\sigma^{6}}{r^{7}} - \frac{12\sigma^{12}}{r^{13}}\right)",
)
derivative(
    "physics",
    "Morse",
    lambda r, D, a, r0: D * (1 - np.exp(-a * (r - r0))) ** 2,
    (1.5, 0.3, 1.0, 1.0),
    r"2Dae^{-a(r - r_{0})}\left(1 - e^{-a(r - r_{0})}\right)",
)
derivative(
    "physics",
    "pendulum",
    lambda theta, m, g, length: -m * g * length * np.cos(theta),
    (0.4, 1.0, 9.81, 2.0),
    r"gm\mathit{length}\sin(\theta)",
)
derivative(
    "physics",
    "relativistic energy",
    lambda p, m, c: np.sqrt((p * c) ** 2 + (m * c**2) ** 2),
    (0.4, 1.0, 3.0),
    r"\frac{c^{2}p}{\sqrt{c^{2}p^{2} + c^{4}m^{2}}}",
)
derivative(
    "physics",
    "Planck",
    lambda T, E, k: 1 / (np.exp(E / (k * T)) - 1),
    (1.4, 1.0, 1.0),
    r"\frac{Ee^{\frac{E}{kT}}}{kT^{2}\left(e^{\frac{E}{kT}} - 1\right)^{2}}",
)

# finance


def black_scholes(S, K, T, r, sigma):
    from scipy.special import ndtr

    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return S * ndtr(d1) - K * np.exp(-r * T) * ndtr(d2)


_OPTION = (100.0, 95.0, 0.5, 0.02, 0.3)
_D1 = r",\quad d_{1} = \frac{\log(\frac{S}{K}) + (r + \frac{\sigma^{2}}{2})T}{\sigma\sqrt{T}}"
_D2 = _D1 + r",\quad d_{2} = d_{1} - \sigma\sqrt{T}"
derivative("finance", "delta", black_scholes, _OPTION, r"\Phi(d_{1})" + _D1)
derivative("finance", "vega", black_scholes, _OPTION, r"S\sqrt{T}\phi(d_{1})" + _D1, by=4)
derivative("finance", "rho", black_scholes, _OPTION, r"KTe^{-rT}\Phi(d_{2})" + _D2, by=3)
derivative(
    "finance",
    "by the time to expiry",
    black_scholes,
    _OPTION,
    r"\frac{S\sigma\phi(d_{1})}{2\sqrt{T}} + rKe^{-rT}\Phi(d_{2})" + _D2,
    by=2,
)
derivative(
    "finance",
    "price of a bond by its yield",
    lambda y, c, t: np.sum(c * np.exp(-y * t)),
    (0.03, positive(6), positive(6)),
    r"-\sum_{i}c_{i}t_{i}e^{-yt_{i}}",
)
derivative("finance", "portfolio variance", lambda w, S: w @ S @ w, (normal(5), definite(5)), r"(S + S^{\top})w")
derivative(
    "finance",
    "Sharpe ratio",
    lambda w, mu, S: (mu @ w) / np.sqrt(w @ S @ w),
    (positive(4), positive(4), definite(4)),
    r"\frac{\mu}{\sqrt{w^{\top}Sw}} - \frac{\mu^{\top}w}{2(w^{\top}Sw)^{\frac{3}{2}}}(S + S^{\top})w",
)

# robotics and control


def arm(q):
    return np.array([np.cos(q[0]) + np.cos(q[0] + q[1]), np.sin(q[0]) + np.sin(q[0] + q[1])])


derivative(
    "robotics",
    "two-link arm",
    arm,
    (np.array([0.3, 0.5]),),
    r"\begin{bmatrix}-\sin(q_{1}) - \sin(q_{1} + q_{2}) & -\sin(q_{1} + q_{2})\\ "
    r"\cos(q_{1}) + \cos(q_{1} + q_{2}) & \cos(q_{1} + q_{2})\end{bmatrix}",
    of=sg.jacobian,
)
derivative(
    "robotics",
    "polar coordinates",
    lambda p: np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])]),
    (np.array([1.3, 0.5]),),
    r"\begin{bmatrix}\cos(p_{2}) & -p_{1}\sin(p_{2})\\ \sin(p_{2}) & p_{1}\cos(p_{2})\end{bmatrix}",
    of=sg.jacobian,
)
derivative(
    "robotics",
    "range and bearing",
    lambda x, y: [np.hypot(x, y), np.arctan2(y, x)],
    (0.3, 0.5),
    r"\frac{x}{\sqrt{x^{2} + y^{2}}}",
    r"-\frac{y}{x^{2} + y^{2}}",
    of=sg.jacobian,
)
derivative(
    "control",
    "quadratic cost",
    lambda u, x, Q, R, B: (x + B @ u) @ Q @ (x + B @ u) + u @ R @ u,
    (normal(2), normal(3), definite(3), definite(2), normal(3, 2)),
    r"B^{\top}(Q + Q^{\top})(x + Bu) + (R + R^{\top})u",
)
derivative(
    "control",
    "linear dynamics",
    lambda x, u, A, B: A @ x + B @ u,
    (normal(3), normal(2), normal(3, 3), normal(3, 2)),
    "A",
    of=sg.jacobian,
)
