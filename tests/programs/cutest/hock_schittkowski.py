"""Objectives and constraints of Hock and Schittkowski, by their numbers; constraints are set one by one."""

import math

import numpy as np
from collection import program


def lagrangian(f, c):
    """A scalar of an objective and its constraints, with multipliers that are fixed."""
    total = f
    for k in range(len(c)):
        total += (0.5 + 0.25 * k) * c[k]
    return total


@program(np.array([1.125, 0.125]))
def hs004(x):
    return (x[0] + 1) ** 3 / 3 + x[1]


@program(np.array([0.1, 0.2]))
def hs005(x):
    return math.sin(x[0] + x[1]) + (x[0] - x[1]) ** 2 - 1.5 * x[0] + 2.5 * x[1] + 1


@program(np.array([-1.2, 1.0]))
def hs006(x):
    c = np.zeros(1)
    c[0] = 10 * (x[1] - x[0] ** 2)
    return lagrangian((1 - x[0]) ** 2, c)


@program(np.array([2.0, 2.0]))
def hs007(x):
    c = np.zeros(1)
    c[0] = (1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4
    return lagrangian(math.log(1 + x[0] ** 2) - x[1], c)


@program(np.array([2.0, 1.0]))
def hs008(x):
    c = np.empty(2)
    c[0] = x[0] ** 2 + x[1] ** 2 - 25
    c[1] = x[0] * x[1] - 9
    return lagrangian(-1.0, c)


@program(np.array([0.5, 1.0]))
def hs009(x):
    return math.sin(math.pi * x[0] / 12) * math.cos(math.pi * x[1] / 16)


@program(np.array([-1.0, 1.0]))
def hs010(x):
    c = np.zeros(1)
    c[0] = -3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2 + 1
    return lagrangian(x[0] - x[1], c)


@program(np.array([2.0, 2.0]))
def hs014(x):
    c = np.zeros(2)
    c[0] = -0.25 * x[0] ** 2 - x[1] ** 2 + 1
    c[1] = x[0] - 2 * x[1] + 1
    return lagrangian((x[0] - 2) ** 2 + (x[1] - 1) ** 2, c)


@program(np.array([15.0, 5.8]))
def hs019(x):
    c = np.zeros(2)
    c[0] = (x[0] - 5) ** 2 + (x[1] - 5) ** 2 - 100
    c[1] = -((x[1] - 5) ** 2) - (x[0] - 6) ** 2 + 82.81
    return lagrangian((x[0] - 10) ** 3 + (x[1] - 20) ** 3, c)


@program(np.array([1.0, 0.5]))
def hs024(x):
    return ((x[0] - 3) ** 2 - 9) * x[1] ** 3 / (27 * math.sqrt(3))


@program(np.array([-2.6, 2.0, 2.0]))
def hs026(x):
    c = np.zeros(1)
    c[0] = (1 + x[1] ** 2) * x[0] + x[2] ** 4 - 3
    return lagrangian((x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4, c)


@program(np.array([1.0, 1.2, 0.8]))
def hs029(x):
    c = np.array([0.0])
    c[0] = -(x[0] ** 2) - 2 * x[1] ** 2 - 4 * x[2] ** 2 + 48
    return lagrangian(-x[0] * x[1] * x[2], c)


@program(np.array([0.1, 0.5, 3.0]))
def hs033(x):
    return (x[0] - 1) * (x[0] - 2) * (x[0] - 3) + x[2]


@program(np.array([0.1, 1.05, 2.9]))
def hs034(x):
    c = np.zeros(2)
    c[0] = x[1] - math.exp(x[0])
    c[1] = x[2] - math.exp(x[1])
    return lagrangian(-x[0], c)


@program(np.array([0.5, 0.4, 0.3]))
def hs035(x):
    H = np.zeros((3, 3))
    H[0, 0] = H[1, 1] = 2.0
    H[0, 1] = H[1, 0] = H[0, 2] = H[2, 0] = 1.0
    H[2, 2] = 1.0
    return 9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + x @ H @ x


@program(np.array([-3.0, -1.0, -3.0, -1.0]))
def hs038(x):
    f = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2 + 90 * (x[3] - x[2] ** 2) ** 2 + (1 - x[2]) ** 2
    f += 10.1 * ((x[1] - 1) ** 2 + (x[3] - 1) ** 2) + 19.8 * (x[1] - 1) * (x[3] - 1)
    return f


@program(np.array([0.8, 0.9, 0.7, 0.6]))
def hs040(x):
    c = np.zeros(3)
    c[0] = x[0] ** 3 + x[1] ** 2 - 1
    c[1] = x[0] ** 2 * x[3] - x[2]
    c[2] = x[3] ** 2 - x[1]
    return lagrangian(-x[0] * x[1] * x[2] * x[3], c)


@program(np.array([0.1, 0.2, 0.3, 0.4]))
def hs043(x):
    """Rosen-Suzuki."""
    c = np.zeros(3)
    c[0] = 8 - x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - x[3] ** 2 - x[0] + x[1] - x[2] + x[3]
    c[1] = 10 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - 2 * x[3] ** 2 + x[0] + x[3]
    c[2] = 5 - 2 * x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - 2 * x[0] + x[1] + x[3]
    f = x[0] ** 2 + x[1] ** 2 + 2 * x[2] ** 2 + x[3] ** 2 - 5 * x[0] - 5 * x[1] - 21 * x[2] + 7 * x[3]
    return lagrangian(f, c)


@program(np.array([2.0, 1.5, 0.5, 1.0, 0.7]))
def hs045(x):
    p = 1.0
    for v in x:
        p *= v
    return 2 - p / 120


@program(np.array([0.7, 1.7, 0.5, 2.0, 2.0]))
def hs046(x):
    c = np.zeros(2)
    c[0] = x[0] ** 2 * x[3] + math.sin(x[3] - x[4]) - 1
    c[1] = x[1] + x[2] ** 4 * x[3] ** 2 - 2
    return lagrangian((x[0] - x[1]) ** 2 + (x[2] - 1) ** 2 + (x[3] - 1) ** 4 + (x[4] - 1) ** 6, c)


@program(np.array([0.6, 0.5, 0.9, 0.3]))
def hs054(x):
    """A normal density of correlated variables."""
    h = np.zeros(4)
    h[0] = (x[0] - 1) ** 2 / 0.64
    h[1] = (x[0] - 1) * (x[1] - 1) * 0.5
    h[2] = (x[1] - 1) ** 2
    h[3] = (x[2] - 2) ** 2 / 5 + x[3] ** 2
    return -math.exp(-h.sum() / 2)


@program(np.array([1.0, 1.2, 0.8, 0.5, 0.6, 0.4, 0.7]))
def hs056(x):
    c = np.zeros(4)
    for k in range(3):
        c[k] = x[k] - 4.2 * math.sin(x[3 + k]) ** 2
    c[3] = x[0] + 2 * x[1] + 2 * x[2] - 7.2 * math.sin(x[6]) ** 2
    return lagrangian(-x[0] * x[1] * x[2], c)


@program(np.array([0.42, 5.0]))
def hs057(x):
    a = [8, 10, 20, 30, 42]
    b = [0.49, 0.47, 0.43, 0.40, 0.39]
    f = np.zeros(5)
    for i in range(5):
        f[i] = b[i] - x[0] - (0.49 - x[0]) * math.exp(-x[1] * (a[i] - 8) / 10)
    return f @ f


@program(np.array([0.7, 0.2, 0.1]))
def hs062(x):
    b = np.zeros(3)
    b[0] = math.log((x[0] + x[1] + x[2] + 0.03) / (0.09 * x[0] + x[1] + x[2] + 0.03))
    b[1] = math.log((x[1] + x[2] + 0.03) / (0.07 * x[1] + x[2] + 0.03))
    b[2] = math.log((x[2] + 0.03) / (0.13 * x[2] + 0.03))
    return -(255 * b[0] + 280 * b[1] + 290 * b[2]) / 100


@program(np.array([1.0, 1.3, 0.9]))
def hs064(x):
    return 5 * x[0] + 50 / x[0] + 20 * x[1] + 72 / x[1] + 10 * x[2] + 144 / x[2]


@program(np.array([1.7, 1.2]))
def hs067_iterated(x):
    """A process of which an inner state is found by iteration."""
    y = 1.6 * x[0]
    for _ in range(20):
        new = 1.22 * x[0] + 0.3 * math.sqrt(y / x[1])
        if abs(new - y) < 1e-12:
            break
        y = 0.5 * (new + y)
    return y * 0.063 - 5.04 * x[0] * 0.1


def normal_cdf(t):
    return 0.5 * (1.0 + math.erf(t / math.sqrt(2.0)))


@program(np.array([1.0, 0.8, 0.3, 0.4]))
def hs068(x, a=1e-4, b=1.0, d=1.0):
    c = np.zeros(2)
    c[0] = x[2] - 2 * normal_cdf(-x[1])
    c[1] = x[3] - normal_cdf(-x[1] + d * math.sqrt(24)) - normal_cdf(-x[1] - d * math.sqrt(24))
    e = math.exp(x[0]) - 1
    return lagrangian((a * 24 - (b * e - x[2]) * x[3] / (e + x[3])) / x[0], c)


@program(np.array([2.0, 4.0, 0.5, 0.3]))
def hs070(x):
    """A distribution of two gammas."""
    f = np.zeros(3)
    for i, (t, y) in enumerate(((0.3, 0.2), (0.7, 0.5), (1.1, 0.4))):
        b = x[2] + (1 - x[2]) * x[3]
        h1 = (1 + 1 / (12 * x[1])) * x[2] * b ** x[1] * math.exp(x[1] - b * t * x[1])
        h2 = (1 - x[2]) * (b / x[3]) ** x[0] * math.exp(x[0] - b * t * x[0] / x[3])
        f[i] = h1 * t ** (x[1] - 1) * 0.1 + h2 * t ** (x[0] - 1) * 0.1 - y
    return f @ f


@program(np.array([1.0, 5.0, 4.0, 1.5]))
def hs071(x):
    c = np.zeros(2)
    c[0] = np.prod(x) - 25
    c[1] = sum(v**2 for v in x) - 40
    return lagrangian(x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2], c)


@program(np.array([6.0, 7.0, 0.2, 0.5]))
def hs074(x):
    c = np.zeros(3)
    c[0] = 10 * math.sin(-x[2] - 0.25) + 10 * math.sin(-x[3] - 0.25) + 8.948 - x[0]
    c[1] = 10 * math.sin(x[2] - 0.25) + 10 * math.sin(x[2] - x[3] - 0.25) + 8.948 - x[1]
    c[2] = 10 * math.sin(x[3] - 0.25) + 10 * math.sin(x[3] - x[2] - 0.25) + 12.948
    return lagrangian(3 * x[0] + 1e-2 * x[0] ** 3 + 2 * x[1] + 2e-2 / 3 * x[1] ** 3, c)


@program(np.array([-1.0, 1.2, 0.9, -0.7, -0.8]))
def hs080(x):
    c = np.zeros(3)
    c[0] = np.sum(x**2) - 10
    c[1] = x[1] * x[2] - 5 * x[3] * x[4]
    c[2] = x[0] ** 3 + x[1] ** 3 + 1
    return lagrangian(np.exp(np.prod(x)), c)


@program(np.array([0.4, 0.3, 0.2, 0.1, 0.5]))
def hs086(x):
    """Colville's first: matrices of numbers, and cubes."""
    C = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            C[i, j] = ((i * 3 + j * 3) % 5) - 1.0 + 4.0 * (i == j)
    e = [-15.0, -27.0, -36.0, -18.0, -12.0]
    d = [4.0, 8.0, 10.0, 6.0, 2.0]
    f = 0.0
    for j in range(5):
        f += e[j] * x[j] + d[j] * x[j] ** 3
        for i in range(5):
            f += C[i, j] * x[i] * x[j]
    return f


@program(np.array([2.9, 4.1]), also=(np.array([3.5, 1.0]),))
def hs087_branches(x):
    """Costs that change from one rate to the next."""
    f1 = 30 * x[0] if x[0] < 3 else 31 * x[0] - 3
    if x[1] < 1.5:
        f2 = 28 * x[1]
    elif x[1] < 4:
        f2 = 29 * x[1] - 1.5
    else:
        f2 = 30 * x[1] - 5.5
    return f1 * f2 / 100


@program(np.array([0.5, -0.4]))
def hs088_roots(x):
    """A sum over roots of a transcendental equation, which are found first."""
    mu = np.zeros(4)
    for j in range(4):
        t = (j + 1.4) * math.pi
        for _ in range(30):
            t = t - (math.cos(t) * t - math.sin(t)) / (-t * math.sin(t))
        mu[j] = t
    rho = np.zeros(4)
    for j in range(4):
        s = math.exp(-((x[0] * mu[j] / 10) ** 2))
        rho[j] = 2 * math.exp(-((x[1] * mu[j] / 10) ** 2)) * (s - 1) / mu[j] ** 2
    return rho @ rho + x @ x


@program(np.array([0.5, 0.6, 0.4]))
def hs099_steps(x):
    r = np.zeros(4)
    q = np.zeros(4)
    s = np.zeros(4)
    for i in range(1, 4):
        a, dt = 50.0 / i, 0.25
        q[i] = 0.5 * dt**2 * (a * math.sin(x[i - 1]) - 32) + dt * s[i - 1] + q[i - 1]
        r[i] = a * dt * math.cos(x[i - 1]) + r[i - 1]
        s[i] = dt * (a * math.sin(x[i - 1]) - 32) + s[i - 1]
    return -(r[3] ** 2) * 0.01 + q[3] * s[3] * 0.01


@program(np.array([1.0, 2.0, 0.1, 4.0, 0.2, 1.0, 1.0]))
def hs100(x):
    f = (x[0] - 10) ** 2 + 5 * (x[1] - 12) ** 2 + x[2] ** 4 + 3 * (x[3] - 11) ** 2
    return f + 10 * x[4] ** 6 + 7 * x[5] ** 2 + x[6] ** 4 - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6]


@program(np.array([2.0, 0.9, 1.5, 0.5]))
def hs101_posynomial(x):
    terms = [
        10 * x[0] * x[1] ** -1 * x[3] ** 2 * x[2] ** -3,
        15 * x[0] ** -1 * x[1] ** -2 * x[2] * x[3] ** -0.5,
        20 * x[0] ** -2 * x[1] * x[3] ** -1,
        25 * x[0] ** 2 * x[1] ** 2 * x[2] ** -1,
    ]
    return np.sum(terms)


@program(np.array([0.2, 0.5, 1.0, 1.3]))
def hs105_likelihood(x):
    y = np.array([0.9, 1.1, 1.2, 0.4])
    f = 0.0
    for v in y:
        a = x[0] / x[2] * math.exp(-((v - x[1]) ** 2) / (2 * x[2] ** 2))
        b = (1 - x[0]) / x[3] * math.exp(-((v - 1) ** 2) / (2 * x[3] ** 2))
        f -= math.log((a + b) / math.sqrt(2 * math.pi))
    return f


@program(np.array([3.0, 4.0, 5.0, 6.0]))
def hs110(x):
    f, p = 0.0, 1.0
    for v in x:
        f += math.log(v - 2) ** 2 + math.log(10 - v) ** 2
        p *= v
    return f - p**0.2


@program(np.array([-0.3, 0.2, 0.1, -0.5]))
def hs111_chemical_equilibrium(x):
    c = [-6.089, -17.164, -34.054, -5.914]
    e = np.zeros(4)
    for j in range(4):
        e[j] = math.exp(x[j])
    s = math.log(e.sum())
    f = 0.0
    for j in range(4):
        f += e[j] * (c[j] + x[j] - s)
    return f


@program(np.array([0.2, 0.3, 0.4, 0.1]))
def hs112(x):
    c = np.array([-6.089, -17.164, -34.054, -5.914])
    return sum(x[j] * (c[j] + math.log(x[j] / sum(x))) for j in range(4))


@program(np.array([0.4, 0.3, 0.2, 0.1]))
def hs119_bounds(x):
    a = np.eye(4)
    a[0, 3] = a[1, 2] = a[2, 0] = a[3, 1] = 1
    f = 0.0
    for i in range(4):
        for j in range(4):
            if a[i, j]:
                f += (x[i] ** 2 + x[i] + 1) * (x[j] ** 2 + x[j] + 1)
    return f
