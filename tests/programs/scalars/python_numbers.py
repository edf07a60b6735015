"""Code of single numbers: Python's own functions, ``float``, prints, whole numbers of arguments, asserts."""

import math

import numpy as np
from collection import program


@program(np.array([1.3, 0.6]))
def float_of_elements(x):
    a = float(x[0])
    b = float(x[1])
    return a * b + a**2


@program(1.3)
def float_of_argument(x):
    x = float(x)
    return x * np.exp(-x)


@program(np.array([0.5, 1.5]))
def float_of_reductions(x):
    s = float(np.sum(x))
    m = float(x.mean())
    return s * m + float(np.dot(x, x))


@program(np.array([0.5, 1.5]))
def item_and_tolist(x):
    a = x[0].item()
    b, c = x.tolist()
    return a * b + c**2 + x.sum().item()


@program(np.array([-0.5, 1.5]))
def absolute_values(x):
    return abs(x[0]) * abs(x[1]) + abs(-x).sum() + math.fabs(x[0])


@program(2.567)
def rounded(x):
    return x - round(x) + round(x, 1) * x


@program(7.3, 2.1, wrt=(0, 1))
def divmod_of_floats(a, b):
    q, r = divmod(a, b)
    return q * r + a % b + a // b * b


@program(1.7, 2.3, wrt=(0, 1))
def pow_of_both(x, y):
    return pow(x, y) + pow(x, 3) + pow(2.0, y) + math.pow(y, x)


@program(np.array([3.0, 1.0, 2.0]))
def sum_max_min(x):
    return sum(x) * max(x) + min(x) ** 2 + sum(v * v for v in x) + max(x[0], 1.0, x[2]) * min(2.5, x[1])


@program(np.array([3.0, 1.0, 2.0]), also=(np.array([0.5, 1.0, 0.1]),))
def sorted_values(x):
    a, b, c = sorted(x)
    return a + 2 * b + 3 * c**2


@program(np.array([3.0, 1.0, 2.0]), also=(np.array([0.5, -1.0, 0.1]),))
def sorted_by_key(x):
    down = sorted(x, key=lambda v: -v * v, reverse=False)
    return down[0] * 1.5 + down[1] * down[2]


@program(np.array([3.0, 1.0, -2.0]), also=(np.array([0.5, -1.0, 0.1]),))
def max_with_key(x):
    return max(x, key=abs) ** 2 + min(list(x), key=lambda v: (v - 1.2) ** 2)


@program(np.array([3.0, 1.0]))
def formatted(x):
    text = f"x = {x[0]:.3f}, y = {x[1]!r}, sum {x.sum():8.2e} {x}"
    text += "%g and %.2f" % (x[0], x[1]) + "{:5.1f}".format(x[0])
    return x[0] ** 2 * (1.0 if text else 2.0)


@program(np.array([3.0, 1.0]))
def traced_and_named(x):
    log = []
    for k in range(2):
        log.append(str(x[k]) + repr(x))
    return np.prod(x) * len(log)


@program(np.array([0.5, 2.0]), 4, wrt=0, also=[(np.array([0.5, 2.0]), 2), (np.array([0.5, 2.0]), 6)])
def taylor_exp(x, n):
    total, term = 0.0, 1.0
    for k in range(int(n)):
        total = total + term
        term = term * x / (k + 1)
    return total


@program(np.array([0.5, 2.0]), 3.0, wrt=0, also=(np.array([0.5, 2.0]), 5.0))
def steps_of_a_float(x, n):
    h = 1.0 / n
    for _ in range(int(n)):
        x = x + h * np.sin(x)
    return x


@program(np.array([0.5, 2.0, 1.0]), np.array([2, 3]), wrt=0, also=(np.array([0.5, 2.0, 1.0]), np.array([1, 4])))
def range_of_an_element(x, sizes):
    total = 0.0
    for k in range(sizes[0]):
        for m in range(sizes[1]):
            total += x[k] * (m + 1) ** 2
    return total


@program(np.array([0.5, 2.0, 1.0]), 1, wrt=0, also=(np.array([0.5, 2.0, 1.0]), 2))
def index_of_an_int(x, k):
    w = [0.5, 1.0, 2.0]
    return x[k] * w[k] + x[: k + 1].sum() ** 2 + "abc".index("b")


@program(2.0, 1e-10, wrt=0, also=(3.0, 1e-4))
def newton_sqrt(a, tol):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@program(2.0)
def newton_until_close(a):
    x = a
    for _ in range(50):
        new = 0.5 * (x + a / x)
        if math.isclose(new, x, rel_tol=1e-12):
            break
        x = new
    return x


@program(np.array([0.5, 0.7]))
def until_allclose(x):
    y = np.ones(2)
    for _ in range(60):
        new = np.cos(x * y)
        if np.allclose(new, y, atol=1e-12, rtol=0):
            break
        y = new
    return y


@program(np.array([0.5, 0.7, 0.0]))
def isclose_branches(x):
    total = 0.0
    for v in x:
        if np.isclose(v, 0.0):
            total += 1.0
        else:
            total += math.sin(v) / v
    return total


@program(np.array([0.5, 0.7]))
def asserted(x):
    assert x[0] < x[1], f"order of {x}"
    assert x.shape == (2,)
    assert np.all(x > 0)
    assert np.all(np.isfinite(x))
    return np.log(x[1] / x[0])


@program(0.7, also=[(-0.3,), (1.9,)])
def piecewise(x):
    if x < 0:
        return x * x
    elif 0 <= x < 1:
        return x**3
    return 2 * x - 1


@program(0.7, 0.2, wrt=(0, 1), also=(0.1, 0.4))
def chained_comparisons(a, b):
    big, small = (a, b) if a >= b else (b, a)
    if not (0 < small < big <= 1) or a == b:
        raise ValueError("out of range")
    return big**2 / small


@program(np.array([0.5, -0.7, 0.2]))
def any_and_all(x):
    if any(v < 0 for v in x) and not all(v > 0 for v in x):
        return sum(v**2 for v in x if v > 0)
    return sum(x)


@program(0.5, 2, wrt=0, also=(0.5, 5))
def recursion(x, n):
    if n == 0:
        return 1.0
    if n == 1:
        return x
    return ((2 * n - 1) * x * recursion(x, n - 1) - (n - 1) * recursion(x, n - 2)) / n


@program(0.3, also=(0.9,))
def bisection(y):
    lo, hi = 0.0, 2.0
    for _ in range(30):
        mid = (lo + hi) / 2
        if mid**3 + mid < 0.25:
            lo = mid
        else:
            hi = mid
    return mid * y + y**2


@program(1.5, also=(-0.5,))
def math_floor_and_trunc(x):
    return x * math.floor(x) + math.ceil(x) * x**2 + math.trunc(x) * x + int(x > 0) * x


@program(np.array([0.4, 1.2]), "relu", wrt=0, also=[(np.array([0.4, 1.2]), "tanh"), (np.array([0.4, -1.2]), "relu")])
def chosen_by_name(x, activation):
    f = {"relu": lambda v: max(v, 0.0), "tanh": math.tanh}[activation]
    return sum(f(v) for v in x)


@program(np.array([0.4, 1.2]), True, wrt=0, also=(np.array([0.4, 1.2]), False))
def chosen_by_flag(x, squared):
    r = math.hypot(x[0], x[1])
    return r * r if squared else r


@program(np.array([0.4, 1.2, 3.0]))
def zipped_and_enumerated(x):
    total = 0
    for k, (a, b) in enumerate(zip(x, x[1:])):
        total += (k + 1) * float(a) * math.sqrt(b)
    return total / len(x)


@program(np.array([0.4, 1.2, 3.0]))
def numpy_scalars(x):
    a = np.float64(x[0])
    b = np.float64(2.0) * x[1]
    return a * b + np.double(x[2]) ** 2


@program(0.8, also=(1.4,))
def try_and_except(x):
    try:
        y = math.asin(x)
    except ValueError:
        y = x * math.pi / 2
    return y


@program(np.array([2.0, 3.0]))
def negative_index_swap(x):
    a, b = x
    a, b = b, a + b
    a, b = b, a * b
    return +a - -b


@program(np.array([0.3, 2.0, 1.1]))
def real_of_list(x):
    vals = [float(v) for v in x]
    mean = sum(vals) / len(vals)
    var = sum((v - mean) ** 2 for v in vals) / (len(vals) - 1)
    return mean, math.sqrt(var)


@program(np.array([0.3, 2.0, 1.1]))
def bool_of_numbers(x):
    total = 0.0
    for v in x:
        if v:
            total += 1 / v
    return total if bool(total > 1) else -total


@program(np.array([0.3, 2.0, 1.1]), also=(np.array([-0.3, 2.0, 1.1]),))
def copysign_and_fmod(x):
    return math.copysign(x[1], x[0]) * math.fmod(x[2], 0.7) + math.modf(x[1] * 1.3)[0] + math.remainder(x[1], 1.5)


@program(1.5, 0.0, wrt=0, also=[(1.5, 2.0), (-1.0, -2.0)])
def match_statement(x, kind):
    match kind:
        case 0.0:
            return x**2
        case k if k > 0:
            return x * k
        case _:
            return math.exp(x)


@program(np.array([0.3, 2.0]), also=(np.array([3.0, 2.0]),))
def clamp(x):
    lo, hi = 0.5, 2.5
    return sum(max(lo, min(v, hi)) * v for v in x)
