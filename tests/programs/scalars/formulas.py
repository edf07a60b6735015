"""``math`` as it is used: each function that has a derivative, in formulas of finance, physics and geometry."""

import math
from math import comb, factorial

import numpy as np
from collection import program


@program(100.0, 95.0, 0.5, 0.02, 0.25, wrt=(0, 1, 2, 3, 4))
def black_scholes(S, K, T, r, sigma):
    def cdf(z):
        return 0.5 * (1 + math.erf(z / math.sqrt(2)))

    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    return S * cdf(d1) - K * math.exp(-r * T) * cdf(d2)


@program(100.0, 95.0, 0.5, 0.02, 0.25, wrt=(0, 3, 4))
def put_by_erfc(S, K, T, r, sigma):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    return K * math.exp(-r * T) * 0.5 * math.erfc(d2 / math.sqrt(2)) - S * 0.5 * math.erfc(d1 / math.sqrt(2))


@program(0.7)
def trigonometry(x):
    return math.sin(x) * math.cos(x) + math.tan(x) ** 2


@program(0.3)
def inverse_trigonometry(x):
    return math.asin(x) + math.acos(x) * math.atan(2 * x)


@program(0.8, -0.6, wrt=(0, 1))
def quadrants(y, x):
    return math.atan2(y, x) * math.hypot(x, y)


@program(0.7)
def hyperbolic(x):
    return math.sinh(x) * math.tanh(x) - math.cosh(x)


@program(0.4)
def inverse_hyperbolic(x):
    return math.asinh(x) + math.acosh(1 + x) + math.atanh(x)


@program(0.4)
def exponentials(x):
    return math.exp(x) + math.exp2(x) * math.expm1(x)


@program(1.4)
def logarithms(x):
    return math.log(x) + math.log2(x) * math.log10(x) + math.log1p(x)


@program(1.4, 3.0, wrt=(0, 1))
def log_of_a_base(x, b):
    return math.log(x, b) + math.log(x, 2)


@program(1.4)
def roots(x):
    return math.sqrt(x) * math.cbrt(x) + math.pow(x, 0.3)


@program(1.4)
def error_functions(x):
    return math.erf(x) + x * math.erfc(x)


@program(1.4)
def gammas(x):
    return math.gamma(x) + math.lgamma(x + 1)


@program(37.5)
def degrees_and_radians(x):
    return math.sin(math.radians(x)) + math.degrees(x) * 1e-3


@program(np.array([48.1, 11.6]), np.array([52.5, 13.4]), wrt=(0, 1))
def haversine(p, q):
    lat1, lon1 = map(math.radians, p)
    lat2, lon2 = map(math.radians, q)
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(h)) / 1000


@program(np.array([0.0, 1.0, 2.0]), np.array([0.5, -1.0, 0.3]), wrt=(0, 1))
def dist_and_hypot(p, q):
    return math.dist(p, q) + math.hypot(*p, 1.0)


@program([1.0, 2.0, 0.5])
def fsum_and_prod(x):
    return math.fsum(x) * math.prod(x) + math.prod([x[0], 2], start=x[1])


@program(np.array([1.0, 2.0, 0.5]), np.array([0.1, 0.2, 0.3]), wrt=(0, 1))
def dot_by_fsum(x, y):
    return math.fsum(a * b for a, b in zip(x, y)) + math.fsum(map(math.sin, x))


@program(0.3, 0.7, wrt=(0, 1))
def bernstein(t, w):
    n = 4
    return sum(comb(n, k) * t**k * (1 - t) ** (n - k) * w**k for k in range(n + 1))


@program(0.9)
def sine_series(x):
    return sum((-1) ** k * x ** (2 * k + 1) / factorial(2 * k + 1) for k in range(6))


@program([1.2, -0.8])
def ackley_by_loops(x):
    n = len(x)
    s1 = s2 = 0.0
    for v in x:
        s1 += v * v
        s2 += math.cos(2 * math.pi * v)
    return -20 * math.exp(-0.2 * math.sqrt(s1 / n)) - math.exp(s2 / n) + 20 + math.e


@program(np.array([1.2, -0.8, 2.1]))
def griewank(x):
    s = 0.0
    p = 1.0
    for i in range(len(x)):
        s += x[i] ** 2 / 4000
        p *= math.cos(x[i] / math.sqrt(i + 1))
    return s - p + 1


@program(np.array([1.2, -0.8, 2.1]))
def rastrigin(x):
    return 10 * len(x) + sum([(xi**2 - 10 * math.cos(2 * math.pi * xi)) for xi in x])


@program(np.array([1.2, -0.8, 2.1, 0.3]))
def levy(x):
    w = [1 + (float(v) - 1) / 4 for v in x]
    total = math.sin(math.pi * w[0]) ** 2
    for i in range(len(w) - 1):
        total += (w[i] - 1) ** 2 * (1 + 10 * math.sin(math.pi * w[i] + 1) ** 2)
    return total + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)


@program(np.array([3.0, -1.0, 0.5, 1.0]))
def powell_singular(x):
    f1 = x[0] + 10 * x[1]
    f2 = math.sqrt(5) * (x[2] - x[3])
    f3 = math.pow(x[1] - 2 * x[2], 2)
    f4 = math.sqrt(10) * math.pow(x[0] - x[3], 2)
    return f1 * f1 + f2 * f2 + f3 * f3 + f4 * f4


@program(np.array([-1.2, 1.0, 0.7]))
def rosenbrock_loop(x):
    total = 0
    for i in range(len(x) - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return float(total)


@program(0.3, 1.2, 0.1, wrt=(0, 1, 2))
def normal_logpdf(x, mu, log_sigma):
    sigma = math.exp(log_sigma)
    return -0.5 * math.log(2 * math.pi) - math.log(sigma) - 0.5 * ((x - mu) / sigma) ** 2


@program(2.3, 1.7, wrt=(0, 1))
def beta_function(a, b):
    return math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


@program(np.array([0.2, 0.5, 0.3]))
def entropy(p):
    h = 0.0
    for v in p:
        if v > 0:
            h -= v * math.log(v)
    return h


@program(0.2, 0.01)
def kepler_equation(M, e):
    """Five Newton steps for the eccentric anomaly."""
    E = M
    for _ in range(5):
        E = E - (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
    return E


@program(298.15, 5.0e4, wrt=(0, 1))
def arrhenius(T, Ea):
    R = 8.314
    return 1e9 * math.exp(-Ea / (R * T))


@program(300.0, 0.5, wrt=(0, 1))
def antoine(T, x):
    a, b, c = 8.07131, 1730.63, 233.426
    return 10 ** (a - b / (c + T)) * x / 1e5


@program(1e5, 0.01, wrt=(0, 1))
def colebrook(Re, eps):
    f = 0.02
    for _ in range(10):
        f = (-2 * math.log10(eps / 3.7 + 2.51 / (Re / 1e4 * math.sqrt(f)))) ** -2
    return f


@program(0.6, 0.02, wrt=(0, 1))
def diode(V, I0):
    return I0 * (math.exp(V / 0.0258) - 1) * 1e-9


@program(2.0, 1.0, 0.5, wrt=(0, 1, 2))
def rlc_amplitude(w, R, L, C=0.3):
    X = w * L - 1 / (w * C)
    return 1 / math.sqrt(R**2 + X**2), math.atan(X / R)


@program(1.0, -3.0, 1.5, wrt=(0, 1, 2))
def quadratic_formula(a, b, c):
    disc = b * b - 4 * a * c
    if disc < 0:
        raise ValueError("no real root")
    root = math.sqrt(disc)
    q = -0.5 * (b + math.copysign(root, b))
    return q / a, c / q


@program(3.0, 4.0, 5.5, wrt=(0, 1, 2))
def heron(a, b, c):
    s = (a + b + c) / 2
    return math.sqrt(s * (s - a) * (s - b) * (s - c))


@program(np.array([0.1, 0.4, -0.2]))
def log_sum_exp(x):
    m = max(x)
    return m + math.log(sum(math.exp(v - m) for v in x))


@program(np.array([0.5, 1.5]), wrt=0)
def math_of_size_one(x):
    y = x[:1] * 2
    return math.sin(x[0]) + np.sin(y)[0] * math.exp(np.sum(x))


@program(np.array([0.5, 1.5]))
def ldexp_and_friends(x):
    return math.ldexp(x[0], 3) + x[1] * math.gcd(12, 18)


@program(0.4, 0.9, wrt=(0, 1))
def constants_of_math(x, y):
    return math.pi * x**2 + math.e * y + math.tau * x * y + (0.0 if math.inf > y else 1.0)


@program(0.4, also=(30.0,))
def softplus_guarded(x):
    if x > 20:
        return x
    return math.log1p(math.exp(x))


@program(np.array([0.4, 0.8]))
def math_into_arrays(x):
    out = np.zeros(2)
    for k in range(2):
        out[k] = math.tanh(x[k]) + math.sqrt(x[0])
    return np.array([math.cos(out[0]), out[1]])
