"""Algorithms on tables: dynamic programs, sorting, filters and counts, written cell by cell."""

import numpy as np
from collection import program


@program(np.array([100.0, 0.2, 0.05]), also=(np.array([80.0, 0.3, 0.01]),))
def binomial_tree(p, K=95.0, T=1.0, n=4):
    """Cox-Ross-Rubinstein, American put."""
    S, sigma, r = p
    dt = T / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    q = (np.exp(r * dt) - d) / (u - d)
    values = np.zeros(n + 1)
    for j in range(n + 1):
        values[j] = max(K - S * u**j * d ** (n - j), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = np.exp(-r * dt) * (q * values[j + 1] + (1 - q) * values[j])
            values[j] = max(hold, K - S * u**j * d ** (i - j))
    return values[0]


@program(
    np.array([0.6, 0.4]),
    np.array([[0.7, 0.3], [0.4, 0.6]]),
    np.array([[0.1, 0.9], [0.6, 0.4]]),
    [0, 1, 1, 0],
    wrt=(0, 1, 2),
    also=(np.array([0.5, 0.5]), np.eye(2) * 0.8 + 0.1, np.array([[0.2, 0.8], [0.5, 0.5]]), [1, 1, 0]),
)
def hmm_forward(pi, A, B, obs):
    T, N = len(obs), len(pi)
    alpha = np.zeros((T, N))
    alpha[0, :] = pi * B[:, obs[0]]
    for t in range(1, T):
        for j in range(N):
            alpha[t, j] = np.sum(alpha[t - 1] * A[:, j]) * B[j, obs[t]]
    return np.log(np.sum(alpha[-1]))


@program(np.array([0.1, 0.9, 0.4]), np.array([0.0, 0.8, 0.7, 0.3]), wrt=(0, 1))
def dtw(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


@program(np.array([1.0, 2.0, 3.0, 0.5]), np.array([0.2, 0.5, 0.3]), wrt=(0, 1))
def convolve_by_loops(x, h):
    y = np.zeros(len(x) + len(h) - 1)
    for i in range(len(x)):
        for j in range(len(h)):
            y[i + j] += x[i] * h[j]
    return y


@program(np.array([[1.0, 2.0, 0.3], [0.5, 0.1, 0.9], [1.5, 0.4, 0.8]]), np.array([[1.0, -1.0], [0.5, 2.0]]), wrt=(0, 1))
def conv2d(image, kernel):
    h, w = image.shape[0] - 1, image.shape[1] - 1
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            out[i, j] = np.sum(image[i : i + 2, j : j + 2] * kernel)
    return np.maximum(out, 0)


@program(np.array([3.0, 1.0, 2.0, 1.5]), also=(np.array([0.0, 1.0, 0.5, 1.5]),))
def bubble_sort(x):
    x = x.copy()
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x * np.arange(n)


@program(np.array([3.0, 1.0, 2.0, 1.5]), also=(np.array([0.0, 1.0, 0.5, 1.5]),))
def insertion_sort(values):
    a = np.array(values, dtype=float)
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a @ np.array([1.0, 0.5, 0.25, 0.125])


@program(np.array([3.0, 1.0, 2.0, 1.5]))
def running_average(x):
    avg = np.zeros(len(x))
    total = 0.0
    for i, v in enumerate(x):
        total += v
        avg[i] = total / (i + 1)
    return avg


@program(np.array([3.0, 1.0, 2.0, 1.5]), 0.4, wrt=(0, 1))
def exponential_smoothing(x, alpha):
    s = np.empty_like(x)
    s[0] = x[0]
    for t in range(1, len(x)):
        s[t] = alpha * x[t] + (1 - alpha) * s[t - 1]
    return s


@program(
    np.array([0.1, 0.7, 0.35, 0.9]),
    np.array([1.0, 2.0, 3.0, 4.0]),
    wrt=1,
    also=(np.array([0.9, 0.7, 0.35, 0.9]), np.array([1.0, 2.0, 3.0, 4.0])),
)
def weighted_histogram(x, w):
    counts = np.zeros(3)
    for xi, wi in zip(x, w):
        counts[int(xi * 3)] += wi**2
    return counts


@program(np.array([[0.5, 2.0, 5.0], [2.0, 0.5, 1.0], [5.0, 1.0, 0.5]]))
def floyd_warshall(W):
    D = np.array(W)
    n = len(D)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i, k] + D[k, j] < D[i, j]:
                    D[i, j] = D[i, k] + D[k, j]
    return D
