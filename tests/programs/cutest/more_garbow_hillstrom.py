"""Sums of squares of Moré, Garbow and Hillstrom, and of Lukšan: residuals are put into a vector, one by one."""

import math

import numpy as np
from collection import program


@program(np.array([-1.2, 1.0]))
def rosenbrock(x):
    f = np.zeros(2)
    f[0] = 10 * (x[1] - x[0] ** 2)
    f[1] = 1 - x[0]
    return f @ f


@program(np.array([0.5, -2.0]))
def freudenstein_roth(x):
    f = np.zeros(2)
    f[0] = -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1]
    f[1] = -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]
    return np.sum(f**2)


@program(np.array([0.3, 0.8]))
def powell_badly_scaled(x):
    f = np.zeros(2)
    f[0] = 1e1 * x[0] * x[1] - 1
    f[1] = math.exp(-x[0]) + math.exp(-x[1]) - 1.0001
    return np.dot(f, f)


@program(np.array([1.0, 1.2]))
def brown_badly_scaled(x):
    f = np.zeros(3)
    f[0] = x[0] - 10
    f[1] = x[1] - 2e-2
    f[2] = x[0] * x[1] - 2
    return np.dot(f, f)


@program(np.array([1.0, 0.6]))
def beale(x):
    y = (1.5, 2.25, 2.625)
    f = np.empty(3)
    for i in range(3):
        f[i] = y[i] - x[0] * (1 - x[1] ** (i + 1))
    return sum(f**2)


@program(np.array([0.3, 0.4]))
def jennrich_sampson(x):
    f = np.zeros(5)
    for i in range(1, 6):
        f[i - 1] = 2 + 2 * i - (math.exp(i * x[0]) + math.exp(i * x[1]))
    return f.dot(f)


@program(np.array([-1.0, 0.5, 0.2]), also=(np.array([1.0, 0.5, 0.2]),))
def helical_valley(x):
    if x[0] > 0:
        th = math.atan(x[1] / x[0]) / (2 * math.pi)
    else:
        th = math.atan(x[1] / x[0]) / (2 * math.pi) + 0.5
    f = np.zeros(3)
    f[0] = 10 * (x[2] - 10 * th)
    f[1] = 10 * (math.sqrt(x[0] ** 2 + x[1] ** 2) - 1)
    f[2] = x[2]
    return f.dot(f)


@program(np.array([1.0, 1.0, 1.5]))
def bard(x):
    y = [0.14, 0.18, 0.22, 0.25, 0.29]
    f = np.zeros(len(y))
    for i in range(len(y)):
        u = i + 1.0
        v = 16 - u
        w = min(u, v)
        f[i] = y[i] - (x[0] + u / (v * x[1] + w * x[2]))
    return f @ f


@program(np.array([0.4, 1.0, 0.1]))
def gaussian(x):
    y = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295]
    f = np.zeros(5)
    for i in range(5):
        t = (7 - i) / 2
        f[i] = x[0] * math.exp(-x[1] * (t - x[2]) ** 2 / 2) - y[i]
    return np.sum(f * f)


@program(np.array([0.2, 0.4, 0.25]))
def meyer(x):
    y = (3.478, 2.861, 2.365, 1.963)
    f = np.zeros(4)
    for i in range(4):
        t = 0.45 + 0.05 * i
        f[i] = x[0] * math.exp(x[1] / (t + x[2])) - y[i]
    return f @ f


@program(np.array([5.0, 2.5, 0.15]))
def gulf(x):
    m = 5
    f = np.zeros(m)
    for i in range(m):
        t = (i + 1) / 100
        y = 25 + (-50 * math.log(t)) ** (2 / 3)
        f[i] = math.exp(-(abs(y * x[1] / 20) ** x[2]) / x[0]) - t
    return np.sum(f**2)


@program(np.array([0.5, 5.0, 2.0]))
def box_three_dimensional(x):
    f = np.zeros(4)
    for i in range(4):
        t = 0.1 * (i + 1)
        f[i] = math.exp(-t * x[0]) - math.exp(-t * x[1]) - x[2] * (math.exp(-t) - math.exp(-10 * t))
    return f @ f


@program(np.array([3.0, -1.0, 0.5, 1.0]))
def powell_singular(x):
    f = np.zeros(4)
    f[0] = x[0] + 10 * x[1]
    f[1] = math.sqrt(5) * (x[2] - x[3])
    f[2] = (x[1] - 2 * x[2]) ** 2
    f[3] = math.sqrt(10) * (x[0] - x[3]) ** 2
    return f @ f


@program(np.array([-3.0, -1.0, -3.0, -1.0]))
def wood(x):
    f = np.zeros(6)
    f[0] = 10 * (x[1] - x[0] ** 2)
    f[1] = 1 - x[0]
    f[2] = math.sqrt(90) * (x[3] - x[2] ** 2)
    f[3] = 1 - x[2]
    f[4] = math.sqrt(10) * (x[1] + x[3] - 2)
    f[5] = (x[1] - x[3]) / math.sqrt(10)
    return f @ f


@program(np.array([0.25, 0.39, 0.415, 0.39]))
def kowalik_osborne(x):
    y = np.array([0.1957, 0.1947, 0.1735, 0.1600])
    u = np.array([4.0, 2.0, 1.0, 0.5])
    f = np.zeros_like(y)
    for i in range(4):
        f[i] = y[i] - x[0] * (u[i] ** 2 + u[i] * x[1]) / (u[i] ** 2 + u[i] * x[2] + x[3])
    return f @ f


@program(np.array([2.5, 0.5, -0.5, -0.1]))
def brown_dennis(x):
    f = np.zeros(5)
    for i in range(5):
        t = (i + 1) / 5
        f[i] = (x[0] + t * x[1] - math.exp(t)) ** 2 + (x[2] + x[3] * math.sin(t) - math.cos(t)) ** 2
    return f @ f


@program(np.array([0.5, 1.5, -1.0, 0.1, 0.2]))
def osborne_1(x):
    y = [0.844, 0.908, 0.932, 0.936]
    f = np.zeros(4)
    for i in range(4):
        t = 1.0 * i
        f[i] = y[i] - (x[0] + x[1] * math.exp(-t * x[3]) + x[2] * math.exp(-t * x[4]))
    return f @ f


@program(np.array([1.0, 2.0, 1.0, 1.0, 4.0, 3.0]))
def biggs_exp6(x):
    f = np.zeros(5)
    for i in range(5):
        t = 0.1 * (i + 1)
        y = math.exp(-t) - 5 * math.exp(-10 * t) + 3 * math.exp(-4 * t)
        f[i] = x[2] * math.exp(-t * x[0]) - x[3] * math.exp(-t * x[1]) + x[5] * math.exp(-t * x[4]) - y
    return f @ f


@program(np.array([1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5]))
def osborne_2(x):
    y = (1.366, 1.191, 1.112)
    f = np.zeros(3)
    for i in range(3):
        t = i / 1.5
        f[i] = x[0] * math.exp(-t * x[4])
        for k in range(1, 4):
            f[i] += x[k] * math.exp(-((t - x[7 + k]) ** 2) * x[4 + k] / 10)
        f[i] -= y[i]
    return f @ f


@program(np.array([0.1, 0.2, 0.3, -0.1]))
def watson(x):
    f = np.zeros(6)
    for i in range(4):
        t = (i + 1) / 29
        s1 = 0.0
        for j in range(1, len(x)):
            s1 += j * x[j] * t ** (j - 1)
        s2 = 0.0
        for j in range(len(x)):
            s2 += x[j] * t**j
        f[i] = s1 - s2**2 - 1
    f[4] = x[0]
    f[5] = x[1] - x[0] ** 2 - 1
    return f @ f


@program(np.array([-1.2, 1.0, -1.2, 1.0]))
def extended_rosenbrock(x):
    n = len(x)
    f = np.zeros(n)
    for i in range(0, n, 2):
        f[i] = 10 * (x[i + 1] - x[i] ** 2)
        f[i + 1] = 1 - x[i]
    return f @ f


@program(np.array([3.0, -1.0, 0.5, 1.0]))
def extended_powell(x):
    f = np.zeros(len(x))
    for i in range(0, len(x), 4):
        f[i : i + 4] = [
            x[i] + 10 * x[i + 1],
            5**0.5 * (x[i + 2] - x[i + 3]),
            (x[i + 1] - 2 * x[i + 2]) ** 2,
            10**0.5 * (x[i] - x[i + 3]) ** 2,
        ]
    return f @ f


@program(np.array([1.0, 2.0, 3.0]))
def penalty_1(x):
    n = len(x)
    f = np.zeros(n + 1)
    for i in range(n):
        f[i] = math.sqrt(1e-5) * (x[i] - 1)
    for j in range(n):
        f[n] = f[n] + x[j] ** 2
    f[n] = f[n] - 0.25
    return f @ f


@program(np.array([0.5, 0.6, 0.7]))
def penalty_2(x):
    n = len(x)
    f = np.zeros(2 * n)
    f[0] = x[0] - 0.2
    for i in range(1, n):
        y = math.exp((i + 1) / 10) + math.exp(i / 10)
        f[i] = 3e-3 * (math.exp(x[i] / 10) + math.exp(x[i - 1] / 10) - y)
    for i in range(n, 2 * n - 1):
        f[i] = 3e-3 * (math.exp(x[i - n + 1] / 10) - math.exp(-1 / 10))
    for j in range(n):
        f[-1] += (n - j) * x[j] ** 2
    f[-1] -= 1
    return f @ f


@program(np.array([0.7, 0.4, 0.1]))
def variably_dimensioned(x):
    n = len(x)
    f = np.zeros(n + 2)
    for i in range(n):
        f[i] = x[i] - 1
        f[n] += (i + 1) * (x[i] - 1)
    f[n + 1] = f[n] ** 2
    return f @ f


@program(np.array([0.25, 0.3, 0.2, 0.35]))
def trigonometric(x):
    n = len(x)
    f = np.zeros(n)
    s = 0.0
    for j in range(n):
        s += np.cos(x[j])
    for i in range(n):
        f[i] = n - s + (i + 1) * (1 - np.cos(x[i])) - np.sin(x[i])
    return f @ f


@program(np.array([0.5, 0.6, 0.7]))
def brown_almost_linear(x):
    n = len(x)
    f = np.zeros(n)
    for i in range(n - 1):
        f[i] = x[i] + sum(x) - (n + 1)
    f[n - 1] = np.prod(x) - 1
    return f @ f


@program(np.array([-0.2, -0.3, -0.1]))
def discrete_boundary_value(x):
    n = len(x)
    h = 1 / (n + 1)
    f = np.zeros(n)
    for i in range(n):
        left = x[i - 1] if i > 0 else 0
        right = x[i + 1] if i < n - 1 else 0
        f[i] = 2 * x[i] - left - right + h**2 * (x[i] + (i + 1) * h + 1) ** 3 / 2
    return f @ f


@program(np.array([-0.2, -0.3, -0.1]))
def discrete_integral_equation(x):
    n = len(x)
    h = 1.0 / (n + 1)
    t = np.arange(1, n + 1) * h
    f = np.zeros(n)
    for i in range(n):
        low = high = 0.0
        for j in range(i + 1):
            low += t[j] * (x[j] + t[j] + 1) ** 3
        for j in range(i + 1, n):
            high += (1 - t[j]) * (x[j] + t[j] + 1) ** 3
        f[i] = x[i] + h * ((1 - t[i]) * low + t[i] * high) / 2
    return f @ f


@program(np.array([-1.0, -1.1, -0.9, -1.0]))
def broyden_tridiagonal(x):
    n = len(x)
    f = np.zeros(n)
    for i in range(n):
        f[i] = (3 - 2 * x[i]) * x[i] + 1
        if i > 0:
            f[i] -= x[i - 1]
        if i < n - 1:
            f[i] -= 2 * x[i + 1]
    return f @ f


@program(np.array([-1.0, -1.1, -0.9, -1.0]))
def broyden_banded(x):
    n = len(x)
    f = np.zeros(n)
    for i in range(n):
        f[i] = x[i] * (2 + 5 * x[i] ** 2) + 1
        for j in range(max(0, i - 5), min(n, i + 2)):
            if j != i:
                f[i] -= x[j] * (1 + x[j])
    return f @ f


@program(np.array([1.0, 1.1, 0.9]))
def linear_full_rank(x):
    m = 5
    f = np.zeros(m)
    s = np.sum(x)
    for i in range(m):
        f[i] = -2 * s / m - 1 + (x[i] if i < len(x) else 0)
    return f @ f


@program(np.array([0.3, 0.6, 0.8]))
def chebyquad(x):
    n = len(x)
    f = np.zeros(n)
    for j in range(n):
        t0, t1 = 1.0, 2 * x[j] - 1
        for i in range(n):
            f[i] += t1 / n
            t0, t1 = t1, 2 * (2 * x[j] - 1) * t1 - t0
    for i in range(1, n, 2):
        f[i] += 1 / ((i + 1) ** 2 - 1)
    return f @ f
