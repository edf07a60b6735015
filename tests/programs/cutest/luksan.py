"""Test problems of Lukšan and others, of sparse sums, and classic test functions in loops."""

import math

import numpy as np
from collection import program

X = np.array([-1.2, 1.0, 0.7, 0.4])


@program(X)
def chained_rosenbrock(x):
    f = 0.0
    for i in range(1, len(x)):
        f += 100 * (x[i - 1] ** 2 - x[i]) ** 2 + (x[i - 1] - 1) ** 2
    return f


@program(X)
def chained_wood(x):
    terms = np.zeros(6)
    terms[0] = 100 * (x[0] ** 2 - x[1]) ** 2
    terms[1] = (x[0] - 1) ** 2
    terms[2] = 90 * (x[2] ** 2 - x[3]) ** 2
    terms[3] = (x[2] - 1) ** 2
    terms[4] = 10 * (x[1] + x[3] - 2) ** 2
    terms[5] = (x[1] - x[3]) ** 2 / 10
    return terms.sum()


@program(X)
def chained_powell(x):
    y = np.empty(4)
    y[0] = (x[0] + 10 * x[1]) ** 2
    y[1] = 5 * (x[2] - x[3]) ** 2
    y[2] = (x[1] - 2 * x[2]) ** 4
    y[3] = 10 * (x[0] - x[3]) ** 4
    return np.sum(y)


@program(X)
def chained_cragg_levy(x):
    t = np.zeros(5)
    t[0] = (math.exp(x[0]) - x[1]) ** 4
    t[1] = 100 * (x[1] - x[2]) ** 6
    t[2] = math.tan(x[2] - x[3]) ** 4
    t[3] = x[0] ** 8
    t[4] = (x[3] - 1) ** 2
    return sum(t)


@program(X + 0.13)
def generalized_broyden(x):
    n = len(x)
    f = 0.0
    for i in range(n):
        left = x[i - 1] if i else 0.0
        right = x[i + 1] if i + 1 < n else 0.0
        f += abs((3 - 2 * x[i]) * x[i] - left - right + 1) ** (7 / 3)
    return f


@program(X)
def seven_diagonal(x):
    n = len(x)
    r = np.zeros(n)
    for i in range(n):
        r[i] = (3 - 2 * x[i]) * x[i] + 1
        for j in range(max(i - 2, 0), min(i + 2, n - 1) + 1):
            r[i] -= 0.3 * x[j] * (1 + x[j]) if j != i else 0
    return r @ r


@program(np.array([0.2, 0.5, 0.9, 0.4]))
def extended_trigonometric(x):
    n = len(x)
    F = np.zeros(n)
    cs = [math.cos(v) for v in x]
    for k in range(n):
        F[k] = n - sum(cs) + (k + 1) * (1 - cs[k]) - math.sin(x[k])
    return np.linalg.norm(F) ** 2


@program(X)
def toint_gor(x):
    alpha = [1.25, 1.40, 2.40, 1.40]
    f = 0.0
    for a, v in zip(alpha, x):
        if v >= 0:
            f += a * v * math.log(1 + v)
        else:
            f -= a * v * math.log(1 - v)
    return f


@program(X)
def toint_psp(x):
    f = 0.0
    for i, v in enumerate(x):
        y = v - 0.1 * i + 2
        f += 1 / y if y >= 0.1 else 100 * (0.1 - y) + 10
    return f


@program(X)
def augmented_lagrangian(x):
    lam = np.zeros(2)
    lam[0], lam[1] = -2.008e-3, -1.900e-3
    c = np.zeros(2)
    c[0] = x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 10
    c[1] = x[1] * x[2] - 5 * x[3]
    return math.exp(x[0] * x[1] * x[2] * x[3]) + 10 * (c[0] ** 2 + c[1] ** 2) + lam @ c


@program(X)
def engval(x):
    f = np.zeros(len(x) - 1)
    for i in range(len(f)):
        f[i] = (x[i] ** 2 + x[i + 1] ** 2) ** 2 - 4 * x[i] + 3
    return f.sum()


@program(X)
def dixmaana(x):
    n = len(x)
    m = n // 2
    f = 1.0
    for i in range(n):
        f += x[i] ** 2
    for i in range(m):
        f += 0.125 * x[i] ** 2 * x[i + m] ** 4
    return f


@program(X)
def arwhead(x):
    return sum([(v**2 + x[-1] ** 2) ** 2 - 4 * v + 3 for v in x[:-1]])


@program(X)
def bdqrtic(x):
    f = np.zeros(1)
    for i in range(1):
        f[i] = (-4 * x[i] + 3) ** 2 + (x[i] ** 2 + 2 * x[i + 1] ** 2 + 3 * x[i + 2] ** 2 + 4 * x[i + 3] ** 2) ** 2
    return f[0]


@program(X)
def edensch(x):
    f = 16.0
    for a, b in zip(x[:-1], x[1:]):
        f += (a - 2) ** 4 + (a * b - 2 * b) ** 2 + (b + 1) ** 2
    return f


@program(X)
def fletchcr(x):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100 * (x[i + 1] - x[i] + 1 - x[i] ** 2) ** 2
    return total


@program(X)
def nondquar(x):
    t = np.zeros(len(x))
    for i in range(len(x) - 2):
        t[i] = (x[i] + x[i + 1] + x[-1]) ** 4
    t[-2] = (x[0] - x[1]) ** 2
    t[-1] = (x[-2] + x[-1]) ** 2
    return t.sum()


@program(X)
def sinquad(x):
    f = (x[0] - 1) ** 4
    for i in range(1, len(x) - 1):
        f += (math.sin(x[i] - x[-1]) - x[0] ** 2 + x[i] ** 2) ** 2
    return f + (x[-1] ** 2 - x[0] ** 2) ** 2


@program(X)
def tridia(x):
    r = np.zeros(len(x))
    r[0] = x[0] - 1
    for i in range(1, len(x)):
        r[i] = math.sqrt(i + 1) * (2 * x[i] - x[i - 1])
    return r @ r


@program(X)
def vareigvl(x):
    """The residual of an eigenvalue problem, whose matrix is set entry by entry."""
    n = len(x) - 1
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            A[i, j] = -math.sqrt(math.sin((i + 1) * (j + 1)) ** 2 + 0.1)
    r = np.zeros(n)
    for i in range(n):
        for j in range(n):
            r[i] += A[i, j] * x[j]
        r[i] -= x[-1] * x[i]
    return r @ r


@program(X)
def cosine_chain(x):
    return sum(math.cos(-0.5 * x[i + 1] + x[i] ** 2) for i in range(len(x) - 1))


@program(X)
def morebv(x):
    n, h = len(x), 1 / (len(x) + 1)
    u = np.zeros(n + 2)
    u[1:-1] = x
    r = np.zeros(n)
    for i in range(1, n + 1):
        r[i - 1] = 2 * u[i] - u[i - 1] - u[i + 1] + h**2 / 2 * (u[i] + i * h + 1) ** 3
    return np.sum(r**2)


@program(np.array([0.1, 0.2, 0.15, 0.3]))
def bratu_2d(v):
    u = np.zeros((4, 4))
    u[1:3, 1:3] = v.reshape(2, 2)
    f = np.zeros((2, 2))
    for i in range(1, 3):
        for j in range(1, 3):
            f[i - 1, j - 1] = (
                4 * u[i, j] - u[i + 1, j] - u[i - 1, j] - u[i, j + 1] - u[i, j - 1] - 0.5 * math.exp(u[i, j])
            )
    return np.sum(f**2)


@program(np.array([0.1, 0.2, 0.15, 0.3]))
def minimal_surface(v):
    u = np.zeros((4, 4))
    for k in range(4):
        u[0, k] = k / 3
        u[3, k] = 1 - k / 3
    u[1:3, 1:3] = v.reshape((2, 2))
    area = 0.0
    for i in range(3):
        for j in range(3):
            a = u[i, j] - u[i + 1, j + 1]
            b = u[i + 1, j] - u[i, j + 1]
            area += math.sqrt(1 + 4.5 * (a**2 + b**2)) / 9
    return area


@program(np.array([0.1, 0.9, 0.5, 0.4, 1.2, 0.7]))
def lennard_jones(p):
    pos = np.reshape(p, (3, 2)) * 1.0
    energy = np.zeros((3, 3))
    for i in range(3):
        for j in range(i):
            r2 = (pos[i, 0] - pos[j, 0]) ** 2 + (pos[i, 1] - pos[j, 1]) ** 2 + 0.5
            energy[i, j] = 4 * (r2**-6 - r2**-3)
    return energy.sum()


@program(np.array([0.9, 0.4]))
def easom(x):
    return -math.cos(x[0]) * math.cos(x[1]) * math.exp(-((x[0] - math.pi) ** 2) - (x[1] - math.pi) ** 2) * 100


@program(np.array([0.9, 0.4]))
def branin(x):
    a, b, c = 1.0, 5.1 / (4 * math.pi**2), 5 / math.pi
    return a * (x[1] - b * x[0] ** 2 + c * x[0] - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


@program(np.array([0.9, 0.4]))
def goldstein_price(x):
    a, b = float(x[0]), float(x[1])
    u = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    v = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return math.log(u * v)


@program(np.array([0.9, 0.4]))
def six_hump_camel(x):
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (-4 + 4 * x[1] ** 2) * x[1] ** 2


@program(np.array([0.9, 0.4, 0.2]))
def hartmann_3(x):
    A = np.zeros((4, 3))
    A[[0, 2]] = [3.0, 10.0, 30.0]
    A[[1, 3]] = [0.1, 10.0, 35.0]
    c = [1.0, 1.2, 3.0, 3.2]
    P = 0.1 * np.array([[3.689, 1.170, 2.673], [4.699, 4.387, 7.470], [1.091, 8.732, 5.547], [0.3815, 5.743, 8.828]])
    f = 0.0
    for i in range(4):
        e = 0.0
        for j in range(3):
            e += A[i, j] * (x[j] - P[i, j]) ** 2
        f -= c[i] * math.exp(-e / 10)
    return f


@program(np.array([0.9, 1.4, 0.7]))
def styblinski_tang(x):
    return 0.5 * sum(v**4 - 16 * v**2 + 5 * v for v in x)


@program(np.array([0.9, 1.4, 0.7]))
def schwefel(x):
    return 418.9829 * len(x) - sum(v * math.sin(math.sqrt(abs(v))) for v in x)


@program(np.array([0.9, 1.4, 0.7]))
def michalewicz(x):
    f = np.zeros(3)
    for i, v in enumerate(x):
        f[i] = -math.sin(v) * math.sin((i + 1) * v**2 / math.pi) ** 4
    return f.sum()


@program(np.array([0.9, 1.4, 0.7]))
def zakharov(x):
    s = [0.0, 0.0]
    for i in range(3):
        s[0] += x[i] ** 2
        s[1] += 0.5 * (i + 1) * x[i]
    return s[0] + s[1] ** 2 + s[1] ** 4
